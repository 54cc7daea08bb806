"""The report's section on tasks placed by predictions."""

from __future__ import annotations

import numpy as np
import pandas as pd

from walras import plot, predict
from walras.cli import demo_learning as learning
from walras.cli import demo_placement as placement
from walras.cli.common.output import Table, show
from walras.cli.demo_learning import Taught
from walras.cli.demo_placement import Placing

_REASON = 6  # the column of sentences among the placements
_JUDGED = (
    "Judged by the measured times: makespan, excess over the oracle, mean chance of success, share "
    "of the clusters' time in use; certified gap of the matching, seconds of training."
)


def placing_section(placed: Placing) -> plot.Section:
    """What was placed where, how good that is, and whether the predictions hold.

    Args:
        placed: The demo's first act.
    """
    tables = [
        _drawn(placement.shown(placement.compared(placed)), _JUDGED, strong=0),
        _drawn(placement.placements(placed), placement.LEGEND, frozenset({_REASON})),
    ]
    return plot.Section(
        "Placed before they ever ran", placement.facts(placed), tables, _figures(placed)
    )


def learning_section(taught: Taught) -> plot.Section:
    """What training through the matching bought on rounds of other tasks.

    Args:
        taught: The end of the demo's first act.
    """
    history = pd.DataFrame(taught.after.learned.history, columns=["step", "regret"])
    return plot.Section(
        "Trained through the matching",
        learning.facts(taught),
        [
            _drawn(
                learning.shown(learning.compared(taught)),
                learning.LEGEND,
                strong=len(taught.pupils) - 1,
            )
        ],
        [
            plot.Figure(
                plot.training(history),
                "Elastic regret of rounds of validation tasks while training; the weights that "
                "decode best are kept, so that on these rounds the end is never worse than the "
                "start. The tasks above were not looked at.",
            )
        ],
    )


def _drawn(
    table: Table, caption: str, words: frozenset[int] = frozenset(), strong: int | None = None
) -> plot.Table:
    rows = [[show(cell) for cell in row] for row in table.rows]
    strongest = frozenset() if strong is None else frozenset({strong})
    return plot.Table(table.columns, rows, caption, strongest, words)


def _figures(placed: Placing) -> list[plot.Figure]:
    best = placed.best
    if best.prediction is None or best.held is None:
        return []
    frame = best.prediction.frame().rename(columns={"times": "predicted"})
    frame["measured"] = placed.round.times.T.ravel()
    return [
        plot.Figure(
            plot.predicted_against_measured(frame),
            f"The {len(placed.round)} tasks on every cluster: predicted times with their "
            f"{100 * best.held.level:.0f} % intervals against the measured ones.",
        ),
        plot.Figure(
            plot.reliability_diagram(_reliability(placed)),
            "Outcomes drawn from the composed chances of the tasks kept for judging, by tenths of "
            "the predicted chance; bars are two standard errors.",
        ),
    ]


def _reliability(placed: Placing) -> pd.DataFrame:
    test = placed.recipe.test
    drawn = np.random.default_rng((placed.seed, 5)).random(test.success.shape) < test.success
    return pd.concat(
        [
            predict.reliability_table(way.held.success, drawn.astype(float)).assign(name=way.name)
            for way in placed.ways
            if way.held is not None
        ],
        ignore_index=True,
    )
