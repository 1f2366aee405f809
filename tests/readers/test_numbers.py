"""Numbers read by compiled code are what `float` makes of the text, to the bit."""

import math
import struct
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readers.naive import DECIMAL, WORD
from unitless.readers.numbers import read_numbers, scaled
from unitless.readers.sparse_text import NOT_FINITE, NOT_NUMBER, OK


def check(tokens):
    """Compare all tokens with Python."""
    data = b"".join(token + b"\n" for token in tokens) or b"\n"
    stops = np.cumsum([len(token) + 1 for token in tokens]) - 1
    starts = stops - [len(token) for token in tokens]
    kinds, values, ends = read_numbers(data, starts)
    for i, token in enumerate(tokens):
        text = token.decode("latin-1")
        is_number = DECIMAL.fullmatch(text) or WORD.fullmatch(text)
        found = kinds[i] != NOT_NUMBER and ends[i] == stops[i]
        assert found == bool(is_number), token
        if found and kinds[i] == NOT_FINITE:
            assert abs(values[i]) == abs(float(text)) == np.inf, token
        if found and kinds[i] == OK and "n" not in text.lower():
            assert bits(values[i]) == bits(float(text)), token


def bits(value):
    return struct.pack("d", value)


def test_all_the_forms():
    forms = "0 -0 +0 7 -7 +7 007 5. .5 -.5 5.e3 1e5 1E5 1e+5 1e-5 1.5e300 123456789 12345678.9"
    check(forms.encode().split())
    others = ". - + -. e e5 1e 1e+ 1e- .e5 1.5.5 --1 +-1 0x10 1_0 1,5 1d5 ١ nanx infin 1f 1e5.0 "
    check([*others.encode().split(), b"", b"1\x00", b"\xff", b"1\xb2"])


def test_words():
    check(b"nan NaN -nan inf -INF +Infinity infinity INFx nanny infinit".split())


@pytest.mark.parametrize(
    "text",
    [
        "9007199254740993",  # 2^53 + 1: a tie, to even
        "9007199254740992.9999999999999",
        "9007199254740993.00000000000000000000001",
        "2.2250738585072011e-308",  # the largest denormal and its neighbours
        "2.2250738585072014e-308",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "1.7976931348623157e308",
        "1.7976931348623159e308",
        "17976931348623157081e289",
        "1e23",  # needs more than one rounding step
        "8.5e22",
        "18446744073709551615",
        "18446744073709551616",
        "0.000000000000000000000000000000000000000000000000000000000001",
        "1" + "0" * 400,
        "0." + "0" * 400 + "1",
        "1" * 40 + "." + "1" * 40,
        "0" * 50 + "1.5",
        "1e999999999999999999999",
        "1e-999999999999999999999",
        "0e999999999999",
    ],
)
def test_hard_cases(text):
    check([text.encode(), b"-" + text.encode()])


@settings(max_examples=300)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_every_float_comes_back(floats):
    check([repr(value).encode() for value in floats])
    check([b"%.17e" % value for value in floats])
    check([b"%.6g" % value for value in floats])


@settings(max_examples=300)
@given(
    st.lists(
        st.tuples(st.integers(0, 10**20), st.sampled_from(["", "e", "E"]), st.integers(-330, 330)),
        min_size=1,
    )
)
def test_digits_and_exponents(parts):
    check([f"{digits}{mark}{power if mark else ''}".encode() for digits, mark, power in parts])


@settings(max_examples=500)
@given(st.lists(st.text("0123456789.eE+-nafity_x", max_size=24), min_size=1))
def test_any_text(texts):
    check([text.encode() for text in texts])


def test_ties_between_neighbours():
    """Halfway between two floats, where one wrong bit shows."""
    rng = np.random.default_rng(0)
    tokens = []
    for mantissa in rng.integers(2**52, 2**53, 2000).tolist():
        tie = (2 * mantissa + 1) * 2 ** int(rng.integers(0, 9))
        tokens += [b"%d" % tie, b"%d" % (tie - 1), b"%d" % (tie + 1), b"%de-3" % tie]
    check(tokens)


@pytest.mark.parametrize("form", [repr, "{:.16e}".format])
def test_python_is_rarely_asked(form):
    floats = np.abs(np.random.default_rng(1).standard_normal(20000)).tolist()
    found = [Decimal(form(value)).as_tuple() for value in floats]
    digits = [int("".join(map(str, each.digits))) for each in found]
    powers = [each.exponent for each in found]
    undecided = [math.isnan(scaled(*each)) for each in zip(digits, powers, strict=True)]
    assert sum(undecided) <= 20
