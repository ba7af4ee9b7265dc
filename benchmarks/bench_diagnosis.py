"""Changes between tables: whether tests, intervals and names hold, and what they cost.

Cases named change-*:

null: both tables come from one distribution. The share of tables in which any adjusted
p-value is below 5 %, of the mean prediction and of the mean loss; above 5 %, by more
than two standard errors of the share, `DISAGREES`.
named: one feature, or the noise of the targets, is changed (features of the loss: twice
as many rows). The share of tables in
which the largest contribution, with an adjusted p-value below 5 %, is the changed one;
below 95 % `DISAGREES`.
held: the share of intervals of 95 % that hold the change between the distributions; the
smallest share over features is shown; below 90 % `DISAGREES`.
shap: the mean values of shap's TreeExplainer, against all old rows, without errors.
"""

import sys
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from command_line import parser, run_chosen
from pair import Case, Pair, Result, run_pair
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.neural_network import MLPRegressor

from sklearn_interpret.diagnosis import Change, ChangeAttribution

ALPHA, LEAST_HELD, LEAST_NAMED = 0.05, 0.90, 0.95
# Features whose shift moves the mean: the effect of x2 has the mean zero.
SHIFTED = 0, 1, 3, 4
TARGETS = "targets given features"
MODELS = {
    "trees": GradientBoostingRegressor(n_estimators=60, random_state=0),
    "linear": Ridge(),
    "network": MLPRegressor(hidden_layer_sizes=(20,), max_iter=300, random_state=0),
}


def table(
    rng: np.random.Generator, n: int, shifted: int | None = None, noise: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of five features, skewed, counted, rare and correlated, and targets.

    The values of one feature may be shifted.
    """
    X = np.column_stack(
        [
            rng.normal(size=n),
            rng.lognormal(sigma=0.7, size=n),
            rng.integers(0, 4, n),
            rng.random(n) < (0.4 if shifted == 3 else 0.1),
            rng.normal(size=n),
        ]
    ).astype(np.float64)
    X[:, 4] += 0.7 * X[:, 0]
    if shifted is not None and shifted != 3:
        X[:, shifted] += 1.0
    mean = X[:, 0] + X[:, 1] + X[:, 0] * (X[:, 2] > 1) + 2 * X[:, 3] + X[:, 4]
    # The rare flag has noisy targets: its share moves the loss.
    return X, mean + noise * (1 + 2 * X[:, 3]) * rng.normal(size=n)


@cache
def model(kind: str) -> FrozenEstimator:
    """Return a fitted model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a network that has not converged will do
        fitted = MODELS[kind].fit(*table(np.random.default_rng(99), 2000))
    return FrozenEstimator(fitted)


def change(kind: str, n: int, seed: int, **new: Any) -> Change:
    """Return the change between two random tables."""
    rng = np.random.default_rng([seed, n])
    (X, y), (X_new, y_new) = table(rng, n), table(rng, n, **new)
    inspector = ChangeAttribution(model(kind), random_state=seed, verbose=0)
    return inspector.fit(X, y).compare(X_new, y_new)


def share_result(
    name: str, shares: dict[str, float], holds: bool, target: str
) -> Result:
    """Return one line of the table from shares by name."""
    texts = [f"{key} {share:.1%}" for key, share in shares.items()]
    verdict = "ok" if holds else "DISAGREES"
    return Result(
        name, "definition", texts[0], "-", "; ".join(texts[1:]), target, "-", verdict
    )


def null(name: str, *, kind: str, n: int, n_tables: int) -> Result:
    """Count alarms of tables without a change."""
    changes = [change(kind, n, seed) for seed in range(n_tables)]
    alarms = {
        "mean": np.mean([(c.adjusted_pvalues < ALPHA).any() for c in changes]),
        "loss": np.mean([(c.loss.adjusted_pvalues < ALPHA).any() for c in changes]),
    }
    most = ALPHA + 2 * np.sqrt(ALPHA * (1 - ALPHA) / n_tables)
    return share_result(name, alarms, max(alarms.values()) <= most, f"<= {ALPHA:.0%}")


def is_named(found: Change, expected: str) -> bool:
    """Whether the largest contribution is the expected one, more than by chance."""
    largest = np.abs(found.values).argmax()
    is_clear = found.adjusted_pvalues[largest] < ALPHA
    return bool(is_clear and found.feature_names[largest] == expected)


def named(name: str, *, kind: str, n: int, n_tables: int) -> Result:
    """Count tables in which the largest contribution is the changed feature's."""
    changes = [
        (shifted, change(kind, n, seed, shifted=shifted))
        for seed in range(n_tables)
        for shifted in (SHIFTED[seed % 4],)
    ]
    noisy = [change(kind, n, seed, noise=2.0) for seed in range(n_tables)]
    flagged = [change(kind, 2 * n, seed, shifted=3) for seed in range(n_tables)]
    shares = {
        "feature": np.mean([is_named(c, f"x{j}") for j, c in changes]),
        "targets": np.mean([is_named(c.loss, TARGETS) for c in noisy]),
        "feature of the loss": np.mean([is_named(c.loss, "x3") for c in flagged]),
    }
    return share_result(
        name, shares, min(shares.values()) >= LEAST_NAMED, f">= {LEAST_NAMED:.0%}"
    )


class Product(RegressorMixin, BaseEstimator):
    """A function that does not learn: x0 + x1 x2 + x1 x2 x3."""

    def fit(self, X: np.ndarray, y: Any = None) -> "Product":
        """Do nothing."""
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the function's values."""
        a, b, c, d, *_ = X.T
        return a + b * c + b * c * d


def independent(rng: np.random.Generator, n: int, moved: float) -> np.ndarray:
    """Return rows of independent skewed features with means of 0.5 + moved x 0.3."""
    means = 0.5 + moved * 0.3
    columns = [rng.exponential(means, n), rng.normal(means, 1, n)]
    columns += [rng.random(n) < means, rng.lognormal(np.log(means) - 0.5, 1, n)]
    return np.column_stack([*columns, rng.normal(size=n)])


def exact_values() -> np.ndarray:
    """Return the contributions to the change of the mean of `Product`.

    The features are independent, so mean responses are the function of the means.
    """
    low, high = 0.5, 0.8

    def mean(coalition: set[int]) -> float:
        a, b, c, d = (high if j in coalition else low for j in range(4))
        return a + b * c + b * c * d

    from itertools import permutations

    values, orders = np.zeros(5), list(permutations(range(4)))
    for order in orders:
        for position, j in enumerate(order):
            before = set(order[:position])
            values[j] += (mean(before | {j}) - mean(before)) / len(orders)
    return values


def held(name: str, *, kind: str, n: int, n_tables: int) -> Result:
    """Count intervals that hold the change between the distributions."""
    if kind == "product":
        fitted, truth = FrozenEstimator(Product().fit(np.zeros((1, 5)))), exact_values()
        tables = partial(independent, moved=0.0), partial(independent, moved=1.0)
    else:
        fitted, truth = model(kind), true_values(kind)
        tables = rows_of(None), rows_of(0)
    inside = []
    for seed in range(n_tables):
        rng = np.random.default_rng([seed, n])
        old, new = (draw(rng, n) for draw in tables)
        inspector = ChangeAttribution(fitted, random_state=seed, verbose=0).fit(old)
        found = inspector.compare(new)
        rounding = 1e-9 * np.abs(truth).max()
        inside.append(
            (found.low - rounding <= truth) & (truth <= found.high + rounding)
        )
    by_feature = np.mean(inside, axis=0)
    shares = {"mean": by_feature.mean(), "least": by_feature.min()}
    return share_result(
        name, shares, shares["least"] >= LEAST_HELD, f">= {LEAST_HELD:.0%}"
    )


def rows_of(shifted: int | None) -> Callable[..., np.ndarray]:
    """Return a function that draws rows."""
    return lambda rng, n: table(rng, n, shifted)[0]


@cache
def true_values(kind: str) -> np.ndarray:
    """Return contributions between two tables of 400 000 rows each."""
    rng = np.random.default_rng(1)
    inspector = ChangeAttribution(model(kind), verbose=0)
    inspector.fit(table(rng, 400_000)[0])
    return inspector.compare(table(rng, 400_000, 0)[0]).values


def against_shap(name: str, *, n: int, **run: Any) -> Result:
    """Compare values, and time, with the means of shap's."""
    rng = np.random.default_rng(0)
    (old, _), (new, _) = table(rng, n), table(rng, n, 0)
    trees = model("trees")

    def by_shap() -> np.ndarray:
        import shap

        background = shap.maskers.Independent(old, max_samples=len(old))
        explainer = shap.TreeExplainer(trees.estimator, background)
        return explainer.shap_values(new, check_additivity=False).mean(axis=0)

    pair = Pair(
        name,
        lambda: ChangeAttribution(trees, verbose=0).fit(old).compare(new).values,
        by_shap,
        "shap",
        agreement=lambda ours, theirs: np.abs(ours - theirs).max(),
        tolerance=1e-6,
        target_ratio=1.0,
    )
    return run_pair(pair, **run)


def change_cases(*, quick: bool, **run: Any) -> dict[str, Case]:
    """Return the cases of changes by name."""
    n_tables = 10 if quick else 100
    found: dict[str, Case] = {}
    for kind in MODELS:
        for n in (50, 500):
            found[f"change-null-{kind}-{n}"] = partial(
                null, kind=kind, n=n, n_tables=n_tables
            )
        found[f"change-named-{kind}-500"] = partial(
            named, kind=kind, n=500, n_tables=n_tables
        )
    for kind in ("trees", "linear", "product"):
        for n in (50, 500, 5000):
            found[f"change-held-{kind}-{n}"] = partial(
                held, kind=kind, n=n, n_tables=2 * n_tables
            )
    found["change-shap"] = partial(against_shap, n=100 if quick else 1000, **run)
    return found


def cases(*, quick: bool, **run: Any) -> dict[str, Case]:
    """Return all cases by name."""
    return {**change_cases(quick=quick, **run)}


if __name__ == "__main__":
    options = parser(__doc__).parse_args()
    sys.exit(run_chosen(partial(cases, quick=options.quick), options))
