"""Configurations of centres and networks as JSON. No code is sent and nothing is unpickled."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, is_dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from walras.errors import InputError
from walras.network.problem.cpu_costs import CPUCost, QuadraticCPU, ThroughputCPU
from walras.network.protocol.centre import Learner, NodeConfig
from walras.network.protocol.messages import Codec
from walras.network.protocol.node import NetworkConfig
from walras.network.protocol.settings import Settings

Json = dict[str, Any]

_COSTS: Mapping[str, Callable[..., CPUCost]] = {
    "QuadraticCPU": QuadraticCPU,
    "ThroughputCPU": ThroughputCPU,
}
_LOSSES = ("LeastSquares", "Logistic", "SmoothHinge", "Softmax")
_TYPES = ("<f4", "<f8", "<i4", "<i8", "|i1", "|u1")


def pack_network_config(network_config: NetworkConfig) -> Json:
    """Pack the configuration that all centres share."""
    codec = network_config.codec
    return {
        "network": codec.network.hex(),
        "width": codec.width,
        "settings": asdict(network_config.settings),
        "begun": network_config.begun.tolist(),
        "neighbours": [list(row) for row in network_config.neighbours],
    }


def unpack_network_config(packed: Json) -> NetworkConfig:
    """The configuration of the network that :func:`pack_network_config` packed.

    Raises:
        InputError: A key is unknown or missing, or a value cannot be used.
    """
    check_keys(packed, "network_config", ("network", "width", "settings", "begun", "neighbours"))
    check_keys(packed["settings"], "settings", tuple(f.name for f in fields(Settings)))
    begun = np.array(packed["begun"], np.int64)
    codec = Codec(bytes.fromhex(packed["network"]), len(begun), int(packed["width"]))
    return NetworkConfig(codec, Settings(**packed["settings"]), begun, packed["neighbours"])


def pack_node_config(node_config: NodeConfig) -> Json:
    """Pack the configuration of one centre.

    Raises:
        InputError: Its cost or loss is the caller's own function, which cannot be sent.
    """
    return {
        "centre": node_config.centre,
        "weights": {str(j): w for j, w in node_config.weights.items()},
        "cost": _pack_object(node_config.cost, tuple(_COSTS), f"cpu[{node_config.centre}]"),
        "low": _finite(node_config.low),
        "high": _finite(node_config.high),
        "penalty": node_config.penalty,
        "rate": node_config.rate,
        "multiplier_step": node_config.multiplier_step,
        "unit": node_config.unit,
        "total": node_config.total,
        "learner": None if node_config.learner is None else _pack_learner(node_config.learner),
    }


def unpack_node_config(packed: Json) -> NodeConfig:
    """The configuration of a centre that :func:`pack_node_config` packed.

    Raises:
        InputError: A key is unknown or missing, or a value cannot be used.
    """
    check_keys(packed, "node_config", tuple(f.name for f in fields(NodeConfig)))
    cost = dict(packed["cost"])
    make = _COSTS.get(cost.pop("kind", ""))
    if make is None:
        raise _unknown("cost", packed["cost"].get("kind"), tuple(_COSTS))
    learner = packed["learner"]
    return NodeConfig(
        **{
            **packed,
            "weights": {int(j): float(w) for j, w in packed["weights"].items()},
            "cost": make(**cost),
            "low": -math.inf if packed["low"] is None else float(packed["low"]),
            "high": math.inf if packed["high"] is None else float(packed["high"]),
            "learner": None if learner is None else _unpack_learner(learner),
        }
    )


def check_keys(packed: Json, where: str, known: tuple[str, ...]) -> None:
    """Refuse unknown and missing keys.

    Raises:
        InputError: A key is unknown or missing; the message names the first one.
    """
    strange, missing = sorted(set(packed) - set(known)), sorted(set(known) - set(packed))
    if strange:
        raise _unknown(where, strange[0], known)
    if missing:
        raise InputError(
            f"has no {missing[0]!r}", where=where, allowed=", ".join(known), remedy="add it"
        )


def _pack_learner(learner: Learner) -> Json:
    gradient: Any = learner.gradient
    shard = gradient.shard
    return {
        "loss": _pack_object(gradient.loss, _LOSSES, "loss"),
        "features": _pack_array(shard.features),
        "targets": _pack_array(shard.targets),
        "weight": _pack_array(shard.weight),
        "sizes": _pack_array(shard.sizes),
        "centres": gradient.centres,
        "start": _pack_array(learner.start),
        "step": learner.step,
        "alpha": learner.alpha,
    }


def _unpack_learner(packed: Json) -> Learner:
    # Imported here: centres without a model start without SciPy, in half the time.
    from walras.network.drivers.shard import ShardGradient  # noqa: PLC0415
    from walras.network.problem import losses  # noqa: PLC0415
    from walras.network.problem.shards import Shards  # noqa: PLC0415

    arrays = ("features", "targets", "weight", "sizes")
    check_keys(packed, "learner", ("loss", *arrays, "centres", "start", "step", "alpha"))
    loss = dict(packed["loss"])
    kind = loss.pop("kind", "")
    if kind not in _LOSSES:
        raise _unknown("loss", kind, _LOSSES)
    shard = Shards(*(_unpack_array(packed[name]) for name in arrays))
    gradient = ShardGradient(getattr(losses, kind)(**loss), shard, int(packed["centres"]))
    start = _unpack_array(packed["start"])
    return Learner(gradient, start, float(packed["step"]), float(packed["alpha"]))


def _pack_object(value: Any, known: tuple[str, ...], where: str) -> Json:
    kind = type(value).__name__
    if kind not in known or not is_dataclass(value):
        raise InputError(
            f"is a {kind}, which cannot be sent to another process",
            where=where,
            allowed=", ".join(known),
            remedy="state it as one of these, or use simulate, which runs in this process",
        )
    return {"kind": kind, **asdict(value)}  # type: ignore[arg-type]


def _pack_array(array: npt.NDArray[Any]) -> Json:
    little = array.astype(array.dtype.newbyteorder("<"))
    data = base64.b64encode(np.ascontiguousarray(little).tobytes()).decode()
    return {"dtype": little.dtype.str, "shape": list(array.shape), "data": data}


def _unpack_array(packed: Json) -> npt.NDArray[Any]:
    check_keys(packed, "array", ("dtype", "shape", "data"))
    if packed["dtype"] not in _TYPES:
        raise _unknown("array", packed["dtype"], _TYPES)
    flat = np.frombuffer(base64.b64decode(packed["data"], validate=True), packed["dtype"])
    native = flat.astype(flat.dtype.newbyteorder("="))
    return np.asarray(native.reshape(packed["shape"]))


def _finite(bound: float) -> float | None:
    return bound if math.isfinite(bound) else None


def _unknown(where: str, name: object, known: tuple[str, ...]) -> InputError:
    return InputError(
        f"has the unknown entry {name!r}",
        where=where,
        allowed=", ".join(known),
        remedy="correct its spelling, or leave it out",
    )
