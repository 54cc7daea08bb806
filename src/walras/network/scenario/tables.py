"""The tables of a scenario: allowed keys, checks, and defaults."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import partial
from typing import Any

from walras.checks import flag, known_keys, number, one_of, text, whole
from walras.deprecated import warn_renamed
from walras.errors import InputError
from walras.network._simulate import DEFAULT_LINKS
from walras.network.backends import BACKENDS
from walras.network.links.faults import Faults
from walras.network.methods.surplus import Surplus

Table = Mapping[str, Any]
Check = Callable[[object, str], Any]
"""Given a value and where it stands, gives it back in its type, or refuses it."""


def _numbers(value: object, where: str) -> float | list[float]:
    """Check a number, or a list of numbers."""
    if not isinstance(value, list | tuple):
        return number(value, where)
    return [number(v, f"{where}[{k}]") for k, v in enumerate(value)]


def _bounds(value: object, where: str) -> float | list[float]:
    """Check a number or a list of numbers, also infinite ones and text, as JSON writes them."""
    if isinstance(value, list | tuple):
        return [_bound(v, f"{where}[{k}]") for k, v in enumerate(value)]
    return _bound(value, where)


def _bound(value: object, where: str) -> float:
    if type(value) is str:
        value = {"inf": math.inf, "-inf": -math.inf}.get(value, value)
    return number(value, where, -math.inf, math.inf)


def _choice(*choices: str) -> Check:
    """A check for one of some words."""
    return partial(one_of, choices=choices)


def _anything(value: object, where: str) -> object:
    """Accept any value, which is checked elsewhere."""
    return value


_SEED, _COUNT = whole, partial(whole, low=1)
KEYS: Mapping[str, Mapping[str, Check]] = {
    "": {
        "seed": _SEED, "steps": _COUNT, "every": _COUNT, "network": _anything, "cpu": _anything,
        "loss": _anything, "links": _anything, "faults": _anything, "method": _anything,
        "deploy": _anything, "backend": _choice(*BACKENDS),
    },
    "network": {
        "kind": _choice("erdos_renyi", "ring", "grid", "small_world", "file"), "centres": whole,
        "p": number, "k": _COUNT, "rows": _COUNT, "columns": _COUNT, "file": text,
        "directed": flag, "seed": _SEED, "switching": _COUNT, "law": _choice("redraw", "union"),
        "parts": _COUNT, "failing": number,
    },
    "cpu": {
        "kind": _choice("quadratic", "throughput"), "center": _numbers, "scale": _numbers,
        "work": _numbers, "rate": _numbers, "efficiency": number, "power": number,
        "budget": number, "low": _bounds, "high": _bounds, "seed": _SEED,
    },
    "loss": {
        "kind": _choice("svm", "logistic", "least_squares", "softmax"),
        "data": _choice("points", "mnist", "mnist-3-5"), "samples": _COUNT,
        "regularisation": number, "sharpness": number, "classes_each": _COUNT, "seed": _SEED,
    },
    "links": {
        "kind": _choice("log", "uniform", "ideal"), "rho": number, "mode": text, "width": whole,
        "step": number,
    },
    "faults": {
        "loss": number, "duplication": number, "reordering": number, "delay": whole,
        "crashes": _anything, "lease": whole, "cuts": _anything,
    },
    "method": {
        "alpha": number, "share_step": number, "share_momentum": number, "model_step": number,
        "batch": whole, "momentum": number, "multiplier_step": number, "learner": text,
        "guard": flag, "unsafe": flag,
    },
    "deploy": dict.fromkeys(
        (
            "pace", "period", "launcher", "restart", "durable", "trace_limit", "time_limit",
            "hosts", "cgroup",
        ),
        _anything,
    ),
}  # fmt: skip
"""What each table may state. ``deploy`` is looked at where it is used."""

_KINDS: Mapping[str, str] = {
    "network": "erdos_renyi", "cpu": "quadratic", "loss": "svm", "links": "log",
}  # fmt: skip
_OF_KIND: Mapping[str, Table] = {
    "erdos_renyi": {"centres": 20, "p": 0.3, "directed": False},
    "ring": {"centres": 20, "directed": False},
    "grid": {"rows": 4, "columns": 4},
    "small_world": {"centres": 20, "k": 4, "p": 0.2},
    "file": {"file": "", "directed": False},
    "throughput": {"rate": 10.0, "efficiency": 1.0, "power": 1.0, "low": 0.5, "high": 16.0},
    "svm": {"sharpness": 3.0},
    "log": {"rho": DEFAULT_LINKS.rho, "mode": DEFAULT_LINKS.mode, "width": DEFAULT_LINKS.width},
    "uniform": {"step": 0.01, "width": 16},
}
_STEPS = 2000
_RECORDS = 1000  # approximate number of records of a run, by default


def completed(content: object) -> dict[str, Any]:
    """Check all tables, convert every value to its type, and fill in this version's defaults.

    Not filled in are values drawn with a seed, values computed from the problem (safe steps, the
    budget), and empty tables ``loss``, ``faults`` and ``deploy``.

    Args:
        content: As read from TOML.

    Raises:
        InputError: A key is unknown, or a value is not of its type.
    """
    top = {"seed": 0, "steps": _STEPS, "backend": "auto", **_checked("", content)}
    parts = {name: _checked(name, top.get(name, {})) for name in KEYS if name}
    for name, kind in _KINDS.items():
        if parts[name] or name != "loss":
            parts[name] = _with_kind(parts[name], name, kind, top["seed"])
    if parts["faults"]:
        parts["faults"] = _defaults_of(Faults) | {"crashes": [], "cuts": []} | parts["faults"]
    parts["method"] = _defaults_of(Surplus) | parts["method"]
    stated = {name: part for name, part in parts.items() if part}
    return {"every": max(1, top["steps"] // _RECORDS), **top, **stated}


def _with_kind(part: Table, name: str, kind: str, seed: int) -> dict[str, Any]:
    """A table with its kind and that kind's defaults."""
    found = {"kind": kind, **_OF_KIND.get(part.get("kind", kind), {}), **part}
    if name != "links":
        found = {"seed": seed, **found}
    if "switching" in found:
        found = {"law": "redraw", **({"parts": 2} if found.get("law") == "union" else {}), **found}
    if name == "loss":
        found = {"data": "points", "regularisation": 0.01, **found}
        found = {"samples": 2000, **found} if found["data"] == "points" else found
    return found


def _defaults_of(kind: type) -> dict[str, Any]:
    """The defaults of a class that a table may state; None stands for computed values."""
    return {
        field.name: field.default
        for field in fields(kind)
        if field.default not in (MISSING, None) and field.name in KEYS[_TABLE_OF[kind]]
    }


_TABLE_OF: Mapping[type, str] = {Faults: "faults", Surplus: "method"}


def _checked(name: str, table: object) -> dict[str, Any]:
    """Convert every value of a table to its type; unknown keys are refused."""
    where = name or "the file"
    if not isinstance(table, Mapping):
        raise InputError(
            f"is {table!r}", where=where, allowed="a table", remedy=f"begin it with [{name}]"
        )
    if name == "method" and "tempo" in table:
        warn_renamed("method.tempo", "method.multiplier_step")
        table = {("multiplier_step" if k == "tempo" else k): v for k, v in table.items()}
    known_keys(table, KEYS[name], where)
    dotted = f"{name}." if name else ""
    return {key: KEYS[name][key](value, dotted + key) for key, value in table.items()}
