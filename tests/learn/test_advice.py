"""Advice by cross-validation, and fit("auto")."""

from __future__ import annotations

from typing import Any

import numpy as np

from walras.learn import Advice, Finding, LearnSettings, advise, fit
from walras.predict import Recipe, Tasks
from walras.progress import counts


def test_every_candidate_is_measured_and_the_plain_class_is_beaten_only_by_what_pays(
    small: Recipe, quick: dict[str, Any]
) -> None:
    seen: list[tuple[int, int]] = []
    found = advise(
        small, tasks_per_round=4, epochs=3, on_progress=counts(lambda *k: seen.append(k)), **quick
    )
    frame = found.frame()
    assert seen == [(k, 8) for k in range(1, 9)]
    assert list(frame["what"][:3]) == ["linear", "counts", "mlp"]
    best = frame["what"][:3][frame["regret"][:3].argmin()]
    assert all(name.startswith(f"{best}: ") for name in frame["what"][3:])
    assert frame["chosen"].sum() == 1
    chosen = frame[frame["chosen"]].iloc[0]
    assert chosen["what"] == best or chosen["pays"]
    plain = frame["regret"][frame["what"] == best].iloc[0]
    np.testing.assert_allclose(plain - frame["regret"][3:], frame["gain"][3:], atol=1e-12)
    again = advise(small, tasks_per_round=4, epochs=3, **quick)
    assert again.frame().equals(frame)


def test_auto_trains_what_is_advised(small: Recipe, quick: dict[str, Any]) -> None:
    learned = fit("auto", small, tasks_per_round=4, model="linear", **quick)
    advice = Advice(learned.choice)
    assert learned.settings == advice.best.settings
    assert learned.settings.model == "linear"
    assert learned.times(small.test).shape == (3, 150)


def test_a_log_of_ones_own_is_cross_validated(small: Recipe, quick: dict[str, Any]) -> None:
    own = Tasks(
        small.test.names, small.clusters, small.test.features, small.test.times, small.test.success
    )
    names = advise(own, tasks_per_round=4, model="linear", **quick).frame()["what"]
    assert "linear: decision-focused" in list(names)


def test_the_best_is_the_least_regret_among_plain_and_paying() -> None:
    def finding(name: str, regret: float, gain: float, error: float) -> Finding:
        return Finding(name, LearnSettings(), regret, gain, error)

    plain = finding("linear", 0.10, 0.0, 0.0)
    unsure = finding("linear: bagging", 0.05, 0.05, 0.06)
    sure = finding("linear: tuned margin", 0.09, 0.01, 0.005)
    assert Advice((plain, unsure)).best is plain
    assert Advice((plain, unsure, sure)).best is sure
