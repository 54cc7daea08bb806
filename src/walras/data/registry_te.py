"""The registry's rows for traffic engineering: networks, traffic and paths."""

from __future__ import annotations

from walras.data import te_b4_real, te_paths, te_topologies
from walras.data.dataset import DataFile, DataSet, Origin
from walras.data.synthetic import te_b4_real as te_b4_real_stand_in
from walras.data.synthetic import te_paths as te_paths_stand_in
from walras.data.synthetic import te_topologies as te_topologies_stand_in

_DEDE = Origin(
    repository="illinois-nsai/dede",
    commit="bbda485b87f5b377af8d0f9fd1fe387e0f55b76d",
    licence="MIT",
    citation=(
        "Xu, Yu, Yan: Decouple and Decompose: Scaling Resource Allocation, OSDI 2025; Xu, Yan, "
        "Singh, Chiu, Rush, Yu: Teal, SIGCOMM 2023"
    ),
)
_POP = Origin(
    repository="stanford-futuredata/POP",
    commit="baa041dc67a465b8111e22e215880fa7d4fe8c61",
    licence="MIT",
    citation=(
        "Narayanan et al.: Solving Large-Scale Granular Resource Allocation Problems Efficiently "
        "with POP, SOSP 2021; Knight et al.: The Internet Topology Zoo, JSAC 2011"
    ),
)
_FOLDER = "examples/traffic_engineering"

_TOPOLOGY_SUMS = {
    "B4.json": "d30dd2f2c29ece5b88b7b3302ebbcdc0b2e72792df5a6b45006ddb73c85485cf",
    "UsCarrier.json": "e2d4d448640d123d9821651b03be74b4cdb00103633a3c924721aaaad7401cbb",
    "Kdl.json": "03cf7cc55b87943e5173275542ffc14895cad6218ad43d200a26376136ac245c",
    "ASN2k.json": "9d6cdb72959950d256c96d9b86bebcaf2e5da4db9977b1b05524bd608ccd38e5",
}
TE_TOPOLOGIES = DataSet(
    name=te_topologies.NAME,
    title="four wide-area networks with capacities, 12 to 1,739 nodes",
    origin=_DEDE,
    files=tuple(
        DataFile(name=name, sha256=_TOPOLOGY_SUMS[name], sources=(f"{_FOLDER}/topologies/{name}",))
        for name in te_topologies.FILES
    ),
    columns={
        "nodes": "id, 0 to nodes - 1",
        "links": "source, target (one way) and capacity, in the unit of the traffic",
    },
    read=te_topologies.read,
    stand_in=te_topologies_stand_in.stand_in,
    fit=te_topologies_stand_in.fit,
    fitted_on=(te_topologies.NAME,),
)

TE_B4_REAL = DataSet(
    name=te_b4_real.NAME,
    title="36 real traffic matrices on the 12 nodes of B4",
    origin=_DEDE,
    files=(
        DataFile(
            name=te_b4_real.FILE,
            sha256="6cb4853277dddd273c13cac1a48a8672b5a7f50114711f8f318eace5704bec62",
            sources=tuple(
                f"{_FOLDER}/traffic-matrices/real/B4.json_real_{time}_1.0_traffic-matrix.pkl"
                for time in range(te_b4_real.SHAPE[0])
            ),
            derive=te_b4_real.derive,
        ),
    ),
    columns={
        "axis 0": "time",
        "axis 1": "source node",
        "axis 2": "target node",
        "entries": "traffic, in the unit of the capacities",
    },
    read=te_b4_real.read,
    stand_in=te_b4_real_stand_in.stand_in,
    fit=te_b4_real_stand_in.fit,
    fitted_on=(te_b4_real.NAME,),
)

_PATH_SUMS = (
    "7aa36857cced1e869de0a57dbf321f41f04b9857803a23adb4902fc31864d221",
    "34612e4324f3ca98806a1e4fed3fd3dc1560a43af89bdc25f2e6e220a91316a3",
)
_PICKLE = "{}.json-4-paths_edge-disjoint-True_dist-metric-min-hop-dict.pkl"
TE_PATHS = DataSet(
    name=te_paths.NAME,
    title="up to four edge-disjoint paths a pair of B4 and UsCarrier",
    origin=_DEDE,
    files=tuple(
        DataFile(
            name=file,
            sha256=checksum,
            sources=(f"{_FOLDER}/topologies/paths/path-form/{_PICKLE.format(network)}",),
            derive=te_paths.derive,
        )
        for network, file, checksum in zip(
            te_paths.NETWORKS, te_paths.FILES, _PATH_SUMS, strict=True
        )
    ),
    columns={
        "src, dst": "ends of each path",
        "offset": "path k visits nodes[offset[k]:offset[k + 1]]",
        "nodes": "nodes of all paths, one after the other",
    },
    read=te_paths.read,
    stand_in=te_paths_stand_in.stand_in,
    fit=te_paths_stand_in.fit,
    fitted_on=(te_topologies.NAME,),
)

_ZOO_SUMS = {
    "Cogentco.graphml": "fca525c7484c1044feb09add79fec0861d4b234622e5d07b7d202470ad0a09ca",
    "Colt.graphml": "e20cd0f5ecf0279d3308b90fa6749c41563d8463e45ba13f19460289f94946c5",
    "Deltacom.graphml": "3fbfc57e17520fdd7f28b62a2a7c39f16a1e07f16a7192983d695253c2153465",
    "DialtelecomCz.graphml": "e79607169888382523d85b67da42c8a9a16d2121f1f9d8933642a735e3a4d283",
    "GtsCe.graphml": "f04e777acee85df006eb2118647638350337a31a0ed668a9aab381e94797df76",
    "Interoute.graphml": "052b4575b5312372f5bda1dcbb519db5c9ce399e2a3e3eb5182d5a7bd9979b88",
    "Ion.graphml": "ff91cc18a0c6ae487988835c27758b007750b8b4df581d16eefbbe9cd777af53",
    "Kdl.graphml": "f0ef1032bb89695c53dc7ff95cbbdb773eb1ca0a9f3b4396cd293bac1db961cf",
    "TataNld.graphml": "aaa0f6c283ece2d2365afbcecd90fbd112d3e064b9fb420e94c07a0f80253ae2",
    "Uninett2010.graphml": "2980ae10b975457a9fcd69d8ac6b07c18e1f7bcd4dc0f70d4ec1a0b2eb34565d",
    "UsCarrier.graphml": "8fbb72f0ee93a08f062a8be1844c393e232ca4e59185254694651a026b2254ee",
    "b4-teavar.json": "d30dd2f2c29ece5b88b7b3302ebbcdc0b2e72792df5a6b45006ddb73c85485cf",
    "erdos-renyi-1260231677.json": (
        "90ebcaf8d42aec70de1e480c31bb995b696fa27460ddd8e29a2206a0f33b40c6"
    ),
}
TOPOLOGY_ZOO = DataSet(
    name=te_topologies.ZOO_NAME,
    title="eleven networks of the Topology Zoo, and two with capacities",
    origin=_POP,
    files=tuple(
        DataFile(
            name=name, sha256=_ZOO_SUMS[name], sources=(f"traffic_engineering/topologies/{name}",)
        )
        for name in te_topologies.ZOO_FILES
    ),
    columns={
        "nodes": "label, longitude and latitude in degrees",
        "edges": "both ways in GraphML, which has no capacities; one way with capacity in JSON",
    },
    read=te_topologies.read_zoo,
    stand_in=te_topologies_stand_in.stand_in_zoo,
    fit=te_topologies_stand_in.fit_zoo,
    fitted_on=(te_topologies.ZOO_NAME,),
)
