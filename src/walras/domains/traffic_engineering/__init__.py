"""Traffic engineering: paths for the traffic of a wide-area network.

    net = load_topology("UsCarrier")
    demand = lognormal_traffic(net, seed=0)
    paths = candidate_paths(net, k=4)
    s = wl.solve(max_total_flow(net, demand, paths))  # s.x: the flow on each path

The package states each objective directly as arrays, and finds the candidate paths of large
networks in minutes. It also has the baselines of the field, and an evaluation that does not depend
on any solver.
"""

from walras.domains.traffic_engineering.baselines import (
    Baseline,
    demand_pinning,
    pop_flow,
    shortest_path,
)
from walras.domains.traffic_engineering.candidates import candidate_paths
from walras.domains.traffic_engineering.edge_form import max_total_flow_by_link
from walras.domains.traffic_engineering.evaluate import Evaluation, evaluate
from walras.domains.traffic_engineering.fair_sequences import (
    FairSequence,
    max_min_fair_sequence,
)
from walras.domains.traffic_engineering.figret import Figret, load_figret
from walras.domains.traffic_engineering.flows import read_flows
from walras.domains.traffic_engineering.learned_policy import LearnedPolicy, learned_policy
from walras.domains.traffic_engineering.matrices import joined_traffic, load_traffic
from walras.domains.traffic_engineering.network import Network, random_failures
from walras.domains.traffic_engineering.objectives import (
    max_concurrent_flow,
    max_min_fair,
    max_total_flow,
    min_max_utilisation,
)
from walras.domains.traffic_engineering.paths import Paths
from walras.domains.traffic_engineering.scaling import scaled_traffic
from walras.domains.traffic_engineering.sequences import (
    FlowSequence,
    max_total_flow_sequence,
    min_max_utilisation_sequence,
)
from walras.domains.traffic_engineering.topology import load_topology
from walras.domains.traffic_engineering.traffic import (
    TrafficSeries,
    bimodal_traffic,
    capped_traffic,
    diurnal_series,
    fluctuating_series,
    gravity_traffic,
    lognormal_traffic,
    redistributed_traffic,
)

__all__ = [
    "Baseline",
    "Evaluation",
    "FairSequence",
    "Figret",
    "FlowSequence",
    "LearnedPolicy",
    "Network",
    "Paths",
    "TrafficSeries",
    "bimodal_traffic",
    "candidate_paths",
    "capped_traffic",
    "demand_pinning",
    "diurnal_series",
    "evaluate",
    "fluctuating_series",
    "gravity_traffic",
    "joined_traffic",
    "learned_policy",
    "load_figret",
    "load_topology",
    "load_traffic",
    "lognormal_traffic",
    "max_concurrent_flow",
    "max_min_fair",
    "max_min_fair_sequence",
    "max_total_flow",
    "max_total_flow_by_link",
    "max_total_flow_sequence",
    "min_max_utilisation",
    "min_max_utilisation_sequence",
    "pop_flow",
    "random_failures",
    "read_flows",
    "redistributed_traffic",
    "scaled_traffic",
    "shortest_path",
]
