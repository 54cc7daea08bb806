"""The ``[deploy]`` table of a scenario: hosts, pace and limits of real processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from walras import checks
from walras.errors import InputError
from walras.network.drivers.bundle import Json
from walras.network.drivers.launch import LOCAL, Host

_CHOICES = {"pace": ("rounds", "clock"), "launcher": ("processes", "ray")}


@dataclass(frozen=True)
class Inventory:
    """The settings of a scenario's deployment.

    Attributes:
        pace: ``rounds`` or ``clock``.
        period: Milliseconds between ticks by the clock.
        launcher: ``processes`` or ``ray``.
        restart: Whether a process that ends early is started again.
        durable: Whether traces survive a loss of power.
        trace_limit: MiB after which a trace starts again from the centre's state.
        time_limit: Largest number of seconds.
        hosts: Host of each centre; None for this host.
        cgroups: Control group of each centre; None for no groups.
    """

    pace: Any = "rounds"
    period: int = 20
    launcher: Any = "processes"
    restart: bool = False
    durable: bool = False
    trace_limit: int = 64
    time_limit: float = 300.0
    hosts: Sequence[Host] | None = None
    cgroups: Sequence[Json] | None = None


def inventory(table: Mapping[str, Any], centres: int) -> Inventory:
    """Read the inventory from a ``[deploy]`` table whose keys have been checked.

    ``hosts`` are tables of ``address``, ``port`` and ``command``. Centres are assigned to them in
    turn, and the k-th centre of a host listens at ``port + k``. ``cgroup`` has ``processors`` and
    ``group``, where ``{centre}`` stands for the number.

    Raises:
        InputError: A value cannot be used.
    """
    for name, allowed in _CHOICES.items():
        checks.one_of(table.get(name, allowed[0]), f"deploy.{name}", allowed)
    return Inventory(
        table.get("pace", "rounds"),
        checks.whole(table.get("period", 20), "deploy.period", 1, 60_000, words=" ms"),
        table.get("launcher", "processes"),
        checks.flag(table.get("restart", False), "deploy.restart"),
        checks.flag(table.get("durable", False), "deploy.durable"),
        checks.whole(table.get("trace_limit", 64), "deploy.trace_limit", 1),
        checks.number(table.get("time_limit", 300.0), "deploy.time_limit", above=0.0, words=" s"),
        _hosts(table.get("hosts"), centres),
        _cgroups(table.get("cgroup"), centres),
    )


def _hosts(entries: Any, centres: int) -> list[Host] | None:
    if entries is None:
        return None
    if not isinstance(entries, list) or not entries:
        raise _refuse("deploy.hosts", entries, "[[deploy.hosts]] with an address each")
    for k, entry in enumerate(entries):
        _known(f"deploy.hosts[{k}]", entry, ("address", "port", "command"))
    found = []
    for centre in range(centres):
        entry = entries[centre % len(entries)]
        port = checks.whole(entry.get("port", 0), "deploy.hosts.port")
        port = port + centre // len(entries) if port else 0
        if port >= 2**16:
            raise _refuse("deploy.hosts.port", port, "0..65535, for all centres of the host")
        command = entry.get("command", list(LOCAL))
        if not isinstance(command, list) or not command:
            raise _refuse("deploy.hosts.command", command, "a list of words")
        words = tuple(checks.text(word, "deploy.hosts.command") for word in command)
        address = checks.text(entry.get("address", "127.0.0.1"), "deploy.hosts.address")
        found.append(Host(address, words, port))
    return found


def _cgroups(entry: Any, centres: int) -> list[Json] | None:
    if entry is None:
        return None
    _known("deploy.cgroup", entry, ("group", "processors"))
    group = checks.text(entry.get("group", ""), "deploy.cgroup.group")
    processors = entry.get("processors", 1.0)
    processors = checks.number(processors, "deploy.cgroup.processors", above=0.0)
    if "{centre}" not in group:
        raise _refuse("deploy.cgroup.group", group, "a path with {centre} in it")
    return [
        {"group": group.replace("{centre}", str(k)), "processors": processors}
        for k in range(centres)
    ]


def _known(where: str, entry: Any, keys: tuple[str, ...]) -> None:
    if not isinstance(entry, Mapping):
        raise _refuse(where, entry, "a table")
    checks.known_keys(entry, keys, where)


def _refuse(where: str, value: object, allowed: str) -> InputError:
    return InputError(f"is {value!r}", where=where, allowed=allowed, remedy="correct the value")
