"""Insight against brute force: re-solve with changed data and compare with what was said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.bank.bank import CASES
from tests.bank.statement import Entry, Row, state

import walras as wl
from walras.explain.marginal_values import _change
from walras.explain.sensitivity import Move
from walras.explain.why import _Choice
from walras.separable import Separable, Side, Utility

cs = wl.domains.cluster_scheduling
SHARP = 1e-9


def cluster(seed: int, m: int = 3, n: int = 7) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    T = pd.DataFrame(
        rng.lognormal(0, 0.8, (m, n)),
        index=[f"type{i}" for i in range(m)],
        columns=[f"job{j}" for j in range(n)],
    )
    return T, rng.choice([1.0, 2.0], n), rng.uniform(0.8, 1.6, m)


def with_bound(problem: Separable, row: int, bound: float) -> Separable:
    upper = problem.rows.upper.copy()
    upper[row] = bound
    return replace(problem, rows=replace(problem.rows, upper=upper))


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [dict(row) for row in table.to_dict("records")]  # type: ignore[arg-type]


def cell(table: pd.DataFrame, row: str, column: str) -> Any:
    return table.loc[row, column]


def sharp(problem: Separable) -> wl.Solution:
    return wl.solve(problem, tolerance=SHARP, engine="exact", threads=1)


@pytest.mark.parametrize("objective", ["max_min", "total_throughput"])
@pytest.mark.parametrize("seed", range(4))
def test_a_linear_price_holds_in_its_range_and_not_beyond(objective: str, seed: int) -> None:
    problem = getattr(cs, objective)(*cluster(seed))
    s = sharp(problem)
    table = s.worth()
    assert list(table["row"]) == [f"capacity[type{i}]" for i in range(3)]
    assert set(table["basis"]) == {"exact range"}
    for i, row in enumerate(records(table)):
        bound = problem.rows.upper[i]
        up, down = min(row["holds_up"], bound), min(row["holds_down"], bound)
        for share in (0.5, 0.99):
            for step in (share * up, -share * down):
                moved = sharp(with_bound(problem, i, bound + step))
                assert moved.value == pytest.approx(s.value + row["price"] * step, rel=1e-6)
        # The value is concave in the bound: past the range it lies below the price's line.
        if row["price"] > 0 and up < bound:
            beyond = sharp(with_bound(problem, i, bound + 1.5 * up + 0.01)).value
            assert beyond < s.value + row["price"] * (1.5 * up + 0.01) - 1e-7


def changes_over_the_range(problem: Separable) -> list[tuple[str, float, float]]:
    """Basis, and how the price has changed, as a share, where it holds no more: up and down."""
    out = []
    for i, row in enumerate(records(sharp(problem).worth())):
        steps = row["holds_up"], -row["holds_down"]
        ends = [sharp(with_bound(problem, i, problem.rows.upper[i] + step)) for step in steps]
        up, down = (float(end.prices["capacity"][i] / row["price"] - 1.0) for end in ends)
        out.append((row["basis"], up, down))
    return out


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("seed", range(4))
def test_a_curved_price_changes_by_a_tenth_at_most_over_its_range(alpha: float, seed: int) -> None:
    for basis, up, down in changes_over_the_range(cs.alpha_fair(*cluster(seed), alpha=alpha)):
        assert basis in ("10 % change", "at least")
        assert -0.1 - 1e-4 <= up <= 1e-4
        assert -1e-4 <= down <= 0.1 + 1e-4


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0, 5.0])
def test_a_curved_price_changes_by_a_tenth_at_the_end_of_its_range(alpha: float) -> None:
    """One type: nothing else can come into use, and the price is a power of the capacity."""
    problem = cs.alpha_fair(np.full((1, 6), 2.0), np.ones(6), [3.0], alpha=alpha)
    ((basis, up, down),) = changes_over_the_range(problem)
    assert basis == "10 % change"
    assert (up, down) == pytest.approx((-0.1, 0.1), abs=1e-5)


def test_prices_of_mixed_curvature_change_by_a_tenth_nearly() -> None:
    """A logarithm and a square share a resource: no power law holds exactly."""
    problem = state(
        [Entry(0, 0), Entry(0, 1)],
        [
            Row("capacity[r0]", {0: 1.0, 1: 1.0}, upper=1.0, side=Side.RESOURCE),
            Row("log[d0]", {0: 1.0}, utility=Utility.LOG),
            Row("square[d1]", {1: 1.0}, utility=Utility.QUADRATIC, weight=2.0, parameter=2.0),
        ],
    )
    ((basis, up, down),) = changes_over_the_range(problem)
    assert basis == "10 % change"
    assert (up, down) == pytest.approx((-0.1, 0.1), abs=2e-3)


@pytest.mark.parametrize("objective", [cs.max_min, cs.proportional_fairness, cs.total_throughput])
def test_one_more_unit_never_gains_more_than_said(objective: object) -> None:
    problem = objective(*cluster(11))  # type: ignore[operator]
    rough = wl.solve(problem, tolerance=1e-2, engine="interior", threads=1)
    for i, row in enumerate(records(rough.worth())):
        more = sharp(with_bound(problem, i, problem.rows.upper[i] + 1.0))
        assert more.value - rough.value <= row["gain_of_one"] + 1e-9
        assert row["gain_of_one"] >= row["price"]


def test_worth_by_hand() -> None:
    """max 3a + 2b, a + b <= 1.5, a, b <= 1: the price 2 holds for b between 0 and 1."""
    problem = next(case.base for case in CASES if case.name == "knapsack")
    row = records(sharp(problem).worth())[0]
    assert row["price"] == pytest.approx(2.0)
    assert row["utilisation"] == pytest.approx(1.0)
    assert (row["holds_up"], row["holds_down"]) == pytest.approx((0.5, 0.5))
    assert row["gain_of_one"] == pytest.approx(2.0)


def test_prices_of_a_minimum_and_of_idle_and_doubled_rows() -> None:
    problem = state(
        [Entry(0, 0, 2.0), Entry(1, 0, 3.0)],
        [
            Row("least[r0]", {0: 1.0}, lower=1.0, side=Side.RESOURCE),
            Row("most[r0]", {0: 1.0}, upper=9.0, side=Side.RESOURCE),
            Row("idle[r1]", {1: 1.0}, upper=4.0, side=Side.RESOURCE),
        ],
    )
    table = sharp(problem).worth().set_index("row")
    assert cell(table, "least[r0]", "price") == pytest.approx(2.0)
    # Loosening a minimum lowers it: to zero; tightening meets the row of 9.
    assert cell(table, "least[r0]", "holds_up") == pytest.approx(1.0)
    assert cell(table, "least[r0]", "holds_down") == pytest.approx(8.0)
    assert cell(table, "idle[r1]", "holds_up") == np.inf
    assert cell(table, "idle[r1]", "holds_down") == pytest.approx(4.0)
    twice = next(case.base for case in CASES if case.name == "the same capacity twice")
    assert np.isfinite(sharp(twice).worth()["price"]).all()


def test_an_explanation_adds_up() -> None:
    T, size, capacity = cluster(5)
    for problem in (
        cs.proportional_fairness(T, size, capacity),
        cs.max_min(T, size, capacity),
        cs.total_throughput(T, size, capacity),
    ):
        s = sharp(problem)
        for j, name in enumerate(T.columns):
            told = s.explain(name)
            assert told.demand == s.explain(j).demand == name
            table = told.frame()
            amounts = table.set_index("resource")["amount"].reindex(T.index)
            assert amounts.to_numpy() == pytest.approx(s.x[:, j])
            # Entries in use break even, the others cost at least what they bring.
            assert (table.loc[table["used"], "reduced_cost"].abs() <= 1e-5).all()
            assert (table["reduced_cost"] >= -1e-6).all()
            for key, level in told.reached.items():
                assert key == f"throughput[{name}]"
                assert level == pytest.approx(T.iloc[:, j].to_numpy() @ s.x[:, j])
            own = told.rows[told.rows["own"]]
            assert list(own["row"]) == [f"time[{name}]"]
            assert told.price == pytest.approx(s.prices.demands[j], abs=1e-9)
            assert {f"capacity[{r}]" for r in T.index} <= set(told.rows["row"])


def test_a_miss_is_what_would_make_the_demand_switch() -> None:
    """Speeding a job up on its next best type by its miss makes it break even there."""
    T, size, capacity = cluster(8)
    s = sharp(cs.proportional_fairness(T, size, capacity))
    job = next(j for j in T.columns if (~s.explain(j).frame()["used"]).any())
    table = s.explain(job).frame()
    other = records(table[~table["used"]])[0]
    assert other["misses_by"] > 1e-3
    for factor, moves in ((0.98, False), (1.02, True)):
        faster = T.copy()
        faster[job] *= np.where(T.index == other["resource"], 1 + factor * other["misses_by"], 1)
        again = sharp(cs.proportional_fairness(faster, size, capacity))
        amount = cell(again.frame(), other["resource"], job)
        assert (amount > 1e-5) == moves


def test_the_text_names_what_binds() -> None:
    T = pd.DataFrame(
        [[4.0, 3.0, 1.0], [1.0, 2.0, 1.0]],
        index=["v100", "k80"],
        columns=["speech", "translate", "vision"],
    )
    s = sharp(cs.proportional_fairness(T, np.ones(3), np.ones(2)))
    assert str(s.explain("speech")).splitlines() == [
        "speech gets 0.5556 of v100.",
        "throughput[speech] is 2.22222; one more unit of it would add 0.45 to the objective.",
        "time[speech] does not bind: 0.5556 of 1.",
        "capacity[v100] binds at 1, price 1.8.",
        "capacity[k80] binds at 1, price 1.2.",
        "v100: a unit brings 1.8 and costs 1.8.",
        "next best: k80: a unit brings 0.45 and costs 1.2: misses by 167 %.",
    ]


def test_the_text_names_a_quota_that_binds() -> None:
    T = pd.DataFrame([[40.0, 12.0, 30.0], [10.0, 9.0, 8.0]], ["v100", "k80"], list("abc"))
    quota = cs.Quota(groups={"u": ["a", "b"]}, limits={"u": 0.5})
    s = sharp(cs.max_min(T, np.ones(3), np.ones(2), quota=quota))
    assert "quota[u] binds at 0.5, price 9.231." in str(s.explain("a")).splitlines()


@pytest.mark.parametrize("engine", ["interior", "exact"])
def test_a_demand_of_leximin_is_explained_at_the_prices_of_its_level(engine: str) -> None:
    problem = cs.leximin([[4, 1, 1], [1, 1, 2]], [1, 1, 1], [1, 1])
    s = wl.solve(problem, engine=engine, threads=1)
    lines = str(s.explain(0)).splitlines()
    assert lines[:4] == [
        "0 gets 0.3333 of 0.",
        "It is held at level 2 of 2, 1.33333; prices are of that level.",
        "throughput[0] is 1.33333; one more unit of it would add 0.3333 to the objective.",
        "time[0] does not bind: 0.3333 of 1.",
    ]
    assert sorted(lines[4:6]) == [f"capacity[{k}] binds at 1, price 1.333." for k in (0, 1)]
    assert lines[6:] == [
        "0: a unit brings 1.333 and costs 1.333.",
        "next best: 1: a unit brings 0.3333 and costs 1.333: misses by 300 %.",
    ]
    assert "at level 1 of 2, 1; prices are of that level." in str(s.explain(1))
    assert s.prices.rows == pytest.approx(s.levels[0].prices)
    alone = wl.solve(replace(problem, levels=1), engine=engine, threads=1)
    assert "level" not in str(alone.explain(0))


def test_what_levels_before_hold_is_no_choice_and_what_no_level_holds_is_said() -> None:
    rng = np.random.default_rng(0)
    T = rng.lognormal(0, 1, (4, 12)) * (rng.random((4, 12)) < 0.5)
    T[0, T.sum(axis=0) == 0] = 1.0
    problem = cs.leximin(T, np.ones(12), np.full(4, 2.0), levels=20)
    s = wl.solve(problem, engine="interior", threads=1)
    kept = 0
    for j in range(12):
        told = s.explain(j)
        first = told.choices[~told.choices["used"]].head(1)
        pays = bool((first["reduced_cost"] < -0.1 * first["benefit"]).any())
        assert str(told).endswith("but is kept for the levels before.") == pays
        kept += pays
    assert kept > 0
    none = replace(s, levels=tuple(replace(k, frozen=k.frozen & False) for k in s.levels))
    words = f"It is held at none of the {len(s.levels)} levels; prices are of the first."
    assert words in str(none.explain(0)).splitlines()


def test_unknown_demands_are_named_with_close_ones() -> None:
    T, size, capacity = cluster(1)
    s = sharp(cs.max_min(T, size, capacity))
    with pytest.raises(wl.InputError, match=r"no demand named 'job_3'.*job3"):
        s.explain("job_3")
    with pytest.raises(wl.InputError, match="0 to 6"):
        s.explain(7)
    for wrong in (None, 1.5, True):
        with pytest.raises(wl.InputError, match="demand: is "):
            s.explain(wrong)  # type: ignore[arg-type]
    with pytest.raises(wl.InputError, match="other: is 3"):
        s.diff(3)  # type: ignore[arg-type]


def test_a_round_without_change_has_no_difference() -> None:
    s = sharp(cs.proportional_fairness(*cluster(2)))
    d = s.diff(s)
    assert d.churn == 0.0
    assert d.frame().empty
    assert d.began == d.ceased == d.arrived == d.departed == ()
    assert (d.prices["change"] == 0).all()


def test_a_dearer_resource_is_the_reason() -> None:
    T = pd.DataFrame(
        [[4.0, 3.0], [1.0, 2.0]], index=["v100", "k80"], columns=["speech", "translate"]
    )
    before = sharp(cs.total_throughput(T, [1.0, 1.0], [2.5, 1.0]))
    now = sharp(cs.total_throughput(T.assign(graph=[9.0, 1.0]), [1.0, 1.0, 1.0], [2.0, 1.0]))
    d = now.diff(before)
    assert d.arrived == ("graph",)
    assert d.departed == ()
    assert d.churn == pytest.approx(1.0)  # translate moves from the one to the other
    told = d.frame().set_index("demand")
    assert (cell(told, "translate", "lost"), cell(told, "translate", "gained")) == ("v100", "k80")
    assert "v100 became dearer: 0 -> " in cell(told, "translate", "reason")
    assert cell(told, "graph", "change") == "arrived"
    assert "capacity[v100]" in d.began
    assert records(d.prices)[0]["change"] == pytest.approx(d.prices["change"].abs().max())
    assert d.values == pytest.approx((before.value, now.value))
    first = f"from the solution given to this one: total throughput {before.value:.6g} -> "
    assert str(d).startswith(f"{first}{now.value:.6g}\n")
    assert "differ" not in str(d)
    for part in ("1 units moved among 1 demands; 1 arrived, 0 departed.", "arrived: graph"):
        assert part in str(d)


def test_other_objectives_are_told() -> None:
    T, size, capacity = cluster(4)
    fair, total = (
        sharp(aim(T, size, capacity)) for aim in (cs.proportional_fairness, cs.total_throughput)
    )
    d = total.diff(fair)
    assert d.objectives == ("proportional fairness", "total throughput")
    said = str(d).splitlines()
    assert said[0] == (
        f"from the solution given (proportional fairness {fair.value:.6g}) to this one "
        f"(total throughput {total.value:.6g})"
    )
    assert said[1].startswith("The objectives differ")


def test_churn_counts_matched_demands_by_name_only() -> None:
    T, size, capacity = cluster(4)
    before = sharp(cs.proportional_fairness(T, size, capacity))
    order = list(T.columns[1:])[::-1]
    position = np.arange(len(T.columns))[1:][::-1]
    now = sharp(cs.proportional_fairness(T[order], size[position], capacity))
    d = now.diff(before)
    moved = (now.frame()[order] - before.frame()[order]).abs().to_numpy().sum() / 2
    assert d.churn == pytest.approx(moved)
    assert d.departed == ("job0",)
    told = d.frame().set_index("demand")
    gone = before.frame()["job0"].sum()
    assert cell(told, "job0", "moved") == pytest.approx(gone)
    stayed = told[told["change"] == "moved"]
    assert stayed["reason"].str.len().gt(0).all()
    for row in records(stayed.reset_index()):
        delta = now.frame()[row["demand"]] - before.frame()[row["demand"]]
        assert row["gained"] == (delta.idxmax() if delta.max() > 1e-6 else "")


def test_resources_that_came_or_went_are_the_reason() -> None:
    T, size, capacity = cluster(6)
    full = sharp(cs.proportional_fairness(T, size, capacity))
    less = sharp(cs.proportional_fairness(T.drop(index="type1"), size, capacity[[0, 2]]))
    reasons = " ".join(less.diff(full).frame()["reason"])
    assert "type1 is gone" in reasons
    assert "type1 is new" in " ".join(full.diff(less).frame()["reason"])


def test_a_number_beyond_all_indices_is_a_label() -> None:
    T = pd.DataFrame(np.ones((1, 2)), columns=[101, 102])
    s = wl.solve(cs.max_min(T, [1.0, 1.0], [1.0]))
    assert s.explain(102).demand == s.explain(1).demand == "102"
    with pytest.raises(wl.InputError, match="demand: is 103"):
        s.explain(103)


def test_a_range_beyond_all_numbers_is_without_end() -> None:
    """(1 + u/c)^-k with k towards 0 hardly falls: where u is e to the 1e8, there is no end."""
    move = Move(np.zeros(0), np.zeros(0), np.zeros(0), price=-1e-6, bend=1.0)
    assert _change(move, 1e-3, 0.1) < _change(move, 1e-3, -0.1) == np.inf
    assert _change(replace(move, bend=1e-300), 1e-3, -0.1) == pytest.approx(100.0)
    assert np.isfinite(_change(replace(move, price=-1e-170), 1.0, 0.1))
    # The price of this capacity bends where it hardly moves.
    quota = cs.Quota({"a": [0, 1, 2], "b": [0, 1]}, {"a": 7.390765, "b": 39.99})
    problem = cs.alpha_fair(
        [[0.32235222, 21.88697859, 1.21486586, 0.43437221]],
        [64, 1, 8, 64],
        [1.0],
        alpha=5,
        quota=quota,
        previous=[[0.00130565, 0, 0.62649521, 0.44867524]],
        churn=1.0,
    )
    assert np.all(wl.solve(problem).worth()[["holds_up", "holds_down"]] >= 0)


def test_a_job_with_nothing_and_a_level_of_nothing_have_their_worth() -> None:
    """y f'(y) of a root is 0 at y = 0, and a scalar of 0 has no reach; neither is a warning."""
    idle = cs.alpha_fair(
        [[1.0, 1.0, 1.0]], [4, 8, 8], [1.6], alpha=0.1, previous=[[0.22, 0.46, 0]], churn=10
    )
    held = cs.min_makespan(
        [[1.0, 2.0]], [1, 1], [1.0], steps=[3, 4], previous=[[0.5, 0.0]], churn=1e20
    )
    for problem in (idle, held):
        table = wl.solve(problem).worth()
        assert np.all(np.isfinite(table["price"]))


def test_what_one_more_unit_of_throughput_adds_is_the_utilitys_slope() -> None:
    # One resource of 1, three jobs of speed 6: each has a third, throughput 2.
    fair = sharp(cs.proportional_fairness(np.full((1, 3), 6.0), np.ones(3), [1.0]))
    found = fair.explain(0)
    assert list(found.reached.values()) == pytest.approx([2.0])
    assert list(found.marginal.values()) == pytest.approx([0.5], rel=1e-6)  # d log y / dy
    # The level of max-min is held by all three alike: their marginals sum to one.
    least = sharp(cs.max_min(np.full((1, 3), 6.0), np.ones(3), [1.0]))
    parts = [least.explain(j) for j in range(3)]
    assert [next(iter(p.reached.values())) for p in parts] == pytest.approx([2.0] * 3)
    marginal = [next(iter(p.marginal.values())) for p in parts]
    assert min(marginal) >= 0.0
    assert sum(marginal) == pytest.approx(1.0)


def test_several_entries_for_one_resource_are_one_choice_whose_amounts_add() -> None:
    problem = state(
        [
            Entry(0, 0, cost=-3.0, upper=0.4),
            Entry(0, 0, cost=-2.0, upper=0.3),
            Entry(1, 0, cost=-1.0),
        ],
        [
            Row("capacity[r0]", {0: 1.0, 1: 1.0}, upper=2.0, side=Side.RESOURCE),
            Row("capacity[r1]", {2: 1.0}, upper=0.25, side=Side.RESOURCE),
        ],
    )
    choices = sharp(problem).explain(0).choices.set_index("resource")
    assert choices.loc["r0", "amount"] == pytest.approx(0.7)
    assert choices.loc["r1", "amount"] == pytest.approx(0.25)
    assert choices["used"].all()
    # What is used by any of its entries is used; what none of them uses is not.
    idle = state(
        [Entry(0, 0, cost=-3.0), Entry(1, 0, cost=1.0), Entry(1, 0, cost=2.0)],
        [
            Row("capacity[r0]", {0: 1.0}, upper=1.0, side=Side.RESOURCE),
            Row("capacity[r1]", {1: 1.0, 2: 1.0}, upper=1.0, side=Side.RESOURCE),
        ],
    )
    choices = sharp(idle).explain(0).choices.set_index("resource")
    assert bool(choices.loc["r0", "used"])
    assert not bool(choices.loc["r1", "used"])
    assert choices.loc["r1", "amount"] == pytest.approx(0.0)


LINES: list[tuple[dict[str, Any], bool, str]] = [
    ({"benefit": 0.0, "cost": 0.0}, False, "gpu: a unit more brings and costs nothing."),
    ({"benefit": -1.0, "cost": 0.0}, False, "gpu: a unit more brings and costs nothing."),
    ({"benefit": 0.0, "cost": 1.0}, False, "gpu: a unit brings 0 and costs 1: it brings nothing."),
    ({"benefit": 2.0, "cost": 2.0, "used": True}, False, "gpu: a unit brings 2 and costs 2."),
    ({"benefit": 2.0, "cost": 2.0}, False,
     "gpu: a unit brings 2 and costs 2: as good as those in use."),
    ({"benefit": 2.0, "cost": 3.0, "reduced_cost": 1.0}, False,
     "gpu: a unit brings 2 and costs 3: misses by 50 %."),
    ({"benefit": 2.0, "cost": 1.0, "reduced_cost": -1.0}, False,
     "gpu: a unit brings 2 and costs 1: as good as those in use."),
    ({"benefit": 2.0, "cost": 1.0, "reduced_cost": -1.0}, True,
     "gpu: a unit brings 2 and costs 1, but is kept for the levels before."),
    ({"benefit": 2.0, "cost": 2.0, "reduced_cost": -1e-3}, True,
     "gpu: a unit brings 2 and costs 2: as good as those in use."),
    ({"benefit": 2.0, "cost": 2.0, "reduced_cost": -2.1e-3}, True,
     "gpu: a unit brings 2 and costs 2, but is kept for the levels before."),
    ({"benefit": 1.0, "cost": 1.0, "reduced_cost": 1.1e-6}, False,
     "gpu: a unit brings 1 and costs 1: misses by 0.00011 %."),
]  # fmt: skip


@pytest.mark.parametrize(("facts", "is_later", "words"), LINES)
def test_a_choice_in_words(facts: dict[str, Any], words: str, *, is_later: bool) -> None:
    plain: dict[str, Any] = {
        "resource": "gpu",
        "amount": 0.0,
        "reduced_cost": 0.0,
        "misses_by": 0.0,
        "used": False,
    }
    assert _Choice(**(plain | facts)).line(is_later=is_later) == words
