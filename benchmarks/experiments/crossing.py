"""Bytes between machines: what an iteration on Ray sends as flows by link grow in number."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import walras as wl
from benchmarks.experiments.figures import draw, finish
from benchmarks.experiments.study import Setting, Study
from benchmarks.peers.walras_engine import crossed
from walras.domains import traffic_engineering as te
from walras.plot.style import blank

ACTORS = (2, 4)
SHARES = (0.0625, 0.125, 0.25, 0.5)  # of the nodes, at which traffic begins


def crossing(setting: Setting) -> pd.DataFrame:
    """Bytes of an iteration without a proof and with one, to a gap of 1 %."""
    network, paths = setting.parts
    demand, rows = setting.traffic(paths), []
    for actors in ACTORS:
        for share in SHARES:
            sources = np.arange(network.nodes) < max(2, round(share * network.nodes))
            problem = te.max_total_flow_by_link(
                network, np.where(sources[:, None], demand, 0.0) / share
            )
            solution = wl.solve(
                problem,
                engine=wl.engines.ADMM(executor=wl.Ray(actors=actors)),
                tolerance=1e-2,
                time_limit=setting.limit,
            )
            sent = crossed(solution)
            rows.append(
                {
                    "actors": actors,
                    "x": int(sources.sum()),
                    "entries": problem.entries,
                    "bytes": sent.get("bytes", np.nan),
                    "proof": sent.get("proof", np.nan),
                    "iterations": len(solution.history),
                    "gap": solution.gap,
                    "seconds": solution.timings.total,
                }
            )
            print("  " + ", ".join(f"{k} {v:.6g}" for k, v in rows[-1].items()), flush=True)
    return pd.DataFrame(rows)


def draw_crossing(frame: pd.DataFrame, path: Path) -> None:
    """Kilobytes of an iteration over the entries there are, beside those of all entries."""
    figure, (axes,) = blank(7.2, 3.6)
    for k, (actors, own) in enumerate(frame.groupby("actors")):
        draw(axes, k, f"{actors} actors", list(own["entries"]), list(own["bytes"] / 1e3))
    every = sorted(frame["entries"].unique())
    axes.plot(
        every,
        [16e-3 * count for count in every],
        color="0.5",
        linestyle=":",
        label="all entries, there and back",
    )
    axes.set_xscale("log")
    axes.set_yscale("log")
    finish(figure, axes, path, "entries of the problem", "kB an iteration")


def table_crossing(frame: pd.DataFrame) -> pd.DataFrame:
    """A row a number of actors and of sources."""
    names = [f"{row.actors} actors, {row.x} sources" for row in frame.itertuples()]
    chosen = frame[["entries", "bytes", "proof", "iterations", "gap", "seconds"]]
    named = {"bytes": "kB an iteration", "proof": "kB with a proof"}
    thousands = chosen.assign(bytes=frame["bytes"] / 1e3, proof=frame["proof"] / 1e3)
    return thousands.set_axis(names, axis=0).rename(columns=named)


STUDIES = (
    Study(
        "crossing",
        "Bytes between machines",
        "Maximum total flow by link on Ray, from ever more sources, each with its own conservation "
        "of flows, to a proved gap of 1 %. Bytes are the medians of the iterations without a "
        "proof, and of those with one; seconds count Ray's start. The dotted line is what moving "
        "every entry to one process and back would take.",
        crossing,
        draw_crossing,
        table_crossing,
        estimate=330.0,
        limit=120.0,
    ),
)
