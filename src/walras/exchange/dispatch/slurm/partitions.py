"""Slurm's partitions as clusters of an exchange."""

from __future__ import annotations

import subprocess
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from walras.errors import DataError, InputError
from walras.exchange.dispatch.offers import SOURCE, Offered, distinct, label_value, name_of
from walras.exchange.dispatch.slurm import nodes, queue
from walras.exchange.dispatch.slurm.nodes import Nodes
from walras.exchange.dispatch.slurm.queue import Load

SINFO = ("sinfo", "--noheader", "--Node", f"--format={nodes.FORMAT}")
SQUEUE = ("squeue", "--noheader", f"--format={queue.FORMAT}")
_PATIENCE = 60.0  # seconds that a command may take
_FEATURES = 40  # labels that features become; a cluster has 64 labels at most


@dataclass(frozen=True)
class Partition:
    """A partition.

    Attributes:
        name: Its name in Slurm.
        state: ``up`` where it starts jobs, else ``draining``.
        cpus: CPUs of its nodes that start jobs.
        idle: Those of them that no job has.
        labels: What each of these nodes has.
        load: What its queue takes; None where that is not known.
    """

    name: str
    state: str
    cpus: int
    idle: int
    labels: Mapping[str, str]
    load: Load | None = None


def partitions_of(
    found: Sequence[Nodes],
    loads: Mapping[str, Load] | None = None,
    only: Collection[str] = (),
) -> list[Partition]:
    """Partitions, from their nodes.

    A label holds for every node that starts jobs: ``gpu`` is set where all have GPUs of one type,
    numbers are the least of a node, ``feature/NAME`` is a feature of all.

    Args:
        found: Nodes of all partitions.
        loads: Partition -> what its queue takes; None where that is not known.
        only: The partitions to take; all of them where none is named.

    Raises:
        InputError: One that is named is not there.
    """
    groups: dict[str, list[Nodes]] = {}
    for one in found:
        groups.setdefault(one.partition, []).append(one)
    missing = [name for name in only if name not in groups]
    if missing:
        raise InputError(
            f"there is no partition '{missing[0]}'",
            where="--partition",
            allowed=", ".join(groups) or "none: sinfo shows no partition",
            remedy="name one of these",
        )
    return [
        _partition(name, group, None if loads is None else loads.get(name, Load()))
        for name, group in groups.items()
        if not only or name in only
    ]


def _partition(name: str, group: Sequence[Nodes], load: Load | None) -> Partition:
    usable = [one for one in group if one.usable]
    state = "up" if usable and all(one.available for one in group) else "draining"
    return Partition(
        name,
        state,
        sum(one.cpus for one in usable),
        sum(one.idle for one in usable),
        _labels(name, usable or group),
        load,
    )


def _labels(name: str, group: Sequence[Nodes]) -> dict[str, str]:
    kinds = {kind for one in group for kind in one.gpus}
    shared = frozenset.intersection(*(one.features for one in group))
    gpus = min(sum(one.gpus.values()) for one in group)
    labels = {
        SOURCE: "slurm",
        "partition": name,
        "vcpus": str(min(one.cpus // max(one.count, 1) for one in group)),
        "memory": f"{min(one.memory for one in group):.10g}",
    }
    if gpus:
        labels["gpus"] = str(gpus)
    if gpus and len(kinds) == 1:
        labels["gpu"] = kinds.pop()
    labels |= {f"feature/{feature}": "yes" for feature in sorted(shared)[:_FEATURES]}
    return {label_value(key): label_value(value) for key, value in labels.items() if value}


def clusters_of(
    partitions: Sequence[Partition], where: str, *, free: bool = False
) -> list[Offered]:
    """Partitions as clusters: a slot is a CPU, as for the agent that submits to Slurm.

    Args:
        partitions: The partitions.
        where: What described them, for errors.
        free: Whether to offer only what others leave: idle CPUs and those of the exchange's own
            jobs. Else all CPUs of nodes that start jobs.

    Raises:
        InputError: Two would have one name, or free CPUs are asked for without a queue.
    """
    made = []
    for one in partitions:
        if free and one.load is None:
            raise InputError(
                "needs the queue, to know which jobs are the exchange's own",
                where="--free",
                allowed="with --queue FILE, or without a file of sinfo",
                remedy="give what squeue printed with --queue FILE",
            )
        ours = 0 if one.load is None else one.load.ours
        slots = min(one.idle + ours, one.cpus) if free else one.cpus
        place = f"{where}, partition {one.name}"
        name = name_of(one.name, where=place)
        made.append(Offered(name, slots, one.labels, None, one.state, place))
    return distinct(made)


def words_of(one: Partition) -> str:
    """A partition and its queue in words."""
    said = f"{one.name}: {one.cpus} CPUs of nodes that start jobs, {one.idle} idle"
    if one.load is None:
        return said
    return (
        f"{said}; jobs of the exchange hold {one.load.ours}, others {one.load.others}, "
        f"waiting jobs ask for {one.load.waiting}"
    )


def printed_by(command: Sequence[str]) -> str:
    """What a command of Slurm prints; it is run without a shell.

    Raises:
        DataError: It is not there, fails or takes too long.
    """
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
            check=False,
        )
        said = done.stderr.strip() or f"exit status {done.returncode}"
        failed = done.returncode != 0
    except subprocess.TimeoutExpired:
        failed, said = True, f"no answer in {_PATIENCE:.0f} s"
    except OSError as error:
        failed, said = True, error.strerror or str(error)
    if failed:
        raise DataError(
            f"failed: {said}",
            where=command[0],
            allowed="a command of Slurm on this machine that answers",
            remedy=f"run this on a login node, or give what {command[0]} printed as a file",
        )
    return done.stdout
