"""What a task of the demo runs: it takes as long as its network was measured to take, scaled.

This file runs alone, by ``python -I -S``: it imports nothing of Walras. Its cluster is told by the
file ``cluster.json`` in the folder of the agent that runs it.
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path

STEPS = 5  # lines that it prints on its way


def cluster_of(here: Path) -> dict[str, dict[str, list[float]]]:
    """What the cluster is like: seconds and chance of success of each network."""
    for folder in (here, *here.parents):
        path = folder / "cluster.json"
        if path.exists():
            found: dict[str, dict[str, list[float]]] = json.loads(path.read_text(encoding="utf-8"))
            return found
    raise SystemExit("there is no cluster.json above this folder")


def main(network: str) -> int:
    """Take the measured time; fail as often as was measured."""
    found = cluster_of(Path.cwd())
    if network not in found["networks"]:
        raise SystemExit(f"network {network} was not measured here: it is of other data")
    seconds, chance = found["networks"][network]
    say = sys.stdout.write
    say(f"network {network}: {seconds:.2f} s expected here\n")
    fails_after = STEPS if random.random() < chance else random.randrange(STEPS)
    for step in range(STEPS):
        if step == fails_after:
            say("error: out of luck; this cluster fails as often as was measured\n")
            return 1
        time.sleep(seconds / STEPS)
        say(f"step {step + 1} of {STEPS}\n")
        sys.stdout.flush()
    say("done\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
