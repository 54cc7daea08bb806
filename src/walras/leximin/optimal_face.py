"""The problem of the next level: on the optimal face of this one, or with rows that keep it.

Complementary slackness shows which rows are at the level in every optimal allocation, which entries
are zero and which constraints are tight. The next level is solved on that face. An engine that is
not accurate enough for that adds rows that keep the level, less a part of its tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csgraph

from walras.certificate import Certificate
from walras.certificate.structure import own_limit, structure
from walras.separable import Separable
from walras.types import Bools, Floats, Longs

PRESENT = 1e-9  # share of the objective or a bound below which a number counts as zero
_NOTHING = 1e-6  # share of a job's limit below which a level is too small to be a scale


@dataclass(frozen=True, eq=False)
class Frozen:
    """The frozen rows of the family that is raised.

    Attributes:
        rows: The family's rows.
        now: (family rows,) True on those frozen at this level.
        ever: (family rows,) True on those frozen at this level or before.
        limit: (family rows,) the most that each row can reach alone.
    """

    rows: slice
    now: Bools
    ever: Bools
    limit: Floats


def next_level(
    stage: Separable, whole: Separable, proof: Certificate, frozen: Frozen, given: float | None
) -> tuple[Separable, Separable]:
    """The problem of the next level, with all rows and without implied ones.

    Args:
        stage: The level without implied rows.
        whole: The level with them.
        proof: Its certificate.
        frozen: Which rows are frozen.
        given: What the next level may lower this one by, if the engine cannot find the face.
    """
    if np.any(stage.cost):
        given = None if given is None else given / 2.0  # half for the level, half for its cost
        stage, whole, proof = _paid(stage, proof, given or 0.0)
    if given is None:
        return _face(stage, whole, proof, frozen)
    kept = _held_above(whole, proof, frozen, given)
    return kept, kept


def unit_of(stage: Separable, proof: Certificate) -> float:
    """The scale of a level; if the price of churn leaves a job nothing, the level is rounding."""
    most = float(stage.scalar_upper[0])
    return max(float(proof.t[0]), _NOTHING * most if np.isfinite(most) else 0.0, 1e-300)


def _paid(
    stage: Separable, proof: Certificate, given: float
) -> tuple[Separable, Separable, Certificate]:
    """The first level and what later levels keep of it, with a row for the cost of entries.

    An allocation that keeps the level and costs no more keeps the value. Later levels have no cost
    of their own: on the face all cost the same. As it implies the row, the first has it unbounded.
    """
    spent = float(stage.cost @ proof.x)
    row, none = sp.csc_array(stage.cost[None, :]), np.zeros((1, stage.scalars))
    longer = stage.rows.followed_by(row, none, (np.array([-np.inf]), np.array([np.inf])), "cost")
    bounded = replace(longer, upper=np.append(stage.rows.upper, spent + given))
    whole = replace(stage, cost=np.zeros(stage.entries), constant=0.0, rows=bounded)
    priced = replace(proof, prices=np.append(proof.prices, 0.0))
    return replace(stage, rows=longer), whole, priced


def _face(
    stage: Separable, whole: Separable, proof: Certificate, frozen: Frozen
) -> tuple[Separable, Separable]:
    """The optimal face of a level, with the scalar on the rows that are not frozen yet.

    First as it is, then without rows that the others imply. A price and the slack of its row (a
    reduced cost and its entry) are compared as shares of the level a row and of the bound (of the
    most the entry can be): of each pair one is zero on the face, the larger is not. Entries rest at
    their upper bound where the reduced cost is negative.
    """
    problem_rows = whole.rows
    level = unit_of(whole, proof)
    dropped = np.isinf(stage.rows.lower) & np.isinf(stage.rows.upper)
    family = np.zeros(problem_rows.count, dtype=bool)
    family[frozen.rows] = True
    activity = problem_rows.matrix @ proof.x
    bound = np.where(np.isfinite(problem_rows.upper), problem_rows.upper, 0.0)
    slack = (bound - activity) / np.where(bound > 0, bound, 1.0)
    worth = proof.prices * bound / level * _family_sizes(whole)
    free = (problem_rows.lower < problem_rows.upper) & ~dropped
    tight = ~family & free & (bound > 0) & (worth > np.maximum(slack, PRESENT))
    scalar, upper = problem_rows.scalar_matrix.copy(), problem_rows.upper.copy()
    lower = np.where(tight, upper, problem_rows.lower)
    held = np.flatnonzero(family)[frozen.now]
    scalar[held], upper[held], lower[held] = 0.0, -proof.t[0], -proof.t[0]
    if proof.t[0] <= PRESENT / _NOTHING * level:  # a level of zero would keep only rounding
        upper[held], lower[held] = 0.0, -np.inf
    gone, full = _at_bounds(whole, proof, level / len(frozen.now))
    face = replace(
        whole,
        lower=np.where(full, whole.upper, whole.lower),
        upper=np.where(gone, whole.lower, whole.upper),
        scalar_upper=_ceiling(whole, frozen),
        rows=replace(problem_rows, scalar_matrix=scalar, lower=lower, upper=upper),
    )
    kept = face.lower < face.upper
    left = whole.rows.matrix[:, np.flatnonzero(kept)].indices
    # Rows of fixed entries alone say 0 = 0, but for rounding.
    dropped |= (np.bincount(left, minlength=len(dropped)) == 0) & (scalar[:, 0] == 0)
    dropped[_implied(stage, held, np.flatnonzero(tight), kept, proof.prices)] = True
    lower, upper = np.where(dropped, [[-np.inf], [np.inf]], [lower, upper])
    return face, replace(face, rows=replace(face.rows, lower=lower, upper=upper))


def _at_bounds(problem: Separable, proof: Certificate, unit: float) -> tuple[Bools, Bools]:
    """(entries,) each: True where an entry is at its lower (upper) bound in all of the face."""
    top = np.minimum(problem.upper, 1e300)
    reach = np.minimum(own_limit(problem, structure(problem)), top)
    share = proof.x / np.maximum(reach, 1e-300)
    room = (top - proof.x) / np.maximum(top, 1e-300)
    worth = proof.reduced * reach / unit
    full = np.isfinite(problem.upper) & (-worth > np.maximum(room, PRESENT))
    return worth > np.maximum(share, PRESENT), full


def _ceiling(stage: Separable, frozen: Frozen) -> Floats:
    """(1,) an upper bound of the next level."""
    most = np.min(frozen.limit[~frozen.ever], initial=np.inf)
    return np.maximum([most], stage.scalar_lower)


def _held_above(stage: Separable, proof: Certificate, frozen: Frozen, given: float) -> Separable:
    """Rows that keep a level, less ``given``: its frozen rows without the scalar."""
    scalar, upper = stage.rows.scalar_matrix.copy(), stage.rows.upper.copy()
    held = np.arange(frozen.rows.start, frozen.rows.stop)[frozen.now]
    scalar[held], upper[held] = 0.0, given - proof.t[0]
    return replace(
        stage,
        scalar_upper=_ceiling(stage, frozen),
        rows=replace(stage.rows, scalar_matrix=scalar, upper=upper),
    )


def _family_sizes(stage: Separable) -> Floats:
    """(rows,) number of rows in each row's family."""
    out = np.ones(stage.rows.count)
    for family in stage.rows.families:
        out[family.start : family.stop] = family.stop - family.start
    return out


def _implied(stage: Separable, held: Longs, tight: Longs, kept: Bools, prices: Floats) -> Longs:
    """One held row a component of the market that a level clears, which the other rows imply.

    Rows that share entries form a component; its prices add its equalities up to 0 = 0, so one of
    them is redundant, and left in it would let prices grow without end. Where entries have a cost
    they add up to that cost, and none is.
    """
    rows, entries = np.concatenate([held, tight]), np.flatnonzero(kept)
    part = stage.rows.matrix.tocsr()[rows][:, entries]
    blocks: list[list[Any]] = [[None, part], [part.T, None]]
    links: Any = sp.block_array(blocks, format="csr")
    _, label = csgraph.connected_components(links, directed=False)
    order = np.argsort(-prices[held], kind="stable")
    component, first = np.unique(label[: len(held)][order], return_index=True)
    costly = np.unique(label[len(rows) :][stage.cost[entries] != 0])
    return held[order[first[~np.isin(component, costly)]]]
