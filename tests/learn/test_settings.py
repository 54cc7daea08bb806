"""Settings of learning that cannot be used."""

from __future__ import annotations

from typing import Any

import pytest

from walras.errors import InputError
from walras.learn import LearnSettings
from walras.learn.settings import named

BAD: list[tuple[dict[str, Any], str]] = [
    ({"method": "mcfp"}, "setting method: is 'mcfp'.*mfcp-ad"),
    ({"model": "forest"}, "setting model: is 'forest'"),
    ({"model": "auto"}, "model: is 'auto'"),
    ({"margin": "some"}, "margin: is 'some'"),
    ({"method": "spo+"}, "objective='sum'"),
    ({"method": "mfcp-ad", "objective": "sum"}, "with objective='sum'"),
    ({"steps": 0}, "steps"),
    ({"learning_rate": float("nan")}, "learning_rate"),
    ({"rates": 1}, "unknown key 'rates'.*did you mean 'rate'"),
    ({"linear_loss": "no"}, "linear_loss: is 'no'"),
    ({"speedup": 0.6}, "speedup: is 0.6"),
    ({"seed": -1}, "seed: is -1"),
    ({"device": "quantum"}, "device: is 'quantum'"),
]


@pytest.mark.parametrize(("change", "words"), BAD, ids=str)
def test_bad_settings(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        LearnSettings().with_(**change)


def test_two_stage_training_takes_the_model_seed_and_epochs() -> None:
    own = LearnSettings(model="counts", members=3, epochs=7, seed=5, link="exp").training(
        loss="raw"
    )
    assert (own.model, own.method, own.members, own.epochs) == ("linear", "bagged", 3, 7)
    assert (own.seed, own.link, own.loss) == (5, "exp", "raw")


def test_a_method_has_defaults_of_its_own() -> None:
    assert named("spo+", 3).objective == "sum"
    assert (named("auto").model, named("auto").margin) == ("auto", "tuned")
    assert named("tsm", 3) == LearnSettings(method="tsm", seed=3)
