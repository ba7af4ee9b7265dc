"""The search for the smallest set of words, against all sets."""

from itertools import product

import numpy as np
import pytest

from sklearn_interpret._core.local.removals import linear_hint, smallest_removal


def all_sets(n_words):
    return np.array(list(product([False, True], repeat=n_words)))


def smallest(does, n_words, most):
    """Size of the smallest set that does, by asking about all; one more than `most`."""
    sizes = [one.sum() for one in all_sets(n_words) if one.any() and does(one)]
    return min([*sizes, most + 1])


def run(does, margin, *args, **kwargs):
    """The finished search, and how many sets it asked about."""
    search, reply, n_asked = smallest_removal(*args, **kwargs), None, 0
    while True:
        try:
            sets = search.send(reply)
        except StopIteration as stop:
            return stop.value, n_asked
        n_asked += len(sets)
        reply = [(margin(one), does(one)) for one in sets]


@pytest.mark.parametrize("norm", [None, "l1", "l2"])
@pytest.mark.parametrize("sign", [-1, 1])
def test_linear_functions(norm, sign):
    rng = np.random.default_rng(0)
    tight = 0
    for _ in range(60):
        n_words = rng.integers(2, 8)
        columns = np.abs(rng.normal(size=n_words + 1))  # of the words, and one more
        columns /= columns.sum() if norm == "l1" else np.sqrt((columns**2).sum())
        weights, offset = rng.normal(size=n_words + 1), sign * rng.exponential()
        parts = columns * weights
        if norm is None:
            offset = min(offset, -parts.sum() - 0.01)
        powers = columns ** (1 if norm == "l1" else 2)

        def value(removed, parts=parts, powers=powers, offset=offset):
            kept = np.append(~removed, True)
            left = powers[kept].sum()
            size = {None: 1, "l1": left, "l2": np.sqrt(left)}[norm]
            return parts[kept].sum() + offset * size

        if value(np.zeros(n_words, bool)) >= 0:
            continue
        sets, bound = linear_hint(
            parts[:-1], powers[:-1], parts.sum(), offset, norm, n_words
        )
        true = smallest(lambda one: value(one) >= 0, n_words, n_words)
        assert bound <= true
        found = [one.sum() for one in sets if value(one) >= 0]
        tight += min([*found, n_words + 1]) == true == bound
        assert norm == "l2" or min([*found, n_words + 1]) == true == bound
    assert tight > 5


@pytest.mark.parametrize("n_sets", [0, 2**10])
@pytest.mark.parametrize("most", [3, 7])
def test_any_function(n_sets, most):
    rng = np.random.default_rng(1)
    for _ in range(30):
        values = dict(
            zip(map(bytes, all_sets(7)), rng.normal(-1.5, 1, size=2**7), strict=True)
        )

        def margin(one, values=values):
            return values[bytes(one)]

        def does(one):
            return margin(one) >= 0

        search, n_asked = run(does, margin, 7, most, 5, n_sets)
        true = smallest(does, 7, most)
        assert n_asked <= sum(one.sum() <= most for one in all_sets(7))
        assert search.size >= true
        if search.proved:
            assert search.size == true
        if n_sets:
            assert search.proved
        if search.best is None:
            assert search.size == most + 1
        else:
            assert does(search.best)
            for word in np.flatnonzero(search.best):
                fewer = search.best.copy()
                fewer[word] = False
                assert not fewer.any() or not does(fewer)


def test_hints_and_bounds_end_the_search():
    hint = np.array([[True, True, False]])
    search, n_asked = run(np.all, np.sum, 3, 3, 9, 99, hints=[~hint | True], bound=3)
    assert (search.size, n_asked, search.proved) == (3, 1, True)
    search, n_asked = run(lambda _: False, np.sum, 3, 2, 9, 99, bound=3)
    assert (search.best, n_asked, search.proved) == (None, 0, True)
    search, n_asked = run(np.all, np.sum, 0, 0, 9, 99)
    assert (search.best, n_asked, search.proved) == (None, 0, True)
