"""SkyPilot's Resources, read by their attributes, and the clusters that they may become."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from walras.errors import InputError
from walras.exchange.dispatch.offers import label_value

_AT_LEAST = re.compile(r"(\d+(?:\.\d+)?)(\+?)")

Labels = Mapping[str, str]


class Resources(Protocol):
    """What is read of ``sky.Resources``; what is not there counts as not given."""

    @property
    def cloud(self) -> Any:
        """The cloud: an object of SkyPilot's, its name, or None."""

    @property
    def region(self) -> str | None:
        """The region, or None."""

    @property
    def zone(self) -> str | None:
        """The zone, or None."""

    @property
    def instance_type(self) -> str | None:
        """The type of machine, or None."""

    @property
    def accelerators(self) -> Mapping[str, float] | None:
        """Name of the accelerator -> how many; None for none."""

    @property
    def cpus(self) -> str | None:
        """How many CPUs: ``8``, or ``8+`` for at least as many."""

    @property
    def memory(self) -> str | None:
        """GiB of memory: ``32``, or ``32+`` for at least as much."""

    @property
    def use_spot(self) -> bool:
        """Whether a spot machine is asked for."""


@dataclass(frozen=True)
class Asked:
    """What resources ask for.

    Attributes:
        exact: Label -> the value that it must have, in lower case.
        least: Label -> the number, and whether more will do.
        accelerated: Whether a machine with accelerators is asked for, or may be.
        spot: Whether a spot machine is asked for.
        words: The resources in words, for messages.
    """

    exact: dict[str, str]
    least: dict[str, tuple[float, bool]]
    accelerated: bool
    spot: bool
    words: str


def asked(resources: Resources) -> Asked:
    """Read resources.

    Raises:
        InputError: They name several accelerators, which SkyPilot does not do.
    """

    def given(name: str) -> str:
        found = getattr(resources, name, None)
        return "" if found is None else label_value(str(found)).lower()

    exact = {
        "cloud": _cloud(getattr(resources, "cloud", None)),
        "region": given("region"),
        "zone": given("zone"),
        "instance": given("instance_type"),
    }
    accelerators = getattr(resources, "accelerators", None) or {}
    if not isinstance(accelerators, Mapping) or len(accelerators) > 1:
        raise InputError(
            f"are {accelerators!r}",
            where="accelerators of the resources",
            allowed="one name with its number, such as {'A100': 8}, or None",
            remedy="list alternatives as several resources",
        )
    for name, count in accelerators.items():
        exact |= {"gpu": label_value(str(name)).lower(), "gpus": f"{float(count):.10g}"}
    least = {
        label: (float(match[1]), bool(match[2]))
        for label, name in (("vcpus", "cpus"), ("memory", "memory"))
        if (match := _AT_LEAST.fullmatch(str(getattr(resources, name, None))))
    }
    exact = {label: value for label, value in exact.items() if value}
    spot = bool(getattr(resources, "use_spot", False))
    words = " ".join(
        [f"{label}={value}" for label, value in exact.items()]
        + [f"{label}={number:g}{'+' if more else ''}" for label, (number, more) in least.items()]
        + ["spot"] * spot
    )
    accelerated = bool(accelerators) or "instance" in exact
    return Asked(exact, least, accelerated, spot, words or "nothing in particular")


def _cloud(cloud: Any) -> str:
    """The catalog's name of a cloud; empty where none is given."""
    if cloud is None:
        return ""
    named = getattr(cloud, "canonical_name", None)
    return label_value(str(named() if callable(named) else cloud)).lower()


def matching(wanted: Asked, clusters: Mapping[str, Labels]) -> list[str]:
    """The clusters that resources may become.

    Spot machines are the same machines: where none of the clusters that match is of the kind asked
    for, those of the other kind are taken.

    Args:
        wanted: What the resources ask for.
        clusters: Name -> labels, as the import of a catalog gives them.

    Returns:
        Their names, in the order given.
    """
    found = [name for name, labels in clusters.items() if _fits(wanted, labels)]
    kind = "yes" if wanted.spot else "no"
    same = [name for name in found if clusters[name].get("spot", kind) == kind]
    return same or found


def _fits(wanted: Asked, labels: Labels) -> bool:
    if not wanted.accelerated and "gpu" in labels:
        return False  # SkyPilot gives resources without accelerators a machine without any
    exact = all(labels.get(name, "").lower() == value for name, value in wanted.exact.items())
    return exact and all(
        _enough(labels.get(name, ""), number, more) for name, (number, more) in wanted.least.items()
    )


def _enough(label: str, number: float, more: bool) -> bool:
    try:
        has = float(label)
    except ValueError:
        return False
    return has >= number if more else has == number
