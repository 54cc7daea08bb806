"""Runs commands and Python code, each in a process of its own, and keeps all that it prints.

Every process is forked from one that has loaded all that is slow, but made no other solver. Called
with a JSON file of names and what to run (the words of a command, or code), and a folder for what
they print.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import traceback
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

import walras as wl
from walras.cli.main import COMMANDS, app, main

IMPORTED = wl.Problem, wl.solve  # and with them every engine: they are imported when asked for


def load_kernels() -> None:
    """What takes each process a second otherwise; no other solver is made here."""
    given = np.array([[4.0, 2, 3, 1], [1, 1, 2, 1]]), np.ones(4), np.ones(2)
    for engine in ("interior", "admm"):
        wl.solve(wl.domains.cluster_scheduling.max_min(*given), engine=engine, threads=1)


def run(what: list[str] | str, out: Path, err: Path) -> int:
    """The exit code of a process of its own."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        for number, path in ((1, out), (2, err)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        if isinstance(what, str):
            exec(compile(what, "code", "exec"), {})
        else:
            sys.argv = ["walras", *what]
            main()
        code = 0
    except SystemExit as ended:
        code = int(ended.code or 0)
    except BaseException:  # noqa: BLE001 (shown by the parent's test)
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        # As at the end of a program, what C libraries have buffered comes out, too.
        ctypes.CDLL(None).fflush(None)
        os._exit(code)


if __name__ == "__main__":
    given, folder = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    for name in ("solve", "match", "rebalance", "data"):
        COMMANDS[name].load(name)
    COMMANDS["network"].load("network")
    load_kernels()
    CliRunner().invoke(app, ["doctor"])
    codes = {k: run(v, folder / f"{k}.out", folder / f"{k}.err") for k, v in given.items()}
    (folder / "codes.json").write_text(json.dumps(codes))
