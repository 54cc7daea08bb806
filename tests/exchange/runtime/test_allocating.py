"""An allocation as the service computes it: of a draw, of tables, its jobs and explanations."""

from __future__ import annotations

import json
from typing import Any

import pytest

from walras.errors import DataError, InputError
from walras.exchange.runtime.allocating import allocation, thinned
from walras.exchange.runtime.racing import Point

FACTS: dict[str, Any] = {
    "jobs": 40,
    "resources": 16,
    "seed": 0,
    "objective": "max-min",
    "normalise": "none",
    "tolerance": 1e-6,
    "limit": 60.0,
    "highs": True,
}
TABLES = {
    "throughput": "job,v100,k80\nvision,40,10\nspeech,12,9\ntranslation,30,8\n",
    "jobs": "job,size,weight\nvision,1,1\nspeech,1,1\ntranslation,2,1\n",
    "resources": "resource,capacity\nv100,1\nk80,2\n",
}


def _quiet(share: float, note: str, so_far: dict[str, Any] | None = None) -> None:
    assert 0.0 <= share <= 1.0


def test_a_draw_is_solved_beside_highs_and_its_jobs_are_explained() -> None:
    heard: list[tuple[str, dict[str, Any] | None]] = []
    found, answer = allocation(
        FACTS, b"", lambda share, note, so_far=None: heard.append((note, so_far))
    )
    assert (found["ours"]["status"], found["highs"]["status"]) == ("optimal", "Optimal")
    assert found["highs"]["value"] == pytest.approx(found["ours"]["value"], rel=1e-5)
    assert found["least"] == pytest.approx(found["ours"]["value"], rel=1e-5)
    assert found["violation"] <= 1e-9
    assert {note for note, _ in heard} == {"kernels", "states", "solves", "highs"}
    growing = [len(part["ours"]["points"]) for note, part in heard if part and note == "solves"]
    assert growing == sorted(growing)
    assert growing[-1] > 3
    page = answer({"like": "j1", "first": 1, "most": 3})
    assert page["total"] == 11  # j1, j10 to j19
    assert [one["job"] for one in page["items"]] == sorted(
        (one["job"] for one in page["items"]),
        key=[one["job"] for one in answer({"like": "", "first": 0, "most": 40})["items"]].index,
    )
    why = answer({"job": "j7"})
    assert why["words"].startswith("j7 gets ")
    assert sum(why["shares"].values()) <= 1.0 + 1e-9
    assert json.dumps([found, page, why], allow_nan=False)


def test_a_job_that_fits_no_drawn_type_is_left_out() -> None:
    found, _ = allocation(FACTS | {"resources": 2, "jobs": 200, "highs": False}, b"", _quiet)
    assert 150 < found["jobs"] < 200
    assert f"{found['jobs']} jobs" in found["title"]


def test_tables_give_the_value_that_the_guide_shows() -> None:
    facts = FACTS | {"normalise": "gpu", "highs": False}
    found, answer = allocation(facts, json.dumps(TABLES).encode(), _quiet)
    # docs/howto/solve_from_csv.md
    assert found["ours"]["value"] == pytest.approx(1.00322, abs=1e-5)
    assert (found["highs"], found["highs_note"]) == (None, "HiGHS was not asked for")
    assert [one["resource"] for one in found["prices"]] == ["v100", "k80"]
    assert answer({"job": "vision"})["shares"] == {"v100": pytest.approx(0.502, abs=1e-3)}
    with pytest.raises(InputError, match="visions"):
        answer({"job": "visions"})


def test_a_sum_of_logarithms_says_why_highs_does_not_solve_it() -> None:
    found, _ = allocation(FACTS | {"objective": "proportional"}, b"", _quiet)
    assert found["highs"] is None
    assert "sum of logarithms" in found["highs_note"]


def test_what_cannot_be_solved_names_the_table_or_the_limit() -> None:
    wrong = TABLES | {"throughput": "job,v100\nvision,-1\n"}
    with pytest.raises(InputError) as caught:
        allocation(FACTS, json.dumps(wrong).encode(), _quiet)
    assert caught.value.where.startswith("resources, line 3")
    assert "the columns of throughput;" in str(caught.value)
    long = TABLES | {"jobs": "job,size," + "x" * 1000 + "\nvision,1,1\n"}
    with pytest.raises(DataError, match="jobs: has 1,000 characters in the name of a column"):
        allocation(FACTS, json.dumps(long).encode(), _quiet)
    name = {"throughput": f"job,v100\n{'n' * 300},1\n", "jobs": f"job,size\n{'n' * 300},1\n"}
    name |= {"resources": "resource,capacity\nv100,1\n"}
    with pytest.raises(DataError, match="jobs: has a name of 300 characters"):
        allocation(FACTS, json.dumps(name).encode(), _quiet)
    huge = {"throughput": "job,v100\na,1e308\nb,1e308\n", "jobs": "job,size\na,1\nb,1\n"}
    huge |= {"resources": "resource,capacity\nv100,1\n"}
    with pytest.raises(DataError, match=r"throughput: has the number 1e\+308"):
        allocation(FACTS | {"normalise": "none"}, json.dumps(huge).encode(), _quiet)
    many = TABLES | {"jobs": "job,size\n" + ",\n" * 300_000}
    with pytest.raises(DataError, match="jobs: has 600,002 cells"):
        allocation(FACTS, json.dumps(many).encode(), _quiet)
    with pytest.raises(DataError, match="at most 500 here"):
        allocation(FACTS | {"resources": 501}, b"", _quiet)
    with pytest.raises(DataError, match="at most 4,000 here, with 500 types"):
        allocation(FACTS | {"resources": 500, "jobs": 4001}, b"", _quiet)


def test_long_ways_are_thinned_and_keep_their_ends() -> None:
    points: list[Point] = [(float(k), None, 1.0) for k in range(5000)]
    assert (thinned(points)[0], thinned(points)[-1]) == (points[0], points[-1])
    assert thinned(points[:3]) == points[:3]
