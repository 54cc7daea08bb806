"""Answers that are kept in memory for requests that are sent again."""

from __future__ import annotations

from walras.exchange.runtime import replies as module
from walras.exchange.runtime.replies import Replies


def test_the_newest_answers_are_kept() -> None:
    replies = Replies()
    for k in range(module._REPLIES + 1):
        replies.keep(("me", str(k)), ("asked", k))
    assert replies.get(("me", "0")) is None
    assert replies.get(("me", "1")) == ("asked", 1)
    replies.forget(("me", "1"))
    assert replies.get(("me", "1")) is None
