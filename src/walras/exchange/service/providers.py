"""Providers: the work of theirs that is confirmed, and the share of a round that it gives them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from walras.exchange.service import policies, snapshot_clusters
from walras.exchange.service.timing import Timing
from walras.exchange.store.statements import Transaction
from walras.policies.placements.providers import Providers


def providers(
    tx: Transaction, now: float, timing: Timing, only: Collection[str] | None
) -> list[dict[str, Any]]:
    """All providers, by name, as the next round sees them.

    Args:
        tx: The transaction.
        now: The service's time.
        timing: How long leases last.
        only: Clusters whose providers are shown; None for all.
    """
    recent = snapshot_clusters.recent(tx)
    found = snapshot_clusters.clusters(tx, now, timing, (), recent)
    kappa = policies.in_force(tx).rules.kappa
    bounded = Providers.of_clusters(found, kappa)
    share = dict(zip(bounded.names, bounded.share.tolist(), strict=True))
    names = np.array(found.provider, object)
    made = []
    for name in sorted(set(found.provider)):
        mine = np.flatnonzero(names == name)
        uids = [found.uid[i] for i in mine]
        if only is not None and not set(uids) & set(only):
            continue
        trusted = bool(found.trusted[mine].all())
        held = share.get(name)
        made.append(
            {
                "provider": name,
                "clusters": uids,
                "trusted": trusted,
                "confirmed": float(found.confirmed[mine].sum()),
                "share": held,
                "cap": None if trusted or held is None else min((1.0 + kappa) * held, 1.0),
            }
        )
    return made
