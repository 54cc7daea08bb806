"""What a routing of traffic came to: facts, flows, links and the pairs that lack most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras.domains import traffic_engineering as te
from walras.domains.traffic_engineering.traffic import names_file
from walras.reports.tables import Cell, Table
from walras.types import Floats

_NEGLIGIBLE = 1e-9  # share of the largest flow below which a flow is rounding
_SHOWN = 12  # pairs in the table; json and csv have all of them


@dataclass(frozen=True, eq=False)
class RoutedTraffic:
    """The data of a traffic problem.

    Attributes:
        net: The network, without the links that failed.
        demand: (nodes, nodes) traffic asked for.
        paths: Candidate paths.
        kept: (nodes, nodes) the demand without what is left out since no path joins it.
        synthetic: What of it is drawn at random, in words; empty where nothing is.
    """

    net: te.Network
    demand: Floats
    paths: te.Paths
    kept: Floats
    synthetic: str = ""

    @property
    def headline(self) -> str:
        """A title that says what of the data is synthetic."""
        return f"synthetic data: {self.synthetic}" if self.synthetic else ""


def synthetic_parts(net: te.Network, demand: str, failures: int) -> str:
    """The parts of the data that are drawn at random, in words.

    Args:
        net: The network.
        demand: The file or the model of the demand.
        failures: Number of links that fail at random.
    """
    parts = ["stand-in of the network"] if "synthetic" in net.origin else []
    parts += ["capacities"] if "drawn" in net.origin else []
    parts += [] if names_file(demand) else [f"{demand} traffic"]
    parts += ["failures"] if failures else []
    return ", ".join(parts)


def without_rounding(flow: Floats) -> Floats:
    """(paths,) the flow, with 0 in place of flows that are rounding."""
    return np.where(flow > _NEGLIGIBLE * max(float(flow.max()), 1e-300), flow, 0.0)


def facts_of(given: RoutedTraffic, judged: te.Evaluation) -> dict[str, Cell]:
    """What was asked for and served, by the name of the fact."""
    net, paths = given.net, given.paths
    return {
        **({"synthetic": given.synthetic} if given.synthetic else {}),
        "network": net.name,
        "origin": net.origin,
        "nodes": net.nodes,
        "links": net.links,
        "pairs": paths.pairs,
        "pairs without a path": paths.disconnected,
        "candidate paths": paths.count,
        "traffic asked for": judged.asked,
        "traffic left out": float((given.demand - given.kept).sum()),
        "share served": judged.satisfied,
        "largest utilisation": judged.max_utilisation,
    }


def flows_table(paths: te.Paths, flow: Floats) -> Table:
    """One row a path that carries traffic."""
    names = paths.network.node_names
    rows = [
        (
            names[paths.source[paths.pair[p]]],
            names[paths.target[paths.pair[p]]],
            float(flow[p]),
            " ".join(names[v] for v in paths.nodes_of(p)),
        )
        for p in np.flatnonzero(flow).tolist()
    ]
    return Table(("source", "target", "flow", "path"), rows)


def links_table(given: RoutedTraffic, judged: te.Evaluation, price: Floats, most: int) -> Table:
    """The fullest links, of equally full ones the dearest first."""
    full = np.round(judged.utilisation, 6)
    order = np.lexsort((-price, -full))[:most].tolist()
    rows = [
        (
            given.net.link_name(e),
            float(given.net.capacity[e]),
            float(judged.load[e]),
            float(judged.utilisation[e]),
            float(price[e]),
        )
        for e in order
    ]
    title = f"fullest {len(rows)} of {given.net.links} links"
    return Table(("link", "capacity", "load", "utilisation", "price of one more"), rows, title)


def worst_served(given: RoutedTraffic, judged: te.Evaluation) -> Table:
    """The pairs that lack most."""
    lacking = np.where(judged.demand > judged.served, judged.demand - judged.served, 0.0)
    lacking[lacking <= _NEGLIGIBLE * judged.demand] = 0.0
    some = int(np.count_nonzero(lacking))
    order = np.argsort(-lacking, kind="stable")[: min(some, _SHOWN)].tolist()
    names = given.paths.pair_names
    rows = [(names[j], float(judged.demand[j]), float(judged.served[j])) for j in order]
    title = f"{some} of {given.paths.pairs} pairs are not served in full" + (
        f"; the {len(rows)} that lack most" if some > len(rows) else ""
    )
    return Table(("pair", "demand", "served"), rows, title)
