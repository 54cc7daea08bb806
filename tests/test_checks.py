"""Whatever is given: a check gives back a plain value within what is allowed, or an InputError."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.network.instances import net, quadratic

from walras import checks
from walras import network as wn
from walras.errors import InputError
from walras.network import baselines

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(10**400), 10**400),
    st.floats(),
    st.floats(width=32).map(np.float32),
    st.complex_numbers(),
    st.text(),
    st.binary(),
    st.decimals(),
    st.fractions(),
    st.dates(),
    st.datetimes(),
    st.timedeltas(),
    st.sampled_from([np.bool_(True), np.int8(3), np.float64(0.5), np.array(1.0), object(), float]),
)
THINGS = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(st.text(max_size=3), inner, max_size=2),
        st.sets(st.integers(), max_size=3),
    ),
    max_leaves=6,
)
ARRAYS = hnp.arrays(
    st.one_of(
        hnp.boolean_dtypes(),
        hnp.integer_dtypes(),
        hnp.floating_dtypes(sizes=(16, 32, 64)),
        hnp.complex_number_dtypes(),
        hnp.datetime64_dtypes(),
        hnp.timedelta64_dtypes(),
        hnp.unicode_string_dtypes(max_len=3),
    ),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
)


def tried(call: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """What a check gives back; of a refusal, None once its words are those of an error of ours."""
    raised: InputError
    try:
        return call(*given, **named)
    except InputError as error:
        raised = error
    assert all((raised.what, "x" in raised.where, raised.allowed, raised.remedy))
    assert len(str(raised)) < 700
    return None


@given(THINGS | ARRAYS)
@example(10**5000)
@example(Fraction(10**400, 3))
@example(Decimal("nan"))
@example(np.longdouble("inf"))
def test_a_number_is_a_float_in_its_range(value: object) -> None:
    for low, high, ends in (
        (-checks.LARGEST, checks.LARGEST, {}),
        (0.0, 1.0, {}),
        (-math.inf, math.inf, {}),
        (-1.0, 2.0, {"above": -1.0, "below": 2.0}),
    ):
        found = tried(checks.number, value, "x", low, high, **ends)
        if found is not None:
            assert type(found) is float
            assert low <= found <= high
            assert not isinstance(value, bool | complex | np.complexfloating)
            assert not ends or -1.0 < found < 2.0


@given(THINGS | ARRAYS)
@example(2.0**53)
@example(10**5000)
def test_a_whole_number_is_an_int_in_its_range(value: object) -> None:
    for low, high in ((0, 2**63 - 1), (1, 4096), (-3, 3)):
        found = tried(checks.whole, value, "x", low, high)
        if found is not None:
            assert type(found) is int
            assert low <= found <= high
            assert found == value
            assert not isinstance(value, bool)


@given(THINGS | ARRAYS)
def test_flags_texts_and_names_are_what_they_say(value: object) -> None:
    assert tried(checks.flag, value, "x") in (None, True, False)
    assert isinstance(tried(checks.text, value, "x"), str | None)
    assert tried(checks.one_of, value, "x", ("a", "b")) in (None, "a", "b")
    assert tried(checks.one_of, value, "x", {"a": 1}, "thing") in (None, "a")
    assert isinstance(tried(checks.of_kind, value, int, "x"), int | None)
    tried(checks.function_or_none, value, "x")
    names = tried(checks.distinct, value, "x")
    assert names is None or len(set(names)) == len(names)
    tried(checks.distinct, value, "x", count=2)


@given(THINGS | ARRAYS)
@example([10**400])
@example([[1.0], [1.0, 2.0]])
@example(["1"])
@example([np.datetime64("2026-01-01")])
def test_arrays_are_of_reals_in_range(value: object) -> None:
    found = tried(checks.numeric, value, "x", copy=True)
    if found is not None:
        assert found.dtype == np.float64
        assert not np.may_share_memory(found, np.asarray(value))
        inside = tried(checks.within, found, "x", 0.0, above=0.0, below=5.0)
        assert (inside is None) == (not np.all((found > 0.0) & (found < 5.0)))
        assert tried(checks.shaped, found, found.shape, "x") is found
    each = tried(checks.one_each, value, "x", 3, "thing")
    assert each is None or each.shape == (3,)


@pytest.mark.parametrize(
    ("ends", "allowed"),
    [
        ({}, "a number, finite"),
        ({"low": 0.0, "high": 1.0}, "a number, 0 to 1"),
        ({"low": 0.0}, "a number, finite and >= 0"),
        ({"low": 0.0, "high": math.inf}, "a number, >= 0"),
        ({"high": 3.0}, "a number, <= 3"),
        ({"above": 0.0}, "a number, finite and > 0"),
        ({"above": 0.0, "high": 1.0}, "a number, > 0 and <= 1"),
        ({"above": 0.0, "below": 1.0}, "a number, > 0 and < 1"),
        ({"low": -math.inf, "high": math.inf}, "a number, infinite ones too"),
        ({"low": 0, "high": 2**31 - 1}, "a number, 0 to 2147483647"),
        ({"low": 0.0, "high": 1.0, "words": ", a share"}, "a number, 0 to 1, a share"),
    ],
)
def test_the_range_is_reported(ends: dict[str, Any], allowed: str) -> None:
    with pytest.raises(InputError) as caught:
        checks.number(math.nan, "share", **ends)
    error = caught.value
    assert (error.what, error.where, error.allowed) == ("is NaN", "share", allowed)
    assert error.remedy == "give a number within what is allowed"


def test_whole_numbers_may_have_a_point() -> None:
    assert checks.whole(2.0, "x") == 2
    for wrong in (2.5, True, "2", 2.0**60, None, math.inf, -1):
        with pytest.raises(InputError, match=r"^x: is .*; allowed: a whole number, >= 0; remedy"):
            checks.whole(wrong, "x")
    with pytest.raises(InputError, match=r"allowed: a whole number, 0 to 9223372036854775807;"):
        checks.whole(10**23, "x")
    with pytest.raises(InputError, match="allowed: a whole number, 1 to 4096, of the machine;"):
        checks.whole(0, "x", 1, 4096, words=", of the machine")


@dataclass(frozen=True)
class Settings:
    """Three fields as a caller may give them."""

    share: Any = 0.5
    count: Any = 1
    limit: Any = None

    def __post_init__(self) -> None:
        checks.setting(self, "share", 0.0, 1.0)
        checks.setting(self, "count", 1, integer=True)
        checks.setting(self, "limit", above=0.0, optional=True)


def test_settings_become_plain() -> None:
    found = Settings(np.float32(0.25), np.int64(3), Fraction(1, 2))
    assert [type(v) for v in (found.share, found.count, found.limit)] == [float, int, float]
    assert Settings().limit is None
    for wrong, name in (
        ({"share": None}, "share"),
        ({"count": 0}, "count"),
        ({"limit": 0}, "limit"),
    ):
        with pytest.raises(InputError, match=f"setting {name}: is"):
            Settings(**wrong)


def test_the_first_number_out_of_range_is_named_by_place() -> None:
    table = np.array([[0.0, 1.0], [np.inf, -1.0]])
    with pytest.raises(InputError, match=r"^x\[1, 0\]: is inf; .* correct that number; 2 such"):
        checks.within(table, "x", 0.0)
    with pytest.raises(InputError, match=r"^row 1: is -1; allowed: >= 0; remedy: correct that"):
        checks.within(table, lambda at: f"row {at[0]}", 0.0, math.inf)
    with pytest.raises(InputError, match=r"^x: is 2; allowed: 0 to 1"):
        checks.within(np.array(2.0), "x", 0.0, 1.0)
    with pytest.raises(InputError, match=r"^x\[1\]: row 1 is odd; allowed: even; remedy: halve it"):
        checks.refuse_first(
            np.array([False, True]),
            np.array([0, 1]),
            "x",
            what=lambda at: f"row {at[0]} is odd",
            allowed="even",
            remedy="halve it",
        )
    assert checks.within(np.empty(0), "x", 1.0, 0.0).size == 0
    assert checks.within(table, "x", -1.0, math.inf) is table


def test_a_large_array_in_range_costs_no_second_array(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "refuse_first", None)  # the slow way, which tells the place
    ones = np.ones(1_000_000)
    assert checks.within(ones, "x", 0.0, 1.0) is ones


def test_shapes_are_told_of_sparse_ones_too() -> None:
    assert checks.shaped(sp.csc_array((2, 3)), (2, 3), "x").shape == (2, 3)
    with pytest.raises(InputError, match=r"x: has shape \(2, 3\); allowed: \(3, 2\), turned;"):
        checks.shaped(sp.csc_array((2, 3)), (3, 2), "x", "turned")
    assert checks.one_each(2, "x", 3, "round").tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(InputError, match=r"\(3,\), or one number for all; .*a number a round|one"):
        checks.one_each([1, 2], "x", 3, "round")


def test_an_array_is_copied_where_it_must_be_the_own() -> None:
    mine = np.ones(2)
    assert checks.numeric(mine, "x") is mine
    assert not np.shares_memory(checks.numeric(mine, "x", copy=True), mine)


@pytest.mark.parametrize("value", ["", " ", "\n", None, 3])
def test_text_that_must_not_be_blank(value: object) -> None:
    assert checks.text("a b", "label", blank=False) == "a b"
    with pytest.raises(InputError, match="label"):
        checks.text(value, "label", blank=False)


def test_names_are_told_apart() -> None:
    assert checks.distinct(pd.Index([1, 2]), "x") == ("1", "2")
    with pytest.raises(
        InputError, match=r"x: the id 'b' appears twice, at 1 and 3; .*distinct ids"
    ):
        checks.distinct(["a", "b", "c", "b"], "x", "id")
    with pytest.raises(InputError, match="x: has 1 labels; allowed: 2 distinct labels"):
        checks.distinct(["a"], "x", count=2)
    with pytest.raises(InputError, match="x: is 'ab'; allowed: a sequence of labels"):
        checks.distinct("ab", "x")


def test_names_must_be_the_wanted_ones() -> None:
    words = {"allowed": "those", "remedy": "rename"}
    checks.same_names(["b", "a"], ["a", "b"], "x", "job", **words)
    with pytest.raises(InputError, match="x: has no job 'b'; allowed: those; remedy: rename"):
        checks.same_names(["a", "c"], ["a", "b"], "x", "job", **words)
    with pytest.raises(InputError, match="x: unknown job 'c'"):
        checks.same_names(["a", "c"], ["a"], "x", "job", **words)


def test_a_near_name_is_proposed() -> None:
    with pytest.raises(InputError, match=r"there is no node 'Pariss'; .* did you mean 'Paris'\?"):
        checks.one_of("Pariss", "x", {"Paris": 0, "Rome": 1}, "node")
    with pytest.raises(InputError, match="is 3; allowed: a, b; remedy: use one of these names"):
        checks.one_of(3, "x", ("a", "b"))
    with pytest.raises(InputError, match="allowed: none: no names; remedy: leave it out"):
        checks.one_of("a", "x", ())
    with pytest.raises(InputError, match=r"has the unknown key 'step'; .* did you mean 'steps'\?"):
        checks.known_keys({"step": 1}, ("seed", "steps"), "x")
    with pytest.raises(InputError, match="allowed: seed, steps; remedy: leave it out"):
        checks.known_keys(["colour"], ("seed", "steps"), "x")


def test_a_class_is_not_its_object() -> None:
    assert checks.of_kind(3, int, "x") == 3
    with pytest.raises(InputError, match=r"x: is <class .*an object of Fraction; .*x=Fraction\("):
        checks.of_kind(Fraction, Fraction, "x")
    with pytest.raises(InputError, match="x: is a list; allowed: a number; remedy: x=int"):
        checks.of_kind([], (int, float), "x", "a number")


def test_what_is_shown_stays_short() -> None:
    assert checks.shown(0.1) == "0.1"
    assert checks.shown(np.float64(np.nan)) == "NaN"
    assert checks.shown("a" * 100) == "'" + "a" * 59 + "..."
    assert checks.shown(10**5000) == "a whole number of 16610 bits"
    assert checks.shown(pd.DataFrame()) == "a DataFrame"
    assert checks.few(["a", "b"]) == "a, b"
    assert checks.few(map(str, range(9)), 2) == "0, 1, ... (9 in all)"


def test_an_array_for_readers_shares_its_numbers() -> None:
    mine = np.ones(2)
    view = checks.read_only(mine)
    assert np.shares_memory(view, mine)
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 2.0


def test_a_class_in_place_of_its_object_is_reported_everywhere() -> None:
    with pytest.raises(InputError, match=r"method: is <class .*remedy: method=Surplus"):
        wn.advise(quadratic(), net(), method=wn.Surplus)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"method: is <class .*allowed: an object of Surplus"):
        wn.deploy(quadratic(), net(), method=wn.Surplus)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="method: is a LaplacianGradient"):
        wn.deploy(quadratic(), net(), method=baselines.HeavyBall())  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"faults: is <class .*an object of Faults"):
        wn.simulate(quadratic(), net(), faults=wn.Faults)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"cpu\[1\]: is the class QuadraticCPU; allowed: Quad"):
        wn.NetworkProblem([wn.QuadraticCPU(1.0, 1.0), wn.QuadraticCPU], 4.0)  # type: ignore[list-item]
    with pytest.raises(InputError, match=r"loss: is <class .*such as Logistic\(\)"):
        quadratic(2, loss=wn.Logistic, shards=[([[1.0]], [1.0])] * 2)
    with pytest.raises(InputError, match="network: is <class"):
        wn.deploy(quadratic(), wn.Network)  # type: ignore[arg-type]
