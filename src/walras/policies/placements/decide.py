"""One round of the exchange: a pure function of a snapshot, a predictor, a policy and a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from walras.errors import WalrasError
from walras.policies.placements import bottleneck, queues
from walras.policies.placements.draws import Draws
from walras.policies.placements.explain import Placed, figures
from walras.policies.placements.policy import Policy
from walras.policies.placements.problem import Found, Late, Problem
from walras.policies.placements.providers import Providers
from walras.policies.placements.window import Builder, Predictions, Window
from walras.rounds import Circumstances, Decision, Snapshot, blockers_of, check
from walras.rounds.forecast import Predict, prior
from walras.types import Longs

_FAULTS = (WalrasError, ArithmeticError, ValueError, LookupError, TypeError, MemoryError)
"""What a predictor or a solver may raise; the ladder takes its next rung."""


def decide(
    snapshot: Snapshot,
    predict: Predict | None = None,
    policy: Policy | None = None,
    *,
    seed: int = 0,
    time_limit: float | None = None,
    clock: Callable[[], float] | None = None,
    predictor: str = "prior",
) -> Decision:
    """Decide a round: which waiting task goes to which cluster.

    The window takes tasks in order of priority, weighted fair share, deadline and age until the
    free slots are asked for. They are predicted, and placed with the least makespan at the floor
    under the mean chance of success, within slots, labels, quotas and the bounds on providers. The
    plan is checked independently and explained. Where no plan is found so, it is a ``fallback``:
    the best plan in time, a floor with a price, each task on its quickest free cluster, or the
    last plan.

    Args:
        snapshot: What is decided from.
        predict: The predictions; the prior of equal times and sure success if None.
        policy: The settings; the defaults if None. The rules are the snapshot's.
        seed: Of the random placements and of ties: the same seed gives the same bytes, as long as
            no time limit cuts the search short.
        time_limit: Seconds by ``clock``, or None.
        clock: Tells the time; without one no time limit is kept.
        predictor: Name of what predicts.

    Returns:
        The decision; it passes :func:`walras.rounds.check`.

    Raises:
        InputError: The seed is negative.

    Example:
        >>> from walras.policies.placements import decide
        >>> from walras.rounds import Clusters, Snapshot, Tasks, Tenants
        >>> snapshot = Snapshot.of(
        ...     Tasks.of(["train", "test", "web"]),
        ...     Clusters.of(["east", "west"], trusted=[True, True]),
        ...     Tenants.of(["lab"]),
        ... )
        >>> decision = decide(snapshot)
        >>> decision.placed
        array([ True,  True, False])
        >>> [str(blocker) for blocker in decision.blockers.about(2)]
        ['slots asked 1, free 0']
    """
    late = _late(clock, time_limit)
    asked = Round(snapshot, policy or Policy(), seed, late, predictor)
    known = predict or prior(snapshot.typical)
    why = ""
    try:
        asked.fill_window(known)
    except _FAULTS as error:
        why = f"the predictor failed: {_words(error)}; the prior took its place"
        asked.predictor = "prior"
        asked.fill_window(prior(snapshot.typical))
    limit = None if clock is None else time_limit
    for name, plan in _ladder(asked, limit):
        try:
            found = plan()
            if found is None:
                why = why or "no placement reaches the floor"
                continue
            decision = asked.decision(found, name, why)
            broken = check(snapshot, decision)
        except _FAULTS as error:
            why = why or f"{name} failed: {_words(error)}"
            continue
        if not broken:
            return decision
        why = why or f"{name} broke a rule: {broken[0]}"
    return asked.empty(why)


def _late(clock: Callable[[], float] | None, time_limit: float | None) -> Late:
    if clock is None or time_limit is None:
        return lambda: False
    end = clock() + time_limit
    return lambda: clock() >= end


def _words(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


@dataclass(eq=False)
class Round:
    """A round while it is decided.

    Attributes:
        snapshot: What is decided from.
        policy: The settings.
        seed: The seed.
        late: Whether the time is up.
        predictor: Name of what predicts.
    """

    snapshot: Snapshot
    policy: Policy
    seed: int
    late: Late
    predictor: str

    def fill_window(self, predict: Predict) -> None:
        """Fill the window and predict it."""
        self.providers = Providers.of(self.snapshot)
        self.predictions = Predictions(self.snapshot, predict)
        self.window: Window = Builder(
            self.snapshot, self.predictions, self.policy, self.providers, self.late
        ).build()
        self.problem = self._problem(self.window.placeable)

    def _problem(self, tasks: Longs) -> Problem:
        snapshot, window = self.snapshot, self.window
        usable = window.usable[tasks] & ~window.kept[tasks]
        return Problem(
            np.where(usable, self.predictions.seconds[tasks], np.inf),
            self.predictions.chance[tasks],
            snapshot.tasks.slots[tasks],
            snapshot.room,
            snapshot.clusters.free,
            self.providers.group,
            self.providers.caps(len(tasks)),
            snapshot.rules.min_success,
            1.0 + self.policy.price_weight * snapshot.clusters.price,
            window.cluster[tasks],
        )

    def decision(self, found: Found, rung: str, why: str) -> Decision:
        """The decision of a placement; -1 is a task that the rung leaves out."""
        kept = found.cluster >= 0
        tasks = self.window.placeable[kept]
        problem = self.problem if kept.all() else self._kept(kept)
        cluster = found.cluster[kept]
        makespan = problem.makespan(cluster)
        bound = min(found.bound, makespan) if kept.all() else 0.0
        gap = (makespan - bound) / makespan if makespan > 0.0 else 0.0
        if rung == "search" and not found.complete and gap > self.policy.tolerance and not why:
            why = f"the time was up with a gap of {gap:.1%}"
        placed = Placed(problem, tasks, cluster, found.drawn[kept])
        n = len(self.snapshot.tasks)
        made = figures(placed, self.predictions, self.window, n)
        fallback = bool(why) or rung != "search"
        return self._with(
            made["cluster"],
            state="fallback" if fallback else "ok",
            method=found.method,
            why=why,
            prices=found.prices,
            floor_price=found.floor_price,
            makespan=makespan,
            bound=bound,
            shortfall=problem.shortfall(cluster) if len(cluster) else 0.0,
            **made,
        )

    def _kept(self, kept: Any) -> Problem:
        made = self._problem(self.window.placeable[kept])
        return replace(made, cap=self.providers.caps(int(kept.sum())))

    def empty(self, why: str) -> Decision:
        """The decision that places nothing."""
        nothing = np.full(len(self.snapshot.tasks), -1)
        return self._with(nothing, state="fallback", method="nothing placed", why=why)

    def _with(self, plan: Longs, **given: Any) -> Decision:
        snapshot, window = self.snapshot, self.window
        placed = int((plan >= 0).sum())
        known = Circumstances(
            chance=self.predictions.chance,
            avoided=window.avoided,
            beyond=window.beyond,
            bounds=self.providers.bounds(placed),
            kept=window.kept,
            reserved=window.reserved,
            reserved_until=window.reserved_until,
            method=given.get("method", ""),
        )
        return Decision.empty(
            snapshot.tasks.uid,
            snapshot.clusters.uid,
            snapshot=snapshot.hash,
            seed=self.seed,
            policy=self.policy.document(),
            predictor=self.predictor,
            blockers=blockers_of(snapshot, plan, known),
            **given,
        )

    # ---- the rungs ------------------------------------------------------------------------------

    def search(self, time_limit: float | None) -> Found | None:
        """The least makespan at the floor."""
        policy = self.policy
        draws = Draws(policy.explore, policy.near, self.seed, policy.tolerance / 2.0)
        if self.problem.queues:
            return queues.solve(self.problem, self.seed, draws, self.late, time_limit, None)
        return bottleneck.solve(self.problem, self.seed, draws, self.late)

    def elastic(self, time_limit: float | None) -> Found | None:
        """A floor with a price."""
        price = self.policy.shortfall_price
        if self.problem.queues:
            none = Draws(0.0, 0.0, self.seed)
            return queues.solve(self.problem, self.seed, none, self.late, time_limit, price)
        return bottleneck.elastic(self.problem, price, self.late)

    def nothing(self) -> Found:
        """The one plan of no tasks."""
        return self._found(self.problem.start, "nothing to place")

    def quickest(self) -> Found:
        """Each task on its quickest cluster that has room, the first ones first."""
        return self._found(self.problem.start, "quickest free cluster")

    def last(self) -> Found:
        """Each task where the last plan had it, as far as it still fits."""
        tasks, snapshot = self.window.placeable, self.snapshot
        room, cluster = self.problem.room.copy(), np.full(len(snapshot.tasks), -1)
        for k, j in enumerate(tasks.tolist()):
            i = int(snapshot.tasks.previous[j])
            if i >= 0 and self.problem.usable[k, i] and room[i] >= snapshot.tasks.slots[j]:
                cluster[j] = i
                room[i] -= snapshot.tasks.slots[j]
        return self._found(self.providers.trimmed(cluster, tasks)[tasks], "last plan")

    def _found(self, cluster: Longs, method: str) -> Found:
        zeros = np.zeros(len(self.problem.room))
        return Found(cluster, 0.0, method, zeros, 0.0, True, np.zeros(len(cluster)))


def _ladder(
    asked: Round, time_limit: float | None
) -> Iterator[tuple[str, Callable[[], Found | None]]]:
    """The rungs, the best first."""
    if not len(asked.window.placeable):
        yield "search", asked.nothing
        return
    yield "search", lambda: asked.search(time_limit)
    yield "elastic floor", lambda: asked.elastic(time_limit)
    yield "quickest free cluster", asked.quickest
    yield "last plan", asked.last
