"""Tables that are odd, but sound: each section and each check has its say."""

from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from sklearn_interpret.report import InspectionReport

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(80, 3)), columns=list("abc"))
Y = X["a"] + X["b"] * (X["c"] > 0) + RNG.normal(size=80) / 2
CLASSES = np.where(Y > 0, "u", "v").astype(object)
FOREST = RandomForestRegressor(5, min_samples_leaf=5, random_state=0)
TREES = RandomForestClassifier(5, max_depth=3, random_state=0)
LABELS = np.column_stack([Y > 0, X["c"] > 0]).astype(int)


def summaries(model, X, y, sample_weight=None, **options):
    """All sections and checks, none of which met an error; and the page."""
    report = InspectionReport(model, rows=[0], random_state=0, **options)
    report.fit(X, y, sample_weight)
    texts = {check.name: check.finding for check in report.checks_}
    texts |= {section.name: section.summary for section in report.sections_}
    errors = {name: text for name, text in texts.items() if "Could not" in text}
    assert not errors
    return texts, report.to_html()


def rare(n_rows, of):
    """Classes of which the first rows have another one."""
    return np.where(np.arange(80) < n_rows, "rare", of)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("model", "y"),
    [
        (TREES, rare(3, CLASSES)),
        (LogisticRegression(), rare(1, CLASSES)),
        (TREES, rare(1, "v")),
    ],
)
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
def test_classes_that_folds_lack(model, y):
    """In their test rows, or in their training rows."""
    texts, _ = summaries(model, X, y, np.linspace(0.5, 2, 80))
    assert texts["effects"].startswith("On average,")


@pytest.mark.thorough
def test_class_that_the_rows_of_a_frozen_model_lack():
    model = LogisticRegression().fit(X, rare(3, CLASSES))
    texts, _ = summaries(FrozenEstimator(model), X[3:], CLASSES[3:])
    assert texts["imbalance"] == "The class rare has no rows."
    # Rows that a model was not fitted to have no influence on it.
    assert "nfluen" not in texts["training"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "gone",
    [
        np.full(80, np.nan),
        np.full(80, None),
        pd.Categorical([None] * 80, categories=["u"]),
        pd.array([None] * 80, dtype="Int64"),
    ],
)
def test_column_without_values(gone):
    Z = X.drop(columns="c").assign(gone=gone)
    numbers = SimpleImputer(keep_empty_features=True)
    levels = OneHotEncoder(handle_unknown="ignore")
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")), remainder=levels
    )
    texts, html = summaries(make_pipeline(columns, FOREST), Z, Y)
    assert "gone" in html
    assert "with gone" not in texts["effects"]


@pytest.mark.thorough
def test_characters_that_no_page_may_have():
    """In names, levels and classes: a replacement character stands for each."""
    Z = X.rename(columns={"a": "bell\x07", "b": "nul\x00<b>"})
    Z["c"] = pd.Categorical(np.where(Z["c"] > 0, "escape\x1b", "last\uffff"))
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["c"]), remainder="passthrough"
    )
    model = make_pipeline(columns, LogisticRegression())
    y = np.where(Y > 0, "yes\x02", "no")
    _, html = summaries(model, Z, y)
    assert not set(map(chr, range(32))).difference("\t\n\r").intersection(html)
    mark = "\N{REPLACEMENT CHARACTER}"
    for text in ("bell", "nul", "escape", "last", "yes"):
        assert f"{text}{mark}" in html
    for drawing in html.split("<svg ")[1:]:
        ElementTree.fromstring(f"<svg {drawing.split('</svg>')[0]}</svg>")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("model", "y"),
    [
        (LinearRegression(), np.column_stack([Y, X["c"], -Y, Y**2])),
        (MultiOutputClassifier(LogisticRegression()), LABELS),
        (KNeighborsClassifier(), LABELS),
    ],
)
def test_several_outputs(model, y):
    """Numbers, and labels of several kinds."""
    texts, _ = summaries(model, X, y)
    assert texts["chance"].startswith("The rows have targets of several")


@pytest.mark.thorough
@pytest.mark.parametrize("n_rows", [8, 25])
def test_few_rows_of_a_frozen_model(n_rows):
    model = FrozenEstimator(LinearRegression().fit(X, Y))
    texts, html = summaries(model, X[:n_rows], Y[:n_rows])
    known = n_rows == 25
    assert ("errors of importances are not known" in texts["importance"]) != known
    assert "nan" not in html.lower().split("how this was computed")[0]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.where(np.arange(80) == 7, np.nan, Y), "y must have a number for each row."),
        (CLASSES, "y must have a number for each row. could not convert"),
    ],
)
def test_targets_of_a_frozen_model_are_checked_first(y, message):
    model = FrozenEstimator(LinearRegression().fit(X, Y))
    with pytest.raises(ValueError, match=message):
        InspectionReport(model).fit(X, y)
    model = FrozenEstimator(LogisticRegression().fit(X, CLASSES))
    with pytest.raises(ValueError, match="y has the class 'rare', and the classes"):
        InspectionReport(model).fit(X, rare(1, CLASSES))


def test_columns_of_objects_are_left_out_with_a_note():
    """Of a name that is no HTML; once in each section that lacks it."""
    model = make_pipeline(make_column_transformer(("passthrough", ["a", "b"])), Ridge())
    table = X[["a", "b"]].assign(**{"<b>tags": [["x", "y"]] * 80})
    options = {"sections": ["overview", "effects"], "checks": []}
    report = InspectionReport(model, random_state=0, **options).fit(table, Y)
    overview, effects = report.sections_
    assert "Could not" not in overview.summary + effects.summary
    assert overview.notes == effects.notes  # also simple models lack the column
    (note,) = effects.notes
    assert "'<b>tags': left out" in note
    page = report.to_html()
    assert page.count("left out, since the values") == 2
    assert "&lt;b&gt;tags&#39;: left out" in page
    assert "<b>tags" not in page
