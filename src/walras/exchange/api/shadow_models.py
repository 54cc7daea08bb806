"""What callers send about comparisons in shadow mode."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from walras.exchange.api.models import WHOLE, Body, few

Name = Annotated[str, Field(min_length=1, max_length=200)]
Slots = Annotated[int, Field(ge=1, le=10_000_000), WHOLE]
Price = Annotated[float, Field(ge=0.0, le=1e9)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]


class ShadowIn(Body):
    """A scheduler's log and how to compare; what is left out is as ``walras shadow`` has it."""

    log: str = Field(min_length=1, description="Text of the log.")
    scheduler: Literal["slurm", "kueue", "csv"] = Field(
        description="slurm: text of sacct -P, or its JSON; kueue: workloads and events as JSON."
    )
    name: Annotated[str, Field(max_length=200)] = Field(
        default="", description="What to call the log.", examples=["jobs.txt"]
    )
    cluster: Name = Field(
        default="Partition", description="Of Slurm: the field that names where a job ran."
    )
    slots_by: Annotated[str, Field(max_length=200)] = Field(
        default="", description="Of Slurm: the field of a job's slots; AllocCPUS if empty."
    )
    slots: Annotated[dict[Name, Slots], few(64)] = Field(
        default={}, max_length=64, description="Slots of clusters; else the most in use at once."
    )
    prices: Annotated[dict[Name, Price], few(64)] = Field(
        default={}, max_length=64, description="Price of a slot-hour, by cluster; 1 if left out."
    )
    train: Annotated[float, Field(gt=0.0, lt=1.0)] = Field(
        default=0.5, description="Share of the days to learn from."
    )
    min_success: Share = Field(default=0.8, description="Least mean chance of success of a round.")
    only_seen: bool = Field(
        default=False, description="Whether jobs go only to clusters where their kind has run."
    )
    least_overlap: Share = Field(
        default=0.5, description="Least share of moved jobs of whose kind five ran there."
    )
    resamples: Annotated[int, Field(ge=20, le=2000), WHOLE] = Field(
        default=400, description="How often days are drawn again for the intervals."
    )
    level: Annotated[float, Field(gt=0.0, lt=1.0)] = Field(
        default=0.9, description="Probability that an interval holds."
    )
    seed: Annotated[int, Field(ge=0, le=2**31 - 1), WHOLE] = Field(
        default=0, description="Of rounds and draws: the same seed, the same report."
    )
