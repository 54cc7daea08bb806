"""``walras db``: the exchange's database."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from walras.cli.common.errors import ExitCode
from walras.cli.common.streams import put, tell
from walras.cli.exchange.connect import Format, OutputOption, put_document
from walras.errors import InputError
from walras.exchange.errors import StoreError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="""The exchange's database: migrate it, back it up, restore it, check it.

    Examples:

      walras db backup --home exchange --to exchange-monday.db

      walras db restore exchange-monday.db --home restored

      walras db check --home exchange
    """,
)

HomeOption = Annotated[Path | None, typer.Option(help="Folder of the exchange.")]
DatabaseOption = Annotated[
    str | None, typer.Option(help="sqlite:///PATH or postgresql://USER@HOST/NAME.")
]


def _put(words: str, output: Format, **facts: object) -> None:
    """Print words, or facts as JSON or YAML."""
    if output is Format.TABLE:
        put(words)
    else:
        put_document(facts, output)


def _url(home: Path | None, database: str | None) -> str:
    if (home is None) == (database is None):
        raise InputError(
            "are both given" if home is not None else "are both missing",
            where="--home and --database",
            allowed="one of them",
            remedy="give --home DIR",
        )
    if database is not None:
        return database
    path = Path(str(home)).expanduser().absolute() / "exchange.db"
    if not path.exists():
        raise InputError(
            "holds no exchange",
            where=str(home),
            allowed="a folder that walras serve --home has made",
            remedy="give the folder, or --database for PostgreSQL",
        )
    return f"sqlite:///{path}"


@app.command()
def migrate(
    home: HomeOption = None,
    database: DatabaseOption = None,
    to: Annotated[str, typer.Option(help="Revision; the newest where it is left out.")] = "head",
    output: OutputOption = Format.TABLE,
) -> None:
    """Bring a database to this version's schema, all or nothing; the service must not run.

    Examples:

      walras db migrate --home exchange
    """
    from walras.exchange.runtime.home import migrate as run

    revision = run(_url(home, database), to)
    _put(revision, output, revision=revision)


@app.command()
def backup(
    to: Annotated[Path, typer.Option(help="File to write.")],
    home: HomeOption = None,
    database: DatabaseOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Copy a database to one file, while the service runs.

    Examples:

      walras db backup --home exchange --to exchange-monday.db
    """
    from walras.exchange.store.backup import backup as run
    from walras.exchange.store.backup import note

    url = _url(home, database)
    run(url, to)
    with suppress(StoreError):  # the backup is good, though the status does not tell of it
        note(url, time.time())
    _put(str(to), output, file=str(to))


@app.command()
def restore(
    backup: Annotated[Path, typer.Argument(help="File that walras db backup wrote.")],
    home: Annotated[Path, typer.Option(help="Folder of the exchange; created where it is new.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the database there; it is kept beside it.")
    ] = False,
    output: OutputOption = Format.TABLE,
) -> None:
    """Put a backup of SQLite into a folder; the service must not run there.

    The next start offers no task until runs granted since the backup have ended. An archive of
    PostgreSQL is restored by pg_restore.

    Examples:

      walras db restore exchange-monday.db --home restored

      walras db restore exchange-monday.db --home exchange --replace
    """
    from walras.exchange.runtime.home import restore as run

    kept = run(backup, home, replace=replace)
    _put(str(home), output, home=str(home), former=None if kept is None else str(kept))
    if kept is not None:
        tell(f"the former database is {kept}")


@app.command()
def check(
    home: HomeOption = None,
    database: DatabaseOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Check a database: the file, its references, its states, the audit log's chain.

    The exit code is 1 where something is wrong.

    Examples:

      walras db check --home exchange
    """
    from walras.exchange.service.check import check as run

    found = run(_url(home, database))
    words = "\n".join(str(finding) for finding in found) or "nothing is wrong"
    _put(words, output, findings=[asdict(finding) for finding in found])
    if found:
        raise typer.Exit(ExitCode.FAILED)
