"""Options of engines: every number has a range and a sentence, and is checked when it is made."""

from __future__ import annotations

import inspect
from dataclasses import fields, replace
from typing import Any

import pytest

import walras as wl
from walras.engines.options import Options, group_of
from walras.select.registry import ENGINES

GROUPS = {
    group.__name__: group
    for kind in ENGINES.values()
    for item in fields(kind)
    if (group := group_of(item)) is not None
}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: wl.engines.Interior(step_fraction=1.0), "setting step_fraction: is 1.0"),
        (lambda: wl.engines.Interior(columns=4), "setting columns.*ColumnGeneration"),  # type: ignore[arg-type]
        (lambda: wl.engines.WarmStart(gap=0.0), r"setting WarmStart\.gap"),
        (lambda: wl.engines.ADMM(mode="soft"), r"setting mode: is 'soft'; allowed: hard, paper"),
        (lambda: wl.engines.ADMM(mode="paper", collapse=True), "setting collapse"),
        (lambda: wl.engines.ADMM(mode="paper", restarts=True), "setting restarts"),
        (lambda: wl.engines.ADMM(restarts="yes"), "setting restarts.*True or False or None"),  # type: ignore[arg-type]
        (lambda: wl.engines.ADMM(rho=0.0), "setting rho"),
        (lambda: wl.engines.ADMM(executor=4), "setting executor"),  # type: ignore[arg-type]
        (lambda: wl.engines.Integer(seed=-1), "setting seed"),
        (lambda: wl.engines.POP(parts=0), "setting parts.*the number of demands"),
        (lambda: wl.engines.POP(splitting=2.0), "setting splitting"),
        (lambda: wl.engines.POP(engine="exact"), r"setting engine.*walras\.engines\.Exact\(\)"),  # type: ignore[arg-type]
    ],
)
def test_options_out_of_range_are_refused_when_the_engine_is_made(make: Any, message: str) -> None:
    with pytest.raises(wl.InputError, match=message) as caught:
        make()
    assert caught.value.remedy


@pytest.mark.parametrize(
    "options", [*ENGINES.values(), *GROUPS.values()], ids=lambda kind: kind.__name__
)
def test_every_number_is_documented_and_has_a_range(options: type[Options]) -> None:
    text = inspect.getdoc(options) or ""
    default = options()
    for item in fields(options):
        assert f"\n    {item.name}: " in text, item.name
        if "range" not in item.metadata:
            continue
        low, high, _ = item.metadata["range"]
        for edge, beyond in ((low, low - 1.0), (high, 2.0 * high + 1.0)):
            assert getattr(replace(default, **{item.name: edge}), item.name) == edge
            with pytest.raises(wl.InputError, match=item.name):
                replace(default, **{item.name: beyond})
