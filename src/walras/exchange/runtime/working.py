"""One long computation in a process of its own, how far it is, and questions about its result.

The computation runs in a thread of the process, which goes on answering. A request is a line of
JSON, and the data after it.
"""

from __future__ import annotations

import json
import threading
import traceback
from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol

from walras.errors import InputError, WalrasError

Document = dict[str, Any]
Answer = Callable[[Document], Document]
"""From a question about a result to its answer."""


class OnShare(Protocol):
    """Called with the share that is done, what is being done, and what was found so far."""

    def __call__(self, share: float, note: str, so_far: Document | None = None) -> None:
        """Keep it for whoever looks."""
        ...


Function = Callable[[Document, bytes, OnShare], "Document | tuple[Document, Answer]"]
"""From facts and data to a result that JSON can hold, and what answers questions about it."""


def _refusal(error: WalrasError) -> dict[str, str]:
    names = ("what", "where", "allowed", "remedy")
    return {name: getattr(error, name) for name in names}


class _Job:
    """What is computed."""

    answer: Answer | None = None

    def __init__(self, function: Function, facts: Document, data: bytes) -> None:
        self.report: dict[str, Any] = {"state": "running", "share": 0.0, "note": ""}
        given = (function, facts, data)
        threading.Thread(target=self._run, args=given, name="walras-work", daemon=True).start()

    def _run(self, function: Function, facts: Document, data: bytes) -> None:
        try:
            found = function(facts, data, self._on_share)
        except WalrasError as error:
            why = _refusal(error)
            self.report = {"state": "refused", "share": self.report["share"], "why": why}
        except Exception as error:  # noqa: BLE001 - whatever it is, who asked has to know
            traceback.print_exc()  # into the service's log: a message may name what is private
            why = {"what": f"failed: {type(error).__name__}", "remedy": "see the service's log"}
            self.report = {"state": "failed", "share": self.report["share"], "why": why}
        else:
            result, self.answer = found if isinstance(found, tuple) else (found, None)
            self.report = {"state": "done", "share": 1.0, "result": result}

    def _on_share(self, share: float, note: str, so_far: Document | None = None) -> None:
        share = min(max(share, 0.0), 1.0)
        self.report = {"state": "running", "share": share, "note": note, "result": so_far}

    def ask(self, question: Document) -> Document:
        """The answer to a question, or under ``refused`` why there is none."""
        if self.answer is None:
            return {"refused": {"what": "answers no question", "where": "the computation"}}
        try:
            return self.answer(question)
        except InputError as error:
            return {"refused": _refusal(error)}


_jobs: list[_Job] = []


def answered(data: bytes) -> bytes:
    """Begin the computation of this process, or tell how far it is.

    Args:
        data: JSON in one line: ``do`` is ``begin``, with ``function`` and ``facts``, ``look``, or
            ``ask`` with a ``question``; for ``begin`` the data follow.

    Returns:
        JSON: ``state`` (``running``, ``done``, ``refused``, ``failed``), ``share``, and ``note``,
        ``result`` or ``why``; of ``ask``, the answer.
    """
    line, _, rest = data.partition(b"\n")
    asked = json.loads(line)
    if asked["do"] == "begin":
        module, _, name = asked["function"].partition(":")
        _jobs[:] = [_Job(getattr(import_module(module), name), asked["facts"], rest)]
    if asked["do"] == "ask":
        return json.dumps(_jobs[0].ask(asked["question"])).encode()
    return json.dumps(_jobs[0].report, allow_nan=False).encode()
