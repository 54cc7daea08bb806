"""``walras solve traffic``: which paths the traffic of a network takes."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from walras import checks
from walras.cli.common.engine_options import (
    EngineName,
    EngineOption,
    OldCollapse,
    OldMode,
    OldParts,
    engine_from,
)
from walras.cli.common.errors import ended, ending
from walras.cli.common.output import Format, OutputOption, emit
from walras.cli.common.progress import Interruptible, Stages
from walras.cli.common.solving import (
    TOLERANCE,
    Device,
    Polish,
    ShowProgress,
    Threads,
    TimeLimit,
    Tolerance,
)
from walras.cli.common.streams import put, tell
from walras.cli.common.targets import check_figure
from walras.domains import traffic_engineering as te
from walras.domains.traffic_engineering.candidates import Kind
from walras.domains.traffic_engineering.objectives import named_objective
from walras.domains.traffic_engineering.traffic import named_traffic, names_file
from walras.reports import traffic as report
from walras.reports.solution import facts_of
from walras.reports.tables import Table, record, to_json
from walras.solution import Solution
from walras.solving import solve

_SHOWN = 12  # links and pairs in the tables; json and csv have all of them
_PATHS, _SOLVING = "finding paths", "solving for flows"
_EXPECTED = {_PATHS: 1.0, _SOLVING: 2.0}


class Objective(enum.StrEnum):
    """What ``walras solve traffic`` can aim at."""

    TOTAL = "total"
    UTILISATION = "utilisation"
    CONCURRENT = "concurrent"
    FAIR = "fair"


class PathKind(enum.StrEnum):
    """Candidate paths, see :func:`walras.domains.traffic_engineering.candidate_paths`."""

    DISJOINT = "edge-disjoint"
    SHORTEST = "shortest"


class ParallelLinks(enum.StrEnum):
    """Loops and doubled links, see :func:`walras.domains.traffic_engineering.load_topology`."""

    ERROR = "error"
    MERGE = "merge"


_KINDS: dict[PathKind, Kind] = {
    PathKind.DISJOINT: "edge-disjoint",
    PathKind.SHORTEST: "shortest",
}

HELP = """Route a network's traffic over candidate paths: flows, their value, and proof.

The network is a file (node-link .json, .graphml, SNDlib .xml or .txt) or the
name of a real one: B4, UsCarrier, Kdl, ASN2k, or a graph of the Topology Zoo.
A file states every link's capacity, in JSON and GraphML as the attribute
'capacity' or another that --capacity-attribute names; --draw-capacities SEED
has them drawn at random.

The demand is a file (.npy, or .csv with the nodes' names in the first line and
column; traffic from row to column; or SNDlib's .xml or .txt with demands), or
a model: lognormal, gravity, bimodal.
A demand in a file between nodes that no path joins is an error, unless --joined
leaves such demands out and says how much that is; those of models and those
that failures cut off are left out always.

Objectives:

  total         serve as much traffic as fits

  utilisation   serve all of it, the fullest link as empty as can be

  concurrent    the largest share that all demands can be served alike

  fair          that, then the same for those that can still get more

Examples:

  walras solve traffic --network UsCarrier --demand lognormal

  walras solve traffic --network net.json --demand matrix.csv
  --objective utilisation -o csv

  walras solve traffic --network Kdl.graphml --draw-capacities 1
  --parallel merge --demand gravity

  walras solve traffic --network net.json --demand matrix.csv --joined

  walras solve traffic --network B4 --demand gravity -o csv > flows.csv

  walras solve traffic --network B4 --demand gravity --failures 2
  --start flows.csv --figure after.png

Exit codes: as for walras solve cluster.
"""


NetworkOption = Annotated[str, typer.Option(help="A file, or the name of a real network.")]
DemandOption = Annotated[str, typer.Option(help="A file, or lognormal, gravity or bimodal.")]
Aim = Annotated[Objective, typer.Option(help="What to aim at.")]
Levels = Annotated[int, typer.Option(help="For --objective fair: levels at most.")]
Candidates = Annotated[int, typer.Option(help="Candidate paths a pair at most.")]
KindOption = Annotated[PathKind, typer.Option(help="Candidate paths.")]
Parallel = Annotated[
    ParallelLinks | None,
    typer.Option(
        help="Loops and doubled links: error, or merge, which leaves loops out and adds the"
        " capacities of doubled links; when left out, error for a file and merge for a name."
    ),
]
Joined = Annotated[bool, typer.Option("--joined", help="Leave out demands that no path joins.")]
Load = Annotated[float, typer.Option(help="Of a model: traffic as a share of all capacity.")]
Failures = Annotated[int, typer.Option(help="Links that fail, drawn at random.")]
Seed = Annotated[
    int, typer.Option(help="Of models, failures, and capacities that a named network lacks.")
]
CapacityAttribute = Annotated[
    str | None, typer.Option(help="Of a JSON or GraphML file: the links' attribute to take.")
]
DrawCapacities = Annotated[
    int | None, typer.Option(metavar="SEED", help="Draw all capacities at random by this seed.")
]
StartFile = Annotated[
    Path | None, typer.Option("--start", help="CSV of flows as -o csv prints it: a warm start.")
]
Drawing = Annotated[
    Path | None, typer.Option(help="Draw the links' utilisation: .png, .svg or .pdf.")
]


def traffic(
    network: NetworkOption,
    demand: DemandOption,
    objective: Aim = Objective.TOTAL,
    levels: Levels = 10,
    k: Candidates = 4,
    kind: KindOption = PathKind.DISJOINT,
    parallel: Parallel = None,
    capacity_attribute: CapacityAttribute = None,
    draw_capacities: DrawCapacities = None,
    joined: Joined = False,
    load: Load = 0.1,
    failures: Failures = 0,
    seed: Seed = 0,
    start: StartFile = None,
    tolerance: Tolerance = None,
    time_limit: TimeLimit = None,
    engine: EngineName = "auto",
    engine_option: EngineOption = None,
    parts: OldParts = None,
    mode: OldMode = None,
    collapse: OldCollapse = False,
    device: Device = "cpu",
    polish: Polish = False,
    threads: Threads = None,
    progress: ShowProgress = True,
    figure: Drawing = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Route a network's traffic over candidate paths: flows, their value, and proof."""
    old = {"parts": parts, "mode": mode, "collapse": collapse}
    chosen = engine_from(engine, engine_option, old)
    checks.number(load, "--load", 0.0, 1e6)
    check_figure(figure)
    net = te.load_topology(
        network,
        seed=seed,
        parallel=None if parallel is None else parallel.value,
        capacity=capacity_attribute,
        draw_capacities=draw_capacities,
    )
    checks.whole(failures, "--failures", 0, net.links - 1, words=", so that a link is left")
    asked = named_traffic(demand, net, load=load, seed=seed)
    if failures:
        net = net.without(te.random_failures(net, failures, seed))
    aim = TOLERANCE if tolerance is None else tolerance
    drop = joined or failures > 0 or not names_file(demand)
    with (
        Interruptible() as interrupt,
        Stages(_EXPECTED, aim, interrupt, shown=progress, limit=time_limit) as stages,
    ):
        stages.begin(_PATHS)
        paths = te.candidate_paths(net, k, _KINDS[kind], threads=threads, on_progress=stages.count)
        kept = te.joined_traffic(asked, paths) if drop else asked
        synthetic = report.synthetic_parts(net, demand, failures)
        given = report.RoutedTraffic(net, asked, paths, kept, synthetic)
        solution = solve(
            named_objective(objective.value, net, kept, paths, levels),
            engine=chosen,
            tolerance=aim,
            time_limit=time_limit,
            threads=threads,
            device=device,
            polish=polish,
            start=None if start is None else te.read_flows(start, paths),
            on_progress=stages.begin(_SOLVING),
        )
    _print(given, solution, objective, output, figure)
    raise typer.Exit(ended(solution.status, solution.gap, tolerance))


def _print(
    given: report.RoutedTraffic,
    solution: Solution,
    objective: Objective,
    output: Format,
    figure: Path | None,
) -> None:
    paths, flow = given.paths, report.without_rounding(solution.x)
    judged = te.evaluate(given.demand, paths, flow)
    if figure is not None:
        _draw(figure, judged, given.net)
    flows = report.flows_table(paths, flow)
    lost = given.demand - given.kept
    if np.any(lost):
        tell(
            f"demands left out since no path joins them: {np.count_nonzero(lost)},"
            f" {lost.sum():.6g} of {judged.asked:.6g} traffic"
        )
    if output is Format.CSV:
        emit(flows, output)
        return
    facts = {**report.facts_of(given, judged), **facts_of(solution, solution.certificate.violation)}
    if objective is Objective.FAIR:
        facts["levels"] = ", ".join(f"{level.value:.6g}" for level in solution.levels)
    price = np.abs(solution.prices.resources)
    if output is Format.JSON:
        summary = record(facts).records()[0]
        links = report.links_table(given, judged, price, given.net.links).records()
        put(to_json({**summary, "links": links, "flows": flows.records()}))
        return
    rows = [(name, value) for name, value in facts.items() if name != "synthetic"]
    emit(Table(("", "solution"), rows, given.headline))
    emit(report.links_table(given, judged, price, _SHOWN))
    worst = report.worst_served(given, judged)
    if worst.rows:
        emit(worst)
    tell(ending(solution.status, solution.gap, solution.gap_unit))


def _draw(path: Path, judged: te.Evaluation, network: te.Network) -> None:
    """Draw the network with the utilisation of its links.

    Raises:
        DataError: The file cannot be written.
    """
    from walras import plot
    from walras.plot.files import save

    save(plot.network_utilisation(network, plot.utilisation_frame(network, judged)), path)
