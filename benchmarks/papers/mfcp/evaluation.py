"""Sections 4.3 to 4.5: table 2, figures 4 and 5, and the claims made of them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd

from benchmarks.papers.item import Item, Outcome, verdict_if
from benchmarks.papers.mfcp.protocol import (
    NEAR,
    NO_LOGS,
    SHOW,
    SHOWN,
    means,
    measured,
    of_what,
    said,
    words,
)
from benchmarks.tables import Tables

TABLE_2 = {
    "regret": {"TAM": 3.032, "TSM": 2.014, "UCB": 1.835, "MFCP-FG": 1.496},
    "reliability": {"TAM": 0.759, "TSM": 0.832, "UCB": 0.847, "MFCP-FG": 0.851},
    "utilisation": {"TAM": 0.485, "TSM": 0.547, "UCB": 0.553, "MFCP-FG": 0.560},
}
_REGRET_2 = TABLE_2["regret"]
_BASELINES, _OURS = ["TAM", "TSM", "UCB"], ["MFCP-AD", "MFCP-FG"]


def _falls(values: dict[str, float], order: list[str]) -> bool:
    """Whether each value is at least the next one, up to what counts as alike."""
    return all(values[one] * NEAR >= values[other] for one, other in pairwise(order))


def _turned(values: dict[str, float], published: dict[str, float]) -> list[str]:
    """Neighbours of the published order that stand the other way round here, in words."""
    order = sorted(published, key=lambda name: published[name])
    return [
        f"{one} is not below {other}, as printed"
        for one, other in pairwise(order)
        if not values[one] < values[other]
    ]


def _figure_4(quick: bool) -> Outcome:
    frame = measured("figure 4", quick=quick)
    regret = means(frame, "paper_regret")
    holds = _falls(regret, ["TSM", "UCB", "MFCP-AD"])
    return Outcome(
        f"regret in seconds a task: {words(regret)} ({of_what(frame)})",
        verdict_if(holds),
        f"{'TSM, UCB, MFCP in this order' if holds else 'UCB is not between TSM and MFCP'}; "
        f"{NO_LOGS}; the bars print no numbers",
        said(frame, ("setting", "method")),
    )


def _lowest(quick: bool) -> Outcome:
    frame = measured("figure 4", quick=quick)
    by = frame.groupby(["setting", "method"])["paper_regret"].mean().unstack()
    ours, others = by[_OURS].max(axis=1), by[_BASELINES].min(axis=1)
    parts = [f"{name} {ours[name] / others[name]:.2f}" for name in by.index]
    return Outcome(
        f"worse of the two over the best baseline: {', '.join(parts)} ({of_what(frame)})",
        verdict_if(bool((ours < others).all())),
        "under this decoder; the claim of gains below has fair baselines",
    )


def _alike(quick: bool) -> Outcome:
    regret = means(measured("figure 4", quick=quick), "paper_regret")
    ratio = regret["MFCP-FG"] / regret["MFCP-AD"]
    return Outcome(
        f"regret of MFCP-FG over that of MFCP-AD: {ratio:.3f}",
        verdict_if(1.0 / NEAR <= ratio <= NEAR),
        "three orthogonal directions of five; algorithm 2 as printed is mode='paper'",
    )


def _between(quick: bool) -> Outcome:
    frame = measured("figure 4", quick=quick)
    regret = means(frame, "paper_regret")
    holds = max(regret[name] for name in _OURS) < regret["UCB"] < regret["TSM"]
    return Outcome(
        words({name: regret[name] for name in ("TSM", "UCB", *_OURS)}),
        verdict_if(holds),
        "three bagged members, moved a standard deviation to the worse; the paper does not say "
        "how its bound is made",
    )


def _averages(quick: bool) -> Outcome:
    frame = measured("figure 4", quick=quick)
    own = frame[frame["method"] == "TAM"]
    alone = own["utilisation"].to_numpy()
    violated = own.groupby("setting")["violations"].mean()
    parts = ", ".join(f"{name} {100 * share:.0f} %" for name, share in violated.items())
    return Outcome(
        f"rounds that miss the floor: {parts}; utilisation {alone.mean():.3f}",
        verdict_if(float(violated.max() - violated.min()) > 0.1),
        "to averages all tasks look alike, and so do their largest shares: every round is on "
        "one cluster, which alone says whether the floor holds. The printed TAM has a utilisation "
        "of .485 (table 2), which no such rounding can have: how the paper rounds is not said",
    )


def _reliability(quick: bool) -> Outcome:
    frame = measured("figure 4", quick=quick)
    found = means(frame, "reliability")
    violated = means(frame, "violations")
    holds = min(found[name] for name in _OURS) > max(found[name] for name in _BASELINES)
    return Outcome(
        f"{words(found)}; rounds that miss the floor {words(violated, 2)}",
        verdict_if(holds),
        "the matching has no reason to exceed the floor",
    )


def _utilisation(quick: bool) -> Outcome:
    found = means(measured("figure 4", quick=quick), "utilisation")
    exact = means(measured("fair", quick=quick), "utilisation")["TSM"]
    holds = min(found[name] for name in _OURS) > max(found[name] for name in _BASELINES)
    return Outcome(words(found), verdict_if(holds), f"TSM decoded exactly has {exact:.3f}")


def _by_size(frame: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The mean of a metric over seeds: a row a number of tasks, a column a method."""
    return frame.groupby(["tasks_per_round", "method"])[metric].mean().unstack()


def _lower_at_each_size(quick: bool) -> Outcome:
    frame = measured("figure 5", quick=quick)
    table = _by_size(frame, "paper_regret")
    share = table[_OURS].max(axis=1) / table[_BASELINES].min(axis=1)
    parts = ", ".join(f"{value:.2f} at {size} tasks" for size, value in share.items())
    return Outcome(
        f"worse of the two over the best baseline: {parts} ({of_what(frame)})",
        verdict_if(bool((share < 1.0).all())),
        "the figure prints no numbers",
        said(frame, ("tasks_per_round", "method")),
    )


def _use_rises(quick: bool) -> Outcome:
    frame = measured("figure 5", quick=quick)
    table = _by_size(frame, "utilisation")[[*_BASELINES, *_OURS]]
    flat = [str(name) for name in table if not (table[name].diff().iloc[1:] > 0.0).all()]
    ends = ", ".join(f"{name} {v.iloc[0]:.3f} to {v.iloc[-1]:.3f}" for name, v in table.items())
    why = "every method's rises from size to size"
    if flat:
        why = f"that of {', '.join(flat)} does not rise from size to size"
    if "TAM" in flat:
        why += "; TAM puts a whole round on one cluster, which is a third of three at any size"
    return Outcome(
        f"from {table.index[0]} to {table.index[-1]} tasks: {ends} ({of_what(frame)})",
        verdict_if(not flat),
        why,
    )


def _total_growth(quick: bool) -> Outcome:
    frame = measured("figure 5", quick=quick)
    table = _by_size(frame, "paper_regret")
    sizes = table.index.to_numpy(dtype=np.float64)
    fits = {
        name: float(np.corrcoef(sizes, sizes * table[name].to_numpy())[0, 1] ** 2)
        for name in (*_BASELINES, *_OURS)
    }
    return Outcome(
        f"R2 of a line through N x regret: {words(fits)} ({of_what(frame)})",
        verdict_if(min(fits.values()) > 0.95),
        "of the total, N x equation 6, which grows with N for any method that errs on each task",
    )


def _growth_a_task(quick: bool) -> Outcome:
    frame = measured("figure 5", quick=quick)
    table = _by_size(frame, "paper_regret")
    grown = (table.iloc[-1] / table.iloc[0])[[*_BASELINES, *_OURS]]
    ends = [int(table.index[0]), int(table.index[-1])]
    times = words({str(name): float(value) for name, value in grown.items()}, 2)
    return Outcome(
        f"regret at {ends[1]} tasks over that at {ends[0]}: {times} ({of_what(frame)})",
        verdict_if(float(grown.min()) > (1.0 + ends[1] / ends[0]) / 2.0),
        f"a line through 0 would give {ends[1] / ends[0]:.0f}, half of that growth counts as "
        "linear; section 4.1 says that the figures' regret is equation 6, which divides by N",
    )


def _sizes(quick: bool) -> Outcome:
    frame = measured("figure 5", quick=quick)
    used = _by_size(frame, "utilisation")
    parts = {
        "TAM below TSM": used["TAM"] < used["TSM"],
        "UCB above TSM": used["UCB"] > used["TSM"],
        "MFCP above all": used[_OURS].min(axis=1) > used[_BASELINES].max(axis=1),
    }
    where = ", ".join(f"{name} at {int(at.sum())} of {len(at)} sizes" for name, at in parts.items())
    return Outcome(
        f"{where} ({of_what(frame)})",
        verdict_if(all(bool(at.all()) for at in parts.values())),
        "UCB moves every prediction to the worse, and by most where least is known; that makes "
        "no placement more even",
    )


def _parallel_regret(quick: bool) -> Outcome:
    frame = measured("table 2", quick=quick)
    return _as_in_table_2("regret", frame, f"; {NO_LOGS}", said(frame))


def _parallel_reliability(quick: bool) -> Outcome:
    why = "; whoever places by the floor has no reason to exceed it, and errs to both sides of it"
    return _as_in_table_2("reliability", measured("table 2", quick=quick), why)


def _parallel_use(quick: bool) -> Outcome:
    return _as_in_table_2("utilisation", measured("table 2", quick=quick), "")


def _as_in_table_2(
    metric: str, frame: pd.DataFrame, more: str, table: pd.DataFrame | None = None
) -> Outcome:
    """Whether the table's four methods stand in the printed order by a metric."""
    column = {title: name for name, title in SHOWN.items()}[metric]
    found = means(frame, column)
    turned = _turned(found, TABLE_2[metric])
    return Outcome(
        f"{words({name: found[name] for name in TABLE_2[metric]})} ({of_what(frame)})",
        verdict_if(not turned),
        ("; ".join(turned) or "in the printed order") + more,
        table,
    )


def _parallel_best(quick: bool) -> Outcome:
    frame = measured("table 2", quick=quick)
    regret, used = means(frame, "paper_regret"), means(frame, "utilisation")
    shares = [regret["MFCP-FG"] / regret[name] for name in _BASELINES]
    above = [used["MFCP-FG"] - used[name] for name in _BASELINES]
    cuts = [f"{name} by {100 - 100 * v:.0f} %" for name, v in zip(_BASELINES, shares, strict=True)]
    return Outcome(
        f"regret below that of {', '.join(cuts)}, utilisation at least {min(above):.3f} above "
        f"({of_what(frame)})",
        verdict_if(max(shares) < 1.0 and min(above) > 0.0),
        "of the orders of table 2 this is what the text claims",
    )


def _no_derivative(quick: bool) -> Outcome:
    frame = measured("table 2", quick=quick)
    regret = means(frame, "paper_regret")
    return Outcome(
        f"regret of MFCP-AD over that of MFCP-FG: {regret['MFCP-AD'] / regret['MFCP-FG']:.3f} "
        f"({of_what(frame)})",
        verdict_if(regret["MFCP-AD"] > NEAR * regret["MFCP-FG"]),
        "a regular stationary point of a function that is not convex has a derivative, too",
    )


def _arithmetic(quick: bool) -> Outcome:
    del quick
    cut = [100 * (1.0 - _REGRET_2["MFCP-FG"] / _REGRET_2[name]) for name in ("TSM", "UCB")]
    return Outcome(
        f"from table 2's own numbers: {cut[0]:.1f} % and {cut[1]:.1f} %",
        verdict_if(abs(cut[0] - 25.7) < 0.05 and abs(cut[1] - 18.5) < 0.05),
        "the arithmetic; what we measure is in the line above of the least regret, and what it is "
        "a gain against in that of the gain",
    )


def _as_printed(quick: bool) -> Outcome:
    frame = measured("printed", quick=quick)
    regret = means(frame, "elastic_regret")
    start, end = regret["TSM, algorithm 1"], regret["MFCP-FG, algorithms 1 and 2"]
    return Outcome(
        f"elastic regret: {words(regret)} ({of_what(frame)})",
        verdict_if(end < start),
        "against the same start placed by algorithm 1; the first is placed by the relaxed "
        "matching, solved. Only algorithm 1 has a utilisation near the .387 to .488 of table 1: "
        f"{words(means(frame, 'utilisation'))}. eta 1, 100 iterations, 5 directions and 40 steps "
        "are ours: the paper prints none",
        said(frame),
    )


def gains(*, quick: bool) -> pd.DataFrame:
    """What training through the matching changes, beside the paper's claim."""
    rows = [_gain("paper, table 2", "its decoder", _REGRET_2["TSM"], _REGRET_2["MFCP-FG"])]
    weak, fair = (measured(name, quick=quick) for name in ("figure 4", "fair"))
    own = f"paper's networks ({fair['seed'].nunique()} seeds)"
    loose, tight = means(weak, "elastic_regret"), means(fair, "elastic_regret")
    better = min(tight["TSM"], tight["TSM, log"])
    rows.append(_gain(own, "its decoder", loose["TSM"], loose["MFCP-AD"]))
    rows.append(_gain(own, "exact", better, tight["MFCP-AD"]))
    kept = Tables("learning")
    for study, title in (
        ("counts", "operation counts"),
        ("linear", "linear on one-hots"),
        ("mlp", "one fully connected network"),
    ):
        frame = kept.read(study)
        if frame is not None:
            good = frame[frame["error"].isna()]
            found = good.groupby(["method", "setting", "train_tasks"])["elastic_regret"].mean()
            table = found.unstack("method")
            better = table[["tsm-raw", "tsm-log"]].min(axis=1).mean()
            rows.append(_gain(f"{title} (20 seeds)", "exact", better, table["mfcp-ad"].mean()))
    return pd.DataFrame(rows)


def _gain(predictors: str, decoder: str, two_stage: float, through: float) -> dict[str, object]:
    return {
        "predictors": predictors,
        "decoder": decoder,
        "two-stage": round(two_stage, 4),
        "through the matching": round(through, 4),
        "change": f"{100 * (through / two_stage - 1.0):+.1f} %",
    }


def _fair(quick: bool) -> Outcome:
    table = gains(quick=quick)
    changes = dict(zip(table["predictors"] + ", " + table["decoder"], table["change"], strict=True))
    exact, weak = table.iloc[2], table.iloc[1]
    held = float(exact["through the matching"]) <= 0.85 * float(exact["two-stage"])
    return Outcome(
        "; ".join(f"{name} {change}" for name, change in changes.items()),
        verdict_if(held),
        f"two stages alone, decoded exactly, go from {weak['two-stage']:.3f} to "
        f"{exact['two-stage']:.3f}: training makes up for the decoder. Regrets here are elastic, "
        "which missing the floor cannot lower",
        table,
    )


_SIZES = f"{SHOW[:-1]}, tasks_per_round=[5, 15, 25])"
_PARALLEL = f"{SHOW[:-1]}, speedup=wl.matching.Decay(0.6, 0.5))"

ITEMS = (
    Item(
        "figure 4",
        "Of five methods in three settings: regret falls from TSM to UCB and MFCP.",
        "bars without numbers",
        SHOW,
        _figure_4,
    ),
    Item(
        "claim: lowest regret",
        "MFCP-AD and MFCP-FG have the least regret in every setting.",
        "",
        SHOW,
        _lowest,
    ),
    Item(
        "claim: fg like ad",
        "In the convex case forward gradients do as well as the analytical.",
        "table 1: .937 against .894",
        SHOW,
        _alike,
    ),
    Item(
        "claim: ucb between",
        "The regret of UCB is between those of TSM and MFCP.",
        "",
        SHOW,
        _between,
    ),
    Item(
        "claim: averages",
        "TAM depends on the setting and fails the floor where clusters differ.",
        "",
        SHOW,
        _averages,
    ),
    Item(
        "claim: reliability",
        "The interior-point method makes MFCP slightly more reliable.",
        "",
        SHOW,
        _reliability,
    ),
    Item(
        "claim: utilisation",
        "MFCP has the highest utilisation.",
        "table 1: .488",
        SHOW,
        _utilisation,
    ),
    Item(
        "figure 5, regret",
        "At every number of tasks both kinds of MFCP have less regret than the baselines.",
        "lines without numbers",
        _SIZES,
        _lower_at_each_size,
    ),
    Item(
        "figure 5, utilisation",
        "With more tasks a round the utilisation of all methods rises.",
        "lines without numbers",
        _SIZES,
        _use_rises,
    ),
    Item(
        "claim: linear growth",
        "Regret of all methods grows linearly with the number of tasks: that of a whole round.",
        "",
        _SIZES,
        _total_growth,
    ),
    Item(
        "claim: linear growth of equation 6",
        "Regret of all methods grows linearly with the number of tasks: that of equation 6.",
        "",
        _SIZES,
        _growth_a_task,
    ),
    Item(
        "claim: sizes",
        "At every size TAM uses clusters less than TSM, UCB more, and MFCP most.",
        "",
        _SIZES,
        _sizes,
    ),
    Item(
        "table 2, regret",
        "Where tasks run together regret falls from TAM to TSM, UCB and MFCP-FG.",
        words(TABLE_2["regret"]),
        _PARALLEL,
        _parallel_regret,
    ),
    Item(
        "table 2, reliability",
        "Where tasks run together reliability rises from TAM to TSM, UCB and MFCP-FG.",
        words(TABLE_2["reliability"]),
        _PARALLEL,
        _parallel_reliability,
    ),
    Item(
        "table 2, utilisation",
        "Where tasks run together utilisation rises from TAM to TSM, UCB and MFCP-FG.",
        words(TABLE_2["utilisation"]),
        _PARALLEL,
        _parallel_use,
    ),
    Item(
        "claim: parallel",
        "Where tasks run together MFCP-FG has the least regret and the highest utilisation.",
        "25.7 % below TSM, 18.5 % below UCB; utilisation .007 above UCB",
        _PARALLEL,
        _parallel_best,
    ),
    Item(
        "claim: ad unsuitable",
        "Where tasks run together the problem is not convex, and MFCP-AD does not suit it.",
        "",
        _PARALLEL,
        _no_derivative,
    ),
    Item(
        "claim: 25.7 %",
        "By table 2 MFCP-FG cuts the regret of TSM by 25.7 % and of UCB by 18.5 %.",
        "25.7 %, 18.5 %",
        _PARALLEL,
        _arithmetic,
    ),
    Item(
        "claim: as printed",
        "MFCP-FG by algorithms 1 and 2, letter by letter, lowers the regret.",
        "",
        'wl.learn.LearnSettings(method="mfcp-fg", mode="paper", decoder="relaxed")',
        _as_printed,
    ),
    Item(
        "claim: gain",
        "Training through the matching gains a quarter over two stages.",
        "25.7 %",
        'wl.learn.compare(["tsm-raw", "tsm-log", "mfcp-ad"])',
        _fair,
    ),
)
