"""What an expression of PromQL selects: names of metrics, their labels and values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

OWN = {"instance", "job"}
"""Labels that Prometheus sets itself."""
_GROUP = re.compile(r"\b(?:by|on|without|ignoring|group_left|group_right)\s*\(([^)]*)\)")
_RANGE = re.compile(r"\[[^\]]*\]")
_SELECTOR = re.compile(r"(?<![\w:.$\"])([a-zA-Z_:][\w:]*)\s*(?:\{([^}]*)\})?(?![\w:{])(?!\s*\()")
_MATCHER = re.compile(r'\s*(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"\s*(?:,|$)')
_WORDS = {"and", "or", "unless", "bool", "offset"}


@dataclass(frozen=True)
class Selector:
    """A metric with the matchers of its labels.

    Attributes:
        name: Of the metric.
        matchers: Label, operator, value.
    """

    name: str
    matchers: tuple[tuple[str, str, str], ...]


def selectors(expression: str) -> Iterator[Selector]:
    """The selectors of an expression."""
    plain = _RANGE.sub("", _GROUP.sub(" ", expression))
    for match in _SELECTOR.finditer(plain):
        if match[1] in _WORDS or "{" in plain[: match.start()].rpartition("}")[2]:
            continue
        matchers = tuple(found.groups() for found in _MATCHER.finditer(match[2] or ""))
        yield Selector(match[1], matchers)  # type: ignore[arg-type]


def grouped(expression: str) -> set[str]:
    """The labels by which an expression groups or joins."""
    return {one.strip() for match in _GROUP.findall(expression) for one in match.split(",")}


Shown = Mapping[str, Mapping[str, set[str]]]
"""Name -> label -> values that a service shows."""


def shown(text: str) -> dict[str, dict[str, set[str]]]:
    """What figures in Prometheus' format show."""
    found: dict[str, dict[str, set[str]]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = found.setdefault(sample.name, {})
            for label, value in sample.labels.items():
                labels.setdefault(label, set()).add(value)
    return found


def wrong(expression: str, known: Shown) -> list[str]:
    """What an expression selects that no service shows."""
    said, labels = [], set(OWN)
    for one in selectors(expression):
        if one.name == "up":  # of Prometheus itself
            continue
        if one.name not in known:
            said.append(f"there is no metric {one.name}")
            continue
        labels |= known[one.name].keys()
        for label, operator, value in one.matchers:
            if label in OWN:
                continue
            values = known[one.name].get(label)
            if values is None:
                said.append(f"{one.name} has no label {label}")
            elif operator == "=" and value not in values:
                said.append(f"{one.name} has no {label}={value}, only {sorted(values)}")
    return said + [f"there is no label {one}" for one in sorted(grouped(expression) - labels)]
