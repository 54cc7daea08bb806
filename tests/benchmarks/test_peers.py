"""Each peer solves a small instance to its accuracy, and its record names its version."""

from __future__ import annotations

from importlib import metadata

import pytest
from benchmarks.assigning import AssignSpec, build_assign, judge_assign
from benchmarks.cell import Cell
from benchmarks.flow_instances import FlowSpec
from benchmarks.forms import stated
from benchmarks.gradients import OBJECTIVE, reference
from benchmarks.instances import AnySpec, Spec, build
from benchmarks.judge import judge
from benchmarks.matching import MatchSpec, build_match
from benchmarks.measure import measure
from benchmarks.peers import METHODS
from benchmarks.peers.highs import load
from benchmarks.problem import Budget
from benchmarks.store import Store
from benchmarks.table import render
from benchmarks.worker import _versions

from benchmarks import registry

SMALL = Spec("heterogeneous", 6, 24)
B4 = FlowSpec("B4", 0.5)
# Of the linear programs: how near each comes to the optimum.
ACCURACY = {
    "highs": 1e-7,
    "highs-ipm": 1e-6,
    "clarabel": 1e-6,
    "scs": 1e-2,
    "cvxpy": 1e-5,
}


@pytest.fixture(scope="module")
def bound() -> float:
    """The certified bound of the small instance."""
    return METHODS["walras"].run(build(SMALL), "max-min", Budget()).numbers["bound"]


@pytest.mark.parametrize("method", ACCURACY)
def test_a_peer_comes_as_near_as_it_is_asked(method: str, bound: float) -> None:
    instance = build(SMALL)
    found = METHODS[method].run(instance, "max-min", Budget())
    assert found.x is not None, found.message
    assert judge(instance, "max-min", found.x).value == pytest.approx(bound, rel=ACCURACY[method])


@pytest.mark.peer("ortools")
def test_pdlp_comes_as_near_as_it_is_asked(bound: float) -> None:
    record = measure(Cell("test", SMALL, "max-min", "pdlp-1e-6", 1.0, runs=1))
    assert record["status"] == "ran", record["message"]
    assert record["value"] == pytest.approx(bound, rel=1e-4)
    assert record["versions"]["ortools"] == metadata.version("ortools")


@pytest.mark.environment("hipo")
@pytest.mark.parametrize(("spec", "objective"), [(SMALL, "max-min"), (B4, "max-total-flow")])
def test_hipo_is_run_by_its_own_package(spec: AnySpec, objective: str) -> None:
    found = [
        measure(Cell("test", spec, objective, method, 1.0, runs=1))
        for method in ("highs-hipo", "highs-ipm")
    ]
    assert [record["status"] for record in found] == ["ran", "ran"], found[0]["message"]
    assert found[0]["value"] == pytest.approx(found[1]["value"], rel=1e-6)
    assert set(found[0]["versions"]) == {"python", "highspy", "highspy-extras"}


def test_an_unknown_algorithm_is_an_error_and_not_another_one() -> None:
    program, _ = stated(build(SMALL), "max-min")
    with pytest.raises(RuntimeError, match="no algorithm 'interior'"):
        load(program, Budget(), "interior", "off")


@pytest.mark.peer("ortools")
def test_cp_sat_ends_at_the_optimum_of_highs() -> None:
    spec = AssignSpec("C", 3, 12)
    costs = []
    for method in ("cp-sat-assign-10", "highs-assign-10"):
        found = METHODS[method].run(build_assign(spec), "assignment", Budget())
        assert found.x is not None
        costs.append(judge_assign(build_assign(spec), found.x).value)
        assert found.numbers["bound"] == pytest.approx(costs[-1])
    assert costs[0] == costs[1]


@pytest.mark.peer("cvxpylayers", "moreau", "torch")
def test_moreau_goes_forward_and_its_gradients_are_judged() -> None:
    spec = MatchSpec(3, 5, 3, temperature=0.1, barrier="elastic")
    found = METHODS["cvxpylayers-moreau"].run(build_match(spec), OBJECTIVE, Budget())
    assert found.numbers["forward"] > 0.0
    if found.x is None:  # the version at hand breaks down on the way back, and says so
        assert "backward" in found.message
    else:
        true = reference(build_match(spec))[0]
        assert found.x[0] == pytest.approx(true, abs=1e-8)


def test_each_row_of_the_table_has_its_version() -> None:
    records = Store().records(registry.all_cells())
    page = render(registry.BENCHMARKS, records)
    for name, record in records.items():
        method = METHODS[record["cell"]["method"]]
        assert method.packages, name
        if record["status"] == "ran":
            package = method.packages[0]
            said = f"| {method.label} | {package} {record['versions'][package]} |"
            assert said in page, name


def test_every_peer_names_its_packages() -> None:
    for name, method in METHODS.items():
        assert method.packages, name
        if method.environment == "project" and all(map(is_here, method.packages)):
            assert _versions(method.packages).keys() == {"python", *method.packages}


def is_here(package: str) -> bool:
    """Whether a distribution is installed."""
    return any(metadata.distributions(name=package))
