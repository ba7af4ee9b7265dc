"""LIME for texts: splitting, weights, explanations, and what may be passed in."""

import pickle
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal, assert_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfVectorizer,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import estimator_checks

from sklearn_interpret._core.local.tokens import Splitter, feature_name
from sklearn_interpret._model.formulas.bags_of_words import word_form
from sklearn_interpret.exceptions import LowFidelityWarning, UndefinedFidelityWarning
from sklearn_interpret.surrogates import LimeText, LimeTextDisplay, TextExplanation

TEXTS = [
    "free phone, win a free phone now!",
    "check my channel for free money",
    "what a nice song",
    "the best song that she has ever sung, what a voice",
    "win money now",
    "love this, love it",
]
SPAM = np.array(["spam", "spam", "fine", "fine", "spam", "fine"])
KINDS = np.array(["spam", "spam", "fine", "praise", "spam", "praise"])
WORDS = r"(?u)\w+"


def counts_model(**params):
    """A logistic regression on whether words are there."""
    vectorizer = CountVectorizer(binary=True, token_pattern=WORDS, **params)
    return make_pipeline(vectorizer, LogisticRegression(C=10))


def fitted(model=None, y=SPAM, X=TEXTS, **params):
    params = {"random_state": 0, "n_samples": 64, **params}
    return LimeText(counts_model() if model is None else model, **params).fit(X, y)


def by_word(explanation, row, output=0):
    """Weights of a text's words that are not zero."""
    values, names = explanation.values[row], explanation.feature_names
    values = values if values.ndim == 1 else values[:, output]
    return {names[j]: values[j] for j in np.flatnonzero(values)}


# Taking texts apart and putting them together


@given(st.text(), st.sampled_from([r"\W+", r"\s+", "", r"(a)|(b)", r"\b", "x*"]))
def test_pieces_are_the_text(text, expression):
    tokens = Splitter(expression, None, True)(text)
    assert "".join(tokens.pieces) == text
    assert all(tokens.pieces)
    kept = np.ones((2, len(tokens.keys)), dtype=bool)
    assert tokens.copies(kept) == [text, text]
    words = {tokens.pieces[place] for place in np.flatnonzero(tokens.features >= 0)}
    assert words == {word for word, _ in tokens.keys}


@given(
    st.lists(st.sampled_from(["a", "b", "ab", " ", "ö", "\n", "語", "😀"])), st.data()
)
def test_copies_lack_what_is_left_out(parts, data):
    text = "".join(parts)
    tokens = Splitter("", list, False)(text)
    assert tokens.keys == Splitter("", None, False)(text).keys
    letters = list(text)
    kept = data.draw(st.lists(st.booleans(), min_size=len(text), max_size=len(text)))
    mask = np.array(kept, dtype=bool)[None]
    left = [letter for letter, stays in zip(letters, kept, strict=True) if stays]
    assert tokens.copies(mask) == ["".join(left)]
    masked = [c if stays else "_?" for c, stays in zip(letters, kept, strict=True)]
    assert tokens.copies(mask, "_?") == ["".join(masked)]


def test_words_and_places():
    text = "  Free, free -- Free?\n"
    tokens = Splitter(r"\W+", None, True)(text)
    assert tokens.pieces == ("  ", "Free", ", ", "free", " -- ", "Free", "?\n")
    assert tokens.features.tolist() == [-1, 0, -1, 1, -1, 0, -1]
    assert tokens.copies(np.array([[False, True]])) == ["  , free -- ?\n"]
    tokens = Splitter(r"\W+", None, False)(text)
    assert [feature_name(key) for key in tokens.keys] == ["Free", "free", "Free (2)"]
    assert tokens.copies(np.array([[True, True, False]])) == ["  Free, free -- ?\n"]


@pytest.mark.parametrize(
    ("vectorizer", "words"),
    [
        (CountVectorizer(), ["free", "the", "i", "é"]),
        (CountVectorizer(lowercase=False), ["Free", "the", "The", "I", "free", "é"]),
        (TfidfVectorizer(strip_accents="unicode"), ["free", "the", "i", "e"]),
        (HashingVectorizer(analyzer="char"), ["free", "the", "i", "é"]),
        (CountVectorizer(stop_words="english"), ["free", "the", "i", "é"]),
        (CountVectorizer(analyzer=str.split), ["Free", "the", "The", "I", "free", "é"]),
        (
            make_union(TfidfVectorizer(), TfidfVectorizer(analyzer="char_wb")),
            ["free", "the", "i", "é"],
        ),
        (FunctionTransformer(), ["Free", "the", "The", "I", "free", "é"]),
    ],
)
def test_words_are_what_the_analyzer_makes_equal(vectorizer, words):
    text = "Free the The I free é"
    form = word_form(FrozenEstimator(make_pipeline(vectorizer, Ridge())))
    tokens = Splitter(r"\s+", None, True, form)(text)
    assert [word for word, _ in tokens.keys] == words
    assert "".join(tokens.pieces) == text


def test_tokens_are_found_from_left_to_right():
    tokens = Splitter("", lambda text: ["ab", "", "a", "b"], True)("ab-a b")
    assert tokens.pieces == ("ab", "-", "a", " ", "b")
    with pytest.raises(ValueError, match=r"token 'a' \(number 1\).*position 1.*'b'"):
        Splitter("", lambda text: ["a", "a"], True)("ab")


@pytest.mark.parametrize(
    "tokens, message",
    [("ab", "returned str"), (1, "tokenizer=.*not iterable"), ([1], "token 0")],
)
def test_tokenizers_that_return_no_words(tokens, message):
    with pytest.raises(TypeError, match=message):
        fitted(tokenizer=lambda text: tokens).explain(["ab"])


# What the weights are


@pytest.mark.parametrize("n_samples", [100, 2000])
@pytest.mark.parametrize("kernel_width", [None, 100.0])
def test_weights_of_a_linear_model_are_its_own(n_samples, kernel_width):
    inspector = fitted(
        n_samples=n_samples,
        kernel_width=kernel_width,
        n_features_to_select=None,
        response_method="decision_function",
    )
    explanation = inspector.explain(TEXTS)
    vectorizer, linear = inspector.estimator_
    known = dict(zip(vectorizer.get_feature_names_out(), linear.coef_[0], strict=True))
    for row, text in enumerate(TEXTS):
        words = vectorizer.build_analyzer()(text)
        weights = by_word(explanation, row)
        assert set(weights) == set(words)
        for word in words:
            assert weights[word] == pytest.approx(known[word], abs=1e-6)
    assert_allclose(explanation.base_values, linear.intercept_[0], atol=1e-6)
    assert_allclose(explanation.fidelity, 1, atol=1e-9)
    assert_allclose(explanation.additivity_error(), 0, atol=1e-6)
    assert_allclose(explanation.local_predictions, explanation.predictions, atol=1e-6)


def test_fidelity_is_the_weighted_r2_by_hand():
    inspector = fitted(n_samples=500, n_features_to_select=2, kernel_width=0.4)
    explanation = inspector.explain(["win a free phone"])
    words = ["win", "a", "free", "phone"]
    kept = np.array([[i >> j & 1 for j in range(4)] for i in range(16)], dtype=float)
    # Separators stay where they were: only whole words matter to the model.
    copies = [" ".join(np.array(words)[mask > 0]) for mask in kept]
    answers = inspector.predict_proba(copies)[:, 1]
    sizes = kept.sum(axis=1).astype(int)
    weights = 1 / np.array([1, 4, 6, 4, 1])[sizes]
    weights = weights * np.exp(-((1 - np.sqrt(sizes / 4)) ** 2) / (2 * 0.4**2))
    used = [j for j, word in enumerate(words) if word in by_word(explanation, 0)]
    assert len(used) == 2
    linear = LinearRegression().fit(kept[:, used], answers, sample_weight=weights)
    score = linear.score(kept[:, used], answers, sample_weight=weights)
    assert explanation.fidelity[0] == pytest.approx(score, abs=1e-8)
    found = [by_word(explanation, 0)[words[j]] for j in used]
    assert_allclose(found, linear.coef_, atol=1e-8)
    assert_array_equal(explanation.standard_errors, 0)


@pytest.mark.parametrize("selection", ["lars", "forward", "highest_weights", "none"])
def test_k_words_are_exactly_k(selection):
    inspector = fitted(n_features_to_select=3, feature_selection=selection)
    used = inspector.explain(TEXTS).selected.sum(axis=1)
    n_words = [len(set(Splitter(r"\W+", None, True)(text).keys)) for text in TEXTS]
    expected = [size if selection == "none" else min(3, size) for size in n_words]
    assert used.tolist() == expected


def test_order_of_words_matters_to_places_only():
    """A model of pairs of words sees which "love" is gone."""
    model = make_pipeline(CountVectorizer(ngram_range=(2, 2)), LogisticRegression())
    together = fitted(model).explain(["love this, love it"])
    assert together.feature_names == ("love", "this", "it")
    apart = fitted(model, bow=False, mask_token="UNKWORDZ").explain(
        ["love this, love it"]
    )
    assert apart.feature_names == ("love", "this", "love (2)", "it")
    assert apart.token_features[0] == (0, -1, 1, -1, 2, -1, 3)
    weights = by_word(apart, 0)
    assert weights["love"] != weights["love (2)"]


class Listening(ClassifierMixin, BaseEstimator):
    """Knows spam by the word "free", and keeps the containers that it is given."""

    def fit(self, X, y):
        self.classes_, self.seen_ = np.unique(y), []
        return self

    def predict_proba(self, X):
        self.seen_.append(X)
        free = np.array(["free" in text for text in X], dtype=float)
        return np.stack([1 - free, free], axis=1)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


@pytest.mark.parametrize("mask_token", [None, "<MASK>"])
@pytest.mark.parametrize("bow", [True, False])
def test_what_the_model_is_asked(bow, mask_token):
    inspector = fitted(Listening(), bow=bow, mask_token=mask_token)
    del inspector.estimator_.seen_[:]
    explanation = inspector.explain(["so, so free"])
    asked = {text for texts in inspector.estimator_.seen_ for text in texts}
    gone = mask_token or ""
    expected = {
        f"{first}, {second} {third}"
        for first in ("so", gone)
        for second in ("so", gone)
        for third in ("free", gone)
        if first == second or not bow
    }
    assert asked == expected
    assert by_word(explanation, 0)["free"] == pytest.approx(1)
    assert explanation.fidelity[0] == pytest.approx(1)


@pytest.mark.parametrize("tokenizer", [list, None, lambda text: ["この", "曲", "無料"]])
def test_texts_without_spaces(tokenizer):
    texts = ["この曲は無料です", "美しい曲ですね"]
    model = make_pipeline(
        CountVectorizer(analyzer="char", binary=True), LogisticRegression()
    )
    expression = "" if tokenizer is None else r"\W+"
    inspector = LimeText(
        model,
        tokenizer=tokenizer,
        split_expression=expression,
        response_method="decision_function",
        random_state=0,
    ).fit([*texts, "無料", "曲"], [1, 0, 1, 0])
    explanation = inspector.explain(texts[:1])
    assert "".join(explanation.tokens[0]) == texts[0]
    if tokenizer in (list, None):
        linear = inspector.estimator_[-1].coef_[0]
        letters = inspector.estimator_[0].get_feature_names_out()
        known = dict(zip(letters, linear, strict=True))
        for letter, weight in by_word(explanation, 0).items():
            assert weight == pytest.approx(known[letter], abs=1e-6)
    else:
        assert explanation.feature_names == ("この", "曲", "無料")
        assert explanation.words(0)[0][0] == "無料"


def test_a_tree_as_surrogate():
    inspector = fitted(surrogate=DecisionTreeRegressor(max_depth=1, random_state=0))
    explanation = inspector.explain(TEXTS[:1])
    assert explanation.standard_errors is None
    assert explanation.values.sum() == pytest.approx(1)


# Explanations of several texts


def long_texts(n_texts=4, n_words=30):
    rng = np.random.default_rng(0)
    vocabulary = np.array([f"w{i}" for i in range(40)])
    return [" ".join(rng.choice(vocabulary, n_words)) for _ in range(n_texts)]


def test_a_text_alone_and_among_others():
    texts = [*long_texts(), *TEXTS, ""]
    labels = [*SPAM, *["fine"] * 4]
    inspector = fitted(X=texts[:10], y=labels, n_samples=50, min_fidelity=None)
    many = inspector.explain(texts)
    with parallel_config("threading", n_jobs=2):  # processes take long to start
        several = inspector.explain(texts)
    assert_array_equal(several.values, many.values)
    for row in range(len(texts)):
        alone = inspector.explain([texts[row]])
        assert by_word(alone, 0) == by_word(many, row)
        for name in ("fidelity", "base_values", "local_predictions", "tokens"):
            assert_equal(getattr(alone, name)[0], getattr(many, name)[row])
    backwards = inspector.explain(texts[::-1])
    assert by_word(backwards, 0) == by_word(many, len(texts) - 1)
    assert by_word(many, 0)


def test_words_are_the_union_in_order_of_appearance():
    explanation = fitted(min_fidelity=None).explain(["b a b", "", "c a"])
    assert explanation.feature_names == ("b", "a", "c")
    assert explanation.token_features.tolist() == [(0, -1, 1, -1, 0), (), (2, -1, 1)]
    assert [*map("".join, explanation.tokens)] == ["b a b", "", "c a"]
    assert_array_equal(explanation.values[1], 0)
    assert explanation.values[0, 2] == explanation.values[2, 0] == 0
    last = explanation[[2, 0]]
    assert last.tokens[0] == ("c", " ", "a")
    assert last.data == ["c a", "b a b"]
    assert [len(one) for one in explanation] == [1, 1, 1]


def test_half_characters_are_written_in_html():
    half = "free \ud800 song"
    explanation = fitted(min_fidelity=None).explain([half])
    for html in (explanation.to_html(), explanation._repr_html_()):
        assert "&#55296;" in html
        html.encode("utf-8")
    LimeTextDisplay.from_explanation(explanation, target="spam").figure_.savefig(
        BytesIO()
    )


def test_texts_without_words():
    inspector = fitted()
    with pytest.warns(UndefinedFidelityWarning, match="weights of 2 of 2 rows"):
        explanation = inspector.explain(["", " ... "])
    assert explanation.values.shape == (2, 0)
    assert_array_equal(explanation.predictions, explanation.base_values)
    assert np.isnan(explanation.fidelity).all()
    assert explanation.to_frame().shape == (2, 0)
    assert "TextExplanation" in repr(explanation)
    assert "R² undefined" in explanation._repr_html_()
    assert " ... " in explanation.to_html(1)
    assert_array_equal(inspector.stability_score([""]), 1)


def test_several_outputs():
    model = make_pipeline(TfidfVectorizer(), LogisticRegression())
    inspector = fitted(model, y=KINDS)
    explanation = inspector.explain(TEXTS[:2])
    p = len(explanation.feature_names)
    assert explanation.values.shape == explanation.selected.shape == (2, p, 3)
    assert explanation.fidelity.shape == (2, 3)
    assert explanation.output_names == ("fine", "praise", "spam")
    one = fitted(model, y=KINDS, target="spam").explain(TEXTS[:2])
    assert_allclose(one.values, explanation.values[:, :, 2], atol=1e-14)
    assert one.output_names == ("spam",)
    assert {w for w, _ in explanation.words(0, "spam")} == {w for w, _ in one.words(0)}
    with pytest.raises(ValueError, match="3 outputs"):
        explanation.words(0)
    frame = explanation.to_frame()
    assert frame.shape == (2, 3 * p)
    assert explanation.to_html(0).count("output ") == 3
    assert explanation.to_html(0, "fine").count("output ") == 1


def test_regressors_and_trees():
    model = make_pipeline(CountVectorizer(), Ridge())
    inspector = fitted(model, y=np.arange(6.0))
    assert inspector.explain(TEXTS).predictions == pytest.approx(
        inspector.predict(TEXTS)
    )
    tree = make_pipeline(CountVectorizer(), DecisionTreeClassifier(random_state=0))
    inspector = fitted(tree, min_fidelity=None)
    split = inspector.estimator_[0].get_feature_names_out()[
        inspector.estimator_[1].tree_.feature[0]
    ]
    explanation = inspector.explain(TEXTS)
    asked = [row for row, text in enumerate(TEXTS) if split in text]
    assert asked
    assert all(explanation.words(row)[0][0] == split for row in asked)


# HTML


def test_html_escapes_everything():
    evil = "<script>alert('x')</script> & \"free\""
    inspector = LimeText(
        Listening(), tokenizer=lambda text: ["<script>", "free"], random_state=0
    ).fit([evil, "fine"], ["<b>", "<i>"])
    explanation = inspector.explain([evil])
    for html in (explanation.to_html(0), explanation._repr_html_()):
        assert "<script>" not in html
        assert "<b>" not in html
        assert "<i>" not in html
        assert "&lt;script&gt;" in html
        assert "&quot;" in html
        assert "R² = 1" in html
        assert 'title="free: +1"' in html


def test_html_colours_by_sign_and_size():
    explanation = TextExplanation(
        [[1.0, -0.5, 0.0]],
        [0.0],
        feature_names=["up", "down", "none"],
        tokens=[["up", " ", "down", " none ", "none", " ", "up"]],
        token_features=[[0, -1, 1, -1, 2, -1, 0]],
    )
    html = explanation.to_html()
    assert html.count("<span") == 3
    assert html.count("rgba(213, 94, 0, 0.70)") == 2
    assert html.count("rgba(0, 114, 178, 0.40)") == 1
    assert explanation.words(0) == [("up", 1.0), ("down", -0.5)]


def test_what_a_notebook_shows_is_bounded():
    texts = [" ".join(f"w{i}" for i in range(700))] * 5
    explanation = fitted(min_fidelity=None, n_samples=20).explain(texts)
    assert "…" in explanation._repr_html_()
    assert len(explanation._repr_html_()) < 50_000
    assert explanation._repr_html_().count("Text ") == 3


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"tokens": []}, "tokens has 0 texts"),
        ({"token_features": [[0, -1], [0]]}, "token_features has 2 texts"),
        ({"token_features": [[0]]}, "2 pieces of text 0"),
        ({"token_features": [[0, 1]]}, "point beyond the 1 features"),
        ({"data": ["a", "b"]}, "data has 2 rows"),
        ({"columns": [[0]]}, "columns must be None"),
    ],
)
def test_parts_that_do_not_fit(changes, message):
    parts = {"tokens": [["a", " "]], "token_features": [[0, -1]], **changes}
    with pytest.raises(ValueError, match=message):
        TextExplanation([[1.0]], [0.0], **parts)


# Input and contract


@pytest.mark.parametrize(
    "X, error, message",
    [
        ("one text", TypeError, r"single str: pass a list of texts, \[X\]"),
        (b"bytes", TypeError, "single bytes"),
        ([], ValueError, r"Found array with 0 sample\(s\)"),
        (["a", 1.5, "b"], TypeError, "1.5, a float, at position 1"),
        (["a", None], TypeError, "None, a NoneType, at position 1"),
        (np.zeros((3, 2)), ValueError, r"shape \(3, 2\)"),
        (np.array([["a"], ["b"]]), ValueError, r"X\[:, 0\]"),
        (np.array([1.0, 2.0]), TypeError, "at position 0"),
        (np.array("a"), TypeError, "one-dimensional array"),
        ({"a", "b"}, TypeError, "got builtins.set"),
        (pd.DataFrame({"text": ["a"]}), TypeError, "pass one of its columns"),
        (None, TypeError, "NoneType"),
    ],
)
def test_bad_texts(X, error, message):
    with pytest.raises(error, match=message):
        fitted(X=X)
    with pytest.raises(error, match=message):
        fitted().explain(X)


@pytest.mark.parametrize(
    "params, name",
    [
        ({"split_expression": "("}, "split_expression"),
        ({"split_expression": None}, "split_expression"),
        ({"tokenizer": "words"}, "tokenizer"),
        ({"mask_token": 1}, "mask_token"),
        ({"bow": "yes"}, "bow"),
        ({"n_samples": 1}, "n_samples"),
        ({"n_features_to_select": 0}, "n_features_to_select"),
        ({"kernel_width": 0}, "kernel_width"),
        ({"feature_selection": "best"}, "feature_selection"),
        ({"surrogate": object()}, "surrogate"),
        ({"min_fidelity": 2}, "min_fidelity"),
        ({"target": "no such class"}, "target"),
        ({"response_method": "predcit"}, "response_method"),
        ({"random_state": "seed"}, "random_state"),
        ({"n_jobs": "two"}, "n_jobs"),
        ({"verbose": "loud"}, "verbose"),
    ],
)
def test_bad_parameters(params, name):
    with pytest.raises((ValueError, TypeError), match=name):
        fitted(**params)


CONTAINERS = {
    "list": list,
    "objects": lambda texts: np.array(texts, dtype=object),
    "strings": np.array,
    "series": lambda texts: pd.Series(
        texts, name="comment", index=list("uvwxyz")[: len(texts)]
    ),
    "plain series": lambda texts: pd.Series(texts, dtype=object),
}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_the_model_sees_the_container_of_fit(kind):
    make = CONTAINERS[kind]
    X = make(TEXTS)
    before = pickle.dumps(X)
    inspector = fitted(Listening(), X=X)
    explanation = inspector.explain(X[:2])
    plain = fitted(Listening()).explain(TEXTS[:2])
    assert_array_equal(explanation.values, plain.values)
    inspector.explain(TEXTS[:1])  # another container than that of fit
    for seen in inspector.estimator_.seen_:
        assert type(seen) is type(X)
        if hasattr(X, "dtype"):
            assert seen.dtype.kind == X.dtype.kind
        if hasattr(X, "name"):
            assert seen.name == X.name
    assert pickle.dumps(X) == before
    assert type(explanation.data) is type(X)
    index = explanation[[1]].to_frame().index.tolist()
    assert index == ({"series": ["v"], "plain series": [1]}.get(kind, [0]))


def test_polars_series():
    polars = pytest.importorskip("polars")
    inspector = fitted(Listening(), X=polars.Series("comment", TEXTS))
    explanation = inspector.explain(polars.Series("comment", TEXTS[:2]))
    plain = fitted(Listening()).explain(TEXTS[:2])
    assert_array_equal(explanation[1].values, plain[1].values)
    assert all(isinstance(seen, polars.Series) for seen in inspector.estimator_.seen_)


def test_little_working_memory_changes_nothing():
    from sklearn import config_context

    inspector = fitted(n_samples=300)
    text = TEXTS[3:4]
    plain = inspector.explain(text)
    with config_context(working_memory=0.01):
        small = inspector.explain(text)
    assert_allclose(small.values, plain.values, rtol=0, atol=1e-12)


def test_copies_and_seeds():
    inspector = fitted(n_samples=50)
    found = inspector.explain(TEXTS).values
    for other in (pickle.loads(pickle.dumps(inspector)), fitted(n_samples=50)):
        assert_array_equal(other.explain(TEXTS).values, found)
    other = clone(inspector).set_params(random_state=1).fit(TEXTS, SPAM)
    assert (other.explain(TEXTS).values != found).any()
    loaded = pickle.loads(pickle.dumps(inspector.explain(TEXTS)))
    assert loaded.tokens.tolist() == inspector.explain(TEXTS).tokens.tolist()


def test_global_random_state_is_untouched():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    inspector = fitted(n_samples=20)
    inspector.explain(TEXTS)
    assert inspector.stability_ <= 1
    after = np.random.get_state()[1]  # noqa: NPY002
    assert_array_equal(after, before)


def test_stability():
    inspector = fitted(n_samples=2000)
    assert inspector.stability_score(["win a free phone"]).tolist() == [1.0]
    inspector = fitted(min_fidelity=None, n_samples=10)
    scores = inspector.stability_score(long_texts())
    assert scores.shape == (4,)
    assert (scores < 1).any()


def test_low_fidelity_is_told():
    def parity(model, X):
        return np.array([len(text.split()) % 2 for text in X], dtype=float)

    inspector = fitted(response_method=parity)
    with pytest.warns(LowFidelityWarning, match="of 1 rows explain less"):
        inspector.explain(["one two three four"])
    clone(inspector).set_params(min_fidelity=None).fit(TEXTS, SPAM).explain(TEXTS)


def test_stands_in_for_its_model():
    model = counts_model().fit(TEXTS, SPAM)
    inspector = LimeText(FrozenEstimator(model)).fit(TEXTS)
    assert is_classifier(inspector)
    assert_array_equal(inspector.predict_proba(TEXTS), model.predict_proba(TEXTS))
    assert inspector.score(TEXTS, SPAM) == model.score(TEXTS, SPAM)
    assert inspector.classes_.tolist() == ["fine", "spam"]
    assert not hasattr(inspector, "n_features_in_")
    tags = inspector.__sklearn_tags__().input_tags
    assert tags.string
    assert not tags.two_d_array
    with pytest.raises(NotFittedError):
        LimeText(model).explain(TEXTS)
    with pytest.raises(ValueError, match="FrozenEstimator"):
        LimeText(model).fit(TEXTS)
    unfitted = counts_model()
    LimeText(unfitted, n_samples=2).fit(TEXTS, SPAM)
    with pytest.raises(NotFittedError):
        unfitted.predict(TEXTS)


def test_weights_go_to_the_model_and_rows_without_any_are_left_out():
    weights = np.array([1.0, 2, 3, 0, 1, 1])
    inspector = LimeText(counts_model(), random_state=0)
    inspector.fit(TEXTS, SPAM, sample_weight=weights)
    model = counts_model().fit(TEXTS, SPAM, logisticregression__sample_weight=weights)
    assert_allclose(inspector.predict_proba(TEXTS), model.predict_proba(TEXTS))


@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_estimator_cloneable,
        estimator_checks.check_estimator_repr,
        estimator_checks.check_estimator_tags_renamed,
        estimator_checks.check_get_params_invariance,
        estimator_checks.check_no_attributes_set_in_init,
        estimator_checks.check_set_params,
    ],
    ids=lambda check: check.__name__,
)
def test_checks_of_scikit_learn_that_ask_for_no_table(check):
    check("LimeText", LimeText(counts_model()))


def test_fit_changes_no_parameter_and_forgets():
    inspector = fitted(tokenizer=str.split, mask_token="?")
    before = inspector.get_params(deep=False)
    inspector.fit(TEXTS, KINDS)
    after = inspector.get_params(deep=False)
    assert all(after[name] is value for name, value in before.items())
    fresh = clone(inspector).fit(TEXTS, KINDS)
    assert_array_equal(inspector.explain(TEXTS).values, fresh.explain(TEXTS).values)
    state = set(vars(inspector))
    inspector.explain(TEXTS)
    assert set(vars(inspector)) == state
