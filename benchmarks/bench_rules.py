"""Rules: time against wittgenstein and imodels, accuracy against Weka too.

What `rules_` say, evaluated by hand, must be what `predict_proba` says. In the same
folds, the share of right predictions must not be below the peer's by more than two
standard errors: of the difference, or for Weka (Debian's package, with `java`) of its
share, and on average over the tables by more than 0.01.
"""

import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from command_line import parser, run_chosen
from pair import Case, Pair, Result, duration, run_pair, seconds
from scipy.special import expit, gammaln
from sklearn.base import clone
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
    make_friedman1,
)
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict

from sklearn_interpret.explanations import Condition
from sklearn_interpret.rules import (
    BayesianRuleListClassifier,
    OneRClassifier,
    RIPPERClassifier,
    RuleFitClassifier,
    RuleFitRegressor,
    SkopeRulesClassifier,
)

Table = tuple[Any, np.ndarray]
# Takes rows, their classes 0 and 1, and new rows, of which it returns the classes.
Peer = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
EXACT = 1e-12
LARGEST_DISTANCE, LARGEST_LOSS, LEAST_R2, LARGEST_R_HAT = 0.05, 0.01, 0.88, 1.1
OURS = {
    "one-r": OneRClassifier(),
    "ripper": RIPPERClassifier(random_state=0),
    "rule-list": BayesianRuleListClassifier(random_state=0),
    "rule-fit": RuleFitClassifier(random_state=0),
    "skope": SkopeRulesClassifier(random_state=0),
}
WEKA = os.environ.get("WEKA_JAR", "/usr/share/java/weka.jar")
WEKA_CLASSES = {"one-r": "OneR", "ripper": "JRip"}


def noisy(n_rows: int, n_columns: int = 20) -> Table:
    """Return rows of numbers in two classes, one label in twenty drawn anew."""
    more = {"n_informative": 6, "flip_y": 0.05, "random_state": 0}
    return make_classification(n_rows, n_columns, **more)


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


def of_tests(name: str) -> Table:
    """Return a table of categories that the tests have."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.references import tables

    return getattr(tables, name)()


def some_digits() -> Table:
    """Return the first 600 digits."""
    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600]


TABLES = {
    "iris": partial(load_iris, return_X_y=True),
    "wine": partial(load_wine, return_X_y=True),
    "cancer": partial(load_breast_cancer, return_X_y=True),
    "digits": some_digits,
    "tic-tac-toe": partial(of_tests, "tic_tac_toe"),
    "monks": partial(of_tests, "monks"),
    "mixed": partial(mixed, 1000),
    "5000 x 20": partial(noisy, 5000),
}


def ripper_of_wittgenstein(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Return the predictions of wittgenstein's RIPPER."""
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


def list_of_imodels(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Return the same for imodels' rule lists, which take flags only, in less time."""
    from imodels import BayesianRuleListClassifier

    middles = np.median(X, axis=0)
    model = BayesianRuleListClassifier(n_chains=1, max_iter=5000)
    model.fit((middles < X).astype(int), y)
    return model.predict_proba((middles < new).astype(int))[:, 1] > 0.5


def by_hand(model: Any, X: Any) -> np.ndarray:
    """Return probabilities from the rules alone."""
    if isinstance(model, RuleFitClassifier):
        return sums_by_hand(model, X)
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


def sums_by_hand(model: RuleFitClassifier, X: Any) -> np.ndarray:
    """Return probabilities from rules and linear terms that add up."""
    scores = np.tile(model.intercept_, (len(X), 1))
    binary = len(model.classes_) == 2
    for entries, values in ((model.rules_, "holds"), (model.linear_terms_, "values")):
        for entry in entries:
            column = 0 if binary else list(model.classes_).index(entry.prediction)
            scores[:, column] += entry.coef * getattr(entry, values)(X)
    shares = expit(np.hstack([-scores, scores]) if binary else scores)
    return shares / shares.sum(axis=1, keepdims=True)


def wrong_by_hand(model: Any, X: Any) -> float:
    """Return the largest difference of the rules from the predictions."""
    return float(np.abs(by_hand(model, X) - model.predict_proba(X)).max())


def error_of_gain(right: np.ndarray) -> float:
    """Return the standard error of by how much more often we are right."""
    return float(np.subtract(*right.astype(float)).std() / np.sqrt(right.shape[1]))


def against(
    name: str,
    *,
    model: Any,
    peer: Peer,
    package: str,
    terms: str,
    table: Callable[[], Table],
    target_ratio: float | None,
    **run: Any,
) -> Result:
    """Compare with a peer on a table of two classes."""
    X, y = table()
    notes = []

    def ours() -> Any:
        fitted = clone(model).fit(X, y)
        fitted.predict(X)
        return fitted

    def agreement(fitted: Any, _: Any) -> float:
        right = np.empty((2, len(y)), dtype=bool)
        for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
            found = clone(model).fit(X[train], y[train]).predict(X[test])
            right[0, test] = found == y[test]
            right[1, test] = peer(X[train], y[train], X[test]) == y[test]
        gain, error = right[0].mean() - right[1].mean(), error_of_gain(right)
        shares = "right {:.4f} and {:.4f}".format(*right.mean(axis=1))
        notes.append(f"{shares}, {gain:+.4f} +- {error:.4f}{terms}")
        # imodels' OneR cuts in another way; ours is compared with Weka's.
        judged = not isinstance(model, OneRClassifier)
        shortfall = max(-gain - 2 * error, 0.0) if judged else 0.0
        return max(wrong_by_hand(fitted, X), shortfall)

    pair = Pair(
        name,
        ours=ours,
        peer=lambda: peer(X, y, X),
        peer_package=package,
        agreement=agreement,
        tolerance=EXACT,
        target_ratio=target_ratio,
    )
    result = run_pair(pair, **run)
    return replace(result, note=notes[0]) if notes else result


def alone(
    name: str,
    *,
    model: Any,
    table: Callable[[], Table],
    clock: Any,
    limit: float = np.inf,
    **_: Any,
) -> Result:
    """Evaluate the rules by hand, where there is no peer."""
    X, y = table()
    fitted = clone(model)
    time = seconds(lambda: fitted.fit(X, y), clock)
    difference = wrong_by_hand(fitted, X)
    timing = "ok" if time <= limit else "above target"
    return Result(
        name,
        "rules by hand",
        *(duration(time), "-", f"{len(fitted.rules_)} rules"),
        f"<= {limit:g} s" if limit < np.inf else "-",
        f"{difference:.1e}",
        timing if difference <= EXACT else "DISAGREES",
    )


def predicted_by_weka(method: str, frame: pd.DataFrame, folds: list) -> np.ndarray:
    """Return the labels, the last column, that Weka predicts in some folds."""
    header = ["@relation rows"]
    for name, column in frame.items():
        levels = ",".join(map(str, column.dropna().unique()))
        is_number = name != "label" and pd.api.types.is_numeric_dtype(column)
        header.append(
            f"@attribute {name} {'numeric' if is_number else f'{{{levels}}}'}"
        )
    found = np.empty(len(frame), dtype=int)
    with TemporaryDirectory() as directory:
        command = ["java", "-cp", WEKA, f"weka.classifiers.rules.{method}", "-p", "0"]
        paths = [Path(directory, f"{part}.arff") for part in ("train", "test")]
        command += ["-t", str(paths[0]), "-T", str(paths[1])]
        for fold in folds:
            for path, rows in zip(paths, fold, strict=True):
                text = frame.iloc[rows].to_csv(header=False, index=False, na_rep="?")
                path.write_text("\n".join([*header, "@data", text]))
            ran = subprocess.run(command, capture_output=True, text=True, check=True)
            # Position, true and predicted label, the labels as "position:label".
            found[fold[1]] = re.findall(r"^ *\d+ +\S+ +\d+:(\d+)", ran.stdout, re.M)
    return found


@cache
def accuracy_against_weka(kind: str, table: str) -> np.ndarray:
    """Return which rows we and Weka predict right in ten folds: (2, n_rows)."""
    X, y = TABLES[table]()
    folds = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))
    _, label = np.unique(y, return_inverse=True)
    frame = pd.DataFrame(X).rename(columns="x{}".format).assign(label=label)
    theirs = predicted_by_weka(WEKA_CLASSES[kind], frame, folds)
    return np.stack(
        [cross_val_predict(OURS[kind], X, y, cv=folds) == y, theirs == label]
    )


def against_weka(name: str, *, kind: str, tables: list[str]) -> Result:
    """Compare right predictions with Weka's, on a table or on average."""
    try:
        pairs = [accuracy_against_weka(kind, table) for table in tables]
    except (OSError, subprocess.CalledProcessError) as missing:
        return Result(name, "Weka", *"-----", "peer missing", str(missing)[:80])
    ours, theirs = np.mean([right.mean(axis=1) for right in pairs], axis=0)
    lowest, error = theirs - LARGEST_LOSS, ""
    if len(pairs) == 1:
        # Of the share, not of the difference: some of many tables are below by chance.
        lowest = theirs - 2 * np.sqrt(theirs * (1 - theirs) / pairs[0].shape[1])
        error = f" +- {error_of_gain(pairs[0]):.4f}"
    return Result(
        name,
        f"Weka's {WEKA_CLASSES[kind]}",
        *(f"{ours:.4f}", f"{theirs:.4f}", f"{ours - theirs:+.4f}{error}"),
        *(f">= {lowest:.4f}", "-"),
        "ok" if ours >= lowest else "DISAGREES",
    )


def all_lists(name: str, *, clock: Any, **_: Any) -> Result:
    """Compare sampled lists with the posterior of all lists of six conditions."""
    rng = np.random.default_rng(0)
    X = rng.choice(["t", "f"], size=(60, 3))
    y = (X[:, 0] == "t").astype(int) + (X[:, 1] == "t")
    y = np.where(rng.random(60) < 0.2, rng.integers(3, size=60), y)
    rules = [Condition(j, f"x{j}", levels=(v,)) for j in range(3) for v in "ft"]
    holds, exact = {rule: rule.holds(X) for rule in rules}, {}
    for length in range(len(rules) + 1):
        # Letham et al. (2015): any order of the rules is as probable, lambda is 3.
        n_orders = np.prod(np.arange(len(rules), len(rules) - length, -1.0))
        log_prior = length * np.log(3) - gammaln(length + 1) - np.log(n_orders)
        for rule_list in permutations(rules, length):
            log, left = log_prior, np.ones(60, dtype=bool)
            for held in [*(holds[rule] for rule in rule_list), left]:
                n = np.bincount(y[left & held], minlength=3)
                log += gammaln(n + 1).sum() - gammaln(n.sum() + 3) + gammaln(3)
                left = left & ~held
            exact[tuple((rule,) for rule in rule_list)] = log
    weights = np.exp(np.array(list(exact.values())) - max(exact.values()))
    shares = dict(zip(exact, weights / weights.sum(), strict=True))
    model = clone(OURS["rule-list"]).set_params(max_conditions=1, n_samples=20_000)
    time = seconds(lambda: model.fit(X, y), clock)
    sampled = dict(model.posterior_)
    distance = sum(abs(p - sampled.get(key, 0)) for key, p in shares.items()) / 2
    return Result(
        name,
        f"{len(exact)} lists",
        *(duration(time), "-", f"largest {max(shares.values()):.3f}"),
        f"<= {LARGEST_DISTANCE}",
        f"{distance:.1e}",
        "ok" if distance <= LARGEST_DISTANCE else "DISAGREES",
        f"total variation; R-hat {model.r_hat_:.3f}",
    )


def friedman(name: str, *, clock: Any, **_: Any) -> Result:
    """Compare R2 and time of three fits of RuleFit with imodels', of 30 rules."""
    X, y = make_friedman1(2000, 20, noise=1.0, random_state=0)
    folds, r2 = KFold(3, shuffle=True, random_state=0), []
    try:
        from imodels import RuleFitRegressor as Peer
    except ImportError as missing:
        return Result(name, "imodels", *"-----", "peer missing", str(missing))

    def fit(model: Any) -> None:
        r2.append(r2_score(y, cross_val_predict(model, X, y, cv=folds)))

    models = RuleFitRegressor(random_state=0), Peer(max_rules=30, random_state=0)
    times = [seconds(partial(fit, model), clock) for model in models]
    timing = "ok" if times[0] <= 30 else "above target"
    return Result(
        name,
        "imodels' of 30 rules",
        *map(duration, times),
        "R2 {:.3f} and {:.3f}".format(*r2),
        "<= 30 s",
        f"{max(LEAST_R2, r2[1]) - r2[0]:+.3f}",
        timing if r2[0] >= max(LEAST_R2, r2[1]) else "DISAGREES",
    )


def agreeing(
    name: str,
    *,
    table: Table,
    limit: float,
    clock: Any,
    n_samples: int = 3000,
    **_: Any,
) -> Result:
    """Fit rule lists, whose chains have to agree where a number of samples is set."""
    model = clone(OURS["rule-list"]).set_params(n_samples=n_samples)
    time = seconds(lambda: model.fit(*table), clock)
    difference = wrong_by_hand(model, table[0])
    right = difference <= EXACT and (n_samples == 3000 or model.r_hat_ < LARGEST_R_HAT)
    return Result(
        name,
        "rules by hand",
        *(duration(time), "-", f"R-hat {model.r_hat_:.3f}"),
        f"<= {limit:g} s",
        f"{difference:.1e}",
        ("ok" if time <= limit else "above target") if right else "DISAGREES",
        f"most probable list: {model.log_posteriors_.max():.1f}",
    )


def larger_friedman(name: str, *, clock: Any, **_: Any) -> Result:
    """Evaluate R2 on new rows, and time, of RuleFit on 2000 rows of 10 columns."""
    X, y = make_friedman1(4000, 10, noise=1.0, random_state=0)
    model = RuleFitRegressor(random_state=0)
    time = seconds(lambda: model.fit(X[:2000], y[:2000]), clock)
    r2 = model.score(X[2000:], y[2000:])
    timing = "ok" if time <= 4 else "above target"
    return Result(
        name,
        "new rows",
        *(duration(time), "-", f"R2 {r2:.3f}"),
        "<= 4 s",
        f"{max(0.93 - r2, 0):.3f}",
        timing if r2 >= 0.93 else "DISAGREES",
    )


def cases(*, quick: bool, **run: Any) -> dict[str, Case]:
    """Return all cases by name."""
    n_rows = 300 if quick else 5000
    slow = "; imodels: numbers cut in two, one chain of 5000 steps, not 3 of 50000"
    coarse = "; imodels cuts a feature five times at most, as one with larger bins"
    pairs = {
        "ripper": (ripper_of_wittgenstein, "wittgenstein", ""),
        "one-r": (partial(of_imodels, "OneRClassifier"), "imodels", coarse),
        "rule-list": (list_of_imodels, "imodels", slow),
        "rule-fit": (partial(of_imodels, "RuleFitClassifier"), "imodels", ""),
        "skope": (partial(of_imodels, "SkopeRulesClassifier"), "imodels", ""),
    }
    tables = {"cancer": TABLES["cancer"], f"{n_rows} x 20": partial(noisy, n_rows)}
    found: dict[str, Case] = {}
    for kind, (peer, package, terms) in pairs.items():
        work = {"model": OURS[kind], "peer": peer, "package": package, "terms": terms}
        for name, table in tables.items():
            target = 10.0 if (kind, name) == ("ripper", "5000 x 20") else None
            more = {"table": table, "target_ratio": target}
            found[f"{kind}, {name}"] = partial(against, **work, **more, **run)
    others = {
        "wine": TABLES["wine"],
        "digits": partial(load_digits, n_class=3, return_X_y=True),
        "mixed": partial(mixed, n_rows),
    }
    for kind, model in OURS.items():
        for name, table in others.items():
            found[f"{kind}, {name}"] = partial(alone, model=model, table=table, **run)
    cancer = {"model": OURS["rule-list"], "table": TABLES["cancer"], "limit": 5.0}
    found["rule-list, cancer, time"] = partial(alone, **cancer, **run)
    found["rule-list, all lists"] = partial(all_lists, **run)
    if not quick:
        found["rule-fit, Friedman 1"] = partial(friedman, **run)
        found["rule-fit, 2000 x 10"] = partial(larger_friedman, **run)
        own: dict[str, Any]
        for rows, columns, own in (
            (1000, 10, {"limit": 3.0}),
            (10_000, 10, {"limit": 15.0}),
            (5000, 20, {"limit": 60.0, "n_samples": 12_000}),
        ):
            own["table"] = noisy(rows, columns)
            title = f"rule-list, {rows} x {columns}, chains"
            found[title] = partial(agreeing, **own, **run)
    names = ["iris", "monks"] if quick else list(TABLES)
    for kind in WEKA_CLASSES:
        for name, some in [*((name, [name]) for name in names), ("mean", names)]:
            case = partial(against_weka, kind=kind, tables=some)
            found[f"weka, {kind}, {name}"] = case
    return found


if __name__ == "__main__":
    options = parser(__doc__).parse_args()
    # Those of imodels; ours that chains of rule lists disagree on large tables.
    warnings.simplefilter("ignore")
    sys.exit(run_chosen(partial(cases, quick=options.quick), options))
