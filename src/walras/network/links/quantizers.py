"""Codes of messages, counted in bits: 64-bit numbers, uniform codes, or logarithmic codes.

Source of the logarithmic quantiser: Doostmohammadian, Gabidullina and Rabiee, arXiv 2510.25176,
equation 33, with rounding to the nearest exponent (floor would break the sector around 1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from walras import checks
from walras.errors import InputError
from walras.types import Floats, Longs

Mode = Literal["value", "difference", "innovation"]
"""What is coded: a value, the difference of both ends (neither end knows it: for study only), or
what is new since the last message."""

Real = TypeVar("Real", bound=np.floating)
_DOUBLE = 64  # bits of an uncoded number
_HEADER = 16  # bits of a message's scale, an exponent with a sign
_FARTHEST = 2**14 - 1  # largest exponent, of either sign
_NONE = -1e6  # the exponent of zero


class Links(Protocol):
    """The interface of every kind of link."""

    @property
    def mode(self) -> Mode:
        """The coded quantity."""

    @property
    def sector(self) -> float:
        """Upper bound of decoded over coded value; 1 if values stay unchanged."""

    def quantise(self, u: npt.NDArray[Real]) -> npt.NDArray[Real]:
        """The values that receivers decode from messages ``u`` (..., scalars), one a row."""

    def bits(self, scalars: int) -> int:
        """Bits of a message with so many scalars."""


@dataclass(frozen=True)
class Ideal:
    """Links that carry 64-bit numbers.

    Attributes:
        mode: The coded quantity: the values themselves.
        sector: Upper bound of decoded over coded
        value: 1.

    Example:
        >>> import numpy as np
        >>> from walras.network import Ideal
        >>> Ideal().quantise(np.array([0.1, 0.2])), Ideal().bits(scalars=2)
        (array([0.1, 0.2]), 128)
    """

    mode: Mode = "value"
    sector: float = 1.0

    def quantise(self, u: npt.NDArray[Real]) -> npt.NDArray[Real]:
        """Return ``u`` unchanged.

        Args:
            u: (..., scalars) messages, one a row.

        Returns:
            The same array.
        """
        return u

    def bits(self, scalars: int) -> int:
        """64 bits for each scalar.

        Args:
            scalars: Number of scalars in a message.

        Returns:
            Bits of the message.
        """
        return _DOUBLE * scalars


@dataclass(frozen=True)
class UniformQuantizer:
    """Values rounded to multiples of ``step``; this leaves a bias of that order.

    Source: arXiv 2510.25176, the comparison in its section on logarithms.

    Attributes:
        step: Distance between codes, in the values' unit, > 0.
        width: Bits for each scalar, 2..32. Values beyond :attr:`reach` saturate, which a run
            refuses.
        mode: What is coded: the values themselves.
        sector: Upper bound of decoded over coded value, without rounding: 1.

    Raises:
        InputError: The step is not positive, or the width not in 2..32.

    Example:
        >>> import numpy as np
        >>> from walras.network import UniformQuantizer
        >>> coarse = UniformQuantizer(step=0.25, width=8)
        >>> coarse.quantise(np.array([0.1, 0.2, -0.9])), coarse.reach
        (array([ 0.  ,  0.25, -1.  ]), 31.75)
    """

    step: float
    width: int = 16
    mode: Mode = "value"
    sector: float = 1.0

    def __post_init__(self) -> None:
        checks.number(self.step, "UniformQuantizer.step", above=0.0)
        checks.setting(
            self, "width", 2, 32, integer=True, words=" bits", where="UniformQuantizer.width"
        )

    @property
    def reach(self) -> float:
        """The largest value with a code: step (2^(width - 1) - 1)."""
        return float(self.step * (2 ** (self.width - 1) - 1))

    def quantise(self, u: npt.NDArray[Real]) -> npt.NDArray[Real]:
        """step x [u / step], saturated.

        Args:
            u: (..., scalars) messages, one a row.

        Returns:
            The decoded messages, shaped as ``u``.
        """
        last = 2 ** (self.width - 1) - 1
        codes = np.clip(np.rint(u / self.step), -last, last)
        rounded: npt.NDArray[Real] = (codes * self.step).astype(u.dtype)
        return rounded

    def bits(self, scalars: int) -> int:
        """``width`` bits for each scalar.

        Args:
            scalars: Number of scalars in a message.

        Returns:
            Bits of the message.
        """
        return self.width * scalars


def sent(links: Links, values: npt.NDArray[Real]) -> npt.NDArray[Real]:
    """The values that receivers decode; innovations take several messages.

    Raises:
        InputError: A value is beyond the codes' range, so receivers would never get it.
    """
    reach = float(getattr(links, "reach", math.inf)) * (1.0 + 1e-12)
    size = np.abs(values)
    if (size > reach).any():
        raise InputError(
            f"saturates: a message is {float(values.ravel()[size.argmax()]):.6g}",
            where=f"links, {type(links).__name__}",
            allowed=f"within +-{reach:g}",
            remedy="a larger step or width, or LogQuantizer, whose range has no end",
        )
    return links.quantise(values)


class Code(NamedTuple):
    """A message as it is sent.

    Attributes:
        scale: Largest exponent in the message, 16 bits.
        digits: (scalars,) 0 for zero, else sign times one plus the distance below the scale.
    """

    scale: int
    digits: Longs


@dataclass(frozen=True)
class LogQuantizer:
    """Signs and rounded logarithms: q(u) = sgn(u) exp(rho [log|u| / rho]).

    exp(-rho / 2) <= q(u) / u <= exp(rho / 2), tight. A message carries its largest exponent in 16
    bits, and ``width`` bits for each scalar (a single scalar: 16 bits in all). A value more than
    2^(width - 1) - 2 exponents below the largest counts as zero; innovation coding sends it in a
    later message.

    Source: arXiv 2510.25176, equation 33.

    Attributes:
        rho: Distance between neighbouring levels' logarithms, 0.03 <= rho < 2 ln 2.
        mode: ``innovation`` converges exactly; ``value`` (the paper's reading) only to within a
            factor exp(rho); ``difference`` exactly, but no real link can carry it.
        width: Bits a scalar, 2..16.

    Raises:
        InputError: rho, mode or width is out of range.

    Example:
        >>> import numpy as np
        >>> from walras.network import LogQuantizer
        >>> log = LogQuantizer(rho=0.5)
        >>> log.quantise(np.array([1.0, 0.5, -0.3])).round(3)
        array([ 1.   ,  0.607, -0.368])
        >>> log.bits(scalars=3), round(log.sector, 3)
        (40, 1.284)
    """

    rho: float
    mode: Mode = "innovation"
    width: int = 8

    def __post_init__(self) -> None:
        words = " (2 ln 2): beyond, an innovation's error exceeds itself"
        checks.number(self.rho, "LogQuantizer.rho", 0.03, below=2.0 * math.log(2.0), words=words)
        checks.one_of(self.mode, "LogQuantizer.mode", ("value", "difference", "innovation"))
        checks.setting(
            self, "width", 2, 16, integer=True, words=" bits", where="LogQuantizer.width"
        )

    @property
    def sector(self) -> float:
        """exp(rho / 2)."""
        return math.exp(self.rho / 2.0)

    @property
    def digits(self) -> int:
        """Number of exponents, of either sign, that a scalar can distinguish."""
        return int(2 ** (self.width - 1) - 1)

    def bits(self, scalars: int) -> int:
        """16 bits for the scale and ``width`` bits for each scalar; 16 in all for one scalar.

        Args:
            scalars: Number of scalars in a message.

        Returns:
            Bits of the message.
        """
        return _HEADER if scalars == 1 else _HEADER + self.width * scalars

    def quantise(self, u: npt.NDArray[Real]) -> npt.NDArray[Real]:
        """The values that receivers decode: :meth:`decode` of :meth:`encode`, for each row.

        Args:
            u: (..., scalars) messages, one a row.

        Returns:
            The decoded messages, shaped as ``u``.
        """
        exponent = self._exponents(u)
        scale = exponent.max(axis=-1, keepdims=True) if u.size else exponent
        kept = (exponent > _NONE) & (scale - exponent < self.digits)
        level = np.exp(self.rho * np.where(kept, exponent, 0.0))
        return np.where(kept, np.copysign(level, u), 0.0).astype(u.dtype)

    def encode(self, u: npt.NDArray[Real]) -> Code:
        """The message for the scalars ``u`` (scalars,).

        Args:
            u: (scalars,) one message.

        Returns:
            Its code.
        """
        exponent = self._exponents(u)
        scale = float(exponent.max()) if u.size else _NONE
        if scale == _NONE:
            return Code(0, np.zeros(u.shape, np.int64))
        below = scale - exponent
        distance = np.where(below < self.digits, below + 1.0, 0.0).astype(np.int64)
        return Code(int(scale), np.where(u < 0, -distance, distance))

    def decode(self, code: Code) -> Floats:
        """The scalars of a message.

        Args:
            code: A message's code.

        Returns:
            (scalars,) the decoded scalars.
        """
        distance = np.abs(code.digits)
        exponent = np.where(distance > 0, code.scale - distance + 1, 0).astype(np.float64)
        level = np.exp(self.rho * exponent)
        return np.where(distance > 0, np.copysign(level, code.digits), 0.0)

    def _exponents(self, u: npt.NDArray[Real]) -> Floats:
        """[log|u| / rho]; very low for zero and for values too small to have an exponent."""
        size = np.abs(u).astype(np.float64)
        some = size > math.exp(max(-_FARTHEST * self.rho, -744.0))
        exponent = np.rint(np.log(np.where(some, size, 1.0)) / self.rho)
        return np.where(some, np.minimum(exponent, _FARTHEST), _NONE)
