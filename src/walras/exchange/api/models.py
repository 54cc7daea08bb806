"""What callers send: every field with its range; fields that are not known are refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    JsonValue,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from walras.exchange.states import COUNTED, OUTCOMES

NAME = r"^[a-z0-9-]{1,63}$"
LARGEST = 1e11  # seconds since 1970: the year 5138
WORD = r"^[^\x00]*$"
_FIELDS = 64  # of a body: more than any has, known and unknown ones


def one_of(words: Iterable[str]) -> str:
    """A pattern that some words match and nothing else."""
    return f"^({'|'.join(words)})$"


def _whole(value: object) -> object:
    """JSON has one kind of number: 3.0 is a whole one."""
    if isinstance(value, float) and value.is_integer():  # how large it may be, its field says
        return int(value)
    return value


PROGRAM: dict[str, JsonValue] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 4096,
    "pattern": WORD,
}
WHOLE = BeforeValidator(_whole)


def few(most: int) -> BeforeValidator:
    """A mapping of few entries: they are counted before one of them is looked at.

    Each wrong entry costs an error; of a mapping of a million, they would cost seconds.
    """

    def counted(value: object) -> object:
        if isinstance(value, dict) and len(value) > most:
            raise PydanticCustomError(
                "too_many",
                "Has {count} entries",
                {"count": len(value), "expected": f"at most {most} entries"},
            )
        return value

    return BeforeValidator(counted)


Name = Annotated[str, Field(pattern=NAME)]
Text = Annotated[str, Field(pattern=WORD, max_length=4096)]
Time = Annotated[float, Field(ge=0.0, le=LARGEST, description="Seconds since 1970.")]
Seconds = Annotated[float, Field(gt=0.0, le=1e9)]
Chance = Annotated[float, Field(ge=0.0, le=1.0)]
Count = Annotated[int, Field(ge=0, le=2**53), WHOLE]
Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$")]
LabelValue = Annotated[str, Field(pattern=r"^[A-Za-z0-9._/:+-]{0,63}$")]
Labels = Annotated[dict[Label, LabelValue], Field(max_length=64), few(64)]
Feature = Annotated[float, Field(ge=-1e30, le=1e30)]
FeatureName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:/-]{1,63}$")]
Features = Annotated[dict[FeatureName, Feature], Field(max_length=256), few(256)]
Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]


OWNER: Any = Field(
    default=None, description="Whose it is; for tokens of no tenant. Else the token's."
)


class Body(BaseModel):
    """What every body shares: no unknown field, no number that is not finite, no coercion."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _has_few_fields(cls, given: Any) -> Any:
        if isinstance(given, dict) and len(given) > _FIELDS:
            raise PydanticCustomError(
                "too_many",
                "Has {count} fields",
                {"count": len(given), "expected": ", ".join(cls.model_fields)},
            )
        return given


class TaskItem(Body):
    """A task of a batch."""

    name: Name = Field(description="One a tenant.", examples=["train-7"])
    command: list[Text] = Field(
        min_length=1,
        max_length=256,
        description="Program and arguments.",
        examples=[["true"]],
        json_schema_extra={"prefixItems": [PROGRAM]},
    )
    features: Features = Field(default={}, description="What predictors read.")
    slots: Annotated[int, Field(ge=1, le=10_000), WHOLE] = Field(
        default=1, description="Slots it takes on a cluster."
    )
    priority: Annotated[int, Field(ge=-1000, le=1000), WHOLE] = Field(
        default=0, description="Higher goes first."
    )
    deadline: Time | None = Field(default=None, description="When it must have been placed.")
    min_success: Chance | None = Field(default=None, description="Least chance of success.")
    max_attempts: Annotated[int, Field(ge=1, le=100), WHOLE] = Field(
        default=3, description="Runs that may fail."
    )
    time_limit: Seconds | None = Field(default=None, description="Seconds that a run may take.")
    requires: Labels = Field(default={}, description="Labels that a cluster must have.")
    environment: Annotated[dict[Variable, Text], Field(max_length=256), few(256)] = Field(
        default={}, description="Variables of the command; never shown again."
    )
    auditable: bool = Field(
        default=False,
        description="Whether its work may be run again at another provider, to audit its result.",
    )

    @field_validator("command")
    @classmethod
    def _names_a_program(cls, command: list[str]) -> list[str]:
        if not command[0]:
            raise PydanticCustomError(
                "no_program", "The first word is empty", {"expected": "the name of a program"}
            )
        return command


class TaskIn(TaskItem):
    """A task."""

    tenant: Name | None = OWNER


class RejectIn(Body):
    """A result that its consumer does not take."""

    reason: Annotated[str, Field(pattern=WORD, min_length=1, max_length=1000)] = Field(
        description="What is wrong with it.", examples=["the file of weights is empty"]
    )


class TasksIn(Body):
    """Tasks of one tenant that are added together or not at all."""

    tasks: Annotated[list[TaskItem], FailFast()] = Field(min_length=1, max_length=500)
    tenant: Name | None = OWNER


class ClusterIn(Body):
    """What a cluster offers."""

    slots: Annotated[int, Field(ge=0, le=1_000_000), WHOLE] = Field(
        description="Tasks of one slot that run at once."
    )
    labels: Labels = Field(default={}, description="What a task may require.")
    price: float = Field(default=0.0, ge=0.0, le=1e12, description="Of a slot-hour.")
    provider: Name | None = Field(
        default=None, description="Who offers it; set by operators, when it is created."
    )
    trusted: bool | None = Field(
        default=None, description="Exempt from the bound on a provider's share; by operators."
    )


class AgentIn(Body):
    """An agent of a cluster."""

    uid: Name
    cluster: Name
    backend: Literal["local", "slurm", "kubernetes"] = "local"
    fences: bool = Field(
        default=True, description="Whether its runs end by themselves when their lease ends."
    )


class RunningIn(Body):
    """A run that is alive."""

    placement: Count
    token: Count
    started: Time | None = Field(
        default=0.0,
        description="When it began; null while it waits in the queue of the cluster's scheduler.",
    )


class FinishedIn(Body):
    """A run that has ended."""

    placement: Count
    token: Count
    outcome: Annotated[str, Field(pattern=one_of(OUTCOMES))]
    seconds: Annotated[float, Field(ge=0.0, le=1e9)] | None = None
    exit: Annotated[int, Field(ge=-(2**31), lt=2**31), WHOLE] | None = None
    log: Annotated[str, Field(pattern=WORD, max_length=65_536)] | None = None


class SyncIn(Body):
    """What an agent says: all that runs, and results that were not acknowledged."""

    incarnation: Count
    seq: Count
    free: Annotated[int, Field(ge=0, le=1_000_000), WHOLE]
    running: Annotated[list[RunningIn], FailFast()] = Field(default=[], max_length=5000)
    finished: Annotated[list[FinishedIn], FailFast()] = Field(default=[], max_length=5000)


class RunIn(Body):
    """A round that is asked for."""


class WhatIfIn(Body):
    """A round that is played, on the tasks and clusters of now or of a past round."""

    round: Annotated[int, Field(ge=1, le=2**53), WHOLE] | None = Field(
        default=None, description="A past round; the store's state now where it is not given."
    )
    seed: Annotated[int, Field(ge=0, lt=2**32), WHOLE] | None = None
    cordon: list[Name] = Field(
        default=[], max_length=1000, description="Clusters that get nothing new."
    )
    drain: list[Name] = Field(
        default=[], max_length=1000, description="Clusters that give their offers back, too."
    )
    slots: Annotated[
        dict[Name, Annotated[int, Field(ge=0, le=1_000_000), WHOLE]],
        Field(max_length=1000),
        few(1000),
    ] = Field(default={}, description="Cluster -> slots that it has.")
    min_success: Chance | None = Field(default=None, description="Another floor.")
    window: Annotated[float, Field(ge=0.0, le=1000.0)] | None = Field(
        default=None, description="Slots a plan may fill, as a multiple of the free ones."
    )


class TrainIn(Body):
    """A training that is asked for."""


class PromoteIn(Body):
    """A predictor to use from now on."""

    version: Annotated[int, Field(ge=1, le=2**53), WHOLE]


class PredictIn(Body):
    """A task that need not be submitted, and clusters to predict it on."""

    features: Features = Field(
        description="Of the task; more than the predictor reads may be given."
    )
    clusters: list[Name] = Field(min_length=1, max_length=200, description="In the answer's order.")


class ObservationIn(Body):
    """A run of a task that was not ours."""

    cluster: Name
    features: Features
    outcome: Annotated[str, Field(pattern=one_of(COUNTED))]
    seconds: Seconds
    at: Time
    slots: Annotated[int, Field(ge=1, le=10_000), WHOLE] = Field(default=1)


class ObservationsIn(Body):
    """Runs to learn from, added together or not at all."""

    observations: Annotated[list[ObservationIn], FailFast()] = Field(min_length=1, max_length=5000)


class TokenIn(Body):
    """A token to create."""

    name: Name
    scopes: list[
        Annotated[str, Field(pattern=r"^(read|submit|operate|admin|provider:[a-z0-9-]{1,63})$")]
    ] = Field(min_length=1, max_length=100)
    tenant: Name | None = Field(
        default=None, description="Whose tasks it sees; left out: everyone's."
    )
    seconds: Annotated[float, Field(ge=1.0, le=1e10)] | None = Field(
        default=None, description="How long it is valid; left out: until it is revoked."
    )


class TenantIn(Body):
    """A tenant."""

    name: Name
    weight: float = Field(default=1.0, gt=0.0, le=1e6, description="Its share, to the others'.")
    quota_slots: Annotated[int, Field(ge=0, le=10**9), WHOLE] | None = None


class TenantChange(Body):
    """What a tenant is owed."""

    weight: float = Field(default=1.0, gt=0.0, le=1e6)
    quota_slots: Annotated[int, Field(ge=0, le=10**9), WHOLE] | None = None
