"""Cases in one test: all of them are run, any two of different arguments together."""

from itertools import combinations, product

import pytest

from cases import covering, in_one_test


@pytest.mark.parametrize("sizes", [(3,), (2, 5), (8, 2, 2, 2), (1, 2, 2), (3, 4, 2, 3), (0, 2, 2)])
def test_every_two_cases_are_tried_together(sizes):
    chosen = covering(sizes)
    for (i, n), (j, m) in combinations(enumerate(sizes), 2):
        assert {(places[i], places[j]) for places in chosen} >= (
            set(product(range(n), range(m))) if all(sizes) else set()
        )
    assert len(chosen) <= len(list(product(*map(range, sizes))))


def test_few_combinations_are_enough():
    assert len(covering((8, 2, 2, 2))) == 16


def test_a_failure_names_its_cases():
    ran = []

    @in_one_test("loss", ["hinge", "absolute"])
    @in_one_test("form", {"dense": 0, "csr": 1})
    @in_one_test("weighted", [False, True])
    def test(loss, form, weighted):
        ran.append((loss, form, weighted))
        assert (loss, form) != ("absolute", 1)

    with pytest.raises(AssertionError) as caught:
        test()
    assert caught.value.__notes__[0].startswith("with loss = absolute, form = csr, weighted = ")
    assert ("hinge", 0) in {each[:2] for each in ran}
