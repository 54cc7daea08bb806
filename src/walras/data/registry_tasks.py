"""The registry's rows for predicting tasks: times, success and failures."""

from __future__ import annotations

from walras.data import cluster_reliability, nb201_help, zeus
from walras.data.dataset import DataFile, DataSet, Origin
from walras.data.synthetic import cluster_reliability as cluster_reliability_stand_in
from walras.data.synthetic import nb201_help as nb201_help_stand_in
from walras.data.synthetic import zeus as zeus_stand_in

NB201_HELP = DataSet(
    name=nb201_help.NAME,
    title="latencies of all 15,625 NAS-Bench-201 networks on 27 device settings",
    origin=Origin(
        repository="HayeonLee/HELP",
        commit="45f70eb92d0d735970a33b608d1544ad3c52f285",
        licence="MIT",
        citation=(
            "Lee, Lee, Chong, Hwang: HELP: Hardware-Adaptive Efficient Latency Prediction for NAS "
            "via Meta-Learning, NeurIPS 2021; raspi4, pixel3, fpga, eyeriss: Li et al.: "
            "HW-NAS-Bench, ICLR 2021"
        ),
    ),
    files=(
        DataFile(
            name=nb201_help.FILE,
            sha256="6ee2112b3a4ee239f6a1c32cfd0a87c3f0dd97d07ebfda5e0e438b69ca24ed94",
            sources=nb201_help.SOURCES,
            derive=nb201_help.derive,
            source_sums=nb201_help.SOURCE_SUMS,
        ),
    ),
    columns={
        "index": "NAS-Bench-201 index of the network",
        "ops": "six digits, the operation on each edge of its cell",
        "titan_rtx_1, ..., essential_ph_1": "ms of a forward pass; _1, _32, _256: batch of a GPU",
        "fpga, eyeriss": "ms, estimated or simulated, not measured",
    },
    read=nb201_help.read,
    stand_in=nb201_help_stand_in.stand_in,
    fit=nb201_help_stand_in.fit,
    fitted_on=(nb201_help.NAME,),
)

_ZEUS_FOLDER = "examples/research_reproducibility/zeus_nsdi23/trace"
_ZEUS_SUMS = {
    "summary_power_v100.csv": "f0b066dd1a451bd78f730e001ac3a7c411979bc7f0846f12c1a9fb604aa90628",
    "summary_power_a40.csv": "f4ec111fc9b06b353182faab9160ecb1236a486b2741ed93383b80497332031e",
    "summary_power_p100.csv": "158e9a6784b6e2d26710529b132cf173b227dc8688f4931c19a637bce2b7503b",
    "summary_power_rtx6000.csv": "edccecc7f8b7a6102962b03f0f37767dd9cd2f03469ebccadc9805e82901bdc4",
    "summary_train.csv": "076b35615349ee624403006e5ad67fd9ebda92af690c7750f8bb0c2ab92c0cf4",
}
ZEUS = DataSet(
    name=zeus.NAME,
    title="seconds per epoch of 74 training configurations on four GPUs, and runs to a target",
    origin=Origin(
        repository="ml-energy/zeus",
        commit="75a8b9398034eb9baf74ca0a830c2c31bcce52cd",
        licence="Apache-2.0",
        citation=(
            "You, Chung, Chowdhury: Zeus: Understanding and Optimizing GPU Energy Consumption of "
            "DNN Training, NSDI 2023"
        ),
    ),
    files=tuple(
        DataFile(name=name, sha256=sha256, sources=(f"{_ZEUS_FOLDER}/{name}",))
        for name, sha256 in _ZEUS_SUMS.items()
    ),
    columns={
        "dataset, network, batch_size, optimizer": "the configuration",
        "power_limit, average_power": "W",
        "time_per_epoch": "seconds",
        "target_metric": "accuracy, hit rate, F1 or word error rate to reach",
        "target_epoch": "epochs until it was reached; missing where a run never did",
    },
    read=zeus.read,
    stand_in=zeus_stand_in.stand_in,
    fit=zeus_stand_in.fit,
    fitted_on=(zeus.NAME,),
)

_HELIOS = Origin(
    repository="S-Lab-System-Group/HeliosArtifact",
    commit="bdaae109c21f8038a2331e6a23a582d5ae78ab5b",
    licence="MIT",
    citation="Hu, Sun, Yan, Wen, Zhang: Characterization and Prediction of Deep Learning "
    "Workloads in Large-Scale GPU Datacenters, SC 2021",
)
_ACME = Origin(
    repository="InternLM/AcmeTrace",
    commit="6d6ac9cd15f3b01151ac6ba00ecddd9156f0dc73",
    licence="CC-BY-4.0",
    citation="Hu et al.: Characterization of Large Language Model Development in the Datacenter, "
    "NSDI 2024; its row Philly: Jeon et al., ATC 2019",
)
_BOTH = Origin(
    repository=_HELIOS.repository,
    commit=_HELIOS.commit,
    licence=f"{_HELIOS.licence} (Helios); {_ACME.licence} (Acme, Philly)",
    citation=f"{_HELIOS.citation}. {_ACME.citation}",
)
CLUSTER_RELIABILITY = DataSet(
    name=cluster_reliability.NAME,
    title="how the GPU jobs of seven production clusters ended",
    origin=_BOTH,
    files=(
        DataFile(
            name=cluster_reliability.FILE,
            sha256="7e3180b60652b338d1fa35a800b858d3ac6c628b07cb058acab847129e0e9160",
            sources=(cluster_reliability.HELIOS_SOURCE, cluster_reliability.ACME_SOURCE),
            derive=cluster_reliability.derive,
            origins=(_HELIOS, _ACME),
            source_sums=(
                "9cfbef77bdcfab43e0ffbc886e9d8ca8ac0dd16528945c52d76693179a6122f6",
                "cde7a7d4ba1596ea165cf4583137d2095020abebbc26b3cd834284c16e8e6ecf",
            ),
        ),
    ),
    columns={
        "gpu_jobs": "number of GPU jobs",
        "complete_rate, cancel_rate, fail_rate": "share of them that ended so",
        "gpu_hours": "GPU time of all of them",
        "success_given_not_cancelled": "completed over completed and failed",
        "hazard_per_gpu_hour": "failed jobs over all GPU-hours",
        "mean_gpu_hours_per_job": "GPU-hours a job",
    },
    read=cluster_reliability.read,
    stand_in=cluster_reliability_stand_in.stand_in,
    fit=cluster_reliability_stand_in.fit,
    fitted_on=(cluster_reliability.NAME,),
)
