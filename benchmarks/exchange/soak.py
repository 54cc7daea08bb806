"""A service under load and faults for a long time: its memory stays flat, and nothing is lost."""

from __future__ import annotations

import random
import signal
import statistics
import time
from pathlib import Path
from typing import Any

from tests.exchange.processes.rig import Rig, Service
from tests.exchange.processes.template import Template

_MIB = 1024.0


def soak(folder: Path, template: Template, seconds: float, seed: int = 0) -> dict[str, Any]:
    """Let a service run under load, while agents and hosts are killed and the service stands still.

    Args:
        folder: Where everything is; it does not exist.
        template: What forks the processes.
        seconds: How long.
        seed: Of the faults.

    Returns:
        A row of figures: memory in MiB in the second and the last third, what was done, and
        ``broken``, the invariants that did not hold.
    """
    draw, faults, broken = random.Random(seed), 0, []
    samples: list[float] = []
    with Rig(folder, template, think=None, settings={"interval": 1.0}) as rig:
        rig.start()
        # What no cluster can run expires after a minute: the queue keeps its length.
        load = rig.load(1.0, runs=3, pause=0.1, waits=60.0)
        load.start()
        began = time.monotonic()
        after = began + 5.0
        while time.monotonic() - began < seconds:
            time.sleep(0.5)
            samples.append(_memory(rig.served[0]))
            if time.monotonic() < after:
                continue
            after = time.monotonic() + draw.uniform(1.0, 9.0)
            _fault(rig, draw)
            faults += 1
            broken += rig.broken(load)
        load.stop()
        rig.settle(load, 120.0)
        broken += rig.broken(load)
        stored = len(rig.states())
    third = len(samples) // 3
    middle = statistics.median(samples[third : 2 * third])
    last = statistics.median(samples[2 * third :])
    return {
        "seconds": seconds,
        "memory_middle_mib": middle,
        "memory_last_mib": last,
        "growth_mib_an_hour": (last - middle) / (seconds / 3.0) * 3600.0,
        "faults": faults,
        "acknowledged": len(load.acknowledged),
        "stored": stored,
        "broken": "; ".join(dict.fromkeys(broken)),
    }


def _fault(rig: Rig, draw: random.Random) -> None:
    """An agent or its host dies and comes back, or the service stands still for a moment."""
    agent, service = draw.choice(rig.agents), rig.served[0].process
    kind = draw.choice(("agent", "host", "pause"))
    if kind == "pause" and service is not None:
        service.signal(signal.SIGSTOP)
        time.sleep(draw.random())
        service.signal(signal.SIGCONT)
        return
    (rig.kill if kind == "agent" else rig.kill_host)(agent)
    time.sleep(draw.random())
    rig.start_agent(agent)


def _memory(service: Service) -> float:
    """Resident MiB of a service."""
    pid = 0 if service.process is None else service.process.pid
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / _MIB
