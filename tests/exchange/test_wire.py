"""The agent protocol as JSON: what is packed is what is unpacked, and what is optional may lack."""

from __future__ import annotations

import json

from walras.exchange import wire
from walras.exchange.service.messages import Answer, Finished, Grant, Running, Sync


def test_a_sync_and_an_answer_come_back_as_they_were() -> None:
    sync = Sync(
        3,
        7,
        2,
        [Running(1, 3, 12.5)],
        [
            Finished(2, 4, "failed", 1.5, 9, "log"),
            Finished(3, 5, "completed", None, None, None),
        ],
    )
    assert wire.sync_from_json(json.loads(json.dumps(wire.sync_to_json(sync)))) == sync
    answer = Answer(
        [Grant(4, 6, "t", 2, None, {"command": ["true"]})],
        [(1, 3, "cancelled")],
        [(2, 4, "kept")],
        30.0,
    )
    assert wire.answer_from_json(json.loads(json.dumps(wire.answer_to_json(answer)))) == answer


def test_what_older_agents_leave_out_is_nothing() -> None:
    body = {
        "incarnation": 3,
        "seq": 1,
        "free": 0,
        "running": [{"placement": 1, "token": 1}],
        "finished": [{"placement": 2, "token": 2, "outcome": "timeout"}],
    }
    found = wire.sync_from_json(body)
    assert found.running == [Running(1, 1, 0.0)]
    assert found.finished == [Finished(2, 2, "timeout", None, None, None)]
