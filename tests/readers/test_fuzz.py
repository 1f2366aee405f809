"""Any bytes give blocks or a ReadError; `benchmarks/fuzz_readers.py` tries a million of them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readers.comparing import COMPARED, compared
from readers.fuzzing import ALPHABETS, FORMATS, check, tried
from readers.test_blocks import FILES

OPTIONS = st.fixed_dictionaries(
    {
        "skip_bad": st.sampled_from([0, 1, 1000]),
        "header": st.booleans(),
        "block_bytes": st.sampled_from([1, 30, 200, 1 << 20]),
    }
)


@pytest.mark.parametrize("format", ALPHABETS)
def test_any_bytes(format):
    letters = st.sampled_from([bytes([letter]) for letter in {*ALPHABETS[format]}])
    some = st.lists(letters, max_size=60).map(b"".join)

    @settings(max_examples=150)
    @given(some | st.binary(max_size=60), OPTIONS)
    def attempt(data, options):
        check(format, data, options)

    attempt()


@pytest.mark.parametrize("format", FORMATS)
def test_spoilt_files(format):
    read = sum(tried(format, seed) for seed in range(150))
    assert read > 1
    assert check(format, FILES[format], {"skip_bad": 1, "header": True})


@pytest.mark.parametrize("format", COMPARED)
def test_other_readers_find_the_same_cells(format):
    assert sum(compared(format, seed) for seed in range(100)) > 10
