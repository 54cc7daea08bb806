"""The container file: what it copies and calls exists, nobody runs as root, nothing is foreign."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from tests.deploy.commands import unknown_words

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "deploy/container/Containerfile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def steps() -> list[tuple[str, str]]:
    """Instruction and its words; lines that end in a backslash go on."""
    lines = "\n".join(line for line in TEXT.splitlines() if not line.startswith("#"))
    return [
        (line.split(maxsplit=1)[0], line.split(maxsplit=1)[1])
        for line in lines.replace("\\\n", " ").splitlines()
        if line.strip()
    ]


def test_two_stages_begin_with_one_image_of_a_python_that_is_supported() -> None:
    stages = [words for name, words in steps() if name == "FROM"]
    assert stages == ["${PYTHON} AS build", "${PYTHON}"]
    match = re.search(r"^ARG PYTHON=python:(\d+)\.(\d+)-", TEXT, re.MULTILINE)
    assert match is not None
    least = PROJECT["project"]["requires-python"].removeprefix(">=").split(".")
    assert (int(match[1]), int(match[2])) >= tuple(map(int, least))


def test_what_is_copied_is_there() -> None:
    copied = [words.split() for name, words in steps() if name == "COPY"]
    sources = [one for words in copied if "--from=build" not in words for one in words[:-1]]
    assert sources == [
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "build_pages.py",
        "requirements.lock",
        "src",
    ]
    assert [one for one in sources if not (ROOT / one).exists()] == []
    # All that pyproject.toml names beside the package.
    assert PROJECT["project"]["readme"] in sources
    assert PROJECT["project"]["license-files"] == ["LICENSE"]
    hook = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]
    assert hook["path"] in sources


def test_extras_exist_and_versions_are_those_of_the_lock() -> None:
    match = re.search(r"walras-\*\.whl\)\[([\w,]+)\]", TEXT)
    assert match is not None
    extras = PROJECT["project"]["optional-dependencies"]
    assert set(match[1].split(",")) <= extras.keys()
    pattern = re.search(r"grep -oE '([^']+)'", TEXT)
    assert pattern is not None
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pins = re.findall(pattern[1], lock, re.MULTILINE)
    assert len(pins) == len(re.findall(r"^\w", lock, re.MULTILINE)) > 30
    assert "numpy" in {pin.partition("==")[0] for pin in pins}


def test_the_image_runs_a_command_that_exists_as_nobody() -> None:
    found = dict(steps())  # the last of each
    assert found["USER"] == "65532:65532"
    entry, words = json.loads(found["ENTRYPOINT"]), json.loads(found["CMD"])
    assert entry == ["walras"]
    assert unknown_words(words) == []
    order = [name for name, _ in steps()]
    assert order.index("USER") > max(k for k, name in enumerate(order) if name == "RUN")
    assert words[words.index("--home") + 1] == found["VOLUME"] == found["WORKDIR"]


def test_health_is_asked_of_a_route_that_is_open() -> None:
    health = next(words for name, words in steps() if name == "HEALTHCHECK")
    command = json.loads(health[health.index("CMD ") + 4 :])
    assert command[:2] == ["python", "-c"]
    compile(command[2], "health", "exec")
    assert "http://127.0.0.1:8765/readyz" in command[2]
    assert dict(steps())["EXPOSE"] == "8765"


def test_no_address_but_its_own() -> None:
    assert set(re.findall(r"https?://[^/'\"\s]+", TEXT)) == {"http://127.0.0.1:8765"}
    assert not re.search(r"(?i)index-url|token|password|secret", TEXT)
