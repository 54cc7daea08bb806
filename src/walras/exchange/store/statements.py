"""Statements of SQLAlchemy Core, compiled once a dialect and run on the driver's own cursor.

Through ``Connection.execute`` a statement of the sync costs nine times as much. The columns hold
integers, doubles, texts and bytes alone, which both drivers take and give as they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Protocol

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.sql.elements import ClauseElement

Row = tuple[Any, ...]

SQLITE: Dialect = sqlite.dialect()
POSTGRESQL: Dialect = postgresql.psycopg.dialect()  # type: ignore[no-untyped-call]


class Cursor(Protocol):
    """What is used of a driver's cursor."""

    @property
    def rowcount(self) -> int:
        """Rows that the last statement changed."""
        ...

    def execute(self, sql: str, parameters: Any = ..., /) -> Any:
        """Run a statement."""
        ...

    def executemany(self, sql: str, rows: Any, /) -> Any:
        """Run it once a row."""
        ...

    def fetchall(self) -> list[Row]:
        """The rows that are left."""
        ...


@dataclass(frozen=True)
class _Compiled:
    """SQL, and what makes of parameters by name what the driver is given, constants included."""

    sql: str
    given: Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True, eq=False)
class Statement:
    """A statement whose parameters are ``sa.bindparam``; keep it in a module constant."""

    construct: ClauseElement | Callable[[Dialect], ClauseElement]
    compiled: dict[str, _Compiled] = field(default_factory=dict)

    def on(self, dialect: Dialect) -> _Compiled:
        """Its SQL in a dialect."""
        found = self.compiled.get(dialect.name)
        if found is None:
            made = self.construct
            clause = made(dialect) if not isinstance(made, ClauseElement) else made
            text = clause.compile(dialect=dialect, compile_kwargs={"render_postcompile": True})
            order = text.positiontup if text.positional else None  # type: ignore[attr-defined]
            constants = {k: v for k, v in text.params.items() if v is not None}
            found = _Compiled(str(text), _giving(constants, order))
            self.compiled[dialect.name] = found
        return found


def given(name: str) -> sa.BindParameter[Any]:
    """A parameter, by name."""
    return sa.bindparam(name, None, required=False)


def in_states(column: sa.Column[str], *states: str) -> sa.ColumnElement[bool]:
    """``column in (...)`` in the form of a partial index's condition: SQLite compares the two."""
    listed: list[sa.ColumnElement[str]] = [sa.literal_column(f"'{state}'") for state in states]
    return column == listed[0] if len(listed) == 1 else column.in_(listed)


def inserting(table: sa.Table, *returning: sa.Column[Any]) -> Statement:
    """Insert a row; every column but the key is a parameter of its name."""
    columns = [c.name for c in table.columns if not (c.primary_key and c.autoincrement is True)]
    made = sa.insert(table).values({name: given(name) for name in columns})
    return Statement(made.returning(*returning) if returning else made)


def inserting_once(table: sa.Table, *unique: str) -> Statement:
    """Insert a row unless there is one of the same ``unique`` columns; count the rows inserted."""
    columns = [c.name for c in table.columns if not (c.primary_key and c.autoincrement is True)]
    values = {name: given(name) for name in columns}

    def made(dialect: Dialect) -> ClauseElement:
        insert = sqlite.insert if dialect.name == "sqlite" else postgresql.insert
        made: ClauseElement = (
            insert(table).values(values).on_conflict_do_nothing(index_elements=list(unique))
        )
        return made

    return Statement(made)


@dataclass(eq=False)
class Transaction:
    """Statements within one transaction.

    Attributes:
        cursor: The driver's.
        dialect: The database's.
        before: Called before each statement; the simulation kills the service there.
    """

    cursor: Cursor
    dialect: Dialect
    before: Callable[[], None] | None = None

    def rows(self, statement: Statement, **parameters: Any) -> list[Row]:
        """All rows of a statement."""
        self._execute(statement, parameters)
        return self.cursor.fetchall()

    def first(self, statement: Statement, **parameters: Any) -> Row | None:
        """Its first row, or None."""
        found = self.rows(statement, **parameters)
        return found[0] if found else None

    def value(self, statement: Statement, **parameters: Any) -> Any:
        """The first number of its first row."""
        found = self.first(statement, **parameters)
        return None if found is None else found[0]

    def run(self, statement: Statement, **parameters: Any) -> int:
        """Run it; the number of rows it changed."""
        self._execute(statement, parameters)
        return self.cursor.rowcount

    def many(self, statement: Statement, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run it once a row."""
        if not rows:
            return
        if self.before is not None:
            self.before()
        made = statement.on(self.dialect)
        self.cursor.executemany(made.sql, [made.given(row) for row in rows])

    def _execute(self, statement: Statement, parameters: Mapping[str, Any]) -> None:
        if self.before is not None:
            self.before()
        made = statement.compiled.get(self.dialect.name) or statement.on(self.dialect)
        self.cursor.execute(made.sql, made.given(parameters))


def _giving(
    constants: Mapping[str, Any], names: Sequence[str] | None
) -> Callable[[Mapping[str, Any]], Any]:
    """What adds constants to parameters, and puts them in the order of their names if there is one.

    Most statements have no constants, and many no parameters: these cost next to nothing.
    """
    if names is None:
        return lambda given: {**constants, **given}
    if not names:
        return lambda given: ()
    if len(names) == 1:
        (name,) = names
        return lambda given: (given[name] if name in given else constants[name],)
    take = itemgetter(*names)
    return (lambda given: take({**constants, **given})) if constants else take


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def document(value: Any) -> str:
    """A document as the store keeps it: JSON, its keys in order."""
    return _ENCODER.encode(value)
