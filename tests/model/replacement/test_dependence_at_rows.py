"""Responses with players of other rows: the definition, and no row too many."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.linear_model import LinearRegression

from sklearn_interpret._model.replacement.dependence_at_rows import (
    DependenceAtRows,
    dependence_at_rows,
)
from sklearn_interpret._model.replacement.mixed_rows import (
    ResponseCache,
    RowKeys,
    distinct,
)
from sklearn_interpret._model.replacement.tree_dependence_at_rows import (
    TreeDependenceAtRows,
)
from sklearn_interpret._model.responses.response import make_response
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret.exceptions import UnreadableModelError
from tests.references.memory import peak_memory
from tests.references.mixed_rows import averages
from tests.references.models import frozen

RNG = np.random.default_rng(0)


class Recording(RegressorMixin, BaseEstimator):
    """A model of two outputs, every column with every other, that keeps all rows."""

    def __init__(self):
        self.seen = []

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        self.seen.append(np.array(X))
        steps = 1 + np.arange(X.shape[1])
        mixed = np.sin(X @ steps)
        return np.stack([mixed * X[:, 0], np.cos(X @ steps[::-1])], axis=1)


def rounded(n_rows, n_columns, decimals=0):
    return RNG.normal(size=(n_rows, n_columns)).round(decimals)


TABLES = {
    "continuous": RNG.normal(size=(12, 8)),
    "two": RNG.normal(size=(12, 2)),
    "three": RNG.normal(size=(12, 3)),
    "four": RNG.normal(size=(12, 4)),
    "five": RNG.normal(size=(12, 5)),
    "whole numbers": rounded(30, 5),
    "few values": RNG.integers(0, 2, (40, 6)).astype(float),
    "mixed": np.c_[RNG.normal(size=(15, 3)), rounded(15, 3)],
    "mostly continuous": np.c_[RNG.normal(size=(12, 7)), rounded(12, 1)],
    "one continuous": np.c_[RNG.normal(size=(20, 1)), RNG.integers(0, 2, (20, 4))],
    "many rounded": rounded(12, 40, 1),  # keys larger than a word
    "one row": rounded(1, 3),
    "one column": rounded(20, 1),
    "equal rows": np.ones((7, 3)),
    "constant column": np.c_[RNG.normal(size=(12, 3)), np.ones(12)],
}


def alone_in(n_columns):
    """Every column a player."""
    return [(j,) for j in range(n_columns)]


def grouped(n_columns):
    """A column, a group of two where there are so many, and columns of no player."""
    return [(0,), (2, 1)] if n_columns > 2 else [(0,)]


def sets_of(n_players):
    """All pairs, and some triples."""
    pairs = list(combinations(range(n_players), 2))[:60]
    return pairs + list(combinations(range(n_players), 3))[:20]


def mixtures(X, columns):
    """For each row, the sample with the row's values of some columns: (n, n, p)."""
    mixed = np.repeat(X[None], len(X), axis=0)
    mixed[:, :, columns] = X[:, None, columns]
    return mixed


def mean_over(model, mixed, weights):
    n = len(mixed)
    answers = model.predict(mixed.reshape(n * n, -1)).reshape(n, n, -1)
    return np.average(answers, axis=1, weights=weights)


def columns_of(players, chosen):
    return [j for player in chosen for j in players[player]]


@pytest.mark.thorough
def test_columns_of_no_player_take_little_memory():
    X = RNG.normal(size=(300, 1000))
    response = make_response(frozen(lambda a, *others: a))

    def made():
        DependenceAtRows(response, as_rows(X), np.ones(len(X)), alone_in(3))

    assert peak_memory(made) < 1.5 * X.nbytes


@pytest.mark.thorough(after=7)
@pytest.mark.parametrize("players_of", [alone_in, grouped])
@pytest.mark.parametrize("name", TABLES)
def test_the_definition_with_no_row_sent_twice(name, players_of):
    X = TABLES[name]
    n_rows, n_columns = X.shape
    weights = RNG.integers(1, 4, n_rows).astype(float)
    players = players_of(n_columns)
    sets = sets_of(len(players))
    model = Recording()
    answers = DependenceAtRows(make_response(model), as_rows(X), weights, players)
    alone, all_but = averages(answers)
    joint = list(answers.joint(sets))
    sent = np.concatenate(model.seen)
    needed = [X]

    def mean_of(columns):
        mixed = mixtures(X, columns)
        needed.append(mixed.reshape(-1, n_columns))
        return mean_over(model, mixed, weights)

    for place, own in enumerate(players):
        others = [j for j in range(n_columns) if j not in own]
        assert_allclose(alone[:, place], mean_of(list(own)))
        assert_allclose(all_but[:, place], mean_of(others))
    for chosen, found in zip(sets, joint, strict=True):
        assert_allclose(found, mean_of(columns_of(players, chosen)), atol=1e-12)
    assert_allclose(answers.predictions, model.predict(X))
    different = np.unique(sent, axis=0)
    assert len(different) == len(sent)
    assert_array_equal(different, np.unique(np.concatenate(needed), axis=0))


def collect(player, index, answers):
    """A reduction that forgets nothing."""
    return player, index.copy(), answers.copy()


@pytest.mark.parametrize("memory", [1024, 1e-3])
@pytest.mark.parametrize("name", TABLES)
def test_outcomes_are_the_responses_at_every_point(name, memory):
    X = TABLES[name]
    players = alone_in(X.shape[1])[:6]
    model = Recording()
    with config_context(working_memory=memory):
        answers = DependenceAtRows(
            make_response(model), as_rows(X), np.ones(len(X)), players
        )
        found = answers.responses_at_points(collect)
    if memory > 1:
        sent = np.concatenate(model.seen)
        assert len(np.unique(sent, axis=0)) == len(sent)
    for place, parts in enumerate(found):
        index = np.concatenate([part[1] for part in parts])
        assert sorted(index) == list(range(len(X)))
        _, first = np.unique(answers.positions[place], return_index=True)
        assert answers.n_points[place] == len(first)
        for player, rows, outcomes in parts:
            assert player == place
            for point, donor in enumerate(first):
                altered = X[rows]
                altered[:, place] = X[donor, place]
                assert_allclose(outcomes[:, point], model.predict(altered), atol=1e-12)


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("name", ["continuous", "mixed", "few values"])
def test_blocks_change_nothing(name):
    X = TABLES[name]
    weights = RNG.random(len(X))
    sets = sets_of(X.shape[1])[::3]

    def everything(n_jobs):
        answers = DependenceAtRows(
            make_response(Recording()),
            as_rows(X),
            weights,
            alone_in(X.shape[1]),
            n_jobs=n_jobs,
        )
        return [*averages(answers), *answers.joint(sets)]

    expected = everything(None)
    with config_context(working_memory=1e-9):
        singly = everything(1)
    with config_context(working_memory=0.05):
        one = everything(1)
        with parallel_config(backend="threading"):
            two = everything(2)
    for exact, *others in zip(expected, singly, one, two, strict=True):
        for found in others:
            assert_allclose(found, exact, atol=1e-13)
    for found, same in zip(one, two, strict=True):
        assert_array_equal(found, same)


def test_frames_are_sent_as_they_came():
    X = pd.DataFrame(
        {
            "a": RNG.normal(size=10).astype("float32"),
            "b": pd.Categorical(RNG.choice(["u", "v"], 10), categories=["v", "u", "w"]),
            "c": RNG.choice([1.0, np.nan], 10),
        }
    )
    seen = []

    def respond(estimator, frame):
        seen.append(frame)
        assert frame.dtypes.equals(X.dtypes)
        return frame["a"] * (1 + frame["b"].cat.codes) + frame["c"].fillna(7)

    before = X.copy()
    response = make_response(LinearRegression(), respond)
    answers = DependenceAtRows(response, as_rows(X), np.ones(10), alone_in(3))
    alone = averages(answers)[0][:, :, 0]
    filled, codes = X["c"].fillna(7).to_numpy(), X["b"].cat.codes.to_numpy()
    size = X["a"].to_numpy(dtype=float)
    assert_allclose(alone[:, 0], size * (1 + codes).mean() + filled.mean(), rtol=1e-6)
    assert_allclose(alone[:, 2], (size * (1 + codes)).mean() + filled, rtol=1e-6)
    pd.testing.assert_frame_equal(X, before)
    assert len(pd.concat(seen).drop_duplicates()) == sum(map(len, seen))


def test_keys_larger_than_a_word():
    codes = np.random.default_rng(1).integers(0, 50, (200, 30))
    codes[100:] = codes[:100]
    keys = RowKeys(codes)
    assert keys.whole.shape == (200, 2)
    first, which = distinct(keys.whole)
    assert len(first) == 100
    assert_array_equal(codes[first[which]], codes)
    assert_array_equal(
        keys.of_players([3, 4]) + keys.of_players([0, 1, 2, *range(5, 30)]), keys.whole
    )


@pytest.mark.parametrize("n_words", [1, 2])
def test_responses_are_cached_in_runs(n_words):
    keys = RNG.permutation(1000).astype(np.uint64)[:, None] + np.zeros(
        n_words, dtype=np.uint64
    )
    values = RNG.normal(size=(1000, 2))
    known = ResponseCache(np.inf)
    for part in np.array_split(np.arange(900), 17):
        known.add(keys[part], values[part])
    is_known, found = known.find(keys, 2)
    assert is_known[:900].all()
    assert not is_known[900:].any()
    assert_array_equal(found, values[:900])


def test_a_key_that_agrees_in_one_word_only_is_not_known():
    known = ResponseCache(np.inf)
    known.add(np.array([[1, 2]], dtype=np.uint64), np.ones((1, 1)))
    other = np.array([[1, 3]], dtype=np.uint64)
    assert not known.find(other, 1)[0].any()


def test_what_does_not_fit_is_not_cached():
    known = ResponseCache(100)
    keys = np.arange(20, dtype=np.uint64)[:, None]
    known.add(keys, np.ones((20, 1)))
    assert not known.find(keys, 1)[0].any()


# Which of them is taken

TREES = np.random.default_rng(2).normal(size=(40, 3))
TARGET = TREES[:, 0] * TREES[:, 1]
BOOSTED = GradientBoostingRegressor(n_estimators=3, random_state=0).fit(TREES, TARGET)
LINKED = GradientBoostingClassifier(n_estimators=3, random_state=0).fit(
    TREES, TARGET > 0
)
LINEAR = LinearRegression().fit(TREES, TARGET)


@pytest.mark.parametrize(
    "model, method, expected",
    [
        (BOOSTED, "auto", TreeDependenceAtRows),
        (BOOSTED, "tree", TreeDependenceAtRows),
        (BOOSTED, "brute", DependenceAtRows),
        (LINEAR, "auto", DependenceAtRows),
        (LINKED, "auto", TreeDependenceAtRows),
        (LINKED, "tree", TreeDependenceAtRows),
        (LINKED, "brute", DependenceAtRows),
    ],
)
def test_trees_are_read_where_that_works(model, method, expected):
    given = make_response(model), as_rows(TREES), np.ones(40), alone_in(3)
    found = dependence_at_rows(method, *given, averaged=True)
    assert type(found) is expected


def test_trees_are_insisted_on():
    given = make_response(LINEAR), as_rows(TREES), np.ones(40), alone_in(3)
    with pytest.raises(UnreadableModelError):
        dependence_at_rows("tree", *given, averaged=True)


def test_the_rows_sent_are_counted_beforehand():
    for name, exact in (("continuous", True), ("few values", False)):
        X = TABLES[name]
        model = Recording()
        players, sets = alone_in(X.shape[1]), sets_of(X.shape[1])
        answers = DependenceAtRows(
            make_response(model), as_rows(X), np.ones(len(X)), players
        )
        of_sizes = [[one for one in sets if len(one) == size] for size in (2, 3)]
        most = answers.most_rows(*of_sizes)
        averages(answers)
        list(answers.joint(sets))
        n_sent = sum(map(len, model.seen))
        assert n_sent == most if exact else n_sent <= most
        assert most <= len(X) + len(X) * (len(X) - 1) * (len(players) + len(sets))


@pytest.mark.thorough
def test_grids_are_not_held_all_at_once():
    X = RNG.normal(size=(30, 40))
    answers = DependenceAtRows(
        make_response(frozen(lambda a, *others: a)),
        as_rows(X),
        np.ones(len(X)),
        alone_in(40),
    )

    def pass_over(sets):
        for _ in answers.joint(sets):
            pass

    with config_context(working_memory=1):
        small, large = (
            peak_memory(lambda n=n: pass_over(list(combinations(range(n), 2))))
            for n in (5, 40)
        )
    # The grids of 780 pairs take 2 MB.
    assert large < small + 0.3 * 2**20
