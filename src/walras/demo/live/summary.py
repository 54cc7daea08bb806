"""Ten lines that say where the demo stands."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from shutil import which
from typing import Any

from walras.demo.live.run import Seen


def lines(seen: Seen) -> list[str]:
    """The ten lines, of what was seen through the API.

    Args:
        seen: What was seen.
    """
    states, last = seen.states, seen.last
    running = states.get("leased", 0) + states.get("running", 0)
    return [
        f"page        {seen.url}/",
        f"clusters    {seen.source}",
        f"predictor   {_predictor(seen)}",
        f"time        {time.monotonic() - seen.began:.0f} s",
        f"rounds      {seen.rounds}" + (f", the last with a gap of {_gap(last)}" if last else ""),
        f"placed      {seen.placed}, {states.get('pending', 0)} wait",
        f"done        {seen.done}, {running} run",
        f"failed      {seen.failed} runs",
        f"regret      {_regret(seen.regret)}",
        f"makespan    {_makespans(seen)}",
    ]


def record(seen: Seen) -> dict[str, Any]:
    """The same as numbers, for ``-o json``.

    Args:
        seen: What was seen.
    """
    score = seen.score
    judged = None
    if score is not None and score.rounds:
        judged = {
            "rounds": score.rounds,
            "exchange": score.ours / score.rounds,
            "cluster_averages": score.averages / score.rounds,
            "oracle": score.oracle / score.rounds,
        }
    return {
        "url": seen.url,
        "clusters": seen.source,
        "predictor": seen.predictor,
        "seconds": time.monotonic() - seen.began,
        "rounds": seen.rounds,
        "placed": seen.placed,
        "done": seen.done,
        "failed_runs": seen.failed,
        "regret": seen.regret,
        "makespan_seconds": judged,
    }


def link_again(seen: Seen) -> str:
    """The command that makes a new link, for a shell.

    Args:
        seen: What was seen.
    """
    command = which("walras") or Path(sys.executable).with_name("walras")
    short = "walras" if which("walras") else str(command)
    token = seen.home / "exchange" / "admin.token"
    return shlex.join([short, "login", "--server", seen.url, "--token-file", str(token)])


def _predictor(seen: Seen) -> str:
    if seen.predictor is None:
        return "trains on past runs"
    return f"version {seen.predictor}, trained on past runs; it learns from those that end here"


def _gap(last: Any) -> str:
    return "none" if last.gap is None else f"{100.0 * last.gap:.2g} %"


def _regret(found: dict[str, Any] | None) -> str:
    if found is None:
        return "once a round's runs have ended"
    errors = found["prediction"]
    solver = found["solver"]["seconds"] if found["solver"] else 0.0
    return (
        f"predicted {errors['predicted']:.2g} s, measured {errors['measured']:.2g} s; "
        f"solver at most {solver:.2g} s"
    )


def _makespans(seen: Seen) -> str:
    score = seen.score
    if score is None or not score.rounds:
        return "once a round's runs have ended"
    ours, averages, oracle = (
        value / score.rounds for value in (score.ours, score.averages, score.oracle)
    )
    return (
        f"{ours:.2f} s a round; by cluster averages {averages:.2f} s, by an oracle {oracle:.2f} s"
    )
