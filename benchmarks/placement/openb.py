"""Alibaba's GPU cluster of 2023 (openb): nodes, pods, what FGD's authors published, arrivals.

Source: Weng et al., Beware of Fragmentation, USENIX ATC 2023; hkust-adsl/
kubernetes-scheduler-simulator at 8f3d641. Five of their 17 workloads are in the data set; the
others are drawn here from the default one by the authors' description, and are named as drawn.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from walras import data
from walras.domains import placement as pl
from walras.errors import DataError
from walras.types import Longs

GIVEN = ("default", "cpu250", "gpushare100", "gpuspec33", "multigpu20")
DRAWN = (
    *("cpu050", "cpu100", "cpu200", "gpushare40", "gpushare60", "gpushare80"),
    *("gpuspec10", "gpuspec20", "gpuspec25", "multigpu30", "multigpu40", "multigpu50"),
)
_ARRIVED = 1.3  # of the GPUs that there are
_DRAW = 0  # seed of the drawn workloads


def folder() -> Path:
    """The folder of the data set.

    Raises:
        DataError: It is not there.
    """
    for one in data.search_path():
        if (one / "openb").is_dir():
            return one / "openb"
    raise DataError(
        "the data set openb is not there",
        where="openb",
        allowed="a folder openb on the search path of data",
        remedy="set WALRAS_DATA to the folder that holds it",
    )


def nodes() -> pd.DataFrame:
    """The 1,213 nodes with GPUs: cpu (cores), memory (MiB), gpus, model."""
    table = pd.read_csv(folder() / "openb_node_list_gpu_node.csv.gz", index_col="sn")
    return pd.DataFrame(
        {
            "cpu": table["cpu_milli"].astype(float),
            "memory": table["memory_mib"].astype(float),
            "gpus": table["gpu"],
            "model": table["model"],
        }
    ).rename_axis("node")


def pods(workload: str) -> pd.DataFrame:
    """The pods of a workload, as tasks worth their GPUs."""
    if workload in GIVEN:
        return _read(workload)
    rng = np.random.default_rng(_DRAW)
    base = _read("gpuspec33" if workload.startswith("gpuspec") else "default")
    kind = workload.rstrip("0123456789")
    share = int(workload.removeprefix(kind)) / (1000 if kind == "cpu" else 100)
    drawn = _DRAWS[kind](base, share, rng)
    return drawn.set_axis([f"pod{k}" for k in range(len(drawn))], axis=0)


def _read(workload: str) -> pd.DataFrame:
    file = folder() / f"openb_pod_list_{workload}.csv.gz"
    table = pd.read_csv(file, index_col="name", keep_default_na=False)
    shared = (table["num_gpu"] == 1) & (table["gpu_milli"] < 1000)
    return pd.DataFrame(
        {
            "cpu": table["cpu_milli"].astype(float),
            "memory": table["memory_mib"].astype(float),
            "gpus": np.where(shared, table["gpu_milli"] / 1000.0, table["num_gpu"]),
            "model": table.get("gpu_spec", pd.Series("", index=table.index)),
        }
    )


def _some(rows: pd.DataFrame, count: int, rng: np.random.Generator) -> pd.DataFrame:
    """Rows drawn with replacement."""
    return rows.iloc[rng.integers(0, len(rows), count)]


def _cpu(base: pd.DataFrame, share: float, rng: np.random.Generator) -> pd.DataFrame:
    """Pods without GPU as a share of all pods."""
    with_gpu, without = base[base["gpus"] > 0], base[base["gpus"] == 0]
    count = round(len(with_gpu) * share / (1.0 - share))
    return pd.concat([with_gpu, _some(without, count, rng)])


def _gpushare(base: pd.DataFrame, share: float, rng: np.random.Generator) -> pd.DataFrame:
    """Pods that share a GPU as a share of the GPUs that are asked for, of as many pods."""
    shared = base[(base["gpus"] > 0) & (base["gpus"] < 1)]
    alone, without = base[base["gpus"] >= 1], base[base["gpus"] == 0]
    count, ratio = len(shared) + len(alone), share / (1.0 - share)
    # x of s GPUs each and count - x of a each: x s = ratio (count - x) a
    s, a = shared["gpus"].mean(), alone["gpus"].mean()
    number = round(count * ratio * a / (s + ratio * a))
    return pd.concat([_some(shared, number, rng), _some(alone, count - number, rng), without])


def _gpuspec(base: pd.DataFrame, share: float, rng: np.random.Generator) -> pd.DataFrame:
    """Pods that name GPU models as a share of the pods with GPUs."""
    named = np.flatnonzero(base["model"] != "")
    kept = round(share * int((base["gpus"] > 0).sum()))
    drop = rng.permutation(named)[: len(named) - kept]
    model = base["model"].to_numpy(copy=True)
    model[drop] = ""
    return base.assign(model=model)


def _multigpu(base: pd.DataFrame, share: float, rng: np.random.Generator) -> pd.DataFrame:
    """More pods with several GPUs, until they are a share of the GPUs that are asked for."""
    several = base[base["gpus"] > 1]
    total, held = base["gpus"].sum(), several["gpus"].sum()
    more = (share * total - held) / (1.0 - share)
    return pd.concat([base, _some(several, round(more / several["gpus"].mean()), rng)])


_DRAWS = {"cpu": _cpu, "gpushare": _gpushare, "gpuspec": _gpuspec, "multigpu": _multigpu}


def arrivals(instance: pl.Instance, seed: int) -> Longs:
    """All pods in random order, then pods drawn until they ask for 130 % of the GPUs."""
    rng = np.random.default_rng(seed)
    gpus = instance.devices[instance.kind]
    order = rng.permutation(len(gpus))
    limit, asked = _ARRIVED * float(instance.gpus.sum()), float(gpus.sum())
    if asked > limit:
        left = np.flatnonzero(asked - np.cumsum(gpus[order]) <= limit)[0]
        return order[left + 1 :]
    more: list[int] = []
    while True:
        pod = int(rng.integers(len(gpus)))
        if asked + min(1.0, gpus[pod]) > limit:
            return np.concatenate([order, np.array(more, dtype=np.int64)])
        asked += gpus[pod]
        more.append(pod)


def published() -> pd.DataFrame:
    """GPU allocation (%) at 130 % arrived, mean and deviation of ten seeds, as FGD's authors."""
    table = pd.read_csv(folder() / "fgd_gpu_allocation_percent.csv")
    table = table[table["arrived_percent"] == 130]
    names = table["policy"].str[3:].map(_NAMES)
    return table.assign(
        workload=table["workload"].str.removeprefix("openb_pod_list_"), policy=names
    ).dropna(subset="policy")


_NAMES = {
    "Random": "random",
    "DotProd": "dot_product",
    "GpuPacking": "packing",
    "BestFit": "best_fit",
    "FGD": "fgd",
}
