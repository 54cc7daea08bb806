"""The reference has a page for each public name; formulas and pages need no network."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from walras.errors import EngineError

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = [page.read_text(encoding="utf-8") for page in (DOCS / "reference").glob("*.md")]
PUBLIC = (
    "walras",
    *(f"walras.domains.{name}" for name in ("cluster_scheduling", "traffic_engineering")),
    "walras.domains.load_balancing",
    "walras.domains.placement",
    *(f"walras.{name}" for name in ("predict", "matching", "learn", "network", "plot")),
    "walras.network.baselines",
    *(f"walras.{name}" for name in ("data", "engines", "exchange", "problem", "rounds", "shadow")),
    "walras.exchange.dispatch.skypilot",
    "walras.exchange.history",
    "walras.policies",
    "walras.policies.placements",
    "walras.simulate",
)


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("package", PUBLIC)
def test_every_public_name_is_in_the_reference(package: str) -> None:
    text = "\n".join(PAGES)
    names = importlib.import_module(package).__all__
    missing = [
        name
        for name in names
        if f"{package}.{name}\n" not in text
        and not re.search(rf"`{package}\.{name}`|`{name}`", text)
    ]
    modules = {name for name in names if importlib.util.find_spec(f"{package}.{name}")}
    assert [name for name in missing if name not in modules and name != "__version__"] == []


def test_every_name_in_the_reference_exists() -> None:
    for text in PAGES:
        for block in re.findall(r"\.\. autosummary::\n(.*?)```", text, re.DOTALL):
            for name in re.findall(r"^   ~(\S+)$", block, re.MULTILINE):
                package, _, last = name.rpartition(".")
                try:
                    assert hasattr(importlib.import_module(package), last), name
                except EngineError:
                    continue  # it needs torch, which is not installed


FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$])\$([^$\n]+)\$", re.DOTALL)


@pytest.mark.parametrize("page", sorted(DOCS.glob("[!_]*/*.md")), ids=lambda page: page.name)
def test_every_formula_becomes_mathml(page: Path) -> None:
    to_mathml = _load("mathml").to_mathml
    text = re.sub(
        r"^```.*?^```$|`[^`]*`", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    for block, inline in FORMULA.findall(text):
        assert to_mathml(block or inline, block=bool(block)).startswith("<math")


def test_halves_are_fractions() -> None:
    assert "<mn>12</mn>" not in _load("mathml").to_mathml(r"\tfrac12 x", block=False)


def test_pages_that_fetch_from_outside_are_found() -> None:
    fetched = _load("check_pages").fetched
    assert fetched('<script src="https://cdn.example.org/mathjax.js"></script>')
    assert fetched('<link rel="stylesheet" href="//fonts.example.org/a.css"/>')
    assert fetched("body { background: url(https://example.org/a.png) }")
    assert not fetched('<a href="https://example.org">x</a><script src="_static/a.js"></script>')


def test_the_built_pages_fetch_nothing() -> None:
    built = DOCS / "_build/html"
    if built.exists():  # ./dev test builds them first
        assert list(_load("check_pages").outside(built)) == []
