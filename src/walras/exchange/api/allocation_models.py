"""What callers send about rounds of a cluster that the service solves."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from walras.exchange.api.models import WHOLE, Body

Table = Annotated[str, Field(min_length=1)]


class TablesIn(Body):
    """The CSV tables of ``walras solve cluster``, as text."""

    throughput: Table = Field(
        description="job, then a column a resource type: work a second.",
        examples=["job,v100,k80\nvision,40,10\nspeech,12,9\n"],
    )
    jobs: Table = Field(
        description="job, size[, weight].", examples=["job,size\nvision,1\nspeech,1\n"]
    )
    resources: Table = Field(
        description="resource, capacity.", examples=["resource,capacity\nv100,1\nk80,2\n"]
    )


class AllocationIn(Body):
    """A round of a cluster: drawn, or of tables; and what to aim at."""

    tables: TablesIn | None = Field(default=None, description="The round; drawn if left out.")
    jobs: Annotated[int, Field(ge=2, le=20_000), WHOLE] = Field(
        default=10_000, description="Of a drawn round: its jobs."
    )
    resources: Annotated[int, Field(ge=2, le=500), WHOLE] = Field(
        default=50, description="Of a drawn round: its resource types."
    )
    seed: Annotated[int, Field(ge=0, le=2**31 - 1), WHOLE] = Field(
        default=0, description="Of a drawn round: the same seed, the same round."
    )
    objective: Literal["max-min", "throughput", "proportional"] = Field(
        default="max-min", description="What to aim at."
    )
    normalise: Literal["none", "gpu", "share"] = Field(
        default="gpu", description="Unit of throughput: as given, average GPUs, equal shares."
    )
    tolerance: Annotated[float, Field(ge=1e-9, le=0.1)] = Field(
        default=1e-6, description="Relative gap at which the solve ends."
    )
    seconds: Annotated[float, Field(ge=1.0, le=120.0)] = Field(
        default=60.0, description="Limit of each of the two solves."
    )
    highs: bool = Field(default=True, description="Whether HiGHS solves it after that.")
    name: Annotated[str, Field(max_length=200)] = Field(default="", description="What to call it.")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.tables is None and self.jobs * self.resources > 2_000_000:
            raise ValueError("jobs times resources is more than 2,000,000")
        return self
