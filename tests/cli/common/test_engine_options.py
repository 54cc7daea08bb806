"""``--engine`` and ``--engine-option``: words become an engine with its options."""

from __future__ import annotations

from typing import Any

import pytest

import walras as wl
from walras.cli.common.engine_options import engine_from


@pytest.mark.parametrize(
    ("name", "options", "engine"),
    [
        ("auto", [], "auto"),
        ("exact", None, wl.engines.Exact()),
        ("admm", ["mode=paper", "rho=1"], wl.engines.ADMM(mode="paper", rho=1.0)),
        ("admm", ["restarts=none", "collapse=TRUE"], wl.engines.ADMM(collapse=True)),
        ("pop", ["parts=3", "splitting=0.2"], wl.engines.POP(parts=3, splitting=0.2)),
        ("integer", ["seed=1", "seed=2"], wl.engines.Integer(seed=2)),
        (
            "interior",
            ["step_fraction=0.99", "columns.first=4", "columns.added=2"],
            wl.engines.Interior(0.99, columns=wl.engines.ColumnGeneration(first=4, added=2)),
        ),
    ],
)
def test_words_become_an_engine(
    name: str, options: list[str] | None, engine: str | wl.engines.Engine
) -> None:
    assert engine_from(name, options) == engine


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("magic", [], "there is no engine 'magic'"),
        ("auto", ["mode=paper"], "no engine is named"),
        ("exact", ["rho"], "is 'rho'.*option of engine exact"),
        ("admm", ["parts=3"], "is 'parts=3'.*option of engine admm: mode, collapse"),
        ("admm", ["executor=ray"], "is 'executor=ray'"),
        ("admm", ["rho=soft"], "--engine-option rho: is 'soft'; allowed: float or none"),
        ("admm", ["collapse=2"], "--engine-option collapse: is '2'; allowed: true or false or"),
        ("interior", ["columns=4"], "is 'columns=4'.*columns.least_entries"),
        ("interior", ["columns.fast=4"], "is 'columns.fast=4'.*columns.first"),
        ("interior", ["columns.first=0"], r"setting ColumnGeneration\.first: is 0"),
        (
            "admm",
            ["proofs.most=x"],
            r"--engine-option proofs\.most: is 'x'; allowed: whole number;",
        ),
        ("pop", ["parts=2.5"], "allowed: whole number or none"),
        ("pop", ["seed=none"], "is 'none'; allowed: whole number;"),
        ("pop", ["parts=0"], "setting parts: is 0"),
    ],
)
def test_words_that_are_no_option_are_refused(name: str, options: list[str], message: str) -> None:
    with pytest.raises(wl.InputError, match=message) as caught:
        engine_from(name, options)
    assert caught.value.remedy


def test_old_flags_work_and_warn_once(capsys: pytest.CaptureFixture[str]) -> None:
    old: dict[str, Any] = {"mode": "penalty", "collapse": False, "parts": None}
    assert engine_from("admm", ["rho=2"], old) == wl.engines.ADMM(mode="penalty", rho=2.0)
    assert engine_from("admm", [], {"collapse": True}) == wl.engines.ADMM(collapse=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "warning: --mode is now --engine-option mode=penalty; the old flag goes in 0.3",
        "warning: --collapse is now --engine-option collapse=true; the old flag goes in 0.3",
    ]


def test_an_old_flag_without_its_engine_is_refused() -> None:
    with pytest.raises(wl.InputError, match="--parts: is 2, but nothing uses it"):
        engine_from("auto", [], {"parts": 2})
