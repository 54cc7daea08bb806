"""What the service answers, as the OpenAPI file tells it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class Task(BaseModel):
    """A task."""

    uid: str
    name: str
    tenant: str
    state: str
    slots: int
    priority: int
    submitted: float
    deadline: float | None
    min_success: float | None
    max_attempts: int
    time_limit: float | None
    attempt: int
    failures: int
    cancel_requested: bool
    ended: float | None
    version: int
    cluster: str | None
    round: int | None


class Placement(BaseModel):
    """An attempt of a task on a cluster."""

    attempt: int
    cluster: str
    round: int | None
    state: str
    outcome: str | None
    offered: float
    granted: float | None
    started: float | None
    ended: float | None
    seconds: float | None
    predicted: float | None
    exit_code: int | None


class TaskDetail(Task):
    """A task with what it asks for and its placements."""

    command: list[str]
    environment: list[str]
    requires: dict[str, str]
    features: dict[str, float]
    auditable: bool
    placements: list[Placement]


class Submitted(BaseModel):
    """A task that was added."""

    uid: str
    name: str
    tenant: str
    state: str
    submitted: float
    version: int


class SubmittedTasks(BaseModel):
    """Tasks that were added."""

    tasks: list[Submitted]


class TaskPage(BaseModel):
    """Some tasks, the newest first."""

    items: list[Task]
    next_cursor: str | None


class TaskState(BaseModel):
    """A task's state after a change."""

    uid: str
    state: str


class Blocker(BaseModel):
    """A reason why a task was not placed, with its numbers."""

    code: str
    numbers: list[float]
    word: str
    text: str


class Why(BaseModel):
    """Why a task is where it is."""

    task: str
    state: str
    text: str
    round: int | None
    blockers: list[Blocker]


class Receipt(BaseModel):
    """Why an attempt of a task is on its cluster, and whether its result is believed.

    ``result`` is ``used``, ``audited``, ``disputed`` or ``quarantined``; null before there is one.
    ``audits`` are the states of its audits, ``audit_of`` the task whose result this one audits.
    """

    task: str
    attempt: int
    cluster: str
    round: int | None
    state: str
    receipt: dict[str, Any] | None
    result: str | None
    rejected: float | None
    reason: str | None
    audits: list[str]
    audit_of: str | None


class ResultAudit(BaseModel):
    """A result that is run again at another provider."""

    id: int
    task: str
    cluster: str
    provider: str
    audit_task: str | None
    auditor: str | None
    cause: str
    chance: float
    state: str
    why: str | None
    asked: float
    decided: float | None
    weight: str


class ResultAuditPage(BaseModel):
    """Some audits of results, the newest first."""

    items: list[ResultAudit]
    next_cursor: str | None


class LogEntry(BaseModel):
    """Something that happened to a task."""

    at: float
    what: str
    attempt: int | None
    cluster: str | None
    text: str


class TaskLog(BaseModel):
    """What happened to a task, and the end of what its last run printed."""

    task: str
    entries: list[LogEntry]
    output: str | None


class Cluster(BaseModel):
    """A cluster; ``free`` are the slots that no run or offer takes."""

    uid: str
    provider: str
    labels: dict[str, str]
    slots: int
    free: int
    price: float
    state: str
    heard: bool
    seen: float | None
    trusted: bool
    version: int


class ClusterPage(BaseModel):
    """Some clusters."""

    items: list[Cluster]
    next_cursor: str | None


class Provider(BaseModel):
    """A provider: its confirmed work, and the share of a round that this gives it."""

    provider: str
    clusters: list[str]
    trusted: bool = Field(description="All of its clusters are trusted: no cap holds for them.")
    confirmed: float = Field(description="Slot-seconds confirmed in the last 20 rounds.")
    share: float | None = Field(description="Of the confirmed work of those that are up.")
    cap: float | None = Field(
        description="Share of a round's tasks that it may get, and one task more."
    )


class ProviderList(BaseModel):
    """All providers."""

    items: list[Provider]


class Agent(BaseModel):
    """An agent that is registered, and how long its leases last."""

    uid: str
    cluster: str
    incarnation: int
    lease_seconds: float
    grace_seconds: float
    kill_seconds: float
    sync_seconds: float


class Grant(BaseModel):
    """A run to start."""

    placement: int
    token: int
    task: str
    slots: int
    time_limit: float | None
    spec: dict[str, Any]


class Stop(BaseModel):
    """A run to end."""

    placement: int
    token: int
    reason: str


class Ack(BaseModel):
    """A result that need not be sent again."""

    placement: int
    token: int
    word: str


class SyncAnswer(BaseModel):
    """What an agent is to do."""

    run: list[Grant]
    stop: list[Stop]
    ack: list[Ack]
    lease_seconds: float


class Round(BaseModel):
    """A round; numbers are null where it has none.

    ``mean_success`` is the mean predicted chance of success of the tasks that it placed.
    """

    seq: int
    state: str
    started: float
    ended: float | None
    policy: dict[str, Any]
    seed: int
    predictor: str | None
    method: str | None
    makespan: float | None
    bound: float | None
    gap: float | None
    mean_success: float | None
    counts: dict[str, Any]
    why: str | None
    regret: dict[str, Any] | None
    snapshot_hash: str | None


class RoundPage(BaseModel):
    """Some rounds, the newest first."""

    items: list[Round]
    next_cursor: str | None


class RoundPlacement(BaseModel):
    """Where a round placed a task, and what became of it; ``predicted`` are seconds."""

    task: str
    name: str
    tenant: str
    cluster: str
    slots: int
    state: str
    outcome: str | None
    granted: float | None
    started: float | None
    ended: float | None
    predicted: float | None


class RoundDetail(Round):
    """A round with its placements, a page of them, and what kept other tasks from being placed.

    ``blockers`` has, by code, how many tasks.
    """

    blockers: dict[str, int]
    placements: list[RoundPlacement]
    next_cursor: str | None


class Move(BaseModel):
    """A task that two rounds placed differently; null where one did not place it."""

    task: str
    name: str = ""
    before: str | None
    after: str | None


class RoundDiff(BaseModel):
    """What differs between two rounds."""

    seq: int
    other: int
    figures: dict[str, list[float | None]]
    moves: list[Move]
    more: int


class WhatIf(BaseModel):
    """A round that was played and not published."""

    figures: dict[str, float | None]
    state: str
    placed: int
    unplaced: int
    clusters: dict[str, int]
    moves: list[Move]
    more: int
    blockers: dict[str, int]


class Job(BaseModel):
    """Work in the background."""

    id: int
    kind: str
    key: str
    state: str
    run_at: float
    attempts: int
    result: dict[str, Any] | None


class Predictor(BaseModel):
    """A predictor."""

    version: int
    state: str
    sha256: str
    clusters: list[str]
    trained_to: int
    scores: dict[str, Any]
    created: float
    decided: float | None


class PredictorPage(BaseModel):
    """Predictors, the newest first."""

    items: list[Predictor]
    next_cursor: str | None


class PredictorState(BaseModel):
    """A predictor's state after a change."""

    version: int
    state: str


class Run(BaseModel):
    """A run that has ended: what was predicted of it, and what was measured.

    ``seconds`` are those that predictors learn from, null where it counts for success alone.
    Predictions are null where the run came from elsewhere.
    """

    id: int
    task: str
    cluster: str
    round: int | None
    outcome: str
    at: float
    seconds: float | None
    seconds_measured: float
    weight: str
    predicted: float | None
    seconds_interval: list[float | None] | None
    chance: float | None
    chance_interval: list[float] | None
    runner_up: str | None
    runner_up_seconds: float | None
    predictor: str | None


class RunPage(BaseModel):
    """Some runs that have ended, the newest first."""

    items: list[Run]
    next_cursor: str | None


class Prediction(BaseModel):
    """Time and chance of success of a task on a cluster, with intervals.

    ``known`` says whether the predictor has learned from runs on the cluster; the numbers are a
    prior where it has not. An interval without an upper end has null.
    """

    cluster: str
    known: bool
    seconds: float
    seconds_low: float
    seconds_high: float | None
    chance: float
    chance_low: float
    chance_high: float


class Predictions(BaseModel):
    """A task on several clusters, in the order in which they were asked for."""

    predictor: str
    items: list[Prediction]


class Imported(BaseModel):
    """How many observations were added."""

    imported: int


class Token(BaseModel):
    """A token, without the token."""

    uid: str
    name: str
    prefix: str
    tenant: str | None
    scopes: list[str]
    created: float
    expires: float | None
    revoked: float | None


class NewToken(Token):
    """A token that was created; it is shown once."""

    token: str


class TokenPage(BaseModel):
    """Some tokens."""

    items: list[Token]
    next_cursor: str | None


class Login(BaseModel):
    """A path that signs a browser in, once, until a time."""

    path: str
    expires: float


class LoginEnd(BaseModel):
    """Whether a session was ended."""

    ended: bool


class Tenant(BaseModel):
    """A tenant; shares are of the slot-seconds of the last hours."""

    name: str
    weight: float
    quota_slots: int | None
    share: float
    owed: float
    slots_used: int
    pending: int


class TenantPage(BaseModel):
    """Some tenants."""

    items: list[Tenant]
    next_cursor: str | None


class AuditEntry(BaseModel):
    """Who did what; each entry holds the hash of the one before."""

    id: int
    at: float
    actor: str
    action: str
    subject: str
    data: dict[str, Any]
    previous: str
    hash: str


class AuditPage(BaseModel):
    """Some entries, the oldest first."""

    items: list[AuditEntry]
    next_cursor: str | None


class AgentState(BaseModel):
    """An agent, and when it was last heard."""

    uid: str
    cluster: str
    backend: str
    fences: bool
    free: int
    seen: float | None
    heard: bool


class Status(BaseModel):
    """What the service is doing; ``store`` are figures of its database."""

    version: str
    now: float
    database: str
    store: dict[str, float]
    tasks: dict[str, int]
    jobs: dict[str, int]
    streams: int
    agents: list[AgentState]
    backup: float | None


class Health(BaseModel):
    """Whether the service lives, and what keeps it from being ready."""

    status: str
    reasons: list[str] = []
    version: str
