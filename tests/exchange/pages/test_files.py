"""Files of the pages: open, asked for anew each time, and nothing beside them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.exchange.pages.conftest import Site

from walras.exchange.pages import files


def test_a_file_is_sent_once_and_then_known(quick_site: Site) -> None:
    first = quick_site.served.client.get("/static/style.css")
    assert first.status_code == 200
    assert first.headers["cache-control"] == "no-cache"
    assert first.headers["content-type"].startswith("text/css")
    tag = {"if-none-match": first.headers["etag"]}
    assert quick_site.served.client.get("/static/style.css", headers=tag).status_code == 304


@pytest.mark.parametrize(
    "path", ["/static/../render.py", "/static/%2e%2e/render.py", "/static/", "/static/none.js"]
)
def test_nothing_else_is_sent(quick_site: Site, path: str) -> None:
    assert quick_site.served.client.get(path).status_code in (401, 404)


def test_built_says_whether_the_scripts_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_SCRIPT", tmp_path / "main.js")
    assert not files.built()
    (tmp_path / "main.js").touch()
    assert files.built()
