"""What the service answers about rounds of a cluster that it solves."""

from __future__ import annotations

from pydantic import BaseModel, Field

Points = list[tuple[float, float | None, float | None]]


class AllocationWhy(BaseModel):
    """Why a round was refused or failed."""

    what: str
    where: str = ""
    allowed: str = ""
    remedy: str = ""


class AllocationItem(BaseModel):
    """A round: what was asked, and how far it is."""

    uid: str
    by: str
    started: float
    seconds: float
    state: str = Field(description="running, done, refused, failed or cancelled.")
    share: float
    note: str = Field(description="states, solves or highs; empty once it has ended.")
    why: AllocationWhy | None
    name: str
    uploaded: bool
    jobs: int | None = Field(description="Of a drawn round: its jobs.")
    resources: int | None
    seed: int | None
    objective: str
    normalise: str
    tolerance: float
    limit: float = Field(description="Seconds that each solve may take.")
    highs: bool


class AllocationList(BaseModel):
    """The newest rounds that the service keeps."""

    items: list[AllocationItem]


class OurSolve(BaseModel):
    """The solve of Walras; ``points`` are seconds, value and bound."""

    points: Points
    status: str | None = None
    engine: str | None = None
    seconds: float | None = None
    value: float | None = None
    bound: float | None = None
    gap: float | None = None


class HighsSolve(BaseModel):
    """HiGHS' interior point with crossover; ``points`` are seconds, value and bound."""

    points: Points
    status: str | None = None
    seconds: float | None = None
    value: float | None = None


class ResourcePrice(BaseModel):
    """A resource type, how much of it is used, and what one more would add to the objective."""

    resource: str
    capacity: float
    used: float
    price: float | None


class AllocationResult(BaseModel):
    """What was found, so far while it runs."""

    title: str
    source: str = Field(description="Where the round is from; drawn ones say so.")
    jobs: int
    resources: int
    ours: OurSolve
    highs: HighsSolve | None
    highs_note: str = Field(default="", description="Why HiGHS did not solve it.")
    violation: float | None = Field(
        default=None, description="Largest violation of a limit, by an evaluation of its own."
    )
    least: float | None = Field(default=None, description="Least throughput by weight.")
    mean: float | None = Field(default=None, description="Mean throughput.")
    prices: list[ResourcePrice] = []


class Allocation(AllocationItem):
    """A round with its result."""

    result: AllocationResult | None


class AllocationJob(BaseModel):
    """A job: its shares of time by type, and its throughput."""

    job: str
    size: float
    weight: float
    throughput: float
    shares: dict[str, float]


class AllocationJobs(BaseModel):
    """A page of jobs, the worst off first."""

    items: list[AllocationJob]
    total: int = Field(description="Jobs whose name holds what was asked for.")


class JobChoice(BaseModel):
    """A type that a job could use: what a unit of time brings there, and what it costs."""

    resource: str
    amount: float
    benefit: float | None
    cost: float | None
    misses_by: float | None = Field(description="Cost less benefit, of the benefit.")
    used: bool


class AllocationExplained(AllocationJob):
    """Why a job got what it got."""

    words: str
    price: float | None
    choices: list[JobChoice]
