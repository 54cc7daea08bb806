"""What both learners begin with, and how their guard shortens the step."""

from __future__ import annotations

import numpy as np
from tests.network.instances import learning, net

from walras import network as wn
from walras.network.methods.interfaces import Setting
from walras.network.methods.tracker_state import Surpluses


def first(*, guard: bool) -> Surpluses:
    return Surpluses(Setting(learning(), net(), wn.Ideal(), None, 0, None), 0.5, guard=guard)


def test_all_centres_begin_at_one_model_with_surpluses_that_sum_to_nothing() -> None:
    state = first(guard=True)
    assert state.models.shape[0] == 20
    assert np.all(state.models == state.models[0])
    assert state.tracking_error == 0.0
    state._surplus[3] += 2.0
    assert state.tracking_error == 2.0


def test_a_residual_that_grew_tenfold_halves_the_step_unless_nobody_watches() -> None:
    for guard, halved in ((True, [2]), (False, [])):
        state = first(guard=guard)
        for number, size in enumerate((1.0, 2.0, 20.0)):
            state._watch(number, np.full_like(state.models, size))
        assert state.halvings == halved
        assert state.step_size == (0.25 if halved else 0.5)
