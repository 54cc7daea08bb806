"""One long computation in a process of its own, and how far it is.

The computation runs in a thread of the process, which goes on answering. A request is a line of
JSON, and the data after it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any

from walras.errors import WalrasError

OnShare = Callable[[float, str], None]
"""Called with the share that is done, and what is being done."""

Function = Callable[[dict[str, Any], bytes, OnShare], dict[str, Any]]
"""From facts and data to a result that JSON can hold."""


class _Job:
    """What is computed."""

    def __init__(self, function: Function, facts: dict[str, Any], data: bytes) -> None:
        self.report: dict[str, Any] = {"state": "running", "share": 0.0, "note": ""}
        given = (function, facts, data)
        threading.Thread(target=self._run, args=given, name="walras-work", daemon=True).start()

    def _run(self, function: Function, facts: dict[str, Any], data: bytes) -> None:
        try:
            found = function(facts, data, self._on_share)
        except WalrasError as error:
            refused = {
                "what": error.what,
                "where": error.where,
                "allowed": error.allowed,
                "remedy": error.remedy,
            }
            self.report = {"state": "refused", "share": self.report["share"], "why": refused}
        except Exception as error:  # noqa: BLE001 - whatever it is, who asked has to know
            what = {"what": f"{type(error).__name__}: {error}"[:500]}
            self.report = {"state": "failed", "share": self.report["share"], "why": what}
        else:
            self.report = {"state": "done", "share": 1.0, "result": found}

    def _on_share(self, share: float, note: str) -> None:
        self.report = {"state": "running", "share": min(max(share, 0.0), 1.0), "note": note}


_jobs: list[_Job] = []


def answered(data: bytes) -> bytes:
    """Begin the computation of this process, or tell how far it is.

    Args:
        data: JSON in one line: ``do`` is ``begin``, with ``function`` and ``facts``, or ``look``;
            for ``begin`` the data follow.

    Returns:
        JSON: ``state`` (``running``, ``done``, ``refused``, ``failed``), ``share``, and ``note``,
        ``result`` or ``why``.
    """
    line, _, rest = data.partition(b"\n")
    asked = json.loads(line)
    if asked["do"] == "begin":
        module, _, name = asked["function"].partition(":")
        _jobs[:] = [_Job(getattr(import_module(module), name), asked["facts"], rest)]
    return json.dumps(_jobs[0].report).encode()
