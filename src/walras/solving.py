"""From a problem to a certified solution: the only place where the stages are wired together."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import takewhile
from typing import Any, Never, ParamSpec, Protocol

import numpy as np

from walras import checks
from walras.certificate import Certificate, certify
from walras.certificate.of_shares import certify_shares
from walras.deprecated import renamed_keywords
from walras.diagnosis.diagnose import raise_if_impossible
from walras.engines.base import Engine
from walras.engines.exact.crossover import polish as to_vertex
from walras.engines.exact.engine import Exact
from walras.errors import InputError
from walras.interrupts import Pressed
from walras.iterate import Iterate
from walras.kernels.devices import CPU
from walras.leximin.levels import LeximinResult
from walras.leximin.method import leximin, without_ceiling
from walras.programs.attempt import attempted
from walras.programs.integer_bounds import refuse_without_whole
from walras.progress import OnProgress, log_to_stderr
from walras.select.blas_threads import blas_limited
from walras.select.choose import Choice, choose
from walras.select.foreign_settings import refuse_unknown
from walras.select.old_options import OLD_OPTIONS, warn_of_old, with_old_options
from walras.select.registry import ENGINES, engine_of, refuse_unaccepted
from walras.separable import Leximin, Separable, leximin_of
from walras.separable.stated_later import stated_later
from walras.settings import Settings, Start
from walras.solution import Solution
from walras.start import Earlier, check_start, start_from
from walras.status import Status

_PATIENCE = 10.0  # predicted seconds up to which another engine is tried after one that falls short
# Ends of engines that say more than that a proof is missing.
_KEPT = (Status.LIMIT, Status.INTERRUPTED, Status.FEASIBLE)
_HOPELESS = 1e-3  # a gap above which an engine's failure is looked into


P = ParamSpec("P")


class StatedElsewhere(Protocol):
    """A ``walras.Problem`` or ``cvxpy.Problem``."""

    @property
    def objective(self) -> Any:
        """What is maximised or minimised."""

    @property
    def constraints(self) -> Any:
        """All constraints."""


def takes_cvxpy(solve: Callable[P, Solution]) -> Callable[P, Solution]:
    """Let ``solve`` take cvxpy problems, too, which ``walras.problem`` states.

    That package lies above this one and is imported by its name when such a problem comes.
    """

    @functools.wraps(solve)
    def with_cvxpy(*given: P.args, **settings: P.kwargs) -> Solution:
        problem: Any = given[0] if given else settings.get("problem")
        classes = {f"{c.__module__.partition('.')[0]}.{c.__name__}" for c in type(problem).__mro__}
        if classes.isdisjoint(("cvxpy.Problem", "walras.Problem")):
            return solve(*given, **settings)
        others = {name: value for name, value in settings.items() if name != "problem"}
        stated = import_module("walras.problem").Problem
        made = problem if isinstance(problem, stated) else stated(problem)
        solution: Solution = made.solve(*given[1:], **others)
        return solution

    return with_cvxpy


@takes_cvxpy
@renamed_keywords(callback="on_progress")
def solve(
    problem: Separable | Leximin | StatedElsewhere,
    *placed: Never,
    engine: str | Engine = "auto",
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    threads: int | None = None,
    start: Earlier | None = None,
    on_progress: OnProgress | None = None,
    verbose: bool = False,
    polish: bool = False,
    device: str = CPU,
    integer: bool = False,
    spend: str | None = None,
    **unknown: Never,
) -> Solution:
    """Solve an allocation problem and prove how good the answer is.

    Args:
        problem: From :mod:`walras.domains` or from arrays; or a :class:`walras.Problem` or
            ``cvxpy.Problem``, whose variables and constraints get their values.
        *placed: None; settings have names.
        engine: ``auto`` takes the engine that is expected to end first. An engine of
            :mod:`walras.engines` with its options, such as ``wl.engines.ADMM(mode="paper")``, or
            its name: ``interior``, ``admm``, ``exact``, ``integer`` or ``pop``.
        tolerance: Certified relative gap at which to stop (of logarithms: nats a job).
        time_limit: Seconds; the best so far comes back, certified.
        threads: Worker threads, or None for all cores.
        start: An earlier solution or its frame, by names; or an array as its entries or its x.
        on_progress: Called once an iteration with a Progress; True stops, and so does Ctrl-C.
        verbose: One line an iteration.
        polish: Turn a linear problem's answer into an exact vertex; not that of a leximin problem.
        device: ``cpu``, or a GPU for ``interior`` and ``admm``: ``cuda``, ``cuda:1``; takes torch.
        integer: Make all entries whole if the problem marks none; marked ones are in any case.
        spend: ``leximin`` gives what is left of the time limit of a max-min problem to leximin:
            the least job keeps what it has, the others rise. None ends the solve when it is proved.
        **unknown: None; settings of other packages are refused with what to use in their place.

    Returns:
        The solution; its ``status`` is ``optimal`` only when the certificate shows it.

    Raises:
        InputError: A setting is unknown or out of range, or a start shares no name.
        InfeasibleError: No allocation meets the constraints; names rows and the least relaxation.
        UnboundedError: The objective improves without end; names the entries.
        EngineError: The engine does not accept the problem, or there is no such device.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> problem = cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
        >>> s = wl.solve(problem)
        >>> round(s.value, 6), s.gap <= 1e-6
        (2.0, True)
        >>> print(s.frame().round(2))
             0    1
        0  1.0  0.0
        1  0.0  1.0
    """
    old = {name: unknown.pop(name) for name in OLD_OPTIONS if name in unknown}
    warn_of_old(old)
    problem, first = _checked(problem, start, placed, unknown, integer=integer)
    settings = Settings(tolerance, time_limit, threads, first, on_progress, verbose, device=device)
    choice = _chosen(problem, engine, settings, old)
    if spend is not None:
        _check_spend(spend, problem, choice, settings, polish=polish)
    return _solve_within(problem, choice, settings, polish=polish, spend=spend)


def solve_with(problem: Separable, engine: str | Engine, settings: Settings) -> Solution:
    """Solve a problem like :func:`solve`, with settings that may hold what earlier rounds left.

    Args:
        problem: What to solve.
        engine: Its name, or an engine with its options.
        settings: All settings, with a start in the entries of the problem.
    """
    refuse_without_whole(problem)
    return _solve_within(
        problem, _chosen(problem, engine, settings, {}), settings, polish=False, spend=None
    )


def _chosen(
    problem: Separable | Leximin,
    engine: str | Engine,
    settings: Settings,
    old: Mapping[str, object],
) -> Choice:
    """The engine, asked for or chosen, with options that earlier versions took.

    Raises:
        EngineError: It does not accept the problem.
        InputError: There is no such engine, or it has no kernels for the device.
    """
    base = problem.problem if isinstance(problem, Leximin) else problem
    choice = choose(base, engine, settings.tolerance, levels=base is not problem)
    choice = _choice_on(settings.device, choice)
    choice = replace(choice, engine=with_old_options(choice.engine, old))
    refuse_unaccepted(choice.engine, base)
    return choice


def _solve_within(
    problem: Separable | Leximin,
    choice: Choice,
    settings: Settings,
    *,
    polish: bool,
    spend: str | None,
) -> Solution:
    base = problem.problem if isinstance(problem, Leximin) else problem
    with Pressed() as pressed, ExitStack() as stack:
        stack.enter_context(blas_limited(base, choice.name, settings.threads))
        choice = replace(choice, engine=stack.enter_context(choice.engine.persistent()))
        solution = _solve_by(problem, choice, settings, polish=polish)
        if spend is not None:
            solution = _spend_on_leximin(solution, choice, settings)
    return _interrupted(solution) if pressed else solution


def _interrupted(solution: Solution) -> Solution:
    """Mark a solution as interrupted, however far the solve came before Ctrl-C.

    Raises:
        KeyboardInterrupt: There is no allocation to return.
    """
    if not solution.status.has_allocation:
        raise KeyboardInterrupt
    return replace(solution, status=Status.INTERRUPTED)


def _solve_by(
    problem: Separable | Leximin, choice: Choice, settings: Settings, *, polish: bool
) -> Solution:
    log_to_stderr(wanted=settings.verbose)
    if isinstance(problem, Leximin):
        if polish:
            raise InputError(
                "a vertex need not keep the levels of a leximin problem",
                where="setting polish",
                allowed="False for leximin",
                remedy="leave polish out",
            )
        return _solve_leximin(problem, choice, settings)
    began = time.perf_counter()
    solution = _solve_one(problem, choice, settings)
    if polish:
        solution = _polished(solution, _left(settings, began))
    return solution


def _choice_on(device: str, choice: Choice) -> Choice:
    """The choice, or the engine with kernels for a device that could do it as well.

    Raises:
        InputError: The engine, asked for or the only one, has none.
    """
    if device == CPU or choice.engine.runs_on_gpu:
        return choice
    on_gpu = [name for name, kind in ENGINES.items() if kind.runs_on_gpu]
    able = [name for name in on_gpu if name in choice.seconds]
    if not able:
        raise InputError(
            f"is {device!r}, but engine {choice.name!r} ({choice.reason}) has kernels for the "
            "CPU alone",
            where="setting device",
            allowed="'cpu' with this engine",
            remedy=f"use device='cpu', or engine={' or '.join(map(repr, on_gpu))}",
        )
    return Choice(engine_of(able[0]), f"runs on {device}", choice.seconds)


def _with_whole_entries(problem: Separable | Leximin) -> Separable:
    """The problem with the entries whole that it marks, all if it marks none.

    Raises:
        InputError: It is lexicographic.
    """
    if isinstance(problem, Leximin):
        raise InputError(
            "is True, but the problem is lexicographic",
            where="setting integer",
            allowed="False with leximin",
            remedy="state max-min, or leave integer out",
        )
    if problem.integer is not None and np.any(problem.integer):
        return problem
    return replace(problem, integer=np.ones(problem.entries, dtype=np.bool_))


def _checked(
    problem: object,
    start: Earlier | None,
    placed: Sequence[object],
    unknown: Mapping[str, object],
    *,
    integer: bool,
) -> tuple[Separable | Leximin, Start | None]:
    """The problem, with whole entries if asked for, and where to start in its arrays.

    Raises:
        InputError: It is no problem, the start is none, or a setting is unknown or has no name.
        InfeasibleError: The bounds of a whole entry hold no whole number.
    """
    refuse_unknown(placed, unknown, solve)
    check_start(start)
    stated = checks.of_kind(
        problem,
        (Separable, Leximin),
        "problem",
        "a Separable, a Leximin, a walras.Problem or a cvxpy problem",
        remedy="state it with walras.domains, or as a walras.Problem in cvxpy expressions",
    )
    stated = _with_whole_entries(stated) if integer else stated
    base = stated.problem if isinstance(stated, Leximin) else stated
    refuse_without_whole(base)
    return stated, None if start is None else start_from(base, start)


@dataclass(frozen=True, eq=False)
class _Try:
    """What an engine found, its proof, and the seconds of repair and proof."""

    engine: str
    found: Iterate
    proof: Certificate
    seconds: float

    def or_better(self, other: _Try) -> _Try:
        """The other where it is closer to a proof."""
        if self.proof.feasible and not other.proof.gap < self.proof.gap:
            return self
        return other if other.proof.feasible or not self.proof.feasible else self


def _tried(problem: Separable, engine: Engine, settings: Settings) -> _Try:
    found = engine.solve(problem, settings)
    return _Try(engine.name, found, *_timed_certificate(problem, found, settings.workers))


def _first(problem: Separable, choice: Choice, settings: Settings) -> _Try:
    """What the chosen engine found; the general one where a choice of ours breaks down."""
    began = time.perf_counter()
    if choice.name == "exact" or not choice.seconds:
        return _tried(problem, choice.engine, settings)
    found = attempted(lambda: _tried(problem, choice.engine, settings), None)
    return found or _tried(problem, Exact(), _left(settings, began))


def _weighed(choice: Choice) -> str | None:
    """The engine that was weighed against the chosen one and is worth a try after it, or None."""
    after = {"exact": "interior", "interior": "exact", "prices": "interior"}
    other = after.get(choice.name)
    return other if other and choice.seconds.get(other, np.inf) <= _PATIENCE else None


def _solve_one(problem: Separable, choice: Choice, settings: Settings) -> Solution:
    began = time.perf_counter()
    best = first = _first(problem, choice, settings)
    is_short, other = _falls_short(first.found, first.proof, settings), _weighed(choice)
    if _needs_diagnosis(first.found, first.proof, settings):
        left = _left(settings, began)
        attempted(lambda: raise_if_impossible(problem, first.proof, left), None)
        if first.engine != "exact":
            is_short, other = True, "exact"
    if _has_no_whole_point(problem, first):
        is_short, other = True, "integer"
    if is_short and other and other != first.engine:
        engine, left = engine_of(other), _left(settings, began)
        best = first.or_better(attempted(lambda: _tried(problem, engine, left), first))
    return Solution(
        problem=problem,
        certificate=best.proof,
        status=_status(best.found, best.proof, settings),
        engine=best.engine,
        tolerance=settings.tolerance,
        history=best.found.history,
        timings=replace(best.found.timings, repair=best.found.timings.repair + best.seconds),
        message=best.found.message,
    )


def _check_spend(
    spend: str,
    problem: Separable | Leximin,
    choice: Choice,
    settings: Settings,
    *,
    polish: bool,
) -> None:
    """Refuse to spend the rest of a time limit where there is nothing to spend it on.

    Raises:
        InputError: Says what stands in the way.
    """
    wrong = ""
    if spend != "leximin":
        wrong = f"is {spend!r}"
    elif isinstance(problem, Leximin):
        wrong = "the problem is lexicographic already"
    elif leximin_of(problem) is None:
        wrong = f"the problem is no max-min problem, its objective is {problem.objective!r}"
    elif settings.time_limit is None:
        wrong = "there is no time limit whose rest could be spent"
    elif choice.name in ("pop", "integer"):
        wrong = f"engine {choice.name!r} has no levels"
    elif polish:
        wrong = "a vertex (polish=True) need not keep the levels"
    if wrong:
        raise InputError(
            wrong,
            where="setting spend",
            allowed="None, or 'leximin' for a max-min problem with a time limit",
            remedy="leave spend out, or state the problem as leximin",
        )


def _spend_on_leximin(solution: Solution, choice: Choice, settings: Settings) -> Solution:
    """Raise the other jobs of a max-min problem in what is left of the time limit.

    The least job keeps its throughput, so the allocation stays optimal. Levels from the first
    unproved one on are left out: the allocation is optimal whatever they are.
    """
    limit, spec = settings.time_limit, leximin_of(solution.problem)
    if limit is None or spec is None or solution.status != Status.OPTIMAL:
        return solution
    left = limit - solution.timings.total
    if left <= 0:
        return solution
    known = Start(solution.certificate.x, solution.certificate.prices)
    rest = replace(settings, time_limit=left, start=known)
    raised = _solve_leximin(spec, choice, rest)
    if not raised.certificate.proves(settings.tolerance):
        return solution
    proved = takewhile(lambda level: level.gap <= settings.tolerance, raised.levels)
    return replace(
        raised,
        status=Status.OPTIMAL,
        levels=tuple(proved),
        history=solution.history + raised.history,
        timings=solution.timings + raised.timings,
    )


def _polished(solution: Solution, settings: Settings) -> Solution:
    """The solution at a vertex, if there is one that is proved no worse."""
    began = time.perf_counter()
    found = to_vertex(solution.problem, solution.certificate, settings)
    if found is None:
        return solution
    proof, _ = _timed_certificate(solution.problem, found, settings.workers)
    spent = replace(solution.timings, polish=time.perf_counter() - began)
    if not proof.feasible or proof.gap > max(solution.certificate.gap, settings.tolerance):
        return replace(solution, timings=spent)
    status = _status(found, proof, settings)
    return replace(solution, certificate=proof, status=status, timings=spent)


def _left(settings: Settings, began: float) -> Settings:
    """The settings with what is left of their time limit."""
    return settings.after(time.perf_counter() - began)


def _timed_certificate(
    problem: Separable, found: Iterate, threads: int
) -> tuple[Certificate, float]:
    began = time.perf_counter()
    few = stated_later(problem)
    if few is not None:
        proof = certify_shares(problem, few, found.x, found.prices)
        return proof, time.perf_counter() - began
    spec = leximin_of(problem)
    prices = found.prices if spec is None else without_ceiling(spec, found.prices)
    proof = certify(problem, found.x, found.t, prices, found.bound, threads, found.bound_source)
    return proof, time.perf_counter() - began


def _has_no_whole_point(problem: Separable, first: _Try) -> bool:
    """Whether a limit ended branching before it had a point."""
    stopped = first.found.status is Status.LIMIT and not first.proof.feasible
    whole = problem.integer is not None and bool(np.any(problem.integer))
    return first.engine == "exact" and whole and stopped


def _falls_short(found: Iterate, proof: Certificate, settings: Settings) -> bool:
    """Whether another engine may do better: it ended unproved, or stopped with no allocation."""
    if found.status in (Status.LIMIT, Status.INTERRUPTED):
        return not proof.feasible
    return not proof.proves(settings.tolerance)


def _needs_diagnosis(found: Iterate, proof: Certificate, settings: Settings) -> bool:
    if found.status in (Status.INFEASIBLE, Status.UNBOUNDED):
        return True
    if found.status in (Status.LIMIT, Status.INTERRUPTED) or proof.proves(settings.tolerance):
        return False
    ended = found.status in (Status.INACCURATE, Status.FEASIBLE)
    if ended and proof.feasible and np.isfinite(proof.gap):
        return False  # neither infeasible nor unbounded, and as good as the engine meant it to be
    return not proof.feasible or proof.gap > max(_HOPELESS, settings.tolerance)


def _status(found: Iterate, proof: Certificate, settings: Settings) -> Status:
    """Optimal if proved; else how the engine ended, if what it left is feasible."""
    if proof.proves(settings.tolerance):
        return Status.OPTIMAL
    if not proof.feasible:
        return Status.FAILED
    return found.status if found.status in _KEPT else Status.INACCURATE


def _solve_leximin(spec: Leximin, choice: Choice, settings: Settings) -> Solution:
    spare = Exact().solve if choice.name == "interior" else None
    coarse, heuristic = choice.name == "admm", choice.name == "pop"
    result: LeximinResult = leximin(
        spec, choice.engine.solve, settings, coarse=coarse, spare=spare, heuristic=heuristic
    )
    found = result.iterate
    proof, repair_seconds = _timed_certificate(spec.problem, found, settings.workers)
    solution = Solution(
        problem=spec.problem,
        certificate=proof,
        status=_status(found, proof, settings),
        engine=choice.name,
        tolerance=settings.tolerance,
        history=found.history,
        timings=replace(found.timings, repair=repair_seconds),
        levels=result.levels,
    )
    if solution.status == Status.OPTIMAL and not result.finished:
        kept = found.status if found.status in _KEPT else Status.INACCURATE
        return replace(solution, status=kept)
    if solution.status == Status.OPTIMAL and solution.gap > settings.tolerance:
        return replace(solution, status=Status.INACCURATE)
    return solution
