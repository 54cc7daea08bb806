"""The [deploy] table: hosts dealt in turn, and mistakes named."""

from __future__ import annotations

from typing import Any

import pytest

from walras.errors import InputError
from walras.network.drivers.inventory import inventory
from walras.network.scenario.scenario import scenario


def test_centres_are_dealt_to_hosts_in_turn() -> None:
    hosts = [{"address": "10.0.0.5", "port": 5600}, {"address": "10.0.0.6", "command": ["true"]}]
    found = inventory({"hosts": hosts, "pace": "clock", "period": 50}, 3).hosts
    assert found is not None
    assert [host.listen for host in found] == [
        "tcp://10.0.0.5:5600",
        "tcp://10.0.0.6:*",
        "tcp://10.0.0.5:5601",
    ]
    assert found[1].command == ("true",)


def test_each_centre_has_its_group() -> None:
    table = {"cgroup": {"group": "/groups/{centre}", "processors": 4}}
    assert inventory(table, 2).cgroups == [
        {"group": "/groups/0", "processors": 4},
        {"group": "/groups/1", "processors": 4},
    ]


@pytest.mark.parametrize(
    ("table", "where"),
    [
        ({"pace": "slow"}, "deploy.pace"),
        ({"launcher": "slurm"}, "deploy.launcher"),
        ({"period": 0}, "deploy.period"),
        ({"time_limit": -1}, "deploy.time_limit"),
        ({"hosts": []}, "deploy.hosts"),
        ({"hosts": ["10.0.0.5"]}, "deploy.hosts[0]"),
        ({"hosts": [{"name": "a"}]}, "'name'"),
        ({"hosts": [{"port": 65535}]}, "deploy.hosts.port"),
        ({"hosts": [{"port": "x"}]}, "deploy.hosts.port"),
        ({"hosts": [{"command": "ssh"}]}, "deploy.hosts.command"),
        ({"hosts": [{"address": 3}]}, "deploy.hosts.address"),
        ({"period": "x"}, "deploy.period"),
        ({"time_limit": float("nan")}, "deploy.time_limit"),
        ({"restart": "false"}, "deploy.restart"),
        ({"cgroup": {"group": "/{centre}", "processors": "x"}}, "deploy.cgroup.processors"),
        ({"cgroup": {"group": "/one"}}, "deploy.cgroup.group"),
        ({"cgroup": {"cpus": 3}}, "'cpus'"),
    ],
)
def test_mistakes_are_named(table: dict[str, Any], where: str) -> None:
    with pytest.raises(InputError) as error:
        inventory(table, 5)
    assert where in str(error.value)


def test_unknown_keys_of_the_table_are_named() -> None:
    with pytest.raises(InputError, match="'port'"):
        scenario({"network": {"kind": "ring", "centres": 3}, "deploy": {"port": 5600}})
