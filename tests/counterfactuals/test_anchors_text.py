"""Anchors of texts: words that are enough, and what stands in place of the others."""

import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline

from sklearn_interpret.counterfactuals import AnchorsText
from sklearn_interpret.exceptions import NoAnchorWarning

TEXTS = [
    "free phone, win a free phone now!",
    "check my channel for free money",
    "what a nice song",
    "the best song that she has ever sung, what a voice",
    "win money now",
    "love this, love it",
]
SPAM = np.array(["spam", "spam", "fine", "fine", "spam", "fine"])


class Having(ClassifierMixin, BaseEstimator):
    """Says whether texts have all of some words; keeps what it was asked about."""

    def __init__(self, *words):
        self.words = words

    def fit(self, X=None, y=None):
        self.classes_, self.asked_ = np.array([False, True]), []
        return self

    def predict(self, X):
        self.asked_ += list(X)
        return np.array([all(word in text for word in self.words) for text in X])


def having(*words):
    """A classifier of texts that have all of the words."""
    model = Having()
    model.words = words
    return model


def around(model, X=TEXTS, **params):
    params = {"random_state": 0, "n_samples": 500, **params}
    return AnchorsText(FrozenEstimator(model.fit()), **params).fit(X)


def words_of(explanation, row=0):
    return [condition.word for condition in explanation.rules[row]]


@pytest.mark.parametrize("replacement", ["mask", "corpus"])
@pytest.mark.parametrize("words", [("zebra",), ("zebra", "lion")])
def test_the_words_that_are_enough(words, replacement):
    model = having(*words)
    inspector = around(model, replacement=replacement)
    explanation = inspector.explain(["a zebra and a lion, and then a mouse"])
    assert words_of(explanation) == list(words)
    assert explanation.status[0] == "found"
    assert explanation.coverage[0] == 0
    assert explanation.text(0) == " and ".join(map(repr, words))


def test_coverage_is_counted_on_the_texts_of_fit():
    model = having("free")
    explanation = around(model).explain(TEXTS[:2])
    assert_allclose(explanation.coverage, 2 / 6)
    assert explanation.holds(TEXTS).tolist() == [[True] * 2 + [False] * 4] * 2


@pytest.mark.parametrize("mask_token", [None, "UNK"])
def test_copies_have_the_mask_in_place_of_words(mask_token):
    model = having("song")
    inspector = around(model, mask_token=mask_token)
    model.asked_.clear()
    inspector.explain(["nice, song!"])
    mask = mask_token or ""
    copies = {f"{a}, {b}!" for a in ("nice", mask) for b in ("song", mask)}
    assert set(model.asked_) == copies


def test_copies_have_words_of_the_corpus():
    model = having("x")
    inspector = around(model, ["one two", "one"], replacement="corpus")
    model.asked_.clear()
    inspector.explain(["x-y"])
    assert set(model.asked_) >= {"x-y", "x-one", "x-two", "one-one", "two-one"}
    parts = {tuple(text.split("-")) for text in model.asked_}
    assert {a for a, _ in parts} == {"x", "one", "two"}


def test_rules_of_a_bag_of_words_are_as_short_as_any():
    model = make_pipeline(CountVectorizer(binary=True), LogisticRegression(C=10))
    model.fit(TEXTS, SPAM)
    inspector = AnchorsText(FrozenEstimator(model), random_state=0).fit(TEXTS)
    text = "win a free song for the voice"
    (rule,) = inspector.explain([text]).rules
    words = text.split()
    masks = np.array([[k >> j & 1 for j in range(7)] for k in range(128)], dtype=bool)
    copies = [" ".join(np.array(words)[mask]) for mask in masks]
    same = model.predict(copies) == model.predict([text])[0]

    def precision(rule):
        return same[masks[:, rule].all(axis=1)].mean()

    found = [words.index(condition.word) for condition in rule]
    assert precision(found) >= 0.95
    for size in range(len(found)):
        assert max(map(precision, map(list, combinations(range(7), size)))) < 0.97


def test_places_of_words():
    class LastWord(Having):
        def predict(self, X):
            return np.array([text.endswith("so") for text in X])

    text = "so it is so"
    explanation = around(LastWord(), bow=False).explain([text])
    assert explanation.text(0) == "'so (2)'"
    assert explanation.holds([text, "so it is", "so so"])[0].tolist() == [1, 0, 1]


def test_a_tokenizer_of_chinese():
    model = having("喜欢")

    def tokenizer(text):
        return [word for word in ("我", "喜欢", "猫") if word in text]

    inspector = around(model, ["我喜欢", "猫"], tokenizer=tokenizer)
    explanation = inspector.explain(["我喜欢猫"])
    assert words_of(explanation) == ["喜欢"]
    assert explanation.coverage[0] == 0.5


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series, pl.Series])
def test_containers(kind):
    model = make_pipeline(CountVectorizer(), LogisticRegression(C=10))
    inspector = AnchorsText(model, random_state=0, n_samples=100)
    expected = inspector.fit(TEXTS, SPAM).explain(TEXTS).to_frame()
    found = inspector.fit(kind(TEXTS), SPAM).explain(kind(TEXTS)).to_frame()
    pd.testing.assert_frame_equal(found, expected)


# Few draws are not enough for all texts.
@pytest.mark.thorough(after=1)
@pytest.mark.filterwarnings("ignore::sklearn_interpret.exceptions.NoAnchorWarning")
@pytest.mark.parametrize("replacement", ["mask", "corpus"])
def test_results_depend_on_the_text_and_the_seed_alone(replacement):
    model = make_pipeline(CountVectorizer(), LogisticRegression(C=10))
    params = {"random_state": 0, "n_samples": 200, "replacement": replacement}
    inspector = AnchorsText(model, **params).fit(TEXTS, SPAM)
    expected = inspector.explain(TEXTS).to_frame()
    alone = pd.concat(inspector.explain([text]).to_frame() for text in TEXTS)
    pd.testing.assert_frame_equal(alone.reset_index(drop=True), expected)
    other = pickle.loads(pickle.dumps(inspector)).set_params(n_jobs=2)
    with parallel_config("threading"):
        pd.testing.assert_frame_equal(other.explain(TEXTS).to_frame(), expected)


def test_texts_without_words():
    model = having("x")
    inspector = around(model, ["", "?"], replacement="corpus")
    explanation = inspector.explain(["", "!"])
    assert explanation.rules.tolist() == [(), ()]
    assert explanation.status.tolist() == ["found", "found"]


def test_weights_count_in_coverage():
    model = having("free")
    inspector = AnchorsText(FrozenEstimator(model.fit()), random_state=0)
    inspector.fit(["free", "not"], sample_weight=[3.0, 1.0])
    assert inspector.explain(["free lunch"]).coverage[0] == 0.75


def test_regressors_and_failures():
    model = make_pipeline(CountVectorizer(), Ridge(alpha=0.1))
    y = (SPAM == "spam").astype(float)
    inspector = AnchorsText(model, tolerance=1e-9, max_anchor_size=1, n_samples=100)
    with pytest.warns(NoAnchorWarning, match="Try a lower precision"):
        explanation = inspector.fit(TEXTS, y).explain(TEXTS[:1])
    assert explanation.status[0] == "failed"
    inspector.set_params(tolerance=100.0)
    assert inspector.fit(TEXTS, y).explain(TEXTS[:1]).rules[0] == ()


@pytest.mark.parametrize(
    ("params", "X", "message"),
    [
        ({"split_expression": "("}, TEXTS, "split_expression"),
        ({"replacement": "x"}, TEXTS, "replacement"),
        ({"precision": 1.0}, TEXTS, "precision"),
        ({}, [], "no texts"),
    ],
)
def test_what_is_refused(params, X, message):
    with pytest.raises(ValueError, match=message):
        around(Having(), X, **params)


def test_a_single_text_is_refused():
    with pytest.raises(TypeError, match="single str"):
        around(Having(), "text")
