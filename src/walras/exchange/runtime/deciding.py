"""A round in the process beside the service: bytes of a snapshot in, bytes of a decision out."""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from walras.policies import placements
from walras.policies.placements import Policy
from walras.rounds import Clusters, Forecast, Predict, Snapshot, Tasks, Tenants
from walras.rounds.forecast import Features

if TYPE_CHECKING:
    from walras.predict import Predictor

_HIDDEN = "?"  # no cluster's name begins so


def asked(
    snapshot: bytes,
    model: bytes,
    policy: str,
    seed: int,
    seconds: float,
    predictor: str,
    forget: Sequence[str] = (),
) -> bytes:
    """What :func:`decided` takes.

    Args:
        snapshot: Canonical bytes of the snapshot.
        model: The predictor's file; empty for the prior.
        policy: The policy, as JSON.
        seed: The seed.
        seconds: How long the search may take.
        predictor: The predictor's name.
        forget: Clusters of which it is to know nothing: they lied since it was trained.
    """
    head = {
        "policy": policy,
        "seed": seed,
        "seconds": seconds,
        "predictor": predictor,
        "forget": list(forget),
        "snapshot": len(snapshot),  # bytes of it; the rest is the model
    }
    return json.dumps(head).encode() + b"\n" + snapshot + model


def decided(data: bytes) -> bytes:
    """Decide a round.

    Args:
        data: What :func:`asked` gave.

    Returns:
        Canonical bytes of the decision.

    Raises:
        WalrasError: The snapshot, the policy or the predictor cannot be used.
    """
    head, _, rest = data.partition(b"\n")
    given = json.loads(head)
    snapshot, model = rest[: given["snapshot"]], rest[given["snapshot"] :]
    taken = Snapshot.from_bytes(snapshot)
    made = placements.decide(
        taken,
        _predict(model, taken.typical, frozenset(given["forget"])),
        Policy.from_document(given["policy"]),
        seed=given["seed"],
        time_limit=given["seconds"],
        clock=time.monotonic,
        predictor=given["predictor"],
    )
    return made.to_bytes()


def warmed(data: bytes) -> bytes:
    """Decide a small round, so that the first one that counts need not import or compile.

    Args:
        data: ``predictor`` to import what predictors need, too.
    """
    snapshot = Snapshot.of(
        Tasks.of(["a", "b", "c"]), Clusters.of(["x", "y"], slots=[2, 1]), Tenants.of(["t"])
    )
    placements.decide(snapshot, time_limit=1.0, clock=time.monotonic)
    if data:
        import walras.predict  # noqa: F401, PLC0415 - seconds; the prior does without
    return data


def _predict(model: bytes, typical: float, forget: frozenset[str]) -> Predict | None:
    if not model:
        return None
    known = placements.predicting(loaded(hashlib.sha256(model).hexdigest(), model), typical)
    return forgetting(known, forget) if forget else known


def forgetting(known: Predict, forget: frozenset[str]) -> Predict:
    """Predictions in which some clusters are as those never seen: they have the prior."""

    def predict(features: Features, names: tuple[str, ...], clusters: tuple[str, ...]) -> Forecast:
        hidden = tuple(f"{_HIDDEN}{uid}" if uid in forget else uid for uid in clusters)
        return known(features, names, hidden)

    return predict


@lru_cache(2)
def loaded(_: str, model: bytes) -> Predictor:
    """The predictor of a file; kept by the file's hash, which comes first."""
    from walras.predict import load  # noqa: PLC0415 - seconds to import; the prior does without

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "predictor.npz"
        path.write_bytes(model)
        return load(path)
