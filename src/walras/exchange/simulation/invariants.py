"""What must hold of every schedule, read from the store: each check tells what is broken."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field

import sqlalchemy as sa

from walras.exchange.service import audits
from walras.exchange.simulation.providers import Providers
from walras.exchange.store.statements import Row, Statement, Transaction, given

_STATES = Statement(sa.text("SELECT uid, state FROM task"))
_SUMMARY = Statement(
    sa.text(
        "SELECT p.id, p.state, p.outcome, p.token, t.token, t.uid, o.id IS NOT NULL, t.state "
        "FROM placement p JOIN task t ON t.id = p.task "
        "LEFT JOIN observation o ON o.placement = p.id"
    )
)


def states(tx: Transaction) -> dict[str, str]:
    """The state of each task."""
    return dict(tx.rows(_STATES))


def of_tasks(tx: Transaction, submitted: Set[str], stored: Mapping[int, str]) -> Iterator[str]:
    """What was promised of tasks, once all have ended.

    Args:
        tx: A reader.
        submitted: Tasks that were acknowledged.
        stored: Placement -> its result that was acknowledged.
    """
    kept = states(tx)
    missing = submitted - kept.keys()
    if missing:
        yield f"acknowledged tasks are lost: {sorted(missing)}"
    observed: dict[str, int] = {}
    found: dict[int, str | None] = {}
    for key, _, outcome, token, newest, uid, seen, state in tx.rows(_SUMMARY):
        found[key] = outcome
        if outcome == "completed":
            observed[uid] = observed.get(uid, 0) + 1
            if token != newest:
                yield f"an old run of {uid} finished it"
            if state != "succeeded":
                yield f"{uid} completed and is {state}"
        if seen and outcome in (None, "unreachable", "cancelled", "preempted"):
            yield f"placement {key} was observed as {outcome}"
    for uid, state in kept.items():
        if (state == "succeeded") != (observed.get(uid, 0) == 1):
            yield f"{uid} is {state} with {observed.get(uid, 0)} completions"
    for key, outcome in stored.items():
        if found.get(key) != outcome:
            yield f"placement {key}: stored {outcome}, kept {found.get(key)}"


# ---- audits -----------------------------------------------------------------------------------

_RESULTS = Statement(
    sa.text(
        "SELECT o.id, t.uid, c.provider, c.trusted, t.auditable, o.weight, "
        "o.rejected IS NOT NULL, o.outcome FROM observation o JOIN task t ON t.id = o.task "
        "JOIN cluster c ON c.id = o.cluster ORDER BY o.id"
    )
)
# A result, its task, its run, as the consumer sees them.
_KEPT = Statement(
    sa.text(
        "SELECT o.id, t.state, t.token, t.attempt, t.failures, t.version, t.ended, p.state, "
        "p.outcome, p.token, p.exit_code, p.seconds, p.ended FROM observation o "
        "JOIN task t ON t.id = o.task JOIN placement p ON p.id = o.placement "
        "WHERE o.outcome = 'completed'"
    )
)
_AUDITS = Statement(
    sa.text(
        "SELECT a.observation, a.provider, a.auditor, a.state, t.uid, t.state, o.id, c.provider, "
        "c.trusted FROM result_audit a LEFT JOIN task t ON t.id = a.task "
        "LEFT JOIN placement p ON p.task = t.id AND p.token = t.token "
        "LEFT JOIN observation o ON o.placement = p.id "
        "LEFT JOIN cluster c ON c.id = o.cluster ORDER BY a.id"
    )
)
_AUDIT_OF = Statement(
    sa.text(
        "SELECT a.observation, a.provider, a.auditor FROM result_audit a "
        "JOIN task t ON t.id = a.task WHERE t.uid = :uid"
    ).bindparams(given("uid"))
)
_CONVICTED = Statement(
    sa.text(
        "SELECT actor, subject, data FROM audit_log WHERE action = 'provider.quarantine' "
        "ORDER BY id"
    )
)
_BELIEVED = Statement(
    sa.text(
        "SELECT o.id FROM observation o JOIN cluster c ON c.id = o.cluster "
        "WHERE c.provider = :provider AND o.weight != 'quarantined'"
    ).bindparams(given("provider"))
)
_OPEN = Statement(
    sa.text(
        "SELECT (SELECT count(*) FROM observation WHERE review > 0) "
        "+ (SELECT count(*) FROM result_audit WHERE state = 'asked')"
    )
)


@dataclass
class _Result:
    """A result and its audits, the oldest first: (auditor, state, whether a trusted cluster's)."""

    number: int
    uid: str
    provider: str
    trusted: bool
    auditable: bool
    weight: str
    rejected: bool
    outcome: str
    audits: list[tuple[str | None, str, bool]] = field(default_factory=list)

    @property
    def accusers(self) -> set[str]:
        """Providers whose audits disagree."""
        return {str(by) for by, state, _ in self.audits if state == "disagreed"}

    @property
    def proven(self) -> bool:
        """Whether it is a forgery by the stated rule."""
        trusted = any(state == "disagreed" and sure for _, state, sure in self.audits)
        return trusted or len(self.accusers) > 1

    @property
    def believed(self) -> str:
        """Its weight by the stated rules, as long as its provider is not convicted."""
        if self.rejected:
            return "disputed"
        if any(state == "agreed" for _, state, _ in self.audits):
            return "audited"
        return "disputed" if self.accusers else "used"


class Audits:
    """What is promised of audits, at each moment and at the end.

    Args:
        providers: The providers, and who of them lies.
    """

    def __init__(self, providers: Providers) -> None:
        self.providers = providers
        self._result: dict[str, int] = {}  # an audit's task -> the result that it audits
        self._kept: dict[int, Row] = {}
        self._convictions = 0

    def started(self, tx: Transaction, uid: str, number: int, live: Set[str]) -> Iterator[str]:
        """An audit's run starts elsewhere than what it audits, and no other one of it is alive."""
        row = tx.first(_AUDIT_OF, uid=uid)
        if row is None:
            return
        result, audited, auditor = row
        provider = self.providers.of[number]
        if provider == audited:
            yield f"audit {uid} runs at {provider}, whose result it audits"
        if provider != auditor:
            yield f"audit {uid} runs at {provider}, and {auditor} was asked"
        self._result[uid] = result
        if any(self._result.get(other) == result for other in live - {uid}):
            yield f"two audits of result {result} run at once"

    def turned(self, tx: Transaction) -> Iterator[str]:
        """What holds after each turn of the job of audits.

        Nothing that has ended changes; at most one audit of a result is under way; and no run
        counts of a provider that has just been convicted.
        """
        for number, *rest in tx.rows(_KEPT):
            row = tuple(rest)
            if self._kept.setdefault(number, row) != row:
                yield f"result {number} was {self._kept[number]} and is {row}"
        asked = [row[0] for row in tx.rows(_AUDITS) if row[3] == "asked"]
        if len(asked) > len(set(asked)):
            yield f"two audits of a result are under way: {asked}"
        convicted = tx.rows(_CONVICTED)
        for _, provider, _ in convicted[self._convictions :]:
            if believed := tx.rows(_BELIEVED, provider=provider):
                yield f"{provider} is convicted, and its results {believed} count"
        self._convictions = len(convicted)

    def ended(self, tx: Transaction) -> bool:
        """Whether every audit has ended, and none is to be asked for."""
        return int(tx.value(_OPEN)) == 0

    def at_end(self, tx: Transaction) -> Iterator[str]:
        """What holds once all has ended."""
        results = {row[0]: _Result(*row) for row in tx.rows(_RESULTS)}
        yield from self.turned(tx)
        yield from self._verdicts(tx, results)
        yield from self._convicted(tx, results)
        valid: dict[str, int] = {}
        for one in results.values():
            yield from self._of_result(one, valid.get(one.provider, 0))
            valid[one.provider] = valid.get(one.provider, 0) + (one.believed == "audited")

    def _verdicts(self, tx: Transaction, results: Mapping[int, _Result]) -> Iterator[str]:
        """Every audit ran where it was asked, is decided by its run, and honest ones agree."""
        liars = self.providers.liars
        for number, provider, auditor, state, uid, ended, seen, ran, trusted in tx.rows(_AUDITS):
            result = results[number]
            before = {str(by) for by, _, _ in result.audits}
            result.audits.append((auditor, state, bool(trusted)))
            others = set(self.providers.of) - {provider} - before
            if (auditor is None) != (not others) or auditor in {provider, *before}:
                yield f"{auditor} audits result {number} of {provider} after {sorted(before)}"
            if ran not in (None, auditor):
                yield f"{ran} ran audit {uid} of {auditor}"
            answered = ended in ("succeeded", "failed") and seen is not None
            if (state in ("agreed", "disagreed")) != answered:
                yield f"audit {uid} is {ended}, and {state}"
            if state == "disagreed" and not liars & {provider, auditor}:
                yield f"{auditor} contradicts result {number} of {provider}, and both are honest"

    def _convicted(self, tx: Transaction, results: Mapping[int, _Result]) -> Iterator[str]:
        """Nobody is convicted without the stated evidence, nor an honest one by fewer than two."""
        cost = dict.fromkeys(self.providers.of, 0)
        for actor, provider, data in tx.rows(_CONVICTED):
            details = json.loads(data)
            cost[provider] += details["quarantined"]
            result = results[details["result"]]
            if result.provider != provider:
                yield f"{provider} is convicted of a result of {result.provider}"
            if actor == audits.ACTOR and not result.proven:
                yield f"{provider} is convicted by {result.audits} alone"
            innocent = provider not in self.providers.liars
            if innocent and len(result.accusers & self.providers.liars) < 2:
                yield f"{provider} is honest and convicted by {result.audits}"
        for provider, count in cost.items():
            lost = [r for r in results.values() if r.provider == provider]
            if sum(r.weight == "quarantined" for r in lost) != count:
                yield f"{provider}: {count} of its {len(lost)} runs were to count no more"

    def _of_result(self, one: _Result, valid: int) -> Iterator[str]:
        """A result is audited where that is stated, and believed as its audits say."""
        wanted = one.auditable and not one.trusted and one.outcome == "completed"
        if wanted and not one.audits and valid < 10:
            yield f"{one.uid} of {one.provider} was never audited"
        if one.audits and not wanted:
            yield f"{one.uid} of {one.provider} was audited, and should not be"
        asked = len(one.audits)
        if asked > 2 or (asked == 2 and one.audits[0][1] != "disagreed"):
            yield f"{one.uid} was audited by {one.audits}"
        if one.proven and one.weight != "quarantined":
            yield f"{one.uid} is {one.weight}, and contradicted by {one.audits}"
        if one.weight not in ("quarantined", one.believed):
            yield f"{one.uid} is {one.weight}, and audited by {one.audits}"
