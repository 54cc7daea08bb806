"""What the process beside the service does for predictors: trains them, asks two the same."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from walras.exchange.service import promotion
from walras.exchange.service.learning import Rows

if TYPE_CHECKING:
    from walras.predict import Predictor

_ARRAYS = (
    "features", "cluster", "seconds", "success", "propensity", "round", "size", "slots",
)  # fmt: skip


def pack(rows: Rows, **more: bytes) -> bytes:
    """Rows and models as bytes: arrays and JSON, no pickle."""
    header = {
        "last": rows.last,
        "names": rows.names,
        "feature_names": rows.feature_names,
        "clusters": rows.clusters,
    }
    arrays: dict[str, Any] = {name: getattr(rows, name) for name in _ARRAYS}
    arrays |= {f"more.{name}": np.frombuffer(data, np.uint8) for name, data in more.items()}
    stream = io.BytesIO()
    np.savez(stream, header=np.array(json.dumps(header)), **arrays)
    return stream.getvalue()


def unpack(data: bytes) -> tuple[Rows, dict[str, bytes]]:
    """What :func:`pack` was given."""
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        arrays = dict(stored)
    header = json.loads(str(arrays.pop("header")))
    more = {
        name.removeprefix("more."): array.tobytes()
        for name, array in arrays.items()
        if name.startswith("more.")
    }
    rows = Rows(
        last=int(header["last"]),
        names=tuple(header["names"]),
        feature_names=tuple(header["feature_names"]),
        clusters=tuple(header["clusters"]),
        **{name: arrays[name] for name in _ARRAYS},
    )
    return rows, more


def train(data: bytes) -> bytes:
    """Train on rows, beginning at the model ``start`` where there is one.

    Clusters without a measured time are left out: what is predicted of them is a prior.

    Returns:
        A line of JSON, the clusters, and the model's bytes.
    """
    # Imported here and below: only the process that trains needs it.
    from walras.predict import Predictor, Training  # noqa: PLC0415
    from walras.predict.by_cluster import Runs, fit_runs  # noqa: PLC0415

    rows, more = unpack(data)
    timed = np.unique(rows.cluster[~np.isnan(rows.seconds)])
    kept = np.isin(rows.cluster, timed)
    start = Predictor.from_bytes(more["start"]) if "start" in more else None
    if start is not None and start.feature_names != rows.feature_names:
        start = None
    runs = Runs(
        [name for name, keep in zip(rows.names, kept, strict=True) if keep],
        tuple(rows.clusters[i] for i in timed),
        rows.features[kept].astype(np.float64),
        np.arange(int(kept.sum())),
        np.searchsorted(timed, rows.cluster[kept]),
        rows.seconds[kept],
        rows.success[kept],
        np.ones(int(kept.sum())),
        rows.feature_names,
    )
    return json.dumps(runs.clusters).encode() + b"\n" + fit_runs(runs, Training(), start).to_bytes()


def score(data: bytes) -> bytes:
    """Judge the model ``candidate`` against ``active``, or against ``prior``; JSON of the verdict.

    ``prior`` is JSON: ``seconds`` and ``success`` of every task, and the candidate's ``age``.
    """
    from walras.predict import Predictor  # noqa: PLC0415

    rows, more = unpack(data)
    facts = json.loads(more["prior"])
    runs = promotion.Runs(
        rows.round,
        rows.cluster,
        rows.seconds,
        rows.success,
        rows.propensity,
        rows.size,
        rows.slots,
        tuple(rows.clusters),
    )
    candidate = predicted(rows, Predictor.from_bytes(more["candidate"]))
    if "active" in more:
        other = predicted(rows, Predictor.from_bytes(more["active"]))
    else:
        shape = len(rows.clusters), len(rows)
        nothing = np.zeros(len(rows))
        other = promotion.Predictions(
            np.full(shape, facts["seconds"]), np.full(shape, facts["success"]), nothing, nothing
        )
    found = promotion.judge(runs, other, candidate, facts["age"])
    return json.dumps([found.decision, found.why, _plain(found.scores)]).encode()


def _plain(value: Any) -> Any:
    """Without what JSON has no word for."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def predicted(rows: Rows, predictor: Predictor) -> promotion.Predictions:
    """What a predictor says of rows, which have its features."""
    import pandas as pd  # noqa: PLC0415

    frame = pd.DataFrame(rows.features.astype(np.float64), columns=list(rows.feature_names))
    found = predictor.predict(frame, clusters=rows.clusters)
    k = np.arange(len(rows))
    return promotion.Predictions(
        np.clip(found.times, 1e-6, 1e15),
        found.success,
        found.low[rows.cluster, k],
        found.high[rows.cluster, k],
    )
