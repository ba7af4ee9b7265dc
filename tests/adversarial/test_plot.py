"""AdversarialDisplay and RobustnessCurveDisplay: attacked rows, and how many fall."""

import warnings
from dataclasses import replace
from numbers import Integral

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.svm import SVC

from sklearn_interpret._core.statistics.refits import Splits, learner_half_width
from sklearn_interpret.adversarial import (
    AdversarialDisplay,
    FastGradientSign,
    ProjectedGradient,
    RobustnessCurveDisplay,
)
from sklearn_interpret.explanations import RowExplanation
from tests.figures import all_texts, draw

NAMES = ["age", "$income_", "visits", "debt"]


@pytest.fixture(scope="module")
def table():
    """A table of columns of unlike scales, and its classes."""
    values = np.random.default_rng(0).normal(size=(60, 4))
    y = np.array(["bad", "fair", "good"])[
        np.digitize(values @ [1.0, -1.0, 0.5, 0.0], [-0.6, 0.6])
    ]
    y[:2] = np.where(y[:2] == "bad", "good", "bad")  # which the model has wrong
    X = pd.DataFrame(values * [10, 1000, 1, 0.1], columns=NAMES)
    return X, pd.Series(y, name="grade")


@pytest.fixture(scope="module")
def attack(table):
    X, y = table
    scaled = LogisticRegression(C=100).fit((X / X.std()).to_numpy(), y)
    scaled.coef_ /= X.std().to_numpy()
    attack = FastGradientSign(FrozenEstimator(scaled), epsilon=1.5)
    return attack.fit(X.to_numpy(), y)


@pytest.fixture(scope="module")
def drawn(attack, table):
    X, y = table
    return AdversarialDisplay.from_estimator(attack, X.to_numpy(), y, row=3)


def shown(**fields):
    """An explanation of one row of four numbers."""
    data = np.array([[30.0, 2000.0, 1.0, 0.5]])
    given = {
        "rows": data + [0.5, -250.0, 0.0, 0.25],
        "origin": [0],
        "valid": [True],
        "distances": [0.5],
        "status": ["found"],
        "data": data,
        "feature_names": NAMES,
    }
    return RowExplanation(**{**given, **fields})


def bars_of(display):
    """Lengths of the bars, from the top, by feature."""
    (ax,) = display.axes_
    names = [text.get_text().replace("\\", "") for text in ax.get_yticklabels()]
    lengths = [bar.get_width() for bar in display.bars_.patches]
    return dict(zip(names, lengths, strict=True))


def test_bars_are_the_changes_in_standard_deviations(attack, table, drawn):
    X, y = table
    X = X.to_numpy()
    explanation = attack.explain(X[3:4], y[3:4])
    moves = explanation.perturbations[0] / X.std(axis=0)
    frame = drawn.to_frame()
    assert list(frame) == ["feature", "before", "after", "perturbation"]
    assert (frame["perturbation"].abs().diff().dropna() <= 1e-9).all()
    for feature, before, after, move in frame.itertuples(index=False):
        j = int(feature[1:])
        assert (before, after) == (X[3, j], explanation.rows[0, j])
        assert move == pytest.approx(moves[j])
    assert bars_of(drawn) == pytest.approx(
        dict(zip(frame["feature"], frame["perturbation"], strict=True))
    )
    assert drawn.axes_[0].get_xlabel() == "Perturbation (standard deviations)"


def test_the_title_has_the_answers(attack, table, drawn):
    X, y = table
    model = attack.estimator_
    explanation = attack.explain(X.to_numpy()[3:4], y[3:4])
    before, after = model.predict(np.vstack([X.to_numpy()[3:4], explanation.rows]))
    title = drawn.axes_[0].get_title(loc="left").replace("\n", " ")
    assert before != after
    assert title.startswith(f"Prediction of grade, row 3: {before} (decision ")
    assert f") → {after} (decision function " in title
    assert title.endswith(") distance 1.5, norm inf, standard deviations")


def test_true_classes_are_led_away_from(attack, table):
    X, y = table
    X = X.to_numpy()
    (wrong, *_) = np.flatnonzero(attack.estimator_.predict(X) != y)
    display = AdversarialDisplay.from_estimator(attack, X, y, row=wrong)
    assert display.explanation.status.tolist() == ["unchanged"]
    assert display.bars_ is None
    assert "it satisfies the target already" in all_texts(display.figure_)
    assert len(display.to_frame()) == 0
    other = AdversarialDisplay.from_estimator(attack, X, row=wrong)
    assert other.explanation.status.tolist() != ["unchanged"]


def test_a_predictor_is_attacked_as_it_is(table):
    X, _ = table
    model = LinearRegression().fit(X, X["age"])
    before = X.copy()
    asked = {"desired": (X["age"].max() + 5, None), "n_steps": 2, "random_state": 0}
    display = AdversarialDisplay.from_estimator(model, X, row=1, unit="years", **asked)
    pd.testing.assert_frame_equal(X, before)
    attack = ProjectedGradient(FrozenEstimator(model), **asked).fit(X)
    other = AdversarialDisplay.from_estimator(attack, X, row=1)
    pd.testing.assert_frame_equal(display.to_frame(), other.to_frame())
    title = display.axes_[0].get_title(loc="left")
    assert title.startswith("Prediction (years), row 1: ")
    assert "failed: no row that reaches" in title.replace("\n", " ")


def test_changes_as_they_are_and_in_given_spreads():
    display = AdversarialDisplay.from_explanation(shown())
    assert list(bars_of(display)) == ["$income_", "age", "debt"]
    assert display.axes_[0].get_xlabel() == "Perturbation"
    texts = all_texts(display.figure_)
    assert {"2000 → 1750", "30.00 → 30.50", "0.50 → 0.75"} <= set(texts)
    scaled = AdversarialDisplay.from_explanation(shown(), spreads=[1, 1000, 1, 0.5])
    assert bars_of(scaled) == {"age": 0.5, "debt": 0.5, "$income_": -0.25}
    assert scaled.to_frame()["after"].tolist() == [30.5, 0.75, 1750.0]
    for spreads in ([1.0, 2.0], [1, 1, 1, 0]):
        with pytest.raises(ValueError, match="positive number for each of 4 features"):
            AdversarialDisplay.from_explanation(shown(), spreads=spreads)


def test_the_largest_changes_are_drawn():
    data = np.zeros((1, 40))
    moves = np.random.default_rng(0).normal(size=(1, 40))
    fields = {"data": data, "rows": data + moves, "feature_names": None}
    display = AdversarialDisplay.from_explanation(shown(**fields))
    wanted = np.argsort(-np.abs(moves[0]))[:20]
    assert list(bars_of(display)) == [f"x{j}" for j in wanted]
    assert "20 largest of 40" in display.axes_[0].get_title(loc="left")
    assert len(display.to_frame()) == 40
    assert len(bars_of(display.plot(max_entries=None))) == 40
    with pytest.raises(ValueError, match="max_entries=0"):
        display.plot(max_entries=0)


def test_categories_that_changed_have_no_bar():
    before = pd.DataFrame({"job": ["cook"], "age": [30]})
    after = pd.DataFrame({"job": ["nurse"], "age": [31]})
    explanation = shown(rows=after, data=before, feature_names=["job", "age"])
    display = AdversarialDisplay.from_explanation(explanation)
    assert bars_of(display) == {"age": 1.0, "job": 0.0}
    assert {"cook → nurse", "30 → 31"} <= set(all_texts(display.figure_))


def test_of_several_rows_found_the_first_is_drawn():
    rows = np.array([[30.5, 2000, 1, 0.5], [30, 1000, 1, 0.5]])
    several = {"rows": rows, "origin": [0, 0], "valid": [True] * 2}
    explanation = shown(**several, distances=[0.5, 1.0])
    display = AdversarialDisplay.from_explanation(explanation)
    assert display.to_frame()["feature"].tolist() == ["age"]
    nothing = {"rows": rows[:0], "origin": [], "valid": [], "distances": []}
    nothing |= {"status": ["failed"], "reasons": ["none is near"]}
    for image_shape in (None, (2, 2)):
        display = AdversarialDisplay.from_explanation(
            shown(**nothing), image_shape=image_shape
        )
        assert "nothing changes" in all_texts(display.figure_)
        assert "failed: none is near" in display.axes_[0].get_title(loc="left")
        assert len(display.to_frame()) == 0


SCORES = {
    "predictions": [[0.5, 2.0]],
    "original_predictions": [[1.25, 1.0]],
    "output_names": [3, 8],
    "response_name": "decision function",
}


def test_images_are_on_one_scale():
    before, after = np.array([[[0.0, 0.5, 1.0, 0.0]], [[0.5, 0.5, -1.0, 0.0]]])
    explanation = shown(data=before, rows=after, **SCORES)
    display = AdversarialDisplay.from_explanation(explanation, image_shape=(2, 2))
    image, change, result = (part.get_array() for part in display.images_)
    assert_allclose(image, [[0.5, 0.75], [1.0, 0.5]])
    assert_allclose(result, [[0.75, 0.75], [0.0, 0.5]])
    assert_allclose(change, [[0.5, 0.0], [-2.0, 0.0]])
    assert display.images_[1].get_clim() == (-2.0, 2.0)
    assert [part.get_clim() for part in display.images_[::2]] == [(0, 1)] * 2
    assert [ax.get_title() for ax in display.axes_] == [
        "image\nPrediction: 3\n(decision function 1.25)",
        "perturbation\ndistance 0.5",
        "result\nPrediction: 8\n(decision function 2)",
    ]
    assert display.colour_bar_.ax.get_xlabel() == "change"
    assert display.bars_ is None
    draw(display.figure_)


def test_images_of_several_channels_and_failures():
    data = np.linspace(0, 1, 12)[None]
    explanation = shown(
        data=data,
        rows=data + np.tile([0.3, 0.0, -0.6], 4),
        feature_names=None,
        valid=[False],
        status=["failed"],
        reasons=["it is too far"],
    )
    display = AdversarialDisplay.from_explanation(explanation, image_shape=[2, 2, 3])
    assert_allclose(display.images_[1].get_array(), np.full((2, 2), -0.1))
    assert display.images_[0].get_array().shape == (2, 2, 3)
    titles = [ax.get_title() for ax in display.axes_]
    assert titles == ["image", "perturbation\ndistance 0.5", "result (failed)"]
    assert "mean of the channels" in display.colour_bar_.ax.get_xlabel()


@pytest.mark.parametrize("shape", [(2, 3), (4,), (2.0, 2.0), "22", (1, 2, 2, 1), 4])
def test_bad_shapes_of_images(shape):
    with pytest.raises(ValueError, match="of an image of 4 numbers"):
        AdversarialDisplay.from_explanation(shown(), image_shape=shape)


def test_images_on_given_axes():
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4))
    display = AdversarialDisplay.from_explanation(shown(), image_shape=(2, 2), ax=left)
    assert display.figure_ is figure
    assert not left.axison
    assert right.axison
    assert len(display.axes_) == 3
    _, axes = plt.subplots(1, 3)
    display.plot(ax=axes)
    assert list(display.axes_) == list(axes)


def test_the_curve_is_that_of_the_attack(attack, table):
    X, y = table
    X = X.to_numpy()
    display = RobustnessCurveDisplay.from_estimator(attack, X, y)
    assert_allclose(display.sizes, np.linspace(0, 3, 11))
    expected = attack.robustness_curve(X, y, sizes=display.sizes)
    assert_array_equal(display.scores, expected)
    assert display.scores[0] == attack.score(X, y)
    assert display.scores[5] == attack.robust_score(X, y)
    assert_array_equal(display.line_.get_xydata(), display.to_frame().to_numpy())
    assert display.ax_.get_xlabel() == "Perturbation (norm inf, standard deviations)"
    assert display.ax_.get_ylabel() == "Accuracy under attack"
    assert display.legend_ is display.band_ is None
    weights = np.r_[np.ones(20), np.zeros(40)]
    weighed = RobustnessCurveDisplay.from_estimator(
        attack, X, y, [1.0, 0.0], sample_weight=weights
    )
    fewer = attack.robustness_curve(X[:20], y[:20], sizes=[0.0, 1.0])
    assert_allclose(weighed.scores, fewer)
    own = RobustnessCurveDisplay.from_estimator(attack, X, sizes=[0.0])
    assert own.scores.tolist() == [1.0]
    assert own.ax_.get_ylabel() == "Share of predictions that stay"


class Search(FastGradientSign):
    """An attack whose budget is not one: it looks for the nearest row, at one size."""

    _budget = None

    def _why_failed(self):
        return "it was not met"


def test_the_curve_of_a_search_falls_where_its_rows_are(table):
    X, y = table
    model = LogisticRegression(max_iter=5000).fit(X, y)
    search = Search(FrozenEstimator(model), epsilon=0.7, norm="2").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explanation = search.explain(X, y)
    right = model.predict(X) == y
    lost = right & explanation.valid
    display = RobustnessCurveDisplay.from_estimator(search, X, y)
    assert_allclose(display.sizes[1:], np.unique(explanation.distances[lost]))
    expected = [
        (right & ~(lost & (explanation.distances <= size))).mean()
        for size in display.sizes
    ]
    assert_allclose(display.scores, expected)
    assert display.scores[-1] == search.robust_score(X, y)


class Counted(FastGradientSign):
    """An attack whose budget is a number of features."""

    _budget, n_pixels = "n_pixels", 1

    def _attack(self, problem, index):
        assert isinstance(self.n_pixels, Integral)
        return super()._attack(problem, index)


def test_budgets_that_are_counted(attack, table):
    X, y = table
    counted = Counted(attack.estimator).fit(X.to_numpy(), y)
    display = RobustnessCurveDisplay.from_estimator(counted, X.to_numpy(), y)
    assert display.sizes.tolist() == [0, 1, 2]
    assert display.ax_.get_xlabel() == "Number of changed features"
    fewer = RobustnessCurveDisplay.from_estimator(counted, X.to_numpy(), y, [2, 1])
    assert fewer.sizes.tolist() == [1, 2]


def test_curves_of_several_attacks_share_axes(attack, table):
    X, y = table
    X = X.to_numpy()
    raw = attack.__class__(attack.estimator, norm="2", units="raw").fit(X)
    one = RobustnessCurveDisplay.from_estimator(attack, X, y, label="one")
    two = RobustnessCurveDisplay.from_estimator(raw, X, y, label="_two", ax=one.ax_)
    assert two.ax_ is one.ax_
    assert two.ax_.get_xlabel() == "Perturbation (norm 2, units of the data)"
    assert two.line_.get_color() != one.line_.get_color()
    assert [text.get_text() for text in two.legend_.get_texts()] == ["one", "_two"]
    draw(two.figure_)


def test_curves_of_folds(table):
    X, y = table
    X = X / X.std()
    attack = FastGradientSign(LogisticRegression(), epsilon=0.5, units="raw")
    kept = {"return_estimator": True, "return_indices": True}
    results = cross_validate(attack, X, y, cv=3, **kept)
    display = RobustnessCurveDisplay.from_cv_results(results, X, y, [0.0, 0.5])
    tests = results["indices"]["test"]
    folds = [
        one.robustness_curve(X.iloc[rows], y.iloc[rows], sizes=[0.0, 0.5])
        for one, rows in zip(results["estimator"], tests, strict=True)
    ]
    assert_allclose(display.scores, folds)
    assert_allclose(np.array(folds)[:, 0], results["test_score"])
    assert_allclose(display.line_.get_ydata(), np.mean(folds, axis=0))
    assert len(display.fold_lines_) == 3
    frame = display.to_frame()
    mean = frame[frame["fold"].isna()]
    reach = learner_half_width(folds, Splits(1 / 2), on_test_rows=True)
    middle = np.mean(folds, axis=0)
    assert_allclose(mean["low"], np.clip(middle - reach, 0, 1))
    assert_allclose(mean["high"], np.clip(middle + reach, 0, 1))
    assert_allclose(frame.loc[frame["fold"] == 1, "score"], folds[1])
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts == ["mean of 3 folds", "learner's curve, 95 %"]


def test_folds_of_predictors(table):
    X, y = table
    X, y = (X / X.std()).to_numpy()[:30], y[:30]
    kept = {"return_estimator": True}
    results = cross_validate(LogisticRegression(), X, y, cv=2, **kept)
    asked = {"n_steps": 2, "random_state": 0, "epsilon": 0.2}
    display = RobustnessCurveDisplay.from_cv_results(results, X, y, label="a", **asked)
    for model, curve in zip(results["estimator"], display.scores, strict=True):
        attack = ProjectedGradient(FrozenEstimator(model), **asked).fit(X)
        expected = attack.robustness_curve(X, y, sizes=np.linspace(0, 0.4, 11))
        assert_allclose(curve, expected)
    assert display.legend_.get_texts()[0].get_text() == "a (2 folds)"


def test_regressors_have_a_share(table):
    X, _ = table
    attack = FastGradientSign(LinearRegression(), desired=(5.0, None)).fit(X, X["age"])
    display = RobustnessCurveDisplay.from_estimator(attack, X)
    assert display.ax_.get_ylabel() == "Share of rows that withstand the attack"


def test_scores_have_to_fit_the_sizes():
    with pytest.raises(ValueError, match=r"scores has the shape \(3,\)"):
        RobustnessCurveDisplay([0.0, 1.0], [1.0, 0.5, 0.2]).plot()


def test_the_class_is_that_which_the_model_predicts():
    """Not that of the largest score, where pairs of classes vote."""
    X, y = load_iris(return_X_y=True)
    attack = FastGradientSign(SVC(), epsilon=0.8).fit(X, y)
    explanation = attack.explain(X[70:74], y[70:74])
    assert explanation.answers.tolist() == attack.predict(explanation.rows).tolist()
    assert explanation.original_answers.tolist() == attack.predict(X[70:74]).tolist()
    of_votes = replace(explanation, answers=np.array([0, 0, 0, 0]))
    display = AdversarialDisplay.from_explanation(of_votes, row=0)
    title = display.axes_[0].get_title(loc="left")
    assert "Prediction, row 0: 1 (" in title
    assert "→ 0 (" in title
