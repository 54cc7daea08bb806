"""``walras login``: a link on standard output, opened where there is a browser."""

from __future__ import annotations

from typing import Any

import pytest
from typer.testing import CliRunner

from walras.cli.exchange import login
from walras.cli.main import app
from walras.exchange.client import Client

LINK = "http://127.0.0.1:9/login?link=wll_1"


@pytest.mark.parametrize("there_is_one", [True, False])
def test_it_prints_the_link_and_opens_it(
    monkeypatch: pytest.MonkeyPatch, there_is_one: bool
) -> None:
    opened: list[str] = []

    def browse(link: str) -> bool:
        opened.append(link)
        return there_is_one

    monkeypatch.setenv("WALRAS_TOKEN", "wlr_1")
    monkeypatch.setattr(Client, "login_link", lambda self: LINK)
    monkeypatch.setattr(login, "webbrowser", type("Web", (), {"open": staticmethod(browse)}))
    run: Any = CliRunner().invoke(app, ["login"])
    assert (run.stdout, opened) == (f"{LINK}\n", [LINK])
    assert run.stderr == ("" if there_is_one else "no browser was found: open the link in one\n")
    run = CliRunner().invoke(app, ["login", "--no-browser"])
    assert (run.stdout, opened) == (f"{LINK}\n", [LINK])
