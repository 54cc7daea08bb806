"""A Kubernetes API server: sends the dispatcher's requests, says clearly what went wrong."""

from __future__ import annotations

import json
import os
import ssl
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from walras.errors import InputError
from walras.exchange.dispatch.requests import WATCH_SECONDS, Request
from walras.exchange.errors import (
    ExchangeError,
    ForbiddenError,
    NotFoundError,
    UnauthorisedError,
    UnreachableError,
)

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
MANIFEST = "deploy/kueue/dispatcher.yaml"
_PATIENCE = 30.0  # seconds for an answer
_SILENCE = WATCH_SECONDS + 15.0  # seconds without a line after which a watch is dead
_LONGEST = 60.0  # seconds that a server may ask to wait
_SAID = 500  # characters of a server's message that are shown


@dataclass(frozen=True)
class Reply:
    """An answer.

    Attributes:
        status: HTTP status.
        body: Its JSON; None where it is none.
        wait: Seconds that the server asks to wait.
    """

    status: int
    body: Any
    wait: float = 0.0


class Server:
    """An API server.

    Args:
        url: Its address, such as ``https://10.0.0.1:443``.
        token: File with the bearer token, or None to send none. It is read for each request: a
            service account's token is replaced every hour.
        authority: File with the certificates to trust, or None for the system's.
        client: An HTTP client to use instead; for tests.

    Raises:
        InputError: A file cannot be read.
    """

    def __init__(
        self,
        url: str,
        token: Path | None = None,
        authority: Path | None = None,
        client: httpx2.AsyncClient | None = None,
    ) -> None:
        self.url, self._token = url, token
        self._headers()
        self._client = client or httpx2.AsyncClient(
            base_url=url, verify=_trust(authority), timeout=_PATIENCE, follow_redirects=False
        )

    @classmethod
    def found(
        cls, url: str | None, token: Path | None = None, authority: Path | None = None
    ) -> Server:
        """The server that is named, or that of the cluster in which this runs.

        Args:
            url: Its address, or None for the cluster's.
            token: File with the token, or None for the service account's.
            authority: File with the certificates to trust, or None for the service account's.

        Raises:
            InputError: No address is given and there is no service account, or a file is missing.
        """
        if url is not None:
            return cls(url, token, authority)
        if token is None and not (ACCOUNT / "token").exists():
            raise InputError(
                "there is no service account here",
                where="--server",
                allowed="a pod with a service account, or an address",
                remedy="give --server URL, and --token-file unless a proxy adds the token",
            )
        host = os.environ.get("KUBERNETES_SERVICE_HOST", "kubernetes.default.svc")
        port = os.environ.get("KUBERNETES_SERVICE_PORT", "443")
        host = f"[{host}]" if ":" in host else host
        return cls(
            f"https://{host}:{port}", token or ACCOUNT / "token", authority or ACCOUNT / "ca.crt"
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def send(self, request: Request) -> Reply:
        """Send a request.

        Raises:
            UnreachableError: No answer came, or HTTP 200 without an object, such as a proxy's page;
                whether it took effect is not known.
        """
        try:
            answer = await self._client.request(
                request.method,
                request.path,
                params=dict(request.query),
                content=request.body,
                headers=self._headers(request.content),
            )
        except httpx2.HTTPError as error:
            raise self._unreachable(error) from error
        found = Reply(answer.status_code, _json(answer.content), _wait(answer))
        if found.status == 200 and not isinstance(found.body, dict):
            raise self._strange("answers HTTP 200 without a JSON object")
        return found

    async def ask(self, request: Request) -> Any:
        """The body of an answer that is none of an error.

        Raises:
            ExchangeError: It is one, or no answer came.
        """
        reply = await self.send(request)
        if reply.status != 200:
            raise self.refusal(request, reply)
        return reply.body

    async def events(
        self, request: Request, refused: Callable[[Reply], None]
    ) -> AsyncGenerator[dict[str, Any], None]:
        """The events of a watch, until the server ends it.

        Args:
            request: The watch.
            refused: Called with the answer where the server does not begin the watch.

        Yields:
            Each event.

        Raises:
            UnreachableError: The connection was dropped, or a line is no event.
        """
        timeout = httpx2.Timeout(_PATIENCE, read=_SILENCE)
        try:
            async with self._client.stream(
                request.method,
                request.path,
                params=dict(request.query),
                headers=self._headers(),
                timeout=timeout,
            ) as answer:
                if answer.status_code != 200:
                    body = _json(await answer.aread())
                    refused(Reply(answer.status_code, body, _wait(answer)))
                    return
                async for line in answer.aiter_lines():
                    if line.strip():
                        event = _json(line)
                        if not isinstance(event, dict):
                            raise self._strange("sends a line that is no event, or was cut")
                        yield event
        except httpx2.HTTPError as error:
            raise self._unreachable(error) from error

    def _headers(self, content: str = "") -> dict[str, str]:
        made = {"Accept": "application/json", "User-Agent": "walras-kueue-dispatcher"}
        if content:
            made["Content-Type"] = content
        if self._token is not None:
            made["Authorization"] = f"Bearer {_read(self._token)}"
        return made

    def _unreachable(self, error: Exception) -> UnreachableError:
        return UnreachableError(
            f"does not answer: {str(error) or type(error).__name__}",
            where=self.url,
            allowed="the address of a Kubernetes API server that runs",
            remedy="see that --server is right, and --ca-file has the server's authority",
        )

    def _strange(self, what: str) -> UnreachableError:
        return UnreachableError(
            what,
            where=self.url,
            allowed="the address of a Kubernetes API server",
            remedy="see that --server is right, and that no proxy answers in its place with a page",
        )

    def refusal(self, request: Request, reply: Reply) -> ExchangeError:
        """The error that an answer is."""
        said = reply.body.get("message", "") if isinstance(reply.body, dict) else ""
        said = said[:_SAID] if isinstance(said, str) else ""
        where = f"{request.method} {request.path}"
        if reply.status == 401:
            return UnauthorisedError(
                "the API server does not know the token",
                where=self.url,
                allowed="the token of a service account",
                remedy=f"see --token-file, and {MANIFEST}",
            )
        if reply.status == 403:
            return ForbiddenError(
                f"the service account may not do this: {said}",
                where=where,
                allowed=f"the rights in {MANIFEST}",
                remedy=f"kubectl apply -f {MANIFEST}",
            )
        if reply.status == 404:
            return NotFoundError(
                "is not there",
                where=where,
                allowed="a manager cluster with Kueue's API kueue.x-k8s.io/v1beta2",
                remedy="see that --server is the manager, and that its Kueue is 0.18.6 or newer",
            )
        return UnreachableError(
            f"answers HTTP {reply.status}: {said}",
            where=where,
            allowed="HTTP 200",
            remedy="see the API server's log",
        )


def _trust(authority: Path | None) -> ssl.SSLContext | bool:
    if authority is None:
        return True
    try:
        return ssl.create_default_context(cafile=str(authority))
    except (OSError, ssl.SSLError) as error:
        raise InputError(
            f"cannot be used: {error}",
            where=str(authority),
            allowed="a file with certificates (PEM)",
            remedy="give the file with --ca-file",
        ) from error


def _read(path: Path) -> str:
    try:
        found = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"cannot be read: {error}",
            where=str(path),
            allowed="a file with a token",
            remedy="give the file with --token-file",
        ) from error
    return found


def _json(data: bytes | str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _wait(answer: httpx2.Response) -> float:
    try:
        return min(max(float(answer.headers.get("retry-after") or 0.0), 0.0), _LONGEST)
    except ValueError:
        return 0.0
