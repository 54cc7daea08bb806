"""From predictions to placements: the decoders, and margins tuned on validation rounds."""

from __future__ import annotations

import numpy as np

from walras.learn.settings import LearnSettings
from walras.learn.training_problem import MARGINS, Evaluator
from walras.types import Floats, Ints


def placed_by(
    evaluator: Evaluator,
    times: Floats,
    success: Floats,
    settings: LearnSettings,
    margin: float | None = None,
) -> Ints:
    """(rounds, tasks) placements of an evaluator's rounds on (clusters, tasks) predictions.

    Args:
        evaluator: Whose rounds.
        times: Predicted seconds of its tasks.
        success: Predicted chances. Under ``objective="sum"`` chances are known, as in SPO+ and
            black-box differentiation: the tasks' own count wherever they were measured.
        settings: The decoder, and for ``relaxed`` the smoothing.
        margin: Added to the floor; the settings', or 0 while that is to be tuned, if None.
    """
    own = settings.margin if margin is None else margin
    by = 0.0 if isinstance(own, str) else own
    t, a = evaluator.of(times), evaluator.of(success)
    if evaluator.terms.objective == "sum":
        a = np.where(np.isnan(evaluator.truth[1]), a, evaluator.truth[1])
    if settings.decoder == "relaxed" and evaluator.terms.objective == "makespan":
        return _largest_shares(evaluator, t, a, settings, by)
    return evaluator.terms.place(t, a, settings.decoder, by)


def _largest_shares(
    evaluator: Evaluator, t: Floats, a: Floats, settings: LearnSettings, margin: float
) -> Ints:
    # Imported here: torch is an optional extra.
    from walras.learn.losses import smoothing_of  # noqa: PLC0415
    from walras.matching import relaxed_match  # noqa: PLC0415

    found = relaxed_match(
        t,
        a,
        min(max(evaluator.terms.floor + margin, 0.0), 1.0),
        smoothing_of(settings),
        speedup=settings.speedup,
        scale=np.full(len(t), evaluator.terms.scale),
        mode="paper" if settings.mode == "paper" else "newton",
        iterations=settings.iterations,
        rate=settings.rate,
        tolerance=1e-9,
    )
    return np.asarray(found.x.argmax(1).cpu().numpy(), dtype=np.int32)


def tuned_margin(
    evaluator: Evaluator, times: Floats, success: Floats, settings: LearnSettings
) -> float:
    """The margin of least regret on an evaluator's rounds; 0 unless another is better.

    Args:
        evaluator: Of validation rounds.
        times: (clusters, tasks) predicted seconds of its tasks.
        success: Predicted chances.
        settings: The decoder; a margin that is no longer ``tuned`` is returned as it is.
    """
    if not isinstance(settings.margin, str):
        return float(settings.margin)
    found = {
        margin: evaluator.regret(
            placed_by(evaluator, times, success, settings, margin), settings.decoder
        )
        for margin in (0.0, *MARGINS[MARGINS != 0.0].tolist())
    }
    return float(min(found, key=lambda margin: found[margin]))
