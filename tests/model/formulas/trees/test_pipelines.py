"""Trees behind steps that work column by column, read and asked."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MaxAbsScaler,
    OneHotEncoder,
    OrdinalEncoder,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._model.formulas.trees.tree_response import read_trees
from sklearn_interpret.exceptions import UnreadableModelError
from tests.model.formulas.trees.agreement import (
    assert_made_of_their_columns,
    assert_read,
    assert_same_outputs,
)
from tests.model.formulas.trees.data import labels, table

DENSE = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
RARE = {"handle_unknown": "infrequent_if_exist", "max_categories": 3}
ORDINAL = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)

NAMES = ["height", "town", "count", "colour", "age"]


def mixed(n_rows=240, *, seed=0):
    """Columns of a table: numbers, missing ones among them, and words; and a target."""
    rng = np.random.default_rng(seed)
    columns = {
        "height": np.round(rng.normal(size=n_rows), 1),
        "town": rng.choice(["Bern", "Genf", "Basel", "Thun"], n_rows).astype(object),
        "count": rng.integers(6, size=n_rows).astype(float),
        "colour": rng.choice(["red", "green"], n_rows, p=[0.8, 0.2]).astype(object),
        "age": rng.gamma(2.0, size=n_rows),
    }
    y = columns["height"] * columns["count"] + columns["age"]
    y = y + 3 * (columns["town"] == "Genf") - (columns["colour"] == "red")
    columns["height"][rng.random(n_rows) < 0.15] = np.nan
    columns["age"][::9] = np.nan
    return columns, y


def with_new_words(columns):
    """The same rows, some of them with words that no fit has seen."""
    changed = {name: column.copy() for name, column in columns.items()}
    changed["town"][::5] = "Ulm"
    changed["colour"][3::7] = "blue"
    changed["count"][::6] = np.nan
    return changed


def as_container(columns, kind):
    """The columns in a container of the kind."""
    if kind == "array":
        return np.column_stack([column.astype(object) for column in columns.values()])
    frames = pytest.importorskip(kind)
    if kind == "polars":
        columns = {name: column.tolist() for name, column in columns.items()}
    return frames.DataFrame(columns)


def chosen(kind, *names):
    """Columns by name, by position where they have none."""
    return [NAMES.index(name) for name in names] if kind == "array" else list(names)


def prepared(kind, *, words=None, numbers=None):
    """A first step for the mixed table."""
    words = DENSE if words is None else words
    if numbers is None:
        numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    return ColumnTransformer(
        [
            ("words", words, chosen(kind, "colour", "town")),
            ("numbers", numbers, chosen(kind, "age", "height")),
        ],
        remainder="passthrough",
    )


def assert_all_read(pipeline, kind, *, rtol=1e-12):
    """Fitted rows and rows with new words and missing values give the same numbers."""
    columns, _ = mixed()
    X = as_container(columns, kind)
    model = assert_read(pipeline, X, rtol=rtol)
    later = as_container(with_new_words(columns), kind)
    assert_same_outputs(model, pipeline, later, rtol=rtol)
    seen = assert_made_of_their_columns(model, later)
    assert seen == set(model.columns)
    return model


KINDS = ["array", "pandas", "polars"]

REGRESSORS = [
    DecisionTreeRegressor(max_depth=5, random_state=0),
    RandomForestRegressor(4, max_depth=5, random_state=0),
    HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=5),
]


@pytest.mark.parametrize(("kind", "trees"), [*zip(KINDS, REGRESSORS, strict=True)])
def test_a_table_of_numbers_and_words(kind, trees):
    columns, y = mixed()
    steps = prepared(kind)
    pipeline = make_pipeline(steps, trees).fit(as_container(columns, kind), y)
    model = assert_all_read(pipeline, kind)
    # Two colours, four towns, two numbers with an indicator each, and the remainder.
    assert_array_equal(model.columns, [3, 3, 1, 1, 1, 1, 4, 0, 4, 0, 2])
    assert model.n_columns == 5
    assert model.raw_method == "predict"


DENSE = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
RARE = {"handle_unknown": "infrequent_if_exist", "max_categories": 3}
ORDINAL = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize(
    "words, of_colour, of_town",
    [
        (clone(DENSE).set_params(drop="if_binary"), 1, 4),
        (clone(DENSE).set_params(**RARE), 2, 3),
        (ORDINAL, 1, 1),
        (clone(ORDINAL).set_params(unknown_value=np.nan), 1, 1),
        (TargetEncoder(), 1, 1),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:Found unknown categories:UserWarning")
def test_encoders_of_words(words, of_colour, of_town):
    kind, (columns, y) = "pandas", mixed()
    pipeline = make_pipeline(
        prepared(kind, words=words), RandomForestRegressor(4, random_state=0)
    ).fit(as_container(columns, kind), y)
    model = assert_all_read(pipeline, kind)
    expected = [3] * of_colour + [1] * of_town + [4, 0, 4, 0, 2]
    assert_array_equal(model.columns, expected)


def test_targets_of_several_classes():
    kind, (columns, y) = "pandas", mixed()
    pipeline = make_pipeline(
        prepared(kind, words=TargetEncoder()), ExtraTreesClassifier(5, random_state=0)
    ).fit(as_container(columns, kind), labels(y, 3, names=True))
    model = assert_all_read(pipeline, kind)
    assert_array_equal(model.columns, [3] * 3 + [1] * 3 + [4, 0, 4, 0, 2])
    assert_array_equal(model.classes, pipeline.classes_)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sparse_threshold", [0.0, 1.0])
def test_dense_and_sparse_outputs(kind, sparse_threshold):
    columns, y = mixed()
    encoder = OneHotEncoder(handle_unknown="ignore")
    steps = prepared(kind, words=encoder).set_params(
        # Not "passthrough": the oldest scikit-learn counts no zeros of polars frames.
        remainder=make_pipeline(SimpleImputer(), MaxAbsScaler()),
        sparse_threshold=sparse_threshold,
    )
    pipeline = make_pipeline(
        steps,
        SelectKBest(f_regression, k=6),
        MaxAbsScaler(),
        DecisionTreeRegressor(random_state=0),
    ).fit(as_container(columns, kind), y)
    model = assert_all_read(pipeline, kind)
    assert model.ensemble.n_features == 6
    assert hasattr(pipeline[:-1].transform(as_container(columns, kind)), "nnz") == (
        sparse_threshold == 1
    )


def test_missing_values_are_handed_on():
    X, y = table(missing=True)
    pipeline = make_pipeline(
        "passthrough", StandardScaler(), HistGradientBoostingRegressor(max_iter=5)
    )
    model = assert_read(pipeline.fit(X, y), X)
    assert_array_equal(model.columns, range(5))


# What the pipeline's methods return


def test_classifiers():
    X, y = table()
    trees = GradientBoostingClassifier(n_estimators=4, random_state=0)
    pipeline = make_pipeline(StandardScaler(), trees).fit(X, labels(y, 3, names=True))
    model = assert_read(pipeline, X, missing=False)
    assert model.raw_method == "decision_function"
    assert model.response_method == "predict_proba"
    assert_array_equal(model.classes, pipeline.classes_)


def test_isolation_forest():
    X, _ = table()
    pipeline = make_pipeline(
        StandardScaler(), IsolationForest(n_estimators=5, random_state=0)
    )
    model = assert_read(pipeline.fit(X), X, missing=False)
    assert model.link == "isolation"


# What the trees are given


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize(
    ("output", "trees"), [("pandas", REGRESSORS[1]), ("polars", REGRESSORS[2])]
)
def test_trees_that_are_given_frames(kind, output, trees):
    pytest.importorskip(output)
    columns, y = mixed()
    steps = prepared(kind)
    pipeline = make_pipeline(steps, trees).set_output(transform=output)
    pipeline.fit(as_container(columns, kind), y)
    assert_all_read(pipeline, kind)


def test_categories_that_steps_leave_to_the_trees():
    """The trees find the categories by the frame's types, and put them first."""
    pandas = pytest.importorskip("pandas")
    columns, y = mixed()
    towns = ["Bern", "Genf", "Basel", "Thun"]
    X = pandas.DataFrame(columns).astype({"colour": "category"})
    X["town"] = pandas.Categorical(X["town"], categories=[*towns, "Ulm"])
    steps = ColumnTransformer(
        [
            ("numbers", SimpleImputer(), make_column_selector(dtype_include="number")),
            ("rest", "passthrough", make_column_selector(dtype_include="category")),
        ]
    ).set_output(transform="pandas")
    boosting = HistGradientBoostingRegressor(
        categorical_features="from_dtype", max_iter=8, min_samples_leaf=5
    )
    pipeline = make_pipeline(steps, boosting).fit(X, y)
    model = assert_read(pipeline, X)
    assert_array_equal(model.columns, [1, 3, 0, 2, 4])
    assert (model.ensemble.category_set >= 0).any()
    X.loc[::5, "town"] = "Ulm"
    X.loc[::4, "colour"] = np.nan
    assert_same_outputs(model, pipeline, X)
    assert assert_made_of_their_columns(model, X) == set(range(5))


def test_categories_by_position():
    columns, y = mixed()
    X = as_container(columns, "array")
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    boosting = HistGradientBoostingRegressor(
        categorical_features=[0, 1], max_iter=8, min_samples_leaf=5
    )
    pipeline = make_pipeline(
        prepared("array", words=encoder, numbers="passthrough"), boosting
    ).fit(X, y)
    model = assert_all_read(pipeline, "array")
    assert_array_equal(model.columns, [3, 1, 4, 0, 2])


@pytest.mark.parametrize("given", ["sparse", "dense", "pandas"])
def test_another_library(given):
    """What sparse rows do not hold is missing for it."""
    trees = pytest.importorskip("xgboost").XGBRegressor(n_estimators=6, n_jobs=1)
    kind = "pandas" if given == "pandas" else "array"
    columns, y = mixed()
    encoder = OneHotEncoder(sparse_output=given == "sparse", handle_unknown="ignore")
    steps = prepared(kind, words=encoder).set_params(sparse_threshold=1.0)
    pipeline = make_pipeline(steps, trees)
    pipeline.set_output(transform="pandas" if given == "pandas" else "default")
    pipeline.fit(as_container(columns, kind), y)
    model = assert_all_read(pipeline, kind, rtol=1e-6)
    assert_array_equal(model.columns, [3, 3, 1, 1, 1, 1, 4, 0, 4, 0, 2])


# Pipelines within other models, and other models within them


def test_pipelines_that_vote():
    """Members with steps of their own, on the same columns."""
    kind, (columns, y) = "pandas", mixed()
    X = as_container(columns, kind)
    first = prepared(kind)
    second = prepared(kind, words=TargetEncoder())
    boosting = HistGradientBoostingRegressor(max_iter=4)
    estimator = VotingRegressor(
        [
            ("forest", make_pipeline(first, RandomForestRegressor(3, random_state=0))),
            ("boosting", make_pipeline(second, boosting)),
        ],
        weights=[1, 3],
    ).fit(X, y)
    model = assert_all_read(estimator, kind)
    first, second = map(read_trees, estimator.estimators_)
    assert_array_equal(model.columns, np.concatenate([first.columns, second.columns]))


def test_voting_whose_first_member_hands_on():
    X, y = table()
    forest = RandomForestClassifier(3, random_state=0)
    estimator = VotingClassifier(
        [
            ("plain", make_pipeline("passthrough", forest)),
            ("scaled", make_pipeline(StandardScaler(), forest)),
        ],
        voting="soft",
    ).fit(X, labels(y, 3, names=True))
    model = assert_read(estimator, X, missing=False)
    assert_array_equal(model.columns, [*range(5), *range(5)])


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize(
    ("kind", "max_features"), [("array", 5), ("pandas", 1.0), ("polars", 5)]
)
def test_bagging_of_pipelines(kind, max_features):
    """The members are given arrays, whatever the rows come in."""
    columns, y = mixed()
    X = as_container(columns, kind)
    member = make_pipeline(
        prepared("array"), DecisionTreeRegressor(max_depth=4, random_state=0)
    )
    estimator = BaggingRegressor(
        member, n_estimators=3, max_features=max_features, random_state=0
    )
    model = assert_all_read(estimator.fit(X, y), kind)
    assert model.n_columns == 5


def test_bagging_of_classifying_pipelines_on_some_columns():
    X, y = table()
    member = make_pipeline(
        KBinsDiscretizer(4, strategy="uniform"),
        RandomForestClassifier(2, random_state=0),
    )
    estimator = BaggingClassifier(
        member, n_estimators=3, max_features=3, bootstrap_features=True, random_state=1
    )
    model = assert_read(estimator.fit(X, labels(y, 3, names=True)), X, missing=False)
    expected = [np.repeat(columns, 4) for columns in estimator.estimators_features_]
    assert_array_equal(model.columns, np.concatenate(expected))


def test_bagging_of_pipelines_on_sparse_rows():
    X, y = table()
    X = sparse.csr_array(np.round(X) * (np.abs(X) > 1))
    member = make_pipeline(
        MaxAbsScaler(), DecisionTreeRegressor(max_depth=4, random_state=0)
    )
    estimator = BaggingRegressor(member, n_estimators=3, max_features=4, random_state=0)
    assert_read(estimator.fit(X, y), X)


def test_voting_within_a_pipeline():
    X, y = table()
    voting = VotingRegressor(
        [
            ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)),
            (
                "scaled",
                make_pipeline(
                    StandardScaler(), RandomForestRegressor(2, random_state=0)
                ),
            ),
        ]
    )
    pipeline = make_pipeline(SplineTransformer(n_knots=3), FrozenEstimator(voting))
    voting.fit(pipeline[0].fit_transform(X), y)
    model = assert_read(FrozenEstimator(pipeline.fit(X, y)), X, missing=False)
    assert_array_equal(model.columns, np.tile(np.repeat(range(5), 5), 2))


def test_pipelines_within_pipelines():
    X, y = table()
    inner = make_pipeline(StandardScaler(), RandomForestRegressor(3, random_state=0))
    pipeline = make_pipeline(
        ColumnTransformer([("some", KBinsDiscretizer(3, strategy="uniform"), [4, 0])]),
        make_pipeline("passthrough", inner),
    )
    model = assert_read(pipeline.fit(X, y), X, missing=False)
    assert_array_equal(model.columns, np.repeat([4, 0], 3))


def test_boosting_that_goes_on_from_a_pipeline():
    X, y = table()
    start = make_pipeline(TargetEncoder(), SplineTransformer(), REGRESSORS[2])
    X = np.round(X, 1)
    estimator = GradientBoostingRegressor(n_estimators=4, init=start, random_state=0)
    model = assert_read(estimator.fit(X, y), X, missing=False)
    assert_array_equal(model.columns[-5:], range(5))


def test_steps_that_need_double_precision():
    """Boosting hands single precision on, and its start computes in double."""
    X = np.random.default_rng(0).integers(4, size=(200, 1))
    encoder = TargetEncoder(smooth=0.0).fit(X, 1 + 1e-9 * X[:, 0])
    start = make_pipeline(
        FrozenEstimator(encoder), HistGradientBoostingRegressor(max_iter=5)
    )
    estimator = GradientBoostingRegressor(n_estimators=2, init=start, random_state=0)
    estimator.fit(X, np.array([1.0, -5.0, 7.0, 0.0])[X[:, 0]])
    model = assert_read(estimator, X.astype(float), missing=False)
    assert len(np.unique(model.raw(X))) == 4


# What every read model promises


def test_a_read_pipeline_pickles_and_leaves_the_model_alone():
    X, y = table()
    pipeline = make_pipeline(
        StandardScaler(), RandomForestRegressor(3, random_state=0)
    ).fit(X, y)
    before = pickle.dumps(pipeline)
    model = read_trees(pipeline)
    copied = pickle.loads(pickle.dumps(model))
    assert_array_equal(copied.raw(X), model.raw(X))
    assert pickle.dumps(pipeline) == before


def test_rows_are_read_with_metadata_routing():
    X, y = table()
    pipeline = make_pipeline(
        StandardScaler(), RandomForestRegressor(3, random_state=0)
    ).fit(X, y)
    with config_context(enable_metadata_routing=True):
        assert_read(pipeline, X, missing=False)


# What can't be read


@pytest.mark.parametrize(
    "pipeline, reason",
    [
        (
            make_pipeline(
                StandardScaler(), PCA(), DecisionTreeRegressor(random_state=0)
            ),
            "Pipeline can't be read: its step 'pca': PCA mixes columns. Known to work",
        ),
        (
            VotingRegressor(
                [("a", make_pipeline(PCA(), DecisionTreeRegressor(random_state=0)))]
            ),
            "VotingRegressor can't be read: its member Pipeline can't be read: its "
            "step 'pca': PCA mixes",
        ),
        (
            make_pipeline(StandardScaler(), LinearRegression()),
            "its last step LinearRegression can't be read: it is not a known model of",
        ),
        (make_pipeline(StandardScaler()), "its last step StandardScaler"),
    ],
    ids=["PCA", "member", "linear", "none"],
)
def test_refused_pipelines(pipeline, reason):
    X, y = table()
    with pytest.raises(UnreadableModelError, match=reason):
        read_trees(pipeline.fit(X, y))


def test_last_steps_that_hand_on_are_refused():
    X, y = table()
    pipeline = make_pipeline(StandardScaler(), "passthrough").fit(X, y)
    with pytest.raises(UnreadableModelError, match="its last step str can't be read"):
        read_trees(pipeline)


def test_texts_have_no_columns():
    pipeline = make_pipeline(CountVectorizer(), DecisionTreeRegressor(random_state=0))
    pipeline.fit(["one text", "another", "one more"], [1, 2, 3])
    reason = r"step 'countvectorizer' \(CountVectorizer\) has no number of colu"
    with pytest.raises(UnreadableModelError, match=reason):
        read_trees(pipeline)


def test_steps_that_were_exchanged():
    X, y = table()
    pipeline = make_pipeline(
        StandardScaler(), DecisionTreeRegressor(random_state=0)
    ).fit(X, y)
    pipeline.steps[-1] = "other", DecisionTreeRegressor(random_state=0).fit(X[:, :3], y)
    reason = "its last step was fitted on 3 columns, and is given 5"
    with pytest.raises(UnreadableModelError, match=reason):
        read_trees(pipeline)
