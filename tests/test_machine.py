"""Cores by affinity and by the CPU quota of control groups, on file systems made for it."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

from walras import machine
from walras.machine import cores, quota
from walras.settings import Settings

V2 = "30 23 0:26 {top} /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate"
V1 = "31 23 0:27 {top} /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct"
MEMORY = "32 23 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory"
AT_V1 = "sys/fs/cgroup/cpu,cpuacct"


def _made(root: Path, group: str, mounts: str, files: dict[str, str]) -> Path:
    for name, text in {"proc/self/cgroup": group, "proc/self/mountinfo": mounts, **files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text + "\n")
    return root


def test_a_container_of_version_2(tmp_path: Path) -> None:
    files = {"sys/fs/cgroup/cpu.max": "200000 100000"}
    assert quota(_made(tmp_path, "0::/", V2.format(top="/"), files)) == 2.0


def test_a_slice_above_limits_what_is_below_it(tmp_path: Path) -> None:
    files = {
        "sys/fs/cgroup/work.slice/cpu.max": "150000 100000",
        "sys/fs/cgroup/work.slice/job.service/cpu.max": "max 100000",
    }
    root = _made(tmp_path, "0::/work.slice/job.service", V2.format(top="/"), files)
    assert quota(root) == 1.5


def test_the_group_s_own_limit_counts_if_it_is_less(tmp_path: Path) -> None:
    files = {
        "sys/fs/cgroup/a/cpu.max": "800000 100000",
        "sys/fs/cgroup/a/b/cpu.max": "50000 100000",
    }
    assert quota(_made(tmp_path, "0::/a/b", V2.format(top="/"), files)) == 0.5


@pytest.mark.parametrize("top", ["/docker/12ab", "/"])
def test_a_container_of_version_1(tmp_path: Path, top: str) -> None:
    """The path is the host's; the mount shows the container's own group at its top."""
    files = {f"{AT_V1}/cpu.cfs_quota_us": "300000", f"{AT_V1}/cpu.cfs_period_us": "100000"}
    groups = "5:memory:/docker/12ab\n4:cpu,cpuacct:/docker/12ab\n0::/docker/12ab"
    root = _made(tmp_path, groups, f"{MEMORY}\n{V1.format(top=top)}", files)
    assert quota(root) == 3.0


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("sys/fs/cgroup/cpu.max", "max 100000"),
        ("sys/fs/cgroup/cpu.max", "nonsense"),
        ("sys/fs/cgroup/cpu.max", "100000 0"),
        ("sys/fs/cgroup/cpu.max", ""),
        ("sys/fs/cgroup/cpu.cfs_quota_us", "-1"),
        ("sys/fs/cgroup/memory.max", "1"),
    ],
)
def test_without_a_limit_there_is_none(tmp_path: Path, name: str, text: str) -> None:
    files = {name: text, "sys/fs/cgroup/cpu.cfs_period_us": "100000"}
    assert math.isinf(quota(_made(tmp_path, "0::/", V2.format(top="/"), files)))


def test_a_system_without_control_groups_has_no_quota(tmp_path: Path) -> None:
    assert math.isinf(quota(tmp_path))


@pytest.mark.parametrize(("allowed", "expected"), [(2.0, 2), (1.5, 2), (0.25, 1), (math.inf, 64)])
def test_two_cpus_of_64_are_two_workers(
    monkeypatch: pytest.MonkeyPatch, allowed: float, expected: int
) -> None:
    monkeypatch.setattr(machine, "quota", lambda: allowed)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)
    assert cores() == expected
    assert Settings().workers == expected
    assert Settings(threads=5).workers == 5


def test_this_machine_s_quota_is_read() -> None:
    assert quota() > 0.0
    assert 1 <= cores() <= (os.cpu_count() or 1)
