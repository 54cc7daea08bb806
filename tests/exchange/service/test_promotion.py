"""Promotion on drawn truth: what is worse is promoted no more often than stated."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from walras.exchange.service.promotion import (
    DAYS,
    FIRST,
    Predictions,
    Runs,
    Verdict,
    judge,
    log_loss,
    look,
    makespans,
    planned,
    time_error,
    worse_by,
)

M = 3
HISTORIES = 500


class Truth:
    """A history of runs: three clusters, rounds of ten, a tenth of the runs drawn among two."""

    def __init__(self, count: int, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.count = count
        rng = self.rng
        self.mean = rng.normal(0.0, 0.5, (M, count)) + 4.0
        self.odds = rng.normal(1.5, 0.8, (M, count))
        cluster = rng.integers(M, size=count)
        k = np.arange(count)
        seconds = np.exp(self.mean[cluster, k] + 0.3 * rng.normal(size=count))
        success = rng.random(count) < 1.0 / (1.0 + np.exp(-self.odds[cluster, k]))
        propensity = np.where(rng.random(count) < 0.1, 0.5, 1.0)
        self.runs = Runs(
            k // 10, cluster, seconds, success.astype(float), propensity, np.ones(count),
            np.full(M, 4.0),
        )  # fmt: skip

    def predicted(
        self, noise: float, shared: np.ndarray | None = None, mix: float = 0.0
    ) -> Predictions:
        """A predictor whose logarithms of times and odds are off by so much."""
        own = self.rng.normal(size=(2, M, self.count))
        off = own if shared is None else mix * shared + np.sqrt(1.0 - mix**2) * own
        mean, odds = self.mean + noise * off[0], self.odds + 2.0 * noise * off[1]
        k = np.arange(self.count)
        reach = 1.645 * np.hypot(0.3, noise)
        at = mean[self.runs.cluster, k]
        return Predictions(
            np.exp(mean), 1.0 / (1.0 + np.exp(-odds)), np.exp(at - reach), np.exp(at + reach)
        )


def history(seed: int, active: float, candidate: float, mix: float = 0.0) -> Verdict:
    """What came of a candidate that was looked at until 1,600 runs."""
    truth = Truth(8 * FIRST, seed)
    shared = truth.rng.normal(size=(2, M, truth.count))
    one = truth.predicted(active, shared, 1.0)
    other = truth.predicted(candidate, shared, mix)
    verdict = Verdict("wait", "")
    for count in (200, 250, 400, 700, 800, 1600):
        verdict = judge(cut(truth.runs, count), told_cut(one, count), told_cut(other, count), 0.0)
        if verdict.decision == "promote":
            return verdict
    return verdict


def cut(runs: Runs, count: int) -> Runs:
    return Runs(
        runs.round[:count], runs.cluster[:count], runs.seconds[:count], runs.success[:count],
        runs.propensity[:count], runs.size[:count], runs.slots,
    )  # fmt: skip


def told_cut(predicted: Predictions, count: int) -> Predictions:
    return Predictions(
        predicted.seconds[:, :count],
        predicted.chance[:, :count],
        predicted.low[:count],
        predicted.high[:count],
    )


def promoted(active: float, candidate: float, mix: float, histories: int = HISTORIES) -> int:
    found = [history(seed, active, candidate, mix) for seed in range(histories)]
    return sum(verdict.decision == "promote" for verdict in found)


def test_noise_is_promoted_no_more_often_than_alpha() -> None:
    """Of 500 histories each, promoted: an equal candidate 0, 5 % more noise 0, 20 % more 0."""
    most = int(stats.binom.ppf(0.999, HISTORIES, 0.05))
    counts = {(b, mix): promoted(0.2, b, mix) for b, mix in ((0.2, 0.0), (0.21, 0.9), (0.24, 0.9))}
    assert max(counts.values()) <= most, counts


def test_a_better_candidate_is_promoted() -> None:
    count = promoted(0.4, 0.05, 0.0, 60)
    assert count >= 40, count


def test_the_upper_end_is_exceeded_as_often_as_stated() -> None:
    """Errors whose true difference is the margin: 4,000 drawings at four levels."""
    rng = np.random.default_rng(0)
    for alpha in (0.05, 0.0125):
        passed = 0
        for _ in range(2000):
            other = rng.gamma(2.0, size=200)
            own = 1.01 * (0.7 * other + 0.3 * rng.gamma(2.0, size=200))
            weight = np.where(rng.random(200) < 0.2, 3.0, 1.0)
            passed += worse_by(own, other, weight, alpha)["upper"] <= 0.01
        assert passed <= stats.binom.ppf(0.9999, 2000, alpha), (alpha, passed)


def test_all_looks_together_promote_what_is_at_the_margin_no_more_often_than_alpha() -> None:
    """500 histories of errors that are larger by the margin, looked at four times: 20 pass."""
    rng = np.random.default_rng(1)
    passed = 0
    for _ in range(HISTORIES):
        other = rng.gamma(2.0, size=1600)
        own = 1.01 * (0.9 * other + 0.1 * rng.gamma(2.0, size=1600))
        ends = [
            worse_by(own[:n], other[:n], np.ones(n), look(n)[1])["upper"]  # type: ignore[index]
            for n in (200, 400, 800, 1600)
        ]
        passed += min(ends) <= 0.01
    assert passed <= stats.binom.ppf(0.999, HISTORIES, 0.05), passed


@pytest.mark.parametrize(
    ("count", "found"),
    [(0, None), (199, None), (200, (200, 0.025)), (399, (200, 0.025)), (400, (400, 0.0125)),
     (6400, (6400, 0.05 / 64))],
)  # fmt: skip
def test_looks_double_and_their_errors_halve(count: int, found: tuple[int, float] | None) -> None:
    assert look(count) == found
    assert sum(0.05 / 2 ** (k + 1) for k in range(60)) <= 0.05


def test_between_looks_nothing_changes() -> None:
    truth = Truth(390, 1)
    one, other = truth.predicted(0.4), truth.predicted(0.05)
    first = judge(cut(truth.runs, 200), told_cut(one, 200), told_cut(other, 200), 0.0)
    assert judge(truth.runs, one, other, 0.0) == first
    assert first.scores["runs"] == 200


def test_a_candidate_waits_for_runs_and_rounds_and_not_for_ever() -> None:
    truth = Truth(200, 2)
    one, other = truth.predicted(0.4), truth.predicted(0.05)
    few = judge(cut(truth.runs, 150), told_cut(one, 150), told_cut(other, 150), 0.0)
    assert (few.decision, few.why) == ("wait", "150 runs of 200")
    runs = truth.runs
    together = Runs(
        runs.round % 19, runs.cluster, runs.seconds, runs.success, runs.propensity, runs.size,
        runs.slots,
    )  # fmt: skip
    assert judge(together, one, other, 0.0).why == "19 rounds of 20"
    late = DAYS * 86400.0 + 1.0
    assert judge(together, one, other, late).decision == "reject"
    worse = judge(runs, other, one, late)
    assert worse.decision == "reject"
    assert worse.why == "the error of time may be larger by more than 1%"


def test_intervals_that_hold_too_often_or_too_rarely_are_not_promoted() -> None:
    truth = Truth(200, 3)
    one, other = truth.predicted(0.5), truth.predicted(0.0)
    for factor in (0.1, 100.0):
        middle = np.sqrt(other.low * other.high)
        wrong = Predictions(
            other.seconds, other.chance, middle * (other.low / middle) ** factor,
            middle * (other.high / middle) ** factor,
        )  # fmt: skip
        named = replace(truth.runs, names=tuple(f"site-{i}" for i in range(M)))
        assert re.fullmatch(
            r"intervals of cluster site-\d hold \d+% of the times, not 85% to 95%",
            judge(named, one, wrong, 0.0).why,
        )
        assert "intervals of cluster" in judge(truth.runs, one, wrong, 0.0).why


def test_errors_are_of_the_cluster_on_which_it_ran() -> None:
    runs = Runs(
        np.zeros(2, int), np.array([1, 0]), np.array([2.0, np.nan]), np.array([1.0, 0.0]),
        np.ones(2), np.ones(2), np.ones(2),
    )  # fmt: skip
    predicted = Predictions(
        np.array([[9.0, 5.0], [4.0, 9.0]]), np.array([[0.1, 0.75], [0.5, 0.1]]),
        np.zeros(2), np.ones(2),
    )  # fmt: skip
    assert time_error(runs, predicted)[0] == pytest.approx(np.log(2.0))
    assert log_loss(runs, predicted) == pytest.approx([np.log(2.0), np.log(4.0)])


def test_the_makespan_is_the_measured_one_where_the_plan_is_what_ran() -> None:
    """Two clusters, two tasks; the draws' chances correct what both predictors get wrong."""
    runs = Runs(
        np.zeros(2, int), np.array([0, 1]), np.array([8.0, 6.0]), np.ones(2), np.ones(2),
        np.ones(2), np.array([1.0, 2.0]),
    )  # fmt: skip
    predicted = Predictions(
        np.array([[3.0, 9.0], [9.0, 3.0]]), np.ones((2, 2)), np.zeros(2), np.ones(2)
    )
    assert makespans(runs, predicted, predicted, np.ones(2, bool)) == (8.0, 8.0)
    swapped = Predictions(predicted.seconds[::-1], predicted.chance, predicted.low, predicted.high)
    active, other = makespans(runs, predicted, swapped, np.ones(2, bool))
    assert active == 8.0
    assert other == pytest.approx(np.sqrt(27.0))  # nothing was measured there


def test_plans_put_the_longest_first_where_it_ends_soonest() -> None:
    seconds = np.array([[4.0, 3.0, 2.0], [4.0, 3.0, 2.0]])
    assert planned(seconds, np.ones(3), np.ones(2)).tolist() == [0, 1, 1]
    assert planned(seconds, np.ones(3), np.array([1.0, 10.0])).tolist() == [1, 1, 1]
