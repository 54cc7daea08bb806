"""Runs as Slurm jobs: ``sbatch``, ``squeue``, ``sacct`` and ``scancel``, never through a shell."""

from __future__ import annotations

import math
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from walras.exchange.agent.backend import tail_of
from walras.exchange.agent.machine import Key
from walras.exchange.agent.scheduled import OutsideError, Scheduled, Seen
from walras.exchange.service.messages import Grant
from walras.predict.logs.sacct import STATES, UNFINISHED, seconds_of

_PATIENCE = 30.0  # seconds that a command may take
_NAMES = 1000  # jobs that a command is asked about: Linux takes no longer argument than 128 KiB
_STEERS = re.compile(
    "PATH|IFS|ENV|BASH_ENV|GCONV_PATH|GLIBC_TUNABLES|(LD|SBATCH|SLURM|SQUEUE|SACCT|WALRAS)_.*"
)
_SCRIPT = '#!/bin/sh\nexec "$@"\n'
# A job in one of these states is not running out of its time limit: it may go on later.
_WAITING = (
    "PENDING",
    "CONFIGURING",
    "RESV_DEL_HOLD",
    "REQUEUE_FED",
    "REQUEUE_HOLD",
    "SPECIAL_EXIT",
    "SUSPENDED",
    "STOPPED",
)


class Slurm(Scheduled):
    """Runs as jobs of this user.

    Args:
        home: Folder of the agent; outputs lie in ``home/jobs``.
        partition: Partition to submit to, or None for the default one.
        options: Further options of ``sbatch``.
    """

    name = "slurm"

    def __init__(
        self, home: Path, *, partition: str | None = None, options: Sequence[str] = ()
    ) -> None:
        super().__init__(home)
        self._options = [*([f"--partition={partition}"] if partition else []), *options]
        self._script = self._jobs / "run.sh"
        self._script.write_text(_SCRIPT, encoding="ascii")

    def _submit(self, key: Key, grant: Grant) -> None:
        limit = []
        if grant.time_limit is not None:
            limit = [f"--time={max(math.ceil(grant.time_limit / 60.0), 1)}"]
        environment, command = _parted(grant.spec.get("environment", {}), grant.spec["command"])
        _run(
            [
                "sbatch",
                "--parsable",
                "--no-requeue",
                f"--job-name={self.job_name(key)}",
                f"--cpus-per-task={grant.slots}",
                f"--output={self._output(key)}",
                *limit,
                *self._options,
                str(self._script),
                *command,
            ],
            environment,
        )

    def _look(self, names: Mapping[str, Key]) -> dict[Key, Seen]:
        listed, found = list(names), dict[Key, Seen]()
        for begin in range(0, len(listed), _NAMES):
            part = listed[begin : begin + _NAMES]
            found |= self._looked({name: names[name] for name in part})
        return found

    def _looked(self, names: Mapping[str, Key]) -> dict[Key, Seen]:
        listed = ",".join(names)
        # Ended jobs leave the queue after a while; the accounting has them, a little later.
        queued = _run(["squeue", "--me", "--noheader", f"--name={listed}", "--format=%j|%T"])
        found: dict[Key, Seen] = {}
        for line in queued.splitlines():
            name, _, state = (part.strip() for part in line.partition("|"))
            key = names.get(name)
            if key is not None and state not in STATES:  # of a newer Slurm: it is in the queue
                found[key] = _alive(state)
        missing = {name: key for name, key in names.items() if key not in found}
        return found | (self._accounted(missing) if missing else {})

    def _accounted(self, names: Mapping[str, Key]) -> dict[Key, Seen]:
        text = _run(
            [
                "sacct",
                "--allocations",
                "--parsable2",
                "--noheader",
                f"--name={','.join(names)}",
                "--starttime=now-30days",
                "--format=JobName,State,ElapsedRaw,ExitCode",
            ]
        )
        found: dict[Key, Seen] = {}
        for line in text.splitlines():
            parts = [part.strip() for part in line.split("|")]
            key = names.get(parts[0]) if len(parts) == 4 else None
            if key is None:
                continue
            state = parts[1].partition(" ")[0]
            if state in UNFINISHED:
                found[key] = _alive(state)
            elif key not in found or found[key].ended:
                seconds, code = seconds_of(parts[2]), parts[3].partition(":")[0]
                found[key] = Seen(
                    STATES.get(state, "failed"),
                    seconds if math.isfinite(seconds) else None,
                    int(code) if code.isdigit() else None,
                )
        return found

    def _cancel(self, key: Key) -> None:
        _run(["scancel", "--me", f"--name={self.job_name(key)}"])

    def _output(self, key: Key) -> Path:
        return self._jobs / f"{key[0]}-{key[1]}.log"

    def _log(self, key: Key) -> str:
        return tail_of(self._output(key))

    def _remove(self, key: Key) -> None:
        self._output(key).unlink(missing_ok=True)


def _parted(
    given: Mapping[str, str], command: Sequence[str]
) -> tuple[dict[str, str], Sequence[str]]:
    """What ``sbatch`` is run with, and the job's command: a task must not steer ``sbatch`` itself.

    A variable that would is set within the job. The agent's own secrets are no job's business.
    """
    own = {k: v for k, v in os.environ.items() if not k.startswith("WALRAS_")}
    inside = [f"{k}={v}" for k, v in given.items() if _STEERS.fullmatch(k)]
    outside = {k: v for k, v in given.items() if not _STEERS.fullmatch(k)}
    if inside:
        command = ["env", *inside, "sh", "-c", 'exec "$@"', "sh", *command]
    return own | outside, command


def _alive(state: str) -> Seen:
    return Seen("waiting" if state in _WAITING else "running")


def _run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """What a command prints.

    Raises:
        OutsideError: It fails or takes too long; it may have taken effect.
    """
    try:
        done = subprocess.run(
            command,
            env=None if environment is None else dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise OutsideError(str(error)) from error
    if done.returncode:
        raise OutsideError(f"{command[0]}: {done.stderr.strip() or done.returncode}")
    return done.stdout
