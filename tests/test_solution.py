"""What a solution says of itself."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

import walras as wl

cs = wl.domains.cluster_scheduling


@pytest.fixture(scope="module")
def solution() -> wl.Solution:
    T = pd.DataFrame(
        [[4.0, 3.0, 1.0], [1.0, 2.0, 1.0]],
        index=["v100", "k80"],
        columns=["speech", "translate", "vision"],
    )
    return wl.solve(
        cs.proportional_fairness(T, np.ones(3), np.ones(2)), tolerance=1e-9, engine="exact"
    )


def test_value_bound_and_gap(solution: wl.Solution) -> None:
    assert solution.value == pytest.approx(np.log(20 / 9 * 5 / 3 * 5 / 6))
    assert solution.value <= solution.bound
    assert solution.gap == pytest.approx((solution.bound - solution.value) / 3, abs=1e-15)
    assert solution.status is wl.Status.OPTIMAL


def test_prices_by_family_and_owner(solution: wl.Solution) -> None:
    prices = solution.prices
    assert prices["capacity"] == pytest.approx([1.8, 1.2], rel=1e-5)
    assert prices.resources == pytest.approx([1.8, 1.2], rel=1e-5)
    assert prices.demands == pytest.approx(prices["time"])
    assert prices["throughput"] == pytest.approx([-0.45, -0.6, -1.2], rel=1e-5)
    assert len(prices.rows) == solution.problem.rows.count
    with pytest.raises(wl.InputError, match=r"no rows named 'space'.*capacity, time, throughput"):
        prices["space"]


def test_prices_are_the_change_of_the_optimum(solution: wl.Solution) -> None:
    T = solution.problem
    more = dataclasses.replace(T.rows, upper=T.rows.upper + np.eye(T.rows.count)[0] * 1e-3)
    grown = wl.solve(dataclasses.replace(T, rows=more), tolerance=1e-10, engine="exact")
    assert (grown.value - solution.value) / 1e-3 == pytest.approx(1.8, rel=2e-3)


def test_frame_and_x_agree(solution: wl.Solution) -> None:
    frame = solution.frame()
    assert list(frame.index) == ["v100", "k80"]
    assert list(frame.columns) == ["speech", "translate", "vision"]
    assert np.array_equal(frame.to_numpy(), solution.x)
    assert solution.x.sum() == pytest.approx(solution.entries.sum())


def test_a_solution_cannot_be_changed(solution: wl.Solution) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        solution.status = wl.Status.FAILED  # type: ignore[misc]


def test_it_prints_on_one_line(solution: wl.Solution) -> None:
    text = str(solution)
    assert "\n" not in text
    for part in ("optimal", "proportional fairness 1.127", "nat a job", "engine exact"):
        assert part in text


def test_insight_is_at_hand(solution: wl.Solution) -> None:
    assert "speech gets" in str(solution.explain("speech"))
    assert list(solution.worth()["row"]) == ["capacity[v100]", "capacity[k80]"]
    assert solution.diff(solution).churn == 0.0


def test_a_leximin_solution_carries_its_levels() -> None:
    s = wl.solve(cs.leximin([[1.0, 10.0, 10.0]], np.ones(3), [2.0]), engine="interior")
    assert [level.value for level in s.levels] == pytest.approx([1.0, 5.0], rel=1e-6)
    assert s.scalars == pytest.approx([1.0], rel=1e-6)
    assert s.gap <= s.tolerance


def test_a_bound_names_who_vouches_for_it(solution: wl.Solution) -> None:
    assert solution.bound_source == "prices"
    assert "bound of" not in str(solution)
    pair = cs.total_throughput(np.array([[3.0, 2.0]]), np.array([2.0, 1.0]), np.array([2.0]))
    whole = wl.solve(pair, integer=True, engine="exact")
    assert whole.value == pytest.approx(3.0)  # the continuous optimum is 3.5
    assert whole.bound_source == "HiGHS"
    assert f"bound of HiGHS {whole.bound:.9g}" in str(whole)


def test_what_is_proved_cannot_be_written_to(solution: wl.Solution) -> None:
    found = solution
    proof = found.certificate
    arrays = (found.x, found.entries, found.scalars, found.prices.rows, found.prices.scalars)
    for array in (*arrays, proof.x, proof.t, proof.prices, proof.reduced):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 77.0
    frame = found.frame()
    frame.iloc[0, 0] = 77.0
    assert found.x[0, 0] != 77.0
