"""Why a demand has what it has: choices, prices and words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.bank.statement import Entry, Row, state
from tests.explain.rounds import cell, cluster, cs, records, sharp

import walras as wl
from walras.explain.why import _Choice
from walras.separable import Side


def test_an_explanation_adds_up() -> None:
    T, size, capacity = cluster(5)
    for problem in (
        cs.proportional_fairness(T, size, capacity),
        cs.max_min(T, size, capacity),
        cs.total_throughput(T, size, capacity),
    ):
        s = sharp(problem)
        for j, name in enumerate(T.columns):
            explained = s.explain(name)
            assert explained.demand == s.explain(j).demand == name
            table = explained.frame()
            amounts = table.set_index("resource")["amount"].reindex(T.index)
            assert amounts.to_numpy() == pytest.approx(s.x[:, j])
            # Entries in use break even, the others cost at least what they bring.
            assert (table.loc[table["used"], "reduced_cost"].abs() <= 1e-5).all()
            assert (table["reduced_cost"] >= -1e-6).all()
            for key, level in explained.reached.items():
                assert key == f"throughput[{name}]"
                assert level == pytest.approx(T.iloc[:, j].to_numpy() @ s.x[:, j])
            own = explained.rows[explained.rows["own"]]
            assert list(own["row"]) == [f"time[{name}]"]
            assert explained.price == pytest.approx(s.prices.demands[j], abs=1e-9)
            assert {f"capacity[{r}]" for r in T.index} <= set(explained.rows["row"])


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
        explained = s.explain(j)
        first = explained.choices[~explained.choices["used"]].head(1)
        pays = bool((first["reduced_cost"] < -0.1 * first["benefit"]).any())
        assert str(explained).endswith("but is kept for the levels before.") == pays
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


def test_a_number_beyond_all_indices_is_a_label() -> None:
    T = pd.DataFrame(np.ones((1, 2)), columns=[101, 102])
    s = wl.solve(cs.max_min(T, [1.0, 1.0], [1.0]))
    assert s.explain(102).demand == s.explain(1).demand == "102"
    with pytest.raises(wl.InputError, match="demand: is 103"):
        s.explain(103)


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
