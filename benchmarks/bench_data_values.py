"""Wrong labels found by data values, against cleanlab's scores of labels.

A tenth of the labels of five tables is changed. The area under the curve of wrong
labels against values is that of all of five seeds: of ours from one fit, of theirs from
the probabilities of five folds of the same model, by the better of two scores. pyDVL
does not run with numpy 2.
"""

import sys
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
from command_line import parser, run_chosen
from pair import Case, Result, duration, paired_seconds, spread
from sklearn.base import ClassifierMixin
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
)
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_interpret.influence import DataValues

TABLES: dict[str, Callable[[], Any]] = {
    "digits": partial(load_digits, return_X_y=True),
    "wine": partial(load_wine, return_X_y=True),
    "tumours": partial(load_breast_cancer, return_X_y=True),
    "iris": partial(load_iris, return_X_y=True),
    "made": partial(
        make_classification, 1000, 20, n_informative=8, n_classes=3, random_state=0
    ),
}
MODELS: dict[str, ClassifierMixin] = {
    "neighbors": make_pipeline(StandardScaler(), KNeighborsClassifier(10)),
    "forest": RandomForestClassifier(200, random_state=0),
}
WRONG = 0.1
# Differences of areas that are chance: twice the standard error over seeds, at most.
CHANCE = 0.01


def spoilt(table: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, labels, and which of these are wrong."""
    X, y = TABLES[table]()
    rng = np.random.default_rng(seed)
    wrong = rng.random(len(y)) < WRONG
    n_classes = y.max() + 1
    steps = rng.integers(1, n_classes, len(y))
    return X, np.where(wrong, (y + steps) % n_classes, y), wrong


def ours(model: ClassifierMixin, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return our values."""
    return DataValues(model).fit(X, y).values_


def theirs(
    model: ClassifierMixin, method: str, X: np.ndarray, y: np.ndarray
) -> np.ndarray:
    """Return cleanlab's scores of labels."""
    from cleanlab.rank import get_label_quality_scores

    probabilities = cross_val_predict(model, X, y, cv=5, method="predict_proba")
    return get_label_quality_scores(y, probabilities, method=method)


def found(
    name: str, *, table: str, model: str, n_seeds: int, timing: dict[str, Any]
) -> Result:
    """Compare areas under the curve, and times."""
    estimator, draws = MODELS[model], [spoilt(table, seed) for seed in range(n_seeds)]
    scores = {"ours": partial(ours, estimator)}
    for method in ("self_confidence", "normalized_margin"):
        scores[method] = partial(theirs, estimator, method)
    try:
        areas = {
            label: np.mean([roc_auc_score(bad, -score(X, y)) for X, y, bad in draws])
            for label, score in scores.items()
        }
    except ImportError as error:
        note = f"{type(error).__name__}: {error}"
        return Result(name, "cleanlab", *"-----", "peer missing", note)
    own = areas.pop("ours")
    best = max(areas, key=areas.__getitem__)
    X, y, _ = draws[0]
    times = paired_seconds(
        lambda: ours(estimator, X, y), lambda: theirs(estimator, best, X, y), **timing
    )
    return Result(
        name,
        f"cleanlab {version('cleanlab')} {best}",
        *map(duration, np.median(times, axis=0)),
        spread(times[:, 1] / times[:, 0], ".1f") + " x",
        "-",
        f"{areas[best] - own:+.4f}",
        "ok" if own >= areas[best] - CHANCE else "DISAGREES",
        f"area under the curve: ours {own:.4f}, "
        + ", ".join(f"{label} {area:.4f}" for label, area in areas.items()),
    )


def cases(n_seeds: int, **timing: Any) -> dict[str, Case]:
    """Return the measurements by name."""
    settings = {"n_seeds": n_seeds, "timing": timing}
    return {
        f"{table}-{model}": partial(found, table=table, model=model, **settings)
        for table in TABLES
        for model in MODELS
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen cases; returns 1 when results disagree, else 0."""
    chosen = parser(__doc__).parse_args(arguments)
    return run_chosen(partial(cases, 1 if chosen.quick else 5), chosen)


if __name__ == "__main__":
    sys.exit(main())
