"""A request that is sent twice is answered once; another request under its key is refused."""

from __future__ import annotations

from functools import partial

import pytest

from walras.exchange.errors import FieldError
from walras.exchange.service import idempotency
from walras.exchange.store.database import Database


def test_the_second_time_gives_the_first_answer(empty: Database) -> None:
    assert empty.write(lambda tx: idempotency.begin(tx, 1.0, "lab", "k", "print")) is None
    empty.write(lambda tx: idempotency.answered(tx, "lab", "k", 201, "{}"))
    assert empty.write(lambda tx: idempotency.begin(tx, 2.0, "lab", "k", "print")) == (201, "{}")
    assert empty.write(lambda tx: idempotency.begin(tx, 2.0, "other", "k", "print")) is None
    with pytest.raises(FieldError, match="another request"):
        empty.write(lambda tx: idempotency.begin(tx, 3.0, "lab", "k", "else"))


def test_old_answers_are_forgotten_a_part_at_a_time(empty: Database) -> None:
    for k in range(6):
        begin = partial(idempotency.begin, now=float(k), owner="lab", key=f"k{k}", fingerprint="p")
        empty.write(begin)
    assert empty.write(lambda tx: idempotency.forget(tx, 5.0, most=2)) == 2
    assert empty.write(lambda tx: idempotency.forget(tx, 5.0)) == 3
    assert empty.write(lambda tx: idempotency.begin(tx, 9.0, "lab", "k0", "new")) is None
    assert empty.write(lambda tx: idempotency.begin(tx, 9.0, "lab", "k5", "p")) == (0, "")
