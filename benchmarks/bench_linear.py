"""Tables of linear models and GLMs against statsmodels, and coverage of the intervals.

Weights, errors, tests and intervals are compared in parts of their size, intervals by
profile with a search for roots of refits by statsmodels. Coverage is that of intervals
of 95 % in simulations: outside of 94 % to 96 % it disagrees, of 12, 20 or 50 rows
outside of wider limits, by more than the error of the simulation. Times are of the
fit of the model and its table, on both sides. Whole paths of the lasso are compared
with `lars_path`, at the penalties of ours.
"""

import sys
from functools import cache, partial
from typing import Any

import numpy as np
from command_line import parser, run_chosen
from pair import Case, Pair, Result, run_pair
from scipy.optimize import brentq
from scipy.stats import chi2, f
from sklearn.linear_model import (
    GammaRegressor,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    lars_path,
)

from sklearn_interpret.linear import CoefficientInference, SparseLinearRegressor

# Newton's method is the quickest way to weights to many digits.
NEWTON = {"solver": "newton-cholesky", "tol": 1e-9}
MODELS = {
    "ols": LinearRegression(),
    "logistic": LogisticRegression(C=np.inf, **NEWTON),
    "poisson": PoissonRegressor(alpha=0, **NEWTON),
    "gamma": GammaRegressor(alpha=0, **NEWTON),
}
COVARIANCES = {"ols": ("model", "HC0", "HC1", "HC2", "HC3")}
LEVEL, LIMITS = 0.95, (0.94, 0.96)
# Limits of the coverage with few rows.
FEW_ROWS = {12: (0.92, 0.98), 20: (0.93, 0.97), 50: (0.93, 0.97)}


def targets(name: str, scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw targets of a model from its linear predictor."""
    if name == "ols":
        return scores + rng.normal(size=len(scores))
    if name == "logistic":
        return (scores + rng.logistic(size=len(scores)) > 0).astype(float)
    if name == "poisson":
        return rng.poisson(np.exp(scores)).astype(float)
    return rng.gamma(2.0, np.exp(scores) / 2)


@cache
def problem(name: str, n_rows: int, n_columns: int) -> tuple[Any, ...]:
    """Return a model, and rows and targets drawn for it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    weights = rng.normal(size=n_columns) / n_columns**0.5
    y = targets(name, 0.3 + X @ weights, rng)
    return MODELS[name], X, y


def table(on: tuple[Any, ...], **settings: Any) -> np.ndarray:
    """Return our table."""
    model, X, y = on
    found = CoefficientInference(model, **settings).fit(X, y)
    frame = found.to_frame().drop(columns="class", errors="ignore")
    return frame.to_numpy()[:, :6]


def peer_model(name: str, X: np.ndarray, y: np.ndarray, **given: Any) -> Any:
    """Return the same model of statsmodels, unfitted."""
    import statsmodels.api as sm

    if name == "ols":
        return sm.OLS(y, X)
    family = {
        "logistic": sm.families.Binomial,
        "poisson": sm.families.Poisson,
        "gamma": partial(sm.families.Gamma, link=sm.families.links.Log()),
    }[name]()
    return sm.GLM(y, X, family=family, **given)


def peer_table(name: str, on: tuple[Any, ...], covariance: str) -> np.ndarray:
    """Return the table of statsmodels."""
    _, X, y = on
    model = peer_model(name, np.column_stack([X, np.ones(len(X))]), y)
    kind = {"model": "nonrobust"}.get(covariance, covariance)
    # Its errors lag behind its weights by a step.
    precise = {} if name == "ols" else {"tol": 1e-14, "tol_criterion": "params"}
    student = name in ("ols", "gamma")
    fit = model.fit(cov_type=kind, use_t=student, **precise)
    parts = fit.params, fit.bse, fit.tvalues, fit.pvalues
    return np.column_stack([*parts, fit.conf_int()])


def relative(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Return the largest relative difference of nonzero numbers."""
    size = np.where(np.abs(theirs) > 1e-290, np.abs(theirs), 1)
    return float((np.abs(ours - theirs) / size).max())


def tables(name: str, *, model: str, covariance: str, size: tuple, timing: Any) -> Any:
    """Compare the table, and its time."""
    on = problem(model, *size)
    pair = Pair(
        name,
        partial(table, on, covariance=covariance),
        partial(peer_table, model, on, covariance),
        "statsmodels",
        relative,
        1e-8,
    )
    return run_pair(pair, **timing)


def searched_ends(name: str, on: tuple[Any, ...]) -> np.ndarray:
    """Ends of profile intervals by searches for roots, of a refit at each point."""
    _, X, y = on
    design = np.column_stack([X, np.ones(len(X))])
    fit = peer_model(name, design, y).fit(tol=1e-13)
    test = f(1, fit.df_resid) if name == "gamma" else chi2(1)
    height = test.ppf(LEVEL) * fit.scale

    def rise(at: float, term: int) -> float:
        others = np.delete(design, term, axis=1)
        model = peer_model(name, others, y, offset=at * design[:, term])
        start = np.delete(fit.params, term)
        deviance = model.fit(start_params=start, tol=1e-12).deviance
        return deviance - fit.deviance - height

    return np.array(
        [
            [
                brentq(rise, middle, middle + side * error, args=(term,), rtol=1e-9)
                for side in (-4, 4)
            ]
            for term, (middle, error) in enumerate(
                zip(fit.params, fit.bse, strict=True)
            )
        ]
    )


def profiles(name: str, *, model: str, size: tuple, timing: Any) -> Result:
    """Compare profile intervals with searches, in parts of their lengths."""
    on = problem(model, *size)
    pair = Pair(
        name,
        lambda: table(on, interval="profile")[:, 4:],
        partial(searched_ends, model, on),
        "statsmodels",
        lambda ours, theirs: (
            np.abs(ours - theirs) / np.ptp(theirs, axis=1)[:, None]
        ).max(),
        1e-5,
    )
    return run_pair(pair, **timing)


def lasso_path(name: str, *, size: tuple[int, int], timing: Any) -> Result:
    """Compare the whole path of the lasso with that of scikit-learn, and its time."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=size)
    y = X[:, :10] @ rng.normal(size=10) + rng.normal(size=len(X))

    def peer() -> tuple[np.ndarray, np.ndarray]:
        spread = X.std(axis=0)
        scaled = (X - X.mean(axis=0)) / spread
        alphas, _, weights = lars_path(
            scaled, y - y.mean(), method="lasso", max_iter=100_000
        )
        return alphas[::-1], weights[:, ::-1] / spread[:, None]

    def difference(ours: SparseLinearRegressor, theirs: tuple) -> float:
        alphas, weights = theirs
        between = [
            np.interp(ours.alphas_, alphas, of_feature) for of_feature in weights
        ]
        return float(np.abs(ours.coef_path_ - between).max())

    pair = Pair(
        name,
        lambda: SparseLinearRegressor().fit(X, y),
        peer,
        "scikit-learn",
        difference,
        1e-6,
    )
    return run_pair(pair, **timing)


def coverage(
    name: str, *, model: str, n_rows: int, n_draws: int, settings: dict[str, Any]
) -> Result:
    """Count how often intervals of 95 % hold the weights that made the targets."""
    rng = np.random.default_rng(1)
    truth, held = np.array([0.5, -0.3, 0.0, 0.2]), []
    rates = settings.get("weights") == "precision"
    unequal = settings.get("covariance", "model") != "model" and not rates
    quasi = settings.get("dispersion") == "quasi"
    for _ in range(n_draws):
        X, weights = rng.normal(size=(n_rows, 3)), np.ones(n_rows)
        scores = X @ truth[:3] + truth[3]
        y = targets(model, scores, rng)
        if unequal:
            y = scores + rng.normal(size=n_rows) * (0.5 + np.abs(X[:, 0]))
        if quasi and model == "poisson":  # with a variance of three means
            y = rng.negative_binomial(np.exp(scores) / 2, 1 / 3)
            if not y.any():  # no logarithm of the mean
                continue
        if quasi and model == "logistic":  # twenty trials, four times as variable
            shares = 1 / (1 + np.exp(-scores))
            hits = rng.binomial(20, rng.beta(5.3 * shares, 5.3 * (1 - shares)))
            X, y = np.vstack([X, X]), np.repeat([1.0, 0.0], n_rows)
            weights = np.concatenate([hits, 20 - hits]).astype(float)
        if rates:
            weights = rng.gamma(0.5, 2.0, size=n_rows) + 0.05
            means = weights * np.exp(scores)
            if "covariance" in settings:  # each row has a rate of its own
                means *= rng.gamma(2.0, 0.5, size=n_rows)
            y = rng.poisson(means) / weights
        inspector = CoefficientInference(MODELS[model], **settings)
        found = inspector.fit(X, y, sample_weight=weights)
        held.append((found.intervals_low_ < truth) & (truth < found.intervals_high_))
    share, (low, high) = np.mean(held), FEW_ROWS.get(n_rows, LIMITS)
    margin = 1.96 * np.sqrt(share * (1 - share) / np.size(held))
    return Result(
        name,
        "nominal 95 %",
        f"{share:.2%}",
        "95 %",
        f"± {margin:.2%}",
        f"{low:.0%} to {high:.0%}",
        f"{abs(share - LEVEL):.1e}",
        "ok" if low - margin <= share <= high + margin else "DISAGREES",
    )


def cases(*, quick: bool, **timing: Any) -> dict[str, Case]:
    """Return the cases by name."""
    size = (2_000, 10) if quick else (50_000, 30)
    small = (500, 4) if quick else (5_000, 10)
    found: dict[str, Case] = {}
    for model in MODELS:
        for covariance in COVARIANCES.get(model, ("model", "HC0")):
            found[f"table-{model}-{covariance}"] = partial(
                tables, model=model, covariance=covariance, size=size, timing=timing
            )
    for model in ("logistic", "poisson", "gamma"):
        found[f"profile-{model}"] = partial(
            profiles, model=model, size=small, timing=timing
        )
    # Tables whose time is that of the fit, or once was that of a search for separation.
    for model, n_rows, n_columns in (
        ("ols", 1_000, 10),
        ("logistic", 10_000, 100),
        ("logistic", 100_000, 10),
        ("poisson", 1_000, 100),
    ):
        found[f"shape-{model}-{n_rows}x{n_columns}"] = partial(
            tables,
            model=model,
            covariance="model",
            size=(n_rows // 10, 4) if quick else (n_rows, n_columns),
            timing=timing,
        )
    for n_rows, n_columns in ((200, 20), (2_000, 100), (2_000, 500)):
        found[f"path-{n_rows}x{n_columns}"] = partial(
            lasso_path,
            size=(n_rows // 10, n_columns // 10) if quick else (n_rows, n_columns),
            timing=timing,
        )
    simulated = {
        "ols": ("ols", 60, {}),
        "ols-HC3": ("ols", 200, {"covariance": "HC3"}),
        "logistic": ("logistic", 200, {}),
        "logistic-profile": ("logistic", 100, {"interval": "profile"}),
        "poisson": ("poisson", 100, {}),
        "poisson-profile": ("poisson", 60, {"interval": "profile"}),
        "poisson-quasi": ("poisson", 500, {"dispersion": "quasi"}),
        "logistic-quasi": ("logistic", 100, {"dispersion": "quasi"}),
        "rates": ("poisson", 200, {"weights": "precision"}),
        "rates-HC0": ("poisson", 4000, {"weights": "precision", "covariance": "HC0"}),
        "gamma": ("gamma", 300, {}),
        "gamma-profile": ("gamma", 300, {"interval": "profile"}),
    }
    for n_rows in FEW_ROWS:
        simulated |= {
            f"ols-HC3-{n_rows}": ("ols", n_rows, {"covariance": "HC3"}),
            f"poisson-quasi-{n_rows}": ("poisson", n_rows, {"dispersion": "quasi"}),
            f"gamma-{n_rows}": ("gamma", n_rows, {}),
            f"gamma-profile-{n_rows}": ("gamma", n_rows, {"interval": "profile"}),
        }
    for name, (model, n_rows, settings) in simulated.items():
        found[f"coverage-{name}"] = partial(
            coverage,
            model=model,
            n_rows=n_rows,
            n_draws=2_000 if quick else 10_000,
            settings=settings,
        )
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen cases; returns 1 when results disagree, else 0."""
    options = parser(__doc__).parse_args(arguments)
    return run_chosen(partial(cases, quick=options.quick), options)


if __name__ == "__main__":
    sys.exit(main())
