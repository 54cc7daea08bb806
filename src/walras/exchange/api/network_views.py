"""What the service answers about networks in virtual time."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class NetworkCentre(BaseModel):
    """A centre: its share in its box, and the state of its present or last life."""

    centre: int
    x: float
    y: float
    state: str = Field(
        description="running, waiting (no lease), ended by the others; stopped, owed, settled."
    )
    life: int
    share: float
    held: float
    low: float | None
    high: float | None
    best: float | None = Field(description="Its share at the optimum of those with a lease.")
    price: float | None = Field(description="Its marginal cost.")


class NetworkLink(BaseModel):
    """A link and what was sent over it, both ways."""

    ends: list[int]
    state: str = Field(description="up, cut, or silent (an end is stopped).")
    messages: int
    lost: int
    bits: int


class NetworkAudit(BaseModel):
    """The balance of the budget, in whole quanta and in its unit."""

    difference: int = Field(description="Quanta of all holdings minus the budget; exactly 0.")
    surplus_difference: int = Field(description="The same of the model's surpluses, at most.")
    worst: int = Field(description="The largest difference at any round so far.")
    alarm: str = Field(description="What is wrong; empty while nothing is.")
    used: float
    idle: float
    in_flight: float
    owed: float = Field(description="Held by the dead until others take it over.")


class NetworkObjective(BaseModel):
    """How far shares and model are from the optimum of the centres with a lease."""

    cost: float | None
    best: float | None
    gap: float | None
    loss_gap: float | None
    consensus: float | None


class NetworkTraffic(BaseModel):
    """What was sent so far."""

    messages: int
    lost: int
    bits: int


class NetworkFaults(BaseModel):
    """Rates of faults now."""

    loss: float
    duplication: float
    delay: int
    churn: float


class NetworkNote(BaseModel):
    """What has to be known about the state."""

    code: str
    text: str


class NetworkEvent(BaseModel):
    """What happened after a round."""

    round: int
    what: str
    text: str


class NetworkRow(BaseModel):
    """The state after a round of the past."""

    round: int
    used: float
    idle: float
    in_flight: float
    owed: float
    audit: int
    gap: float | None
    loss_gap: float | None
    consensus: float | None
    bits: int
    lost: int
    leased: int


class Network(BaseModel):
    """A network in virtual time."""

    uid: str
    by: str
    state: str = Field(description="paused, running or failed.")
    why: str
    speed: float = Field(description="Rounds a second that were asked for.")
    pace: float = Field(description="Rounds a second that it makes.")
    sample: dict[str, Any]
    round: int
    budget: float
    unit: float = Field(description="One quantum, the unit in which shares are counted.")
    majority: int
    lease: int = Field(description="Rounds that a lease lasts.")
    learns: bool
    centres: list[NetworkCentre]
    links: list[NetworkLink]
    audit: NetworkAudit
    objective: NetworkObjective
    traffic: NetworkTraffic
    faults: NetworkFaults
    notes: list[NetworkNote]
    events: list[NetworkEvent]
    history: list[NetworkRow]
    scenario: dict[str, Any] = Field(
        description="Tables of the file with which walras network simulate runs the same centres."
    )


class NetworkItem(BaseModel):
    """A network of a list."""

    uid: str
    by: str
    state: str
    why: str
    speed: float
    sample: dict[str, Any]
    round: int


class NetworkList(BaseModel):
    """All networks of the service, the newest first."""

    items: list[NetworkItem]


class NetworkEnd(BaseModel):
    """A network that has ended."""

    uid: str
    ended: bool
