"""Recipes as instances: which tasks and clusters predictors are trained and judged on."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from walras.predict import Recipe

DEVICES = (
    "titan_rtx_1", "gold_6226", "pixel3", "2080ti_1", "silver_4210r", "essential_ph_1",
    "titanxp_1", "gold_6240", "raspi4",
)  # fmt: skip
"""All devices of the four settings."""


@dataclass(frozen=True)
class RecipeSpec:
    """Complete name of a recipe and of the rounds drawn from it.

    Attributes:
        recipe: ``nb201``, ``gavel`` or ``zeus``.
        clusters: A setting, ``devices`` for all of the settings', or ``all`` of the recipe's.
        train: Tasks to train on.
        tasks: Tasks in a round.
        seeds: Splits; figures are means over them.
    """

    recipe: str
    clusters: str
    train: int
    tasks: int = 5
    seeds: int = 10
    seed: int = 0
    churn: float = 0.0

    @property
    def name(self) -> str:
        """Short name for files and tables."""
        return f"{self.recipe}-{self.clusters}-train{self.train}-n{self.tasks}"

    @property
    def previous(self) -> RecipeSpec:
        """Recipes have none before them."""
        return self

    def load(self, seed: int) -> Recipe:
        """The recipe with one of its splits."""
        from walras import predict  # where peers run that need only NumPy, it is not installed

        chosen: tuple[str, ...] | str | None = self.clusters
        if chosen in ("devices", "all"):
            chosen = DEVICES if chosen == "devices" else None
        return predict.recipe(self.recipe, clusters=chosen, train_tasks=self.train, seed=seed)


@dataclass(frozen=True, eq=False)
class RecipeInstance:
    """What the runner hands to a method: the spec itself, as the data are read there.

    Attributes:
        spec: The recipe.
        source: Where the numbers come from, in words.
        shape: (clusters, tasks of a round).
        previous: None; for the runner.
    """

    spec: RecipeSpec
    source: str
    shape: tuple[int, int]
    previous: None = None

    @property
    def entries(self) -> int:
        """Numbers of a round."""
        return self.shape[0] * self.shape[1]

    @property
    def load(self) -> float:
        """Tasks a cluster."""
        return self.shape[1] / self.shape[0]

    def corner(self) -> RecipeInstance:
        """One split of few tasks, which loads libraries and compiles kernels."""
        few = {"seeds": 1, "train": min(self.spec.train, 40)}
        return RecipeInstance(RecipeSpec(**(asdict(self.spec) | few)), self.source, self.shape)

    def save(self, path: Path) -> None:
        """Write it to an ``.npz`` file."""
        fields: dict[str, Any] = {f"spec_{k}": np.array(v) for k, v in asdict(self.spec).items()}
        np.savez(path, source=np.array(self.source), shape=np.array(self.shape), **fields)

    @staticmethod
    def read(path: Path) -> RecipeInstance:
        """Read what :meth:`save` wrote."""
        with np.load(path) as stored:
            fields = {
                name.removeprefix("spec_"): stored[name].item()
                for name in stored.files
                if name.startswith("spec_")
            }
            m, n = stored["shape"].tolist()
            return RecipeInstance(RecipeSpec(**fields), str(stored["source"]), (m, n))


def build_recipe(spec: RecipeSpec) -> RecipeInstance:
    """The instance of a spec."""
    made = spec.load(spec.seed)
    return RecipeInstance(spec, f"{made.name} ({made.source})", (len(made.clusters), spec.tasks))
