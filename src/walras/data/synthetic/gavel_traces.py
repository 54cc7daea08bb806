"""Synthetic stand-ins for the Gavel job traces: a renewal process fitted to each of them.

In one trace, gaps between arrivals and durations are lognormal,

    log(1 + gap) ~ max(0, N(gap_mean, gap_sd²)),  log(duration) ~ N(duration_mean, duration_sd²),

with the gaps scaled to the span of the real trace. The job type is uniform, the number of GPUs is
drawn from the observed frequencies, and a job has duration x (steps/s of its type on V100) steps.
``FITTED`` holds the estimates (five seeds of a virtual cluster pooled), as printed by ``walras
data fit gavel_traces`` on the measured set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from walras.data.gavel import GavelThroughputs
from walras.data.gavel_traces import NAME, TRACES, JobTraces
from walras.data.synthetic import gavel as gavel_stand_in
from walras.types import Floats, Longs


@dataclass(frozen=True)
class TraceModel:
    """Parameters of the traces of one group: a virtual cluster, or one physical trace.

    Attributes:
        jobs: Number of jobs in each trace of the group.
        gap_mean: Mean of log(1 + seconds between arrivals).
        gap_sd: Its standard deviation.
        span: Seconds from the first arrival to the last, the mean over the group's traces.
        duration_mean: Mean of log(duration in seconds on V100).
        duration_sd: Its standard deviation.
    """

    jobs: int
    gap_mean: float
    gap_sd: float
    span: float
    duration_mean: float
    duration_sd: float


@dataclass(frozen=True)
class Model:
    """The parameters of all traces.

    Attributes:
        groups: Parameters by group.
        gpus: Family of traces -> number of GPUs -> frequency.
    """

    groups: Mapping[str, TraceModel]
    gpus: Mapping[str, Mapping[int, float]]


FITTED = Model(
    groups={  # jobs, gap mean, gap sd, span, duration mean, duration sd
        "0e4a51": TraceModel(1181, 2.422, 2.319, 7363956, 11.089, 1.74),
        "103959": TraceModel(986, 6.289, 3.292, 7910536, 9.829, 1.598),
        "11cb48": TraceModel(2000, 5.203, 3.148, 8799232, 9.248, 1.9),
        "23dbec": TraceModel(9, 3.612, 4.135, 188011, 7.891, 0.405),
        "2869ce": TraceModel(533, 6.491, 3.282, 8141054, 8.938, 1.79),
        "51b7ef": TraceModel(18, 9.44, 2.46, 3022240, 8.783, 1.59),
        "6214e9": TraceModel(2000, 2.786, 2.41, 4184082, 9.013, 2.384),
        "6c71a0": TraceModel(2000, 2.903, 2.667, 2590914, 9.546, 2.115),
        "795a4c": TraceModel(3, 7.423, 0.101, 3362, 8.574, 1.11),
        "7f04ca": TraceModel(972, 5.617, 3.338, 10817570, 10.517, 2.367),
        "925e2b": TraceModel(4, 7.902, 0.891, 12313, 8.378, 1.971),
        "b436b2": TraceModel(2000, 2.15, 2.37, 2722420, 7.703, 1.851),
        "e13805": TraceModel(607, 8.024, 2.057, 8468723, 9.501, 1.926),
        "ed69ec": TraceModel(951, 3.728, 2.503, 6555771, 9.533, 2.235),
        "ee9e8c": TraceModel(2000, 5.637, 2.325, 4508448, 10.116, 2.046),
        "artifact_evaluation": TraceModel(15, 0.0, 0.0, 0, 6.933, 0.843),
        "debug": TraceModel(14, 0.0, 0.0, 0, 8.822, 0.823),
        "debug_v2": TraceModel(14, 0.0, 0.0, 0, 8.249, 0.838),
        "highmem_test": TraceModel(8, 0.0, 0.0, 0, 4.478, 0.969),
        "max_min_fairness": TraceModel(96, 3.874, 3.107, 46317, 8.88, 0.672),
        "medium_test": TraceModel(20, 0.0, 0.0, 0, 8.872, 0.754),
        "minimize_makespan": TraceModel(100, 0.0, 0.0, 0, 9.296, 0.469),
        "small_test": TraceModel(20, 0.0, 0.0, 0, 3.894, 0.649),
    },
    gpus={
        "msr": {
            1: 0.686583,
            2: 0.030333,
            4: 0.13391,
            7: 0.000131,
            8: 0.125524,
            12: 0.000393,
            16: 0.016706,
            20: 6.6e-05,
            24: 0.000328,
            32: 0.005962,
            64: 6.6e-05,
        },
        "physical_cluster": {1: 0.724739, 2: 0.132404, 4: 0.142857},
    },
)


def family_and_group(trace: str) -> tuple[str, str]:
    """The family (``msr``, ``physical_cluster``) and group of a trace, from its name."""
    parts = trace.removesuffix(".trace").split("/")
    return parts[0], parts[-1]


def stand_in(seed: int, model: Model | None = None) -> JobTraces:
    """Draw synthetic traces with the names, sizes and columns of the real ones.

    Args:
        seed: Of the random numbers.
        model: Parameters; those fitted to the real set when left out.
    """
    model = FITTED if model is None else model
    random = np.random.default_rng(seed)
    throughputs = gavel_stand_in.stand_in(seed)
    traces = [_trace(name, model, throughputs, random) for name in TRACES]
    jobs = pd.concat(traces, ignore_index=True)
    return JobTraces(jobs, "synthetic stand-in", f"{NAME} model fitted to the set, seed {seed}")


def _trace(
    name: str, model: Model, throughputs: GavelThroughputs, random: np.random.Generator
) -> pd.DataFrame:
    family, group = family_and_group(name)
    m = model.groups[group]
    single = [j for j, gpus in enumerate(throughputs.scale_factors) if gpus == 1]
    names = np.array([throughputs.job_types[j] for j in single])
    kind = random.integers(len(names), size=m.jobs)
    gpus = np.array(list(model.gpus[family]), dtype=np.int64)
    frequency = np.array(list(model.gpus[family].values()))
    scale = random.choice(gpus, size=m.jobs, p=frequency / frequency.sum())
    duration = random.lognormal(m.duration_mean, m.duration_sd, m.jobs)
    gap = np.expm1(np.maximum(random.normal(m.gap_mean, m.gap_sd, m.jobs), 0.0))
    gap[0] = 0.0
    arrival = np.cumsum(gap)
    arrival *= m.span / max(arrival[-1], 1.0)
    rate = _v100_rate(throughputs, names[kind].tolist(), scale)
    # Pairs that were never measured take the speed of one GPU.
    rate = np.where(rate > 0.0, rate, throughputs.throughput[0, np.array(single)[kind]])
    stated = np.nan if family == "msr" else 1.0
    return pd.DataFrame(
        {
            "trace": name,
            "job_type": names[kind],
            "total_steps": np.maximum(duration * rate, 1.0).astype(np.int64),
            "scale_factor": scale,
            "priority_weight": stated,
            "SLO": -stated,
            "arrival_time": np.floor(arrival),
        }
    )


def _v100_rate(throughputs: GavelThroughputs, job_types: list[str], scale: Longs) -> Floats:
    columns = throughputs.columns(job_types, scale)
    return np.where(columns >= 0, throughputs.throughput[0, columns], 0.0)


def fit(data: JobTraces, throughputs: GavelThroughputs) -> Model:
    """Estimate the parameters of every group from its jobs.

    Args:
        data: The traces.
        throughputs: Of the same source, to turn steps into durations; pairs that it does not have
            are left out of the durations.
    """
    jobs = data.jobs.copy()
    labels = [family_and_group(name) for name in jobs["trace"]]
    jobs["family"] = [family for family, _ in labels]
    jobs["group"] = [group for _, group in labels]
    jobs["gap"] = np.log1p(jobs.groupby("trace")["arrival_time"].diff())
    rate = _v100_rate(throughputs, jobs["job_type"].tolist(), jobs["scale_factor"].to_numpy())
    rate[rate == 0.0] = np.nan
    jobs["duration"] = np.log(jobs["total_steps"] / rate)
    groups = {str(name): _fit_group(table) for name, table in jobs.groupby("group", sort=False)}
    gpus = {
        str(family): {
            int(str(scale)): round(float(share), 6)
            for scale, share in table["scale_factor"].value_counts(normalize=True).items()
        }
        for family, table in jobs.groupby("family")
    }
    return Model(groups, gpus)


def _fit_group(jobs: pd.DataFrame) -> TraceModel:
    def moments(column: str) -> tuple[float, float]:
        return round(float(jobs[column].mean()), 3), round(float(jobs[column].std(ddof=0)), 3)

    traces = jobs.groupby("trace")["arrival_time"]
    span = round(float((traces.max() - traces.min()).mean()))
    size = len(jobs) // traces.ngroups
    return TraceModel(size, *moments("gap"), span, *moments("duration"))
