"""What the service answers about comparisons in shadow mode."""

from __future__ import annotations

from pydantic import BaseModel, Field


class ShadowWhy(BaseModel):
    """Why a comparison was refused or failed."""

    what: str
    where: str = ""
    allowed: str = ""
    remedy: str = ""


class ShadowItem(BaseModel):
    """A comparison: what was asked, and how far it is."""

    uid: str
    by: str
    started: float
    seconds: float
    state: str = Field(description="running, done, refused, failed or cancelled.")
    share: float = Field(description="Share of the work that is done.")
    note: str = Field(description="What is being done; empty once it has ended.")
    why: ShadowWhy | None
    name: str
    scheduler: str
    bytes: int
    cluster: str
    slots_by: str
    slots: dict[str, int]
    prices: dict[str, float]
    train: float
    min_success: float
    only_seen: bool
    least_overlap: float
    resamples: int
    level: float
    seed: int


class ShadowList(BaseModel):
    """All comparisons that the caller sees."""

    items: list[ShadowItem]


class ShadowMeasure(BaseModel):
    """One measure: the log, the policy, the interval of the difference, the bound."""

    measure: str
    unit: str
    log: float | None
    policy: float | None
    difference: float | None = Field(description="Policy less log.")
    low: float | None
    high: float | None
    bound: float | None = Field(description="What no policy can go below.")
    most_saved: float | None = Field(description="The most that any policy could have saved.")


class ShadowCluster(BaseModel):
    """A cluster and the share of the jobs that ran there."""

    cluster: str
    slots: int
    share_log: float
    share_policy: float


class ShadowDay(BaseModel):
    """Means over the jobs of a day, by the log or by the policy."""

    day: int
    side: str
    jobs: int
    makespan: float | None
    waiting: float | None
    turnaround: float | None
    failures: float | None
    cost: float | None


class ShadowReport(BaseModel):
    """What was found."""

    status: str
    log: str
    rows_left_out: int
    learned_from: int
    jobs: int
    days: int
    load: float | None = Field(description="Slot-seconds submitted over those there are.")
    moved: float = Field(description="Share of the jobs that the policy ran elsewhere.")
    overlap: float = Field(description="Share of placements that rest on runs of the kind there.")
    moved_overlap: float | None
    level: float
    round_seconds: float
    rounds: int
    measures: list[ShadowMeasure]
    clusters: list[ShadowCluster]
    by_day: list[ShadowDay]
    sentences: list[str]
    meaning: dict[str, str]
    left_out: list[str] = Field(description="Why rows could not be used, the first of each.")


class Shadow(ShadowItem):
    """A comparison with its report, once it is done."""

    report: ShadowReport | None
