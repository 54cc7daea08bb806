"""online: GPU allocation (%) of each policy when arrivals ask for 130 % of the GPUs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import memory
from benchmarks.placement import openb
from walras.domains import placement as pl

OURS = "fill"
SEEDS = range(42, 52)  # as FGD's authors


def rows(
    workloads: Sequence[str], policies: Sequence[str], seeds: Sequence[int]
) -> Iterator[dict[str, object]]:
    """One row a workload and policy, the published mean beside ours."""
    theirs = openb.published().set_index(["workload", "policy"])["mean"].to_dict()
    nodes = openb.nodes()
    for workload in workloads:
        instance = pl.make_instance(nodes, openb.pods(workload))
        gpus = instance.devices[instance.kind]
        arriving = {seed: openb.arrivals(instance, seed) for seed in seeds}
        for policy in policies:
            memory.reset_peak()
            began, found = time.process_time(), []
            for seed, items in arriving.items():
                on = pl.arrive(instance, items, policy, seed=seed)
                found.append(100.0 * float(gpus[items[on >= 0]].sum() / instance.gpus.sum()))
            yield {
                "workload": workload,
                "pods": "given" if workload in openb.GIVEN else "drawn here",
                "policy": policy,
                "seeds": len(found),
                "allocated %": float(np.mean(found)),
                "deviation": float(np.std(found)),
                "published %": theirs.get((workload, policy), np.nan),
                "CPU s a run": (time.process_time() - began) / len(found),
                "MiB": memory.peak_mebibytes(),
            }


def verdict(frame: pd.DataFrame) -> str:
    """How far the published policies are reproduced, and where ours is above FGD."""
    known: Any = frame.dropna(subset="published %")
    off = (known["allocated %"] - known["published %"]).abs()
    lines = []
    for pods, part in known.groupby("pods", sort=False):
        at = off[part.index].idxmax()
        lines.append(
            f"pods {pods}: at most {off[at]:.2f} points from a published mean "
            f"({part['policy'][at]} on {part['workload'][at]})"
        )
    wide = frame.pivot(index="workload", columns="policy", values="allocated %")
    if OURS in wide and "fgd" in wide:
        above = int((wide[OURS] > wide["fgd"]).sum())
        gain = (wide[OURS] - wide["fgd"]).mean()
        lines.append(
            f"{OURS} is above FGD, both measured here, on {above} of {len(wide)} workloads, "
            f"by {gain:.2f} points on average"
        )
        theirs = known[known["policy"] == "fgd"].set_index("workload")["published %"]
        above = int((wide[OURS].reindex(theirs.index) > theirs).sum())
        lines.append(f"above FGD's published mean on {above} of {len(theirs)}")
    return "\n".join(lines)
