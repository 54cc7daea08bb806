"""Exit codes, and how errors are shown: a few lines on stderr, never a traceback."""

from __future__ import annotations

import enum
import math
import sys
from collections.abc import Callable, Collection, Sequence

from walras.cli.common.streams import tell
from walras.cli.common.usage_errors import UsageError, as_option, in_options
from walras.errors import (
    DataError,
    EngineError,
    InfeasibleError,
    InputError,
    StoppedError,
    UnboundedError,
    WalrasError,
)
from walras.exchange.errors import (
    ComputeError,
    ExchangeError,
    ForbiddenError,
    StoreError,
    UnauthorisedError,
    UnreachableError,
)
from walras.status import Status


class ExitCode(enum.IntEnum):
    """What the ``walras`` command returns; these numbers do not change between versions."""

    OK = 0
    FAILED = 1
    BAD_INPUT = 2
    INFEASIBLE = 3
    UNBOUNDED = 4
    LIMIT = 5
    NO_DATA = 6
    INTERRUPTED = 130


_OF_ERROR: dict[type[WalrasError], tuple[ExitCode, str]] = {
    UsageError: (ExitCode.BAD_INPUT, "usage"),
    InputError: (ExitCode.BAD_INPUT, "input"),
    InfeasibleError: (ExitCode.INFEASIBLE, "infeasible"),
    UnboundedError: (ExitCode.UNBOUNDED, "unbounded"),
    DataError: (ExitCode.NO_DATA, "data"),
    EngineError: (ExitCode.FAILED, "engine"),
    StoppedError: (ExitCode.INTERRUPTED, "stopped"),
    UnreachableError: (ExitCode.FAILED, "unreachable"),
    StoreError: (ExitCode.FAILED, "store"),
    ComputeError: (ExitCode.FAILED, "service"),
    UnauthorisedError: (ExitCode.BAD_INPUT, "token"),
    ForbiddenError: (ExitCode.BAD_INPUT, "token"),
    ExchangeError: (ExitCode.BAD_INPUT, "exchange"),
}

_OF_STATUS = {
    Status.OPTIMAL: ExitCode.OK,
    Status.INACCURATE: ExitCode.LIMIT,
    Status.FEASIBLE: ExitCode.LIMIT,
    Status.LIMIT: ExitCode.LIMIT,
    Status.INFEASIBLE: ExitCode.INFEASIBLE,
    Status.UNBOUNDED: ExitCode.UNBOUNDED,
    Status.INTERRUPTED: ExitCode.INTERRUPTED,
    Status.FAILED: ExitCode.FAILED,
}


def exit_code(outcome: Status | WalrasError) -> ExitCode:
    """The exit code for a solution's status or for an error."""
    if isinstance(outcome, WalrasError):
        return _code_and_kind(outcome)[0]
    return _OF_STATUS[outcome]


def ended(status: Status, gap: float, tolerance: float | None) -> ExitCode:
    """The exit code of a command that ends with an allocation or a plan.

    Who asks for no tolerance gets what the method proves by itself: that is success, whatever the
    gap. A tolerance that was asked for and missed, and a limit that was set, are not.

    Args:
        status: How the solve ended.
        gap: What was proved.
        tolerance: The one asked for, or None.
    """
    by_itself = status in (Status.FEASIBLE, Status.INACCURATE)
    if by_itself and tolerance is None and math.isfinite(gap):
        return ExitCode.OK
    return exit_code(status)


def ending(status: Status, gap: float, unit: str = "") -> str:
    """How a solve ended, and the gap that it proved where that is no optimum."""
    if status is Status.OPTIMAL or not status.has_allocation:
        return status.message
    proved = f"{100 * gap:.2g} %" if not unit else f"{gap:.2g} {unit}"
    return f"{status.message} Gap: {proved}."


def describe(
    error: WalrasError, arguments: Sequence[str] = (), options: Collection[str] = ()
) -> str:
    """An error as the command line shows it: what, where, what is allowed, what to do.

    Args:
        error: What went wrong.
        arguments: Of the command line; an option among them is named in the place of its setting.
        options: All options of the command; advice names them in the place of its arguments.
    """
    lines = [f"error[{_code_and_kind(error)[1]}]: {in_options(error.what, options)}"]
    where = as_option(error.where, arguments)
    advice = (in_options(text, options) for text in (error.allowed, error.remedy))
    parts = zip(("where", "allowed", "remedy"), (where, *advice), strict=True)
    lines += [f"  {label + ':':<9}{text}" for label, text in parts if text]
    return "\n".join(lines)


def guarded(
    command: Callable[[], int],
    arguments: Sequence[str] = (),
    options: Callable[[], Collection[str]] = frozenset,
) -> None:
    """Run a command and exit with its code; show a ``WalrasError`` and exit with the error's."""
    try:
        code = command()
        if sys.stdout is not None:
            sys.stdout.flush()  # a disk that is full shows itself here
        sys.exit(code)
    except WalrasError as error:
        known = () if isinstance(error, UsageError | StoppedError) else options()
        tell(describe(error, arguments, known))
        sys.exit(exit_code(error))
    except MemoryError:
        fault = EngineError(
            "out of memory",
            allowed="what this process may use",
            remedy="give it more memory, a smaller problem, or --engine admm",
        )
        tell(describe(fault, arguments))
        sys.exit(exit_code(fault))
    except KeyboardInterrupt:
        tell("interrupted")
        sys.exit(ExitCode.INTERRUPTED)


def _code_and_kind(error: WalrasError) -> tuple[ExitCode, str]:
    for kind, result in _OF_ERROR.items():
        if isinstance(error, kind):
            return result
    return ExitCode.FAILED, "walras"
