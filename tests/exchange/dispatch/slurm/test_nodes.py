"""What sinfo says of nodes, in each of its forms.

``sinfo_22_05.*`` and ``squeue_22_05.*`` were recorded from Slurm 22.05.8 (a controller and six
daemons on one machine; fields of the JSON that nothing reads are left out). The files ``by_hand``
describe the same cluster in the form of 24.05; they were written by hand.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from walras.errors import InputError
from walras.exchange.dispatch.slurm.nodes import Nodes, read_nodes

HERE = Path(__file__).parent
IB = frozenset({"ib"})


def _read(name: str) -> list[Nodes]:
    return read_nodes((HERE / name).read_text(encoding="utf-8"), name)


def test_text_of_a_recorded_cluster() -> None:
    found = _read("sinfo_22_05.txt")
    assert len(found) == 9
    assert found[0] == Nodes("cpu", True, 1, True, 32, 0, 125.0, {}, IB)
    assert found[1] == Nodes("cpu", True, 1, False, 32, 0, 125.0, {}, IB)  # down
    assert found[3].partition == "old"
    assert (found[3].available, found[3].usable) == (False, True)
    assert found[4] == Nodes(
        "mixed", True, 1, True, 64, 40, 500.0, {"a100": 4}, frozenset({"nvlink", "ib"})
    )


def test_json_of_the_recorded_cluster_says_the_same_but_for_states_of_partitions() -> None:
    def order(one: Nodes) -> tuple[object, ...]:
        return one.partition, one.usable, one.idle, sorted(one.gpus)

    text = sorted(_read("sinfo_22_05.txt"), key=order)
    found = sorted(_read("sinfo_22_05.json"), key=order)
    assert found == [replace(one, available=True) for one in text]


def test_json_of_newer_versions_has_groups_of_nodes() -> None:
    found = _read("sinfo_24_05_by_hand.json")
    assert [(one.partition, one.count, one.usable, one.idle) for one in found] == [
        ("gpu", 1, True, 40),
        ("gpu", 1, False, 0),
        ("mixed", 1, True, 40),
        ("mixed", 1, False, 0),
        ("mixed", 1, True, 64),
        ("cpu", 2, True, 0),
        ("cpu", 1, False, 0),
        ("old", 1, True, 0),
    ]
    assert found[0].gpus == {"a100": 4}
    assert [one.available for one in found] == [True] * 7 + [False]


@pytest.mark.parametrize(
    ("state", "usable"),
    [
        ("idle", True),
        ("idle~", True),  # switched off to save power: Slurm starts it
        ("mixed-", True),
        ("planned", True),
        ("completing", True),
        ("idle*", False),
        ("idle$", False),
        ("draining", False),
        ("drained*", False),
        ("maint", False),
        ("reserved", False),
        ("unknown", False),
        ("inval", False),
        ("fail", False),
    ],
)
def test_a_node_that_starts_no_job_offers_nothing(state: str, usable: bool) -> None:
    (found,) = read_nodes(f"gpu*|up|g1|{state}|0/64/0/64|512000+|gpu:4|a,b\n", "f")
    assert (found.partition, found.usable, found.idle) == ("gpu", usable, 64 if usable else 0)
    assert dict(found.gpus) == {"": 4}
    assert (sorted(found.features), found.memory) == (["a", "b"], 500.0)


@pytest.mark.parametrize(
    ("gres", "gpus"),
    [
        ("(null)", {}),
        ("gpu:a100:4(S:0-1),shard:a100:8,nvme:2", {"a100": 4}),
        ("gpu:a100:2(S:0,2),gpu:v100:1", {"a100": 2, "v100": 1}),
        ("gpu:a100:0", {}),
    ],
)
def test_gpus_are_read_from_gres(gres: str, gpus: dict[str, int]) -> None:
    (found,) = read_nodes(f"gpu|up|g1|idle|0/64/0/64|512000|{gres}|(null)", "f")
    assert (found.gpus, found.features) == (gpus, frozenset())


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("gpu up infinite 2 idle g[1-2]", "f, line 1: is 'gpu up infinite"),
        ("\ngpu|up|g1|idle|64|512000|(null)|x", "f, line 2: is 'gpu"),
        ("gpu|up|g1|idle|0/64/0/64|much|(null)|x", "f, line 1: is 'gpu"),
        ("{", "f: is no JSON"),
        ("{}", "has neither 'sinfo' nor 'nodes'"),
        ('{"errors": [{"error": "no controller"}]}', "holds an error of Slurm: no controller"),
        ('{"errors": ["down"]}', "holds an error of Slurm: down"),
        ('{"sinfo": [{}]}', r"f, sinfo\[0\]: has no 'node'"),
        ('{"nodes": [3]}', r"f, nodes\[0\]: has a wrong field"),
        ('{"nodes": [{"state": "idle", "cpus": "x", "idle_cpus": 1}]}', "has a wrong field"),
    ],
)
def test_what_is_no_output_of_sinfo_is_refused(text: str, what: str) -> None:
    with pytest.raises(InputError, match=what):
        read_nodes(text, "f")


def test_the_files_written_by_hand_say_so() -> None:
    for name in ("sinfo_24_05_by_hand.json", "squeue_24_05_by_hand.json"):
        document = json.loads((HERE / name).read_text(encoding="utf-8"))
        assert document["comment"].startswith("Written by hand")


@pytest.mark.parametrize(
    ("cpus", "memory"),
    [
        ("0/4/0/4", "\u00b2"),
        ("0/4/0/\u00b2", "1"),
        ("0/4/0/4", "9" * 5000),
        ("0/4/0/" + "9" * 5000, "1"),
    ],
)
def test_odd_digits_in_text_are_refused(cpus: str, memory: str) -> None:
    with pytest.raises(InputError, match="sinfo, line 1"):
        read_nodes(f"p|up|n1|idle|{cpus}|{memory}|(null)|(null)", "sinfo")


@pytest.mark.parametrize(
    "change",
    [
        {"cpus": float("inf")},
        {"cpus": -8},
        {"idle_cpus": -1},
        {"real_memory": 10**400},
        {"cpus": "\u00b2x"},
    ],
)
def test_odd_counts_in_json_are_refused(change: dict[str, Any]) -> None:
    node = {"state": "idle", "cpus": 4, "idle_cpus": 4, "real_memory": 1024, "partitions": ["p"]}
    with pytest.raises(InputError, match=r"sinfo, nodes\[0\]"):
        read_nodes(json.dumps({"nodes": [node | change]}), "sinfo")


@pytest.mark.parametrize("errors", [{"a": 1}, 5, "no", ["x" * 10_000], [{"error": "down"}]])
def test_errors_of_any_form_are_said(errors: Any) -> None:
    with pytest.raises(InputError, match="holds an error of Slurm") as caught:
        read_nodes(json.dumps({"nodes": [], "errors": errors}), "sinfo")
    assert len(caught.value.what) < 300


def test_a_byte_order_mark_is_no_part_of_a_name() -> None:
    (found,) = read_nodes("\ufeffgpu|up|n1|idle|0/4/0/4|1024|(null)|(null)", "sinfo")
    assert found.partition == "gpu"
