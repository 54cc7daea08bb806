"""What a training came to, and whether its data are synthetic."""

from __future__ import annotations

import math

from walras.learn.fitting import FittedModel
from walras.predict import Recipe, Tasks
from walras.reports.tables import Cell


def facts_of(learned: FittedModel) -> dict[str, Cell]:
    """How a model was trained and what that bought on validation rounds, by name."""
    facts: dict[str, Cell] = {
        "method": learned.settings.method,
        "model": str(learned.settings.model),
        "floor of mean success": learned.terms.floor,
        "margin": learned.margin,
    }
    if learned.history:
        facts["validation regret, start"] = learned.history[0][1]
        facts["validation regret, kept"] = learned.value
    predictor = learned.predictor
    named = zip(predictor.clusters, predictor.radius.tolist(), strict=True)
    short = [name for name, radius in named if radius == math.inf]
    return facts | ({"too few tasks for intervals on": ", ".join(short)} if short else {})


def headline(data: Recipe | Tasks, title: str = "") -> str:
    """A title that says whether the data are synthetic."""
    drawn = "synthetic data, drawn from fitted models" if synthetic(data) else ""
    return "; ".join(part for part in (drawn, title) if part)


def synthetic(data: Recipe | Tasks) -> dict[str, Cell]:
    """The fact that data are synthetic, where they are."""
    return {"synthetic": True} if isinstance(data, Recipe) and data.synthetic else {}
