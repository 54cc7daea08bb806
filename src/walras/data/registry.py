"""The registry: every real data set that Walras knows, one row each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from walras import checks
from walras.data import dede_cluster, gavel, gavel_traces, lb_random, mnist
from walras.data.dataset import DataFile, DataSet, Origin
from walras.data.registry_tasks import CLUSTER_RELIABILITY, NB201_HELP, ZEUS
from walras.data.registry_te import TE_B4_REAL, TE_PATHS, TE_TOPOLOGIES, TOPOLOGY_ZOO
from walras.data.synthetic import dede_cluster as dede_cluster_stand_in
from walras.data.synthetic import gavel as gavel_stand_in
from walras.data.synthetic import gavel_traces as gavel_traces_stand_in
from walras.data.synthetic import lb_random as lb_random_stand_in
from walras.data.synthetic import mnist as mnist_stand_in

_GAVEL = Origin(
    repository="stanford-futuredata/gavel",
    commit="c4fa40097339e9608ab71fd64c8bdea96a5e4a4c",
    licence="MIT",
    citation=(
        "Narayanan, Santhanam, Kazhamiaka, Phanishayee, Zaharia: Heterogeneity-Aware Cluster "
        "Scheduling Policies for Deep Learning Workloads, OSDI 2020"
    ),
)
_DEDE = Origin(
    repository="illinois-nsai/dede",
    commit="bbda485b87f5b377af8d0f9fd1fe387e0f55b76d",
    licence="MIT",
    citation="Xu, Yu, Yan: Decouple and Decompose: Scaling Resource Allocation, OSDI 2025",
)

GAVEL = DataSet(
    name=gavel.NAME,
    title="training throughputs of 83 job types on V100, P100 and K80 GPUs",
    origin=_GAVEL,
    files=(
        DataFile(
            name=gavel.FILE,
            sha256="17111f7295f03265fd9e5118d7eba31e3dd9d6e50a2e215c13ad3d3f91f74381",
            sources=(f"scheduler/{gavel.FILE}",),
        ),
    ),
    columns={
        "job_type": "family and batch size",
        "scale_factor": "number of GPUs that the job uses",
        "v100, p100, k80": "mini-batch steps per second on that GPU type; 0 where it cannot run",
    },
    read=gavel.read,
    stand_in=gavel_stand_in.stand_in,
    fit=gavel_stand_in.fit,
    fitted_on=(gavel.NAME,),
)

GAVEL_TRACES = DataSet(
    name=gavel_traces.NAME,
    title="76,607 training jobs in 83 traces of virtual and physical clusters",
    origin=_GAVEL,
    files=(
        DataFile(
            name=gavel_traces.FILE,
            sha256="f282cb2c56c768572f5eda5eb024ece2830f12311a966210096ec1d5263c00f7",
            sources=tuple(f"scheduler/traces/{trace}" for trace in gavel_traces.TRACES),
            derive=gavel_traces.derive_table,
        ),
    ),
    columns={
        "trace": "name of the trace",
        "job_type": "family and batch size, as in gavel",
        "total_steps": "mini-batch steps to run",
        "scale_factor": "number of GPUs that the job uses",
        "priority_weight": "weight; empty where the trace has none",
        "SLO": "service-level objective; -1 where none is set, empty where the trace has none",
        "arrival_time": "seconds since the trace began",
    },
    read=gavel_traces.read,
    stand_in=gavel_traces_stand_in.stand_in,
    fit=gavel_traces_stand_in.fit,
    fitted_on=(gavel_traces.NAME, gavel.NAME),
)

_DEDE_FOLDER = "examples/cluster_scheduling/data"
DEDE_CLUSTER = DataSet(
    name=dede_cluster.NAME,
    title="throughputs of 2,588 jobs on 10 worker types with 1 to 32 workers",
    origin=_DEDE,
    files=(
        DataFile(
            name=dede_cluster.THROUGHPUT_FILE,
            sha256="0775f03b85626ce687a569ac4e60e1ac949b9884f678750f8b0044010d183c2b",
            sources=(f"{_DEDE_FOLDER}/{dede_cluster.THROUGHPUT_FILE}",),
        ),
        DataFile(
            name=dede_cluster.WORKERS_FILE,
            sha256="d5b9f6d07cf9b07cac6c0e05abbb00d3b92b055391941d195126251d493732f8",
            sources=(f"{_DEDE_FOLDER}/{dede_cluster.WORKERS_FILE}",),
        ),
    ),
    columns={
        "axis 0": "worker type",
        "axis 1": "job",
        "axis 2": "log2 of the number of workers (1 to 32)",
        "entries": "job steps per second; 0 where the job cannot run",
    },
    read=dede_cluster.read,
    stand_in=dede_cluster_stand_in.stand_in,
    fit=dede_cluster_stand_in.fit,
    fitted_on=(dede_cluster.NAME,),
)

LB_RANDOM = DataSet(
    name=lb_random.NAME,
    title="100 numbers that define the load-balancing rounds of POP and DeDe",
    origin=_DEDE,
    files=(
        DataFile(
            name=lb_random.FILE,
            sha256="cf49e427565b6e09e315f6ab58c84d9da446040ce8a8d7f96a4c1d5b53037647",
            sources=("examples/load_balancing/benchmark_helpers.py",),
            derive=lb_random.derive,
        ),
    ),
    columns={
        "round": "0 to 99",
        "u": "loads fall as the power 0.25 + 0.5 u of the shard's rank",
    },
    read=lb_random.read,
    stand_in=lb_random_stand_in.stand_in,
    fit=lb_random_stand_in.fit,
    fitted_on=(lb_random.NAME,),
)

MNIST = DataSet(
    name=mnist.NAME,
    title="70,000 handwritten digits, 28 by 28 grey pixels",
    origin=Origin(
        repository="fgnt/mnist",
        commit="ae608a02b796c9ee908c082585a5f006fe05258e",
        licence="CC-BY-SA-3.0",
        citation="LeCun, Cortes, Burges: The MNIST database of handwritten digits, 1998",
    ),
    files=tuple(
        DataFile(name=name, sha256=sha256, sources=(name,))
        for name, sha256 in zip(
            mnist.FILES,
            (
                "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
                "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
                "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
                "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
            ),
            strict=True,
        )
    ),
    columns={
        "images": "28 x 28 pixels, 0 background to 255 ink",
        "labels": "the digit shown, 0 to 9",
    },
    read=mnist.read,
    stand_in=mnist_stand_in.stand_in,
    fit=mnist_stand_in.fit,
    fitted_on=(mnist.NAME,),
)

_ALL: tuple[DataSet[Any], ...] = (
    GAVEL, GAVEL_TRACES, DEDE_CLUSTER, TE_TOPOLOGIES, TOPOLOGY_ZOO, TE_B4_REAL, TE_PATHS,
    NB201_HELP, ZEUS, CLUSTER_RELIABILITY, LB_RANDOM, MNIST,
)  # fmt: skip
REGISTRY: Mapping[str, DataSet[Any]] = MappingProxyType(
    {data_set.name: data_set for data_set in _ALL}
)


def lookup(name: str) -> DataSet[Any]:
    """The registry's row of a name.

    Args:
        name: One of the registry's names.

    Returns:
        The data set's row: title, origin, files and columns.

    Raises:
        InputError: There is none.

    Example:
        >>> from walras.data import lookup
        >>> lookup("gavel").origin.repository
        'stanford-futuredata/gavel'
    """
    remedy = "walras data list shows every set"
    checks.one_of(name, "name", REGISTRY, "data set", remedy=remedy)
    return REGISTRY[name]
