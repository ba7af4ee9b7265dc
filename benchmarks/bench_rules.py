"""Rules: RIPPER beside wittgenstein, OneR and skope rules beside imodels.

What `rules_` say, evaluated by hand, must be what `predict_proba` says, and the share
of right predictions in three folds must not be below the peer's by more than two
standard errors of the difference.
"""

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from command_line import parser, run_chosen
from pair import Case, Pair, Result, duration, run_pair, seconds
from sklearn.base import clone
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_wine,
    make_classification,
)
from sklearn.model_selection import StratifiedKFold

from sklearn_interpret.rules import (
    OneRClassifier,
    RIPPERClassifier,
    SkopeRulesClassifier,
)

Table = tuple[Any, np.ndarray]
# Takes rows, their classes 0 and 1, and new rows, of which it returns the classes.
Peer = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
EXACT = 1e-12
OURS = {
    # imodels' has at most five cuts; with bins of 6, the default, ours has hundreds on
    # 5000 noisy rows, which cost it 0.03 of its accuracy there.
    "one-r": OneRClassifier(min_bin_size=50),
    "ripper": RIPPERClassifier(random_state=0),
    "skope": SkopeRulesClassifier(random_state=0),
}


def noisy(n_rows: int) -> Table:
    """Return rows of 20 numbers in two classes, one label in twenty drawn anew."""
    return make_classification(n_rows, 20, n_informative=6, flip_y=0.05, random_state=0)


def mixed(n_rows: int) -> Table:
    """Return a frame of numbers and categories, some missing, in three classes."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, size=n_rows).astype(float),
            "job": rng.choice(["cook", "nurse", "smith", "clerk"], size=n_rows),
            "income": rng.lognormal(size=n_rows),
        }
    )
    score = (frame["age"] > 50).astype(int) + frame["job"].isin(["cook", "smith"])
    y = np.where(rng.random(n_rows) < 0.1, rng.integers(3, size=n_rows), score)
    return frame.mask(rng.random(frame.shape) < 0.1), y


def ripper_of_wittgenstein(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Return what wittgenstein's RIPPER predicts."""
    from wittgenstein import RIPPER

    names = [f"x{j}" for j in range(X.shape[1])]
    model = RIPPER(random_state=0)
    frame = pd.DataFrame(X, columns=names).assign(label=y)
    # The rarer class, as ours.
    rare = int(y.mean() < 0.5)
    model.fit(frame, class_feat="label", pos_class=rare)
    found = np.array(model.predict(pd.DataFrame(new, columns=names)))
    return np.where(found, rare, 1 - rare)


def of_imodels(kind: str, X: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Return which class has the larger probability in a model of imodels."""
    import imodels

    return getattr(imodels, kind)().fit(X, y).predict_proba(new)[:, 1] > 0.5


def by_hand(model: Any, X: Any) -> np.ndarray:
    """Return probabilities from the rules alone."""
    *rules, default = model.rules_
    weights = np.zeros((len(X), 1))
    sums = np.zeros((len(X), len(model.classes_)))
    votes = isinstance(model, SkopeRulesClassifier)
    left = np.ones(len(X), dtype=bool)
    for rule in [*rules, default]:
        held = rule.holds(X) & (left if rule is default or not votes else True)
        left &= ~held
        weight = rule.precision if votes else 1.0
        weights[held] += weight
        sums[held] += weight * np.array(rule.shares)
    return sums / weights


def wrong_by_hand(model: Any, X: Any) -> float:
    """Return the largest difference of the rules from the predictions."""
    return float(np.abs(by_hand(model, X) - model.predict_proba(X)).max())


def shortfall(model: Any, peer: Peer, X: np.ndarray, y: np.ndarray) -> float:
    """Return by how much we are right less often, beyond two standard errors."""
    gains = np.empty(len(y))
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        ours = clone(model).fit(X[train], y[train]).predict(X[test])
        theirs = peer(X[train], y[train], X[test])
        gains[test] = (ours == y[test]).astype(float) - (theirs == y[test])
    return max(-gains.mean() - 2 * gains.std() / np.sqrt(len(y)), 0.0)


def against(
    name: str,
    *,
    model: Any,
    peer: Peer,
    package: str,
    table: Callable[[], Table],
    target_ratio: float | None,
    **run: Any,
) -> Result:
    """Compare with a peer on a table of two classes."""
    X, y = table()

    def ours() -> Any:
        fitted = clone(model).fit(X, y)
        fitted.predict(X)
        return fitted

    pair = Pair(
        name,
        ours=ours,
        peer=lambda: peer(X, y, X),
        peer_package=package,
        agreement=lambda fitted, _: max(
            wrong_by_hand(fitted, X), shortfall(model, peer, X, y)
        ),
        tolerance=EXACT,
        target_ratio=target_ratio,
    )
    return run_pair(pair, **run)


def alone(
    name: str, *, model: Any, table: Callable[[], Table], clock: Any, **_: Any
) -> Result:
    """Evaluate the rules by hand, where there is no peer."""
    X, y = table()
    fitted = clone(model)
    time = seconds(lambda: fitted.fit(X, y), clock)
    difference = wrong_by_hand(fitted, X)
    return Result(
        name,
        "rules by hand",
        duration(time),
        "-",
        f"{len(fitted.rules_)} rules",
        "-",
        f"{difference:.1e}",
        "ok" if difference <= EXACT else "DISAGREES",
    )


def cases(*, quick: bool, **run: Any) -> dict[str, Case]:
    """Return all cases by name."""
    n_rows = 300 if quick else 5000
    pairs = {
        "ripper": (ripper_of_wittgenstein, "wittgenstein", 10.0),
        "one-r": (partial(of_imodels, "OneRClassifier"), "imodels", None),
        "skope": (partial(of_imodels, "SkopeRulesClassifier"), "imodels", None),
    }
    tables = {
        "cancer": partial(load_breast_cancer, return_X_y=True),
        f"{n_rows} x 20": partial(noisy, n_rows),
    }
    found: dict[str, Case] = {}
    for kind, (peer, package, target) in pairs.items():
        for name, table in tables.items():
            judged = target if name == "5000 x 20" else None
            work = {"model": OURS[kind], "peer": peer, "package": package}
            work |= {"table": table, "target_ratio": judged}
            found[f"{kind}, {name}"] = partial(against, **work, **run)
    others = {
        "wine": partial(load_wine, return_X_y=True),
        "digits": partial(load_digits, n_class=3 if quick else 10, return_X_y=True),
        "mixed": partial(mixed, n_rows),
    }
    for kind, model in OURS.items():
        for name, table in others.items():
            work = {"model": model, "table": table}
            found[f"{kind}, {name}"] = partial(alone, **work, **run)
    return found


if __name__ == "__main__":
    options = parser(__doc__).parse_args()
    sys.exit(run_chosen(partial(cases, quick=options.quick), options))
