"""Perturbed rows: the same answers however they are cut in blocks, no row too many."""

from contextlib import ExitStack, contextmanager
from dataclasses import replace

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._model.replacement.replaced import (
    ReplacedResponses,
    choose_evaluator,
)
from sklearn_interpret._model.replacement.replaced_trees import ReplacedTrees
from sklearn_interpret._model.replacement.replacement import Replacement
from sklearn_interpret._model.responses.response import make_response, plain_responses
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import gather
from tests.model.containers import CONTAINERS, cells, same_cells, schema


def responses(response, rows, replacements, reduce, **loop):
    """Reduced responses of any model."""
    return ReplacedResponses(response, rows, replacements).responses(reduce, **loop)


RNG = np.random.default_rng(0)
X = RNG.normal(size=(53, 3))
TREE = DecisionTreeRegressor(random_state=0).fit(X, X[:, 0] * X[:, 1])


class Counting(RegressorMixin, BaseEstimator):
    """A model of two outputs that keeps count of calls and rows."""

    def __init__(self):
        self.calls, self.most = [], 0

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        self.calls.append(len(X))
        return np.stack([X[:, 0] + 10 * X[:, 1], X[:, 2]], axis=1)


def replacements(rows):
    """One and two columns, shared and own codes, all rows and some."""
    n = rows.n_rows
    values = RNG.normal(size=12)
    own = RNG.integers(0, 12, (n, 4))
    some = np.array([2, 3, 5, 8, 13, 21, 34])
    return [
        Replacement((0,), (values,), (np.arange(12)[None],)),
        Replacement((1,), (values,), (own,)),
        Replacement((2, 0), (values, values), (own[:, :3], np.arange(3)[None])),
        Replacement((1,), (values,), (own[: len(some)],), some),
        Replacement((2,), (values,), (np.arange(12)[None, :2],), some[:1]),
        Replacement((0,), (values,), (np.zeros((1, 12), int),)),
    ]


def literal_answers(model, rows, replacement):
    """Answers (rows, variants, outputs), one altered row and one call at a time."""
    index = range(rows.n_rows) if replacement.rows is None else replacement.rows
    answers = []
    for place, row in enumerate(index):
        variants = []
        for variant in range(replacement.n_variants):
            altered = rows.native[[row]].copy()
            for j, values, codes in zip(
                replacement.columns, replacement.levels, replacement.codes, strict=True
            ):
                code = codes[0 if len(codes) == 1 else place, variant]
                altered[0, j] = values[code]
            variants.append(np.reshape(model.predict(altered), -1))
        answers.append(variants)
    return np.array(answers)


def keep(which, index, variants, answers):
    """A reduction that forgets nothing."""
    return index.copy(), variants, answers.copy()


def assembled(rows, replacement, blocks, n_outputs):
    """Blocks put together; every row and variant must come exactly once."""
    index = np.arange(rows.n_rows) if replacement.rows is None else replacement.rows
    place = {row: position for position, row in enumerate(index)}
    whole = np.full((len(index), replacement.n_variants, n_outputs), np.nan)
    for rows_of_block, variants, answers in blocks:
        positions = [place[row] for row in rows_of_block]
        assert np.isnan(whole[positions, variants]).all()
        whole[positions, variants] = answers
    assert not np.isnan(whole).any()
    return whole


@contextmanager
def working_memory(mebibytes):
    """A working memory that allows blocks of few rows."""
    with config_context(working_memory=mebibytes):
        yield


# In MiB; the second allows some twenty rows at a time, the third less than one.
MEMORIES = (1024, 2e-3, 1e-9)


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("model, n_outputs", [(TREE, 1), (Counting(), 2)])
def test_answers_are_those_of_single_rows(model, n_outputs, memory):
    rows = as_rows(X)
    asked = replacements(rows)
    with working_memory(memory):
        found = responses(make_response(model), rows, asked, keep)
    for replacement, blocks in zip(asked, found, strict=True):
        assert_array_equal(
            assembled(rows, replacement, blocks, n_outputs),
            literal_answers(model, rows, replacement),
        )


@pytest.mark.parametrize("n_rows, reads", [(1, False), (53, True)])
def test_trees_are_read_unless_there_are_few_rows_to_predict(n_rows, reads):
    rows, response = as_rows(X[:n_rows]), make_response(TREE)
    variant = Replacement((0,), (X[:1, 0],), (np.zeros((1, 1), int),))
    for method, expected in {"auto": reads, "tree": True, "brute": False}.items():
        found = choose_evaluator(method, response, rows, [variant])
        assert isinstance(found, ReplacedTrees) is expected


@pytest.mark.parametrize("n_leaves, reads", [(150, True), (250, False)])
def test_differences_of_large_trees_are_predicted(n_leaves, reads):
    X = np.arange(2000.0)[:, None]
    tree = DecisionTreeRegressor(max_leaf_nodes=n_leaves).fit(X, np.sin(X[:, 0]))
    variants = Replacement((0,), (X[:3, 0],), (np.arange(3)[None],))
    of_tree = as_rows(X), [variants]
    for additive, expected in {True: reads, False: True}.items():
        found = choose_evaluator(
            "auto", make_response(tree), *of_tree, additive=additive
        )
        assert isinstance(found, ReplacedTrees) is expected


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("memory", MEMORIES)
def test_blocks_do_not_depend_on_the_number_of_workers(memory):
    rows = as_rows(X)
    asked = replacements(rows)
    response = make_response(TREE)
    found = []
    for n_jobs in (None, 2, 3):
        with ExitStack() as stack:
            stack.enter_context(working_memory(memory))
            stack.enter_context(parallel_config(backend="threading"))
            found.append(responses(response, rows, asked, keep, n_jobs=n_jobs))
    for other in found[1:]:
        for blocks, again in zip(found[0], other, strict=True):
            assert len(blocks) == len(again)
            for block, same in zip(blocks, again, strict=True):
                assert_array_equal(block[0], same[0])
                assert block[1] == same[1]
                assert_array_equal(block[2], same[2])


def test_blocks_come_in_the_order_of_rows_and_variants():
    rows = as_rows(X)
    with working_memory(2e-3):
        found = responses(make_response(TREE), rows, replacements(rows), keep)
    for blocks in found:
        places = [(index[0], variants.start) for index, variants, _ in blocks]
        assert places == sorted(places)
    assert len(found[0]) > 1


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_model_gets_each_altered_row_once(memory, n_jobs):
    rows = as_rows(X)
    asked = replacements(rows)
    model = Counting()
    with working_memory(memory), parallel_config(backend="threading"):
        responses(make_response(model), rows, asked, keep, n_jobs=n_jobs)
    expected = sum(
        (rows.n_rows if part.rows is None else len(part.rows)) * part.n_variants
        for part in asked
    )
    assert sum(model.calls) == expected


def test_blocks_fit_the_working_memory():
    """A quarter of it, eight bytes an entry; variants asked for together stay so."""
    rows = as_rows(X)
    model = Counting()
    with working_memory(0.01):
        responses(make_response(model), rows, replacements(rows), keep)
    assert max(model.calls) <= 0.01 * 2**20 / 4 / (8 * 3)
    model.calls.clear()
    together = [replace(part, together=True) for part in replacements(rows)]
    with working_memory(1e-9):
        responses(make_response(model), rows, replacements(rows), keep)
        assert set(model.calls) == {1}
        found = responses(make_response(model), rows, together, keep)
    for part, blocks in zip(together, found, strict=True):
        widths = {variants.stop - variants.start for _, variants, _ in blocks}
        assert widths == {part.n_variants}


def test_few_calls_when_memory_allows():
    """All variants of all rows of a replacement in one call."""
    rows = as_rows(X)
    model = Counting()
    asked = replacements(rows)
    responses(make_response(model), rows, asked, keep)
    assert len(model.calls) == len(asked)


def test_reductions_hear_which_replacement_it_is():
    rows = as_rows(X)
    asked = replacements(rows)
    found = responses(make_response(TREE), rows, asked, lambda which, *_: which)
    assert [set(blocks) for blocks in found] == [{k} for k in range(len(asked))]


def test_nothing_to_exchange_is_nothing_to_ask():
    model = Counting()
    assert responses(make_response(model), as_rows(X), [], keep) == []
    empty = Replacement((0,), (X[:, 0],), (np.zeros((1, 2), int),), np.array([], int))
    assert responses(make_response(model), as_rows(X), [empty], keep) == [[]]
    assert model.calls == []


class Spy(RegressorMixin, BaseEstimator):
    """A model that notes what its input looks like, and answers with its row number."""

    def __init__(self):
        self.seen = []

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        self.seen.append((schema(X), cells(X)))
        return np.arange(as_rows(X).n_rows, dtype=float)


@pytest.mark.thorough(after=8)
@pytest.mark.parametrize("kind", CONTAINERS)
@pytest.mark.parametrize("memory", [1024, 1e-9])
def test_the_model_sees_the_container_that_it_was_given(kind, memory):
    """The same names, dtypes and categories in every call, and the source untouched."""
    container = CONTAINERS[kind]()
    before = cells(container)
    rows = as_rows(container)
    donors = np.array([3, 1])
    asked = [
        Replacement(
            (j,), (gather(rows.column(j), donors),), (np.array([[0, 1]]),), some
        )
        for j in range(rows.n_columns)
        for some in (None, np.array([4, 2]))
    ]
    model = Spy()
    with working_memory(memory):
        responses(make_response(model), rows, asked, keep)
    told = [seen for seen, _ in model.seen]
    assert told == [schema(container)] * len(told)
    assert same_cells(cells(container), before)
    expected = [
        [before[donor][k] if k == j else before[row][k] for k in range(rows.n_columns)]
        for j in range(rows.n_columns)
        for some in (range(rows.n_rows), (4, 2))
        for row in some
        for donor in donors
    ]
    sent = [row for _, block in model.seen for row in block]
    assert len(sent) == len(expected)
    keys = [sorted(map(repr, part)) for part in (sent, expected)]
    assert keys[0] == keys[1]


@pytest.mark.parametrize("memory", MEMORIES)
def test_plain_responses_are_those_of_all_rows(memory):
    model = Counting()
    with working_memory(memory):
        found = plain_responses(make_response(model), as_rows(X))
    assert_array_equal(found, model.predict(X))


@pytest.mark.parametrize("kind", CONTAINERS)
def test_plain_responses_show_the_container_as_it_is(kind):
    container = CONTAINERS[kind]()
    for memory in (1024, 1e-9):
        model = Spy()
        with working_memory(memory):
            plain_responses(make_response(model), as_rows(container))
        told = [seen for seen, _ in model.seen]
        assert told == [schema(container)] * len(told)
        sent = [row for _, block in model.seen for row in block]
        assert same_cells(sent, cells(container))
