"""Sequences of rounds: the published sequence of POP and DeDe, and the results of policies on it.

Round r with n shards and m servers: shard j = 0 ... n - 1 has the load
``round(10^6 (1024 j / n + 1)^-z_r) / 10^4`` with z_r = 0.25 + 0.5 u_r and the numbers u of the data
set ``lb_random``. Shard j starts on server j mod m. Source: Narayanan et al., SOSP 2021, and Xu et
al., OSDI 2025, section 7.1.3.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd

from walras.deprecated import renamed_keywords
from walras.domains.load_balancing.baselines import estore
from walras.domains.load_balancing.inputs import make_round
from walras.domains.load_balancing.instance import Round
from walras.domains.load_balancing.rebalance import Options, solve_round
from walras.domains.load_balancing.result import Rebalanced
from walras.progress import OnProgress, counts, tell
from walras.status import Status
from walras.types import Floats, Ints

WARM_UP = 20  # rounds that the published means leave out
PUBLISHED = 1e-6  # load above which a shard counts as placed, in the paper
STRICTER = 1e-3

Policy = Callable[[Round], Rebalanced]


@dataclass(frozen=True)
class RoundRecord:
    """The result of a policy in one round.

    Attributes:
        index: Number of the round.
        moves: Placements that were absent in the round before, counted above a load of 1e-6.
        moves_stricter: The same above 1e-3.
        bound: Proved least cost of the round, from its first placement.
        seconds: Wall time of the policy.
        replicas: Number of replicas at the end of the round.
        lowest: Least load of a server over its target.
        highest: Largest load of a server over its target.
        violation: Largest violation of a limit.

    Example:
        >>> from walras.domains import load_balancing as lb
        >>> played = lb.play(lb.first_round(0.2, servers=4, shards=16), [0.2, 0.4])
        >>> played.rounds[1].index, played.rounds[1].moves >= played.rounds[1].bound
        (1, True)
    """

    index: int
    moves: int
    moves_stricter: int
    bound: float
    seconds: float
    replicas: int
    lowest: float
    highest: float
    violation: float


@dataclass(frozen=True)
class Rounds:
    """The rounds that a policy balanced, in order.

    Attributes:
        policy: Its name.
        rounds: One record per round.
        last: The last round's result.
        status: ``feasible``, or ``interrupted`` if ``on_progress`` stopped before the last round.

    Example:
        >>> from walras.domains import load_balancing as lb
        >>> played = lb.play(lb.first_round(0.2, servers=4, shards=16), [0.2, 0.4])
        >>> len(played.rounds), len(played.frame())
        (2, 2)
    """

    policy: str
    rounds: tuple[RoundRecord, ...]
    last: Rebalanced | None = field(default=None, compare=False, repr=False)
    status: Status = Status.FEASIBLE

    def __repr__(self) -> str:
        mean = f"{self.mean_moves():.4g} moves a round"
        return f"Rounds({self.policy!r}, {len(self.rounds)} rounds, {mean})"

    def frame(self) -> pd.DataFrame:
        """One row for each round, with the policy's name."""
        table = pd.DataFrame([vars(record) for record in self.rounds])
        table.insert(0, "policy", self.policy)
        return table

    def mean_moves(self, *, stricter: bool = False, warm_up: int = WARM_UP) -> float:
        """Mean moves per round after the warm-up.

        Args:
            stricter: Whether only loads above 1e-3 count.
            warm_up: Number of rounds to leave out; none if there are no more than that.

        Returns:
            The mean.
        """
        counted = [r.moves_stricter if stricter else r.moves for r in self.rounds]
        return float(np.mean(counted[warm_up:] or counted))


def round_loads(shards: int, number: float) -> Floats:
    """Compute the loads of a round of the published sequence.

    Args:
        shards: Number of shards.
        number: u of the round, in [0, 1).

    Returns:
        (shards,) loads.

    Example:
        >>> from walras.domains.load_balancing import round_loads
        >>> round_loads(4, 0.2).round(2)
        array([100.  ,  14.34,  11.26,   9.77])
    """
    rank = 1024.0 * np.arange(shards) / shards + 1.0
    return np.asarray(np.rint(1e6 * rank ** -(0.25 + 0.5 * number)) / 1e4)


def first_round(
    number: float, *, servers: int = 256, shards: int = 2048, band: float = 0.1, memory: float = 16
) -> Round:
    """The first round of the published sequence: shard j is on server j mod ``servers``.

    Args:
        number: u of the round, in [0, 1); it sets the loads.
        servers: Number of servers.
        shards: Number of shards.
        band: Half the width of the band around the targets, relative.
        memory: Room for replicas on each server.

    Returns:
        The round.

    Example:
        >>> from walras.domains.load_balancing import first_round
        >>> first_round(0.2, servers=4, shards=16).loads_now().round(2)
        array([135.37,  56.77,  50.37,  46.76])
    """
    return make_round(
        round_loads(shards, number),
        np.arange(shards) % servers,
        servers=servers,
        band=band,
        memory=memory,
    )


def published_rounds(
    numbers: Sequence[float] | Floats,
    *,
    size: tuple[int, int] = (256, 2048),
    band: float = 0.1,
    memory: float = 16,
    options: Options | None = None,
    baseline: bool = False,
    on_progress: OnProgress | None = None,
) -> list[Rounds]:
    """Play the published sequence by the local search, and by E-Store's greedy when asked.

    Args:
        numbers: u of each round.
        size: Numbers of servers and shards.
        band: Half the width of the band around the targets, relative.
        memory: Room for replicas on each server.
        options: Options of the local search.
        baseline: Whether E-Store's greedy plays the same rounds too.
        on_progress: Called after each round with a Progress that counts them; True stops.

    Returns:
        The rounds of each policy; the baseline is left out when ``on_progress`` stopped before it.

    Example:
        >>> from walras.domains.load_balancing.sequence import published_rounds
        >>> played = published_rounds([0.2, 0.4], size=(4, 16), baseline=True)
        >>> [one.policy for one in played]
        ['Walras, replicas kept', 'E-Store greedy']
    """
    chosen = options or Options()
    servers, shards = size
    first = first_round(float(numbers[0]), servers=servers, shards=shards, band=band, memory=memory)
    name = f"Walras, replicas {'kept' if chosen.keep else 'dropped'}"
    policy = partial(solve_round, options=chosen)
    played = [play(first, numbers, policy, name, on_progress)]
    if baseline and played[0].status is Status.FEASIBLE:
        played.append(play(first, numbers, estore, "E-Store greedy", on_progress))
    return played


@renamed_keywords(counts, progress="on_progress")
def play(
    first: Round,
    numbers: Sequence[float] | Floats,
    policy: Policy = solve_round,
    name: str = "Walras",
    on_progress: OnProgress | None = None,
) -> Rounds:
    """Let a policy balance round after round; each round starts from the placement before.

    Args:
        first: The first round; its loads are those of ``numbers[0]``.
        numbers: u of each round.
        policy: From a round to its result.
        name: Its name in tables.
        on_progress: Called after each round with a Progress that counts them; True stops.

    Returns:
        The record of each round.

    Example:
        >>> from walras.domains import load_balancing as lb
        >>> played = lb.play(lb.first_round(0.2, servers=4, shards=16), [0.2, 0.4])
        >>> [record.index for record in played.rounds]
        [0, 1]
    """
    records: list[RoundRecord] = []
    last = None
    for record, result in _played(first, numbers, policy):
        records.append(record)
        last = result
        if tell(on_progress, len(records), len(numbers)):
            break
    status = Status.FEASIBLE if len(records) == len(numbers) else Status.INTERRUPTED
    return Rounds(name, tuple(records), last, status)


def _played(
    first: Round, numbers: Sequence[float] | Floats, policy: Policy
) -> Iterator[tuple[RoundRecord, Rebalanced]]:
    problem = first
    before = problem.server, problem.shard, problem.share * problem.load[problem.shard]
    for index in range(len(numbers)):
        began = time.perf_counter()
        result = policy(problem)
        seconds = time.perf_counter() - began
        after = result.server, result.shard, result.load
        yield _record(index, before, after, result, seconds), result
        before = after
        if index + 1 < len(numbers):
            problem = result.next_round(round_loads(problem.shards, float(numbers[index + 1])))


def _record(
    index: int,
    before: tuple[Ints, Ints, Floats],
    after: tuple[Ints, Ints, Floats],
    result: Rebalanced,
    seconds: float,
) -> RoundRecord:
    shards = result.problem.shards
    relative = result.loads / np.maximum(result.problem.target, 1e-300)
    return RoundRecord(
        index,
        counted_moves(before, after, shards, PUBLISHED),
        counted_moves(before, after, shards, STRICTER),
        result.bound,
        seconds,
        len(result.server),
        float(relative.min()),
        float(relative.max()),
        result.violation,
    )


def counted_moves(
    before: tuple[Ints, Ints, Floats], after: tuple[Ints, Ints, Floats], shards: int, above: float
) -> int:
    """Count placements (server, shard, load) after a round that were not there before it.

    Args:
        before: Servers, shards and loads of the replicas before.
        after: The same after.
        shards: Number of shards.
        above: Load above which a shard counts as placed.
    """
    keys = [
        server[load > above].astype(np.int64) * shards + shard[load > above]
        for server, shard, load in (before, after)
    ]
    return len(np.setdiff1d(keys[1], keys[0]))
