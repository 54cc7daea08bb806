"""Rounds read from CSV tables of shards and servers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from walras.domains import load_balancing as lb
from walras.errors import InputError

_SHARDS = "shard,load,server\na,4,s1\nb,2,s1:0.5 s2:0.5\nc,1,s2\n"


def _read(folder: Path, shards: str = _SHARDS, servers: str | None = None, **options: Any) -> Any:
    (folder / "shards.csv").write_text(shards)
    if servers is not None:
        (folder / "servers.csv").write_text(servers)
    where = None if servers is None else folder / "servers.csv"
    return lb.read_round(folder / "shards.csv", where, **{"band": 0.9, **options})


def test_servers_are_those_that_the_shards_name_in_their_order(tmp_path: Path) -> None:
    found = _read(tmp_path)
    assert tuple(found.server_names) == ("s1", "s2")
    assert found.loads_now().tolist() == [5.0, 2.0]
    assert found.held.tolist() == [[True, True, False], [False, True, True]]


def test_columns_of_servers_reach_the_round(tmp_path: Path) -> None:
    servers = "server,weight,memory,drain\ns2,3,9,\ns1,1,8,no\ns3,1,7,YES\ns4,1,7,\n"
    found = _read(tmp_path, servers=servers, drain=["s4"])
    assert tuple(found.server_names) == ("s2", "s1", "s3", "s4")
    assert found.memory.tolist() == [9.0, 8.0, 7.0, 7.0]
    assert found.drain.tolist() == [False, False, True, True]


@pytest.mark.parametrize(
    ("shards", "servers", "words"),
    [
        ("shard,load,server\na,1,s1 s1\n", None, "server 's1' is named twice"),
        ("shard,load,server\na,1,s9\n", "server\ns1\n", "server 's9' is not among the servers"),
        ("shard,load,server\na,1,s1:0\n", None, "the share is '0'"),
        ("shard,load,server\na,1,s1:1.5\n", None, "the share is '1.5'"),
        ("shard,load,server\na,1,s1:half\n", None, "the share is 'half'"),
        (_SHARDS, "server,drain\ns1,maybe\ns2,\n", "is 'maybe'; allowed: yes, no or empty"),
        ("shard,load\na,1\n", None, "server"),
    ],
)
def test_a_cell_that_cannot_be_used_is_named(
    tmp_path: Path, shards: str, servers: str | None, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        _read(tmp_path, shards, servers)
