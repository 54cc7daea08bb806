"""Which service a command speaks to, with which token; how it prints what it heard."""

from __future__ import annotations

import datetime
import enum
import json
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel

from walras.cli.common import output as shared
from walras.cli.common.streams import put
from walras.errors import InputError
from walras.exchange.client import Client
from walras.reports.tables import Table

SERVER = "http://127.0.0.1:8765"

ServerOption = Annotated[
    str, typer.Option("--server", envvar="WALRAS_SERVER", help="Address of the service.")
]
TokenOption = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        envvar="WALRAS_TOKEN_FILE",
        help="File with the token, such as HOME/admin.token; else $WALRAS_TOKEN.",
    ),
]


class Format(enum.StrEnum):
    """How a command prints what it found."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"


OutputOption = Annotated[Format, typer.Option("--output", "-o", help="How to print the result.")]
MostOption = Annotated[int, typer.Option("--most", min=1, help="How many to list.")]


def client_of(server: str, token_file: Path | None) -> Client:
    """The client of the service that the options name.

    Raises:
        InputError: There is no token, or its file cannot be read.
    """
    return Client(server, read_token(token_file))


def read_token(path: Path | None) -> str:
    """The token of a file, or of the environment.

    Raises:
        InputError: There is none, or the file cannot be read.
    """
    if path is None:
        found = os.environ.get("WALRAS_TOKEN", "")
    else:
        try:
            found = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"cannot be read: {error}",
                where=str(path),
                allowed="a file with a token, such as HOME/admin.token",
                remedy="give the file with --token-file",
            ) from error
    if not found.strip():
        raise InputError(
            "there is no token",
            where="--token-file" if path is None else str(path),
            allowed="--token-file FILE, $WALRAS_TOKEN_FILE or $WALRAS_TOKEN",
            remedy="the service writes HOME/admin.token at its first start",
        )
    return found.strip()


def emit(
    found: BaseModel | Sequence[BaseModel],
    output: Format,
    columns: Sequence[str] = (),
    title: str = "",
) -> None:
    """Print what the service answered: all of it as JSON or YAML, some columns as a table."""
    if output is not Format.TABLE:
        put_document(_plain(found), output)
        return
    if isinstance(found, BaseModel):
        rows = [(name, _cell(value)) for name, value in found.model_dump().items()]
        if columns:
            by_name = dict(rows)
            rows = [(name, by_name[name]) for name in columns]
        shared.emit(Table(("", title or "value"), rows))
        return
    records = [item.model_dump() for item in found]
    cells = [tuple(_cell(record[name]) for name in columns) for record in records]
    shared.emit(Table(tuple(name.replace("_", " ") for name in columns), cells, title))


def _plain(found: BaseModel | Iterable[BaseModel]) -> Any:
    if isinstance(found, BaseModel):
        return found.model_dump(mode="json")
    return [item.model_dump(mode="json") for item in found]


def put_document(value: Any, output: Format) -> None:
    """Print a value as JSON or YAML."""
    if output is Format.JSON:
        put(json.dumps(value, indent=2, ensure_ascii=False))
        return
    import yaml

    put(yaml.safe_dump(value, sort_keys=False, allow_unicode=True), end="")


def _cell(value: Any) -> Any:
    """A value as a cell of a table."""
    if value is None:
        return ""
    if isinstance(value, dict):
        return " ".join(f"{k}={v}" for k, v in value.items())
    if isinstance(value, list):
        return " ".join(map(str, value))
    if isinstance(value, float) and value > 1e9:  # seconds since 1970
        return moment(value)
    return value


def moment(seconds: float | None) -> str:
    """A time of the service as people read it."""
    if seconds is None:
        return ""
    return datetime.datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M:%S")


_VALUES: dict[Callable[[str], Any], str] = {str: "VALUE", float: "NUMBER", int: "WHOLE NUMBER"}
_EXAMPLES: dict[Callable[[str], Any], str] = {str: "a=b", float: "layers=50", int: "east=8"}


def key_values(
    given: Sequence[str] | None, name: str, kind: Callable[[str], Any] = str
) -> dict[str, Any]:
    """``k=v`` options as a dictionary.

    Raises:
        InputError: One has no ``=``, comes twice, or is not of the kind.
    """
    found: dict[str, Any] = {}
    for word in given or ():
        key, equals, value = word.partition("=")
        try:
            made = kind(value)
        except ValueError:
            made, equals = None, ""
        if not equals or not key or key in found:
            raise InputError(
                f"is '{word}'" + (", given twice" if key in found else ""),
                where=f"--{name}",
                allowed=f"NAME={_VALUES[kind]}, once a name",
                remedy=f"write --{name} {_EXAMPLES[kind]}",
            )
        found[key] = made
    return found
