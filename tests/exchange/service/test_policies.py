"""The policy of rounds is kept, told and audited once."""

from __future__ import annotations

import json

from walras.exchange.service import audit, events, policies
from walras.exchange.store.database import Database
from walras.policies.placements import Policy
from walras.rounds import Rules


def test_the_defaults_are_in_force_until_an_operator_sets_another_policy(
    database: Database,
) -> None:
    chosen = Policy(explore=0.05, rules=Rules(min_success=0.6))
    assert database.read(policies.in_force) == Policy()
    for policy, is_new in ((Policy(), False), (chosen, True), (chosen, False), (Policy(), True)):
        changed = database.write(
            lambda tx, policy=policy: policies.put(tx, 5.0, policy, "operator")  # type: ignore[misc]
        )
        assert changed is is_new
        assert database.read(policies.in_force) == policy
    rows = database.read(lambda tx: audit.page(tx, 0, 9))
    entries = [(row[2], row[3], json.loads(row[5])["explore"]) for row in rows]
    assert entries == [("operator", "policy.set", 0.05), ("operator", "policy.set", 0.02)]
    found = database.read(lambda tx: events.after(tx, 0))
    assert [row[1] for row in found if row[3] == "policy.set"] == [None, None]
