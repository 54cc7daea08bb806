"""Faults: lost, late and repeated messages, crashed centres, cuts of the network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from walras import checks
from walras.errors import InputError


@dataclass(frozen=True)
class Crash:
    """A centre that stops.

    Attributes:
        centre: Its number, from 0.
        step: The step at which it stops, with all its holdings.
        rejoin: The step at which it comes back without holdings; None for never.

    Example:
        >>> from walras.network import Crash, Faults
        >>> Faults(crashes=[Crash(2, step=100, rejoin=400)]).running(centres=5, step=200)
        4
    """

    centre: int
    step: int
    rejoin: int | None = None


@dataclass(frozen=True)
class Cut:
    """A period without messages between some centres and all others.

    Attributes:
        centres: Numbers of the centres on one side.
        step: The first step of the cut.
        until: The step at which messages pass again.

    Example:
        >>> from walras.network import Cut
        >>> cut = Cut(centres=(0, 1), step=100, until=200)
        >>> cut.parts(0, 3, step=150), cut.parts(0, 1, step=150)
        (True, False)
    """

    centres: tuple[int, ...]
    step: int
    until: int

    def parts(self, one: int, other: int, step: int) -> bool:
        """Whether the cut is between two centres at this step.

        Args:
            one: Number of a centre.
            other: Number of another.
            step: Number of the step.

        Returns:
            True where their messages do not pass.
        """
        return self.step <= step < self.until and (one in self.centres) != (other in self.centres)


@dataclass(frozen=True)
class Faults:
    """Rates of faults, equal and independent on every link and at every step.

    Attributes:
        loss: Probability that a message never arrives, 0 <= loss < 1.
        duplication: Probability that a message arrives twice, 0 <= duplication < 1.
        reordering: Probability that the next message overtakes a message, 0 <= reordering < 1.
        delay: Largest delay of a message in steps; delays are uniform on 0..delay.
        crashes: The crashes: ``{centre: step}``, or :class:`Crash` objects or tuples
            ``(centre, step)`` and ``(centre, step, rejoin)``.
        lease: Steps of silence after which the vectorised back end declares a centre dead, at least
            1. The protocol's leases are in its settings.
        cuts: The cuts of the network: :class:`Cut` objects or tuples ``(centres, step, until)``.

    Raises:
        InputError: A rate or a number is out of its range.

    Example:
        >>> from walras.network import Crash, Faults
        >>> faults = Faults(loss=0.2, crashes={3: 300})
        >>> faults.all_crashes
        (Crash(centre=3, step=300, rejoin=None),)
        >>> faults.any, round(faults.silence, 2)
        (True, 0.2)
    """

    loss: float = 0.0
    duplication: float = 0.0
    reordering: float = 0.0
    delay: int = 0
    crashes: Sequence[Crash | tuple[int, ...]] | Mapping[int, int] = ()
    lease: int = 20
    cuts: Sequence[Cut | tuple[Sequence[int], int, int]] = ()

    def __post_init__(self) -> None:
        for name in ("loss", "duplication", "reordering"):
            checks.number(getattr(self, name), f"faults.{name}", 0.0, below=1.0)
        checks.setting(self, "delay", 0, integer=True, where="faults.delay")
        checks.setting(self, "lease", 1, integer=True, where="faults.lease")
        given = self.crashes.items() if isinstance(self.crashes, Mapping) else self.crashes
        if not isinstance(given, Iterable):
            raise _out_of_range("crashes", given, "a list of crashes: (centre, step[, rejoin])")
        crashes = [_crash(k, entry) for k, entry in enumerate(given)]
        for k, crash in enumerate(crashes):
            if crash.rejoin is not None and crash.rejoin <= crash.step + self.lease:
                raise _out_of_range(
                    f"crashes[{k}].rejoin",
                    crash.rejoin,
                    f"later than step + lease = {crash.step + self.lease}",
                )
        object.__setattr__(self, "crashes", tuple(crashes))
        if not isinstance(self.cuts, Iterable):
            raise _out_of_range("cuts", self.cuts, "a list of cuts: (centres, step, until)")
        cuts = tuple(_cut(k, entry) for k, entry in enumerate(self.cuts))
        object.__setattr__(self, "cuts", cuts)

    @property
    def all_crashes(self) -> tuple[Crash, ...]:
        """The crashes as objects."""
        return tuple(self.crashes)  # type: ignore[arg-type]

    @property
    def all_cuts(self) -> tuple[Cut, ...]:
        """The cuts as objects."""
        return tuple(self.cuts)  # type: ignore[arg-type]

    @property
    def silence(self) -> float:
        """Probability that a message brings no news: it is lost, or the next one overtakes it.

        A repeated message brings no news either.
        """
        return 1.0 - (1.0 - self.loss) * (1.0 - self.reordering)

    @property
    def any(self) -> bool:
        """Whether any fault is possible."""
        rates = self.loss or self.duplication or self.reordering or self.delay
        return bool(rates or self.crashes or self.cuts)

    def running(self, centres: int, step: int) -> int:
        """Number of centres that run at a step.

        Args:
            centres: Number of centres.
            step: Number of the step.

        Returns:
            The number of running centres.
        """
        down = {
            crash.centre
            for crash in self.all_crashes
            if crash.step <= step and (crash.rejoin is None or step < crash.rejoin)
        }
        return centres - len(down)

    def check(self, centres: int) -> None:
        """Refuse crashes and cuts of centres that do not exist, and crashes of all centres.

        Args:
            centres: Number of centres.

        Raises:
            InputError: A crash names an unknown centre, or no centre would survive.
        """
        for k, crash in enumerate(self.all_crashes):
            if crash.centre >= centres:
                raise _out_of_range(f"crashes[{k}].centre", crash.centre, f"0..{centres - 1}")
        for k, cut in enumerate(self.all_cuts):
            if max(cut.centres) >= centres:
                raise _out_of_range(f"cuts[{k}].centres", max(cut.centres), f"0..{centres - 1}")
        if len({crash.centre for crash in self.all_crashes}) >= centres:
            raise InputError(
                "name every centre",
                where="crashes",
                allowed=f"at most {centres - 1} centres",
                remedy="let one centre survive",
            )


def _crash(k: int, entry: object) -> Crash:
    """Turn a given crash into an object."""
    where = f"faults.crashes[{k}]"
    if isinstance(entry, Crash):
        entry = (entry.centre, entry.step) + (() if entry.rejoin is None else (entry.rejoin,))
    if not isinstance(entry, tuple | list) or not 2 <= len(entry) <= 3:
        raise InputError(
            f"is {entry}",
            where=where,
            allowed="centre and step, or centre, step and rejoin",
            remedy="Crash(centre, step), or a tuple of these",
        )
    return Crash(*(checks.whole(value, where) for value in entry))


def _cut(k: int, entry: object) -> Cut:
    """Turn a given cut into an object."""
    where = f"faults.cuts[{k}]"
    if isinstance(entry, Cut):
        entry = (entry.centres, entry.step, entry.until)
    if (
        not isinstance(entry, tuple | list)
        or len(entry) != 3
        or not isinstance(entry[0], tuple | list)
        or not entry[0]
    ):
        raise InputError(
            f"is {entry}",
            where=where,
            allowed="the centres on one side, the first step, and the step after the last",
            remedy="Cut((0, 1), 100, 200), or a tuple of these",
        )
    centres = tuple(checks.whole(value, f"{where}.centres") for value in entry[0])
    step = checks.whole(entry[1], f"{where}.step")
    return Cut(centres, step, checks.whole(entry[2], f"{where}.until", step + 1))


def _out_of_range(name: str, value: object, allowed: str) -> InputError:
    return InputError(
        f"is {value}", where=f"faults.{name}", allowed=allowed, remedy="choose a value within"
    )
