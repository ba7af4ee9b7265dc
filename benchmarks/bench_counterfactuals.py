"""Counterfactuals and anchors: distances, validity and times against the peers'.

A distance is the sum of changes in median absolute deviations, a change of category
counting one. All are counted here, for both sides, and every row found is asked of the
model again. It fails if a row of ours does not satisfy the target, where a limit is
broken, or
where a row that we claim to be the nearest is beaten by anybody's.
"""

import io
import sys
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from command_line import parser, run_chosen
from pair import Case, Result, duration
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from sklearn_interpret.counterfactuals import (
    Anchors,
    CounterfactualDisplay,
    ExactCounterfactual,
    GrowingSpheres,
    WachterCounterfactual,
)
from sklearn_interpret.counterfactuals._plot._base import FeatureColumn
from sklearn_interpret.counterfactuals._plot._counterfactual import _change_text

METHODS = {
    "spheres": partial(GrowingSpheres, random_state=0),
    "wachter": WachterCounterfactual,
    "first": partial(ExactCounterfactual, time_limit=0),
    "exact": ExactCounterfactual,
}
# Distances that differ by less, relatively, are the same.
SAME = 1e-6

Timing = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """Rows explained, seconds of an exact search, and whether targets are judged."""

    n_rows: int
    time_limit: float
    n_draws: int
    n_tables: int
    judged: bool


FULL = Sizes(20, 10.0, 20_000, 400, judged=True)
QUICK = Sizes(2, 0.5, 2_000, 10, judged=False)


@dataclass(frozen=True, eq=False)
class Problem:
    """A model, its table, and known distances to the other class."""

    X: Any
    model: Any
    rows: Any
    # Distances: of the nearest rows that anybody found, and of those claimed nearest.
    nearest: np.ndarray = field(init=False)
    claimed: np.ndarray = field(init=False)

    def __post_init__(self):
        n_rows = len(self.rows)
        object.__setattr__(self, "nearest", np.full(n_rows, np.inf))
        object.__setattr__(self, "claimed", np.full(n_rows, -np.inf))

    @property
    def units(self) -> list[float | None]:
        """The unit of each column, None of categories."""
        table, units = pd.DataFrame(self.X), []
        for name in table:
            column = table[name]
            if not pd.api.types.is_numeric_dtype(column):
                units.append(None)
                continue
            units.append(
                (column - column.median()).abs().median() or column.std(ddof=0)
            )
        return units

    def distances(self, found: Any, origin: np.ndarray) -> np.ndarray:
        """Return the distance of each row found from the one it was found for."""
        rows, found = pd.DataFrame(self.rows), pd.DataFrame(found)
        total = np.zeros(len(found))
        for j, unit in enumerate(self.units):
            old, new = rows.iloc[origin, j].to_numpy(), found.iloc[:, j].to_numpy()
            total += (old != new) if unit is None else np.abs(new - old) / unit
        return total

    def flips(self, found: Any, origin: np.ndarray) -> np.ndarray:
        """Return whether the model gives each row found another class."""
        return self.model.predict(found) != self.model.predict(self.rows)[origin]

    @property
    def is_beaten(self) -> bool:
        """Whether somebody found a row nearer than one that we claim the nearest."""
        return bool((self.nearest < self.claimed * (1 - SAME)).any())


@dataclass(frozen=True)
class Found:
    """The result of a method: distances by row, infinite without a valid one."""

    costs: np.ndarray
    seconds: float
    n_invalid: int = 0
    n_proved: int = 0
    # Largest difference of the method's distances from those computed here.
    difference: float = 0.0

    @property
    def valid(self) -> np.ndarray:
        """Which rows have one."""
        return np.isfinite(self.costs)


@cache
def problem(name: str, n_rows: int) -> Problem:
    """Return breast cancer, or a mixed table, with one of the models."""
    data, kind = name.split("-")
    is_mixed = data == "mixed"
    X, y = mixed_table() if is_mixed else load_breast_cancer(return_X_y=True)
    model = {
        "logistic": LogisticRegression(),
        "boosting": GradientBoostingClassifier(random_state=0),
        "forest50": RandomForestClassifier(50, max_depth=5, random_state=0),
        "forest": RandomForestClassifier(random_state=0),
    }[kind]
    if is_mixed:
        steps = [(OneHotEncoder(), ["purpose", "housing"])]
        model = make_pipeline(
            make_column_transformer(*steps, remainder=StandardScaler()), model
        )
    elif kind == "logistic":
        model = make_pipeline(StandardScaler(), model)
    return Problem(X, model.fit(X, y), X[::28][:n_rows])


def mixed_table() -> tuple[pd.DataFrame, np.ndarray]:
    """Return numbers, whole numbers and categories, and a class that needs all."""
    rng, n = np.random.default_rng(0), 601
    X = pd.DataFrame(
        {
            "income": rng.normal(size=n),
            "debt": rng.exponential(size=n),
            "age": rng.integers(20, 70, size=n),
            "purpose": rng.choice(["car", "home", "school", "travel"], size=n),
            "housing": rng.choice(["own", "rent", "free"], size=n),
            "savings": rng.normal(size=n),
        }
    )
    score = X.income - X.debt + 0.06 * (X.age - 45) * (X.purpose == "car")
    score += X.savings * (X.housing == "own") + rng.normal(scale=0.3, size=n)
    return X, (score > -0.5).to_numpy().astype(int)


def judged(on: Problem, found: Any, origin: Any, seconds: float, **known: Any) -> Found:
    """Ask the model about rows found, one for each row at most, and measure them."""
    costs, origin = np.full(len(on.rows), np.inf), np.asarray(origin, dtype=int)
    n_invalid = 0
    if len(origin):
        valid = on.flips(found, origin)
        costs[origin[valid]] = on.distances(found, origin)[valid]
        n_invalid = int((~valid).sum())
    np.minimum(on.nearest, costs, out=on.nearest)
    return Found(costs, seconds, n_invalid, **known)


def clocked(clock: Callable[[], float], work: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of a function, and its time."""
    start = clock()
    result = work()
    return result, clock() - start


@cache
def ours(
    name: str, method: str, sizes: Sizes, clock: Callable[[], float], repeats: int
) -> Found:
    """Return the rows found by one of our methods; its time from the fitted model
    on."""
    on = problem(name, sizes.n_rows)
    is_long = method == "exact"
    params = {"permitted_range": "any"}  # as the peers, which know no ranges
    if is_long:  # its peer takes any numbers, however many digits they have
        params |= {"time_limit": sizes.time_limit, "steps": "exact"}

    def work():
        inspector = METHODS[method](FrozenEstimator(on.model), **params)
        return inspector.fit(on.X).explain(on.rows)

    turns = [clocked(clock, work) for _ in range(1 if is_long else min(repeats, 3))]
    explanation = turns[-1][0]
    origin, costs = explanation.origin, explanation.distances
    proved = getattr(explanation, "optimal", None)
    proved = np.zeros(len(on.rows), dtype=bool) if proved is None else proved
    on.claimed[origin] = np.where(proved[origin], costs, on.claimed[origin])
    gaps = np.abs(costs - on.distances(explanation.rows, origin)) / np.maximum(costs, 1)
    return judged(
        on,
        explanation.rows,
        origin,
        float(np.median([seconds for _, seconds in turns])),
        n_proved=int(proved.sum()),
        difference=float(gaps.max(initial=0)),
    )


def baseline(on: Problem, clock: Callable[[], float], sizes: Sizes) -> Found:
    """Return the nearest rows of the other class, their changes undone one by one.

    The largest saving first, each while the class holds.
    """
    own, known = on.model.predict(on.rows), on.model.predict(on.X)

    def nearest(row):
        at = np.flatnonzero(known != own[row])
        rows = pd.DataFrame(on.X).iloc[at]
        best = on.distances(rows, np.full(len(at), row)).argmin()
        return pd.DataFrame(on.X).iloc[[at[best]]].copy()

    def work():
        found = []
        for row, before in enumerate(pd.DataFrame(on.rows).itertuples(index=False)):
            after, savings = nearest(row), []
            whole = on.distances(after, np.array([row]))
            for j, value in enumerate(before):
                trial = after.copy()
                trial.isetitem(j, [value])
                savings.append(whole - on.distances(trial, np.array([row])))
            for j in np.argsort(-np.concatenate(savings), kind="stable"):
                trial = after.copy()
                trial.isetitem(j, [before[j]])
                if on.flips(native(on, trial), np.array([row]))[0]:
                    after = trial
            found.append(after)
        return native(on, pd.concat(found))

    found, seconds = clocked(clock, work)
    return judged(on, found, np.arange(len(own)), seconds)


def native(on: Problem, rows: pd.DataFrame) -> Any:
    """Return rows in the container that the model was fitted on."""
    return rows if isinstance(on.X, pd.DataFrame) else rows.to_numpy()


def dice(on: Problem, clock: Callable[[], float], sizes: Sizes) -> Found:
    """Return the rows found by DiCE's random search, its fastest and best one."""
    import dice_ml

    table = pd.DataFrame(on.X).rename(columns=str)
    numbers = [n for n, unit in zip(table, on.units, strict=True) if unit is not None]
    rows = pd.DataFrame(on.rows).rename(columns=str)

    def work():
        data = dice_ml.Data(
            dataframe=table.assign(outcome=on.model.predict(on.X)),
            continuous_features=numbers,
            outcome_name="outcome",
        )
        model = dice_ml.Model(model=on.model, backend="sklearn")
        explainer = dice_ml.Dice(data, model, method="random")
        return explainer.generate_counterfactuals(
            rows, total_CFs=1, desired_class="opposite", random_seed=0
        )

    explained, seconds = clocked(clock, work)
    tables = [one.final_cfs_df for one in explained.cf_examples_list]
    origin = [
        row for row, found in enumerate(tables) if found is not None and len(found)
    ]
    if not origin:
        return judged(on, None, origin, seconds)
    found = pd.concat([tables[row][table.columns][:1] for row in origin])
    return judged(on, native(on, found.astype(table.dtypes)), origin, seconds)


def treecf(
    on: Problem, clock: Callable[[], float], sizes: Sizes, *, backend: str
) -> Found:
    """Return the rows found by treecf with its genetic or its exact search."""
    from treecf import Explainer, Target

    # The sum of boosted trees decides by its sign, the mean of a forest by a half.
    cut = 0.0 if isinstance(on.model, GradientBoostingClassifier) else 0.5
    budget = {"time_budget_s": sizes.time_limit} if backend == "exact" else {}

    def work():
        explainer = Explainer(on.model, normalizers=np.array(on.units))
        return [
            explainer.explain(
                row,
                Target.raw(op="<=" if own else ">=", value=cut),
                backend=backend,
                seed=0,
                **budget,
            )
            for row, own in zip(on.rows, on.model.predict(on.rows), strict=True)
        ]

    explained, seconds = clocked(clock, work)
    origin = [row for row, one in enumerate(explained) if hasattr(one, "x_cf")]
    found = np.array([explained[row].x_cf for row in origin])
    n_proved = sum(one.proof == "optimal" for one in explained)
    return judged(on, found, origin, seconds, n_proved=n_proved)


PEERS = {
    "baseline": ("the baseline", baseline),
    "dice": ("dice-ml", dice),
    "treecf": ("treecf", partial(treecf, backend="genetic")),
    "treecf-exact": ("treecf", partial(treecf, backend="exact")),
}


@cache
def theirs(name: str, peer: str, sizes: Sizes, clock: Callable[[], float]) -> Found:
    """Return the rows found by a peer."""
    # Warnings of names of features and of searches that ended early; bars of progress.
    with warnings.catch_warnings(), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        return PEERS[peer][1](problem(name, sizes.n_rows), clock, sizes)


def compare(
    name: str,
    *,
    data: str,
    method: str,
    peer: str,
    faster: float | None,
    sizes: Sizes,
    timing: Timing,
) -> Result:
    """Compare distances, on the rows where both found some, and times."""
    clock, on = timing["clock"], problem(data, sizes.n_rows)
    with threadpool_limits(timing["threads"]):
        own = ours(data, method, sizes, clock, timing["repeats"])
        try:
            other = theirs(data, peer, sizes, clock)
        except ImportError as error:
            note = f"{type(error).__name__}: {error}"
            return Result(name, PEERS[peer][0], *"-----", "peer missing", note)
    both = own.valid & other.valid
    mean, their_mean = own.costs[both].mean(), other.costs[both].mean()
    ratio, speed = mean / their_mean, other.seconds / own.seconds
    reached = own.valid.all() and (ratio <= 1 + SAME) and speed >= (faster or 0)
    package = PEERS[peer][0]
    target = "cost <= 1" + (f", time >= {faster:g}" if faster else "")
    fails = own.n_invalid or own.difference > SAME or on.is_beaten
    verdict = "ok" if reached or not sizes.judged else "below target"
    n_rows = len(on.rows)
    return Result(
        name,
        package if peer == "baseline" else f"{package} {version(package)}",
        *(f"{found.costs[found.valid].mean():.3f}" for found in (own, other)),
        f"cost {ratio:.2f}, time {speed:.1f} x",
        target if sizes.judged else "-",
        f"{own.difference:.1e}",
        "DISAGREES" if fails else verdict,
        "; ".join(
            f"{who}: {found.valid.sum()} of {n_rows} valid, {found.n_proved} proved, "
            f"{duration(found.seconds / n_rows)} a row"
            for who, found in (("ours", own), ("theirs", other))
        )
        + ("; a row claimed to be the nearest is beaten" if on.is_beaten else ""),
    )


def limits(name: str, *, data: str, method: str, sizes: Sizes) -> Result:
    """Count cells that changed though they may not, or went where they may not."""
    on = problem(data, sizes.n_rows)
    inspector = METHODS[method](
        FrozenEstimator(on.model),
        features_to_vary=["income", "age", "purpose", "savings"],
        permitted_range={"income": (-1.5, 1.5), "purpose": ["car", "home"]},
        direction={"age": "increase"},
        max_changes=3,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rows for which there is none
        explanation = inspector.fit(on.X).explain(on.rows)
    before, after = on.rows.iloc[explanation.origin], explanation.rows
    before, after = (part.reset_index(drop=True) for part in (before, after))
    changed = before.ne(after)
    kept = pd.DataFrame(
        {
            "income": after.income.between(-1.5, 1.5),
            "purpose": after.purpose.isin(["car", "home"]),
            "age": after.age >= before.age,
            "savings": True,
        }
    ).reindex(columns=changed.columns, fill_value=False)
    broken = int((changed & ~kept).to_numpy().sum() + (changed.sum(axis=1) > 3).sum())
    broken += int((~on.flips(explanation.rows, explanation.origin)).sum())
    broken += int((after.dtypes != before.dtypes).sum())
    return Result(
        name,
        "the limits asked for",
        *"--",
        f"{len(after)} of {len(on.rows)} found",
        "equal",
        f"{broken}",
        "DISAGREES" if broken else "ok",
    )


def proofs(name: str, *, kind: str, sizes: Sizes) -> Result:
    """Judge what is found and proved by all rows that are possible, on small tables.

    Many values of the explained rows are none of those that they may take.
    """
    sys.path.append(str(Path(__file__).parents[1]))
    from tests.references.actionability import SmallProblem

    counts = dict.fromkeys(("found", "impossible", "failed", "unproved", "wrong"), 0)
    for seed in range(1000, 1000 + sizes.n_tables):
        rng = np.random.default_rng(seed)
        on = SmallProblem.drawn(rng, kind)
        fewest = rng.random() < 1 / 3
        search = ExactCounterfactual(
            FrozenEstimator(on.model),
            constraints=on.constraints,
            objective="n_changed" if fewest else "distance",
            **on.limits,
        ).fit(on.known)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of rows for which there is none
            results = list(on.found_by(search))
        for _, explained, is_possible, (least, _, of_few) in results:
            nearest, status = of_few if fewest else least, explained.status[0]
            counts[status] += 1
            wrong = not is_possible or explained.lower_bounds[0] > nearest * (1 + SAME)
            if status == "impossible":
                wrong |= np.isfinite(nearest)
            elif status == "found":
                counts["unproved"] += int(not explained.optimal[0])
                farther = explained.distances[0] > nearest * (1 + SAME)
                wrong |= bool(explained.optimal[0] and farther)
            counts["wrong"] += int(wrong)
    n_rows = counts["found"] + counts["impossible"] + counts["failed"]
    return Result(
        name,
        "all possible rows",
        *"--",
        f"{counts['wrong']} of {n_rows} wrong",
        "none",
        f"{counts['wrong']}",
        "DISAGREES" if counts["wrong"] else "ok",
        ", ".join(f"{number} {status}" for status, number in counts.items()),
    )


def possible(name: str, *, kind: str, method: str, sizes: Sizes) -> Result:
    """Count rows that a heuristic misses, or that are not possible, on small tables."""
    sys.path.append(str(Path(__file__).parents[1]))
    from tests.references.actionability import SmallProblem

    n_there = n_missed = n_wrong = 0
    for seed in range(1000, 1000 + sizes.n_tables):
        on = SmallProblem.drawn(np.random.default_rng(seed), kind)
        on.constraints = []
        search = METHODS[method](FrozenEstimator(on.model), **on.limits).fit(on.known)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of rows for which there is none
            results = list(on.found_by(search))
        for _, explained, is_possible, (least, *_) in results:
            n_there += int(np.isfinite(least))
            n_missed += int(np.isfinite(least) and explained.status[0] != "found")
            n_wrong += int(not is_possible)
    return Result(
        name,
        "all possible rows",
        *"--",
        f"{n_missed} of {n_there} missed",
        "-",
        f"{n_wrong}",
        "DISAGREES" if n_wrong else "ok",
        "rows found that may not be: in difference",
    )


def tables() -> dict[str, tuple[Any, Any, Any]]:
    """Return tables of other units and digits, their models and targets, by name."""
    rng, n = np.random.default_rng(0), 400
    numbers, whole = rng.normal(size=(n, 4)), rng.integers(0, 90, size=(n, 4))
    answers = numbers.sum(axis=1) + 0.05 * whole[:, 0] + rng.normal(size=n) > 2
    columns = dict(zip("abcd", numbers.T, strict=True))
    mixed = pd.DataFrame({**columns, "age": whole[:, 0].astype(float)})
    mixed["town"] = rng.choice(["Bath", "Cork", "Lille"], n)
    encoder = make_column_transformer(
        (OneHotEncoder(), ["town"]), remainder=StandardScaler()
    )
    boosting = GradientBoostingClassifier(n_estimators=20, random_state=0)
    forest = RandomForestClassifier(10, max_depth=5, random_state=0)
    logistic = make_pipeline(StandardScaler(), LogisticRegression())
    units = 10.0 ** np.array([-9, -3, 3, 12])
    return {
        "iris": (DecisionTreeClassifier(max_depth=4), *load_iris(return_X_y=True)),
        "wine": (logistic, *load_wine(return_X_y=True)),
        "cancer": (boosting, *load_breast_cancer(return_X_y=True)),
        "diabetes": (
            HistGradientBoostingRegressor(max_iter=10),
            *load_diabetes(return_X_y=True, scaled=False),
        ),
        "counts": (forest, whole.astype(float), answers),
        "mixed": (make_pipeline(encoder, forest), mixed, answers),
        "single": (boosting, numbers.astype(np.float32), answers),
        "money": (boosting, np.exp(8 + 2 * numbers).round(2), answers),
        "units": (logistic, numbers * units, answers),
        "offsets": (forest, 1e6 + numbers.cumsum(axis=1).round(3), answers),
    }


def written(name: str, *, sizes: Sizes) -> Result:
    """Count answers that hold no more once they are written, and read again.

    As a table of the rows, as a table of the changes, and as the figure prints them.
    """
    found = dict.fromkeys(("rows", "changes", "figure"), 0)
    n_found = 0
    for model, X, y in tables().values():
        frame = pd.DataFrame(X)
        frame.columns = frame.columns.astype(str)
        model.fit(frame, y)
        regression = not hasattr(model, "classes_")
        target = (float(np.quantile(y, 0.7)), None) if regression else "other"
        for method in ("exact", "spheres"):
            rows = frame[: 5 * sizes.n_rows].reset_index(drop=True)
            inspector = METHODS[method](FrozenEstimator(model), desired=target)
            if method == "exact":
                inspector.set_params(time_limit=1.0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of rows for which there is none
                explanation = inspector.fit(frame).explain(rows)
            changed = explanation.status[explanation.origin] == "found"
            origin = explanation.origin[changed]
            texts = {"rows": explanation.rows[changed].reset_index(drop=True)}
            texts["changes"] = rows.iloc[origin].reset_index(drop=True)
            texts["figure"] = texts["changes"].copy()
            place = dict(zip(origin.tolist(), range(len(origin)), strict=True))
            display = CounterfactualDisplay(explanation, background=frame)
            for change in explanation.to_frame().itertuples():
                at = place[change.row], change.feature
                shown = FeatureColumn(
                    display._background_rows(),
                    frame.columns.get_loc(change.feature),
                    change.feature,
                    [change.before, change.after],
                )
                text = _change_text(shown, change.before, change.after, 0, 0)
                text = text.partition(" → ")[2].replace("\N{MINUS SIGN}", "-")
                number = frame[change.feature].dtype.kind == "f"
                texts["changes"].loc[at] = change.after
                texts["figure"].loc[at] = float(text) if number else text
            n_found += len(origin)
            before = model.predict(rows)[origin]
            for kind, table in texts.items():
                again = pd.read_csv(io.StringIO(table.to_csv(index=False)))
                answers = model.predict(again.astype(frame.dtypes))
                on_target = answers >= target[0] if regression else answers != before
                found[kind] += int((~on_target).sum())
    n_failed = sum(found.values())
    return Result(
        name,
        "the model's answers",
        *"--",
        f"{n_found} found",
        "all hold",
        f"{n_failed}",
        "DISAGREES" if n_failed else "ok",
        ", ".join(f"{number} fail as {kind}" for kind, number in found.items()),
    )


class CountedForest(RandomForestClassifier):
    """A forest that counts the rows it is asked about."""

    n_rows = 0

    def predict(self, X):
        """Count, and predict."""
        self.n_rows += len(X)
        return super().predict(X)


class Perturbed:
    """Rows perturbed under a rule, plainly: what `Anchors` says it does."""

    def __init__(self, X, model, row, rng):
        self.X, self.model, self.row, self.rng = X, model, row, rng
        cuts = np.quantile(X, [0.25, 0.5, 0.75], axis=0, method="inverted_cdf")
        bins = (X[:, None] > cuts).sum(axis=1)
        self.same = bins == (row > cuts).sum(axis=0)
        self.inside = lambda values, j: (values[:, None] > cuts[:, j]).sum(axis=1)
        self.bin = (row > cuts).sum(axis=0)
        self.own = model.predict(row[None])[0]

    def coverage(self, rule):
        """Return the share of rows for which a rule holds."""
        return self.same[:, rule].all(axis=1).mean()

    def keeps(self, rule, n):
        """Return whether the model keeps its answer on n perturbed rows."""
        rows = self.X[self.rng.integers(len(self.X), size=n)]
        for j in rule:
            bad = np.flatnonzero(self.inside(rows[:, j], j) != self.bin[j])
            donors = self.X[self.same[:, j], j]
            rows[bad, j] = self.rng.choice(donors, size=len(bad))
        return self.model.predict(rows) == self.own


@cache
def anchored(
    sizes: Sizes, clock: Callable[[], float], beam_size: int = 4
) -> tuple[CountedForest, list[Perturbed], Any, float, int]:
    """Return a forest, rows to perturb, our rules, their time and the rows asked."""
    X, y = load_breast_cancer(return_X_y=True)
    model, rng = CountedForest(random_state=0).fit(X, y), np.random.default_rng(1)
    inspector = Anchors(FrozenEstimator(model), random_state=0, beam_size=beam_size)
    inspector.fit(X)
    rows, model.n_rows = X[::28][: sizes.n_rows], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rows for which there is none
        explained, seconds = clocked(clock, lambda: inspector.explain(rows))
    n_asked = model.n_rows
    return (
        model,
        [Perturbed(X, model, row, rng) for row in rows],
        explained,
        seconds,
        n_asked,
    )


def anchors_hold(name: str, *, sizes: Sizes, timing: Timing) -> Result:
    """Judge rules by fresh draws, and count their coverage again."""
    with threadpool_limits(timing["threads"]):
        _, around, explained, seconds, _ = anchored(sizes, timing["clock"])
        rules = [tuple(c.feature for c in rule) for rule in explained.rules]
        pairs = list(zip(around, rules, strict=True))
        precision = np.array([one.keeps(r, sizes.n_draws).mean() for one, r in pairs])
    found = explained.status == "found"
    difference = np.abs(
        [one.coverage(r) for one, r in pairs] - explained.coverage
    ).max()
    share, span = (precision[found] >= 0.95).mean(), seconds / len(found)
    reached = share >= 0.95 and span <= 1
    return Result(
        name,
        "fresh draws",
        f"{duration(span)}",
        "-",
        f"{share:.0%} of {found.sum()}",
        ">= 95%, <= 1 s" if sizes.judged else "-",
        f"{difference:.1e}",
        ("ok" if reached or not sizes.judged else "below target")
        if difference <= 1e-10
        else "DISAGREES",
        f"found for {found.sum()} of {len(found)} rows; lowest precision "
        f"{precision[found].min(initial=1):.3f}, mean coverage "
        f"{explained.coverage.mean():.3f}",
    )


def anchors_rows(name: str, *, sizes: Sizes, timing: Timing) -> Result:
    """Compare the rows that the model is asked about with those of the plain search."""
    sys.path.append(str(Path(__file__).parents[1]))
    from tests.references.anchors import PlainAnchors

    with threadpool_limits(timing["threads"]):
        model, around, explained, seconds, n_asked = anchored(sizes, timing["clock"])
        plain, model.n_rows = [], 0

        def work():
            for one, rule in zip(around, explained.rules, strict=True):
                search = PlainAnchors(
                    one.keeps,
                    one.coverage,
                    one.X.shape[1],
                    precision=0.95,
                    delta=0.1,
                    tau=0.15,
                    beam=4,
                )
                rule = search.find(max(len(rule), 1))
                plain.append(0.0 if rule is None else one.coverage(rule))

        _, their_seconds = clocked(timing["clock"], work)
    ratio = model.n_rows / n_asked
    n_rows = len(around)
    return Result(
        name,
        "the paper's, plainly",
        f"{n_asked / n_rows:.0f} rows",
        f"{model.n_rows / n_rows:.0f} rows",
        f"rows {ratio:.2f} x, time {their_seconds / seconds:.1f} x",
        ">= 1" if sizes.judged else "-",
        "-",
        "ok" if ratio >= 1 or not sizes.judged else "below target",
        f"mean coverage: ours {explained.coverage.mean():.3f}, "
        f"theirs {np.mean(plain):.3f}, "
        "which looks at no longer rules than ours",
    )


def alibis_anchors(model: Any, X: Any, rows: Any, n_draws: int) -> tuple[list, int]:
    """Return the precision of alibi's anchors on fresh draws, and the rows asked.

    The draws are those of its own sampler. Rows without an anchor have None.
    """
    from alibi.explainers import AnchorTabular

    peer = AnchorTabular(model.predict, [f"x{j}" for j in range(X.shape[1])], seed=0)
    peer.fit(X, disc_perc=(25, 50, 75))
    sampler, name_rule, rules = peer.samplers[0], peer.add_names_to_exp, []

    def add_names(explanation):
        rules.append(tuple(explanation["feature"]))  # which naming replaces
        name_rule(explanation)

    peer.add_names_to_exp = add_names
    precision, n_asked = [], 0
    for row in rows:
        model.n_rows = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = peer.explain(
                row, threshold=0.95, delta=0.1, tau=0.15, batch_size=100, beam_size=1
            )
        n_asked += model.n_rows
        fresh = [sampler((0, rules[-1]), 100)[2] for _ in range(n_draws // 100)]
        precision.append(np.mean(fresh) if found.raw["success"] else None)
    return precision, n_asked


def anchors_alibi(name: str, *, sizes: Sizes, timing: Timing) -> Result:
    """Compare the rows asked with alibi's, which extends one rule of each size."""
    n_draws = min(sizes.n_draws, 2_000)
    with threadpool_limits(timing["threads"]):
        model, around, explained, _, n_asked = anchored(sizes, timing["clock"], 1)
        rows = np.array([one.row for one in around])
        try:
            judged, their_asked = alibis_anchors(model, around[0].X, rows, n_draws)
        except ImportError as error:
            return Result(name, "alibi", *"-----", "peer missing", str(error))
        ours = [
            one.keeps(tuple(c.feature for c in rule), n_draws).mean()
            for one, rule, status in zip(
                around, explained.rules, explained.status, strict=True
            )
            if status == "found"
        ]
    theirs = [precision for precision in judged if precision is not None]
    ratio, n_rows = their_asked / n_asked, len(rows)
    return Result(
        name,
        f"alibi {version('alibi')}",
        f"{n_asked / n_rows:.0f} rows",
        f"{their_asked / n_rows:.0f} rows",
        f"rows {ratio:.2f} x",
        ">= 1" if sizes.judged else "-",
        "-",
        "ok" if ratio >= 1 or not sizes.judged else "below target",
        "; ".join(
            f"{who}: found for {len(found)} of {n_rows} rows, mean precision on fresh "
            f"draws {np.mean(found or np.nan):.3f}"
            for who, found in (("ours", ours), ("theirs", theirs))
        )
        + " (each side's own sampler; our conditions are narrower, one bin each)",
    )


def cases(sizes: Sizes, **timing: Any) -> dict[str, Case]:
    """Return the cases by name."""
    common = {"sizes": sizes, "timing": timing}
    tables = [
        "cancer-logistic",
        "cancer-boosting",
        "cancer-forest50",
        "cancer-forest",
        "mixed-logistic",
        "mixed-forest",
    ]
    heuristic: dict[str, Case] = {
        f"{data}-{method}-{peer}": partial(
            compare, data=data, method=method, peer=peer, faster=faster, **common
        )
        for data in tables
        for method in ("spheres", "wachter", "first")
        for peer, faster in (("baseline", None), ("dice", 10))
    }
    of_trees: dict[str, Case] = {
        f"{data}-{method}-{peer}": partial(
            compare, data=data, method=method, peer=peer, faster=None, **common
        )
        for data in ("cancer-boosting", "cancer-forest50", "cancer-forest")
        for method, peer in (("first", "treecf"), ("exact", "treecf-exact"))
    }
    kept: dict[str, Case] = {
        f"limits-{data}-{method}": partial(
            limits, data=data, method=method, sizes=sizes
        )
        for data in ("mixed-logistic", "mixed-forest")
        for method in ("spheres", "wachter", "first")
    }
    kinds = "linear", "tree", "forest"
    small: dict[str, Case] = {
        f"proofs-{kind}": partial(proofs, kind=kind, sizes=sizes) for kind in kinds
    } | {
        f"possible-{kind}-{method}": partial(
            possible, kind=kind, method=method, sizes=sizes
        )
        for kind in kinds
        for method in ("spheres", "wachter")
    }
    return {
        **heuristic,
        **of_trees,
        **kept,
        **small,
        "written": partial(written, sizes=sizes),
        "anchors-hold": partial(anchors_hold, **common),
        "anchors-rows": partial(anchors_rows, **common),
        "anchors-alibi": partial(anchors_alibi, **common),
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen cases; returns 1 when results disagree, else 0."""
    options = parser(__doc__).parse_args(arguments)
    sizes = QUICK if options.quick else FULL
    return run_chosen(partial(cases, sizes), options)


if __name__ == "__main__":
    sys.exit(main())
