"""A target {output: weight}: the weighted sum of a model's outputs."""

import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from sklearn_interpret._model.responses.response import contrast_name, make_response
from sklearn_interpret.adversarial import HopSkipJump
from sklearn_interpret.counterfactuals import GrowingSpheres
from sklearn_interpret.decomposition import (
    DecisionPathDisplay,
    NaiveBayesContributions,
    TreePathContributions,
)
from sklearn_interpret.effects import (
    AccumulatedLocalEffects,
    AccumulatedLocalEffectsDisplay,
    ConditionalDependence,
    IndividualConditionalExpectation,
    PartialDependence,
)
from sklearn_interpret.exceptions import UnreadableModelError
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.influence import DeletionDiagnostics
from sklearn_interpret.interactions import FunctionalDecomposition, HStatistic
from sklearn_interpret.linear import CoefficientInference
from sklearn_interpret.shapley import (
    ExactShapley,
    LinearSHAP,
    ShapleySampling,
    ShapleyValues,
    ShapleyWaterfallDisplay,
    TreeSHAP,
)
from sklearn_interpret.surrogates import (
    GlobalSurrogate,
    GlobalSurrogateDisplay,
    LimeTabular,
)

X, labels = load_iris(return_X_y=True, as_frame=True)
X, labels = X[::3], np.array(["a", "b", "c"])[labels[::3]]
TWO = labels != "a"
MODELS = [
    RandomForestClassifier(5, max_depth=3, random_state=0),
    GradientBoostingClassifier(n_estimators=5, random_state=0),
    HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5),
    LogisticRegression(max_iter=1000),
    GaussianNB(),
    KNeighborsClassifier(),
    MLPClassifier((5,), solver="lbfgs", max_iter=5000, random_state=0),
]
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
CONTRAST = {"c": 1, "a": -0.5}


def frozen(model):
    return FrozenEstimator(clone(model).fit(X, labels))


def close(actual, expected):
    scale = max(1, np.abs(expected).max())
    np.testing.assert_allclose(actual, expected, atol=1e-10 * scale, rtol=0)


def assert_is_contrast(results):
    """Compare results of a function of the target with those of single classes."""
    contrast, first, second = map(results, [CONTRAST, "c", "a"])
    for actual, *terms in zip(contrast, first, second, strict=True):
        close(np.asarray(actual), np.asarray(terms[0]) - 0.5 * np.asarray(terms[1]))


@every_model
@pytest.mark.parametrize(
    ("inspector_class", "attribute"),
    [
        (PartialDependence, "average_"),
        (IndividualConditionalExpectation, "curves_"),
        (AccumulatedLocalEffects, "effects_"),
        (ConditionalDependence, "average_"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_effects(model, inspector_class, attribute):
    fitted = frozen(model)

    def curves(target):
        inspector = inspector_class(fitted, target=target).fit(X)
        assert len(inspector.output_names_) == 1
        return getattr(inspector, attribute)

    assert_is_contrast(curves)


@every_model
@pytest.mark.parametrize(
    "make",
    [
        ExactShapley,
        lambda model, target: ShapleySampling(model, target=target, random_state=0),
        lambda model, target: LimeTabular(model, target=target, random_state=0),
        lambda model, target: ShapleyValues(model, target=target, random_state=0),
    ],
    ids=["exact", "sampled", "lime", "auto"],
)
def test_attributions(model, make):
    fitted = frozen(model)

    def values(target):
        inspector = make(fitted, target=target).fit(X)
        explanation = inspector.explain(X[:4])
        assert explanation.values.shape == (4, 4)
        return explanation.values

    assert_is_contrast(values)


@pytest.mark.parametrize(
    ("inspector_class", "model"),
    [
        *((TreeSHAP, model) for model in MODELS[:3]),
        *((TreePathContributions, model) for model in MODELS[:3]),
        *((FunctionalDecomposition, model) for model in MODELS[:5]),
        (LinearSHAP, MODELS[3]),
        (NaiveBayesContributions, MODELS[4]),
    ],
)
def test_formulas(inspector_class, model):
    fitted = frozen(model)

    def values(target):
        explanation = inspector_class(fitted, target=target).fit(X).explain(X[:4])
        return [explanation.values, explanation.base_values, explanation.predictions]

    assert_is_contrast(values)
    assert inspector_class(fitted, target=CONTRAST).fit(X).output_names_ == [
        "c - 0.5 a"
    ]


@pytest.mark.parametrize("method", ["decision_function", "predict_proba"])
def test_logistic_regression(method):
    fitted = frozen(LogisticRegression(max_iter=1000))

    def values(target, inspector_class=ExactShapley):
        inspector = inspector_class(fitted, response_method=method, target=target)
        return inspector.fit(X).transform(X[:4])

    assert_is_contrast(values)
    if method == "decision_function":
        close(values(CONTRAST, LinearSHAP), values(CONTRAST))
    else:
        with pytest.raises(UnreadableModelError, match="link of a linear function"):
            values(CONTRAST, LinearSHAP)


def test_sums_of_several_trees_linked():
    """Softmax of sums of trees: the general method is taken, an exact one refuses."""
    fitted = frozen(MODELS[1])
    options = {"response_method": "predict_proba", "target": CONTRAST}
    with pytest.raises(UnreadableModelError, match="can't be explained by its trees"):
        TreeSHAP(fitted, **options).fit(X)
    general = ShapleyValues(fitted, random_state=0, **options).fit(X)
    exact = ExactShapley(fitted, **options).fit(X)
    close(general.transform(X[:4]), exact.transform(X[:4]))


@pytest.mark.parametrize("model", MODELS[1:3], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("contrast", [{"c": 1, "b": -1}, {"c": 0.5, "b": 2}])
def test_two_classes(model, contrast):
    """A score of two classes is signed; probabilities are a function of one sum."""
    fitted = FrozenEstimator(clone(model).fit(X[TWO], labels[TWO]))
    weight = contrast["c"] - contrast["b"]
    for method in ("decision_function", "predict_proba"):
        values = [
            TreeSHAP(fitted, response_method=method, target=target)
            .fit(X[TWO])
            .transform(X[:9])
            for target in ("c", contrast)
        ]
        close(values[1], weight * values[0])
    # Rows that share their sum have the slope of the link there.
    same = X[TWO][:1]
    background = TreeSHAP(fitted, response_method="predict_proba", target=contrast)
    assert np.isfinite(background.fit(same).transform(same)).all()
    curves = [
        PartialDependence(fitted, method="recursion", target=target).fit(X[TWO])
        for target in (None, contrast)
    ]
    for curve, contrasted in zip(*[c.average_ for c in curves], strict=True):
        close(contrasted, weight * curve)


def test_what_is_not_linear_in_the_response_is_that_of_the_contrast():
    fitted = frozen(MODELS[0])

    def respond(model, X):
        return model.predict_proba(X) @ [-0.5, 0, 1]

    by_trees = HStatistic(fitted, target=CONTRAST).fit(X)
    asked = HStatistic(fitted, response_method=respond).fit(X)
    np.testing.assert_allclose(by_trees.overall_, asked.overall_, atol=1e-9)
    changes = [
        DeletionDiagnostics(fitted, target=target).fit(X, labels).prediction_changes_
        for target in (CONTRAST, "c", "a")
    ]
    close(changes[0], changes[1] - 0.5 * changes[2])


def test_several_outputs_by_position():
    model = RandomForestRegressor(3, random_state=0).fit(X, X.to_numpy() @ np.eye(4))
    response = make_response(model, "auto", {0: 1, 2: -1})
    close(response(X)[:, 0], model.predict(X)[:, 0] - model.predict(X)[:, 2])
    assert response.output_names(1) == ["0 - 2"]
    restored = pickle.loads(pickle.dumps(response))
    np.testing.assert_array_equal(restored(X), response(X))
    labels = make_response(
        DecisionTreeClassifier(max_depth=2).fit(X, X.to_numpy() > [5, 3, 3, 1]),
        "auto",
        {3: 1, 0: -1},
    )
    assert labels(X).shape == (len(X), 1)


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ({"B": 1, "A": -1}, "B - A"),
        ({"A": -1, "B": 1}, "B - A"),
        ({"B": 0.5, "A": -1}, "0.5 B - A"),
        ({"A": -0.25, "B": 0, "C": 2}, "2 C - 0.25 A"),
        ({"A": -1, "B": -1}, "- A - B"),
        ({0: 1, 1: 1, 2: -2}, "0 + 1 - 2 2"),
    ],
)
def test_names(target, name):
    assert contrast_name(target) == name


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ({}, "two outputs or more"),
        ({"a": 1}, "two outputs or more"),
        ({"a": 0, "c": 0.0}, "not all of them zero"),
        ({"a": np.nan, "c": 1}, "must have a finite weight"),
        ({"a": np.inf, "c": 1}, "must have a finite weight"),
        ({"a": "1", "c": 1}, "must have a finite weight"),
        ({"a": None, "c": 1}, "must have a finite weight"),
        ({"a": 1, "d": -1}, "'d' is not a class of the model"),
        ({"a": 1, 0: -1}, "0 is not a class of the model"),
    ],
)
def test_bad_contrasts(target, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        PartialDependence(frozen(MODELS[3]), target=target).fit(X)


def test_models_of_one_output_have_no_contrast():
    model = FrozenEstimator(LinearRegression().fit(X, X["sepal length (cm)"]))
    with pytest.raises(ValueError, match="target=1 is out of range"):
        PartialDependence(model, target={0: 1, 1: -1}).fit(X)
    with pytest.raises(ValueError, match="must be the index of an output"):
        PartialDependence(model, target={"0": 1, 1: -1}).fit(X)


def test_where_a_class_is_meant():
    model = FrozenEstimator(LogisticRegression(C=np.inf).fit(X[TWO], labels[TWO]))
    with pytest.raises(ValueError, match="must be a class, or None"):
        CoefficientInference(model, target={"c": 1, "b": -1}).fit(X[TWO], labels[TWO])
    with pytest.raises(ValueError, match="a contrast is not searched for: c - b"):
        HopSkipJump(model, target={"c": 1, "b": -1}).fit(X[TWO])
    search = GrowingSpheres(model, desired=(0.5, 1), target={"c": 1, "b": -1})
    with pytest.raises(ValueError, match="a contrast is not searched for: c - b"):
        search.fit(X[TWO])


def test_displays_name_the_contrast():
    model = frozen(MODELS[0])
    display = AccumulatedLocalEffectsDisplay.from_estimator(model, X, target=CONTRAST)
    assert display.output_names == ["c - 0.5 a"]
    waterfall = ShapleyWaterfallDisplay.from_estimator(
        model, X, row=0, target=CONTRAST
    ).plot()
    assert "c - 0.5 a" in waterfall.ax_.get_xlabel()
    DecisionPathDisplay.from_estimator(model, X[:1], tree=0, target=CONTRAST)
    explanation = TreeSHAP(model, target=CONTRAST).fit(X).explain(X[:2])
    assert list(explanation.output_names) == ["c - 0.5 a"]
    drawn = ShapleyWaterfallDisplay.from_explanation(
        explanation, row=0, target=CONTRAST
    )
    assert drawn.to_frame().shape[0] > 0
    every = Explanation(
        np.zeros((1, 2, 2)), base_values=np.zeros((1, 2)), output_names=["a", "c"]
    )
    with pytest.raises(ValueError, match=r"target='c - 0\.5 a' is not an output"):
        ShapleyWaterfallDisplay.from_explanation(every, target=CONTRAST).plot()


def test_surrogates_of_a_contrast_predict_no_labels():
    surrogate = GlobalSurrogate(frozen(MODELS[0]), target=CONTRAST, min_fidelity=None)
    assert surrogate.fit(X).output_names_ == ["c - 0.5 a"]
    for rows in (X, X[TWO]):
        fitted = FrozenEstimator(
            clone(MODELS[0]).fit(rows, labels[X.index.isin(rows.index)])
        )
        surrogate = GlobalSurrogate(
            fitted, target={"c": 1, "b": -1}, min_fidelity=None
        ).fit(rows)
        with pytest.raises(AttributeError):
            surrogate.predict_proba(rows)
        assert not hasattr(surrogate, "agreement_")
    display = GlobalSurrogateDisplay.from_estimator(
        fitted, rows, target={"c": 1, "b": -1}
    )
    assert display.output_names == ["c - b"]
