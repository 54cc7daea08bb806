"""A type is filled as if all that want it stood in one sorted list."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from walras.simulate.time_shared.filling import fill
from walras.simulate.time_shared.state import Jobs, Pairs, State, start
from walras.types import Longs

TYPE = 1  # of two

_Given = tuple[Jobs, State, Pairs]


def _drawn(seed: int, jobs: int, pairs: int, distinct: int) -> _Given:
    """Jobs and pairs with so few different numbers that many are equal in some keys or in all."""
    rng = np.random.default_rng(seed)

    def of(shape: tuple[int, ...]) -> np.ndarray:
        return rng.integers(0, distinct, shape) / distinct

    size = rng.integers(1, 5, jobs)
    speed = 1.0 + of((jobs, 2)) * rng.integers(0, 6, (jobs, 1)).clip(0, 1)
    speed[rng.random(jobs) < 0.1, TYPE] = 0.0
    known = Jobs(np.zeros(jobs), size, np.ones(jobs), speed, np.ones(jobs, np.bool_))
    state = start(known, 360.0, 0.0)
    state.given[:] = 360.0 * jobs
    state.share[:], state.owed[:] = of((jobs, 2)), of((jobs, 2)) - 0.5
    state.had[:] = 360.0 * of((jobs, 2))
    state.left[rng.random(jobs) < 0.1] = 0.0
    state.place[rng.random(jobs) < 0.1] = 0
    both = np.sort(rng.permutation(max(jobs, 2))[:2][None, :].repeat(pairs, axis=0), axis=1)
    both[1:] = np.sort(rng.integers(0, jobs, (max(pairs - 1, 0), 2)), axis=1)
    both = both[(both[:, 0] < both[:, 1]) & (size[both[:, 0]] == size[both[:, 1]])]
    shape = (len(both), 2)
    paired = Pairs(
        both, 1.0 + of((len(both), 2, 2)), of(shape), 360 * of(shape), of(shape), np.zeros(shape[0])
    )
    return known, state, paired


def _sorted(free: int, known: Jobs, state: State, pairs: Pairs, spare: bool) -> tuple[Longs, Longs]:
    """Places and pairs by one sorted list."""
    place, beside = state.place.copy(), state.beside.copy()
    n, scale = len(known.size), state.given[TYPE]
    units: list[tuple[tuple[float, ...], tuple[int, ...], int]] = []
    for j in range(n):
        share, had = state.share[j, TYPE], state.had[j, TYPE]
        if place[j] < 0 and known.speed[j, TYPE] > 0 and (spare or share > 0):
            key = (-share * scale / (180.0 + had), -state.owed[j, TYPE], -share, float(j))
            units.append((key, (j,), -1))
    for p, (one, other) in enumerate(pairs.jobs.tolist()):
        share, had = pairs.share[p, TYPE], pairs.had[p, TYPE]
        if share > 0 and place[one] < 0 > place[other] and state.left[[one, other]].min() > 0:
            key = (-share * scale / (180.0 + had), -pairs.owed[p, TYPE], -share, float(n + p))
            units.append((key, (one, other), p))
    for _, both, pair in sorted(units):
        if known.size[both[0]] <= free and (place[list(both)] < 0).all():
            place[list(both)], beside[list(both)] = TYPE, pair
            free -= int(known.size[both[0]])
    return place, beside


@given(
    seed=st.integers(0, 2**31),
    jobs=st.integers(1, 150),
    pairs=st.sampled_from([0, 0, 1, 40]),
    distinct=st.sampled_from([1, 2, 5, 10**6]),
    free=st.integers(0, 200),
    spare=st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_a_type_is_filled_as_from_a_sorted_list(
    seed: int, jobs: int, pairs: int, distinct: int, free: int, spare: bool
) -> None:
    known, state, both = _drawn(seed, jobs, pairs if jobs > 1 else 0, distinct)
    place, beside = _sorted(free, known, state, both, spare)
    fill(TYPE, free, np.arange(jobs), known, state, both, spare)
    assert state.place.tolist() == place.tolist()
    assert state.beside.tolist() == beside.tolist()
    own = (place == TYPE) & (beside < 0)
    assert state.pace[own].tolist() == known.speed[own, TYPE].tolist()
    for p, (one, other) in enumerate(both.jobs.tolist()):
        if state.beside[one] == p:
            assert state.pace[[one, other]].tolist() == both.speed[p, :, TYPE].tolist()
