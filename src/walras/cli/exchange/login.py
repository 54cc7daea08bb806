"""``walras login``: sign a browser in to the pages of an exchange."""

from __future__ import annotations

import webbrowser
from typing import Annotated

import typer

from walras.cli.common.streams import put, tell
from walras.cli.exchange.connect import SERVER, ServerOption, TokenOption, client_of


def login(
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the link in a browser.")
    ] = True,
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
) -> None:
    """Print a link that signs a browser in, once, and open it.

    The link works for ten minutes; the session has the token's rights for twelve hours.

    Examples:

      walras login --token-file exchange/admin.token

      walras login --no-browser --token-file ann.token
    """
    with client_of(server, token_file) as client:
        link = client.login_link()
    put(link)
    if browser and not webbrowser.open(link):
        tell("no browser was found: open the link in one")
