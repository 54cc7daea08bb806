"""The choice of a back end: the protocol's nodes, or the vectorised method."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from walras import checks
from walras.errors import InputError
from walras.network.drivers.plan import Plan
from walras.network.graph.network import Network
from walras.network.links.faults import Faults
from walras.network.links.quantizers import Ideal, Links
from walras.network.methods.interfaces import Method
from walras.network.problem.network_problem import Problem
from walras.network.protocol.settings import Settings
from walras.types import Bools

Backend = Literal["auto", "protocol", "vectorised"]
"""``protocol`` runs the nodes that ``deploy`` runs; ``vectorised`` steps all centres at once."""

BACKENDS = ("auto", "protocol", "vectorised")
# largest number of messages that "auto" gives to the protocol: about five seconds of one core
MOST_MESSAGES = 50_000
# a message tells of every centre: beyond so many centres its cost grows with their number
_MANY_CENTRES = 100


def protocol_plan(
    problem: Problem,
    network: Network,
    steps: int,
    *,
    links: Links | None,
    faults: Faults | None,
    method: Method,
    start: npt.ArrayLike | None,
    seed: int,
    settings: Settings | None,
    backend: Backend,
) -> Plan | None:
    """The plan of the protocol's nodes, or None for the vectorised method.

    ``auto`` takes the protocol if only the protocol settles the faults correctly, and wherever the
    protocol can run within ``MOST_MESSAGES`` messages. In all other cases both end with the same
    shares.

    Raises:
        InputError: The requested back end would treat the run differently, or cannot run it.
    """
    checks.one_of(backend, "backend", BACKENDS)
    faults = faults or Faults()
    faults.check(problem.centres)
    reason = why_protocol(network, faults, steps)
    if backend == "vectorised":
        _refuse_vectorised(reason, settings)
        return None

    def plan() -> Plan:
        _refuse_protocol(links, faults, settings, reason)
        chosen = settings or Settings.of_diameter(network.diameter, steps=steps)
        found = Plan(problem, network, chosen, method, start, seed)  # type: ignore[arg-type]
        _ = found.network_config  # raises the plan's errors
        return found

    if backend == "protocol" or reason or settings is not None:
        return plan()
    weight = max(1.0, problem.centres / _MANY_CENTRES)
    if steps * len(network.at(0).tail) * weight > MOST_MESSAGES:
        return None
    try:
        return plan()
    # the protocol cannot run it; the vectorised method ends with the same shares
    except InputError:
        return None


def why_protocol(network: Network, faults: Faults, steps: int) -> str:
    """The reason why only the protocol settles these faults; empty if both back ends do."""
    n = network.centres
    if faults.delay:
        return f"messages are delayed by up to {faults.delay} steps"
    if faults.cuts:
        return "the network is cut"
    for crash in faults.all_crashes:
        running = faults.running(n, crash.step)
        if crash.step < steps and 2 * running <= n:
            return (
                f"{running} of {n} centres run after step {crash.step}, which is not more than half"
            )
    crashed = np.zeros(n, bool)
    crashed[[crash.centre for crash in faults.all_crashes if crash.step < steps]] = True
    if network.law is None and _cut_apart(network, crashed):
        return "the crashes cut the survivors apart"
    return ""


def _refuse_vectorised(reason: str, settings: Settings | None) -> None:
    if reason:
        raise InputError(
            f"would settle this differently from the protocol: {reason}",
            where="backend = vectorised",
            allowed="no delays, no cuts, and crashes that leave more than half of the centres "
            "running and connected",
            remedy="the back end 'protocol', which runs the nodes that deploy runs",
        )
    if settings is not None:
        raise InputError(
            "are the protocol's",
            where="settings, with backend = vectorised",
            allowed="none",
            remedy="the back end 'protocol', or faults=Faults(lease=...)",
        )


def _refuse_protocol(
    links: Links | None, faults: Faults, settings: Settings | None, reason: str
) -> None:
    needed = f" (needed, since {reason})" if reason else ""
    if links is not None and not isinstance(links, Ideal):
        raise InputError(
            f"carry codes, not 64-bit numbers: {type(links).__name__}",
            where="links, with backend = protocol" + needed,
            allowed='Ideal(), or links left out; in a scenario, kind = "ideal" in [links]',
            remedy="leave links out" if reason else "leave links out, or the back end 'vectorised'",
        )
    if settings is None and faults.lease != Faults.lease:
        raise InputError(
            f"is {faults.lease}",
            where="faults.lease, with backend = protocol" + needed,
            allowed="left out: leases fit the network's diameter",
            remedy="settings=Settings(lease=...) of walras.network.protocol.settings",
        )


def _cut_apart(network: Network, gone: Bools) -> bool:
    """Whether some remaining centres cannot reach each other."""
    left = network.without(gone)
    arcs = sparse.csr_array(
        (np.ones(len(left.tail)), (left.tail, left.head)), shape=(network.centres,) * 2
    )
    parts = int(csgraph.connected_components(arcs, connection="strong")[0])
    return parts - int(gone.sum()) > 1  # each crashed centre is a component of its own
