"""A synthetic stand-in for the latencies of NAS-Bench-201: every operation adds its time.

A network with n_k operations of kind k in its cell takes, on device d,

    t_d = (Σ_k cost_dk n_k) exp(ε_d),   ε_d ~ N(0, sd_d²)   milliseconds.

``FITTED`` holds the estimates printed by ``walras data fit nb201_help`` on the measured set: least
squares with costs >= 0, over the networks that have a convolution and take more than half a
millisecond (where none is on the way to the output, compilers leave operations out).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy

from walras.data.nb201_help import DEVICES, NAME, OPERATIONS, Latencies
from walras.types import Floats, Longs

_CONVOLUTIONS = (2, 3)
_SHORTEST = 0.5  # ms


@dataclass(frozen=True)
class Model:
    """The parameters of the stand-in.

    Attributes:
        cost: Device -> milliseconds an operation: none, skip, 1x1, 3x3, pool.
        noise_sd: Device -> standard deviation of the noise in log time.
    """

    cost: Mapping[str, tuple[float, ...]]
    noise_sd: Mapping[str, float]


FITTED = Model(
    cost={
        "1080ti_1": (0.973, 0.6564, 2.7525, 2.8083, 1.0231),
        "1080ti_32": (0.9203, 0.5923, 2.565, 2.7282, 0.9783),
        "1080ti_256": (2.183, 1.3273, 4.3446, 5.9779, 4.9352),
        "2080ti_1": (0.7544, 0.4881, 2.2145, 2.234, 0.8141),
        "2080ti_32": (0.7384, 0.4851, 2.1756, 2.252, 0.7933),
        "2080ti_256": (1.5903, 0.9951, 2.8637, 7.3973, 2.4167),
        "titanx_1": (0.8837, 0.588, 2.5452, 2.6274, 0.9373),
        "titanx_32": (0.8797, 0.5834, 2.4594, 2.5684, 0.9432),
        "titanx_256": (2.1262, 1.3584, 4.6859, 6.7082, 5.595),
        "titanxp_1": (0.9515, 0.6272, 2.7087, 2.7917, 0.9959),
        "titanxp_32": (0.8861, 0.5772, 2.4511, 2.5817, 0.9412),
        "titanxp_256": (1.781, 1.1297, 3.9592, 5.6173, 4.6477),
        "titan_rtx_1": (0.7302, 0.4562, 1.7929, 1.784, 0.6873),
        "titan_rtx_32": (0.71, 0.4343, 1.7095, 1.8093, 0.6707),
        "titan_rtx_256": (1.5583, 0.9914, 2.8015, 8.0067, 2.3593),
        "silver_4114": (1.309, 0.95, 3.8177, 7.8325, 1.9644),
        "silver_4210r": (0.9816, 0.7116, 2.6852, 5.8316, 1.4903),
        "gold_6226": (0.7314, 0.4959, 2.5783, 3.3335, 0.9944),
        "gold_6240": (0.7273, 0.525, 2.0554, 4.1017, 1.1933),
        "raspi4": (0.0, 0.8753, 3.405, 15.5263, 3.3859),
        "pixel3": (0.0, 0.3222, 1.0495, 6.2999, 1.7915),
        "pixel2": (0.9195, 0.6789, 3.3858, 6.0984, 2.0151),
        "samsung_a50": (1.2562, 0.8982, 3.9561, 10.1316, 2.2472),
        "samsung_s7": (1.3917, 1.0282, 6.5169, 9.5402, 2.6254),
        "essential_ph_1": (0.7758, 0.5329, 3.1855, 5.5935, 1.8479),
        "fpga": (0.1888, 0.1888, 0.704, 1.4464, 0.5984),
        "eyeriss": (0.2799, 0.2799, 0.5257, 1.7545, 1.7545),
    },
    noise_sd={
        "1080ti_1": 0.0222, "1080ti_32": 0.0437, "1080ti_256": 0.0038,
        "2080ti_1": 0.0523, "2080ti_32": 0.0259, "2080ti_256": 0.0025,
        "titanx_1": 0.0315, "titanx_32": 0.031, "titanx_256": 0.0141,
        "titanxp_1": 0.0405, "titanxp_32": 0.0372, "titanxp_256": 0.0069,
        "titan_rtx_1": 0.0398, "titan_rtx_32": 0.0153, "titan_rtx_256": 0.0047,
        "silver_4114": 0.0867, "silver_4210r": 0.0279, "gold_6226": 0.0411,
        "gold_6240": 0.0879, "raspi4": 0.3634, "pixel3": 0.3082,
        "pixel2": 0.142, "samsung_a50": 0.0792, "samsung_s7": 0.1296,
        "essential_ph_1": 0.1169, "fpga": 0.0, "eyeriss": 0.0,
    },
)  # fmt: skip


def stand_in(seed: int, model: Model | None = None) -> Latencies:
    """Draw synthetic latencies of all networks on all devices.

    Args:
        seed: Of the random numbers.
        model: Parameters; those fitted to the measured set when left out.
    """
    model = FITTED if model is None else model
    random = np.random.default_rng(seed)
    operations = np.array(list(itertools.product(range(len(OPERATIONS)), repeat=6)))
    cost = np.array([model.cost[device] for device in DEVICES])
    spread = np.array([model.noise_sd[device] for device in DEVICES])
    mean = _design(operations) @ cost.T
    latency = mean * np.exp(random.normal(0.0, 1.0, mean.shape) * spread)
    origin = f"{NAME} model fitted to the set, seed {seed}"
    return Latencies(operations, DEVICES, latency, "synthetic stand-in", origin)


def fit(data: Latencies) -> Model:
    """Estimate the model's parameters, device by device."""
    convolves = np.isin(data.operations, _CONVOLUTIONS).any(axis=1)
    everywhere = _design(data.operations)
    cost, spread = {}, {}
    for device, latency in zip(data.devices, data.latency_ms.T, strict=True):
        chosen = convolves & (latency > _SHORTEST)
        design, time = everywhere[chosen], latency[chosen]
        found = scipy.optimize.nnls(design, time)[0].round(4)
        cost[device] = tuple(found.tolist())
        spread[device] = round(float(np.log(time / (design @ found)).std()), 4)
    return Model(cost, spread)


def _design(operations: Longs) -> Floats:
    counts = [(operations == k).sum(axis=1) for k in range(len(OPERATIONS))]
    return np.column_stack(counts).astype(np.float64)
