"""A round in the process beside the service: bytes of a snapshot in, bytes of a decision out."""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from walras.exchange.runtime.frames import joined, parted
from walras.policies.exchange import Policy, Predict, decide, predicting
from walras.rounds import Clusters, Snapshot, Tasks, Tenants

if TYPE_CHECKING:
    from walras.predict import Predictor


def asked(
    snapshot: bytes, model: bytes, policy: str, seed: int, seconds: float, predictor: str
) -> bytes:
    """What :func:`decided` takes.

    Args:
        snapshot: Canonical bytes of the snapshot.
        model: The predictor's file; empty for the prior.
        policy: The policy, as JSON.
        seed: The seed.
        seconds: How long the search may take.
        predictor: The predictor's name.
    """
    head = {"policy": policy, "seed": seed, "seconds": seconds, "predictor": predictor}
    return joined(json.dumps(head).encode(), snapshot, model)


def decided(data: bytes) -> bytes:
    """Decide a round.

    Args:
        data: What :func:`asked` gave.

    Returns:
        Canonical bytes of the decision.

    Raises:
        WalrasError: The snapshot, the policy or the predictor cannot be used.
    """
    head, snapshot, model = parted(data)
    given = json.loads(head)
    taken = Snapshot.from_bytes(snapshot)
    made = decide(
        taken,
        _predict(model, taken.typical),
        Policy.from_document(given["policy"]),
        seed=given["seed"],
        time_limit=given["seconds"],
        clock=time.monotonic,
        predictor=given["predictor"],
    )
    return made.to_bytes()


def warmed(data: bytes) -> bytes:
    """Decide a small round, so that the first one that counts need not import or compile."""
    snapshot = Snapshot.of(
        Tasks.of(["a", "b", "c"]), Clusters.of(["x", "y"], slots=[2, 1]), Tenants.of(["t"])
    )
    decide(snapshot, time_limit=1.0, clock=time.monotonic)
    return data


def _predict(model: bytes, typical: float) -> Predict | None:
    if not model:
        return None
    return predicting(_loaded(hashlib.sha256(model).hexdigest(), model), typical)


@lru_cache(2)
def _loaded(_: str, model: bytes) -> Predictor:
    from walras.predict import load  # noqa: PLC0415 - seconds to import; the prior does without

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "predictor.npz"
        path.write_bytes(model)
        return load(path)
