"""Partitions as clusters; the files are those of ``test_nodes``."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from walras.errors import DataError, InputError
from walras.exchange.dispatch.slurm.nodes import FORMAT, Nodes, read_nodes
from walras.exchange.dispatch.slurm.partitions import (
    SINFO,
    SQUEUE,
    Partition,
    clusters_of,
    partitions_of,
    printed_by,
    words_of,
)
from walras.exchange.dispatch.slurm.queue import read_queue

HERE = Path(__file__).parent


def _partitions(form: str = "22_05.txt") -> dict[str, Partition]:
    nodes = read_nodes((HERE / f"sinfo_{form}").read_text(encoding="utf-8"), "sinfo")
    loads = read_queue((HERE / f"squeue_{form}").read_text(encoding="utf-8"), "squeue")
    return {one.name: one for one in partitions_of(nodes, loads)}


def test_text_and_json_of_newer_versions_give_the_same_partitions() -> None:
    assert _partitions() == _partitions("24_05_by_hand.json")


def test_a_label_holds_for_every_node_that_starts_jobs() -> None:
    found = _partitions()
    assert found["gpu"].labels == {
        "source": "slurm",
        "partition": "gpu",
        "gpu": "a100",
        "gpus": "4",
        "vcpus": "64",
        "memory": "500",
        "feature/ib": "yes",
        "feature/nvlink": "yes",
    }
    # A100 and V100: no type of all, the least of a node, the features of all.
    assert found["mixed"].labels == {
        "source": "slurm",
        "partition": "mixed",
        "gpus": "4",
        "vcpus": "64",
        "memory": "250",
        "feature/ib": "yes",
    }
    assert "gpus" not in found["cpu"].labels
    shown = {name: (one.state, one.cpus, one.idle) for name, one in found.items()}
    assert shown == {
        "cpu": ("up", 64, 0),
        "old": ("draining", 32, 0),
        "mixed": ("up", 128, 104),
        "gpu": ("up", 64, 40),
    }


def test_slots_are_cpus_of_nodes_that_start_jobs_or_those_that_others_leave() -> None:
    found = list(_partitions().values())
    offered = {one.uid: one.slots for one in clusters_of(found, "f")}
    assert offered == {"cpu": 64, "old": 32, "mixed": 128, "gpu": 64}
    # In gpu 40 are idle, and 16 are held by the exchange's own job.
    offered = {one.uid: one.slots for one in clusters_of(found, "f", free=True)}
    assert offered == {"cpu": 0, "old": 0, "mixed": 104, "gpu": 56}


def test_free_cpus_need_the_queue() -> None:
    nodes = read_nodes("a|up|n|idle|0/4/0/4|1024|(null)|(null)", "f")
    with pytest.raises(InputError, match="--free: needs the queue"):
        clusters_of(partitions_of(nodes), "f", free=True)


def test_a_partition_without_a_node_that_starts_jobs_drains() -> None:
    text = "a|up|n|down|0/0/4/4|1024|(null)|x\nb|inact|n|idle|0/4/0/4|1024|(null)|x"
    a, b = partitions_of(read_nodes(text, "f"))
    assert (a.state, a.cpus, a.labels["feature/x"]) == ("draining", 0, "yes")
    assert (b.state, b.cpus) == ("draining", 4)


def test_partitions_are_chosen_by_name() -> None:
    nodes = read_nodes((HERE / "sinfo_22_05.txt").read_text(encoding="utf-8"), "f")
    assert [one.name for one in partitions_of(nodes, only=("gpu", "old"))] == ["old", "gpu"]
    with pytest.raises(InputError, match="there is no partition 'tpu'; allowed: cpu, old"):
        partitions_of(nodes, only=("gpu", "tpu"))


def test_partitions_of_one_name_are_refused() -> None:
    made = [Partition(name, "up", 1, 1, {}) for name in ("big_mem", "Big-Mem")]
    with pytest.raises(InputError, match=r"partition Big-Mem: would be the cluster 'big-mem'"):
        clusters_of(made, "sinfo")


def test_many_features_stay_within_what_a_cluster_may_have() -> None:
    features = frozenset(f"f{k}" for k in range(90))
    (found,) = partitions_of([Nodes("a", True, 1, True, 4, 4, 1.0, {}, features)])
    assert len(found.labels) <= 64


def test_a_partition_in_words() -> None:
    assert words_of(_partitions()["gpu"]) == (
        "gpu: 64 CPUs of nodes that start jobs, 40 idle; jobs of the exchange hold 16, others 8, "
        "waiting jobs ask for 64"
    )
    assert words_of(Partition("a", "up", 2, 1, {})) == "a: 2 CPUs of nodes that start jobs, 1 idle"


def test_commands_are_run_without_a_shell() -> None:
    assert ("sinfo", "--noheader", "--Node", f"--format={FORMAT}") == SINFO
    assert SQUEUE[0] == "squeue"
    assert printed_by([sys.executable, "-c", "print('$HOME; x')"]) == "$HOME; x\n"


def test_a_command_that_fails_is_an_error_that_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="no-such-command: failed: No such file"):
        printed_by(["no-such-command"])
    with pytest.raises(DataError, match="failed: unable to contact"):
        printed_by([sys.executable, "-c", "import sys; sys.exit('unable to contact')"])
    with pytest.raises(DataError, match="failed: exit status 3"):
        printed_by([sys.executable, "-c", "import sys; sys.exit(3)"])
    monkeypatch.setattr("walras.exchange.dispatch.slurm.partitions._PATIENCE", 0.2)
    with pytest.raises(DataError, match="failed: no answer"):
        printed_by([sys.executable, "-c", "import time; time.sleep(9)"])
