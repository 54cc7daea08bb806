"""What callers send about networks in virtual time."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from walras.exchange.api.models import WHOLE, Body

Centre = Annotated[int, Field(ge=0, le=39), WHOLE]
Rate = Annotated[float, Field(ge=0.0, le=0.9)]
Amount = Annotated[float, Field(ge=0.0, le=1e9)]
Churn = Annotated[float, Field(ge=0.0, le=100.0)]
Delay = Annotated[int, Field(ge=0, le=20), WHOLE]


class NetworkIn(Body):
    """A sample of centres that share CPU; what is left out is chosen."""

    centres: Annotated[int, Field(ge=2, le=40), WHOLE] = Field(
        default=20, description="Number of centres."
    )
    graph: Literal["small_world", "erdos_renyi", "ring", "grid"] = Field(
        default="small_world", description="Who talks to whom; a grid is as square as can be."
    )
    p: Annotated[float, Field(ge=0.0, le=1.0)] | None = Field(
        default=None,
        description="Chance of a link (erdos_renyi), or that one is rewired (small_world).",
    )
    k: Annotated[int, Field(ge=2, le=38), WHOLE] | None = Field(
        default=None, description="Neighbours before rewiring (small_world), an even number."
    )
    cpu: Literal["quadratic", "throughput"] = Field(
        default="quadratic", description="Costs: parabolas with drawn demands, or epoch times."
    )
    low: Amount | None = Field(default=None, description="Least share of a centre.")
    high: Amount | None = Field(default=None, description="Largest share of a centre.")
    budget: Annotated[float, Field(gt=0.0, le=1e9)] | None = Field(
        default=None, description="Sum of all shares."
    )
    learns: bool = Field(default=True, description="Whether the centres train one model, too.")
    loss: Rate = Field(default=0.0, description="Chance that a message is lost.")
    duplication: Rate = Field(default=0.0, description="Chance that a message comes twice.")
    delay: Delay = Field(default=0, description="Rounds that a message may be late, at most.")
    churn: Churn = Field(default=0.0, description="Crashes in a thousand rounds, at random.")
    seed: Annotated[int, Field(ge=0, le=2**31 - 1), WHOLE] = Field(
        default=0, description="Seed of all that is drawn: the same seed, the same network."
    )


class StepIn(Body):
    """Rounds to make now."""

    rounds: Annotated[int, Field(ge=1, le=1000), WHOLE] = 1


class PaceIn(Body):
    """How a network goes on by itself."""

    speed: Annotated[float, Field(ge=0.1, le=1000.0)] = Field(
        default=20.0, description="Rounds a second, where the machine can."
    )
    rounds: Annotated[int, Field(ge=1, le=1_000_000), WHOLE] | None = Field(
        default=None, description="After how many it pauses."
    )


class LinksIn(Body):
    """Links, each by the numbers of its two ends."""

    links: list[Annotated[list[Centre], Field(min_length=2, max_length=2)]] = Field(
        min_length=1, max_length=800
    )


class CentreIn(Body):
    """A centre, by its number."""

    centre: Centre


class FaultsIn(Body):
    """Rates of faults from now on; those left out stay as they are."""

    loss: Rate | None = None
    duplication: Rate | None = None
    delay: Delay | None = None
    churn: Churn | None = None
