"""``walras serve``: what it passes on, and what it says first."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from walras.cli.exchange import serve
from walras.cli.main import app
from walras.errors import EngineError, InputError
from walras.exchange.api import server
from walras.exchange.api.oidc import Oidc
from walras.exchange.pages import pages
from walras.policies.placements import Policy
from walras.rounds import Rules


def _run(monkeypatch: pytest.MonkeyPatch, *words: str, token: Path | None = None) -> Any:
    """The command's end, and what the service was asked for."""
    asked: list[Any] = []

    def run(*arguments: Any, on_start: Any, **options: Any) -> None:
        asked.append((arguments, options))
        on_start("http://127.0.0.1:9", SimpleNamespace(home=arguments[0], admin_token=token))

    monkeypatch.setattr(server, "serve", run)
    return CliRunner().invoke(app, ["serve", "--home", "h", *words]), asked


def test_the_first_start_says_where_the_token_is_and_what_comes_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    end, _ = _run(monkeypatch, token=Path("h/admin.token"))
    assert end.stdout == ""
    assert end.stderr.splitlines() == [
        "serving http://127.0.0.1:9 from h",
        "the admin's token is in h/admin.token",
        "next: walras login --server http://127.0.0.1:9 --token-file h/admin.token",
        "stopped",
    ]
    end, _ = _run(monkeypatch)
    assert end.stderr.splitlines() == ["serving http://127.0.0.1:9 from h", "stopped"]


def test_options_are_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("--port", "0", "--interval", "5", "--tls-in-front", "--name", "a", "--name", "b")
    _, ((arguments, options),) = _run(monkeypatch, *words, "--log-level", "debug")
    assert arguments == (Path("h"), "127.0.0.1", 0, None, 5.0)
    assert options == {
        "policy": None,
        "tls_in_front": True,
        "names": ["a", "b"],
        "log_level": "DEBUG",
        "oidc": None,
        "pages": pages,
    }


def test_a_policy_is_read_from_its_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    path.write_text('{"explore": 0.05, "rules": {"min_success": 0.6}}')
    _, ((_, options),) = _run(monkeypatch, "--policy", str(path))
    assert options["policy"] == Policy(explore=0.05, rules=Rules(min_success=0.6))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (None, "cannot be read"),
        ("{", "is no policy"),
        ('{"explorer": 1}', "has no 'explorer'"),
        ('{"explore": 2}', "is 2"),
        ('{"rules": {"min_success": 2}}', "2"),
    ],
)
def test_what_is_no_policy_is_refused_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str | None, what: str
) -> None:
    path = tmp_path / "policy.json"
    if text is not None:
        path.write_text(text)
    end, asked = _run(monkeypatch, "--policy", str(path))
    assert isinstance(end.exception, InputError)
    assert what in str(end.exception)
    assert asked == []


def test_an_issuer_is_trusted_where_its_extra_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, ((_, options),) = _run(monkeypatch, "--oidc-issuer", "https://issuer.example")
    assert isinstance(options["oidc"], Oidc)
    monkeypatch.setattr(serve, "find_spec", lambda name: None)
    end, asked = _run(monkeypatch, "--oidc-issuer", "https://issuer.example")
    assert isinstance(end.exception, EngineError)
    assert "--oidc-issuer: joserfc is not installed" in str(end.exception)
    assert asked == []
