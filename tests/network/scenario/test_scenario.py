"""Scenarios in TOML: what they say, and what is wrong with them when something is."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

from walras import network as wn
from walras.errors import DataError, InputError
from walras.network.scenario.scenario import EXAMPLE, read_scenario, scenario


def test_the_example_says_what_its_comments_say() -> None:
    found = scenario(tomllib.loads(EXAMPLE))
    assert found.problem.centres == found.network.centres == 20
    assert found.network.law is not None
    assert found.network.law.every == 50
    assert found.links == wn.LogQuantizer(0.125)
    assert found.faults is not None
    assert found.faults.all_crashes == (wn.Crash(4, 500), wn.Crash(9, 800, 1500))
    assert isinstance(found.problem.loss, wn.SmoothHinge)
    assert found.test is not None
    assert (found.steps, found.every) == (3000, 3)


def test_nothing_is_a_scenario_too() -> None:
    found = scenario({})
    assert found.problem.loss is None
    assert found.faults is None
    assert found.steps == 2000


@pytest.mark.parametrize(
    ("table", "check"),
    [
        ({"network": {"kind": "ring", "centres": 5}}, lambda s: s.network.links == 5),
        ({"network": {"kind": "grid", "rows": 2, "columns": 3}}, lambda s: s.problem.centres == 6),
        ({"network": {"kind": "small_world", "centres": 12}}, lambda s: s.network.links == 24),
        ({"network": {"directed": True}}, lambda s: s.network.directed),
        ({"network": {"failing": 0.1}}, lambda s: s.network.law.failing == 0.1),
        ({"cpu": {"kind": "throughput"}}, lambda s: s.problem.boxed),
        ({"cpu": {"center": 2.0, "scale": 1.0, "budget": 50}}, lambda s: s.problem.budget == 50.0),
        ({"links": {"kind": "ideal"}}, lambda s: s.links == wn.Ideal()),
        ({"links": {"kind": "uniform", "step": 0.1}}, lambda s: s.links.step == 0.1),
        ({"method": {"alpha": 2.0}}, lambda s: s.method.alpha == 2.0),
        ({"loss": {"kind": "logistic", "classes_each": 1}}, lambda s: s.problem.loss is not None),
    ],
)
def test_tables_become_what_they_name(table: dict[str, object], check: object) -> None:
    assert check(scenario(table))  # type: ignore[operator]


def test_mnist_is_found_or_stood_in_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WALRAS_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = scenario({"loss": {"kind": "logistic", "data": "mnist-3-5"}})
    assert found.test is not None
    assert "synthetic stand-in" in found.test.origin
    assert set(np.unique(found.test.targets)) == {-1.0, 1.0}
    assert found.problem.learning[1].features.shape[-1] == 785


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ({"step": 3}, r"the file: has the unknown key 'step'; allowed: seed, steps"),
        ({"network": {"nodes": 3}}, "network: has the unknown key 'nodes'"),
        ({"method": {"name": "x"}}, "unknown key 'name'"),
        ({"network": 3}, r"network: is 3; allowed: a table"),
        ({"network": {"kind": "star"}}, r"network\.kind: is 'star'; allowed: erdos_renyi"),
        ({"cpu": {"kind": "cubic"}}, r"cpu\.kind"),
        ({"loss": {"kind": "tree"}}, r"loss\.kind"),
        ({"loss": {"data": "cifar"}}, r"loss\.data"),
        ({"links": {"kind": "wire"}}, r"links\.kind"),
        ({"links": {"rho": 9.0}}, r"LogQuantizer\.rho: is 9"),
        ({"steps": "many"}, "steps: is 'many'; allowed: a whole number"),
        ({"cpu": {"center": [1.0, 2.0]}}, r"cpu\.center: has shape \(2,\); allowed: \(20,\)"),
        ({"faults": {"crashes": [[1]]}}, r"faults\.crashes\[0\]"),
        ({"faults": {"loss": 2.0}}, r"faults\.loss"),
        ({"steps": 0}, "steps: is 0; allowed: a whole number, >= 1"),
        ({"steps": float("nan")}, "steps: is NaN"),
        ({"every": float("inf")}, "every: is inf"),
        ({"seed": -1}, "seed: is -1; allowed: a whole number, >= 0"),
        ({"network": {"directed": "false"}}, r"network\.directed: is 'false'; allowed: True or"),
        ({"network": {"centres": 2.5}}, r"network\.centres: is 2\.5"),
        ({"network": {"seed": -1}}, r"network\.seed: is -1"),
        ({"network": {"file": 3}}, r"network\.file: is 3; allowed: text"),
        ({"network": {"law": []}}, r"network\.law: is a list; allowed: redraw, union"),
        ({"method": {"unsafe": "false"}}, r"method\.unsafe: is 'false'; allowed: True or False"),
        ({"method": {"guard": "x"}}, r"method\.guard: is 'x'"),
        ({"method": {"model_step": "x"}}, r"method\.model_step: is 'x'; allowed: a number"),
        ({"method": {"batch": 2.5}}, r"method\.batch: is 2\.5"),
        ({"method": {"alpha": float("nan")}}, r"method\.alpha: is NaN"),
        ({"links": {"rho": "x"}}, r"links\.rho: is 'x'; allowed: a number"),
        ({"links": {"width": []}}, r"links\.width: is a list"),
        ({"cpu": {"center": "x"}}, r"cpu\.center: is 'x'; allowed: a number"),
        ({"cpu": {"center": [1.0, "a"]}}, r"cpu\.center\[1\]: is 'a'"),
        ({"cpu": {"low": {}}}, r"cpu\.low: is a dict"),
        ({"cpu": {"scale": True}}, r"cpu\.scale: is True"),
        ({"loss": {"samples": -1}}, r"loss\.samples: is -1"),
        ({"loss": {"classes_each": 2.5}}, r"loss\.classes_each: is 2\.5"),
        ({"loss": {"kind": []}}, r"loss\.kind: is a list; allowed: svm"),
        ({"faults": {"loss": "x"}}, r"faults\.loss: is 'x'"),
        ({"faults": {"lease": "x"}}, r"faults\.lease: is 'x'"),
        ({"faults": {"crashes": 3}}, r"faults\.crashes: is 3"),
        ({"faults": {"crashes": [["a", 500]]}}, r"faults\.crashes\[0\]: is 'a'"),
    ],
)
def test_what_means_nothing_is_refused(table: dict[str, object], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        scenario(table)


def test_a_file_that_is_no_toml_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    with pytest.raises(DataError, match="cannot be read"):
        read_scenario(path)
    path.write_text("steps = [")
    with pytest.raises(DataError, match=r"bad\.toml"):
        read_scenario(path)


def test_a_scenario_may_cut_the_network_and_choose_the_back_end() -> None:
    found = scenario({"backend": "protocol", "faults": {"cuts": [[[0, 1], 100, 200]]}})
    assert found.backend == "protocol"
    assert found.faults is not None
    assert found.faults.all_cuts == (wn.Cut((0, 1), 100, 200),)
    assert scenario({}).backend == "auto"
    with pytest.raises(InputError, match="backend"):
        scenario({"backend": "quick"})
