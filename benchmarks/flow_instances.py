"""Instances of traffic engineering: the peers' networks, the released paths, drawn traffic.

The peers' production traffic is not public. Its only published statistic, that the top tenth of the
demands carries 88.4 % of the volume, fixes the spread of the lognormal traffic drawn here.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.flow import FlowInstance
from walras import data
from walras.domains import traffic_engineering as te
from walras.domains.traffic_engineering import Network, Paths
from walras.domains.traffic_engineering.traffic import SIGMA
from walras.separable import Separable
from walras.types import Floats

RELEASED = ("B4", "UsCarrier")  # networks whose candidate paths the peers have published
PATHS = 4  # candidate paths a pair at most
HARD_SPREAD = 0.5  # of the logarithms of hard traffic: no pair is a large part of the whole

_LINK_PRICES = (1, 4)  # of the planted optimum: small integers, so that paths tie
_LEAST_CAPACITY = 0.1  # of the median load, for links that the planted routing leaves empty


@dataclass(frozen=True)
class FlowSpec:
    """Complete name of an instance.

    Attributes:
        topology: ``B4``, ``UsCarrier``, ``Kdl``, ``ASN2k``, or a graph of the Topology Zoo;
            ``ASN2k-150`` is the subnetwork of its 150 best connected nodes.
        level: Traffic over the sum of all capacities.
        seed: Of the traffic.
        traffic: ``lognormal``, ``gravity`` or ``hard`` (:func:`hard_capacity`).
        churn: Spread of the logarithm of each demand's change since the instance before.
    """

    topology: str
    level: float = 0.15
    seed: int = 100
    traffic: str = "lognormal"
    churn: float = 0.0

    @property
    def name(self) -> str:
        """Short name for files and tables."""
        churn = [f"churn{self.churn:g}"] if self.churn else []
        parts = [self.topology.lower(), self.traffic, f"x{self.level:g}", *churn]
        return "-".join([*parts, f"s{self.seed}"])

    @property
    def previous(self) -> FlowSpec:
        """The instance before its demands changed."""
        return replace(self, churn=0.0)


def build_flow(spec: FlowSpec) -> FlowInstance:
    """Make the arrays of an instance.

    Traffic is in units of the mean demand, since the published scheme's fixed rho of 1 depends on
    the unit; no other method does.

    Raises:
        walras.errors.WalrasError: If a network is unknown or a data set cannot be read.
    """
    network, paths = network_and_paths(spec.topology)
    demand = paths.demands(_traffic(network, spec))
    demand = demand * (spec.level * network.capacity.sum() / demand.sum())
    if spec.churn:
        rng = np.random.default_rng((spec.seed, 1))
        demand = demand * np.exp(spec.churn * rng.standard_normal(len(demand)))
    made = arrays(network, paths, demand)
    if spec.traffic == "hard":
        made = replace(made, capacity=hard_capacity(made, spec.seed))
    unit = float(made.demand.mean())
    return replace(made, capacity=made.capacity / unit, demand=made.demand / unit)


def _traffic(network: Network, spec: FlowSpec) -> Floats:
    if spec.traffic == "gravity":
        return te.gravity_traffic(network, seed=spec.seed, spread=0.5)
    spread = HARD_SPREAD if spec.traffic == "hard" else SIGMA
    return te.lognormal_traffic(network, seed=spec.seed, sigma=spread)


@functools.lru_cache(maxsize=2)
def network_and_paths(topology: str) -> tuple[Network, Paths]:
    """A network, and the released paths where there are any, else our own search's."""
    name, _, size = topology.partition("-")
    network = te.load_topology(name)
    if size:
        network = core(network, int(size))
    if topology not in RELEASED:
        return network, te.candidate_paths(network, k=PATHS)
    released = data.load("te_paths").paths[topology]
    return network, Paths.of_nodes(network, released.nodes, released.offset, "released")


def core(network: Network, nodes: int) -> Network:
    """The nodes with the most links, and the links between them."""
    degree = np.bincount(network.source, minlength=network.nodes)
    kept = np.sort(np.argsort(-degree, kind="stable")[:nodes])
    place = np.full(network.nodes, -1)
    place[kept] = np.arange(len(kept))
    inside = (place[network.source] >= 0) & (place[network.target] >= 0)
    return Network(
        tuple(network.node_names[v] for v in kept),
        place[network.source[inside]],
        place[network.target[inside]],
        network.capacity[inside],
        f"{network.name}-{nodes}",
        network.origin,
    )


def hard_capacity(instance: FlowInstance, seed: int) -> Floats:
    """Capacities under which many links decide the least maximum utilisation together.

    Links get prices 1 to 3 at random; each pair's traffic is split at random among its cheapest
    paths; every capacity is the load that results. So no routing has a utilisation under 1: at
    these prices the traffic costs at least sum_k d_k L_k = sum_e p_e c_e. A link that the
    planted routing leaves empty gets a little capacity, so that it may be used; the bound then
    holds as far as its price may go to zero.

    Lognormal traffic as it is drawn instead leaves the choice to one or two links and a pair
    that takes up a third of them: presolve finds the answer. Here no pair moves the optimum by a
    per cent (:func:`benchmarks.flow_judge.largest_share` bounds it, and its test removes pairs).

    Args:
        instance: The instance; its capacities play no part.
        seed: Of prices and splits.
    """
    rng = np.random.default_rng((seed, 2))
    price = rng.integers(*_LINK_PRICES, len(instance.capacity)).astype(np.float64)
    cost, pair = instance.path_costs(price), instance.pair
    share = (cost <= instance.least(price)[pair]) * rng.exponential(size=instance.paths)
    flow = share * (instance.demand / instance.served(share))[pair]
    load = instance.loads(flow)
    return np.maximum(load, _LEAST_CAPACITY * float(np.median(load[load > 0])))


def arrays(network: Network, paths: Paths, demand: Floats) -> FlowInstance:
    """The plain arrays of a network, its paths and the traffic of its pairs; idle pairs go.

    Args:
        network: The network.
        paths: Its candidate paths.
        demand: (pairs,) traffic.
    """
    made = FlowInstance(
        network.source,
        network.target,
        network.capacity,
        paths.source,
        paths.target,
        demand,
        paths.first,
        paths.pointer,
        paths.links,
        network.nodes,
        f"{network.name} ({network.origin.partition(':')[0]}), {paths.kind} paths",
    )
    return made if np.all(demand > 0) else made.part(np.flatnonzero(demand > 0))


def domain_arguments(instance: FlowInstance) -> tuple[Network, Floats, Paths]:
    """Network, (nodes, nodes) demand and paths as the domain's functions take them."""
    names = tuple(map(str, range(instance.nodes)))
    network = Network(names, instance.tail, instance.head, instance.capacity)
    demand = np.zeros((instance.nodes, instance.nodes))
    demand[instance.origin, instance.target] = instance.demand
    paths = Paths(
        network,
        instance.origin,
        instance.target,
        instance.first,
        instance.pointer,
        instance.links.astype(np.int32),
    )
    return network, demand, paths


OBJECTIVES = {
    "max-total-flow": te.max_total_flow,
    "min-max-utilisation": te.min_max_utilisation,
}


def statement(instance: FlowInstance, objective: str) -> Separable:
    """The domain's statement of an objective.

    Raises:
        KeyError: If there is no such objective.
    """
    network, demand, paths = domain_arguments(instance)
    return OBJECTIVES[objective](network, demand, paths)
