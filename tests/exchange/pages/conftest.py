"""A service with its pages, and browsers that have signed in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.exchange.api.serving import Served

from walras.exchange.pages import pages


class Site:
    """The pages of a service as one browser after another sees them.

    Attributes:
        served: The service.
    """

    def __init__(self, served: Served) -> None:
        self.served = served
        self._cookies: dict[str, dict[str, str]] = {}

    def link(self, role: str = "admin") -> str:
        """A path that signs in, once."""
        return str(self.served.post("/v1/logins", role=role)["path"])

    def sign_in(self, role: str) -> dict[str, str]:
        """The cookies of a browser that has signed in with a role's token."""
        if role not in self._cookies:
            answer = self.served.client.get(self.link(role), follow_redirects=False)
            assert (answer.status_code, answer.headers["location"]) == (303, "/")
            self._cookies[role] = dict(answer.cookies)
            self.served.client.cookies.clear()
        return self._cookies[role]

    def get(self, path: str, role: str | None = "admin", **headers: str) -> Any:
        """The response to a browser."""
        given = {"accept": "text/html"} | {k.replace("_", "-"): v for k, v in headers.items()}
        if role is not None:
            cookies = self.sign_in(role)
            given["cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
        return self.served.client.get(path, headers=given, follow_redirects=False)

    def text(self, path: str, role: str = "admin", **headers: str) -> str:
        """The text of a page that is shown."""
        answer = self.get(path, role, **headers)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        return str(answer.text)

    def words(self, path: str, role: str = "admin", **headers: str) -> str:
        """The words of a page without its marks, each space one."""
        plain = re.sub(r"<[^>]*>", " ", self.text(path, role, **headers))
        return re.sub(r"\s+", " ", plain)


@pytest.fixture
def site(tmp_path: Path, url: str) -> Iterator[Site]:
    """Pages on both databases."""
    made = Served(tmp_path / "home", url, pages=pages())
    yield Site(made)
    made.close()


@pytest.fixture
def quick_site(tmp_path: Path) -> Iterator[Site]:
    """Pages on SQLite."""
    made = Served(tmp_path / "home", pages=pages())
    yield Site(made)
    made.close()
