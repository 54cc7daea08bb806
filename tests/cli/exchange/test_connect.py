"""Which service a command speaks to, with which token; how it prints what it heard."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from walras.cli.exchange import connect
from walras.cli.exchange.connect import Format
from walras.errors import InputError


class Thing(BaseModel):
    """Something that a service answers."""

    name: str
    sizes: list[int]
    labels: dict[str, str]
    at: float
    none: None = None


_THING = Thing(name="ä", sizes=[1, 2], labels={"a": "b", "c": "d"}, at=2e9)


def test_a_document_holds_everything(capsys: pytest.CaptureFixture[str]) -> None:
    connect.emit([_THING], Format.JSON, ("name",))
    out = capsys.readouterr().out
    assert "ä" in out
    assert json.loads(out) == [_THING.model_dump()]
    connect.emit(_THING, Format.YAML)
    out = capsys.readouterr().out
    assert out.startswith("name: ä\n")
    assert yaml.safe_load(out) == _THING.model_dump()


def test_a_table_holds_the_columns_that_were_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    connect.emit([_THING], Format.TABLE, ("name", "labels", "none", "at"), "things")
    head, rule, row = [
        line.split() for line in capsys.readouterr().out.splitlines() if line.strip()
    ][-3:]
    assert head == ["name", "labels", "none", "at"]
    assert set(rule[0]) == {"─"}
    assert row == ["ä", "a=b", "c=d", *connect.moment(2e9).split()]
    connect.emit(_THING, Format.TABLE, ("sizes",))
    out = capsys.readouterr().out
    assert "1 2" in out
    assert "labels" not in out


def test_a_moment_is_what_people_read() -> None:
    assert connect.moment(None) == ""
    date, time = connect.moment(1e9).split()
    assert date in ("2001-09-08", "2001-09-09")
    assert time[2:] == ":46:40"


def test_a_file_without_a_token_is_named(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(" \n")
    with pytest.raises(InputError, match=f"{tmp_path}/token: there is no token"):
        connect.read_token(tmp_path / "token")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="bytes: cannot be read"):
        connect.read_token(tmp_path / "bytes")


@pytest.mark.parametrize(
    ("given", "kind", "found"),
    [
        (["a=1", "b=2.5"], float, {"a": 1.0, "b": 2.5}),
        (["a=x=y", "b="], str, {"a": "x=y", "b": ""}),
        (None, str, {}),
    ],
)
def test_pairs_are_read(given: list[str] | None, kind: Any, found: dict[str, Any]) -> None:
    assert connect.key_values(given, "feature", kind) == found


@pytest.mark.parametrize("given", [["a"], ["=1"], ["a=1", "a=2"], ["a=x"]])
def test_pairs_that_are_none_are_refused(given: list[str]) -> None:
    with pytest.raises(InputError, match="--feature: is"):
        connect.key_values(given, "feature", float)


@pytest.mark.parametrize(
    ("kind", "allowed", "remedy"),
    [
        (str, "NAME=VALUE", "write --of a=b"),
        (float, "NAME=NUMBER", "write --of layers=50"),
        (int, "NAME=WHOLE NUMBER", "write --of east=8"),
    ],
)
def test_the_error_of_a_pair_tells_what_the_option_takes(
    kind: Callable[[str], Any], allowed: str, remedy: str
) -> None:
    with pytest.raises(InputError) as raised:
        connect.key_values(["east"], "of", kind)
    assert raised.value.allowed.startswith(allowed)
    assert raised.value.remedy == remedy


def test_a_token_is_read_or_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WALRAS_TOKEN", raising=False)
    with pytest.raises(InputError, match="there is no token"):
        connect.read_token(None)
    with pytest.raises(InputError, match="cannot be read"):
        connect.read_token(tmp_path / "none")
    (tmp_path / "token").write_text("wlr_abc\n")
    assert connect.read_token(tmp_path / "token") == "wlr_abc"
    monkeypatch.setenv("WALRAS_TOKEN", "wlr_def")
    assert connect.read_token(None) == "wlr_def"


@pytest.mark.parametrize(("server", "token"), [("127.0.0.1:8765", "wlr_a"), ("http://x", "a\nb")])
def test_no_client_is_made_of_what_cannot_be_sent(
    server: str, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WALRAS_TOKEN", token)
    with pytest.raises(InputError, match=r"http://|one token"):
        connect.client_of(server, None)
