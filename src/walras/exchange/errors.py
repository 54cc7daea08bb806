"""Errors of the exchange: each has a stable code and the HTTP status it is answered with."""

from __future__ import annotations

from http import HTTPStatus

from walras.errors import WalrasError


class ExchangeError(WalrasError):
    """Base of the exchange's errors.

    Attributes:
        pointer: JSON pointer to the field of the request that is wrong, or empty.

    Example:
        >>> import walras as wl
        >>> with wl.exchange.Client("http://127.0.0.1:1", "wlr_of_nobody", tries=1) as client:
        ...     try:
        ...         client.tasks.list()
        ...     except wl.exchange.ExchangeError as error:
        ...         print(error.code, int(error.status))
        WAL-2506 503
    """

    code = "WAL-2000"
    status = HTTPStatus.BAD_REQUEST

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        allowed: str = "",
        remedy: str = "",
        pointer: str = "",
    ) -> None:
        super().__init__(what, where=where, allowed=allowed, remedy=remedy)
        self.pointer = pointer


class UnauthorisedError(ExchangeError):
    """There is no token, or it is wrong, revoked or expired."""

    code = "WAL-2401"
    status = HTTPStatus.UNAUTHORIZED


class ForbiddenError(ExchangeError):
    """The token's scopes do not allow it."""

    code = "WAL-2403"
    status = HTTPStatus.FORBIDDEN


class NotFoundError(ExchangeError):
    """There is no such thing, or the tenant may not see it."""

    code = "WAL-2404"
    status = HTTPStatus.NOT_FOUND


class ConflictError(ExchangeError):
    """The state of the thing does not allow it, or the name is taken."""

    code = "WAL-2409"
    status = HTTPStatus.CONFLICT


class StaleError(ConflictError):
    """A message that is older than what was stored; carries what is stored.

    Attributes:
        incarnation: The agent's stored incarnation.
        seq: Its stored sequence number.
    """

    code = "WAL-2410"

    def __init__(self, what: str, *, incarnation: int, seq: int) -> None:
        super().__init__(
            what,
            where="sync",
            allowed=f"(incarnation, seq) above ({incarnation}, {seq})",
            remedy="send a new sync with the next number",
        )
        self.incarnation = incarnation
        self.seq = seq


class PreconditionError(ExchangeError):
    """The thing was changed since it was read."""

    code = "WAL-2412"
    status = HTTPStatus.PRECONDITION_FAILED


class FieldError(ExchangeError):
    """A field of a request cannot be used; ``pointer`` says which."""

    code = "WAL-2422"
    status = HTTPStatus.UNPROCESSABLE_ENTITY


class BusyError(ExchangeError):
    """Too many requests."""

    code = "WAL-2429"
    status = HTTPStatus.TOO_MANY_REQUESTS


class StoreError(ExchangeError):
    """The database cannot be opened, read or written; nothing was half written."""

    code = "WAL-2503"
    status = HTTPStatus.SERVICE_UNAVAILABLE


class SchemaError(StoreError):
    """The database is of another version of Walras."""

    code = "WAL-2504"


class ComputeError(ExchangeError):
    """A computation beside the service was late, raised or died."""

    code = "WAL-2505"
    status = HTTPStatus.SERVICE_UNAVAILABLE


class ServeError(ExchangeError):
    """The service cannot listen where it was told to."""

    code = "WAL-2501"


class UnreachableError(ExchangeError):
    """The service does not answer; whether a request took effect is not known."""

    code = "WAL-2506"
    status = HTTPStatus.SERVICE_UNAVAILABLE
