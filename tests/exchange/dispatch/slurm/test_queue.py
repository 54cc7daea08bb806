"""What squeue says of jobs; the files are those of ``test_nodes``."""

from __future__ import annotations

from pathlib import Path

import pytest

from walras.errors import InputError
from walras.exchange.dispatch.slurm.queue import Load, read_queue

HERE = Path(__file__).parent


@pytest.mark.parametrize(
    "name", ["squeue_22_05.txt", "squeue_22_05.json", "squeue_24_05_by_hand.json"]
)
def test_each_form_gives_the_same_load(name: str) -> None:
    found = read_queue((HERE / name).read_text(encoding="utf-8"), name)
    assert found == {
        "gpu": Load(ours=16, others=8, waiting=64),
        "cpu": Load(ours=0, others=64, waiting=32),
    }


def test_a_job_that_waits_for_several_partitions_waits_in_each() -> None:
    found = read_queue("a,b|PENDING|4|x\nb|COMPLETED|8|y\n", "q")
    assert found == {"a": Load(waiting=4), "b": Load(waiting=4)}


def test_only_a_job_of_an_agent_is_ours() -> None:
    found = read_queue("a|RUNNING|4|walras-t-1-7\na|RUNNING|2|walras\na|RUNNING|1|a|b\n", "q")
    assert found == {"a": Load(ours=4, others=3)}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a|RUNNING|4", "q, line 1: is 'a|RUNNING|4'"),
        ("\na|RUNNING|four|x", "q, line 2"),
        ("{}", "q: has no list 'jobs'"),
        ('{"jobs": [{}]}', r"q, jobs\[0\]: cannot be read"),
        ('{"jobs": [{"partition": "a", "job_state": [], "cpus": 1, "name": "x"}]}', "IndexError"),
    ],
)
def test_what_is_no_output_of_squeue_is_refused(text: str, what: str) -> None:
    with pytest.raises(InputError, match=what.replace("|", r"\|")):
        read_queue(text, "q")


@pytest.mark.parametrize(
    "text",
    [
        "p|RUNNING|\u00b2|a",
        "p|RUNNING|" + "9" * 5000 + "|a",
        '{"jobs":[{"job_state":"RUNNING","cpus":1e999,"partition":"p","name":"a"}]}',
        '{"jobs":[{"job_state":"RUNNING","cpus":-4,"partition":"p","name":"a"}]}',
        '{"jobs":[],"errors":{"a":1}}',
    ],
)
def test_odd_numbers_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        read_queue(text, "squeue")
