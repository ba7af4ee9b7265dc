"""Which input column the outputs of transformers are made from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.compose import (
    ColumnTransformer,
    make_column_selector,
    make_column_transformer,
)
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomTreesEmbedding
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.feature_selection import (
    RFE,
    RFECV,
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
    VarianceThreshold,
    f_regression,
)
from sklearn.frozen import FrozenEstimator
from sklearn.impute import IterativeImputer, KNNImputer, MissingIndicator, SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    KernelCenterer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.random_projection import GaussianRandomProjection
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._model.formulas.column_lineage import (
    input_columns,
    n_input_columns,
)
from sklearn_interpret.exceptions import UnreadableModelError
from tests.speeds import examples

N = 60


def numbers(*, missing=False):
    """Four columns: of few values, positive, constant, and normal."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4))
    X[:, 0] = rng.integers(5, size=N)
    X[:, 1] = np.exp(X[:, 1])
    X[:, 2] = 7.0
    if missing:
        X[::7, 1] = np.nan
        X[:, 2] = np.nan
        X[3::5, 3] = np.nan
    return X


def target():
    X = numbers()
    return X[:, 0] - X[:, 3]


def words():
    """Three columns of 2, 4 and 3 categories; one is rare in the second and third."""
    rng = np.random.default_rng(1)
    X = np.empty((N, 3), dtype=object)
    X[:, 0] = rng.choice(["no", "yes"], size=N)
    X[:, 1] = rng.choice(["a", "b", "c"], size=N)
    X[:, 2] = rng.choice(["x", "y"], size=N)
    X[:2, 1] = "rare"
    X[:3, 2] = "odd"
    return X


def as_array(Z):
    return np.asarray(Z.toarray() if issparse(Z) else Z)


def assert_columns(transformer, X, expected):
    """The columns are the expected ones, and what the transformer does agrees."""
    columns = input_columns(transformer, X.shape[1])
    assert columns.dtype == np.intp
    assert_array_equal(columns, expected)
    before = as_array(transformer.transform(X))
    assert before.shape[1] == len(columns)
    order = np.random.default_rng(2).permutation(len(X))
    for j in range(X.shape[1]):
        changed = X.copy()
        changed[:, j] = X[order, j]
        after = as_array(transformer.transform(changed))
        same = (before == after) | ((before != before) & (after != after))
        assert set(columns[~same.all(axis=0)]) <= {j}


ALL = [0, 1, 2, 3]


@pytest.mark.parametrize(
    "transformer, expected",
    [
        (Binarizer(), ALL),
        (MaxAbsScaler(), ALL),
        (MinMaxScaler(), ALL),
        (PowerTransformer(standardize=False), ALL),
        (QuantileTransformer(n_quantiles=20), ALL),
        (RobustScaler(), ALL),
        (StandardScaler(), ALL),
        (OrdinalEncoder(), ALL),
        (FunctionTransformer(), ALL),
        (FunctionTransformer(np.arctan), ALL),
        (SplineTransformer(n_knots=3, degree=2), np.repeat(ALL, 4)),
        (SplineTransformer(n_knots=3, degree=2, include_bias=False), np.repeat(ALL, 3)),
        (PolynomialFeatures(degree=1), [0, *ALL]),
        (PolynomialFeatures(degree=1, include_bias=False), ALL),
        (PolynomialFeatures(degree=0), [0]),
        (SelectKBest(f_regression, k=2), [0, 3]),
        (VarianceThreshold(), [0, 1, 3]),
        (SelectFromModel(LinearRegression(), threshold=0.5), [0, 3]),
        (RFE(DecisionTreeRegressor(random_state=0), n_features_to_select=2), [0, 3]),
        (RFECV(LinearRegression(), min_features_to_select=2), [0, 3]),
        (SequentialFeatureSelector(LinearRegression()), [0, 3]),
        (
            make_pipeline(StandardScaler(), VarianceThreshold(), MinMaxScaler()),
            [0, 1, 3],
        ),
        (make_pipeline("passthrough", None, StandardScaler()), ALL),
        (
            make_union(StandardScaler(), "drop", VarianceThreshold(), "passthrough"),
            [*ALL, 0, 1, 3, *ALL],
        ),
        (
            FeatureUnion(
                [("a", "passthrough"), ("b", MinMaxScaler())],
                transformer_weights={"a": 2.0},
            ),
            [*ALL, *ALL],
        ),
    ],
    ids=lambda part: str(part).partition(" at 0x")[0],
)
@pytest.mark.filterwarnings("ignore:Features .* are constant:UserWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
def test_transformers_of_numbers(transformer, expected):
    X = numbers()
    assert_columns(transformer.fit(X, target()), X, expected)
    assert_columns(FrozenEstimator(transformer), X, expected)


@pytest.mark.parametrize("degree", [2, 4])
def test_powers_of_one_column(degree):
    X = numbers()[:, :1]
    polynomial = PolynomialFeatures(degree).fit(X)
    assert_columns(polynomial, X, [0] * (degree + 1))


@pytest.mark.parametrize("encode", ["ordinal", "onehot", "onehot-dense"])
def test_bins(encode):
    X = np.delete(numbers(), 2, axis=1)
    X[:, 0] = X[:, 0] > 2  # of two values, hence one bin fewer
    bins = KBinsDiscretizer([2, 4, 3], encode=encode, strategy="uniform").fit(X)
    expected = range(3) if encode == "ordinal" else [0, 0, 1, 1, 1, 1, 2, 2, 2]
    assert_columns(bins, X, expected)


@pytest.mark.parametrize(
    "encoder, expected",
    [
        (OneHotEncoder(), [0, 0, 1, 1, 1, 1, 2, 2, 2]),
        (OneHotEncoder(sparse_output=False), [0, 0, 1, 1, 1, 1, 2, 2, 2]),
        (OneHotEncoder(drop="first"), [0, 1, 1, 1, 2, 2]),
        (OneHotEncoder(drop="if_binary"), [0, 1, 1, 1, 1, 2, 2, 2]),
        (OneHotEncoder(drop=["yes", "b", "odd"]), [0, 1, 1, 1, 2, 2]),
        (OneHotEncoder(max_categories=2), [0, 0, 1, 1, 2, 2]),
        (OneHotEncoder(min_frequency=4), [0, 0, 1, 1, 1, 1, 2, 2, 2]),
        (OneHotEncoder(min_frequency=0.2, drop="first"), [0, 1, 1, 1, 2, 2]),
        (OneHotEncoder(max_categories=3, drop="if_binary"), [0, 1, 1, 1, 2, 2, 2]),
        (
            OneHotEncoder(max_categories=2, handle_unknown="infrequent_if_exist"),
            [0, 0, 1, 1, 2, 2],
        ),
        (
            OneHotEncoder(
                categories=[["no", "yes"], list("abc") + ["rare"], list("xy")],
                handle_unknown="ignore",
            ),
            [0, 0, 1, 1, 1, 1, 2, 2],
        ),
        (OrdinalEncoder(), [0, 1, 2]),
        (OrdinalEncoder(max_categories=2), [0, 1, 2]),
        (
            make_pipeline(OneHotEncoder(max_categories=2), VarianceThreshold(0.2)),
            [0, 0, 1, 1, 2, 2],
        ),
    ],
    ids=str,
)
def test_encoders_of_categories(encoder, expected):
    X = words()
    assert_columns(encoder.fit(X), X, expected)


@pytest.mark.parametrize(
    "y, expected",
    [
        (target(), [0, 1, 2]),
        (target() > 0, [0, 1, 2]),
        (np.arange(N) % 3, [0, 0, 0, 1, 1, 1, 2, 2, 2]),
    ],
    ids=["continuous", "binary", "multiclass"],
)
def test_target_encoder(y, expected):
    X = words()
    assert_columns(TargetEncoder().fit(X, y), X, expected)


@pytest.mark.parametrize(
    "imputer, expected",
    [
        (SimpleImputer(), [0, 1, 3]),
        (SimpleImputer(add_indicator=True), [0, 1, 3, 1, 2, 3]),
        (SimpleImputer(keep_empty_features=True), ALL),
        (SimpleImputer(keep_empty_features=True, add_indicator=True), [*ALL, 1, 2, 3]),
        (SimpleImputer(strategy="most_frequent"), [0, 1, 3]),
        (SimpleImputer(strategy="median", add_indicator=True), [0, 1, 3, 1, 2, 3]),
        (
            SimpleImputer(strategy="constant", fill_value=1, keep_empty_features=True),
            ALL,
        ),
        (MissingIndicator(), [1, 2, 3]),
        (MissingIndicator(features="all"), ALL),
        (MissingIndicator(sparse=True), [1, 2, 3]),
        (make_union(SimpleImputer(), MissingIndicator()), [0, 1, 3, 1, 2, 3]),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:Skipping features:UserWarning")
def test_missing_values(imputer, expected):
    X = numbers(missing=True)
    assert_columns(imputer.fit(X), X, expected)


def test_missing_words():
    X = words()
    X[:, 0] = np.nan
    X[::4, 2] = np.nan
    imputer = SimpleImputer(strategy="most_frequent", add_indicator=True).fit(X)
    with pytest.warns(UserWarning, match="Skipping features"):
        assert_columns(imputer, X, [1, 2, 0, 2])
    imputer = SimpleImputer(missing_values="a", strategy="constant", fill_value="b")
    assert_columns(imputer.fit(words()), words(), [0, 1, 2])


@pytest.mark.parametrize(
    "transformer, expected",
    [
        (make_column_transformer((StandardScaler(), [2, 0])), [2, 0]),
        (make_column_transformer((StandardScaler(), slice(1, 3))), [1, 2]),
        (make_column_transformer((StandardScaler(), slice(-2, None))), [2, 3]),
        (make_column_transformer((StandardScaler(), [-1, -4])), [3, 0]),
        (
            make_column_transformer((StandardScaler(), [True, False, False, True])),
            [0, 3],
        ),
        (make_column_transformer((StandardScaler(), lambda X: [1, 3])), [1, 3]),
        (make_column_transformer(("drop", [1]), remainder="passthrough"), [0, 2, 3]),
        (
            make_column_transformer(
                ("passthrough", [3]), ("drop", [0]), remainder=MinMaxScaler()
            ),
            [3, 1, 2],
        ),
        (
            make_column_transformer(
                (StandardScaler(), [1, 0]),
                (SplineTransformer(n_knots=2, degree=1), [3, 1]),
                (PCA(), []),
                remainder="passthrough",
            ),
            [1, 0, 3, 3, 1, 1, 2],
        ),
        (
            make_column_transformer(
                (make_pipeline(VarianceThreshold(), StandardScaler()), [3, 2, 1]),
                (make_union(StandardScaler(), "passthrough"), [0, 3]),
                sparse_threshold=1.0,
            ),
            [3, 1, 0, 3, 0, 3],
        ),
        (
            make_column_transformer(
                (OneHotEncoder(), [0]), remainder="drop", sparse_threshold=1.0
            ),
            [0] * 5,
        ),
        (
            make_pipeline(
                make_column_transformer(("passthrough", [3, 1, 2])),
                make_column_transformer(("passthrough", [1, 0])),
            ),
            [1, 3],
        ),
        (make_column_transformer(("drop", [0])), []),
    ],
    ids=range(13),
)
def test_column_transformers(transformer, expected):
    X = numbers()
    assert_columns(transformer.fit(X), X, expected)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("output", ["default", "pandas"])
@pytest.mark.parametrize("verbose_names", [True, False])
def test_columns_by_name(library, output, verbose_names):
    frames = pytest.importorskip(library)
    pytest.importorskip(output if output != "default" else library)
    X = frames.DataFrame(
        {"a": numbers()[:, 0], "word": words()[:, 1].tolist(), "b": numbers()[:, 3]}
    )
    transformer = ColumnTransformer(
        [
            ("words", OneHotEncoder(sparse_output=False), ["word"]),
            ("scaled", StandardScaler(), ["b", "a"]),
        ],
        verbose_feature_names_out=verbose_names,
    ).set_output(transform=output)
    transformer.fit(X)
    assert_array_equal(input_columns(transformer, 3), [1, 1, 1, 1, 2, 0])


def test_columns_by_selector():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(
        {"a": numbers()[:, 0], "word": words()[:, 1], "b": numbers()[:, 3]}
    )
    transformer = make_column_transformer(
        (OrdinalEncoder(), make_column_selector(dtype_exclude="number")),
        (StandardScaler(), make_column_selector("^[ab]$")),
        ("passthrough", slice("a", "word")),
    ).fit(X)
    assert_array_equal(input_columns(transformer, 3), [1, 0, 2, 0, 1])


@examples(40)
@given(
    chosen=st.lists(st.lists(st.integers(0, 3), unique=True), min_size=1, max_size=4),
    kinds=st.lists(st.integers(0, 4), min_size=4, max_size=4),
    remainder=st.sampled_from(["drop", "passthrough", SplineTransformer(n_knots=2)]),
)
def test_any_column_transformer(chosen, kinds, remainder):
    """A column that outputs are said to be made of is the only one that they see."""
    transformers = [
        StandardScaler(),
        KBinsDiscretizer(3, strategy="uniform"),
        "drop",
        make_union(MinMaxScaler(), make_pipeline("passthrough", PolynomialFeatures(1))),
        SplineTransformer(n_knots=3, degree=1, include_bias=False),
    ]
    transformer = ColumnTransformer(
        [
            (f"part{i}", transformers[kind], columns)
            for i, (kind, columns) in enumerate(zip(kinds, chosen, strict=False))
        ],
        remainder=remainder,
    )
    X = np.random.default_rng(0).uniform(size=(30, 4))
    transformer.fit(X)
    assert_columns(transformer, X, input_columns(transformer, 4))


# What mixes columns, or may


class Doubled(StandardScaler):
    """Takes its transform over."""


class Mixed(StandardScaler):
    def transform(self, X):
        return super().transform(X)[:, ::-1]


class Own(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


class OwnPCA(PCA):
    pass


def test_subclasses():
    X = numbers()
    assert_columns(Doubled().fit(X), X, ALL)


REFUSED = [
    (PCA(), "PCA mixes columns"),
    (OwnPCA(), "OwnPCA mixes columns"),
    (FrozenEstimator(PCA().fit(numbers())), "PCA mixes columns"),
    (TruncatedSVD(), "TruncatedSVD mixes columns"),
    (Normalizer(), "Normalizer mixes columns: it divides each row"),
    (KNNImputer(), "KNNImputer mixes columns: it fills in from rows"),
    (IterativeImputer(), "IterativeImputer mixes columns"),
    (KernelCenterer(), "KernelCenterer mixes columns"),
    (KMeans(2), "KMeans mixes columns"),
    (Nystroem(n_components=5), "Nystroem mixes columns"),
    (GaussianRandomProjection(2), "GaussianRandomProjection mixes columns"),
    (LinearDiscriminantAnalysis(), "LinearDiscriminantAnalysis mixes columns"),
    (RandomTreesEmbedding(2), "RandomTreesEmbedding mixes columns"),
    (PolynomialFeatures(2), "PolynomialFeatures mixes columns: it multiplies"),
    (PolynomialFeatures(2, interaction_only=True), "PolynomialFeatures mixes"),
    (FunctionTransformer(np.cumsum), "FunctionTransformer calls cumsum"),
    (FunctionTransformer(lambda X: X), "FunctionTransformer calls <lambda>"),
    (FunctionTransformer(np.frompyfunc(max, 2, 1)), "ufuncs of one argument"),
    (FunctionTransformer(np.log1p, kw_args={"where": True}), "without kw_args"),
    (Mixed(), "Mixed is a StandardScaler that overrides transform"),
    (Own(), "Own is not known to work column by column"),
]


@pytest.mark.parametrize("transformer, reason", REFUSED, ids=[r for _, r in REFUSED])
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_refusals(transformer, reason):
    X = numbers()[:, [0, 1, 3]]
    y = target() > 0
    if "KernelCenterer" in reason:
        transformer.fit(X @ X.T)
    elif "frompyfunc" not in reason and not isinstance(
        transformer, FunctionTransformer
    ):
        transformer.fit(X, y)
    with pytest.raises(UnreadableModelError, match=reason) as caught:
        input_columns(transformer, N if "KernelCenterer" in reason else 3)
    assert "Known to work column by column: Binarizer, ColumnTrans" in str(caught.value)
    assert str(caught.value).endswith("and feature selectors (SelectorMixin).")


def test_refusals_name_the_step():
    X = numbers()
    transformer = Pipeline(
        [
            ("scale", StandardScaler()),
            (
                "prepare",
                ColumnTransformer(
                    [
                        ("kept", "passthrough", [3]),
                        ("some", make_union(MinMaxScaler(), PCA()), [0, 1]),
                    ]
                ),
            ),
        ]
    ).fit(X)
    reason = "its step 'prepare': its transformer 'some': its transformer 'pca': PCA mi"
    with pytest.raises(UnreadableModelError, match=reason) as caught:
        input_columns(transformer, 4)
    assert str(caught.value).count("Known to work") == 1


def test_steps_that_do_not_fit_together():
    X = numbers()
    pipeline = make_pipeline(StandardScaler(), VarianceThreshold(), MinMaxScaler())
    pipeline.fit(X)
    pipeline.steps[1] = ("all", StandardScaler().fit(X))
    reason = "its step 'minmaxscaler': MinMaxScaler was fitted on 3 columns, and is giv"
    with pytest.raises(UnreadableModelError, match=reason):
        input_columns(pipeline, 4)
    with pytest.raises(UnreadableModelError, match="Pipeline was fitted on 4 columns"):
        input_columns(pipeline, 5)


# How many columns there are


@pytest.mark.parametrize(
    "estimator, n_columns",
    [
        (StandardScaler(), 4),
        (FunctionTransformer(), 4),
        (make_pipeline("passthrough", None, StandardScaler()), 4),
        (make_pipeline(make_union("drop", "passthrough", MinMaxScaler())), 4),
        (make_pipeline("passthrough"), None),
        (Own(), None),
    ],
    ids=str,
)
def test_number_of_columns(estimator, n_columns):
    estimator.fit(numbers())
    assert n_input_columns(estimator) == n_columns
    assert n_input_columns(FrozenEstimator(estimator)) == n_columns
