"""What ``squeue`` says of jobs: who runs on how many CPUs, and who waits for how many.

Text, ``squeue --noheader --format=%P|%T|%C|%j``: every version of Slurm, and a hundredth of the
size of its JSON, which also has jobs that have ended. JSON of 21.08 and later is read, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from walras.errors import InputError
from walras.exchange.dispatch.slurm.nodes import count_of, document_of, whole_of

FORMAT = "%P|%T|%C|%j"
"""The format of the text: partition, state, CPUs, name."""
_HEADER = "PARTITION|"
_OURS = re.compile(r"walras-.+-\d+")  # what an agent names its jobs: walras-TASK-TOKEN
_HOLD = frozenset(
    ("RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "STAGE_OUT", "STOPPED", "SIGNALING")
)


@dataclass(frozen=True)
class Load:
    """What the queue of a partition takes.

    Attributes:
        ours: CPUs that jobs of an exchange's agents hold.
        others: CPUs that other jobs hold.
        waiting: CPUs that waiting jobs ask for.
    """

    ours: int = 0
    others: int = 0
    waiting: int = 0


def read_queue(text: str, where: str) -> dict[str, Load]:
    """Read what ``squeue`` printed.

    Args:
        text: Its output, as text or JSON.
        where: What printed it, for errors.

    Returns:
        Partition -> load; a waiting job that names several partitions waits in each.

    Raises:
        InputError: It is neither; the line, or the place in the JSON, is named.
    """
    found: dict[str, Load] = {}
    for partitions, state, cpus, name in _jobs(text, where):
        for partition in partitions.split(","):
            load = found.get(partition, Load())
            if state == "PENDING":
                load = Load(load.ours, load.others, load.waiting + cpus)
            elif state in _HOLD and _OURS.fullmatch(name):
                load = Load(load.ours + cpus, load.others, load.waiting)
            elif state in _HOLD:
                load = Load(load.ours, load.others + cpus, load.waiting)
            found[partition] = load
    return found


def _jobs(text: str, where: str) -> Iterable[tuple[str, str, int, str]]:
    """Partitions, state, CPUs and name of each job."""
    text = text.removeprefix("\ufeff")  # a byte-order mark
    if text.lstrip().startswith("{"):
        jobs = document_of(text, where).get("jobs")
        if not isinstance(jobs, list):
            raise _refused("has no list 'jobs'", where)
        return [_of_json(job, f"{where}, jobs[{k}]") for k, job in enumerate(jobs)]
    lines = enumerate(text.splitlines(), 1)
    return [
        _of_line(line, f"{where}, line {k}")
        for k, line in lines
        if line.strip() and not line.startswith(_HEADER)
    ]


def _of_line(line: str, where: str) -> tuple[str, str, int, str]:
    parts = line.split("|", 3)
    cpus = whole_of(parts[2].strip()) if len(parts) == 4 else None
    if cpus is None:
        raise _refused(f"is '{line.strip():.200}'", where)
    partition, state, _, name = (part.strip() for part in parts)
    return partition, state.upper(), cpus, name


def _of_json(job: Any, where: str) -> tuple[str, str, int, str]:
    try:
        state, cpus = job["job_state"], job["cpus"]
        words = [state] if isinstance(state, str) else [str(one) for one in state]
        number = cpus["number"] if isinstance(cpus, dict) else cpus  # of 23.02 and later
        return str(job["partition"]), words[0].upper(), count_of(number), str(job["name"])
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise _refused(f"cannot be read: {type(error).__name__} {error}", where) from error


def _refused(what: str, where: str) -> InputError:
    return InputError(
        what,
        where=where,
        allowed=f"a line of the format {FORMAT}, or JSON of squeue",
        remedy=f"run squeue --noheader --format='{FORMAT}'",
    )
