"""Drawn digits can be told apart."""

from __future__ import annotations

import numpy as np

from walras import data


def test_the_stand_in_has_ten_digits_that_can_be_told_apart() -> None:
    digits = data.load("mnist", synthetic=True)
    x, t = digits.train_images.astype(float), digits.train_labels
    means = np.array([x[t == digit].mean(axis=0) for digit in range(10)])
    nearest = ((digits.test_images[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    assert (nearest == digits.test_labels).mean() > 0.9
