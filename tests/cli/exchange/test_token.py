"""``walras token``: created and printed once, listed without it, revoked."""

from __future__ import annotations

import json
import time

from tests.cli.exchange.runs import Run


def test_a_token_is_printed_alone_and_never_listed(walras: Run) -> None:
    words = ("--scope", "read", "--scope", "submit", "--tenant", "alpha", "--days", "1")
    made = walras("token", "create", "ann", *words)
    assert made.startswith("wlr_")
    assert len(made.splitlines()) == 1, "it goes to a file as it is"
    text = walras("token", "list", "-o", "json")
    assert made.strip() not in text
    (ann,) = [one for one in json.loads(text) if one["name"] == "ann"]
    assert (ann["scopes"], ann["tenant"]) == (["read", "submit"], "alpha")
    assert abs(ann["expires"] - time.time() - 86400.0) < 60.0


def test_a_revoked_token_shows_when(walras: Run) -> None:
    made = json.loads(walras("token", "create", "bob", "--scope", "read", "-o", "json"))
    assert made["token"].startswith("wlr_")
    assert "revoked" in walras("token", "revoke", made["uid"])
    listed = json.loads(walras("token", "list", "-o", "json"))
    assert next(one for one in listed if one["name"] == "bob")["revoked"] is not None
