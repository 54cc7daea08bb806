"""Simulate a method on a network in virtual time: every centre makes one step at a time."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from walras import checks
from walras.deprecated import renamed_keywords
from walras.errors import InaccuracyWarning, InputError
from walras.network.backends import Backend, protocol_plan
from walras.network.drivers.plan import Plan
from walras.network.drivers.virtual import ProtocolModels, ProtocolShares, VirtualNetwork
from walras.network.graph.network import Network
from walras.network.links.faults import Faults
from walras.network.links.quantizers import Links, LogQuantizer
from walras.network.methods.interfaces import Method, ModelSide, Setting, ShareSide
from walras.network.methods.surplus import Surplus
from walras.network.problem.network_problem import NetworkProblem
from walras.network.problem.quanta import AuditError, DivergedError, audit, countable
from walras.network.problem.test_set import TestSet
from walras.network.protocol.settings import Settings
from walras.network.run import Run
from walras.progress import OnProgress, Stoppable, counts, tell
from walras.status import Status
from walras.types import Bools, Floats, Longs, Weights

_MEMORY = 2**31  # bytes of shares that a run may keep
_SOON = 100  # steps during which a loss may rise
# share of the total fall of the loss: larger rises between two looks are not rounding
_SWING = 0.05
_SLIGHT = 1e-6  # share of the loss that counts as rounding, also in single precision
_LOOK = 0.1  # seconds between calls of on_progress
_LOOKS = 100  # number of times that the loss of all data is computed
# steps that the caller may give
_STEPS = ("share_step", "share_momentum", "model_step", "alpha", "step")
DEFAULT_LINKS = LogQuantizer(rho=0.125, mode="innovation")


@renamed_keywords(counts, progress="on_progress")
def simulate(
    problem: NetworkProblem,
    network: Network,
    *,
    links: Links | None = None,
    steps: int = 1000,
    faults: Faults | None = None,
    seed: int = 0,
    method: Method | None = None,
    start: npt.ArrayLike | None = None,
    every: int = 1,
    test: TestSet | None = None,
    backend: Backend = "auto",
    settings: Settings | None = None,
    on_progress: OnProgress | None = None,
) -> Run:
    """Let every centre make its steps, in virtual time.

    The back end ``protocol`` runs the nodes that :func:`deploy` runs, message by message. The back
    end ``vectorised`` steps all centres at once: some 4 times faster with 3 centres, 40 with 20 and
    200 with 200; with coded links, one-way links, batches and the baselines. Both end at the same
    optimum and obey one rule for crashes: centres use their shares while more than half of all
    centres run and are connected. These centres take over the holdings of a dead centre. In the
    protocol a centre uses nothing before its first lease, so the first shares of a run are zero.

    Args:
        problem: Costs, budget, boxes, and the training task.
        network: The graph of the centres over time.
        links: The coding of messages. When left out, innovation-coded logarithms in the vectorised
            back end, and 64-bit numbers in the protocol, which has no codes.
        steps: Number of steps, at least 1.
        faults: Faults of the run; none when left out.
        seed: Seed of faults, batches and the first model; the same seed gives the same run.
        method: The algorithm; ``Surplus()`` with safe steps when left out.
        start: (centres,) the budget's first split, in proportion; equal when left out. A split
            outside a box is moved to the nearest one inside.
        every: Steps between records. Every step is audited in any case.
        test: Samples on which the mean model is tested when its loss is computed.
        backend: ``vectorised`` refuses faults that it would settle differently from the protocol.
            ``auto`` takes the protocol for such faults, for given ``settings``, and wherever it can
            run within 50,000 messages, some five seconds, and 100 / N as many with N > 100 centres;
            otherwise the vectorised method, which ends with the same shares. ``Run.backend`` names
            the one that ran.
        settings: Leases and patience of the protocol, in steps; chosen for the network if left out.
        on_progress: Called ten times a second with a Progress that counts steps; True stops the
            run.

    Returns:
        Shares, models, costs, bits and the audit, step by step.

    Raises:
        InputError: Settings conflict, a step is unsafe, or the back end cannot run this.
        AuditError: A quantum was lost or created. The run stops.
        DivergedError: A method diverged to numbers that are not finite or too large to count.

    Warns:
        InaccuracyWarning: The loss did not fall, or swings at the end.

    Example:
        >>> import walras as wl
        >>> wn = wl.network
        >>> cpu = [wn.QuadraticCPU(center=c, scale=1.0) for c in (1.0, 2.0, 6.0)]
        >>> problem = wn.NetworkProblem(cpu, budget=6.0, boxes=(0.0, 4.0))
        >>> run = wn.simulate(problem, wn.Network.ring(3), steps=300)
        >>> run.shares[-1].round(4), int(abs(run.audit).max())
        (array([0.5, 1.5, 4. ]), 0)
    """
    _check_kinds(network, links, method, faults)
    steps, every = checks.whole(steps, "steps", 1), checks.whole(every, "every", 1)
    _check(problem, network, steps, every)
    chosen = Surplus() if method is None else method
    plan = protocol_plan(
        problem,
        network,
        steps,
        links=links,
        faults=faults,
        method=chosen,
        start=start,
        seed=seed,
        settings=settings,
        backend=backend,
    )
    if plan is None:
        first = None if start is None else _fractions(start, problem.centres)
        setting = Setting(problem, network, links or DEFAULT_LINKS, faults, seed, first)
        sharing = chosen.shares(setting)
        training = chosen.models(setting) if problem.loss is not None else None
    else:
        sharing, training = _protocol_sides(plan, faults, seed)
    hook = Stoppable(on_progress)
    recorder, look = _RunRecorder(problem, steps, every, test), _StepHook(hook, steps)
    recorder.begin(training)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for number, graph in _steps(network, steps):
            try:
                sharing.step(graph, number)
                if training is not None:
                    training.step(graph, number)
                stopped = look(number + 1)
                recorder.note(number, sharing, training, last=stopped)
            except DivergedError as error:
                raise _diverged(number, error, chosen) from error
            if stopped:
                break
    if not hook.stopped:
        recorder.warn(steps)
    backend = "vectorised" if plan is None else "protocol"
    return recorder.run(chosen.name, training, backend, hook.status)


def _protocol_sides(
    plan: Plan, faults: Faults | None, seed: int
) -> tuple[ShareSide, ModelSide | None]:
    """The sharing and the training part of a run of the protocol's nodes."""
    world = VirtualNetwork(plan, faults or Faults(), seed)
    return ProtocolShares(world), None if plan.problem.loss is None else ProtocolModels(world)


def _steps(network: Network, steps: int) -> Iterator[tuple[int, Network]]:
    """Number and links of each step."""
    graph, period = network.at(0), 0
    for number in range(steps):
        if network.period(number) != period:
            graph, period = network.at(number), network.period(number)
        yield number, graph


class _StepHook:
    """Calls the hook with the number of steps, ten times a second; True when it says stop."""

    def __init__(self, hook: OnProgress, steps: int) -> None:
        self._hook, self._steps, self._next = hook, steps, 0.0

    def __call__(self, done: int) -> bool:
        now = time.perf_counter()
        if now < self._next or done == self._steps:
            return False
        self._next = now + _LOOK
        return tell(self._hook, done, self._steps)


class _RunRecorder:
    """Records a run."""

    def __init__(
        self, problem: NetworkProblem, steps: int, every: int, test: TestSet | None
    ) -> None:
        recorded = np.arange(every, steps + 1, every)
        if not len(recorded) or recorded[-1] != steps:
            recorded = np.append(recorded, steps)
        n = len(recorded)
        self._problem, self._recorded, self._test = problem, recorded, test
        self._shares = np.empty((n, problem.centres))
        self._held = np.empty((n, problem.centres))
        self._excess = 0.0
        self._alive = np.ones((n, problem.centres), bool)
        self._numbers = np.full((n, 5), np.nan)  # consensus, loss, tracking, seconds, accuracy
        self._bits = np.zeros(n, np.int64)
        self._audit = np.zeros(steps, np.int64)  # a nonzero audit stops the run
        self._next = 0
        self._first = np.nan  # loss of the mean of the first models
        self._looks = max(1, n // _LOOKS)
        self._began = time.perf_counter()

    def begin(self, training: ModelSide | None) -> None:
        """Compute the loss before the first step."""
        if training is not None:
            self._first = self._loss(training.models.mean(axis=0), slice(None))
            self._began = time.perf_counter()

    def _loss(self, model: Weights, alive: Bools | slice) -> float:
        loss, data = self._problem.learning
        everywhere = np.repeat(model[None], self._problem.centres, axis=0)
        return float(loss.value(everywhere, data, self._problem.centres)[alive].sum())

    def warn(self, steps: int) -> None:
        """Warn if the loss did not fall, or swings at the end by much of its fall."""
        seen = self._numbers[:, 1]
        seen = seen[np.isfinite(seen)]
        if steps < _SOON or not len(seen) or not self._alive.all():
            return
        fell = max(self._first - float(seen.min()), 0.0)
        late = seen[-max(2, len(seen) // 4) :]
        swings = float(np.diff(late).max(initial=0.0)) > _SWING * fell
        slight = _SLIGHT * max(abs(self._first), float(np.abs(seen).max()))
        if seen[-1] > self._first + slight or (swings and np.ptp(late) > slight):
            warnings.warn(
                f"the loss does not descend: {self._first:.6g} before the run, {seen.min():.6g} at "
                f"best, {seen[-1]:.6g} at its end; allowed: a loss that falls; remedy: shorter "
                "steps (model_step=, alpha=), a larger smoothness_hint, or a smooth loss",
                InaccuracyWarning,
                stacklevel=3,
            )

    def note(
        self, number: int, sharing: ShareSide, training: ModelSide | None, *, last: bool
    ) -> None:
        """Audit the last step; record it if it is due or the last."""
        self._count(number, sharing.quanta)
        self._measure(sharing)
        k = self._next
        if last:
            self._recorded = np.append(self._recorded[:k], number + 1)
            self._audit = self._audit[: number + 1]
        if number + 1 != self._recorded[k]:
            return
        seconds = time.perf_counter() - self._began
        self._next += 1
        self._shares[k], self._alive[k] = sharing.shares, sharing.alive
        self._held[k] = sharing.held
        self._bits[k] = sharing.bits + (training.bits if training is not None else 0)
        self._numbers[k, 3] = seconds
        if not np.isfinite(self._shares[k]).all():
            raise DivergedError("the shares diverge: they are not finite")
        if training is not None:
            self._look(k, number, sharing, training)
            # Computing the loss is not counted as the method's time.
            self._began += time.perf_counter() - self._began - seconds

    def _count(self, number: int, quanta: tuple[Longs, Longs] | None) -> None:
        if quanta is None:
            return
        if not all(countable(part) for part in quanta):
            raise DivergedError("the shares diverge: they are too large to count")
        over = audit(*quanta, self._problem.quanta.total)
        if over:
            raise AuditError(
                f"{over} quanta are {'too many' if over > 0 else 'missing'}",
                where=f"step {number + 1}",
                allowed="exactly 0",
                remedy="report this as a defect",
            )

    def _measure(self, sharing: ShareSide) -> None:
        """Record the largest distance of a share from its box."""
        if self._problem.boxed:
            # In the protocol, a centre without a lease uses nothing, whatever its lower limit.
            using = getattr(sharing, "leased", sharing.alive)
            shares = np.where(using, sharing.shares, self._problem.inside)
            self._excess = max(self._excess, self._problem.excess(shares))

    def _look(self, k: int, number: int, sharing: ShareSide, training: ModelSide) -> None:
        models = training.models[sharing.alive]
        mean = models.mean(axis=0)
        self._numbers[k, 0] = float(np.abs(models - mean).max())
        self._numbers[k, 2] = training.tracking_error
        if not np.isfinite(mean).all():
            raise DivergedError("the models diverge: they are not finite")
        if k % self._looks == 0 or k + 1 == len(self._recorded):
            self._numbers[k, 1] = self._loss(mean, sharing.alive)
            if self._test is not None:
                self._numbers[k, 4] = self._test.accuracy(self._problem.learning[0], mean)

    def run(self, name: str, training: ModelSide | None, backend: str, status: Status) -> Run:
        """The run with all records."""
        n = self._next
        numbers = self._numbers[:n]
        return Run(
            method=name,
            backend=backend,
            status=status,
            problem=self._problem,
            recorded=self._recorded,
            shares=self._shares[:n],
            holdings=self._held[:n],
            alive=self._alive[:n],
            model=None if training is None else training.models,
            consensus_error=numbers[:, 0],
            loss=numbers[:, 1],
            tracking_error=numbers[:, 2],
            bits=self._bits[:n],
            audit=self._audit,
            seconds=numbers[:, 3],
            accuracy=numbers[:, 4],
            halvings=tuple(getattr(training, "halvings", ())),
            largest_excess=self._excess,
        )


def _check_kinds(network: object, links: object, method: object, faults: object) -> None:
    """Refuse arguments of another kind, such as names or classes."""
    if faults is not None:
        checks.of_kind(faults, Faults, "faults")
    for name, value, needed, example in (
        ("network", network, "at", "Network.ring(8)"),
        ("links", links, "quantise", "LogQuantizer(0.125)"),
        ("method", method, "shares", "Surplus()"),
    ):
        if name == "network" or value is not None:
            checks.object_with(value, needed, name, example)


def _check(problem: NetworkProblem, network: Network, steps: int, every: int) -> None:
    if network.centres != problem.centres:
        raise InputError(
            f"has {network.centres} centres, the problem {problem.centres}",
            where="network",
            allowed="as many as costs",
            remedy="draw a network of that size",
        )
    if 8 * problem.centres * (steps // every) > _MEMORY:
        raise InputError(
            f"would keep {problem.centres} shares of {steps // every} records",
            where="every",
            allowed=f"at most {_MEMORY / 2**30:g} GiB",
            remedy=f"every={-(-8 * problem.centres * steps // _MEMORY)} or more",
        )


def _fractions(start: npt.ArrayLike, centres: int) -> Floats:
    remedy = "give one fraction a centre"
    return checks.shaped(checks.numeric(start, "start"), (centres,), "start", remedy=remedy)


def _diverged(number: int, error: DivergedError, method: Method) -> DivergedError:
    """The error with the step and a remedy, which depends on whether steps were given."""
    given = [name for name in _STEPS if getattr(method, name, None) is not None]
    remedy = (
        "the steps were the safe ones: state boxes that shares cannot leave, or costs and "
        "features of like size"
    )
    if given:
        remedy = f"leave out {', '.join(given)}: then safe steps are computed"
    return DivergedError(error.what, where=f"step {number + 1}", remedy=remedy)
