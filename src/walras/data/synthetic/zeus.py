"""A synthetic stand-in for the Zeus traces: an epoch is work, and an overhead for every batch.

With batch size b at a share p of the highest power limit, an epoch on one GPU takes

    t = (work + overhead / b) p^(-power) exp(ε),   ε ~ N(0, sd²)   seconds,

and a run reaches its target with the data set's probability, after a lognormal number of epochs.
``FITTED`` holds the estimates printed by ``walras data fit zeus`` on the measured traces: least
squares of relative errors at full power, then of log time in log p.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from walras.data.zeus import GPUS, NAME, TARGETS, ZeusTraces

# Data set -> network, optimiser, batch sizes.
TASKS: Mapping[str, tuple[str, str, tuple[int, ...]]] = {
    "cifar100": ("shufflenetv2", "adadelta", (8, 16, 32, 64, 128, 256, 512, 1024, 2048)),
    "imagenet": ("resnet50", "adadelta", (8, 16, 32, 64, 128)),
    "librispeech": ("deepspeech2", "adamw", (8, 16, 32, 64)),
    "movielens-1m": ("ncf", "adam", (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)),
    "sentiment140": ("bert_base_uncased", "adamw", (8, 16, 32, 64)),
    "squad": ("bert_base_uncased", "adamw", (8, 12, 16, 24)),
}
LIMITS: Mapping[str, tuple[int, ...]] = {
    "v100": (100, 125, 150, 175, 200, 225, 250),
    "a40": (100, 125, 150, 175, 200, 225, 250, 275, 300),
    "p100": (125, 150, 175, 200, 225, 250),
    "rtx6000": (100, 125, 150, 175, 200, 225, 250, 260),
}
RUNS = 5


@dataclass(frozen=True)
class Model:
    """The parameters of the stand-in.

    Attributes:
        seconds: GPU -> data set -> (work in s, overhead in s times the batch size).
        power: GPU -> exponent of the power limit.
        noise_sd: GPU -> standard deviation of the noise in log time.
        draw: GPU -> mean power drawn over the limit.
        reach: Data set -> (probability, mean and standard deviation of log epochs).
    """

    seconds: Mapping[str, Mapping[str, tuple[float, float]]]
    power: Mapping[str, float]
    noise_sd: Mapping[str, float]
    draw: Mapping[str, float]
    reach: Mapping[str, tuple[float, float, float]]


FITTED = Model(
    seconds={
        "v100": {
            "cifar100": (5.909, 1609.5238),
            "imagenet": (3445.1372, 19330.9067),
            "librispeech": (4616.3474, 68739.3898),
            "movielens-1m": (6.0006, 15013.283),
            "sentiment140": (3612.2145, 23533.8395),
            "squad": (1685.0295, 0.0),
        },
        "a40": {
            "cifar100": (7.4852, 1545.3905),
            "imagenet": (3781.0589, 16378.0279),
            "librispeech": (5440.5822, 24915.5198),
            "movielens-1m": (7.5733, 13823.6529),
            "sentiment140": (1687.4776, 33036.7622),
            "squad": (927.1905, 33.3305),
        },
        "p100": {
            "cifar100": (12.7467, 2800.2827),
            "imagenet": (5879.6203, 37985.9798),
            "librispeech": (12922.067, 367437.1515),
            "movielens-1m": (10.7512, 28709.4283),
            "sentiment140": (6409.3818, 35086.9547),
            "squad": (2868.943, 0.0),
        },
        "rtx6000": {
            "cifar100": (7.1712, 2750.3669),
            "imagenet": (4712.888, 27613.6803),
            "librispeech": (5591.0467, 41577.0565),
            "movielens-1m": (10.338, 34371.124),
            "sentiment140": (3577.0656, 35962.6174),
            "squad": (1785.4309, 0.0),
        },
    },
    power={"v100": 0.2679, "a40": 0.5262, "p100": 0.0717, "rtx6000": 0.3686},
    noise_sd={"v100": 0.1568, "a40": 0.3061, "p100": 0.0659, "rtx6000": 0.1976},
    draw={"v100": 0.6841, "a40": 0.7615, "p100": 0.5391, "rtx6000": 0.7331},
    reach={
        "cifar100": (0.9815, 3.8425, 1.0114),
        "imagenet": (0.8462, 3.2013, 0.2035),
        "librispeech": (0.9595, 2.0453, 0.1668),
        "movielens-1m": (0.7302, 1.6043, 0.4261),
        "sentiment140": (1.0, 1.0986, 0.0),
        "squad": (1.0, 1.4309, 0.0893),
    },
)


def stand_in(seed: int, model: Model | None = None) -> ZeusTraces:
    """Draw synthetic traces.

    Args:
        seed: Of the random numbers.
        model: Parameters; those fitted to the measured traces when left out.
    """
    model = FITTED if model is None else model
    random = np.random.default_rng(seed)
    epochs = [
        _epoch(model, gpu, name, batch, limit, random)
        for gpu in GPUS
        for name, (_, _, batches) in TASKS.items()
        for batch in batches
        for limit in LIMITS[gpu]
    ]
    runs = [
        _run(model, name, batch, run, random)
        for name, (_, _, batches) in TASKS.items()
        for batch in batches
        for run in range(1, RUNS + 1)
    ]
    origin = f"{NAME} model fitted to the set, seed {seed}"
    return ZeusTraces(pd.DataFrame(epochs), pd.DataFrame(runs), "synthetic stand-in", origin)


def _epoch(
    model: Model, gpu: str, name: str, batch: int, limit: int, random: np.random.Generator
) -> dict[str, object]:
    work, overhead = model.seconds[gpu][name]
    share = limit / max(LIMITS[gpu])
    noise = random.normal(0.0, model.noise_sd[gpu])
    seconds = (work + overhead / batch) * share ** -model.power[gpu] * np.exp(noise)
    return {
        **_configuration(name, batch),
        "power_limit": limit,
        "time_per_epoch": seconds,
        "average_power": model.draw[gpu] * limit,
        "gpu": gpu,
    }


def _run(
    model: Model, name: str, batch: int, run: int, random: np.random.Generator
) -> dict[str, object]:
    probability, mean, sd = model.reach[name]
    epochs = np.ceil(np.exp(random.normal(mean, sd)))
    return {
        **_configuration(name, batch),
        "learning_rate": np.nan,
        "run": run,
        "target_metric": TARGETS[name],
        "target_epoch": epochs if random.random() < probability else np.nan,
    }


def _configuration(name: str, batch: int) -> dict[str, object]:
    network, optimizer, _ = TASKS[name]
    return {"dataset": name, "network": network, "batch_size": batch, "optimizer": optimizer}


def fit(data: ZeusTraces) -> Model:
    """Estimate the model's parameters, GPU by GPU and data set by data set."""
    epochs = data.epochs.assign(
        share=data.epochs["power_limit"]
        / data.epochs.groupby("gpu")["power_limit"].transform("max")
    )
    seconds, power, noise, draw = {}, {}, {}, {}
    for gpu in GPUS:
        table = epochs[epochs["gpu"] == gpu]
        full = table[table["share"] == 1.0]
        seconds[gpu] = {name: _seconds(full[full["dataset"] == name]) for name in TASKS}
        costs = np.array([seconds[gpu][name] for name in table["dataset"]])
        mean = costs[:, 0] + costs[:, 1] / table["batch_size"].to_numpy(dtype=np.float64)
        ratio = np.log(table["time_per_epoch"].to_numpy(dtype=np.float64) / mean)
        below = -np.log(table["share"].to_numpy(dtype=np.float64))
        # argmin_p |ratio - p below|²: no power is saved at full power.
        power[gpu] = round(float(ratio @ below / (below @ below)), 4)
        noise[gpu] = round(float(np.std(ratio - power[gpu] * below)), 4)
        draw[gpu] = round(float((table["average_power"] / table["power_limit"]).mean()), 4)
    return Model(seconds, power, noise, draw, {name: _reach(data, name) for name in TASKS})


def _seconds(table: pd.DataFrame) -> tuple[float, float]:
    time = table["time_per_epoch"].to_numpy(dtype=np.float64)
    batch = table["batch_size"].to_numpy(dtype=np.float64)
    design = np.column_stack([np.ones(len(time)), 1.0 / batch]) / time[:, None]
    work, overhead = scipy.optimize.nnls(design, np.ones(len(time)))[0]
    return round(float(work), 4), round(float(overhead), 4)


def _reach(data: ZeusTraces, name: str) -> tuple[float, float, float]:
    runs = data.runs[
        (data.runs["dataset"] == name) & ((data.runs["target_metric"] - TARGETS[name]).abs() < 1e-9)
    ]
    epochs = np.log(runs["target_epoch"].dropna().to_numpy(dtype=np.float64))
    share = float(runs["target_epoch"].notna().mean())
    return round(share, 4), round(float(epochs.mean()), 4), round(float(epochs.std()), 4)
