"""Exit codes, and how errors are shown: a few lines on standard error, never a traceback."""

from __future__ import annotations

import math

import pytest

from walras.cli.common import errors
from walras.cli.common.errors import describe, ended, ending, exit_code, guarded
from walras.errors import (
    DataError,
    EngineError,
    InfeasibleError,
    InputError,
    UnboundedError,
    WalrasError,
)
from walras.exchange.errors import ConflictError, StoreError, UnreachableError
from walras.status import Status


@pytest.mark.parametrize(
    ("status", "gap", "tolerance", "code"),
    [
        (Status.FEASIBLE, 0.2, None, 0),
        (Status.INACCURATE, 0.2, None, 0),
        (Status.FEASIBLE, math.inf, None, 5),
        (Status.FEASIBLE, 0.2, 1e-3, 5),
        (Status.LIMIT, 0.2, None, 5),
        (Status.OPTIMAL, 0.0, 1e-3, 0),
        (Status.INTERRUPTED, 0.0, None, 130),
    ],
)
def test_what_a_method_proves_by_itself_is_success_unless_more_was_asked(
    status: Status, gap: float, tolerance: float | None, code: int
) -> None:
    assert ended(status, gap, tolerance) == code


def test_the_gap_is_told_where_it_is_not_closed() -> None:
    assert ending(Status.OPTIMAL, 1e-9) == Status.OPTIMAL.message
    assert ending(Status.INFEASIBLE, math.nan) == Status.INFEASIBLE.message
    assert ending(Status.LIMIT, 0.0123) == f"{Status.LIMIT.message} Gap: 1.2 %."
    assert ending(Status.LIMIT, 0.0123, "seconds") == f"{Status.LIMIT.message} Gap: 0.012 seconds."


def test_options_are_named_as_they_were_given() -> None:
    error = InputError("tolerance is 2", where="setting tolerance", remedy="lower min_success")
    shown = describe(error, ["--tolerance", "2"], {"--tolerance", "--min-success"})
    assert shown.splitlines() == [
        "error[input]: tolerance is 2",
        "  where:   --tolerance",
        "  remedy:  lower --min-success",
    ]


@pytest.mark.parametrize(
    ("error", "code", "kind"),
    [
        (ConflictError("x"), 2, "exchange"),
        (StoreError("x"), 1, "store"),
        (UnreachableError("x"), 1, "unreachable"),
    ],
)
def test_errors_of_the_exchange_have_codes(error: WalrasError, code: int, kind: str) -> None:
    assert exit_code(error) == code
    assert describe(error).startswith(f"error[{kind}]: x")


def test_memory_that_runs_out_is_an_engines_error(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> int:
        raise MemoryError

    with pytest.raises(SystemExit) as caught:
        guarded(fail)
    assert caught.value.code == 1
    assert capsys.readouterr().err.startswith("error[engine]: out of memory\n")
    with pytest.raises(SystemExit) as fine:
        guarded(lambda: 5)
    assert fine.value.code == 5


ERRORS = {
    InputError: 2,
    InfeasibleError: 3,
    UnboundedError: 4,
    DataError: 6,
    EngineError: 1,
    WalrasError: 1,
}


@pytest.mark.parametrize("kind", ERRORS)
def test_an_error_is_shown_on_stderr_and_gives_its_code(
    kind: type[WalrasError], capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> int:
        raise kind("a capacity is negative", where="capacity[3]", allowed=">= 0", remedy="fix it")

    with pytest.raises(SystemExit) as caught:
        guarded(fail)
    assert caught.value.code == ERRORS[kind]
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines()[0].endswith("]: a capacity is negative")
    assert shown.err.splitlines()[1:] == [
        "  where:   capacity[3]",
        "  allowed: >= 0",
        "  remedy:  fix it",
    ]


def test_an_error_shows_only_the_parts_it_has() -> None:
    assert describe(DataError("gone")) == "error[data]: gone"


def test_an_interruption_gives_130(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt() -> int:
        raise KeyboardInterrupt

    with pytest.raises(SystemExit) as caught:
        guarded(interrupt)
    assert caught.value.code == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_every_status_has_an_exit_code() -> None:
    codes = {status: int(exit_code(status)) for status in Status}
    assert codes == {
        Status.OPTIMAL: 0,
        Status.FAILED: 1,
        Status.INFEASIBLE: 3,
        Status.UNBOUNDED: 4,
        Status.INACCURATE: 5,
        Status.FEASIBLE: 5,
        Status.LIMIT: 5,
        Status.INTERRUPTED: 130,
    }
    assert set(errors._OF_STATUS) == set(Status)
