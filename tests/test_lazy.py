"""Names that load when they are first used: homes, modules, old names and names that need torch."""

from __future__ import annotations

import subprocess
import sys

import pytest

import walras as wl
from walras.lazy import lazy_names


def test_names_come_from_their_homes() -> None:
    load, listed = lazy_names(
        "walras", {"Status": "walras.status", "status": "walras.status"}, ["status", "Status"]
    )
    assert load("Status") is wl.Status
    assert load("status").__name__ == "walras.status"  # a module of that name is the value
    assert listed() == ["Status", "status"]
    with pytest.raises(AttributeError, match="module 'walras' has no attribute 'Stat'"):
        load("Stat")


def test_an_old_name_warns_and_is_the_new_one() -> None:
    load, _ = lazy_names("walras", {}, [], renamed={"State": "Status.OPTIMAL"})
    with pytest.warns(DeprecationWarning, match=r"walras\.State .*walras\.Status\.OPTIMAL"):
        assert load("State") is wl.Status.OPTIMAL


def test_a_name_that_needs_torch_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    load, _ = lazy_names("walras", {}, [], torch={"Status": "walras.status"})
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(wl.EngineError, match=r"walras\.Status"):
        load("Status")


def test_a_function_stays_where_a_module_of_its_name_is_imported() -> None:
    program = (
        "import sys, walras as wl; before = wl.policies.fifo; import walras.policies.fifo; "
        "from walras.policies.max_min import max_min; "
        "assert callable(before) and wl.policies.fifo is before; "
        "assert wl.policies.max_min is max_min; "
        "assert wl.policies.placements is sys.modules['walras.policies.placements']"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("walras.policies.placements", {"pandas", "walras.solving", "walras.policies.max_min"}),
        ("walras.solving", {"scipy.optimize"}),
        ("walras.cli.exchange.task", {"numpy", "pandas"}),
    ],
)
def test_a_start_loads_nothing_heavy_that_it_does_not_need(module: str, heavy: set[str]) -> None:
    program = f"import sys, {module}; print({heavy} & set(sys.modules))"
    found = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert found.stdout == "set()\n"
