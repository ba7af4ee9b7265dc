"""Shapley values of any model: error by number of coalitions, time beyond the model.

The errors are those of the values against enumeration, relative to the mean square of
these, with the same rows, backgrounds and numbers of coalitions for everyone; a case
compares ours with the best peer. Peers are asked with a table of the values of all
coalitions, which is the same to them and spares the model.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from typing import Any

import numpy as np
from command_line import parser, run_chosen
from effect_pairs import table
from pair import Case, Pair, Result, Watched, bounded_memory, run_pair, spread
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.neural_network import MLPRegressor

from sklearn_interpret.shapley import ExactShapley, KernelSHAP, LinearSHAP

BUDGETS = (128, 512, 2048)
# The peer's error divided by ours.
TARGETS = {128: 1.0, 512: 2.0, 2048: 2.0}
# How far enumeration is from the truth: where both are there, it is a draw.
_ROUNDING = 1e-20

Timing = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """Rows explained, draws of the estimators, and whether targets are judged."""

    n_rows: int
    n_seeds: int
    n_timed: int
    judged: bool

    def target(self, value: float) -> float | None:
        """Return the target, or None where none is set."""
        return value if self.judged else None


FULL = Sizes(20, 10, 100, judged=True)
QUICK = Sizes(2, 2, 4, judged=False)


class FourWay(RegressorMixin, BaseEstimator):
    """A function with interactions of four features."""

    def __init__(self, n_features):
        self.n_features = self.n_features_in_ = n_features

    def fit(self, X, y=None):
        """Do nothing: there is nothing to learn."""
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        """Return the function's values."""
        z = 2 * np.asarray(X) - 1
        products = z[:, :4].prod(axis=1) + 2 * z[:, 6:10].prod(axis=1)
        waves = np.sin(3 * z[:, 4] * z[:, 5])
        return products + waves + z[:, 10] * (1 + z[:, 0]) + z[:, -1] ** 2


class Interaction(FourWay):
    """A sum of curves, and a product of two features."""

    def predict(self, X):
        z = 2 * np.asarray(X) - 1
        curves = np.sin(3 * z[:, 0]) + z[:, 1] ** 2 + z[:, 2:].sum(axis=1)
        return curves + 3 * z[:, 1] * z[:, 2]


class Product(FourWay):
    """The product of all features."""

    def predict(self, X):
        return (2 * np.asarray(X)).prod(axis=1)


class Signed(FourWay):
    """The product of factors of mean zero: hardly anything without all features."""

    def predict(self, X):
        return (4 * np.asarray(X) - 2).prod(axis=1)


class Table(RegressorMixin, BaseEstimator):
    """Values of coalitions of several games, (n_games, 2**p), looked up.

    Players of game number g that are there have the value g + 1, the others 0.
    """

    def __init__(self, values):
        self.values = values

    def fit(self, X, y=None):
        """Do nothing: there is nothing to learn."""
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        """Return the values of coalitions."""
        X = np.asarray(X)
        number = np.maximum(X.max(axis=1).astype(int) - 1, 0)
        return self.values[number, (X > 0) @ 2 ** np.arange(X.shape[1])]


def tabled(values: np.ndarray) -> tuple[FrozenEstimator, np.ndarray, np.ndarray]:
    """Return a table of games, its background, and the row of each game."""
    n_games, n_coalitions = values.shape
    n_players = n_coalitions.bit_length() - 1
    # All games start from zero: nobody has no number.
    table = FrozenEstimator(Table(values - values[:, :1]))
    numbers = np.arange(1.0, n_games + 1)[:, None]
    return table, np.zeros((1, n_players)), np.tile(numbers, n_players)


@dataclass(frozen=True, eq=False)
class Game:
    """Rows to explain, their background, and the values of all their coalitions."""

    model: RegressorMixin
    background: np.ndarray
    rows: np.ndarray
    values: np.ndarray
    truth: np.ndarray

    def errors(self, estimates: np.ndarray) -> float:
        """Return the mean squared error relative to the mean square."""
        return float(((estimates - self.truth) ** 2).sum() / (self.truth**2).sum())


@cache
def game(kind: str, n_features: int, n_rows: int) -> Game:
    """Return one of the games, enumerated."""
    X, y = table(2000, max(n_features, 5))
    X = X[:, :n_features]
    model = {
        "gb": GradientBoostingRegressor(n_estimators=200, max_depth=4, random_state=0),
        "mlp": MLPRegressor(hidden_layer_sizes=(50, 50), max_iter=500, random_state=0),
        "four": FourWay(n_features),
        "interaction": Interaction(n_features),
        "product": Product(n_features),
        "signed": Signed(n_features),
    }[kind].fit(X, (y - y.mean()) / y.std())
    rng = np.random.default_rng(1)
    background = X[rng.choice(len(X), 50, replace=False)]
    rows = rng.uniform(size=(n_rows, n_features))
    members = (np.arange(2**n_features)[:, None] >> np.arange(n_features)) & 1
    values = np.empty((n_rows, 2**n_features))
    for row, into in zip(rows, values, strict=True):
        for start in range(0, len(members), 1024):
            present = members[start : start + 1024, None, :] == 1
            mixed = np.where(present, row, background)
            answers = model.predict(mixed.reshape(-1, n_features))
            into[start : start + 1024] = answers.reshape(-1, 50).mean(axis=1)
    # From the values at hand: the model takes most of the time.
    known, nobody, numbered = tabled(values)
    exact = ExactShapley(known, background=nobody).fit(nobody).explain(numbered)
    return Game(model, background, rows, values, exact.values)


def ours(played: Game, budget: int, seed: int) -> np.ndarray:
    """Return our values from `n_coalitions` coalitions."""
    inspector = KernelSHAP(
        FrozenEstimator(played.model),
        n_coalitions=budget,
        background=played.background,
        random_state=seed,
    )
    return inspector.fit(played.background).explain(played.rows).values


def by_table(values: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the values of coalitions as a function of their members."""
    numbers = 2 ** np.arange(len(values).bit_length() - 1)
    return lambda members: values[np.asarray(members).astype(int) @ numbers]


def shap_kernel(played: Game, budget: int, seed: int) -> np.ndarray:
    """Return the values of shap's kernel explainer."""
    import shap

    p = played.rows.shape[1]
    found = []
    state = np.random.get_state()  # noqa: NPY002
    for values in played.values:
        np.random.seed(seed)  # noqa: NPY002 - it draws from there
        explainer = shap.KernelExplainer(by_table(values), np.zeros((1, p)))
        found.append(
            explainer.shap_values(
                np.ones(p), nsamples=budget, silent=True, l1_reg=False
            )
        )
    np.random.set_state(state)  # noqa: NPY002
    return np.array(found)


def shap_permutation(played: Game, budget: int, seed: int) -> np.ndarray:
    """Return the values of shap's permutation explainer."""
    import shap

    p = played.rows.shape[1]
    found = []
    for values in played.values:
        explainer = shap.PermutationExplainer(
            by_table(values), np.zeros((1, p)), seed=seed
        )
        explained = explainer(
            np.ones((1, p)), max_evals=max(budget, 2 * p + 1), silent=True
        )
        found.append(explained.values[0])
    return np.array(found)


def shapiq_kernel(played: Game, budget: int, seed: int) -> np.ndarray:
    """Return the values of shapiq's KernelSHAP with paired coalitions."""
    from shapiq.approximator import KernelSHAP as ShapiqKernel

    p = played.rows.shape[1]
    found = []
    for values in played.values:
        approximator = ShapiqKernel(n=p, pairing_trick=True, random_state=seed)
        explained = approximator.approximate(budget, by_table(values))
        found.append([explained[(player,)] for player in range(p)])
    return np.array(found)


PEERS = (
    ("shapiq", "KernelSHAP", shapiq_kernel),
    ("shap", "Kernel", shap_kernel),
    ("shap", "Permutation", shap_permutation),
)


def mean_error(
    estimate: Callable[..., Any], played: Game, budget: int, n: int
) -> float:
    """Return the error of the estimator's values, as a mean over seeds."""
    seeds = range(n)
    return float(
        np.mean([played.errors(estimate(played, budget, seed)) for seed in seeds])
    )


def accuracy(
    name: str, *, kind: str, n_features: int, budget: int, sizes: Sizes
) -> Result:
    """Compare our error with that of the best peer."""
    played = game(kind, n_features, sizes.n_rows)
    own = mean_error(ours, played, budget, sizes.n_seeds)
    theirs, missing = {}, []
    for package, label, estimate in PEERS:
        try:
            error = mean_error(estimate, played, budget, sizes.n_seeds)
        except ImportError as problem:
            missing.append(f"{type(problem).__name__}: {problem}")
            continue
        theirs[f"{package} {version(package)} {label}"] = error
    if not theirs:
        note = "; ".join(missing)
        return Result(name, "shap", f"{own:.1e}", *"----", "peer missing", note)
    best = min(theirs, key=theirs.__getitem__)
    ratio = (theirs[best] + _ROUNDING) / (own + _ROUNDING)
    target = sizes.target(TARGETS[budget])
    reached = target is None or ratio >= target
    return Result(
        name,
        best,
        f"{own:.1e}",
        f"{theirs[best]:.1e}",
        f"{ratio:.2f} x less error",
        "-" if target is None else f">= {target:g}",
        "-",
        "ok" if reached else "below target",
        "; ".join([f"{peer} {error:.1e}" for peer, error in theirs.items()] + missing),
    )


def beyond_model(
    name: str, *, n_coalitions: int, sizes: Sizes, timing: Timing
) -> Result:
    """Compare what 100 rows cost beyond the model's own predictions."""
    clock = timing["clock"]
    X, y = table(2000, 12)
    background, rows = X[:50], X[50 : 50 + sizes.n_timed]
    model = LinearRegression().fit(X, y)

    def by_us():
        watched = Watched(model, clock)
        start = clock()
        inspector = KernelSHAP(
            FrozenEstimator(watched),
            background=background,
            n_coalitions=n_coalitions,
            random_state=0,
        )
        values = inspector.fit(background).explain(rows).values
        return values, clock() - start - watched.seconds_

    def by_shap():
        import shap

        watched = Watched(model, clock)
        start = clock()
        explainer = shap.KernelExplainer(watched.predict, background)
        values = explainer.shap_values(
            rows, nsamples=n_coalitions, silent=True, l1_reg=False
        )
        return values, clock() - start - watched.seconds_

    try:
        difference = np.abs(by_us()[0] - by_shap()[0]).max()
    except ImportError as error:
        note = f"{type(error).__name__}: {error}"
        return Result(name, "shap", *"-----", "peer missing", note)
    spans = np.array([(by_us()[1], by_shap()[1]) for _ in range(timing["repeats"])])
    ratios = spans[:, 1] / spans[:, 0]
    target = sizes.target(5.0)
    reached = target is None or np.median(ratios) >= target
    agrees = difference <= 1e-8
    return Result(
        name,
        f"shap {version('shap')} Kernel",
        *(f"{middle:.3f} s" for middle in np.median(spans, axis=0)),
        spread(ratios, ".2f") + " x",
        "-" if target is None else f">= {target:g}",
        f"{difference:.1e}",
        ("ok" if reached else "below target") if agrees else "DISAGREES",
    )


def against_linear(name: str, *, sizes: Sizes, timing: Timing) -> Result:
    """Compare LinearSHAP with shap's linear explainer."""
    n_rows = 10_000 if sizes.judged else 200
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 1000))
    model = LinearRegression().fit(X[:2000], X[:2000] @ rng.normal(size=1000))

    def by_us():
        return LinearSHAP(FrozenEstimator(model)).fit(X).explain(X).values

    def by_shap():
        import shap

        masker = shap.maskers.Independent(X, max_samples=n_rows)
        return shap.LinearExplainer(model, masker).shap_values(X)

    def agreement(first, second):
        return np.abs(first - second).max()

    # No target: ours holds the formula against the model, all rows of the background.
    pair = Pair(name, by_us, by_shap, "shap", agreement, 1e-9)
    return run_pair(pair, **timing)


def memory(name: str, *, sizes: Sizes) -> Result:
    """Passing memory with 100 and with 10 000 background rows."""
    X, y = table(10_000 if sizes.judged else 500, 12)
    model = LinearRegression().fit(X, y)

    def work(n_background):
        inspector = KernelSHAP(
            FrozenEstimator(model),
            n_coalitions=256,
            background=X[:n_background],
            random_state=0,
        )
        return inspector.fit(X[:2]).explain(X[:3]).values

    return bounded_memory(
        name, partial(work, 100), partial(work, len(X)), working_memory=64, limit=1.0
    )


def cases(sizes: Sizes, **timing: Any) -> dict[str, Case]:
    """Return the cases by name; models are fitted when a case runs."""
    kinds = ("gb", 12), ("mlp", 11), ("mlp", 14), ("four", 11), ("four", 14)
    errors: dict[str, Case] = {
        f"error-{kind}{n_features}-{budget}": partial(
            accuracy, kind=kind, n_features=n_features, budget=budget, sizes=sizes
        )
        for kind, n_features in kinds
        for budget in BUDGETS
        if budget < 2**n_features
    }
    return {
        **errors,
        "beyond-model": partial(
            beyond_model, n_coalitions=2048, sizes=sizes, timing=timing
        ),
        "linear": partial(against_linear, sizes=sizes, timing=timing),
        "memory-background": partial(memory, sizes=sizes),
    }


def draw(path: str, sizes: Sizes) -> None:
    """Draw the error against the number of coalitions, for all games and peers."""
    from matplotlib.figure import Figure

    budgets = (32, 64, 128, 256, 512, 1024, 2000)
    kinds = ("gb", 12), ("mlp", 11), ("four", 11)
    figure = Figure(figsize=(12, 4), layout="constrained")
    titles = {
        "gb": "gradient boosting",
        "mlp": "neural network",
        "four": "interactions of four",
    }
    estimators = {"sklearn_interpret KernelSHAP": ours}
    estimators |= {f"{package} {label}": estimate for package, label, estimate in PEERS}
    every = figure.subplots(1, len(kinds), sharey=True)
    for axes, (kind, n_features) in zip(every, kinds, strict=True):
        played = game(kind, n_features, sizes.n_rows)
        for number, (label, estimate) in enumerate(estimators.items()):
            try:
                errors = [
                    mean_error(estimate, played, budget, min(sizes.n_seeds, 3))
                    for budget in budgets
                ]
            except ImportError:
                continue
            axes.loglog(
                budgets,
                np.maximum(errors, 1e-18),
                "o-",
                color=f"C{number}",
                label=label,
            )
        axes.set_title(f"{titles[kind]}, {n_features} features")
        axes.set_xlabel("coalitions evaluated")
    every[0].set_ylabel("squared error, relative to the values'")
    every[-1].legend()
    figure.savefig(path)


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen cases; returns 1 when results disagree, else 0."""
    options = parser(__doc__)
    options.add_argument(
        "--plot", metavar="FILE", help="draw errors against numbers of coalitions"
    )
    chosen: argparse.Namespace = options.parse_args(arguments)
    sizes = QUICK if chosen.quick else FULL
    status = run_chosen(partial(cases, sizes), chosen)
    if chosen.plot:
        draw(chosen.plot, sizes)
    return status


if __name__ == "__main__":
    sys.exit(main())
