"""Regional effects and chosen intervals against effector, on the same model and rows.

Regions: time from the model to the regions of all features, planted thresholds, and
the heterogeneity at each level of the splits of the peer's own search over our curves.
Additive models, with and without noise in their responses, should have one region.
Intervals: mean squared error of the accumulated local effect of known functions.
"""

import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from command_line import parser, run_chosen
from pair import Case, Pair, Result, run_pair
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression

from sklearn_interpret.additive import GAMRegressor
from sklearn_interpret.effects import AccumulatedLocalEffects, RegionalEffects

THRESHOLDS = {1: 0.3, 2: -0.2}  # of the effect of feature 0
SHARE = 0.05  # of the rows: least size of a region
FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "step": lambda x: np.where(x > 0.2, 1.0, 0.0),
    "kink": lambda x: 2 * np.maximum(x - 1 / 3, 0),
    "smooth": lambda x: 1 / (1 + np.exp(-10 * x)),
    "linear": lambda x: x,
    "gap": lambda x: np.sin(3 * x),
    "ties": lambda x: np.sin(3 * x),
}
# Least ratio of the best other error to that of the chosen intervals. One interval is
# the best for a straight line, and effector has it there.
LEAST_RATIOS = {"linear": 0.75, "smooth": 0.9}


@cache
def planted(n_rows: int) -> tuple[Any, np.ndarray]:
    """Return a boosting model of ten features, and its rows."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n_rows, 10))
    sign = np.where(X[:, 1] > THRESHOLDS[1], 1.0, -1.0)
    slope = sign * np.where(X[:, 2] > THRESHOLDS[2], 1.0, 2.5)
    y = slope * X[:, 0] + X[:, 3] * X[:, 4] + 0.1 * rng.normal(size=n_rows)
    return GradientBoostingRegressor(max_depth=4, random_state=0).fit(X, y), X


def ours(model: Any, X: np.ndarray) -> RegionalEffects:
    """Return our regions of all features."""
    effects = RegionalEffects(
        FrozenEstimator(model), grid_resolution=30, min_gain=0, min_samples_leaf=SHARE
    )
    return effects.fit(X)


def finder(n_rows: int) -> Any:
    """Return the search of effector, without its limits on the gain."""
    from effector.space_partitioning import Best

    return Best(
        min_heterogeneity_decrease_pcg=0,
        heter_small_enough=0,
        min_samples_leaf=int(SHARE * n_rows),
    )


def theirs(model: Any, X: np.ndarray) -> Any:
    """Return the regions of effector of all features."""
    import effector

    effect = effector.PDP(X, model.predict, nof_instances="all")
    effect.fit("all", centering="zero_integral")
    search = finder(len(X))
    return [effect.find_regions(j, finder=search) for j in range(X.shape[1])]


def their_levels(curves: np.ndarray, X: np.ndarray, feature: int) -> list[float]:
    """Return the heterogeneity at each level of the peer's search over our curves."""
    shapes = curves - curves.mean(axis=1, keepdims=True)

    def loss(mask: np.ndarray) -> float:
        if not mask.any():
            return 0.0
        return float(np.square(shapes[mask] - shapes[mask].mean(axis=0)).sum())

    found = finder(len(X)).find_regions(
        feature,
        X,
        lambda mask: np.sqrt(loss(mask) / max(mask.sum() * shapes.shape[1], 1)),
        axis_limits=np.stack([X.min(axis=0), X.max(axis=0)]),
        feature_types=["continuous"] * X.shape[1],
        cat_limit=10,
        candidate_conditioning_features="all",
        feature_names=[f"x{j}" for j in range(X.shape[1])],
        target_name="y",
    )
    regions, levels = found.regions, []
    for level in range(3):
        parents = {r.parent_idx for r in regions if r.level <= level}
        cut = [r for r in regions if r.level <= level and r.idx not in parents]
        levels.append(np.sqrt(sum(loss(r.mask) for r in cut) / shapes.size))
    return levels


def excess(mine: RegionalEffects, _: Any, *, X: np.ndarray) -> float:
    """Return by what share our heterogeneity is above the peer's, at its worst level.

    Infinite if a planted threshold is not found within one gap of the data.
    """
    rows, worst = X, 0.0
    for condition in mine.regions_[0][0].conditions:
        truth = THRESHOLDS[condition.feature]
        values = np.sort(rows[:, condition.feature])
        if np.ptp(np.searchsorted(values, [condition.high, truth])) > 1:
            return np.inf
        rows = rows[condition.holds(rows)]
    for feature, curves in enumerate(mine.individual_):
        levels = np.array(their_levels(curves, X, feature))
        worst = max(worst, (mine.heterogeneity_[feature] / levels).max() - 1)
    return worst


class Noisy(RegressorMixin, BaseEstimator):
    """A model whose responses have noise, drawn at each call."""

    def __init__(self, model: Any = None, scale: float = 0.1, seed: int = 0):
        self.model, self.scale, self.seed = model, scale, seed

    def fit(self, X: np.ndarray, y: np.ndarray) -> "Noisy":
        """Fit the model."""
        self.model_ = self.model.fit(X, y)
        self.n_features_in_, self.rng_ = (
            X.shape[1],
            np.random.default_rng([self.seed, 1]),
        )
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return its responses, with noise."""
        noise = self.scale * self.rng_.normal(size=len(X))
        return self.model_.predict(X) + noise


def additive_model(seed: int, n_rows: int) -> tuple[Any, np.ndarray]:
    """Return an additive model that was fitted to noisy data, and its rows."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n_rows, 5))
    shapes = [np.sin, np.abs, np.exp, np.square, np.tanh]
    y = sum(shapes[k](2 * x) for k, x in zip(rng.integers(5, size=5), X.T, strict=True))
    y = y + y.std() * rng.normal(size=n_rows)
    models = [LinearRegression(), GradientBoostingRegressor(max_depth=1)]
    models += [GAMRegressor(), Noisy(LinearRegression(), seed=seed)]
    return models[seed % len(models)].fit(X, y), X


def without_splits(name: str, effect: str, n_rows: int, n_seeds: int) -> Result:
    """Count additive models of which no feature is divided."""
    whole = []
    for seed in range(n_seeds):
        model, X = additive_model(seed, n_rows)
        found = RegionalEffects(FrozenEstimator(model), effect=effect).fit(X)
        whole.append(max(map(len, found.regions_)) == 1)
    share = 100 * float(np.mean(whole))
    verdict = "ok" if share >= 95 else "DISAGREES"
    shown = f"{n_seeds} models, {share:.1f} %"
    return Result(name, "one region", shown, "-", "-", ">= 95 %", "-", verdict)


def false_splits(name: str, effect: str, n_rows: int, n_seeds: int) -> Result:
    """Count divisions by chance at a significance of 5 %, of noise of any gain."""
    divided = []
    for seed in range(n_seeds):
        X = np.random.default_rng(seed).normal(size=(n_rows, 4))
        model = Noisy(LinearRegression(), scale=1.0, seed=seed).fit(X, X[:, 0])
        found = RegionalEffects(
            FrozenEstimator(model),
            effect=effect,
            features=[0],
            min_gain=0,
            alpha=0.05,
            random_state=seed,
        ).fit(X)
        divided.append(len(found.regions_[0]) > 1)
    share = 100 * float(np.mean(divided))
    verdict = "ok" if share <= 7 else "DISAGREES"
    shown = f"{n_seeds} runs, {share:.1f} %"
    return Result(name, "false splits", shown, "-", "-", "<= 7 %", "-", verdict)


def feature_of(name: str, rng: np.random.Generator, n_rows: int) -> np.ndarray:
    """Return values of the feature: with a gap in the middle, or with heavy ties."""
    x = rng.uniform(-1, 1, n_rows)
    if name == "gap":
        return np.sign(x) * 0.4 + 0.6 * x
    if name == "ties":
        on_level = rng.uniform(size=n_rows) < 0.6
        return np.where(on_level, rng.choice([-0.5, 0.0, 0.5], n_rows), x.round(2))
    return x


def squared_errors(name: str, n_rows: int, seed: int) -> dict[str, float]:
    """Return the mean squared errors of the centred effect over the rows."""
    import effector

    rng = np.random.default_rng(seed)
    function = FUNCTIONS[name]
    X = np.stack([feature_of(name, rng, n_rows), rng.normal(size=n_rows)], axis=1)

    def respond(X: np.ndarray) -> np.ndarray:
        return function(X[:, 0]) * (1 + 0.5 * X[:, 1])

    model = FrozenEstimator(LinearRegression().fit(X, X[:, 0]))
    x, truth = X[:, 0], function(X[:, 0])
    curves = {}
    for n_intervals in (10, 40, "auto"):
        found = AccumulatedLocalEffects(
            model,
            features=[0],
            n_intervals=n_intervals,
            response_method=lambda _, X: respond(X),
        ).fit(X)
        curves[str(n_intervals)] = np.interp(x, found.edges_[0], found.effects_[0])
    for method, peer in (("fixed", effector.ALE), ("dp", effector.RHALE)):
        effect = peer(X, respond, nof_instances="all")
        effect.fit(0, binning_method=method)
        curves[f"effector {method}"] = effect.eval(0, x)
    return {key: float(np.var(curve - truth)) for key, curve in curves.items()}


def intervals(name: str, function: str, n_rows: int, n_seeds: int) -> Result:
    """Compare the chosen intervals with fixed numbers of them, and the peer's."""
    runs = [squared_errors(function, n_rows, seed) for seed in range(n_seeds)]
    errors = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
    mine = errors.pop("auto")
    best = min(errors, key=lambda key: errors[key])
    ratio = errors[best] / mine
    least = LEAST_RATIOS.get(function, 1.0)
    verdict = "ok" if ratio > least else "below target"
    shown = ", ".join(f"{key} {error / mine:.2f}" for key, error in errors.items())
    return Result(
        name,
        best,
        f"{mine:.2g}",
        f"{errors[best]:.2g}",
        shown,
        f"> {least:g}",
        "-",
        verdict,
    )


def cases(*, quick: bool, **run: Any) -> dict[str, Case]:
    """Return all cases by name."""
    n_rows, found = 500 if quick else 5000, {}
    model, X = planted(n_rows)
    pair = Pair(
        "regions of ten features",
        partial(ours, model, X),
        partial(theirs, model, X),
        "effector",
        agreement=partial(excess, X=X),
        tolerance=1e-9,
        target_ratio=None if quick else 3.0,
    )
    found[pair.name] = lambda _, pair=pair: run_pair(pair, **run)
    n_seeds = 12 if quick else 200
    for effect in ("ice", "ale"):
        for n in (200, 2000):
            name = f"additive, {effect}, {n} rows"
            found[name] = partial(
                without_splits, effect=effect, n_rows=n, n_seeds=n_seeds
            )
            name = f"significance, {effect}, {n // 2} rows"
            found[name] = partial(
                false_splits, effect=effect, n_rows=n // 2, n_seeds=2 * n_seeds
            )
    for function in FUNCTIONS:
        for n in (300, 1000, 5000):
            name = f"intervals, {function}, {n} rows"
            found[name] = partial(
                intervals,
                function=function,
                n_rows=n,
                n_seeds=n_seeds // (1 + n // 2000),
            )
    return found


if __name__ == "__main__":
    options = parser(__doc__).parse_args()
    sys.exit(run_chosen(partial(cases, quick=options.quick), options))
