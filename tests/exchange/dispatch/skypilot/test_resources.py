"""Which clusters SkyPilot's resources may become."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from walras.errors import InputError
from walras.exchange.dispatch.skypilot.resources import asked, matching

CLUSTERS: dict[str, dict[str, str]] = {
    "big": {
        "cloud": "aws",
        "region": "us-east-1",
        "zone": "us-east-1a",
        "instance": "p4d.24xlarge",
        "gpu": "A100",
        "gpus": "8",
        "vcpus": "96",
        "memory": "1152",
        "spot": "no",
    },
    "big-spot": {
        "cloud": "aws",
        "region": "us-east-1",
        "instance": "p4d.24xlarge",
        "gpu": "A100",
        "gpus": "8",
        "vcpus": "96",
        "memory": "1152",
        "spot": "yes",
    },
    "small": {"cloud": "gcp", "region": "us-central1", "gpu": "A100", "gpus": "1", "spot": "no"},
    "cpu": {"cloud": "aws", "region": "eu-west-1", "vcpus": "8", "memory": "32", "spot": "no"},
    "bare": {},
}


class Aws:
    """A cloud as SkyPilot has them."""

    @classmethod
    def canonical_name(cls) -> str:
        return "aws"


@pytest.mark.parametrize(
    ("resources", "found"),
    [
        ({"accelerators": {"A100": 8}}, ["big"]),
        ({"accelerators": {"a100": 8.0}, "use_spot": True}, ["big-spot"]),
        ({"accelerators": {"A100": 1}, "use_spot": True}, ["small"]),
        ({"accelerators": {"A100": 2}}, []),
        ({"accelerators": {"H100": 8}}, []),
        ({"accelerators": {"A100": 8}, "cloud": Aws()}, ["big"]),
        ({"accelerators": {"A100": 8}, "cloud": "AWS", "region": "us-east-1"}, ["big"]),
        ({"accelerators": {"A100": 8}, "cloud": "gcp"}, []),
        ({"instance_type": "p4d.24xlarge"}, ["big"]),
        ({"instance_type": "p4d.24xlarge", "zone": "us-east-1b"}, []),
        ({"cpus": "8"}, ["cpu"]),
        ({"cpus": "4+", "memory": "16+"}, ["cpu"]),
        ({"cpus": "4"}, []),
        ({"memory": "64+"}, []),
        ({"memory": "4x"}, ["cpu", "bare"]),
        ({"cloud": "aws"}, ["cpu"]),
        ({}, ["cpu", "bare"]),
    ],
)
def test_resources_match_by_what_they_say(resources: dict[str, Any], found: list[str]) -> None:
    assert matching(asked(SimpleNamespace(**resources)), CLUSTERS) == found


def test_several_accelerators_are_refused() -> None:
    for given in ({"A100": 1, "V100": 1}, "A100:1"):
        with pytest.raises(InputError, match="accelerators of the resources"):
            asked(SimpleNamespace(accelerators=given))


def test_the_words_say_what_is_asked_for() -> None:
    wanted = asked(SimpleNamespace(cloud=Aws(), accelerators={"A100": 8}, cpus="4+", use_spot=True))
    assert wanted.words == "cloud=aws gpu=a100 gpus=8 vcpus=4+ spot"
    assert asked(SimpleNamespace()).words == "nothing in particular"
