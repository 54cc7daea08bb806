"""A scripted stand-in for Slurm's commands, from the manual pages of sbatch, squeue, sacct and
scancel: jobs are JSON in a folder; a file ``faults`` says which command fails, and how."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

SCRIPT = """#!{python} -IS
import json, os, pathlib, subprocess, sys, time
home = pathlib.Path({home!r})
name, arguments = {name!r}, sys.argv[1:]
jobs = home / "jobs.json"
held = json.loads(jobs.read_text()) if jobs.exists() else []
faults = home / "faults"
fault = json.loads(faults.read_text()).get(name) if faults.exists() else None
with (home / "calls").open("a") as calls:
    calls.write(json.dumps([name, *arguments]) + "\\n")
options = dict(a[2:].partition("=")[::2] for a in arguments if a.startswith("--"))
if fault == "fails":
    sys.exit("slurm: Unable to contact slurm controller (connect failure)")
if name == "sbatch":
    rest = [a for a in arguments if not a.startswith("--")]
    number = str(len(held) + 1)
    held.append(dict(id=number, name=options["job-name"], state="PENDING", elapsed=0, code="0:0",
                     command=rest[1:], output=options["output"], time=options.get("time")))
    jobs.write_text(json.dumps(held))
    if fault == "fails and submits":
        sys.exit("sbatch: error: Batch job submission failed: Socket timed out on send/recv")
    print(number)
names = options.get("name", "").split(",")
live = ("PENDING", "CONFIGURING", "RUNNING", "SUSPENDED", "COMPLETING")
for job in held:
    if job["name"] in names:
        if name == "squeue" and job["state"] in live:
            print(job["name"] + "|" + job["state"])
        if name == "sacct" and not job.get("unaccounted"):
            print("|".join([job["name"], job["state"], str(job["elapsed"]), job["code"]]))
        if name == "scancel" and job["state"] in live:
            job["state"] = "CANCELLED by 1000"
if name == "scancel":
    jobs.write_text(json.dumps(held))
"""


class StandIn:
    """The commands of a Slurm whose jobs move when the test says so."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.commands = home / "bin"
        self.commands.mkdir(parents=True)
        for name in ("sbatch", "squeue", "sacct", "scancel"):
            path = self.commands / name
            text = SCRIPT.format(python=sys.executable, home=str(home), name=name)
            path.write_text(text, encoding="utf-8")
            path.chmod(path.stat().st_mode | stat.S_IXUSR)

    @property
    def path(self) -> str:
        return f"{self.commands}{os.pathsep}{os.environ['PATH']}"

    @property
    def jobs(self) -> list[dict[str, object]]:
        file = self.home / "jobs.json"
        found: list[dict[str, object]] = json.loads(file.read_text()) if file.exists() else []
        return found

    def move(self, number: int, **changes: object) -> None:
        """Change a job."""
        jobs = self.jobs
        jobs[number].update(changes)
        (self.home / "jobs.json").write_text(json.dumps(jobs))

    def faults(self, **faults: str) -> None:
        """Which command fails, and how: ``fails`` or ``fails and submits``."""
        (self.home / "faults").write_text(json.dumps(faults))

    def calls(self, name: str) -> list[list[str]]:
        """The calls of a command."""
        lines = (self.home / "calls").read_text().splitlines()
        return [call for call in map(json.loads, lines) if call[0] == name]
