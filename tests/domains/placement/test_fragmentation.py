"""The mix of what may come."""

from __future__ import annotations

import numpy as np
import pandas as pd

from walras.domains.placement.fragmentation import mix_of_types
from walras.domains.placement.inputs import make_instance


def test_only_popular_types_count() -> None:
    tasks = pd.DataFrame({"cpu": [1.0] * 9 + [2.0], "gpus": [0.5] * 6 + [2] * 3 + [0]})
    instance = make_instance(pd.DataFrame({"cpu": [8.0], "gpus": [4]}), tasks)
    mix = mix_of_types(instance.types, instance.count)
    assert mix.weight.tolist() == [0.6, 0.3, 0.1]
    assert mix.amount.tolist() == [500, 1000, 0]
    assert mix.number.tolist() == [1, 2, 0]
    popular = mix_of_types(instance.types, instance.count, 0.9)
    assert np.allclose(popular.weight, [2 / 3, 1 / 3])
