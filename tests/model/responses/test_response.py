"""The one door to a model: which method, which class, and which errors."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import mean_squared_error
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KernelDensity, KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sklearn_interpret._model.responses.predictors import (
    check_is_predictor,
    is_fitted,
    weight_parameter,
)
from sklearn_interpret._model.responses.response import make_response
from sklearn_interpret._model.responses.scoring import resolve_metrics
from sklearn_interpret._model.rows.base import copy_of
from sklearn_interpret.exceptions import NonFiniteResponseError
from tests.model.containers import CONTAINERS, cells, same_cells

RNG = np.random.default_rng(0)
X, CODES = make_classification(
    200, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0
)
LABELS = np.array(["ash", "birch", "cedar"])[CODES]
BINARY = LogisticRegression().fit(X, LABELS == "ash")
THREE = LogisticRegression().fit(X, LABELS)
REGRESSOR = LinearRegression().fit(X, X[:, 0] - X[:, 1])
TWO_OUTPUTS = LinearRegression().fit(X, X[:, :2] @ [[1, 2], [3, 4]])


def test_weights_go_to_the_last_step():
    steps = StandardScaler(), StandardScaler(), LinearRegression()
    pipeline = make_pipeline(*steps)
    assert weight_parameter(pipeline) == "linearregression__sample_weight"
    nested = make_pipeline(StandardScaler(), StandardScaler(), pipeline)
    expected = "pipeline__linearregression__sample_weight"
    assert weight_parameter(nested) == expected
    neighbours = make_pipeline(StandardScaler(), KNeighborsClassifier())
    assert weight_parameter(neighbours) is None


@pytest.mark.parametrize("method", ["auto", "predict_proba"])
def test_binary_classifiers_answer_for_their_positive_class(method):
    response = make_response(BINARY, method)
    assert_array_equal(response(X), BINARY.predict_proba(X)[:, [1]])
    assert response.output_names(1) == [True]


@pytest.mark.parametrize("target, column", [(False, 0), (True, 1), (0, 0), (1, 1)])
def test_binary_classifiers_answer_for_the_class_that_is_asked(target, column):
    response = make_response(BINARY, target=target)
    assert_array_equal(response(X), BINARY.predict_proba(X)[:, [column]])
    assert response.output_names(1) == [bool(column)]


def test_binary_decisions_speak_for_the_positive_class():
    scores = BINARY.decision_function(X)[:, None]
    for target, sign in ((None, 1), (True, 1), (False, -1)):
        response = make_response(BINARY, "decision_function", target)
        assert_array_equal(response(X), sign * scores)
        assert response.output_names(1) == [target is not False]


@pytest.mark.parametrize(
    "method", ["predict_proba", "predict_log_proba", "decision_function"]
)
def test_many_classes_answer_in_the_order_of_classes(method):
    expected = getattr(THREE, method)(X)
    response = make_response(THREE, method)
    assert_array_equal(response(X), expected)
    assert response.output_names(3) == ["ash", "birch", "cedar"]
    for column, label in enumerate(THREE.classes_):
        response = make_response(THREE, method, label)
        assert_array_equal(response(X), expected[:, [column]])
        assert response.output_names(1) == [label]


@pytest.mark.parametrize("model, target", [(BINARY, None), (BINARY, False)])
def test_predicted_classes_of_a_binary_model_become_one_indicator(model, target):
    expected = model.predict(X) == (target is not False)
    found = make_response(model, "predict", target)(X)
    assert_array_equal(found, expected[:, None].astype(float))


def test_predicted_classes_become_indicators():
    predicted = THREE.predict(X)
    expected = (predicted[:, None] == THREE.classes_).astype(float)
    assert_array_equal(make_response(THREE, "predict")(X), expected)
    assert_array_equal(make_response(THREE, "predict", "cedar")(X), expected[:, [2]])


def test_regressors_predict():
    response = make_response(REGRESSOR)
    assert response.method == "predict"
    assert_array_equal(response(X), REGRESSOR.predict(X)[:, None])
    assert response.output_names(1) == [0]


def test_regressors_of_several_outputs_give_them_all_or_one():
    expected = TWO_OUTPUTS.predict(X)
    response = make_response(TWO_OUTPUTS)
    assert_array_equal(response(X), expected)
    assert response.output_names(2) == [0, 1]
    response = make_response(TWO_OUTPUTS, target=1)
    assert_array_equal(response(X), expected[:, [1]])
    assert response.output_names(1) == [1]


Y_MULTI = np.stack([LABELS, np.where(X[:, 0] > 0, "up", "down")], axis=1)
MULTI = RandomForestClassifier(5, random_state=0).fit(X, Y_MULTI)


@pytest.mark.parametrize(
    "model", [MULTI, MultiOutputClassifier(LogisticRegression()).fit(X, Y_MULTI)]
)
def test_classifiers_of_several_outputs_stand_side_by_side(model):
    """The first output has three classes, of the second one the positive is kept."""
    three, two = model.predict_proba(X)
    expected = np.hstack([three, two[:, 1:]])
    response = make_response(model)
    assert_array_equal(response(X), expected)
    names = response.output_names(4)
    assert names == ["0=ash", "0=birch", "0=cedar", "1=up"]
    response = make_response(model, target=3)
    assert_array_equal(response(X), expected[:, [3]])
    assert response.output_names(1) == ["1=up"]


def test_predicted_classes_of_several_outputs_become_indicators():
    predicted = MULTI.predict(X)
    three = predicted[:, [0]] == MULTI.classes_[0]
    two = predicted[:, [1]] == "up"
    assert_array_equal(
        make_response(MULTI, "predict")(X), np.hstack([three, two]).astype(float)
    )


def test_centred_log_probabilities_of_several_outputs_are_centred_in_each():
    three, two = (np.log(np.clip(p, 2**-52, None)) for p in MULTI.predict_proba(X))
    expected = np.hstack(
        [
            three - three.mean(axis=1, keepdims=True),
            two[:, 1:] - two.mean(axis=1, keepdims=True),
        ]
    )
    assert_allclose(make_response(MULTI, "centered_log_proba")(X), expected)


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("method", ["predict_proba", "predict"])
@pytest.mark.parametrize(
    "model",
    [
        OneVsRestClassifier(LogisticRegression()),
        FrozenEstimator(MLPClassifier((3,), max_iter=1, random_state=0)),
        make_pipeline(
            StandardScaler(), MLPClassifier((3,), max_iter=1, random_state=0)
        ),
        ClassifierChain(LogisticRegression()),
        KNeighborsClassifier(),
    ],
    ids=["one_vs_rest", "frozen_network", "pipeline", "chain", "neighbours"],
)
def test_labels_that_do_not_exclude_each_other_are_all_kept(model, n_labels, method):
    """Two labels give two columns of probabilities: they are no binary classes."""
    features, labels = make_multilabel_classification(
        60, 4, n_classes=n_labels, random_state=0
    )
    fitted = model.estimator if isinstance(model, FrozenEstimator) else model
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted.fit(features, labels)
    expected = getattr(model, method)(features)
    if isinstance(expected, list):
        expected = np.stack([part[:, 1] for part in expected], axis=1)
    response = make_response(model, method)
    assert_array_equal(response(features), expected)
    assert len(response.output_names(n_labels)) == n_labels
    for label in range(n_labels):
        one = make_response(model, method, label)(features)
        assert_array_equal(one, expected[:, [label]])


def test_centred_log_probabilities_of_a_linear_model_are_its_centred_scores():
    """log softmax(s)_k minus its mean over k is s_k minus its mean."""
    scores = THREE.decision_function(X)
    found = make_response(THREE, "centered_log_proba")(X)
    assert_allclose(
        found, scores - scores.mean(axis=1, keepdims=True), rtol=1e-9, atol=1e-11
    )
    logs = log_softmax(scores, axis=1)
    assert_allclose(
        make_response(THREE, "centered_log_proba", "birch")(X)[:, 0],
        logs[:, 1] - logs.mean(axis=1),
        atol=1e-9,
    )


def test_centred_log_probability_of_a_binary_model_is_half_its_log_odds():
    found = make_response(BINARY, "centered_log_proba")(X)
    assert_allclose(found[:, 0], BINARY.decision_function(X) / 2, atol=1e-10)


def test_centred_log_probabilities_stay_finite_at_zero():
    forest = RandomForestClassifier(3, random_state=0).fit(X, LABELS)
    assert (forest.predict_proba(X) == 0).any()
    assert np.isfinite(make_response(forest, "centered_log_proba")(X)).all()


def test_the_automatic_method_takes_probabilities_then_decisions_then_classes():
    assert make_response(THREE).method == "predict_proba"
    assert make_response(LinearSVC().fit(X, LABELS)).method == "decision_function"

    class Constant(ClassifierMixin, BaseEstimator):
        classes_ = np.array([0, 1])

        def predict(self, X):
            return np.ones(len(X))

    response = make_response(Constant())
    assert response.method == "predict"
    assert_array_equal(response(X), np.ones((200, 1)))


def test_other_predictors_predict():
    outliers = IsolationForest(n_estimators=5, random_state=0).fit(X)
    assert_array_equal(
        make_response(outliers)(X), outliers.predict(X)[:, None].astype(float)
    )
    clusters = KMeans(2, n_init=1, random_state=0).fit(X)
    assert_array_equal(
        make_response(clusters)(X), clusters.predict(X)[:, None].astype(float)
    )


def test_mixtures_have_probabilities_of_components():
    for kind in (GaussianMixture, BayesianGaussianMixture):
        mixture = kind(n_components=2, random_state=0).fit(X)
        for model in (mixture, FrozenEstimator(mixture), make_pipeline(mixture)):
            response = make_response(model)
            assert response.method == "predict_proba"
            assert_array_equal(response(X), mixture.predict_proba(X))
            assert response.output_names(2) == [0, 1]
    assert make_response(KernelDensity().fit(X)).method == "score_samples"


def test_a_list_of_methods_takes_the_first_there_is():
    svm = LinearSVC().fit(X, LABELS)
    names = ["predict_proba", "decision_function"]
    assert make_response(svm, names).method == "decision_function"
    assert make_response(THREE, tuple(names)).method == "predict_proba"


@pytest.mark.parametrize(
    "method, message",
    [
        ("predict_proba", "RidgeClassifier has none of predict_proba"),
        (["predict_proba", "predict_log_proba"], "predict_proba, predict_log_proba"),
        ("centered_log_proba", "RidgeClassifier has none of predict_proba"),
    ],
)
def test_a_method_that_the_model_does_not_have(method, message):
    with pytest.raises(ValueError, match=message):
        make_response(RidgeClassifier().fit(X, LABELS), method)


def twice_the_first(estimator, X):
    """A response of the user's own."""
    return 2 * estimator.predict(X)


def test_a_callable_is_asked_with_the_model():
    response = make_response(REGRESSOR, twice_the_first)
    assert_array_equal(response(X), 2 * REGRESSOR.predict(X)[:, None])
    response = make_response(THREE, lambda model, X: model.predict_proba(X), 2)
    assert_array_equal(response(X), THREE.predict_proba(X)[:, [2]])
    assert response.output_names(1) == [2]


def test_a_callable_may_return_all_columns_of_a_binary_model():
    response = make_response(BINARY, lambda model, X: model.predict_proba(X))
    assert_array_equal(response(X), BINARY.predict_proba(X))
    assert response.output_names(2) == [0, 1]


def test_pipelines_and_frozen_models_answer_like_their_model():
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, LABELS)
    expected = pipeline.predict_proba(X)[:, [1]]
    for model in (pipeline, FrozenEstimator(pipeline)):
        assert_array_equal(make_response(model, target="birch")(X), expected)


@pytest.mark.parametrize(
    "model, target, message",
    [
        (THREE, "oak", r"'oak' is not a class of the model; its classes are 'ash'"),
        (THREE, "birc", r"'birc' is not a class .*; did you mean 'birch'\?"),
        (THREE, 0, "target=0 is not a class"),
        (REGRESSOR, "ash", "target='ash' must be the index of an output"),
        (MULTI, "up", "must be the index of an output"),
        (MULTI, 1.0, "must be the index of an output"),
    ],
)
def test_a_target_that_is_none(model, target, message):
    with pytest.raises(ValueError, match=message):
        make_response(model, target=target)


@pytest.mark.parametrize(
    "model, target", [(REGRESSOR, 1), (TWO_OUTPUTS, -1), (MULTI, 4)]
)
def test_a_target_out_of_range(model, target):
    with pytest.raises(
        ValueError, match=f"target={target} is out of range: .* outputs"
    ):
        make_response(model, target=target)(X)


class Scripted(RegressorMixin, BaseEstimator):
    """A fitted regressor that returns what a function makes of its input."""

    def __init__(self, function):
        self.function = function

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return self.function(X)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, [np.inf, -np.inf]])
def test_a_response_that_is_not_finite_names_the_row(bad):
    def broken(X):
        answers = X[:, 0].copy()
        answers[[17, 30]] = bad
        return answers

    with pytest.raises(NonFiniteResponseError, match=r"row 17 .* \(2 such rows"):
        make_response(Scripted(broken))(X)


@pytest.mark.parametrize("sign", [-1, 1])
def test_responses_whose_powers_are_not_finite_are_refused(sign):
    found = make_response(Scripted(lambda X: np.full(len(X), sign * 1e75)))(X)
    assert_array_equal(found, np.full((200, 1), sign * 1e75))
    response = make_response(Scripted(lambda X: np.where(X[:, 0] > 0, sign * 1e76, 0)))
    first = np.argmax(X[:, 0] > 0)
    with pytest.raises(NonFiniteResponseError, match=rf"beyond 1e\+75.*row {first} of"):
        response(X)


@pytest.mark.parametrize(
    "shape, message",
    [
        ((200, 2, 2), r"Scripted has the shape \(200, 2, 2\): \(n_rows,\) or"),
        ((), r"Scripted has the shape \(\): 200 rows were sent"),
        ((7,), r"Scripted has the shape \(7,\): 200 rows were sent"),
    ],
)
def test_a_response_of_another_shape(shape, message):
    with pytest.raises(ValueError, match=message):
        make_response(Scripted(lambda X: np.zeros(shape)))(X)


@pytest.mark.parametrize(
    "answer, message",
    [
        (lambda labels: labels + 5, r"returned the label \d, which is none of its cl"),
        (lambda labels: labels.astype(str), "returned the label '\\d', which is none"),
        (lambda labels: labels[1:], r"the shape \(199,\): 200 rows were sent"),
        (lambda labels: labels[0], r"the shape \(\): 200 rows were sent"),
        (lambda labels: np.c_[labels, labels], "return a label for each row"),
    ],
)
def test_labels_that_are_no_classes_of_the_model(answer, message):
    class Odd(LogisticRegression):
        def predict(self, X):
            return answer(super().predict(X))

    model = Odd().fit(X, X[:, 0] > 0)
    model.classes_ = np.arange(2)
    response = make_response(model, "predict")
    for ask in (response, response.answers):
        with pytest.raises(ValueError, match=message):
            ask(X)


def test_positions_of_classes_that_are_not_sorted():
    class Falling(LogisticRegression):
        def fit(self, X, y):
            super().fit(X, y)
            self.classes_ = self.classes_[::-1]
            return self

    model = Falling().fit(X, X[:, 0] > 0)
    positions = make_response(model).answers(X)
    assert_array_equal(model.classes_[positions], model.predict(X))


@pytest.mark.parametrize("target", [(3, 1), [1, 3], np.array([0, 1]), ((0, 1), 2)])
def test_a_target_is_one_class_or_output(target):
    classifier = LogisticRegression().fit(X, X[:, 0] > 0)
    regressor = LinearRegression().fit(X, X[:, :2])
    for model, words in ((classifier, "is not a class"), (regressor, "must be the in")):
        with pytest.raises(ValueError, match=words):
            make_response(model, target=target)


@pytest.mark.parametrize(
    "answer",
    [
        lambda X: X[:, 0].tolist(),
        lambda X: X[:, [0]],
        lambda X: X[:, 0].astype(np.float32).astype(object),
        lambda X: np.asfortranarray(X[:, :1]),
    ],
)
def test_a_response_becomes_floats_of_two_axes(answer):
    found = make_response(Scripted(answer))(X)
    assert found.dtype == np.float64
    assert_allclose(found, X[:, [0]], rtol=1e-6)


def test_a_response_in_a_series_or_frame():
    pandas = pytest.importorskip("pandas")
    for answer in (
        lambda X: pandas.Series(X[:, 0]),
        lambda X: pandas.DataFrame(X[:, :1]),
    ):
        assert_array_equal(make_response(Scripted(answer))(X), X[:, [0]])


def test_a_model_that_returns_a_view_of_its_input_does_no_harm():
    data = X.copy()
    found = make_response(Scripted(lambda X: X[:, 0]))(data)
    data[:] = -1
    assert_array_equal(found, X[:, [0]])
    assert not np.shares_memory(found, data)


def ruin(X):
    """Answer with the sum of the first column, then overwrite the input."""
    if sparse.issparse(X):
        answers = X.toarray()[:, 0].astype(float)
        X.data[:] = 77
    elif hasattr(X, "iloc"):
        answers = X.iloc[:, 0].to_numpy(dtype=float, na_value=0)
        X.iloc[:, 1] = X.iloc[::-1, 1].to_numpy()
    else:
        answers = np.nan_to_num(X[:, 0].astype(float))
        X[:, 1] = X[::-1, 1].copy()
    return answers


@pytest.mark.parametrize(
    "kind", ["float64", "fortran", "int64", "csr_matrix", "csc_array"]
)
def test_a_model_that_changes_its_input_gets_copies(kind):
    check_gets_copies(CONTAINERS[kind]())


def test_a_model_that_changes_a_frame_gets_copies():
    pandas = pytest.importorskip("pandas")
    check_gets_copies(pandas.DataFrame({"a": [0.0, 1.0, 2.0], "b": [3.0, 4.0, 5.0]}))


def check_gets_copies(data):
    """The caller's data stay, at the first call and at all later ones."""
    before, fresh = cells(data), copy_of(data)
    response = make_response(Scripted(ruin))
    expected = ruin(fresh)[:, None]
    for _ in range(3):
        assert_array_equal(response(data), expected)
        assert same_cells(cells(data), before)


def test_a_scaler_without_copies_scales_once():
    """The scaler works in place: without copies every call would scale again."""
    model = make_pipeline(StandardScaler(copy=False), LinearRegression())
    model.fit(X.copy(), X[:, 0])
    expected = model.predict(X.copy())[:, None]
    data = X.copy()
    response = make_response(model)
    for _ in range(2):
        assert_array_equal(response(data), expected)
    assert_array_equal(data, X)


def test_a_model_that_leaves_its_input_alone_gets_no_copies():
    """Past its first call, which finds that out."""
    seen = []

    def look(X):
        seen.append(X)
        return np.zeros(len(X))

    response = make_response(Scripted(look))
    for _ in range(3):
        response(X)
    assert seen[0] is not X
    assert seen[1] is X
    assert seen[2] is X


@pytest.mark.parametrize("model", [THREE, MULTI, REGRESSOR])
def test_a_response_pickles(model):
    response = make_response(model)
    again = pickle.loads(pickle.dumps(response))
    assert_array_equal(again(X), response(X))


def test_only_predictors_are_accepted():
    check_is_predictor(LinearSVC())
    check_is_predictor(KMeans())
    with pytest.raises(TypeError, match="StandardScaler has none of the methods"):
        check_is_predictor(StandardScaler())


def test_fitted_or_not():
    assert is_fitted(REGRESSOR)
    assert not is_fitted(LinearRegression())
    assert not is_fitted("no estimator")


class WithoutTags:
    """A regressor of another library: scikit-learn knows nothing of it."""

    mean_ = None

    def fit(self, X, y):
        self.mean_ = np.mean(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_fitted_or_not_without_tags():
    assert not is_fitted(WithoutTags())
    fitted = WithoutTags().fit([[0]], [1])
    assert is_fitted(fitted)
    assert is_fitted(FrozenEstimator(fitted))


def test_losses_of_models_without_tags():
    fitted = WithoutTags().fit([[0], [1]], [1, 3])
    for loss in (mean_squared_error, lambda y, p: (y - p) ** 2):
        (metric,) = resolve_metrics(loss, FrozenEstimator(fitted))
        assert metric(fitted, np.zeros((2, 1)), np.array([1, 3]), None) == 1
