"""Comparisons as TOML files: rates, seeds and policies, and what is refused."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from walras import DataError, InputError
from walras.simulate import Slots, TaskTrace
from walras.simulate.compare.study import EXAMPLE, EXAMPLE_PLACED, read_study, study
from walras.simulate.scenario import read_scenario


def test_rates_are_traces_that_are_drawn_by_seed() -> None:
    tables = tomllib.loads(EXAMPLE)
    tables["trace"] |= {"jobs": 5, "synthetic": True}
    found = study(tables)
    slow, fast = found.draws().values()
    assert not isinstance(slow, type(found))
    assert slow(seed=1).arrival == pytest.approx(3 * fast(seed=1).arrival)
    assert found.policies["max-min by speed"] == {"name": "las", "by_speed": True}
    assert found.settings == {"round_seconds": 360}
    assert found.make_cluster().counts == {"v100": 6, "p100": 6, "k80": 6}


def test_one_policy_and_one_seed_are_enough() -> None:
    found = study({"policy": {"name": "las", "by_speed": True}, "run": {"seed": 4}})
    assert found.seeds == (4,)
    assert list(found.policies) == ["las (by_speed=True)"]
    assert list(found.traces) == ["trace"]


def test_a_placed_world_draws_tasks_for_its_clusters() -> None:
    tables = tomllib.loads(EXAMPLE_PLACED)
    tables["trace"]["tasks"] = 5
    found = study(tables)
    assert found.placed
    assert list(found.traces) == ["180 tasks/h", "360 tasks/h"]
    slow, fast = (draw(seed=1) for draw in found.draws().values())
    assert isinstance(slow, TaskTrace)
    assert slow.clusters == ("east", "west")
    assert slow.arrival == pytest.approx(2 * fast.arrival)
    slots = found.make_cluster()
    assert isinstance(slots, Slots)
    assert slots.rules.min_success == 0.8
    assert list(study({"world": {"kind": "placed"}}).policies) == ["exchange"]


@pytest.mark.parametrize(
    "bad",
    [
        {"policy": [{"name": "las"}, {"name": "las"}]},
        {"policy": ["las"]},
        {"policy": [{"label": "x"}]},
        {"policy": [{"name": "las", "label": 3}]},
        {"policy": [{"name": "las", "label": ""}]},
        {"policy": [{"name": "las", "label": " "}]},
        {"run": {"seed": 1, "seeds": [0, 1]}},
        {"trace": {"seed": 3}},
        {"trace": {"seed": 3}, "run": {"seed": 1}},
        {"cluster": {"file": "nodes.csv", "v100": 3}},
        {"cluster": {"v100": 3}, "policy": {"name": "las"}, "run": {"failures": {"betwen": 3}}},
        {"run": {"seeds": []}},
        {"run": {"seeds": [0.5]}},
        {"run": {"sedes": [1]}},
        {"other": {}},
        {"trace": 3},
        {"world": 3},
        {"world": {"kind": "place"}},
        {"world": {"kind": "placed"}, "trace": {"jobs": 3}},
        {"world": {"kind": "placed"}, "run": {"restart_seconds": 3.0}},
    ],
)
def test_other_things_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        study(bad)


def test_files_are_found_from_the_folder(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text('[trace]\nfile = "jobs.trace"\n', "utf-8")
    assert read_study(path).traces["trace"].trace["file"] == str(tmp_path / "jobs.trace")
    policy = {"name": "predicted", "policy": "own.py:first", "throughputs": "speeds.csv"}
    table = "\n".join(f'{name} = "{value}"' for name, value in policy.items())
    own = f"{tmp_path / 'own.py'}:first"
    located = policy | {"policy": own, "throughputs": str(tmp_path / "speeds.csv")}
    path.write_text(f"[policy]\n{table}\n", "utf-8")
    assert list(read_study(path).policies.values()) == [located]
    assert read_scenario(path).policy == located
    path.write_text('[policy]\nname = "own.py:first"\n', "utf-8")
    assert read_study(path).policies == {"own.py:first": {"name": own}}
    assert read_scenario(path).policy == {"name": own}
    path.write_text("[trace\n", "utf-8")
    with pytest.raises(DataError):
        read_study(path)


@pytest.mark.parametrize("rates", [["a"], [[1.0]], [2.0, float("nan")], [2.0, 2.0000001], [0]])
def test_rates_are_numbers_that_differ(rates: list[Any]) -> None:
    with pytest.raises(InputError, match=r"study\.trace\.rate"):
        study({"trace": {"rate": rates}})
