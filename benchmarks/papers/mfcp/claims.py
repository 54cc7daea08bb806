"""What sections 2 to 4.1 say in passing: the cost, the factors, the barrier, rounding, metrics."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

import walras as wl
from benchmarks.papers.item import Item, Outcome, verdict_if
from benchmarks.papers.mfcp.problem import measured
from benchmarks.papers.mfcp.relaxation import gap_of_the_barrier
from benchmarks.papers.mfcp.rounds import (
    CLUSTERS,
    FLOOR,
    TASKS,
    chosen,
    drawn,
    makespans,
    mean_success,
    placements,
    smooth_makespan,
)
from walras.learn import LearnSettings
from walras.matching import Smoothing, evaluate, match_rounds, relaxed_match
from walras.types import Floats

_NEAR = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}  # for Clarabel


def _linear_cost(quick: bool) -> Outcome:
    """One cluster twice as fast: the least sum of times against the least makespan."""
    times, success = drawn(100 if quick else 1000, seed=3)
    times[:, 0] /= 2.0
    found = {
        "sum": times.argmin(axis=1),
        "makespan": match_rounds(times, success, 0.0).assignment,
    }
    used = {name: evaluate(times, success, x) for name, x in found.items()}
    idle = {name: float((made.loads == 0.0).mean()) for name, made in used.items()}
    busy = {name: float(made.utilisation.mean()) for name, made in used.items()}
    longer = float((used["sum"].makespan / used["makespan"].makespan).mean())
    return Outcome(
        f"least sum: {100 * idle['sum']:.0f} % of clusters idle, utilisation {busy['sum']:.2f}, "
        f"makespan {longer:.2f} times as long; least makespan: {100 * idle['makespan']:.0f} % "
        f"idle, utilisation {busy['makespan']:.2f}",
        verdict_if(idle["sum"] > 2.0 * idle["makespan"] and busy["sum"] < busy["makespan"]),
        "drawn rounds in which one of three clusters is twice as fast",
    )


def _step_function(quick: bool) -> Outcome:
    """Derivatives of the exact and of the relaxed matching by a predicted time."""
    times, success = drawn(50 if quick else 400, seed=12)
    step, moved = 1e-6, times.copy()
    moved[:, 0, 0] += step
    exact = [match_rounds(t, success, 0.0).assignment for t in (times, moved)]
    changed = int((exact[0] != exact[1]).any(axis=1).sum())
    smoothing = Smoothing(barrier="elastic", price=0.0, temperature=0.1)
    soft = [relaxed_match(t, success, 0.0, smoothing, scale=1.0).x.numpy() for t in (times, moved)]
    by = np.abs(soft[1] - soft[0]).max(axis=(1, 2)) / step
    return Outcome(
        f"a time moved by {step:g}: {changed} of {len(times)} exact matchings change; relaxed ones "
        f"change at a rate of {np.median(by):.2f} in the middle, above 1e-3 in "
        f"{100 * (by > 1e-3).mean():.0f} %",
        verdict_if(changed == 0 and float((by > 1e-3).mean()) > 0.5),
        "zero almost everywhere and undefined at steps, as the paper says",
    )


def _least_by_success(t: Floats, a: Floats, floor: float, weight: float | None) -> Floats:
    """Least squared loads under a floor, or with a log barrier, by Clarabel: a unique X."""
    x = cp.Variable(t.shape, nonneg=True)
    margin = cp.sum(cp.multiply(a, x)) / t.shape[1] - floor
    cost = cp.sum_squares(cp.sum(cp.multiply(t, x), axis=1)) + 1e-2 * cp.sum_squares(x)
    rules = [cp.sum(x, axis=0) == 1]
    if weight is None:
        rules.append(margin >= 0)
    else:
        cost = cost - weight * cp.log(margin)
    cp.Problem(cp.Minimize(cost), rules).solve(solver=cp.CLARABEL, **_NEAR)
    found: Floats = x.value
    return found


def _slack_floor(quick: bool) -> Outcome:
    """Whether the matching moves with a chance: under a slack floor, a tight one, a barrier."""
    times, success = drawn(3 if quick else 10, seed=6)
    step, moves = 1e-3, {"slack": 0.0, "barrier": np.inf, "tight": np.inf}
    for t, a in zip(times, success, strict=True):
        at_rest = _least_by_success(t, a, 0.0, None)
        free = float((a * at_rest).sum() / TASKS)
        moved = a.copy()
        moved.ravel()[np.minimum(at_rest, 1.0 - at_rest).argmax()] += step  # of a shared task
        for name, floor, weight in (
            ("slack", free - 0.02, None),
            ("barrier", free - 0.02, 0.02),
            ("tight", free + 0.02, None),
        ):
            both = [_least_by_success(t, at, floor, weight) for at in (a, moved)]
            by = float(np.abs(both[1] - both[0]).max()) / step
            keep = max if name == "slack" else min
            moves[name] = keep(moves[name], by)
    return Outcome(
        f"change of X by a chance: at most {moves['slack']:.0e} where the floor is slack, at "
        f"least {moves['barrier']:.1e} with the barrier and {moves['tight']:.1e} where it is tight",
        "refuted" if moves["slack"] < 1e-4 < moves["tight"] else "reproduced",
        "zero where the floor is slack, as the paper says, and the barrier mends that. Where the "
        "floor is tight the derivative is finite, not infinite, if the solution is regular",
    )


def _barrier(quick: bool) -> Outcome:
    """How the barrier grows towards the floor, and what the three printed forms make of one X."""
    del quick
    weight, near = 0.02, 10.0 ** -np.arange(1, 9)
    rises = np.diff(-weight * np.log(near))
    mn = CLUSTERS * TASKS
    total, floor = 0.95 * TASKS, 0.2  # sum x a, and a floor that the printed mean can reach
    forms = {
        "g": total / mn - floor,
        "g - gamma": total / mn - 2.0 * floor,
        "the display": (total - floor) / mn,
    }
    words = ", ".join(f"{name} {value:+.3f}" for name, value in forms.items())
    same = max(forms.values()) - min(forms.values()) < 1e-12
    return Outcome(
        f"a tenth of the distance adds {rises.min():.4f} to {rises.max():.4f}, lambda log 10 = "
        f"{weight * np.log(10.0):.4f}; the argument of the logarithm at one X: {words}",
        verdict_if(bool(rises[-1] > 2.0 * rises[0]) and same),
        "the cost grows with the logarithm of the distance, not exponentially; and equation 4, the "
        "text below equation 10 and the display of section 3.3 put gamma in three ways",
    )


def _small_weight(quick: bool) -> Outcome:
    """Excess of the barrier's minimum over the constrained one as lambda falls."""
    weights = (0.1, 0.01, 0.001)
    excess = [gap_of_the_barrier(weight, 3 if quick else 10) for weight in weights]
    words = ", ".join(f"{e:.1e}" for e in excess)
    return Outcome(
        f"makespan above the constrained optimum: at most {words} at lambda {weights}",
        verdict_if(all(e <= 1.01 * w for e, w in zip(excess, weights, strict=True))),
        "never above lambda, the duality gap of a barrier with one constraint (Clarabel, HiGHS)",
    )


def _convex(quick: bool) -> Outcome:
    """Midpoints of pairs of times and chances at one matching, and of pairs of matchings."""
    count, weight = 200 if quick else 2000, 0.02
    rng = np.random.default_rng(33)
    x = rng.dirichlet(np.ones(CLUSTERS), (count, TASKS)).swapaxes(1, 2)
    y = rng.dirichlet(np.ones(CLUSTERS), (count, TASKS)).swapaxes(1, 2)
    times, success = drawn(2 * count, seed=33)

    def value(at: Floats, t: Floats, a: Floats) -> Floats:
        smooth = smooth_makespan((t * at).sum(axis=-1), 20.0)
        return np.asarray(smooth - weight * np.log((a * at).sum(axis=(-2, -1)) / TASKS - 0.5))

    one, two = slice(0, count), slice(count, None)
    both = [0.5 * (v[one] + v[two]) for v in (times, success)]
    ends = 0.5 * (value(x, times[one], success[one]) + value(x, times[two], success[two]))
    by_data = float((value(x, *both) - ends).max())
    t, a = times[one], success[one]
    by_x = float((value(0.5 * (x + y), t, a) - 0.5 * (value(x, t, a) + value(y, t, a))).max())
    wide = 0.5 * (value(x, t, a) + value(y, times[two], success[two]))
    jointly = float((value(0.5 * (x + y), *both) - wide).max())
    return Outcome(
        f"largest midpoint above the chord: {by_data:.0e} in (T, A), {by_x:.0e} in X, "
        f"{jointly:+.2f} in all three",
        verdict_if(by_data < 1e-9 and by_x < 1e-9),
        "what the matching needs is the second, which the paper does not say; F is not convex in "
        "X, T and A at once, and need not be",
    )


def _rounding(quick: bool) -> Outcome:
    """The relaxed matching rounded to the largest shares, against enumeration."""
    times, success = drawn(60 if quick else 300, seed=7)
    able = mean_success(success).max(axis=1) >= FLOOR
    times, success = times[able], success[able]
    found = relaxed_match(times, success, FLOOR, Smoothing(temperature=0.05), scale=1.0).x.numpy()
    rounded = evaluate(times, success, found.argmax(axis=1), FLOOR)
    mean = (success * found).sum(axis=(-2, -1)) / TASKS
    allowed = mean_success(success) >= FLOOR - 1e-12
    best = np.where(allowed, makespans(times), np.inf).min(axis=1)
    above = float((rounded.makespan / best - 1.0)[~rounded.violated].mean())
    missed, before = float(rounded.violated.mean()), float((mean < FLOOR).mean())
    place = match_rounds(times, success, FLOOR).assignment @ CLUSTERS ** np.arange(TASKS)[::-1]
    exact = float(np.abs(chosen(makespans(times), place) / best - 1.0).max())
    return Outcome(
        f"the floor is missed by {100 * before:.0f} % of relaxed and {100 * missed:.0f} % of "
        f"rounded matchings; the others are {100 * above:.0f} % above the best of "
        f"{len(placements(CLUSTERS, TASKS))}, match_rounds {exact:.0e}",
        "refuted" if missed > before + 0.05 or above > 0.05 else "reproduced",
        "rounding keeps neither the floor nor the optimum; an exact decoder of a round takes "
        "milliseconds",
    )


def _in_turn(quick: bool) -> Outcome:
    """Times and success trained in turn, as in the paper, and together."""
    data, seeds, found = measured(40 if quick else 60), 1 if quick else 4, {}
    for joint in ("alternating", "together"):
        own = LearnSettings(
            method="mfcp-ad", model="counts", link="exp", steps=30 if quick else 60, joint=joint
        )
        models = [
            wl.learn.fit(own.with_(seed=seed), data, tasks_per_round=TASKS) for seed in range(seeds)
        ]
        over = [
            [regret / model.history[0][1] for _, regret, *_ in model.history] for model in models
        ]
        found[joint] = (np.mean([min(path) for path in over]), max(max(path) for path in over))
    (turn, high), (whole, highest) = found["alternating"], found["together"]
    return Outcome(
        f"regret of validation rounds over that of the start, {seeds} seeds: in turn {turn:.2f}, "
        f"together {whole:.2f}; never above {high:.2f} and {highest:.2f} on the way "
        f"({data.source} data)",
        verdict_if(high < 0.9 * highest),
        "training both at once is as stable here",
    )


def _utilisation(quick: bool) -> Outcome:
    """Working time over clusters times makespan, of every placement of some rounds."""
    times, success = drawn(5 if quick else 50, seed=41)
    every = placements(CLUSTERS, TASKS)
    off, spread = 0.0, []
    for t, a in zip(times, success, strict=True):
        many, sure = (np.broadcast_to(v, (len(every), *t.shape)) for v in (t, a))
        found = evaluate(many, sure, every)
        work = np.stack([t[row, range(TASKS)].sum() for row in every])
        longest = np.array([max(t[i, row == i].sum() for i in range(CLUSTERS)) for row in every])
        off = max(off, float(np.abs(found.utilisation - work / (CLUSTERS * longest)).max()))
        spread.append(np.corrcoef(found.utilisation, longest)[0, 1])
    return Outcome(
        f"{off:.0e} from sum of times / (M x makespan); its correlation with the makespan over all "
        f"placements is {np.mean(spread):.2f}",
        verdict_if(off < 1e-12),
        "evenness, not speed: a placement on slow clusters alone can be even, too",
    )


SECTION_2 = (
    Item(
        "claim: linear cost",
        "A sum of times piles tasks on fast clusters and leaves others idle; a makespan does not.",
        "",
        "wl.matching.evaluate(times, success, x).utilisation",
        _linear_cost,
    ),
)

SECTION_3 = (
    Item(
        "claim: step function",
        "The exact matching is a step function of predictions; its relaxation is not.",
        "",
        "wl.matching.relaxed_match(times, success, floor)",
        _step_function,
    ),
    Item(
        "claim: rounding",
        "For use the relaxed matching is rounded.",
        "",
        "wl.matching.match_rounds(times, success, floor)",
        _rounding,
    ),
    Item(
        "claim: slack floor",
        "By chances the matching has derivative 0 where the floor is slack, infinite where tight.",
        "",
        "wl.learn.implicit_gradient(relaxed, by_x).success",
        _slack_floor,
    ),
    Item(
        "claim: barrier",
        "Towards the floor the cost -lambda log(g - gamma) grows exponentially.",
        "",
        'wl.matching.Smoothing(barrier="log", weight=0.02)',
        _barrier,
    ),
    Item(
        "claim: small lambda",
        "A smaller lambda is nearer to the constraint itself.",
        "",
        'wl.matching.Smoothing(barrier="log", weight=0.001)',
        _small_weight,
    ),
    Item(
        "claim: convex",
        "F is convex in T and A.",
        "",
        "wl.matching.relaxed_match(times, success, floor)",
        _convex,
    ),
    Item(
        "claim: in turn",
        "Times and success are trained in turn, which keeps training stable.",
        "",
        'wl.learn.LearnSettings(joint="alternating")',
        _in_turn,
    ),
)

METRICS = (
    Item(
        "metric: utilisation",
        "Working time of all clusters over the largest that is possible: how even a matching is.",
        "",
        "wl.matching.evaluate(times, success, x).utilisation",
        _utilisation,
    ),
)
