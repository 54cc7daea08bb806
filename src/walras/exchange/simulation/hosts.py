"""Hosts of a simulated world: an agent, its runs, and what is left of both on the disk."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from walras.exchange.agent.machine import Key, Machine


@dataclass
class Process:
    """A run of a task on a host; one that waits in a queue is one, too: it will run."""

    agent: int
    key: Key
    task: str
    slots: int
    began: float  # later than now while it waits in a queue
    ends: float  # by itself
    fence: float  # the shim ends it then; infinite where nothing does
    outcome: str
    exit_code: int
    claimed: float | None = None  # seconds that a liar reports
    dies: float = float("inf")  # ordered to end


@dataclass
class Host:
    """A host, its agent and what survives the agent: the journal, processes and exits."""

    number: int
    uid: str
    fences: bool
    rate: float  # of its clock
    journal: list[dict[str, Any]] = field(default_factory=list)
    machine: Machine | None = None
    processes: dict[Key, Process] = field(default_factory=dict)
    exits: dict[Key, tuple[str, float, int]] = field(default_factory=dict)
    seen: set[Key] = field(default_factory=set)  # seen running by this life of the agent
