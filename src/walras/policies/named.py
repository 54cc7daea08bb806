"""Policies by name, or from a file of the user's."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from walras import checks
from walras.errors import DataError, InputError, WalrasError
from walras.policies.allox import allox
from walras.policies.dede import dede
from walras.policies.fifo import fifo
from walras.policies.finish_time import finish_time_fairness
from walras.policies.gandiva import gandiva
from walras.policies.hierarchical import hierarchical
from walras.policies.las import las
from walras.policies.leximin import leximin
from walras.policies.makespan import makespan
from walras.policies.max_min import max_min
from walras.policies.pop import pop
from walras.policies.predicted import predicted
from walras.policies.proportional import proportional_fairness
from walras.policies.shortest import shortest_remaining_time
from walras.policies.total_duration import total_duration
from walras.policies.total_throughput import total_throughput
from walras.simulate.time_shared import Policy


def _predicted(policy: str, throughputs: str, judge: str | None = None, **options: Any) -> Policy:
    """Let a policy, by its name and with its options, see predicted speeds from a CSV file."""
    return predicted(named(policy, **options), throughputs, judge=judge)


NAMED: Mapping[str, Callable[..., Policy]] = {
    "allox": allox,
    "dede": dede,
    "fifo": fifo,
    "finish_time_fairness": finish_time_fairness,
    "gandiva": gandiva,
    "hierarchical": hierarchical,
    "las": las,
    "leximin": leximin,
    "makespan": makespan,
    "max_min": max_min,
    "pop": pop,
    "predicted": _predicted,
    "proportional_fairness": proportional_fairness,
    "shortest_remaining_time": shortest_remaining_time,
    "total_duration": total_duration,
    "total_throughput": total_throughput,
}
"""Policies of time-shared rounds by name: functions of their options."""


NEEDED = inspect.Parameter.empty
"""Stands for the default of an option that has none."""


def named(name: str, **options: Any) -> Policy:
    """A policy of time-shared rounds by its name, or from a Python file.

    Args:
        name: A name of :data:`NAMED`, or ``FILE.py:FUNCTION`` for a function from a
            :class:`walras.rounds.JobsSnapshot` to :class:`walras.rounds.Shares`. The file is run.
        options: Of a named policy, such as ``by_speed=True``.

    Returns:
        The policy.

    Raises:
        InputError: There is no such policy, option or function.
        DataError: The file cannot be read or run.

    Example:
        >>> import walras as wl
        >>> wl.policies.named("las", by_speed=True).__name__
        'las by speed'
    """
    own = of_file(name, options)
    if own is not None:
        return own
    checks.one_of(name, "policy", NAMED, "policy", remedy="name one, or FILE.py:FUNCTION")
    make = NAMED[name]
    known = defaults_of(make)
    if make is not _predicted:  # it hands on the options of the policy inside it
        checks.known_keys(options, known, f"policy {name}")
    needed = [key for key, default in known.items() if default is NEEDED]
    missing = [k for k in needed if k not in options]
    if missing:
        raise InputError(
            f"has no option {missing[0]!r}",
            where=f"policy {name}",
            allowed=f"options {', '.join(needed)}",
            remedy=f"give {missing[0]}",
        )
    with options_of(name):
        return make(**options)


def defaults_of(make: Callable[..., Any]) -> dict[str, Any]:
    """Options of a function that makes a policy, with their defaults; :data:`NEEDED` where an
    option has none.

    Args:
        make: The function, such as one of :data:`NAMED`.

    Example:
        >>> from walras.policies.fifo import fifo
        >>> defaults_of(fifo)
        {'by_speed': False, 'sharing': False}
    """
    found = inspect.signature(make).parameters.items()
    return {key: p.default for key, p in found if p.kind is not p.VAR_KEYWORD}


@contextmanager
def options_of(name: str) -> Iterator[None]:
    """Let errors about a policy's options say whose they are.

    Raises:
        InputError: That of the body; where it is about an option, the policy is named with it.
    """
    try:
        yield
    except InputError as error:
        if "policy " in error.where:  # of a policy inside this one
            raise
        raise InputError(
            error.what,
            where=f"{error.where.removeprefix('policy.')} of policy {name}",
            allowed=error.allowed,
            remedy=error.remedy,
        ) from error


def of_file(name: str, options: Mapping[str, Any]) -> Callable[..., Any] | None:
    """The function that ``FILE.py:FUNCTION`` names; None where the name is none of a file.

    Raises:
        InputError: It is no text, there is no such function, or it is given options.
        DataError: The file cannot be read or run.
    """
    checks.text(name, "policy")
    file, colon, function = name.rpartition(":")
    if not colon or not file.endswith(".py"):
        return None
    if options:
        raise InputError(
            f"has options {', '.join(options)}",
            where=f"policy {name}",
            allowed="no options: a function of a file is the policy itself",
            remedy="set them in the file",
        )
    return from_file(Path(file), function)


def from_file(path: Path, function: str) -> Callable[..., Any]:
    """The function of a Python file, which is run.

    Args:
        path: The file.
        function: Its name.

    Raises:
        DataError: The file cannot be read or run.
        InputError: It has no such function.
    """
    spec = importlib.util.spec_from_file_location(f"policy of {path.resolve()}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise DataError(
            "is no file",
            where=f"policy {path}",
            allowed="a Python file",
            remedy="check the path",
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and pickle look the module up by its name
    try:
        with redirect_stdout(sys.stderr):  # standard output is for results
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # whatever the user's file raises
        raise DataError(
            f"raises {type(error).__name__}: {error}",
            where=f"policy {path}",
            allowed="a Python file that runs",
            remedy="run it with python to see where",
        ) from error
    found = getattr(module, function, None)
    if not callable(found):
        raise InputError(
            f"has no function {function!r}",
            where=f"policy {path}",
            allowed=", ".join(sorted(k for k, v in vars(module).items() if callable(v))) or "none",
            remedy="name a function of the file after the colon",
        )
    return _guarded(found, path, function)


def _guarded(policy: Callable[..., Any], path: Path, function: str) -> Callable[..., Any]:
    """The user's function, whose own errors are one clear error with their line."""

    def guarded(snapshot: Any) -> Any:
        try:
            with redirect_stdout(sys.stderr):
                return policy(snapshot)
        except WalrasError:
            raise
        except (Exception, SystemExit) as error:  # whatever the user's function raises
            raise DataError(
                f"raises {type(error).__name__}: {error}",
                where=f"policy {path}:{function}{_line(error, path, policy)}",
                allowed="a function of one argument, the snapshot, that decides every snapshot",
                remedy="correct it there",
            ) from error

    guarded.__name__ = function
    return guarded


def _line(error: BaseException, path: Path, policy: Callable[..., Any]) -> str:
    """The last line of the file that was running; that of the function where none was: it was
    called with other arguments than it takes. Empty where that is in no file, either.
    """
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename).resolve() == path.resolve()]
    code = getattr(inspect.unwrap(policy), "__code__", None)
    line = lines[-1] if lines else getattr(code, "co_firstlineno", None)
    return f", line {line}" if line else ""
