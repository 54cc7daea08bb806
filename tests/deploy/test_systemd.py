"""The units of systemd: commands that exist, runs that outlive their agent, no rights to spare."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.deploy.commands import unknown_words

FOLDER = Path(__file__).resolve().parents[2] / "deploy/systemd"
UNITS = sorted(FOLDER.glob("*.service"))
PROGRAM = "/opt/walras/bin/walras"


def settings(unit: Path) -> dict[str, list[str]]:
    """Setting -> its values, in order; lines that end in a backslash go on."""
    text = unit.read_text(encoding="utf-8").replace("\\\n", " ")
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line and line[0] not in "#[":
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(" ".join(value.split()))
    return found


def test_there_are_two() -> None:
    assert [unit.name for unit in UNITS] == ["walras-agent.service", "walras-exchange.service"]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_a_unit_calls_commands_and_options_that_exist(unit: Path) -> None:
    (line,) = settings(unit)["ExecStart"]
    program, *words = shlex.split(line)
    assert program == PROGRAM
    assert unknown_words(words) == []


def test_the_check_of_commands_finds_what_is_wrong() -> None:
    assert unknown_words(["serve", "--home", "x"]) == []
    assert unknown_words(["serf", "--home", "x"]) == ["serf"]
    assert unknown_words(["serve", "--hom", "x"]) == ["--hom", "without --home"]
    assert unknown_words(["agent", "walk"]) == ["walk"]
    assert unknown_words(["agent", "run", "--server=a", "--cluster=b", "--home=c"]) == []


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_a_unit_gives_no_right_that_is_not_needed(unit: Path) -> None:
    found = settings(unit)
    for name in ("NoNewPrivileges", "ProtectHome", "RestrictSUIDSGID", "LockPersonality"):
        assert found[name] == ["yes"], name
    assert found["ProtectSystem"] == ["strict"]
    assert found["CapabilityBoundingSet"] == found["AmbientCapabilities"] == [""]
    assert found["UMask"] == ["0077"]
    assert found["StateDirectoryMode"] == ["0700"]
    assert "MemoryDenyWriteExecute" not in found  # kernels are compiled while it runs
    assert found["RestartPreventExitStatus"] == ["2"]  # bad input: docs/reference/command_line.md


def test_the_home_of_each_is_its_state_directory() -> None:
    for unit in UNITS:
        found = settings(unit)
        words = shlex.split(found["ExecStart"][0])
        home = words[words.index("--home") + 1]
        assert home == f"/var/lib/{found['StateDirectory'][0]}"


def test_runs_outlive_their_agent() -> None:
    agent, exchange = map(settings, UNITS)
    assert agent["KillMode"] == ["process"]
    # What would be taken away from runs when the agent is started again.
    assert {"PrivateTmp", "DynamicUser", "PrivateUsers"} & agent.keys() == set()
    assert exchange["DynamicUser"] == ["yes"]
    assert "KillMode" not in exchange


def test_tokens_are_no_words_of_a_command() -> None:
    agent, _ = map(settings, UNITS)
    assert agent["LoadCredential"] == ["token:/etc/walras/agent.token"]
    assert "--token-file %d/token" in agent["ExecStart"][0]
    for unit in UNITS:
        assert "wlr_" not in unit.read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_takes_the_units(tmp_path: Path) -> None:
    true = shutil.which("true")
    copies = []
    for unit in UNITS:
        copy = tmp_path / unit.name
        text = unit.read_text(encoding="utf-8").replace(PROGRAM, str(true))
        copy.write_text(text, encoding="utf-8")
        copies.append(str(copy))
    command = ["systemd-analyze", "verify", "--man=no", *copies]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = [line for line in done.stderr.splitlines() if re.search("walras", line)]
    assert said == []
