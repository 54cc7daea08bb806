"""Deploy a problem: every centre is a real process, and they talk over ZeroMQ."""

from __future__ import annotations

import importlib.util
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from walras import checks
from walras.deprecated import renamed_keywords
from walras.errors import EngineError, InputError
from walras.extras import install_hint
from walras.network.drivers.bundle import Json, pack_node_config
from walras.network.drivers.consistency import alive, check, in_flight
from walras.network.drivers.descriptors import ensure
from walras.network.drivers.folder import made, write_whole
from walras.network.drivers.launch import Child, Host, Launcher, Member, Started
from walras.network.drivers.lock import Lock, claim
from walras.network.drivers.manifest import FILE, Manifest
from walras.network.drivers.plan import Plan
from walras.network.drivers.recorded_node import Keeping
from walras.network.drivers.step_records import StepRecords
from walras.network.epoch import Epoch, epoch
from walras.network.graph.network import Network
from walras.network.methods.surplus import Surplus
from walras.network.problem.network_problem import NetworkProblem
from walras.network.problem.optimum import Optimum
from walras.network.problem.quanta import AuditError
from walras.network.protocol.settings import Settings
from walras.network.run import cost_gaps, share_rows
from walras.progress import OnProgress, Progress
from walras.saving import save, saved_fields
from walras.status import Status
from walras.types import Bools, Floats, Longs

FINAL = "final.json"
_START_SECONDS = 240.0  # for a slow start; a process that ends is noticed at once
_STOP_SECONDS = 60.0
_PERIOD = 20  # ms between ticks by the clock
_PATIENCE = 3.0  # seconds that a round waits for a neighbour
_TRACE_LIMIT = 64  # MiB
_FILES, _FILES_EACH = 16, 2  # open files that starting needs, and that each process keeps


@dataclass(frozen=True)
class DeployProgress(Progress):
    """The progress of a deployment, as ``on_progress`` gets it.

    ``iteration`` counts the steps of the slowest centre that runs, ``elapsed`` the seconds.

    Attributes:
        members: The centres' processes, with the latest report of each.
    """

    members: Sequence[Member] = ()


def _of_members(on_members: Callable[[Sequence[Member], float], object]) -> OnProgress:
    """A hook from a function of (members, seconds), the form of ``watch=`` before 0.2."""

    def hook(step: Progress) -> bool:
        members = step.members if isinstance(step, DeployProgress) else ()
        return bool(on_members(members, step.elapsed))

    return hook


@dataclass(frozen=True, eq=False)
class Deployment:
    """The result of a deployment.

    Attributes:
        problem: Costs, budget, boxes, and the training task.
        folder: Folder with traces, logs and ``deployment.json``; ``walras network replay`` reads
            it.
        alive: (centres,) True on centres whose processes ran to the end.
        held: (centres,) quanta of CPU that each living centre holds, 0 for the others.
        models: (centres, scalars) their models; None without a loss.
        epochs: (centres,) number of times that each centre started again.
        in_flight: Quanta that living centres sent each other and have not credited.
        seconds: Wall time from the first tick to the last report.
        bytes: Bytes that all centres sent together.
        refused: Number of refused messages and connections, by reason.
        enforced: (centres,) True where a control group enforced the share.
        digests: Fingerprint of each living centre's last state, empty for the others.
        failures: Error messages of centres that failed, by number.
        leased: (centres,) True on centres with a lease, which more than half of all centres
            confirm.
        records: Shares, quanta and bytes of every step, from the centres' reports.
        status: ``feasible``; ``interrupted`` if ``on_progress`` stopped it; ``user_limit`` if the
            time was over.

    Example:
        >>> import walras as wl
        >>> wn = wl.network
        >>> problem = wn.NetworkProblem([wn.QuadraticCPU(c, 1.0) for c in (1.0, 3.0)], budget=4.0)
        >>> done = wn.deploy(problem, wn.Network.ring(2), steps=60)
        >>> done.shares.round(3), done.audit, done.alive
        (array([1., 3.]), 0, array([ True,  True]))
    """

    problem: NetworkProblem
    folder: Path
    alive: Bools
    held: Longs
    models: Floats | None
    epochs: Longs
    in_flight: int
    seconds: float
    bytes: int
    refused: dict[str, int]
    enforced: Bools
    digests: tuple[str, ...]
    failures: Mapping[int, str]
    leased: Bools
    records: StepRecords
    status: Status

    @property
    def shares(self) -> Floats:
        """(centres,) the share that each centre uses, within its box.

        A centre's holdings above its box are idle. Centres without a lease use nothing.
        """
        return np.where(self.alive & self.leased, self.problem.used(self.held), 0.0)

    @property
    def audit(self) -> int:
        """Quanta held and in flight minus the budget: 0, or less before a crash is settled."""
        return int(self.held.sum()) + self.in_flight - self.problem.quanta.total

    @cached_property
    def optimum(self) -> Optimum:
        """The best allocation for the centres alive at the end, by an independent solver."""
        return self.problem.optimum(self.alive)

    @property
    def epoch(self) -> Epoch | None:
        """Seconds of an epoch with these shares; None if no cost states a time."""
        return epoch(self.problem, self.shares, self.alive)

    @property
    def cost_gap(self) -> float:
        """``(F - F*) / |F*|`` of the living centres, signed; absolute if F* is 0 to rounding."""
        best, scale = self.problem.measure(self.alive)
        return (self.value - best) / scale

    @property
    def value(self) -> float:
        """CPU cost of the centres alive at the end."""
        filled = np.where(self.alive, self.shares, self.problem.inside)
        return float(self.problem.cost(filled)[self.alive].sum())

    @property
    def bound(self) -> float:
        """The least CPU cost for the living centres, by an independent solver."""
        return self.optimum.cost

    @property
    def gap(self) -> float:
        """The same as :attr:`cost_gap`."""
        return self.cost_gap

    def frame(self) -> pd.DataFrame:
        """One row for each step: step, bits, seconds, gap, CPU held and idle, centres alive."""
        found, to_shares = self.records, self.problem.quanta.shares
        shares, held = to_shares(found.shares), to_shares(found.held).sum(axis=1)
        filled = np.where(found.alive, shares, self.problem.inside)
        cost = np.array(
            [self.problem.cost(x)[a].sum() for x, a in zip(filled, found.alive, strict=True)]
        )
        columns = {
            "step": found.steps,
            "bits": 8 * found.bytes,
            "seconds": found.seconds,
            "cost_gap": cost_gaps(self.problem, cost, found.alive),
            "held": held,
            "idle": held - shares.sum(axis=1),
            "alive": found.alive.sum(axis=1),
        }
        return pd.DataFrame(columns).assign(method="deployment")

    def share_frame(self) -> pd.DataFrame:
        """One row for each step and centre: step, centre, share."""
        return share_rows(self.records.steps, self.problem.quanta.shares(self.records.shares))

    def save(self, path: str | Path) -> None:
        """Write the deployment with its problem to one file, which :func:`walras.load` reads.

        The traces stay in the folder of the deployment.

        Args:
            path: The file, such as ``deployment.npz``.

        Raises:
            DataError: The file cannot be written.
        """
        save(self, path)

    def to_saved(self) -> dict[str, Any]:
        """The fields, with the folder as text."""
        return saved_fields(self) | {"folder": str(self.folder)}

    @classmethod
    def from_saved(cls, parts: Mapping[str, Any]) -> Self:
        """The deployment that :meth:`to_saved` describes."""
        failures = {int(centre): text for centre, text in parts["failures"].items()}
        return cls(**{**parts, "folder": Path(parts["folder"]), "failures": failures})

    def __repr__(self) -> str:
        ran = f"{int(self.alive.sum())} of {len(self.alive)} centres ran to the end"
        return f"Deployment({ran}, gap {self.gap:.1e}, {self.status})"

    def __str__(self) -> str:
        return (
            f"{int(self.alive.sum())} of {len(self.alive)} centres ran to the end, "
            f"cost {self.value:.9g}, least {self.bound:.9g}, gap {self.gap:.1e}, "
            f"{self.bytes:,} bytes, {self.seconds:.3g} s, folder {self.folder}"
        )


@renamed_keywords(_of_members, watch="on_progress")
def deploy(
    problem: NetworkProblem,
    network: Network,
    *,
    steps: int = 1000,
    pace: Literal["rounds", "clock"] = "rounds",
    period: int = _PERIOD,
    hosts: Sequence[Host] | None = None,
    folder: Path | None = None,
    resume: bool = False,
    restart: bool = False,
    method: Surplus | None = None,
    settings: Settings | None = None,
    start: npt.ArrayLike | None = None,
    seed: int = 0,
    cgroups: Sequence[Json] | None = None,
    launcher: Literal["processes", "ray"] = "processes",
    durable: bool = False,
    trace_limit: int = _TRACE_LIMIT,
    time_limit: float = 300.0,
    every: int = 1,
    on_progress: OnProgress | None = None,
) -> Deployment:
    """Run every centre as its own process until all have made their steps.

    Args:
        problem: Costs, budget, boxes, and the training task. Costs and losses must be classes of
            Walras.
        network: The graph of the centres, undirected. A changing network keeps the links of its
            first step.
        steps: Ticks of each centre, at least 1; with ``resume`` from where its trace ends.
        pace: ``rounds``: in step with the neighbours; ``clock``: every ``period`` ms.
        period: Milliseconds between ticks by the clock, at least 1.
        hosts: The host of each centre; this host when left out.
        folder: Folder for traces and logs; a new temporary one when left out.
        resume: Continue from the end of the traces, with the same problem, network and settings.
        restart: Whether to start a process again that ended early.
        method: Steps of the algorithm; safe ones when left out.
        settings: Leases and patience, in rounds or milliseconds; chosen for the network if left
            out.
        start: (centres,) the budget's first split, in proportion; equal when left out.
        seed: Seed of the first model.
        cgroups: For each centre ``{"group": path, "processors": number}``, to enforce its share.
        launcher: ``ray`` places the processes on the nodes of a Ray cluster.
        durable: Write traces to the disk before a message leaves, so that they survive a loss of
            power.
        trace_limit: MiB after which a trace starts again from the centre's state.
        time_limit: Seconds after which all centres are stopped.
        every: Steps between the records of :meth:`Deployment.frame`.
        on_progress: Called about ten times a second with a :class:`DeployProgress`; True stops all
            centres.

    Returns:
        The shares, and the last state of each centre.

    Raises:
        InputError: Settings conflict, a port or folder is in use, or the folder has another
            problem.
        DataError: The folder's files cannot be written, are damaged, or do not fit together.
        EngineError: A process does not start, or all are lost.
        AuditError: Quanta held and in flight exceed the budget.

    Example:
        >>> import walras as wl
        >>> wn = wl.network
        >>> problem = wn.NetworkProblem([wn.QuadraticCPU(c, 1.0) for c in (1.0, 3.0)], budget=4.0)
        >>> done = wn.deploy(problem, wn.Network.ring(2), steps=60)  # two processes
        >>> done.shares.round(3), done.in_flight
        (array([1., 3.]), 0)
    """
    _require_sockets()
    checks.of_kind(network, Network, "network")
    chosen = settings or _patience(pace, period, network.diameter, steps)
    plan = Plan(problem, network.at(0), chosen, method or Surplus(), start, seed)
    keeping = Keeping(durable, 2**20 * checks.whole(trace_limit, "trace_limit", 1))
    extend, every = resume * steps, checks.whole(every, "every", 1)
    job = _Job(plan, pace, period, keeping, hosts, cgroups, launcher, extend, every)
    with _launched(job, folder) as started:
        began = time.time()
        end = _supervise(started, time_limit, steps, on_progress, restart=restart)
        return _result(problem, started.folder, started.members, end, began)


@dataclass(frozen=True, eq=False)
class _Job:
    """The job of a deployment; ``extend`` is the number of additional steps, 0 for a new one."""

    plan: Plan
    pace: str
    period: int
    keeping: Keeping
    hosts: Sequence[Host] | None
    cgroups: Sequence[Json] | None
    launcher: str
    extend: int
    every: int


@contextmanager
def _launched(job: _Job, folder: Path | None) -> Iterator[Launcher]:
    """The processes of a deployment, introduced to one another; all are ended at the end."""
    plan, n = job.plan, job.plan.problem.centres
    hosts = [Host()] * n if job.hosts is None else list(job.hosts)
    _check_lengths(n, hosts, job.cgroups)
    node_configs = [pack_node_config(plan.node_config(k)) for k in range(n)]
    paced = {"kind": job.pace, "period": job.period, "patience": _PATIENCE}
    home = Path(tempfile.mkdtemp(prefix="walras-")) if folder is None else made(folder, 0o700)
    with closing(Lock(home / "deployment.lock")):
        manifest = _manifest(plan, home, paced, resume=job.extend > 0)
        shared = {
            "deployment": manifest.deployment,
            "network_config": manifest.network_config,
            "pace": manifest.pace,
            "keeping": asdict(job.keeping),
            "folder": str(home),
            "resume": job.extend > 0,
            "extend": job.extend,
            "every": job.every,
        }
        setups = [
            {
                **shared,
                "node_config": node_configs[k],
                "cgroup": None if job.cgroups is None else job.cgroups[k],
            }
            for k in range(n)
        ]
        with (
            closing(claim(manifest.deployment, home)),
            _launcher(
                setups, plan.network_config.neighbours, hosts, home, job.launcher
            ) as launcher,
        ):
            launcher.bind(_START_SECONDS)
            if job.extend:
                known = {k: member.known for k, member in enumerate(launcher.members)}
                check(known, plan.problem.quanta.total)
            launcher.introduce()
            yield launcher


def _require_sockets() -> None:
    if importlib.util.find_spec("zmq") is None:
        raise EngineError(
            "pyzmq is not installed",
            where="walras.network.deploy",
            allowed="simulate, which needs no sockets",
            remedy=install_hint("network"),
        )


def _patience(pace: str, period: int, diameter: int, steps: int) -> Settings:
    if pace == "rounds":
        return Settings.of_diameter(diameter, steps=steps)
    heartbeat = max(100, 2 * period)
    lease = max(2000, 6 * (diameter + 2) * heartbeat)
    return Settings(lease, lease // 10, heartbeat, 20 * period, 60_000, steps)


def _manifest(plan: Plan, folder: Path, pace: Json, *, resume: bool) -> Manifest:
    """Write the manifest of a new deployment into the folder, or read it when resuming.

    Raises:
        DataError: The folder cannot be written, or its files are damaged.
        InputError: The folder holds another deployment, or none to resume.
    """
    if resume != (folder / FILE).exists():
        raise InputError(
            f"holds {'no' if resume else 'a'} deployment",
            where=str(folder),
            allowed="an empty folder, or resume=True and the folder of an earlier deployment",
            remedy="leave resume=True out"
            if resume
            else "go on with resume=True, or choose another folder",
        )
    if resume:
        manifest = Manifest.read(folder)
        manifest.check(plan, pace)
        (folder / FINAL).unlink(missing_ok=True)  # it no longer describes the end of the traces
        return manifest
    manifest = Manifest.of(plan, pace)
    manifest.write(folder)
    return manifest


def _check_lengths(centres: int, hosts: Sequence[Host], cgroups: Sequence[Json] | None) -> None:
    for name, given in (("hosts", hosts), ("cgroups", cgroups)):
        if given is not None and len(given) != centres:
            raise InputError(
                f"are {len(given)}",
                where=name,
                allowed=f"{centres}, one a centre",
                remedy="name each centre's",
            )


def _launcher(
    setups: Sequence[Json],
    neighbours: Sequence[Sequence[int]],
    hosts: Sequence[Host],
    folder: Path,
    launcher: str,
) -> Launcher:
    from walras.network.drivers.transport import Keys  # noqa: PLC0415 (needs the extra)

    if launcher == "processes":
        ensure(_FILES_EACH * len(setups) + _FILES)
    keys = [Keys.new() for _ in setups]
    own = [
        {
            "keys": {"public": keys[k].public, "secret": keys[k].secret},
            "listen": hosts[k].listen,
            "allowed": {str(j): keys[j].public for j in neighbours[k]},
        }
        for k in range(len(setups))
    ]

    def start(k: int) -> Started:
        log = folder / f"centre-{k:03d}.log"
        if launcher == "ray":
            from walras.network.drivers.ray_launch import RayChild  # noqa: PLC0415 (needs ray)

            return RayChild(hosts[k], log)
        return Child(hosts[k], log)

    full = [{**setups[k], **own[k]} for k in range(len(setups))]
    return Launcher(full, [pair.public for pair in keys], neighbours, start, folder)


def _supervise(
    launcher: Launcher, limit: float, steps: int, on_progress: OnProgress | None, *, restart: bool
) -> tuple[Status, float]:
    """Wait until all remaining centres are done and stopped; return the status and the seconds."""
    began, status = time.monotonic(), Status.LIMIT
    while (seconds := time.monotonic() - began) < limit:
        launcher.collect(0.1)
        running = [member for member in launcher.members if not member.lost]
        if restart:
            for k, member in enumerate(launcher.members):
                if member.lost and not member.failure:
                    launcher.restart(k)
        if all(member.lost for member in launcher.members):
            raise _all_lost(launcher.members)
        left = max((int(member.state.get("left", steps)) for member in running), default=steps)
        done = max(0, steps - left)
        now = DeployProgress(done, seconds, total=steps, members=tuple(launcher.members))
        if on_progress is not None and on_progress(now):
            status = Status.INTERRUPTED
            break
        if all(member.state.get("done") for member in running):
            status = Status.FEASIBLE
            break
    seconds = time.monotonic() - began
    launcher.stop(_STOP_SECONDS)
    return status, seconds


def _all_lost(members: Sequence[Member]) -> EngineError:
    first = next((m.failure for m in members if m.failure), "have all ended early")
    return EngineError(
        first,
        where="the processes of the centres",
        allowed="one that runs to its end",
        remedy="see the logs in the folder",
    )


def _result(
    problem: NetworkProblem,
    folder: Path,
    members: Sequence[Member],
    end: tuple[Status, float],
    began: float,
) -> Deployment:
    n, (status, seconds) = len(members), end
    final = {k: member.final for k, member in enumerate(members) if member.final is not None}
    if not final:
        raise _all_lost(members)
    digests = tuple(final[k]["digest"] if k in final else "" for k in range(n))
    write_whole(folder / FINAL, json.dumps(list(digests)).encode())
    known = {k: state["known"] for k, state in final.items()}
    living = alive(known)
    flights = list(in_flight(known, living))
    _audit(problem, known, living, flights, folder)
    held, epochs = np.zeros(n, np.int64), np.zeros(n, np.int64)
    refused: dict[str, int] = {}
    for state in final.values():
        for reason, times in state["refused"].items():
            refused[reason] = refused.get(reason, 0) + times
    for k in living:
        held[k], epochs[k] = known[k]["held"], known[k]["epoch"]
    models = None
    if problem.loss is not None:
        width = len(next(iter(final.values()))["model"])
        models = np.array([final[k]["model"] if k in final else [np.nan] * width for k in range(n)])
    ran = np.isin(np.arange(n), living)
    return Deployment(
        problem,
        folder,
        ran,
        held,
        models,
        epochs,
        sum(flights),
        seconds,
        sum(state["bytes"] for state in final.values()),
        refused,
        np.array([k in final and final[k]["enforced"] for k in range(n)]),
        digests,
        {k: member.failure for k, member in enumerate(members) if member.failure},
        np.array([k in final and bool(final[k]["leased"]) for k in range(n)]),
        StepRecords.of([member.steps for member in members], ran, began),
        status,
    )


def _audit(
    problem: NetworkProblem,
    known: Mapping[int, Json],
    living: Sequence[int],
    flights: Sequence[int],
    folder: Path,
) -> None:
    """Check that living centres hold at most the budget, and that no link's flow is negative."""
    over = sum(known[k]["held"] for k in living) + sum(f for f in flights if f > 0)
    over -= problem.quanta.total
    if over > 0 or min(flights, default=0) < 0:
        raise AuditError(
            f"{over} quanta are held and in flight over the budget, "
            f"{min(flights, default=0)} the least in flight on a link",
            where=str(folder),
            allowed="0 or less over the budget, 0 or more on every link",
            remedy="use none of these shares, and report this as a defect, with the traces",
        )
