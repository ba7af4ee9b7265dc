"""Counterfactuals of texts: the fewest words, proved; texts joined exactly."""

import pickle
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from sklearn_interpret.counterfactuals import TextCounterfactual
from sklearn_interpret.exceptions import NoCounterfactualWarning, UnreadableModelError
from tests.speeds import examples

VOCABULARY = ["win", "free", "phone", "money", "check", "channel"]
VOCABULARY += ["song", "nice", "best", "voice", "love", "the"]
RNG = np.random.default_rng(0)
# Random texts of words that speak for classes by their place in the vocabulary.
TEXTS = [
    " ".join(RNG.choice(VOCABULARY, size)) for size in RNG.integers(3, 10, size=60)
]
PLACES = [np.mean([VOCABULARY.index(w) for w in t.split()]) for t in TEXTS]
BINARY = np.where(np.array(PLACES) + RNG.normal(size=60) < 5.5, "spam", "fine")
THREE = np.digitize(np.array(PLACES) + RNG.normal(size=60), [4.5, 6.5])
EXPLAINED = [*TEXTS[:9], "Free free, the THE the song!", "unknown words", "voice"]

VECTORIZERS = {
    "counts": [CountVectorizer()],
    "binary": [CountVectorizer(binary=True)],
    "tf-idf": [TfidfVectorizer()],
    "steps": [CountVectorizer(), TfidfTransformer(norm="l1"), SelectKBest(k="all")],
    "hashed": [HashingVectorizer(n_features=2**12)],
    "sublinear": [TfidfVectorizer(sublinear_tf=True, norm=None)],
}

nothing_found = pytest.mark.filterwarnings(
    "ignore::sklearn_interpret.exceptions.NoCounterfactualWarning"
)


def around(model, X=TEXTS, **params):
    return TextCounterfactual(FrozenEstimator(model), **params).fit(X)


def smallest_size(text, holds, most=99):
    """Size of the smallest set of words whose removal satisfies the target, or None."""
    text = text.lower()
    words = sorted(set(text.replace(",", " ").replace("!", " ").split()))
    for size in range(1, min(most, len(words)) + 1):
        kept = [set(words) - set(gone) for gone in combinations(words, size)]
        copies = [
            " ".join(
                w for w in text.replace(",", " ").replace("!", "").split() if w in k
            )
            for k in kept
        ]
        if holds(copies).any():
            return size
    return None


def check(explanation, holds_of):
    """Each set is the smallest by brute force, if it says so; all do."""
    for row, text in enumerate(explanation.data):
        holds = holds_of(text)
        status, size = explanation.status[row], explanation.n_removed[row]
        if status == "unchanged":
            assert holds([text]).all()
            continue
        smallest = smallest_size(text, holds)
        if status == "found":
            assert holds([explanation.texts[row]]).all()
            assert size >= smallest
            assert size == smallest or not explanation.optimal[row]
        else:
            assert smallest is None or status == "failed"


@nothing_found
@pytest.mark.parametrize("kind", VECTORIZERS)
@pytest.mark.parametrize(
    ("method", "labels"),
    [("exact", BINARY), ("search", THREE)],
    ids=["exact", "search"],
)
def test_fewest_words_of_linear_bags_of_words(kind, labels, method):
    model = make_pipeline(*VECTORIZERS[kind], LogisticRegression(C=10))
    model.fit(TEXTS, labels)
    explanation = around(model, method=method).explain(EXPLAINED)
    assert explanation.optimal.all()

    def holds_of(text):
        own = model.predict([text])
        return lambda copies: model.predict(copies) != own

    check(explanation, holds_of)


@pytest.mark.parametrize("method", ["exact", "search"])
def test_words_that_the_model_takes_for_one_are_removed_together(method):
    model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=100))
    model.fit(TEXTS, BINARY)
    texts = ["win FREE Free money song", "win free free money song"]
    upper, lower = around(model, method=method, desired="fine").explain(texts)
    assert upper.status.tolist() == ["found"]
    assert upper.n_removed == lower.n_removed
    assert upper.removed[0] == lower.removed[0]
    assert upper.texts[0].split() == lower.texts[0].split()


@cache
def long_texts():
    vocabulary = [f"w{number}" for number in range(300)]
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(vocabulary, 120)) for _ in range(80)]
    weights = rng.normal(size=300)
    sums = [sum(weights[int(word[1:])] for word in text.split()) for text in texts]
    return texts, np.array(sums) > 5


@pytest.mark.thorough(after=1)
@nothing_found
@pytest.mark.parametrize("kind", ["counts", "tf-idf", "steps"])
def test_long_texts_are_proved_without_asking_about_all_sets(kind):
    texts, labels = long_texts()
    model = make_pipeline(*VECTORIZERS[kind], LogisticRegression(C=1e4))
    inspector = around(model.fit(texts, labels), texts, max_iter=0)
    explanation = inspector.explain(texts[:5])
    assert explanation.optimal.all()
    assert explanation.n_removed.max() > 5
    searched = around(model, texts, method="search", max_iter=2).explain(texts[:5])
    both = (explanation.status == "found") & (searched.status == "found")
    assert both.sum() > 2
    assert (explanation.n_removed <= searched.n_removed)[both].all()


@nothing_found
@pytest.mark.parametrize("desired", [0, 2])
def test_a_class_among_several(desired):
    model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10))
    model.fit(TEXTS, THREE)
    explanation = around(model, desired=desired).explain(EXPLAINED)
    check(explanation, lambda _: lambda copies: model.predict(copies) == desired)
    assert explanation.optimal.all()
    assert set(explanation.answers[explanation.status == "found"]) == {desired}


@nothing_found
@pytest.mark.parametrize("desired", [(0.8, None), (None, 0.3), (0.45, 0.7)])
@pytest.mark.parametrize("target", [None, "fine"])
def test_intervals_of_a_probability(desired, target):
    model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10))
    model.fit(TEXTS, BINARY)
    inspector = around(model, desired=desired, target=target)
    explanation = inspector.explain(EXPLAINED)
    low, high = (-1 if desired[0] is None else desired[0], desired[1] or 2)

    def holds(copies):
        share = model.predict_proba(copies)[:, 0 if target == "fine" else 1]
        return (share >= low) & (share <= high)

    check(explanation, lambda _: holds)
    assert explanation.optimal.all()


@nothing_found
def test_intervals_of_a_prediction():
    model = make_pipeline(CountVectorizer(), Ridge(alpha=0.1)).fit(TEXTS, PLACES)
    explanation = around(model, desired=(7, None)).explain(EXPLAINED)
    check(explanation, lambda _: lambda copies: model.predict(copies) >= 7)
    assert explanation.optimal.all()
    two = make_pipeline(CountVectorizer(), Ridge()).fit(TEXTS, np.c_[PLACES, PLACES])
    explanation = around(two, desired=(None, 4), target=1).explain(EXPLAINED)
    check(explanation, lambda _: lambda copies: two.predict(copies)[:, 1] <= 4)


@nothing_found
@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(CountVectorizer(ngram_range=(1, 2)), LogisticRegression(C=10)),
        make_pipeline(TfidfVectorizer(analyzer="char"), LinearSVC()),
        make_pipeline(TfidfVectorizer(), RandomForestClassifier(9, random_state=0)),
    ],
    ids=["pairs of words", "letters", "forest"],
)
def test_any_model_flips_when_asked_again(model):
    model.fit(TEXTS, BINARY)
    explanation = around(model).explain(EXPLAINED)

    def holds_of(text):
        own = model.predict([text])
        return lambda copies: model.predict(copies) != own

    found = np.flatnonzero(explanation.status == "found")
    assert len(found) > 4
    for row in found:
        assert holds_of(EXPLAINED[row])([explanation.texts[row]]).all()
    inspector = around(model)
    with pytest.raises(UnreadableModelError, match="What can be read"):
        inspector.set_params(method="exact").fit(TEXTS)


@pytest.mark.parametrize("max_iter", [0, 5])
def test_no_word_can_be_given_back(max_iter):
    texts, labels = long_texts()
    model = make_pipeline(CountVectorizer(ngram_range=(1, 2)), LogisticRegression())
    model.fit(texts, labels)
    texts = [text for text, label in zip(texts, labels, strict=True) if label][:2]
    explanation = around(model, texts, max_iter=max_iter).explain(texts)
    assert (explanation.status == "found").all()
    for row, text in enumerate(texts):
        own = model.predict([text])
        gone = set(explanation.words[row])
        for word in gone:
            kept = [w for w in text.split() if w not in gone - {word}]
            assert model.predict([" ".join(kept)]) == own


@nothing_found
def test_models_that_only_look_linear_are_searched():
    for last in (SVC(kernel="linear"), PoissonRegressor()):
        model = make_pipeline(CountVectorizer(), last)
        regresses = isinstance(last, PoissonRegressor)
        model.fit(TEXTS, PLACES if regresses else THREE)
        desired = (None, 5.0) if regresses else "other"
        explanation = around(model, desired=desired).explain(TEXTS[:6])
        own = model.predict(TEXTS[:6])
        for row in np.flatnonzero(explanation.status == "found"):
            (answer,) = model.predict([explanation.texts[row]])
            assert answer <= 5 if regresses else answer != own[row]


class Having(ClassifierMixin, BaseEstimator):
    """Says whether texts have a word; keeps what it was asked about."""

    def __init__(self, word="x"):
        self.word = word

    def fit(self, X=None, y=None):
        self.classes_, self.asked_ = np.array([False, True]), []
        return self

    def predict(self, X):
        return np.array([self.word in text for text in X])

    def predict_proba(self, X):
        self.asked_.append(list(X))
        return np.eye(2)[self.predict(X).astype(int)]


def test_candidates_of_a_round_go_in_one_call():
    model = Having("zebra").fit()
    inspector = around(model)
    explanation = inspector.explain(["a zebra and a lion", "the zebra, the zebra"])
    assert explanation.words.tolist() == [("zebra",), ("zebra",)]
    assert explanation.texts.tolist() == ["a  and a lion", "the , the "]
    assert explanation.spans(1) == [(4, 9), (15, 20)]
    assert explanation.n_removed.tolist() == [1, 1]
    # One round, of all words of both texts; then the responses, before and after.
    assert list(map(len, model.asked_)) == [4 + 2, 2, 2]
    assert set(model.asked_[0]) > {" zebra and  lion", " zebra,  zebra"}


def test_places_masks_and_case():
    model = make_pipeline(CountVectorizer(), LogisticRegression())
    model.fit(["so so so", "no"], [1, 0])
    explanation = around(model, bow=False).explain(["so, so no"])
    assert all(word.startswith("so") for word in explanation.words[0])
    masked = around(Having("So").fit(), mask_token="[MASK]").explain(["So so So"])
    assert masked.texts.tolist() == ["[MASK] so [MASK]"]
    assert masked.words.tolist() == [("So",)]
    with pytest.raises(UnreadableModelError, match="mask_token='UNK'"):
        around(model, method="exact", mask_token="UNK")


def test_a_tokenizer_of_chinese():
    def tokenizer(text):
        return [word for word in ("我", "喜欢", "猫") if word in text]

    inspector = around(Having("喜欢").fit(), ["我喜欢", "猫"], tokenizer=tokenizer)
    explanation = inspector.explain(["我喜欢猫。"])
    assert explanation.words.tolist() == [("喜欢",)]
    assert explanation.texts.tolist() == ["我猫。"]
    # Words that no space parts: removing some makes new ones of their neighbours.
    model = make_pipeline(CountVectorizer(), LogisticRegression())
    model.fit(["我喜欢猫", "我猫"], [0, 1])
    inspector = around(model, tokenizer=tokenizer, method="exact")
    explanation = inspector.explain(["我喜欢猫"])
    assert explanation.words.tolist() == [("喜欢",)]
    assert explanation.optimal.all()


def test_texts_where_nothing_helps():
    model = Having("").fit()
    inspector = around(model)
    with pytest.warns(NoCounterfactualWarning, match="3 of 3 texts; text 0: the text"):
        explanation = inspector.explain(["", "?!", "one two"])
    assert explanation.status.tolist() == ["impossible"] * 3
    assert "the text has no words" in explanation.reasons[0]
    assert explanation.texts.tolist() == [None] * 3
    assert np.isnan(explanation.predictions).all()
    inspector = around(Having("x").fit(), desired=True)
    with pytest.warns(NoCounterfactualWarning):
        explanation = inspector.explain(["x", "y"])
    assert explanation.status.tolist() == ["unchanged", "impossible"]
    assert explanation.answers.tolist() == [True, None]
    both = " ".join(map(str, range(20)))

    class Always(Having):
        def predict(self, X):
            return np.array([len(text.split()) > 10 for text in X])

    with pytest.warns(
        NoCounterfactualWarning, match="at most 5 of its 20 words that the"
    ):
        explanation = around(Always().fit(), max_removed=5, max_iter=1).explain([both])
    assert explanation.status.tolist() == ["failed"]
    assert around(Always().fit(), max_iter=1).explain([both]).n_removed.tolist() == [10]
    with pytest.warns(
        NoCounterfactualWarning, match="at most 1 of its 3 words is enough"
    ):
        explanation = around(Having("a").fit(), max_removed=1).explain(["a ba c"])
    assert explanation.status.tolist() == ["impossible"]


LETTERS = st.text(alphabet="ab é\n\t,.!'-喜欢\u0301İß\ud800", max_size=30)


@examples(40)
@given(text=LETTERS, expression=st.sampled_from([r"\W+", "", r"\s+"]))
@nothing_found
def test_texts_are_equal_otherwise(text, expression):
    inspector = around(Having("a").fit(), ["a"], split_expression=expression)
    explanation = inspector.explain([text])
    pieces, removed = explanation.pieces[0], explanation.removed[0]
    assert "".join(pieces) == text
    assert [text[a:b] for a, b in explanation.spans(0)] == [
        piece for piece, gone in zip(pieces, removed, strict=True) if gone
    ]
    if "a" in text:
        left = [p for p, gone in zip(pieces, removed, strict=True) if not gone]
        assert explanation.texts[0] == "".join(left)
        gone = {p for p, gone in zip(pieces, removed, strict=True) if gone}
        assert gone == set(explanation.words[0])
        assert not gone & set(left)
    assert isinstance(explanation._repr_html_(), str)


@nothing_found
@pytest.mark.parametrize("method", ["exact", "search"])
def test_results_depend_on_the_text_alone(method):
    model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10))
    inspector = TextCounterfactual(model, method=method).fit(TEXTS, BINARY)
    given = EXPLAINED[:-2]
    explanation = inspector.explain(given)
    assert given == EXPLAINED[:-2]
    expected = explanation.to_frame()
    alone = pd.concat(inspector.explain([text]).to_frame() for text in given)
    alone = alone.reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, expected)
    other = pickle.loads(pickle.dumps(inspector)).set_params(n_jobs=2)
    with parallel_config("threading"):
        pd.testing.assert_frame_equal(other.explain(given).to_frame(), expected)
    rows = explanation[2:4].to_frame()
    assert rows["removed"].tolist() == expected["removed"][2:4].tolist()


@nothing_found
@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series, pl.Series])
def test_containers(kind):
    model = make_pipeline(CountVectorizer(), LogisticRegression(C=10))
    inspector = TextCounterfactual(model)
    texts = ["win money", "nice song"]
    expected = inspector.fit(TEXTS, BINARY).explain(texts).to_frame()
    found = inspector.fit(kind(TEXTS), BINARY).explain(kind(texts)).to_frame()
    pd.testing.assert_frame_equal(found, expected)


def test_table_and_html():
    like = pd.Series(["a"])
    inspector = around(Having("<b>").fit(), like, split_expression=r"\s+")
    data = pd.Series(["a <b> & c", "<b>"], index=["p", "q"])
    explanation = inspector.explain(data)
    frame = explanation.to_frame()
    assert frame.index.tolist() == ["p", "q"]
    assert frame["removed"].tolist() == [["<b>"], ["<b>"]]
    assert frame["text"].tolist() == ["a  & c", ""]
    assert frame["before"].tolist() == [True, True]
    assert frame["after"].tolist() == [False, False]
    html = explanation.to_html(0)
    assert "&lt;b&gt;</del> &amp; c" in html
    assert "<b>" not in html
    table = explanation._repr_html_()
    assert html in table
    assert "<b>" not in table
    assert repr(explanation).startswith("RemovalExplanation(n_rows=2)\nwithout '<b>'")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"split_expression": "("}, "split_expression"),
        ({"max_removed": 0}, "max_removed"),
        ({"method": "quick"}, "method"),
        ({"max_iter": -1}, "max_iter"),
        ({"desired": "none"}, "desired='none'"),
        ({"desired": (1, 0)}, "low <= high"),
    ],
)
def test_what_is_refused(params, message):
    with pytest.raises(ValueError, match=message):
        around(Having().fit(), **params)


def test_a_single_text_is_refused():
    with pytest.raises(TypeError, match="single str"):
        around(Having().fit(), "text")
