"""A problem decided by real processes that talk over ZeroMQ."""

from __future__ import annotations

import importlib.util
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from walras.errors import EngineError, InputError
from walras.network.drivers.bundle import Json, pack_charter, pack_terms
from walras.network.drivers.folder import made
from walras.network.drivers.launch import Child, Host, Launcher, Member, Started
from walras.network.drivers.plan import Plan
from walras.network.epoch import Epoch, epoch
from walras.network.graph import Network
from walras.network.optimum import Optimum
from walras.network.problem import Problem
from walras.network.protocol.settings import Settings
from walras.network.stated import of_kind
from walras.network.surplus import Surplus
from walras.network.types import Bools, Floats, Ints

FILE = "deployment.json"
_START_SECONDS = 240.0  # who ends is noticed at once; who is merely slow gets this long
_STOP_SECONDS = 60.0
_PERIOD = 20  # ms between ticks by the clock
_PATIENCE = 3.0  # s that a round waits for a neighbour

Watch = Callable[[Sequence[Member], float], bool]
"""Called with the centres and the seconds so far; stops the deployment when it returns True."""


@dataclass(frozen=True, eq=False)
class Deployment:
    """What real processes decided.

    Attributes:
        problem: What was to be decided.
        folder: Of traces, logs and ``deployment.json``; ``walras network replay`` reads it.
        alive: (centres,) whose processes ran to the end.
        held: (centres,) quanta of CPU that each holds, 0 for the others.
        models: (centres, scalars) their models; None without a loss.
        epochs: (centres,) how often each started anew.
        in_flight: Quanta sent and not credited between them.
        seconds: From the first tick to the last report.
        bytes: Sent by all.
        refused: Messages and connections turned away, by reason.
        enforced: (centres,) whether the share was enforced by a control group.
        digests: Fingerprint of each centre's state at its end, empty for the others.
    """

    problem: Problem
    folder: Path
    alive: Bools
    held: Ints
    models: Floats | None
    epochs: Ints
    in_flight: int
    seconds: float
    bytes: int
    refused: dict[str, int]
    enforced: Bools
    digests: tuple[str, ...]

    @property
    def shares(self) -> Floats:
        """(centres,) what each holds, in the budget's unit."""
        return self.problem.quanta.shares(self.held)

    @property
    def audit(self) -> int:
        """Quanta held and in flight over the budget: 0, or less while an estate is not settled."""
        return int(self.held.sum()) + self.in_flight - self.problem.quanta.total

    @cached_property
    def optimum(self) -> Optimum:
        """The best that those alive at the end could do, by an independent solver."""
        return self.problem.optimum(self.alive)

    @property
    def epoch(self) -> Epoch | None:
        """Seconds of an epoch with these shares; None where no cost states a time."""
        return epoch(self.problem, self.shares, self.alive)

    @property
    def cost_gap(self) -> float:
        """``|F - F*| / |F*|`` of those alive; absolute where F* is 0."""
        filled = np.where(self.alive, self.shares, self.problem.inside)
        cost, best = float(self.problem.cost(filled)[self.alive].sum()), self.optimum.cost
        return abs(cost - best) / (abs(best) or 1.0)


def deploy(
    problem: Problem,
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
    time_limit: float = 300.0,
    watch: Watch | None = None,
) -> Deployment:
    """Let every centre run as a process of its own, until all have made their steps.

    Args:
        problem: What is to be decided; costs and losses that are classes of Walras.
        network: Who talks to whom; undirected. Of one that changes, the links at its first step:
            real links come and go by themselves.
        steps: Ticks of each centre; with ``resume`` as many more.
        pace: ``rounds`` in step with the neighbours, or ``clock``: every ``period`` ms.
        period: Milliseconds between ticks by the clock.
        hosts: Where each centre runs; this host when left out.
        folder: For traces and logs; a fresh temporary one when left out.
        resume: Go on where the traces in it end.
        restart: Start a process again that ended by itself.
        method: Steps of the algorithm; safe ones when left out.
        settings: Leases and patience, in rounds or milliseconds; fit to the network if left out.
        start: (centres,) the budget's first split, in proportion; equal when left out.
        seed: Of the first model.
        cgroups: Per centre ``{"group": path, "processors": number}``, to enforce its share.
        launcher: ``ray`` places the processes on the nodes of a Ray cluster.
        time_limit: Seconds after which all are stopped where they are.
        watch: Called about ten times a second.

    Raises:
        InputError: Settings do not go together, a port is taken, a cost is a Python function.
        EngineError: A process does not start, or all are lost.
    """
    _require_sockets()
    of_kind(network, Network, "network")
    chosen = settings or _patience(pace, period, network.diameter, steps)
    plan = Plan(problem, network.at(0), chosen, method or Surplus(), start, seed)
    home = Path(tempfile.mkdtemp(prefix="walras-")) if folder is None else folder
    everywhere = list(hosts) if hosts is not None else [Host()] * problem.centres
    _check_lengths(problem.centres, everywhere, cgroups)
    paced = {"kind": pace, "period": period, "patience": _PATIENCE}
    shared = _write(plan, home, paced, resume=resume)
    with _launcher(plan, shared, everywhere, home, cgroups, resume * steps, launcher) as crew:
        crew.introduce(_START_SECONDS)
        seconds = _supervise(crew, time_limit, watch, restart=restart)
        crew.stop(_STOP_SECONDS)
        return _result(problem, home, crew.members, seconds)


def _require_sockets() -> None:
    if importlib.util.find_spec("zmq") is None:
        raise EngineError(
            "pyzmq is not installed", where="walras.network.deploy",
            allowed="simulate, which needs no sockets", remedy="pip install 'walras[network]'",
        )  # fmt: skip


def _patience(pace: str, period: int, diameter: int, steps: int) -> Settings:
    if pace == "rounds":
        return Settings.of_diameter(diameter, steps=steps)
    beat = max(100, 2 * period)
    lease = max(2000, 6 * (diameter + 2) * beat)
    return Settings(lease, lease // 10, beat, 20 * period, 60_000, steps)


def _write(plan: Plan, folder: Path, pace: Json, *, resume: bool) -> Json:
    """What all centres share, in the folder; on resuming, what is already there.

    Raises:
        DataError: The folder cannot be made.
        InputError: The folder holds another deployment, or none to resume.
    """
    path = made(folder) / FILE
    n = plan.problem.centres
    if resume != path.exists():
        raise InputError(
            f"holds {'no' if resume else 'a'} deployment", where=str(folder),
            allowed="an empty folder, or resume with the folder of an earlier deployment",
            remedy=f"{'leave resume out' if resume else 'resume=True, or another folder'}",
        )  # fmt: skip
    if resume:
        found: Json = json.loads(path.read_text(encoding="utf-8"))
        return found
    shared = {
        "charter": pack_charter(plan.charter),
        "terms": [pack_terms(plan.terms(k)) for k in range(n)],
        "pace": pace,
    }
    path.write_text(json.dumps(shared), encoding="utf-8")
    return shared


def _check_lengths(centres: int, hosts: Sequence[Host], cgroups: Sequence[Json] | None) -> None:
    for name, given in (("hosts", hosts), ("cgroups", cgroups)):
        if given is not None and len(given) != centres:
            raise InputError(
                f"are {len(given)}", where=name, allowed=f"{centres}, one a centre",
                remedy="name each centre's",
            )  # fmt: skip


def _launcher(
    plan: Plan, shared: Json, hosts: Sequence[Host], folder: Path,
    cgroups: Sequence[Json] | None, extend: int, launcher: str,
) -> Launcher:  # fmt: skip
    from walras.network.drivers.sockets import Keys  # noqa: PLC0415 (needs the extra)

    n = plan.problem.centres
    keys = [Keys.new() for _ in range(n)]
    neighbours = plan.charter.neighbours
    told = [
        {
            "charter": shared["charter"], "terms": shared["terms"][k], "pace": shared["pace"],
            "keys": {"public": keys[k].public, "secret": keys[k].secret},
            "listen": hosts[k].listen, "folder": str(folder),
            "allowed": {str(j): keys[j].public for j in neighbours[k]},
            "resume": extend > 0, "extend": extend,
            "cgroup": None if cgroups is None else cgroups[k],
        }
        for k in range(n)
    ]  # fmt: skip

    def start(k: int) -> Started:
        log = folder / f"centre-{k:03d}.log"
        if launcher == "ray":
            from walras.network.drivers.ray_launch import RayChild  # noqa: PLC0415 (needs ray)

            return RayChild(hosts[k], log)
        return Child(hosts[k], log)

    return Launcher(told, [pair.public for pair in keys], neighbours, start)


def _supervise(crew: Launcher, limit: float, watch: Watch | None, *, restart: bool) -> float:
    """Until all that are left have done their steps; returns the seconds it took."""
    began = time.monotonic()
    while (seconds := time.monotonic() - began) < limit:
        crew.collect(0.1)
        running = [member for member in crew.members if not member.lost]
        if restart:
            for k, member in enumerate(crew.members):
                if member.lost:
                    crew.restart(k)
        elif not running:
            raise EngineError(
                "have all ended by themselves", where="the processes of the centres",
                allowed="one that runs to its end", remedy="see the logs in the folder",
            )  # fmt: skip
        if watch is not None and watch(crew.members, seconds):
            break
        if all(member.state.get("done") for member in running):
            break
    return time.monotonic() - began


def _result(
    problem: Problem, folder: Path, members: Sequence[Member], seconds: float
) -> Deployment:
    n = len(members)
    final = {k: member.final for k, member in enumerate(members) if member.final is not None}
    if not final:
        raise EngineError(
            "reported no end", where="the processes of the centres", allowed="one at least",
            remedy="see the logs in the folder",
        )  # fmt: skip
    held, epochs = np.zeros(n, np.int64), np.zeros(n, np.int64)
    refused: dict[str, int] = {}
    for k, state in final.items():
        held[k], epochs[k] = state["held"], state["epoch"]
        for reason, times in state["refused"].items():
            refused[reason] = refused.get(reason, 0) + times
    models = None
    if problem.loss is not None:
        width = len(next(iter(final.values()))["model"])
        models = np.array([final[k]["model"] if k in final else [np.nan] * width for k in range(n)])
    digests = tuple(final[k]["digest"] if k in final else "" for k in range(n))
    (folder / "final.json").write_text(json.dumps(list(digests)), encoding="utf-8")
    return Deployment(
        problem, folder, np.array([k in final for k in range(n)]), held, models, epochs,
        _in_flight(final), seconds, sum(state["bytes"] for state in final.values()), refused,
        np.array([k in final and final[k]["enforced"] for k in range(n)]), digests,
    )  # fmt: skip


def _in_flight(final: dict[int, Json]) -> int:
    """Quanta on the way between the centres that ended well, in their present lives."""
    sums = {
        (k, state["epoch"], j, epoch): (sent, credited)
        for k, state in final.items()
        for j, epoch, sent, credited in state["links"]
    }
    total = 0
    for (k, mine, j, theirs), (sent, _) in sums.items():
        if j in final and final[j]["epoch"] == theirs:
            total += sent - sums.get((j, theirs, k, mine), (0, 0))[1]
    return total
