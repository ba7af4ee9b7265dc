"""Displays of changes: the numbers drawn, and where they come from."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression

from sklearn_interpret.diagnosis import ChangeAttribution, ChangeDisplay

RNG = np.random.default_rng(0)
X, X_NEW = RNG.normal(size=(60, 5)), RNG.normal(size=(40, 5)) + [1, -0.5, 0, 0.2, 0]
Y, Y_NEW = X @ [1.0, 2, 3, 0.5, 0.1], X_NEW @ [1.0, 2, 3, 0.5, 0.1] + 1


@pytest.fixture
def inspector():
    return ChangeAttribution(LinearRegression(), random_state=0).fit(X, Y)


def test_steps_lead_from_the_old_to_the_new_mean(inspector):
    change = inspector.compare(X_NEW, Y_NEW)
    display = ChangeDisplay.from_change(change, max_entries=3)
    frame = display.to_frame()
    assert_allclose(frame["start"][0], change.old)
    assert_allclose(frame["end"][4], change.new)
    assert (np.diff(frame["change"].abs()) <= 0).all()
    ends = [line.get_xdata()[0] for line in display.lines_]
    assert_allclose(ends, [change.old, change.new])
    names = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert names[-1] == "3 other features"
    n_steps = len(display.ups_.get_paths()) + len(display.downs_.get_paths())
    assert n_steps == len(display.labels_) == 3
    # The sum of several contributions has no interval.
    assert len(display.intervals_[0].get_segments()) == 2
    assert display.ax_.get_xlabel().startswith("Mean prediction")


def test_from_estimator(inspector):
    fitted = ChangeDisplay.from_estimator(inspector, X_new=X_NEW, target_name="sales")
    model = inspector.estimator_
    of_model = ChangeDisplay.from_estimator(model, X, X_new=X_NEW)
    assert_allclose(of_model.to_frame()["change"], fitted.to_frame()["change"])
    assert "Mean prediction of sales" in fitted.ax_.get_xlabel()
    weights = RNG.uniform(size=len(X_NEW)) + 1
    weighted = ChangeDisplay.from_estimator(
        model, X, Y, X_new=X_NEW, y_new=Y_NEW, weight_new=weights, show_loss=True
    )
    assert weighted.ax_.get_xlabel().startswith("Mean squared error")
    mean = np.average((Y_NEW - model.predict(X_NEW)) ** 2, weights=weights)
    assert_allclose(weighted.to_frame()["end"].iloc[-1], mean)
    with pytest.raises(ValueError, match="pass X_new"):
        ChangeDisplay.from_estimator(inspector)


def test_lines_over_time(inspector):
    tables = {"May": X, "June": X_NEW, "July": 2 * X_NEW}
    changes = inspector.compare(tables)
    display = ChangeDisplay.from_change(changes, max_entries=3, unit="EUR")
    *features, total = display.lines_
    assert len(features) == 3
    assert len(display.intervals_) == 2
    assert_allclose(total.get_ydata(), [c.new - c.old for c in changes.values()])
    summed = np.sum([line.get_ydata() for line in features], axis=0)
    assert_allclose(summed, total.get_ydata(), atol=1e-12)
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts[-2:] == ["3 other features", "total change"]
    assert "EUR" in display.ax_.get_ylabel()
    frame = display.to_frame()
    assert frame["table"].unique().tolist() == list(tables)
    assert {"old", "new", "low", "high"} <= set(frame)


def test_one_output_must_be_chosen():
    model = RandomForestClassifier(3, random_state=0)
    inspector = ChangeAttribution(model).fit(X, np.digitize(Y, [-1, 1]))
    change = inspector.compare(X_NEW)
    with pytest.raises(ValueError, match="choose one by target="):
        ChangeDisplay.from_change(change)
    display = ChangeDisplay.from_change(change, target=2)
    assert display.ax_.get_xlabel().startswith("Mean probability of class 2")
    chosen = ChangeDisplay.from_estimator(inspector, X_new=X_NEW, target=2)
    assert_allclose(chosen.to_frame()["change"], display.to_frame()["change"])
    with pytest.raises(ValueError, match="no change of a loss"):
        ChangeDisplay.from_change(change, show_loss=True)
    with pytest.raises(ValueError, match="no changes"):
        ChangeDisplay.from_change({})


def test_no_change_at_all(inspector):
    display = ChangeDisplay.from_change(inspector.compare(X))
    assert_allclose(display.to_frame()["change"], 0, atol=1e-12)
