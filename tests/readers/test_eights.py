"""Eight features at once are what one by one gives: numbers, names, and the rows made of them."""

import random
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readers.naive import read, sparse_rows, svmlight_line, vw_line
from readers.test_svmlight import assert_equal_rows
from unitless.lanes import store
from unitless.numerics import kernel
from unitless.readers import decimals, eights
from unitless.readers import names as naming
from unitless.readers.bytes import PADDING, padded
from unitless.readers.words import find_breaks

EIGHT = 8


@kernel
def _vectors(text, breaks, b, table, good, values, numbers, words):
    """What vectors make of eight features from break b on."""
    good[0], value = eights.decimals(text, breaks, b)
    store(values, 0, value)
    good[1], number = eights.integers(text, breaks, b)
    eights.store_words(numbers, 0, number)
    good[2], low, high = eights.names(text, breaks, b)
    first, second = naming.prints(low, high, (np.uint64(1), np.uint64(2), np.uint64(3)), table)
    for k, word in enumerate((low, high, first, second)):
        eights.store_words(words, 8 * k, word)


@kernel
def _scalars(text, breaks, b, table, values, numbers, words):
    """The same one by one; whether each value is a short one."""
    found = np.zeros(8, dtype=np.bool_)
    for k in range(8):
        start, colon, end = breaks[b + 2 * k - 1] + 1, breaks[b + 2 * k], breaks[b + 2 * k + 1]
        found[k], values[k] = decimals.short_decimal(text, colon + 1, end)
        numbers[k] = decimals.integer(text, start, colon)
        low, high = naming.name_words(text, start, colon, table)
        first, second = naming.prints(low, high, (np.uint64(1), np.uint64(2), np.uint64(3)), table)
        words[k], words[8 + k], words[16 + k], words[24 + k] = low, high, first, second
    return found


def compare(pairs):
    """`name:value` eight times, by vectors and one by one."""
    data = padded(b" " + b" ".join(name + b":" + value for name, value in pairs) + b"\n")
    stop = len(data) - PADDING
    breaks = np.zeros(stop + PADDING, dtype=np.int32)
    find_breaks(data, PADDING, stop, np.uint8(124), breaks)
    table = naming.Columns().table
    good, words = np.zeros(3, dtype=np.uint64), np.zeros((2, 32), dtype=np.uint64)
    values, numbers = np.zeros((2, EIGHT)), np.zeros((2, EIGHT), dtype=np.int64)
    _vectors(data, breaks, 1, table, good, values[0], numbers[0].view(np.uint64), words[0])
    short = _scalars(data, breaks, 1, table, values[1], numbers[1], words[1])
    for k, (name, value) in enumerate(pairs):
        bit = [bool(int(each) >> k & 1) for each in good]
        assert bit[0] == short[k], value
        if short[k]:
            assert struct.pack("d", values[0, k]) == struct.pack("d", values[1, k]), value
            assert values[0, k] == float(value)
        assert bit[1] == (name.isdigit() and len(name) <= 8), name
        assert not bit[1] or numbers[0, k] == int(name)
        assert bit[2] == (1 <= len(name) <= 16), name
        if bit[2]:
            assert words[0, k::EIGHT].tolist() == words[1, k::EIGHT].tolist(), name


SHORT = st.text("0123456789.", max_size=9).flatmap(
    lambda digits: st.sampled_from(["", "-", "+"]).map(lambda sign: sign + digits)
)
VALUES = SHORT | st.text("0123456789.+-enaif", max_size=10)
NAMES = st.text("0123456789", max_size=10) | st.text("ab0é~", min_size=1, max_size=20)


@settings(max_examples=300)
@given(st.lists(st.tuples(NAMES, VALUES), min_size=EIGHT, max_size=EIGHT))
def test_twin(pairs):
    compare([(name.encode(), value.encode()) for name, value in pairs])


def test_every_short_decimal_there_is_a_form_of():
    """Each place of the point, each sign, each size, digits at random."""
    rng = random.Random(0)
    tokens = [b".", b"-", b"+.", b"", b"-0", b"0.", b".0", b"1..2", b"1.2.", b"99999999"]
    for size in range(1, 9):
        for point in range(-1, size):
            for sign in ("", "-", "+"):
                digits = "".join(rng.choices("0123456789", k=size))
                text = digits if point < 0 else digits[:point] + "." + digits[point + 1 :]
                tokens.append((sign + text).encode())
    tokens += [b"7"] * (-len(tokens) % EIGHT)
    for k in range(0, len(tokens), EIGHT):
        compare([(b"17", token) for token in tokens[k : k + EIGHT]])


# Rows of many features, of which some are not so simple


def tokens_of(rng, odd):
    """One feature: mostly name:number."""
    number = rng.choice(["{:.4f}", "{:.1f}", "{:.0f}", "{:.12g}", "{:e}"]).format(rng.gauss(0, 9))
    name = rng.choice(["{}", "w{}", "word{}", "a_word_that_is_long_{}"]).format(rng.randrange(500))
    return rng.choice(odd) if rng.random() < 0.1 else f"{name}:{number}"


@pytest.mark.parametrize("seed", range(40))
def test_long_rows_of_vw_text(seed):
    rng, lines = random.Random(seed), []
    odd = ["alone", "a:text", "007:1", "00:2", "7:1.", "x:.", ":3.5", "|n:2", "|other", "n^x:1", ""]
    for _ in range(12):
        size = rng.choice([0, 7, 8, 9, 16, 55, 100])
        lines.append("1 | " + " ".join(tokens_of(rng, odd) for _ in range(size)))
    bad = [line for line in lines if _is_bad(line)]
    wanted = [vw_line(line) for line in lines if line not in bad]
    data = "\n".join(lines).encode()
    found = read(data, format="vw", skip_bad=len(bad), block_bytes=rng.choice([200, 3000, 1 << 20]))
    assert_equal_rows(sparse_rows(found), [(label, v, row) for label, v, _, row in wanted])


def _is_bad(line):
    try:
        vw_line(line)
    except ValueError:
        return True
    return False


@pytest.mark.parametrize("seed", range(40))
def test_long_rows_of_svmlight(seed):
    rng, lines = random.Random(seed), []
    for _ in range(12):
        size, index, line = rng.choice([0, 7, 8, 9, 16, 55, 100]), 0, rng.choice(["1", "-1", "2.5"])
        for _ in range(size):
            index += rng.choice([1, 2, 1000, 10**6])
            number = rng.choice(["{:.4f}", "{:.0f}", "{:.12g}", "{:e}"]).format(rng.gauss(0, 9))
            line += rng.choice([" "] * 20 + ["  ", "\t"]) + f"{index}:{number}"
        lines.append(line + rng.choice(["", "", " ", " # 3:4"]))
    found = read("\n".join(lines).encode(), format="svmlight", block_bytes=rng.choice([200, 9000]))
    wanted = [(label, 1.0, row) for label, row in map(svmlight_line, lines)]
    assert_equal_rows(sparse_rows(found), wanted)


@pytest.mark.parametrize("at", range(1, 18))
def test_an_index_that_does_not_rise_is_found_in_any_lane(at):
    indices = [*range(10, 10 + 3 * 20, 3)]
    indices[at] = indices[at - 1]
    line = "1 " + " ".join(f"{index}:0.5" for index in indices)
    assert read(f"{line}\n1 2:3\n".encode(), format="svmlight", skip_bad=1)[0].lines.tolist() == [2]
