"""Shares are written to cpu.max where that may be done; elsewhere it is said that they advise."""

from __future__ import annotations

from pathlib import Path

import pytest

from walras.errors import InputError
from walras.network.drivers.cgroup import Enforcer


def _group(folder: Path) -> Path:
    (folder / "cpu.max").write_text("max 100000")
    return folder


def test_a_share_becomes_a_quota(tmp_path: Path) -> None:
    said: list[str] = []
    config = {"group": str(_group(tmp_path)), "processors": 2.0}
    enforcer = Enforcer.of(config, said.append)
    assert enforcer.active
    assert "enforced" in said[0]
    enforcer.enforce(1.5)
    assert (tmp_path / "cpu.max").read_text() == "300000 100000"
    enforcer.enforce(1.505)  # less than a hundredth more: not worth a write
    assert (tmp_path / "cpu.max").read_text() == "300000 100000"
    enforcer.enforce(1.499)  # less is written at once
    assert (tmp_path / "cpu.max").read_text() == "299800 100000"
    enforcer.enforce(0.0)  # no lease, no share
    assert (tmp_path / "cpu.max").read_text() == "1000 100000"
    enforcer.enforce(1.0)
    enforcer.close()
    assert (tmp_path / "cpu.max").read_text() == "1000 100000"


def test_without_a_group_it_only_advises(tmp_path: Path) -> None:
    said: list[str] = []
    for config in (None, {"group": str(tmp_path / "none"), "processors": 1.0}):
        enforcer = Enforcer.of(config, said.append)
        enforcer.enforce(1.0)
        assert not enforcer.active
    assert all("advice" in line for line in said)
    assert "no cpu.max" in said[1]


def test_a_bad_configuration_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="processors"):
        Enforcer.of({"group": str(tmp_path), "processors": 0.0}, print)
    with pytest.raises(InputError, match="cores"):
        Enforcer.of({"group": str(tmp_path), "processors": 1.0, "cores": 4}, print)
