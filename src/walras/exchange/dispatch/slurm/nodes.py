"""What ``sinfo`` says of nodes: as text of a fixed format, or as JSON of two generations.

Text, ``sinfo --noheader --Node --format=%R|%a|%N|%T|%C|%m|%G|%f``: every version of Slurm.
JSON, ``sinfo --json``: of Slurm 21.08 and 22.05 (``nodes``, without the states of partitions), and
of 23.02 and later (``sinfo``, rows of nodes that are alike).
Sources: the manual page of sinfo, output of Slurm 22.05.8, and the data_parser plugins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from walras.errors import InputError

FORMAT = "%R|%a|%N|%T|%C|%m|%G|%f"
"""The format of the text: partition, its state, node, state, CPUs, MiB, gres, features."""
_HEADER = "PARTITION|"
_PARTS = 8
_DIGITS = 15  # of a count
_CPUS = re.compile("/".join(["([0-9]{1,15})"] * 4))  # allocated, idle, other, all
_GPU = re.compile(r"gpu(?::([^:()]+))?:([0-9]{1,9})(?:\(.*)?")
# A suffix of a state in text: no answer, or a reservation for maintenance.
_SUFFIX = re.compile(r"[*~#!%$@^+-]+$")
_ABSENT = re.compile(r"[*$]")
# States in which a node starts no job of anybody.
_OUT = re.compile(
    "DOWN|DRAIN(ED|ING)?|FAIL(ED|ING)?|ERROR|UNKNOWN|FUTURE|MAINT|RESERVED|INVAL(ID|ID_REG)?"
    "|NO_RESPOND|NOT_RESPONDING|BLOCKED|PERFCTRS"
)


@dataclass(frozen=True)
class Nodes:
    """Nodes of one partition that are alike.

    Attributes:
        partition: Its name.
        available: Whether the partition starts jobs.
        count: How many nodes.
        usable: Whether they start jobs.
        cpus: CPUs of all of them.
        idle: CPUs of them that no job has.
        memory: GiB of each.
        gpus: Type -> GPUs of each; the type is empty where none is named.
        features: Of each.
    """

    partition: str
    available: bool
    count: int
    usable: bool
    cpus: int
    idle: int
    memory: float
    gpus: Mapping[str, int]
    features: frozenset[str]


def read_nodes(text: str, where: str) -> list[Nodes]:
    """Read what ``sinfo`` printed.

    Args:
        text: Its output, in one of the three forms.
        where: What printed it, for errors.

    Raises:
        InputError: It is none of them; the line, or the place in the JSON, is named.
    """
    text = text.removeprefix("\ufeff")  # a byte-order mark
    if text.lstrip().startswith("{"):
        document = document_of(text, where)
        if isinstance(document.get("sinfo"), list):
            return [
                _of_group(one, f"{where}, sinfo[{k}]") for k, one in enumerate(document["sinfo"])
            ]
        if isinstance(document.get("nodes"), list):
            rows = enumerate(document["nodes"])
            return [made for k, one in rows for made in _of_node(one, f"{where}, nodes[{k}]")]
        raise InputError(
            "has neither 'sinfo' nor 'nodes'",
            where=where,
            allowed="the output of sinfo --json of Slurm 21.08 or later",
            remedy=_remedy(),
        )
    lines = [line for line in enumerate(text.splitlines(), 1) if line[1].strip()]
    return [_of_line(line, f"{where}, line {k}") for k, line in lines if not _is_header(line)]


def document_of(text: str, where: str) -> dict[str, Any]:
    """The JSON that a command of Slurm printed.

    Raises:
        InputError: It is damaged, or holds errors of Slurm.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"is no JSON: {error}", where=where, allowed="whole JSON", remedy=_remedy()
        ) from error
    errors = found.get("errors") if isinstance(found, dict) else "no object"
    if errors:
        first = errors[0] if isinstance(errors, list) else errors
        said = first.get("error", first) if isinstance(first, dict) else first
        raise InputError(
            f"holds an error of Slurm: {str(said)[:200]}",
            where=where,
            allowed="output without errors",
            remedy="see that Slurm's controller answers, then run the command again",
        )
    return dict(found)


def _remedy() -> str:
    return f"run sinfo --noheader --Node --format='{FORMAT}'"


def _is_header(line: str) -> bool:
    return line.startswith(_HEADER)


def _of_line(line: str, where: str) -> Nodes:
    """A node in a partition, from a line.

    Raises:
        InputError: The line is not of the format.
    """
    parts = [part.strip() for part in line.split("|")]
    match = _CPUS.fullmatch(parts[4]) if len(parts) == _PARTS else None
    if match is None or whole_of(parts[5].rstrip("+")) is None:
        raise InputError(
            f"is '{line.strip()}'",
            where=where,
            allowed=f"a line of the format {FORMAT}",
            remedy=_remedy(),
        )
    partition, available, _, state, _, memory, gres, features = parts
    usable = not _ABSENT.search(state) and _usable({_SUFFIX.sub("", state)})
    return Nodes(
        partition.rstrip("*"),
        available.lower() == "up",
        1,
        usable,
        int(match[4]),
        int(match[2]) if usable else 0,
        (whole_of(memory.rstrip("+")) or 0) / 1024.0,
        _gpus(gres),
        _features(features),
    )


def whole_of(text: str) -> int | None:
    """A number of few plain digits, or None."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _DIGITS else None


def count_of(value: Any) -> int:
    """A count that JSON holds.

    Raises:
        ValueError: It is no whole number from 0 to 10^15.
    """
    found = int(value)
    if not 0 <= found < 10**_DIGITS:
        raise ValueError(f"{str(value)[:40]} is no count")
    return found


def _of_node(node: Any, where: str) -> Iterator[Nodes]:
    """A node in each of its partitions, from JSON of 21.08 or 22.05."""
    with _naming(where):
        states = {str(node["state"]), *map(str, node.get("state_flags") or ())}
        usable = _usable(states)
        cpus, idle = count_of(node["cpus"]), count_of(node["idle_cpus"])
        memory, gpus = count_of(node["real_memory"]) / 1024.0, _gpus(str(node.get("gres") or ""))
        features = _features(str(node.get("features") or ""))
        partitions = [str(one) for one in node["partitions"]]
    for partition in partitions:
        yield Nodes(partition, True, 1, usable, cpus, idle if usable else 0, memory, gpus, features)


def _of_group(row: Any, where: str) -> Nodes:
    """Nodes that are alike, from JSON of 23.02 or later."""
    with _naming(where):
        usable = _usable({str(one) for one in row["node"]["state"]})
        available = row["partition"].get("partition", {}).get("state") or ["UP"]
        return Nodes(
            str(row["partition"]["name"]),
            [str(one).upper() for one in available] == ["UP"],
            count_of(row["nodes"]["total"]),
            usable,
            count_of(row["cpus"]["total"]),
            count_of(row["cpus"]["idle"]) if usable else 0,
            count_of(row["memory"]["minimum"]) / 1024.0,
            _gpus(str(row.get("gres", {}).get("total") or "")),
            _features(str(row.get("features", {}).get("total") or "")),
        )


@contextmanager
def _naming(where: str) -> Iterator[None]:
    """Turns what Python says of a missing or wrong field into an error that names the place."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        what = f"has no {error}" if isinstance(error, KeyError) else f"has a wrong field: {error}"
        raise InputError(
            what, where=where, allowed="the fields of sinfo --json", remedy=_remedy()
        ) from error


def _usable(states: set[str]) -> bool:
    return not any(_OUT.fullmatch(state.upper()) for state in states)


def _gpus(gres: str) -> dict[str, int]:
    """``gpu:a100:4(S:0-1),shard:8`` as type -> number."""
    found: dict[str, int] = {}
    for word in re.split(r",(?![^(]*\))", gres):
        match = _GPU.fullmatch(word.strip())
        if match:
            kind = match[1] or ""
            found[kind] = found.get(kind, 0) + int(match[2])
    return {kind: count for kind, count in found.items() if count}


def _features(words: str) -> frozenset[str]:
    return frozenset(
        word.strip() for word in words.split(",") if word.strip() not in ("", "(null)")
    )
