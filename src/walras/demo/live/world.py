"""Three clusters as they were measured: how long each network takes there, how often it fails."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from walras import predict
from walras.predict import Recipe, Tasks

SETTING = "A"
PAST = 200  # networks that have run before, on every cluster
SCALE = 4.0  # a measured time is made so much shorter


@dataclass(frozen=True, eq=False)
class World:
    """Networks, and three clusters on which they were measured.

    Attributes:
        recipe: Where the numbers come from.
        seed: Draws past outcomes and the networks that arrive.
    """

    recipe: Recipe
    seed: int

    @classmethod
    def load(cls, seed: int) -> World:
        """The measured numbers, or labelled synthetic ones where no data are found."""
        made = predict.recipe(
            "nb201", clusters=SETTING, train_tasks=PAST, validation_tasks=100, seed=seed
        )
        return cls(made, seed)

    @cached_property
    def clusters(self) -> tuple[str, ...]:
        """Names of the clusters, as the exchange spells names."""
        return tuple(name.replace("_", "-") for name in self.recipe.clusters)

    @property
    def source(self) -> str:
        """What the numbers are, in words."""
        kind = "synthetic" if self.recipe.synthetic else "measured"
        return f"{kind} ({self.recipe.measured}), {SCALE:g} times as fast; failures composed"

    def features(self, tasks: Tasks, j: int) -> dict[str, float]:
        """What is known of a network before it runs."""
        row = enumerate(tasks.features[j].tolist())
        return {f"f{k:02d}": float(value) for k, value in row}

    def write(self, cluster: str, folder: Path) -> None:
        """Tell the runs of an agent what its cluster is like."""
        i, tasks = self.clusters.index(cluster), self.recipe.test
        known = {
            name: [float(tasks.times[i, j]) / SCALE, float(tasks.success[i, j])]
            for j, name in enumerate(tasks.names)
        }
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cluster.json").write_text(json.dumps({"networks": known}), encoding="utf-8")

    def history(self, now: float) -> list[dict[str, Any]]:
        """Runs of before: each past network once on each cluster, as the API takes them."""
        draw, tasks, found = random.Random(self.seed), self.recipe.train, []
        for j in range(len(tasks)):
            for i, cluster in enumerate(self.clusters):
                good = draw.random() < tasks.success[i, j]
                found.append(
                    {
                        "cluster": cluster,
                        "features": self.features(tasks, j),
                        "outcome": "completed" if good else "failed",
                        "seconds": float(tasks.times[i, j]) / SCALE * (1.0 if good else 0.5),
                        "at": now - 3600.0,
                    }
                )
        return found

    def knows(self, network: str) -> bool:
        """Whether a network is one of those that may arrive."""
        return network in self._places

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: j for j, name in enumerate(self.recipe.test.names)}

    def truth(self, networks: list[str]) -> tuple[Any, Any]:
        """(M, N) seconds and chances of networks on the clusters, as measured."""
        chosen = np.array([self._places[name] for name in networks], np.int64)
        return self.recipe.test.times[:, chosen] / SCALE, self.recipe.test.success[:, chosen]

    def averages(self) -> Any:
        """(M,) mean seconds of past networks on each cluster."""
        return self.recipe.train.mean_times() / SCALE
