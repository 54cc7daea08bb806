"""A synthetic stand-in for the Gavel throughputs: a log-linear model fitted to them.

On every cluster, a job of one family with batch size b on g GPUs of one server makes

    log(steps/s) = speed + batch log2(b/64) + gpus log2(g) + noise,   noise ~ N(0, sd²),

and ``spread log2(g)`` more when its workers are spread over servers. ``FITTED`` holds the
least-squares estimates, as printed by ``walras data fit gavel`` on the measured set.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from walras.data.gavel import CLUSTERS, NAME, GavelThroughputs, assemble
from walras.types import Floats

REFERENCE_BATCH = 64

# Name, batch sizes (none where the name has no batch size), numbers of GPUs it was measured on.
FAMILIES: tuple[tuple[str, tuple[int, ...], tuple[int, ...]], ...] = (
    ("ResNet-18", (16, 32, 64, 128, 256), (1, 2, 4, 8)),
    ("ResNet-50", (16, 32, 64, 128), (1, 2, 4, 8)),
    ("Transformer", (16, 32, 64, 128, 256), (1, 2, 4, 8)),
    ("A3C", (), (1,)),
    ("LM", (5, 10, 20, 40, 80), (1, 2, 4, 8)),
    ("Recommendation", (512, 1024, 2048, 4096, 8192), (1,)),
    ("CycleGAN", (), (1,)),
)


@dataclass(frozen=True)
class Model:
    """The parameters of the stand-in, per cluster in the order of ``CLUSTERS``.

    Attributes:
        coefficients: Family -> one (speed, batch, gpus, spread) a cluster.
        noise_sd: Standard deviation of the noise in log(steps/s).
        cannot_run: Number of job types that do not run at all.
    """

    coefficients: Mapping[str, tuple[tuple[float, float, float, float], ...]]
    noise_sd: tuple[float, ...]
    cannot_run: tuple[int, ...]


FITTED = Model(
    coefficients={
        "ResNet-18": (
            (3.0528, -0.3792, 0.7376, -0.4134),
            (2.9752, -0.3362, 0.5536, -0.1817),
            (1.1883, -0.4377, 0.6266, 0.0464),
        ),
        "ResNet-50": (
            (1.5176, -0.4068, 0.3965, -0.0061),
            (1.0445, -0.5663, 0.6102, -0.0563),
            (-0.4273, -0.6152, 0.6471, 0.0631),
        ),
        "Transformer": (
            (1.7262, -0.402, 0.5763, -0.3194),
            (1.5187, -0.3708, 0.4634, -0.1376),
            (0.5141, -0.528, 0.515, -0.0299),
        ),
        "A3C": ((1.9707, 0.0, 0.0, 0.0), (1.7372, 0.0, 0.0, 0.0), (1.2351, 0.0, 0.0, 0.0)),
        "LM": (
            (3.5761, -0.2559, 0.5943, -0.6978),
            (3.4796, -0.2187, 0.2831, -0.2631),
            (2.152, -0.2935, 0.4225, -0.0519),
        ),
        "Recommendation": (
            (4.7475, -0.5434, 0.0, 0.0),
            (5.6006, -0.5592, 0.0, 0.0),
            (5.464, -0.6329, 0.0, 0.0),
        ),
        "CycleGAN": ((1.4875, 0.0, 0.0, 0.0), (0.8766, 0.0, 0.0, 0.0), (-0.6837, 0.0, 0.0, 0.0)),
    },
    noise_sd=(0.2866, 0.1419, 0.2485),
    cannot_run=(0, 0, 3),
)


def job_types() -> list[tuple[str, str, int | None, int]]:
    """Every job type: its name, family, batch size (or None) and number of GPUs."""
    return [
        (family if batch is None else f"{family} (batch size {batch})", family, batch, gpus)
        for family, batches, scales in FAMILIES
        for batch in batches or (None,)
        for gpus in scales
    ]


def stand_in(seed: int, model: Model | None = None) -> GavelThroughputs:
    """Draw synthetic throughputs with the shape and names of the measured ones.

    Args:
        seed: Of the random numbers.
        model: Parameters; those fitted to the measured set when left out.
    """
    model = FITTED if model is None else model
    random = np.random.default_rng(seed)
    jobs = job_types()
    rates: dict[str, dict[tuple[str, int], float]] = {}
    for c, cluster in enumerate(CLUSTERS):
        noise = random.normal(0.0, model.noise_sd[c], len(jobs))
        larger = [j for j, (*_, gpus) in enumerate(jobs) if gpus > 1]
        cannot = set(random.choice(larger, model.cannot_run[c], replace=False).tolist())
        together: dict[tuple[str, int], float] = {}
        apart: dict[tuple[str, int], float] = {}
        for j, (name, family, batch, gpus) in enumerate(jobs):
            speed, by_batch, by_gpus, spread = model.coefficients[family][c]
            log_rate = speed + by_batch * _doublings(batch) + by_gpus * math.log2(gpus) + noise[j]
            runs = j not in cannot
            together[name, gpus] = math.exp(log_rate) if runs else 0.0
            apart[name, gpus] = math.exp(log_rate + spread * math.log2(gpus)) if runs else 0.0
        rates[cluster], rates[f"{cluster}_unconsolidated"] = together, apart
    return assemble(rates, "synthetic stand-in", f"{NAME} model fitted to the set, seed {seed}")


def fit(data: GavelThroughputs) -> Model:
    """Estimate the model's parameters by least squares, family by family."""
    coefficients: dict[str, tuple[tuple[float, float, float, float], ...]] = {}
    squares = np.zeros(len(CLUSTERS))
    counts = np.zeros(len(CLUSTERS))
    parsed = [_parse(name) for name in data.job_types]
    for family, _, _ in FAMILIES:
        columns = np.array([j for j, (name, _) in enumerate(parsed) if name == family])
        batch = np.array([_doublings(parsed[j][1]) for j in columns])
        gpus = np.log2(data.scale_factors[columns])
        rows = []
        for c in range(len(CLUSTERS)):
            estimate, residual = _fit_one(
                data.throughput[c, columns], data.unconsolidated[c, columns], batch, gpus
            )
            rows.append(estimate)
            squares[c] += residual @ residual
            counts[c] += len(residual)
        coefficients[family] = tuple(rows)
    return Model(
        coefficients=coefficients,
        noise_sd=tuple(np.sqrt(squares / counts).round(4).tolist()),
        cannot_run=tuple((data.throughput == 0.0).sum(axis=1).tolist()),
    )


def _fit_one(
    together: Floats,
    apart: Floats,
    batch: Floats,
    gpus: Floats,
) -> tuple[tuple[float, float, float, float], Floats]:
    runs = together > 0.0
    design = np.column_stack([np.ones_like(batch), batch, gpus])[runs]
    target = np.log(together[runs])
    estimate = np.linalg.lstsq(design, target)[0]
    both = runs & (apart > 0.0)
    ratio = np.log(apart[both] / together[both])
    # argmin_s |ratio - s gpus|²; a family that runs on one GPU only has nothing to spread.
    spread = float(ratio @ gpus[both]) / max(float(gpus[both] @ gpus[both]), 1.0)
    speed, by_batch, by_gpus, spread = (round(float(v), 4) for v in (*estimate, spread))
    return (speed, by_batch, by_gpus, spread), target - design @ estimate


def _parse(job_type: str) -> tuple[str, int | None]:
    match = re.fullmatch(r"(.+) \(batch size (\d+)\)", job_type)
    return (match[1], int(match[2])) if match else (job_type, None)


def _doublings(batch: int | None) -> float:
    return 0.0 if batch is None else math.log2(batch / REFERENCE_BATCH)
