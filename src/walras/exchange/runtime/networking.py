"""What the process of a network in virtual time does: one network, which its parent asks for."""

from __future__ import annotations

import json
import math
import os
from typing import Any

from walras.errors import InputError, WalrasError
from walras.network.drivers.live import LiveNetwork
from walras.network.drivers.live_report import report
from walras.network.links.faults import Faults
from walras.network.problem.quanta import DivergedError
from walras.network.scenario.scenario import scenario

_SAMPLES = 20  # points of a centre, from which the model learns
_ROOM = (12, 5.0, 6.0)  # centres; an upper limit that leaves room in larger and in smaller networks
_NICE = 5  # beyond that of a process that decides rounds
_FAULTS = ("loss", "duplication", "delay")


class _Networks:
    """The network of this process; none before the first request."""

    live: LiveNetwork | None = None
    scenario: dict[str, Any] | None = None


def give_way(data: bytes) -> bytes:
    """Let every other process of the service go first; the same bytes."""
    os.nice(_NICE)
    return data


def answered(data: bytes) -> bytes:
    """Do what a request asks for, and tell the state after it.

    Args:
        data: JSON: ``do`` and what belongs to it.

    Returns:
        JSON: the state of the network, or under ``refused`` why it was not done.
    """
    asked = json.loads(data)
    try:
        return _written(_done(asked))
    except DivergedError as error:
        return _refused(_diverged(error))
    except WalrasError as error:
        return _refused(error)


def _written(found: dict[str, Any]) -> bytes:
    try:
        return json.dumps(found, allow_nan=False).encode()
    except ValueError as error:
        raise DivergedError("its state is not finite") from error


def _refused(error: WalrasError) -> bytes:
    names = ("what", "where", "allowed", "remedy")
    return _written({"refused": {name: str(getattr(error, name)) for name in names}})


def _diverged(error: DivergedError) -> DivergedError:
    """The error with what to do about it here."""
    return DivergedError(
        f"its numbers diverge: {error.what}",
        where="network",
        allowed="limits and a budget of like size, such as the usual ones",
        remedy="end it and start another one",
    )


def _done(asked: dict[str, Any]) -> dict[str, Any]:
    do = asked["do"]
    if do == "make":
        _Networks.live = made(asked["sample"])
        _Networks.scenario = stated(asked["sample"])
    live = _Networks.live
    if live is None:
        raise InputError("has no network", where="process", remedy="make one first")
    if do == "advance":
        live.advance(asked["rounds"], asked["seconds"])
    elif do == "faults":
        rates = {name: getattr(live.world.faults, name) for name in _FAULTS} | asked["rates"]
        live.set_faults(Faults(**rates), live.churn if asked["churn"] is None else asked["churn"])
    elif do in ("stop", "restart"):
        getattr(live, do)(asked["centre"])
    elif do in ("cut", "mend"):
        getattr(live, do)([(one, other) for one, other in asked["links"]])
    return report(live) | {"scenario": _Networks.scenario}


def made(sample: dict[str, Any]) -> LiveNetwork:
    """A network of drawn centres.

    Args:
        sample: What it is made of; see :class:`walras.exchange.api.network_models.NetworkIn`.

    Returns:
        The network, before its first round.

    Raises:
        InputError: These values do not go together, such as a budget outside the boxes.
    """
    drawn = scenario(tables(sample))
    faults = Faults(**{name: sample[name] for name in _FAULTS})
    return LiveNetwork(
        drawn.problem, drawn.network, faults=faults, churn=sample["churn"], seed=sample["seed"]
    )


def stated(sample: dict[str, Any]) -> dict[str, Any]:
    """The scenario that ``walras network simulate`` reads to run the same centres."""
    found = tables(sample) | {"backend": "protocol", "links": {"kind": "ideal"}}
    rates = {name: sample[name] for name in _FAULTS if sample[name]}
    return found | ({"faults": rates} if rates else {})


def tables(sample: dict[str, Any]) -> dict[str, Any]:
    """The tables of the scenario that a sample stands for, as ``walras network`` reads them.

    Example:
        >>> sample = {"centres": 7, "graph": "grid", "p": None, "k": None, "cpu": "quadratic"}
        >>> sample |= {"low": None, "high": None, "budget": None, "learns": False, "seed": 3}
        >>> tables(sample)["network"], tables(sample)["cpu"]["high"]
        ({'kind': 'grid', 'rows': 1, 'columns': 7}, 6.0)
    """
    n, graph = sample["centres"], sample["graph"]
    network: dict[str, Any] = {"kind": graph}
    if graph == "grid":
        rows = max(r for r in range(1, math.isqrt(n) + 1) if n % r == 0)
        network |= {"rows": rows, "columns": n // rows}
    else:
        network["centres"] = n
    if graph in ("erdos_renyi", "small_world"):
        usual = 0.2 if graph == "small_world" else min(1.0, 2.0 * math.log(n) / n)
        network["p"] = usual if sample["p"] is None else sample["p"]
    if graph == "small_world":
        network["k"] = max(2, min(4, (n - 1) // 2 * 2)) if sample["k"] is None else sample["k"]
    most, high, wide = _ROOM
    cpu = {
        "kind": sample["cpu"],
        "low": 0.5 if sample["low"] is None else sample["low"],
        "high": (high if n >= most else wide) if sample["high"] is None else sample["high"],
    }
    if sample["budget"] is not None:
        cpu["budget"] = sample["budget"]
    found = {"seed": sample["seed"], "network": network, "cpu": cpu}
    if sample["learns"]:
        found["loss"] = {"kind": "svm", "data": "points", "samples": _SAMPLES * n}
    return found
