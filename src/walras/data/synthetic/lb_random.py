"""A stand-in for the numbers of the load-balancing rounds: the generator they were drawn from.

    s <- (25214903917 s + 11) mod 2^48,   u = (s' >> 22) 2^-26 + (s'' >> 21) 2^-53

with two steps s', s'' a number: ``nextDouble`` of Java's ``Random``. ``FITTED`` holds the seed, as
printed by ``walras data fit lb_random``: found from the first number, whose 53 bits leave 22 bits
of the state open, by trying these.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras.data.lb_random import NAME, ROUNDS, RoundNumbers
from walras.errors import DataError

_FACTOR, _TERM, _BITS = 0x5DEECE66D, 0xB, 48
_MASK = (1 << _BITS) - 1


@dataclass(frozen=True)
class Model:
    """The parameter of the generator.

    Attributes:
        seed: Of ``Random``.
    """

    seed: int


FITTED = Model(seed=42)


def stand_in(seed: int, model: Model | None = None) -> RoundNumbers:
    """Draw numbers from the generator.

    Args:
        seed: Added to the model's; 0 gives the published numbers again.
        model: The fitted one when left out.
    """
    model = FITTED if model is None else model
    state = ((model.seed + seed) ^ _FACTOR) & _MASK
    numbers = np.empty(ROUNDS)
    for k in range(ROUNDS):
        first = (state * _FACTOR + _TERM) & _MASK
        state = (first * _FACTOR + _TERM) & _MASK
        numbers[k] = ((first >> 22) * 2**27 + (state >> 21)) / 2**53
    origin = f"{NAME} generator, seed {seed}: Random({model.seed + seed})"
    return RoundNumbers(numbers, "synthetic stand-in", origin)


def fit(data: RoundNumbers) -> Model:
    """The seed that gives the first number.

    Raises:
        DataError: No seed does: the numbers come from elsewhere.
    """
    bits = int(data.numbers[0] * 2**53)
    high, low = bits >> 27, bits & (2**27 - 1)
    first = np.uint64(high << 22) + np.arange(2**22, dtype=np.uint64)
    # Products wrap at 2^64, a multiple of 2^48.
    second = (first * np.uint64(_FACTOR) + np.uint64(_TERM)) & np.uint64(_MASK)
    hits = first[(second >> np.uint64(21)) == low]
    for hit in hits.tolist():
        seed = (((hit - _TERM) * pow(_FACTOR, -1, 1 << _BITS)) & _MASK) ^ _FACTOR
        if np.array_equal(stand_in(0, Model(seed)).numbers, data.numbers):
            return Model(seed)
    raise DataError(
        "were not drawn from Java's Random",
        where=f"data set {NAME}",
        allowed="the numbers of the pinned commit",
        remedy=f"walras data fetch {NAME}",
    )
