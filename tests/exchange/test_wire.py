"""The agent protocol as JSON: what is packed is what is unpacked, and what is optional may lack."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from walras.exchange import wire
from walras.exchange.agent.backend import LOG_BYTES, tail
from walras.exchange.agent.machine import RESULTS, RUNS
from walras.exchange.api.gate import BODY
from walras.exchange.api.models import SyncIn
from walras.exchange.errors import FieldError
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


def test_an_output_may_hold_any_character_but_nul() -> None:
    given = Sync(1, 1, 0, [], [Finished(1, 1, "completed", 1.0, 0, "a\0b\x01é\n")])
    body = wire.sync_to_json(given)
    assert body["finished"][0]["log"] == "a\ufffdb\x01é\n"
    SyncIn.model_validate(body)


def test_a_message_of_the_largest_outputs_fits_into_a_body() -> None:
    worst = tail(b"\x01" * LOG_BYTES)  # six bytes each in JSON
    results = [Finished(k, 1, "completed", 1.0, 0, worst) for k in range(RESULTS)]
    runs = [Running(2**53, 2**53, 1e11 / 3.0)] * RUNS
    assert len(wire.encoded(wire.sync_to_json(Sync(1, 1, 0, runs, results)))) < BODY


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


@pytest.mark.parametrize(
    ("body", "pointer", "what"),
    [
        ({"features": {"x": math.nan}}, "/features/x", "is nan"),
        ({"tasks": [{"slots": 1}, {"deadline": -math.inf}]}, "/tasks/1/deadline", "is -inf"),
        ({"features": {"x": np.float32(1.0)}}, "/features/x", "is of type float32"),
        ({"command": ["echo", "\udcff"]}, "/command/1", "is no text"),
        ({(1, 2): 3}, "", "is no JSON: keys must be str"),
    ],
)
def test_what_json_has_no_word_for_is_named(body: Any, pointer: str, what: str) -> None:
    with pytest.raises(FieldError, match=what) as raised:
        wire.encoded(body)
    assert raised.value.pointer == pointer
    assert raised.value.where == (pointer.lstrip("/") or "body")


def test_a_body_is_packed_as_utf8() -> None:
    body = {"name": "é", "features": {"x": np.float64(0.5)}, "slots": 1, "tenant": None}
    assert json.loads(wire.encoded(body)) == body
    assert "é".encode() in wire.encoded(body)
