"""Whether p-values of PermutationTest hold next to a strong feature.

Tables of independent features: a strong one, a weaker one, and noise. P-values of noise
must be uniform (Kolmogorov-Smirnov test, at most one in a hundred by chance), and the
weaker feature must be found at the 5 % level in nine of ten tables.
"""

import argparse
import sys

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator
from sklearn.ensemble import (
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression

from sklearn_interpret.importance import PermutationTest

N_ROWS, N_NOISE, N_PERMUTATIONS = 150, 4, 39
MODELS = {
    "linear": LinearRegression(),
    "forest": RandomForestRegressor(
        8, min_samples_leaf=3, max_features=0.5, random_state=0
    ),
    "boosting": GradientBoostingRegressor(
        n_estimators=20, max_depth=2, learning_rate=0.3, random_state=0
    ),
    "forest-classes": RandomForestClassifier(
        8, min_samples_leaf=3, max_features=0.5, random_state=0
    ),
}


def pvalues(model: BaseEstimator, seed: int) -> np.ndarray:
    """Return the p-values for one table: strong, weaker, noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, 2 + N_NOISE))
    y = 3 * X[:, 0] + 1.5 * X[:, 1] + rng.normal(size=N_ROWS)
    if isinstance(model, RandomForestClassifier):
        y = y > 0
    test = PermutationTest(model, n_permutations=N_PERMUTATIONS, random_state=seed)
    return test.fit(X, y).pvalues_


def judge(found: np.ndarray) -> tuple[str, bool]:
    """Return statistics of p-values (n_tables, n_features), and whether they hold."""
    noise = found[:, 2:].ravel()
    # P-values have steps of one over 1 + N_PERMUTATIONS: any place within will do.
    steps = np.random.default_rng(0).uniform(size=len(noise)) / (1 + N_PERMUTATIONS)
    uniform = stats.kstest(noise - steps, "uniform").pvalue
    strong, weaker = (found[:, :2] <= 0.05).mean(axis=0)
    text = (
        f"noise: mean {noise.mean():.3f}, at most 0.05: {(noise <= 0.05).mean():.3f}, "
        f"uniform p = {uniform:.3f}; found: strong {strong:.2f}, weaker {weaker:.2f}"
    )
    return text, uniform > 0.01 and weaker >= 0.9


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen models; returns 1 where p-values do not hold, else 0."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--quick", action="store_true", help="the linear model alone")
    options.add_argument("--only", nargs="+", choices=MODELS, default=list(MODELS))
    options.add_argument("--tables", type=int, default=50)
    chosen = options.parse_args(arguments)
    failed = False
    for name in ["linear"] if chosen.quick else chosen.only:
        tables = [pvalues(MODELS[name], seed) for seed in range(chosen.tables)]
        text, holds = judge(np.array(tables))
        print(f"{name:15} {text}  {'ok' if holds else 'FAILS'}", flush=True)
        failed |= not holds
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
