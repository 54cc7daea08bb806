"""A node's state as JSON and back; a shortened trace begins with it.

Objects are written attribute by attribute. Only the classes of the protocol are read, and none of
their methods is called. The configurations of centre and network never change, so they are left
out.
"""

from __future__ import annotations

import base64
from collections import Counter, deque
from typing import Any

import numpy as np

from walras.errors import DataError
from walras.network.protocol.centre import Local, NodeConfig
from walras.network.protocol.crash_settlement import Settlement
from walras.network.protocol.ledger import Ledger, Link
from walras.network.protocol.membership import Membership, Memory
from walras.network.protocol.node import Heard, NetworkConfig, Node
from walras.network.protocol.records import Record

_CLASSES: dict[str, type] = {
    kind.__name__: kind
    for kind in (Node, Local, Settlement, Ledger, Link, Membership, Memory, Record, Heard)
}
_SERIES: dict[str, Any] = {
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "deque": deque,
    "list": list,
}
_TYPES = ("|b1", "<i4", "<i8", "<f8")


def frozen(node: Node) -> Any:
    """Turn a node's state into JSON values."""
    return _freeze(node, (node.node_config, node.network_config, node.network_config.settings))


def thawed(state: Any, node_config: NodeConfig, network_config: NetworkConfig) -> Node:
    """Restore the node that :func:`frozen` wrote.

    Raises:
        DataError: It is not the state of a node.
    """
    try:
        node = _thaw(state, (node_config, network_config, network_config.settings))
    except (KeyError, ValueError, TypeError, IndexError, RecursionError) as error:
        raise DataError(
            f"holds no state of a centre: {error}",
            where=f"trace of centre {node_config.centre}",
            allowed="a trace of this version",
            remedy="start a new deployment in another folder",
        ) from error
    if not isinstance(node, Node):
        raise DataError(
            "holds no state of a centre",
            where=f"trace of centre {node_config.centre}",
            allowed="a trace of this version",
            remedy="start a new deployment in another folder",
        )
    return node


def _freeze(value: Any, given: tuple[Any, ...]) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    for k, known in enumerate(given):
        if value is known:
            return ["given", k]
    if isinstance(value, np.ndarray):
        data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return ["array", value.dtype.str, list(value.shape), data]
    if isinstance(value, bytes):
        return ["bytes", base64.b64encode(value).decode()]
    if isinstance(value, dict):
        pairs = [[_freeze(k, given), _freeze(v, given)] for k, v in value.items()]
        return ["counter" if isinstance(value, Counter) else "dict", pairs]
    name = type(value).__name__
    if name in _SERIES:
        return [name, [_freeze(part, given) for part in value]]
    if _CLASSES.get(name) is not type(value):
        raise TypeError(
            f"{name}: an object cannot be part of a snapshot unless its class is named here"
        )
    return ["object", name, {key: _freeze(v, given) for key, v in vars(value).items()}]


def _thaw(frozen: Any, given: tuple[Any, ...]) -> Any:
    if not isinstance(frozen, list):
        return frozen
    kind, *parts = frozen
    if kind == "given":
        return given[parts[0]]
    if kind == "array":
        dtype, shape, data = parts
        if dtype not in _TYPES:
            raise ValueError(f"an array of {dtype}")
        return np.frombuffer(base64.b64decode(data), dtype).reshape(shape).copy()
    if kind == "bytes":
        return base64.b64decode(parts[0])
    if kind in ("dict", "counter"):
        pairs = {_thaw(k, given): _thaw(v, given) for k, v in parts[0]}
        return Counter(pairs) if kind == "counter" else pairs
    if kind == "object":
        name, attributes = parts
        made: Any = object.__new__(_CLASSES[name])
        vars(made).update({key: _thaw(v, given) for key, v in attributes.items()})
        return made
    return _SERIES[kind](_thaw(part, given) for part in parts[0])
