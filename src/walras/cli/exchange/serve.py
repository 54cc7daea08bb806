"""``walras serve``: the exchange as a service."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from walras.cli.common.parent import EndWithStdin, end_with_stdin
from walras.cli.common.streams import tell
from walras.errors import EngineError, InputError
from walras.extras import install_hint

if TYPE_CHECKING:
    from walras.policies.placements import Policy


def serve(
    home: Annotated[Path, typer.Option(help="Folder of the exchange; created at first start.")],
    host: Annotated[str, typer.Option(help="Interface to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 for any that is free.")] = 8765,
    database: Annotated[
        str | None,
        typer.Option(help="sqlite:///PATH or postgresql://USER@HOST/NAME; HOME/exchange.db."),
    ] = None,
    interval: Annotated[float, typer.Option(help="Seconds between rounds.")] = 10.0,
    policy: Annotated[
        Path | None,
        typer.Option(help="JSON file of what rounds keep to from now on; else as before."),
    ] = None,
    tls_in_front: Annotated[
        bool, typer.Option("--tls-in-front", help="A proxy with TLS stands in front.")
    ] = False,
    name: Annotated[
        list[str] | None, typer.Option(help="Further name that the Host header may have.")
    ] = None,
    log_level: Annotated[str, typer.Option(help="Least level of the logs.")] = "INFO",
    oidc_issuer: Annotated[
        str | None, typer.Option(help="OpenID Connect issuer whose tokens count, too.")
    ] = None,
    oidc_audience: Annotated[str, typer.Option(help="What its tokens must be for.")] = "walras",
    ends: EndWithStdin = False,
) -> None:
    """Serve an exchange until Ctrl-C.

    The first start creates the folder and writes HOME/admin.token (mode 0600).
    Logs are JSON lines on standard error.

    Examples:

      walras serve --home exchange

      walras serve --home exchange --database postgresql://walras@db/walras

      walras serve --home exchange --policy policy.json

      walras serve --home exchange --host 0.0.0.0 --tls-in-front --name walras.example.org
    """
    from walras.exchange.api.server import serve as run
    from walras.exchange.pages import pages

    if ends:
        end_with_stdin()
    verifier = None if oidc_issuer is None else _verifier(oidc_issuer, oidc_audience)

    def started(url: str, exchange: Any) -> None:
        tell(f"serving {url} from {exchange.home}")
        if exchange.admin_token is not None:
            tell(f"the admin's token is in {exchange.admin_token}")
            tell(f"next: walras login --server {url} --token-file {exchange.admin_token}")

    run(
        home,
        host,
        port,
        database,
        interval,
        policy=None if policy is None else _policy(policy),
        tls_in_front=tls_in_front,
        names=name or (),
        log_level=log_level.upper(),
        oidc=verifier,
        pages=pages,
        on_start=started,
    )
    tell("stopped")


def _policy(path: Path) -> Policy:
    """The policy of a file.

    Raises:
        InputError: The file cannot be read, or holds no policy.
    """
    from walras.policies.placements import Policy

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"cannot be read: {error}",
            where="policy",
            allowed='a JSON file, such as {"explore": 0.05, "rules": {"min_success": 0.7}}',
            remedy="give a file that is there, or leave the option out",
        ) from error
    return Policy.from_document(text)


def _verifier(issuer: str, audience: str) -> Any:
    """What verifies an issuer's tokens."""
    if find_spec("joserfc") is None:
        raise EngineError(
            "joserfc is not installed",
            where="--oidc-issuer",
            allowed="the service's own tokens",
            remedy=install_hint("oidc"),
        )
    from walras.exchange.api.oidc import Oidc, Trust

    return Oidc(Trust(issuer, audience))
