"""Predictions of a task that need not be submitted, by the predictor that rounds use."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from walras.exchange.runtime.compute import Compute
from walras.exchange.runtime.deciding import forgetting, loaded
from walras.exchange.runtime.exchange import Exchange
from walras.exchange.runtime.planning import predictor_in_force
from walras.exchange.service import snapshot_clusters
from walras.exchange.service.snapshots import PRIOR, TYPICAL
from walras.exchange.store.statements import Transaction
from walras.policies import placements
from walras.rounds import Forecast, prior

_SECONDS = 20.0  # the process beside the service may have to import what predictors need first


def predictions(
    exchange: Exchange, compute: Compute, features: Mapping[str, float], clusters: Sequence[str]
) -> dict[str, Any]:
    """Predict a task on clusters, as rounds would.

    Args:
        exchange: Whose predictor is asked.
        compute: The process that predicts.
        features: Of the task; those that the predictor does not read are left out.
        clusters: Names, in any order; they need not be in the exchange.

    Returns:
        ``predictor`` and ``items``, one a cluster.

    Raises:
        ComputeError: It was late, or the predictor cannot be used.
    """
    name, model, head = exchange.read(_taken)
    if not model:
        return {"predictor": name, "items": _unknown(clusters, head["typical"])}
    head |= {"features": dict(features), "clusters": list(dict.fromkeys(clusters))}
    question = json.dumps(head).encode() + b"\n" + model
    found = json.loads(compute.call("predict", question, _SECONDS))
    by_name = {one["cluster"]: one for one in found}
    items = [by_name[uid] for uid in clusters]
    return {"predictor": name if any(one["known"] for one in items) else PRIOR, "items": items}


def _taken(tx: Transaction) -> tuple[str, bytes, dict[str, Any]]:
    """Name and file of the predictor, and what else the other process needs."""
    name, model, forget = predictor_in_force(tx)
    typical = snapshot_clusters.recent(tx).typical or TYPICAL
    return name, model, {"typical": typical, "forget": forget}


def _unknown(clusters: Sequence[str], typical: float) -> list[dict[str, Any]]:
    found = prior(typical)(np.zeros((1, 0), np.float32), (), tuple(clusters))
    return _items(found, clusters, frozenset())


def predicted(data: bytes) -> bytes:
    """Predict, in the process beside the service.

    Args:
        data: A line of JSON (features, clusters, typical, forget), then the predictor's file.

    Returns:
        The items, as JSON.

    Raises:
        WalrasError: The predictor cannot be used.
    """
    line, _, model = data.partition(b"\n")
    asked = json.loads(line)
    features, clusters = asked["features"], tuple(asked["clusters"])
    known = loaded(hashlib.sha256(model).hexdigest(), model)
    names = tuple(known.feature_names)
    if not set(names) <= features.keys():
        return json.dumps(_unknown(clusters, asked["typical"])).encode()
    forget = frozenset(asked["forget"])
    row = np.array([[features[name] for name in names]], np.float32)
    found = forgetting(placements.predicting(known, asked["typical"]), forget)(row, names, clusters)
    return json.dumps(_items(found, clusters, frozenset(known.clusters) - forget)).encode()


def _items(found: Forecast, clusters: Sequence[str], known: frozenset[str]) -> list[dict[str, Any]]:
    return [
        {
            "cluster": name,
            "known": name in known,
            "seconds": float(found.seconds[i, 0]),
            "seconds_low": float(found.seconds_low[i, 0]),
            "seconds_high": _finite(float(found.seconds_high[i, 0])),
            "chance": float(found.chance[i, 0]),
            "chance_low": float(found.chance_low[i, 0]),
            "chance_high": float(found.chance_high[i, 0]),
        }
        for i, name in enumerate(clusters)
    ]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
