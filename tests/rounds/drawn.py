"""Random snapshots for property tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from walras.rounds import STATES, Clusters, FeatureSet, Rest, Rules, Snapshot, Tasks, Tenants

LABELS: tuple[dict[str, str], ...] = (
    {},
    {"gpu": "h100"},
    {"gpu": "a100"},
    {"zone": "eu"},
    {"gpu": "h100", "zone": "eu"},
)


def random_snapshot(
    rng: np.random.Generator, n: int, m: int, tenants: int = 2, rules: Rules | None = None
) -> Snapshot:
    """A snapshot in which everything varies."""
    slots = rng.integers(0, 5, m)
    ready = np.where(rng.random(slots.sum()) < 0.7, 0.0, rng.uniform(1, 100, slots.sum()))
    ready[rng.random(slots.sum()) < 0.05] = np.inf
    providers = [f"p{k}" for k in rng.integers(0, max(m // 2, 1), m)]
    clusters = Clusters.of(
        [f"c{i}" for i in range(m)],
        slots=slots,
        ready=ready,
        provider=providers,
        trusted=rng.random(m) < 0.3,
        labels=[LABELS[k] for k in rng.integers(0, len(LABELS), m)],
        price=rng.uniform(0, 3, m),
        state=[STATES[max(k, 0)] for k in rng.integers(-2, 4, m)],
        confirmed=np.where(rng.random(m) < 0.5, 0.0, rng.uniform(0, 1e4, m)),
    )
    sets = rng.integers(0, 2, n)
    tasks = Tasks.of(
        [f"t{j}" for j in range(n)],
        tenant=rng.integers(0, tenants, n),
        priority=rng.integers(-1, 2, n),
        submitted=rng.uniform(0, 100, n).round(),
        deadline=np.where(rng.random(n) < 0.7, np.inf, rng.uniform(50, 300, n)),
        slots=rng.choice([1, 1, 1, 2, 3], n),
        min_success=np.where(rng.random(n) < 0.7, 0.0, rng.uniform(0.3, 1, n)),
        requires=rng.choice(len(LABELS), n, p=[0.6, 0.1, 0.1, 0.1, 0.1]),
        feature_set=sets,
        pin=np.where(rng.random(n) < 0.9, -1, rng.integers(0, m, n)) if m else np.full(n, -1),
        previous=rng.integers(-1, m, n),
        attempt=rng.integers(0, 3, n),
        version=rng.integers(0, 9, n),
        ahead=rng.permutation(n),
    )
    features = (
        FeatureSet(("a", "b"), rng.normal(size=(int((sets == 0).sum()), 2)).astype(np.float32)),
        FeatureSet((), np.zeros((int((sets == 1).sum()), 0), np.float32)),
    )
    pairs = np.argwhere(rng.random((n, m)) < 0.1)
    given: dict[str, Any] = {"tried": pairs, "features": features, "requirements": LABELS}
    return Snapshot.of(
        tasks,
        clusters,
        Tenants.of(
            [f"tenant-{t}" for t in range(tenants)],
            weight=rng.uniform(0.5, 3, tenants),
            quota=rng.integers(-1, 12, tenants),
            in_use=rng.integers(0, 4, tenants),
            used=rng.uniform(0, 500, tenants),
        ),
        at=100.0,
        rules=rules or Rules(),
        rest=Rest(*(rng.integers(1, 2, 3) for _ in range(5))),
        typical=float(rng.uniform(10, 100)),
        **given,
    )


@st.composite
def snapshots(draw: st.DrawFn, tasks: int = 12, clusters: int = 5) -> Snapshot:
    """Snapshots of up to so many tasks and clusters."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m = draw(st.integers(0, tasks)), draw(st.integers(0, clusters))
    rules = Rules(
        min_success=draw(st.sampled_from([0.0, 0.5, 0.8, 1.0])),
        window=draw(st.sampled_from([0.5, 1.0, 2.0])),
        kappa=draw(st.sampled_from([0.0, 0.25, 2.0])),
    )
    return random_snapshot(rng, n, m, draw(st.integers(2, 3)), rules)
