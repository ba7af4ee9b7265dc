"""Terms of naive Bayes classifiers, against their definitions."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import expit, softmax
from scipy.stats import norm
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, PolynomialFeatures

from sklearn_interpret.decomposition import NaiveBayesContributions
from sklearn_interpret.exceptions import UnreadableModelError

RNG = np.random.default_rng(0)
X = RNG.integers(0, 4, size=(60, 5))
LABELS = np.array(["a", "b", "c"])[(X[:, 0] + RNG.integers(0, 3, size=60)) % 3]
WEIGHTS = RNG.integers(1, 4, size=60)
MODELS = [
    GaussianNB(),
    MultinomialNB(),
    ComplementNB(norm=True),
    BernoulliNB(binarize=1.0),
    CategoricalNB(),
]


def name(model):
    return type(model).__name__


def log_likelihood(model, j, x, k):
    """Logarithm of the likelihood of one number of one feature, given a class."""
    if isinstance(model, GaussianNB):
        return norm.logpdf(x, model.theta_[k, j], np.sqrt(model.var_[k, j]))
    if isinstance(model, CategoricalNB):
        return model.feature_log_prob_[j][k, x]
    if isinstance(model, BernoulliNB):
        p = np.exp(model.feature_log_prob_[k, j])
        return np.log(p if x > model.binarize else 1 - p)
    return x * model.feature_log_prob_[k, j]


def brute(model, rows):
    """Terms (m, n_features, n_classes), number by number."""
    classes = range(len(model.classes_))
    return np.array(
        [
            [[log_likelihood(model, j, x, k) for k in classes] for j, x in enumerate(r)]
            for r in rows
        ]
    )


@pytest.mark.parametrize("model", MODELS, ids=name)
def test_log_odds_of_two_classes(model):
    y = LABELS == "b"
    inspector = NaiveBayesContributions(model).fit(X, y, sample_weight=WEIGHTS)
    explanation = inspector.explain(X)
    terms = brute(inspector.estimator_, X)
    assert_allclose(explanation.values, terms[..., 1] - terms[..., 0], atol=1e-12)
    logs = inspector.estimator_.predict_joint_log_proba(X)
    odds = explanation.base_values + explanation.values.sum(axis=1)
    assert_allclose(odds, logs[:, 1] - logs[:, 0], atol=1e-10)
    assert_allclose(expit(odds), inspector.predict_proba(X)[:, 1], atol=1e-10)
    assert_allclose(explanation.predictions, odds, atol=1e-10)
    assert explanation.response_name == "log-odds"
    assert explanation.output_names == (True,)
    other = NaiveBayesContributions(model, target=False)
    other.fit(X, y, sample_weight=WEIGHTS)
    assert_allclose(other.transform(X), -explanation.values)


@pytest.mark.parametrize("model", MODELS, ids=name)
def test_several_classes_are_measured_from_their_mean(model):
    inspector = NaiveBayesContributions(model).fit(X, LABELS)
    explanation, terms = inspector.explain(X), brute(inspector.estimator_, X)
    expected = terms - terms.mean(axis=2, keepdims=True)
    assert_allclose(explanation.values, expected, atol=1e-12)
    assert_allclose(explanation.additivity_error(), 0, atol=1e-10)
    sums = explanation.base_values + explanation.values.sum(axis=1)
    assert_allclose(softmax(sums, axis=1), inspector.predict_proba(X), atol=1e-10)
    assert_allclose(explanation.values.sum(axis=2), 0, atol=1e-10)
    assert explanation.output_names == ("a", "b", "c")
    one = NaiveBayesContributions(model, target="c").fit(X, LABELS)
    assert_allclose(one.transform(X), explanation.values[..., 2])


def test_the_prior_is_the_base_value():
    y = np.arange(60) < 20
    gaussian = NaiveBayesContributions(GaussianNB()).fit(X, y)
    assert_allclose(gaussian.base_values_, np.log(20 / 40))
    equal = NaiveBayesContributions(GaussianNB()).fit(X, np.arange(60) % 3)
    assert_array_equal(equal.base_values_, np.zeros(3))
    assert NaiveBayesContributions(ComplementNB()).fit(X, y).base_values_ == 0


@pytest.mark.parametrize("model", MODELS[1:4], ids=name)
def test_sparse_rows(model):
    dense = NaiveBayesContributions(model).fit(X, LABELS)
    rows = sparse.csr_array(X)
    explanation = NaiveBayesContributions(model).fit(rows, LABELS).explain(rows)
    assert_allclose(explanation.values, dense.explain(X).values, atol=1e-12)


def test_their_name_is_no_shapley_value():
    model = NaiveBayesContributions(GaussianNB()).fit(X, LABELS)
    assert model.explain(X).value_name == "contribution"


def test_one_class_tells_nothing():
    inspector = NaiveBayesContributions(GaussianNB()).fit(X, np.ones(60))
    assert not inspector.explain(X).values.any()
    assert inspector.base_values_ == 0


def test_columns_of_a_pipeline_are_summed_into_their_input():
    bins = KBinsDiscretizer(3, strategy="uniform", encode="onehot-dense")
    pipeline = make_pipeline(bins, BernoulliNB())
    inspector = NaiveBayesContributions(pipeline).fit(X, LABELS == "a")
    explanation = inspector.explain(X)
    terms = brute(inspector.estimator_[-1], inspector.estimator_[0].transform(X))
    expected = (terms[..., 1] - terms[..., 0]).reshape(60, 5, 3).sum(axis=2)
    assert_allclose(explanation.values, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (make_pipeline(PolynomialFeatures(), GaussianNB()), "mixes columns"),
        (LogisticRegression(), "is none of GaussianNB"),
    ],
    ids=["mixing", "other"],
)
def test_other_models_are_refused(model, reason):
    with pytest.raises(UnreadableModelError, match=reason):
        NaiveBayesContributions(model).fit(X, LABELS)


def test_an_unknown_class_is_refused():
    with pytest.raises(ValueError, match="target='z' is not a class"):
        NaiveBayesContributions(GaussianNB(), target="z").fit(X, LABELS)


@pytest.mark.parametrize("kind", [list, np.array, pd.Series])
def test_texts_are_counted_first(kind):
    texts, y = ["good film", "bad film", "good plot", "bad plot"], [1, 0, 1, 0]
    counter = CountVectorizer()
    inspector = NaiveBayesContributions(make_pipeline(counter, MultinomialNB()))
    with pytest.raises(ValueError, match="X is a list of texts"):
        inspector.fit(kind(texts), y)
    counts = counter.fit_transform(texts)
    values = NaiveBayesContributions(MultinomialNB()).fit(counts, y).explain(counts)
    bad, _, good, _ = values.values[0]
    assert (bad, good > 0) == (0, True)
