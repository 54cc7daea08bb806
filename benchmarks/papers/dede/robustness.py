"""Section 7.2 of DeDe: what changes of network and traffic do to each method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd

from benchmarks.experiments import robustness
from benchmarks.experiments.methods import EXACT, LEARNED
from benchmarks.experiments.study import Setting
from benchmarks.papers.item import Item, Outcome, verdict_if

SCHEME = "DeDe's scheme"
_POPS = ("POP-4", "POP-16", "POP-64")
_THEIRS = (SCHEME, *_POPS, "Pinning", LEARNED)
"""The paper's methods; the learned policy stands for Teal."""
_NODES, _LINKS, _PAIRS = 1_739, 8_558, 3_022_382  # of the paper's network
_FAILED = (0, 50, 100, 200)
_FALLS = ((0.6, 1.1), (1.5, 2.1), (3.0, 4.2))  # percent, of all methods, when so many fail
_VARIED = {  # percent, least and most under fluctuation
    SCHEME: (1.3, 3.5),
    LEARNED: (12.8, 12.8),
    "Pinning": (0.6, 3.0),
    **dict.fromkeys(_POPS, (1.0, 1.6)),
}
_LEAST = 0.01  # points: a change below it is none
_SPREAD = {**dict.fromkeys(_POPS, 1.4), LEARNED: -2.4, "Pinning": -8.3}  # percent, .8 to .2


def _setting(quick: bool) -> Setting:
    return Setting("ASN2k-40", training=25 if quick else 150, limit=1.0 if quick else 5.0)


@cache
def _measured(study: Callable[[Setting], pd.DataFrame], quick: bool) -> pd.DataFrame:
    """The rows of a study, which several items judge."""
    return study(_setting(quick))


def _failed(quick: bool) -> Setting:
    """A larger network, so that the paper's fraction of its links is a number of links."""
    return _setting(quick) if quick else Setting("ASN2k-100", training=40)


def _draws(quick: bool) -> int:
    return 2 if quick else 8


@cache
def _without_links(quick: bool) -> pd.DataFrame:
    """The paper's fraction of the links fails, in some draws; a policy learns in the first."""
    setting = _failed(quick)
    links = setting.parts[0].links
    counts = tuple(round(count / _LINKS * links) for count in _FAILED)
    settings = [setting] + [
        replace(setting, seed=setting.seed + k, training=0) for k in range(1, _draws(quick))
    ]
    return pd.concat([robustness.failures(each, counts) for each in settings])


def _wide(frame: pd.DataFrame, value: str = "normalised") -> pd.DataFrame:
    """Means: a row a method, a column a point, from the least to the largest."""
    wide = frame.pivot_table(index="method", columns="x", values=value, sort=False)
    return wide[sorted(wide.columns)]


def _shown(wide: pd.DataFrame, axis: str) -> pd.DataFrame:
    table = wide.round(4).reset_index()
    table.columns = [
        "method" if name == "method" else f"{axis} {name:.3g}" for name in table.columns
    ]
    return table


def _points(changes: Mapping[str, float] | pd.Series, names: tuple[str, ...] = _THEIRS) -> str:
    return ", ".join(f"{name} {changes[name]:+.1f}" for name in names)


def _width(wide: pd.DataFrame) -> pd.Series:
    """Percentage points between each method's best and worst point."""
    return 100.0 * (wide.max(axis=1) - wide.min(axis=1))


def _central(quick: bool) -> tuple[pd.DataFrame, pd.Series, str]:
    """Shares of the optimum by centrality, their changes to the least, and what differs."""
    frame = _measured(robustness.granularity, quick)
    wide, asked = _wide(frame), _wide(frame, "served").loc[EXACT]
    changes = 100.0 * (wide.iloc[:, 0] - wide.iloc[:, -1])
    why = (
        "shortcuts make the paths shorter, and traffic grows with the sum of all capacities. So "
        "less is contended where links are less central: the optimum serves "
        f"{100 * asked.iloc[-1]:.0f} % of what is asked at the most central links and "
        f"{100 * asked.iloc[0]:.0f} % at the least. How the paper scales its traffic it does not "
        "say. Ours has 40 nodes"
    )
    return wide, changes, why


def granularity(quick: bool) -> Outcome:
    """Figure 9(a): the direction."""
    wide, changes, why = _central(quick)
    return Outcome(
        f"points from the most to the least central links: {_points(changes)}",
        verdict_if(bool((changes[list(_THEIRS)] <= -_LEAST).all())),
        why,
        _shown(wide, "centrality"),
    )


def granularity_of_pop(quick: bool) -> Outcome:
    """Figure 9(a): POP against DeDe."""
    wide, _, _ = _central(quick)
    width = _width(wide)
    pop = str(width[list(_POPS)].idxmax())
    return Outcome(
        f"points between best and worst: {pop} {width[pop]:.2f}, {SCHEME} {width[SCHEME]:.2f}",
        verdict_if(bool(width[pop] >= width[SCHEME] + _LEAST)),
        "only the size is judged; the direction is the item before",
    )


def granularity_of_teal(quick: bool) -> Outcome:
    """Figure 9(a): Teal where links are least central."""
    wide, _, _ = _central(quick)
    least, next_least = wide.loc[LEARNED].to_numpy(dtype=float)[:2]
    gain = float(100.0 * (least - next_least))
    return Outcome(
        f"the learned policy changes by {gain:+.1f} points in the last step",
        verdict_if(gain >= _LEAST),
        "a policy is trained for each network, as Teal is",
    )


def temporal(quick: bool) -> Outcome:
    """Figure 9(b): who suffers most."""
    wide = _wide(_measured(robustness.temporal, quick))
    falls = 100.0 * (wide[0.0] - wide.min(axis=1))
    first = falls[list(_THEIRS)].idxmax()
    return Outcome(
        f"points from no noise to the worst: {_points(-falls)}",
        verdict_if(first == LEARNED),
        "the learned policy has seen a day without the fluctuation",
        _shown(wide, "k ="),
    )


def temporal_sizes(quick: bool) -> Outcome:
    """Figure 9(b): how large the changes are."""
    width = _width(_wide(_measured(robustness.temporal, quick)))
    alike = [name for name in _THEIRS if _as_large(width[name], width[name], *_VARIED[name])]
    return Outcome(
        f"points between best and worst: {_points(width)}",
        verdict_if(len(alike) == len(_THEIRS)),
        f"within a factor of two of the paper: {', '.join(alike) or 'none'}. The noise is k times "
        "the variance of each demand's own changes. Ours are drawn, of a daily curve; the paper's "
        "are measured, and not released",
    )


def _as_large(least: float, most: float, low: float, high: float) -> bool:
    """Whether values are within a factor of two of a published range."""
    return least >= low / 2.0 and most <= 2.0 * high


def spatial(quick: bool) -> Outcome:
    """Figure 9(c): who serves most at every share."""
    wide = _wide(_measured(robustness.spatial, quick))
    others = wide.loc[[name for name in _THEIRS if name != SCHEME]]
    ahead = wide.loc[SCHEME] - others.max()
    return Outcome(
        f"DeDe's scheme serves {100 * ahead.min():.2f} points more than the next of the paper's "
        f"methods at the closest share, {100 * ahead.max():.2f} at the widest; ours is exact",
        verdict_if(bool((ahead >= 0.0).all())),
        "drawn traffic on 40 nodes; the scheme runs to its own stop here, or 5 s",
        _shown(wide, "share"),
    )


def spatial_changes(quick: bool) -> Outcome:
    """Figure 9(c): who gains and who loses when the top tenth has less."""
    wide = _wide(_measured(robustness.spatial, quick))
    changes = 100.0 * (wide.iloc[:, 0] - wide.iloc[:, -1])
    agreed = [name for name, change in _SPREAD.items() if changes[name] * np.sign(change) >= _LEAST]
    return Outcome(
        f"points from share .8 to .2: {_points(changes)}",
        verdict_if(len(agreed) == len(_SPREAD)),
        f"the sign is the paper's for {', '.join(agreed) or 'none'}. A part of POP-64 has "
        f"{_pairs(quick) // 64} pairs here and {_PAIRS // 64:,} there, so no demand is small "
        "beside a part of ours. The learned policy is ours, not Teal",
    )


def _pairs(quick: bool) -> int:
    return _setting(quick).parts[1].pairs


def failures(quick: bool) -> Outcome:
    """Figure 11: all methods fall at each step."""
    wide = _wide(_without_links(quick), "served")
    steps = 100.0 * wide.loc[list(_THEIRS)].diff(axis=1).iloc[:, 1:]
    rises = [
        f"{name} at {x:g}" for x, change in steps.items() for name in change.index[change > -_LEAST]
    ]
    return Outcome(
        f"rises among {steps.size} steps: {', '.join(rises) or 'none'}",
        verdict_if(not rises),
        _same_fraction(quick),
        _shown(wide, "failed"),
    )


def failures_sizes(quick: bool) -> Outcome:
    """Figure 11: how much is lost at each step."""
    wide = _wide(_without_links(quick), "served")
    own = wide.loc[list(_THEIRS)]
    falls = 100.0 * own.rsub(own.iloc[:, 0], axis=0).iloc[:, 1:]
    ranges = list(zip(falls.min(), falls.max(), strict=True))
    good = [_as_large(*ours, *given) for ours, given in zip(ranges, _FALLS, strict=True)]
    words = ", ".join(
        f"{100 * given / _LINKS:.1f} % of the links {low:.1f} to {high:.1f}"
        for given, (low, high) in zip(_FAILED[1:], ranges, strict=True)
    )
    return Outcome(
        f"points lost of all traffic asked for: {words}",
        verdict_if(all(good)),
        f"judged within a factor of two; {_same_fraction(quick)}",
    )


def _same_fraction(quick: bool) -> str:
    network = _failed(quick).parts[0]
    return (
        f"the same fractions of {network.links:,} links fail as of the paper's {_LINKS:,}, in "
        f"{_draws(quick)} draws of traffic and links, of the learned policy in one. Paths are "
        f"found anew, which may serve a little more. Our {network.nodes} nodes are the best "
        "connected of the paper's network, with "
        f"{network.links / network.nodes:.0f} links each in place of {_LINKS / _NODES:.0f}, so "
        "there are more ways around a failed link"
    )


ITEMS = (
    Item(
        "figure 9a",
        "With less central links all serve less: DeDe by .8 to 2.1 %, Teal 2.8 to 4.2 %, Pinning "
        "2.5 to 5.6 %, POP 1 to 12.3 %.",
        "all fall",
        "python -m benchmarks.experiments granularity",
        granularity,
    ),
    Item(
        "figure 9a, pop",
        "Of POP the change is larger than of DeDe.",
        "5.9 times as large",
        "python -m benchmarks.experiments granularity",
        granularity_of_pop,
    ),
    Item(
        "figure 9a, teal",
        "Where links are least central, Teal serves slightly more.",
        "+1.3 %",
        "te.learned_policy(paths, past, objective='flow')",
        granularity_of_teal,
    ),
    Item(
        "figure 9b",
        "Under fluctuation Teal falls most, since it has not seen it in training.",
        "Teal by 12.8 %",
        "python -m benchmarks.experiments temporal",
        temporal,
    ),
    Item(
        "figure 9b, sizes",
        "Under fluctuation DeDe changes by 1.3 to 3.5 %, Pinning by .6 to 3 %, POP by 1 to 1.6 %, "
        "Teal by 12.8 %.",
        "1.3 to 3.5, .6 to 3, 1 to 1.6, 12.8 %",
        "python -m benchmarks.experiments temporal",
        temporal_sizes,
    ),
    Item(
        "figure 9c",
        "When the top tenth has less of the volume, DeDe serves most at every share.",
        "DeDe first at every share",
        "python -m benchmarks.experiments spatial",
        spatial,
    ),
    Item(
        "figure 9c, changes",
        "When the top tenth has less of the volume, Pinning and Teal serve less, POP more.",
        "Pinning -8.3 %, Teal -2.4 %, POP +1.4 %",
        "python -m benchmarks.experiments spatial",
        spatial_changes,
    ),
    Item(
        "figure 11",
        "All methods serve less at each step when 50, 100 and 200 of 8,558 links fail.",
        "all fall",
        "python -m benchmarks.experiments failures",
        failures,
    ),
    Item(
        "figure 11, sizes",
        "50 failed links of 8,558 cost .6 to 1.1 %, 100 1.5 to 2.1 %, 200 3 to 4.2 %.",
        ".6 to 1.1, 1.5 to 2.1, 3 to 4.2 %",
        "python -m benchmarks.experiments failures",
        failures_sizes,
    ),
)
