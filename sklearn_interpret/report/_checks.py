"""Checks of a model and its explanations: when not to believe them."""

from collections.abc import Callable
from functools import wraps
from importlib import import_module

import numpy as np
from scipy import stats
from sklearn.base import clone
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_interpret.effects import AccumulatedLocalEffects
from sklearn_interpret.report._results import Check, NotApplicable, listed
from sklearn_interpret.shapley import ShapleyValues

CHECKS: dict[str, tuple[Callable[..., Check], str]] = {}


def check(title):
    """Register a check under its function's name.

    The function of an `Inspection` returns the statistic, the threshold, whether it
    warns, the finding and the advice.
    """

    def registered(examine):
        name = examine.__name__.rstrip("_")

        @wraps(examine)
        def checked(inspection):
            statistic, threshold, warns, finding, advice = examine(inspection)
            verdict = "warned" if warns else "passed"
            numbers = float(statistic), float(threshold)
            return Check(name, title, verdict, *numbers, finding, advice)

        CHECKS[name] = checked, title
        return checked

    return registered


@check("Is the model better than one without features?")
def chance(inspection):
    """One-sided test of the mean difference of held-out losses."""
    gains = inspection.dummy_losses - inspection.held_out_losses
    weights = inspection.sample.weights[inspection.held_out]
    mean = np.average(gains, weights=weights)
    variance = np.average((gains - mean) ** 2, weights=weights)
    n_rows = weights.sum() ** 2 / (weights**2).sum()
    error = np.sqrt(variance / max(n_rows - 1, 1))
    pvalue = stats.norm.sf(mean / error) if error else float(mean <= 0)
    finding = (
        "The held-out loss differs from that without features by "
        f"{-inspection.skill(inspection.held_out_losses):.0%} (p = {pvalue:.2g})."
    )
    advice = (
        "Explanations of a model that predicts nothing show noise: do not use them."
    )
    return pvalue, 0.01, pvalue >= 0.01, finding, advice


@check("Does the model learn noise of its training rows?")
def overfit(inspection):
    """Gap between training and held-out rows, and a smoother model that does better."""
    inspection.need_folds()
    own = inspection.skill(inspection.held_out_losses)
    gap = inspection.training_skill - own
    tree, neighbours = DecisionTreeRegressor, KNeighborsRegressor
    if inspection.classifies:
        tree, neighbours = DecisionTreeClassifier, KNeighborsClassifier
    n_rows = min(len(fold.train) for fold in inspection.folds)
    losses = [inspection.dummy_losses]
    if inspection.is_table:
        for smooth in (tree(max_depth=3), neighbours(min(15, n_rows))):
            smooth = make_pipeline(inspection.encoder(), smooth)
            losses.append(inspection.refit_losses(smooth))
    better = max(map(inspection.skill, losses)) - own
    finding = (
        f"The model removes {own + gap:.0%} of the loss on its training rows and "
        f"{own:.0%} on others; the best simple model "
        f"{own + better:.0%}."
    )
    advice = "Regularise the model; its effects and interactions follow noise."
    return better, 0.02, gap > 0.1 and better > 0.02, finding, advice


@check("Do features predict each other?")
def companions(inspection):
    """Cross-validated R² of each important feature given the others."""
    inspection.need_table()
    rows = inspection.part.rows
    if rows.n_columns < 2:
        raise NotApplicable("There is one feature.")
    found = {}
    for j in inspection.top:
        values = rows.values(j)
        if values.dtype.kind not in "iuf" or rows.is_categorical(j):
            continue
        known = np.isfinite(values.astype(float)).nonzero()[0]
        others = [k for k in range(rows.n_columns) if k != j]
        if len(known) < 10 or np.ptp(values[known]) == 0:
            continue
        X = inspection.ranked(rows, others)[known]
        ranks = stats.rankdata(values[known])
        predicted = cross_val_predict(RidgeCV(np.logspace(-3, 3, 7)), X, ranks, cv=3)
        found[j] = 1 - np.mean((ranks - predicted) ** 2) / ranks.var()
    if not found:
        raise NotApplicable("No important feature is a number.")
    strong = [inspection.names[j] for j, r2 in found.items() if r2 > 0.8]
    largest = max(found, key=found.get)
    finding = (
        f"{inspection.names[largest]} is predicted by the other features with R² "
        f"{max(found[largest], 0):.2f}"
        + (f"; above .8: {listed(strong, 6)}." if strong else ".")
    )
    advice = (
        "Their importance is shared, and changing one alone makes rows that do not "
        "occur: read them as a group (feature_groups)."
    )
    return found[largest], 0.8, bool(strong), finding, advice


@check("Do permuted rows lie outside of the data?")
def outside(inspection):
    """Share of permuted rows less like real rows than 99 % of these."""
    inspection.need_table()
    rows, rng = inspection.part.rows, np.random.default_rng(inspection.seed)
    if rows.n_columns < 2 or rows.n_rows < 40:
        raise NotApplicable("This takes two features and forty rows.")
    real, found = inspection.ranked(rows, range(rows.n_columns)), {}
    trees = HistGradientBoostingClassifier(max_iter=40, min_samples_leaf=10)
    labels = np.repeat([0, 1], rows.n_rows)
    for j in inspection.top[:5]:
        order = rng.permutation(rows.n_rows)
        donors = {j: order}
        mixed = type(rows)(rows.mixed(np.arange(rows.n_rows), donors))
        X = np.vstack([real, inspection.ranked(mixed, range(rows.n_columns))])
        mixing = rng.permutation(2 * rows.n_rows)
        scores = np.empty(2 * rows.n_rows)
        scores[mixing] = cross_val_predict(
            trees, X[mixing], labels[mixing], cv=4, method="predict_proba"
        )[:, 1]
        limit = np.quantile(scores[labels == 0], 0.99)
        found[j] = np.mean(scores[labels == 1] > limit)
    worst = max(found, key=found.get)
    finding = (
        f"When {inspection.names[worst]} is permuted, {found[worst]:.0%} of the rows "
        "are less like real rows than 99 % of these."
    )
    advice = (
        "Prefer accumulated local effects to partial dependence, and conditional to "
        "plain permutation importance."
    )
    return found[worst], 0.15, found[worst] > 0.15, finding, advice


@check("Does an average effect hide opposite effects?")
def opposite(inspection):
    """Size of effects with opposite directions in regions, in deviations."""
    inspection.need_table()
    found, regions = {}, inspection.regions
    spread = inspection.response_deviation
    for k, (name, curves) in enumerate(
        zip(regions.effect_names_, regions.curves_, strict=True)
    ):
        curves = curves if curves.ndim == 2 else curves[-1]
        if len(curves) < 2 or regions.axes_[k][0].categorical:
            continue
        net = curves[:, -1] - curves[:, 0]
        found[name] = max(0.0, min(net.max(), -net.min())) / spread
    name = max(found, key=found.get, default=None)
    size = found.get(name, 0.0)
    finding = (
        f"In regions of the data, {name} moves the prediction up and down by at least "
        f"{size:.2f} standard deviations of predictions."
        if size
        else "No feature moves the prediction up in one region and down in another."
    )
    advice = "Read the effect by region; the average says little."
    return size, 0.25, size > 0.25, finding, advice


@check("Do effects differ from fold to fold?")
def folds(inspection):
    """Deviation of effect sizes over refits, relative to their means."""
    inspection.need_folds()
    inspection.need_table()
    part = inspection.small_part
    sizes = np.array(
        [
            AccumulatedLocalEffects(
                type(inspection.frozen)(fold.model),
                features=inspection.top,
                target=inspection.target,
            )
            .fit(part.rows.native, sample_weight=part.weights)
            .feature_importances_
            for fold in inspection.folds
        ]
    )
    total = sizes.mean(axis=0).sum()
    if not total:
        raise NotApplicable("No feature moves the prediction.")
    spread = sizes.std(axis=0, ddof=1).sum() / total
    finding = f"Over refits, sizes of effects vary by {spread:.0%} of their mean."
    advice = "Report effects with their bands over folds, or stabilise the model."
    return spread, 0.35, spread > 0.35, finding, advice


@check("Do Shapley values depend on the background?")
def background(inspection):
    """Difference of Shapley values by two backgrounds, relative to their size."""
    inspection.need_table()
    part, rng = inspection.part, np.random.default_rng(inspection.seed)
    if part.rows.n_rows < 20:
        raise NotApplicable("There are fewer than twenty rows.")
    size = min(inspection.n_background, part.rows.n_rows // 2)
    explained = part.rows.take(rng.permutation(part.rows.n_rows)[:20]).native
    changes = []
    for _ in range(3):
        order = rng.permutation(part.rows.n_rows)
        one, other = (
            ShapleyValues(
                inspection.frozen,
                target=inspection.target,
                random_state=inspection.seed,
            )
            .fit(part.rows.take(order[places]).native)
            .explain(explained)
            .values
            for places in (slice(size), slice(-size, None))
        )
        scale = np.abs(one).mean() + np.abs(other).mean()
        changes.append(2 * np.abs(one - other).mean() / scale if scale else 0.0)
    change = max(changes)
    finding = (
        f"By random backgrounds of {size} rows, Shapley values differ by up to "
        f"{change:.0%} of their size."
    )
    advice = "Use more background rows (subsample), or choose them on purpose."
    return change, 0.35, change > 0.35, finding, advice


@check("Is a code used as if it were a number?")
def ordinal(inspection):
    """Share of the differences between levels that no parabola follows."""
    inspection.need_table()
    inspection.need_targets()
    y, rows = inspection.sample.y, inspection.sample.rows
    if inspection.classifies:
        y = y == inspection.model.classes_[-1]
    found = {}
    for j in range(rows.n_columns):
        values = rows.values(j)
        if values.dtype.kind not in "iuf" or rows.is_categorical(j):
            continue
        if not np.all(values == np.round(values)):
            continue
        levels, codes, counts = np.unique(
            values, return_inverse=True, return_counts=True
        )
        if 5 <= len(levels) <= 30 and counts.min() >= 3:
            found[j] = _lack_of_fit(
                levels.astype(float), codes, counts, y.astype(float)
            )
    if not found:
        raise NotApplicable("No feature has 5 to 30 whole numbers.")
    worst = max(found, key=found.get)
    finding = (
        f"{found[worst]:.0%} of how targets differ between the values of "
        f"{inspection.names[worst]} follows no line or parabola in these values."
    )
    advice = "If the numbers are codes of categories, give the column a category dtype."
    return found[worst], 0.2, found[worst] > 0.2, finding, advice


def _lack_of_fit(levels, codes, counts, y):
    """Share of the variance between levels beyond a parabola; zero where not clear."""
    means = np.bincount(codes, y) / counts
    between = counts @ (means - y.mean()) ** 2
    design = np.vander((levels - levels.mean()) / levels.std(), 3)
    root = np.sqrt(counts)
    fitted = design @ np.linalg.lstsq(design * root[:, None], means * root)[0]
    missed, within = counts @ (means - fitted) ** 2, ((y - means[codes]) ** 2).sum()
    dof = len(levels) - 3, len(y) - len(levels)
    clear = within == 0 or (
        stats.f.sf(missed / dof[0] / (within / dof[1]), *dof) < 1e-3
        if dof[1]
        else False
    )
    return missed / between if between and clear else 0.0


@check("Does one feature do nearly all?")
def leakage(inspection):
    """Held-out skill of a model of one feature, relative to that of all."""
    inspection.need_table()
    own = inspection.skill(inspection.held_out_losses)
    if len(inspection.names) < 2:
        raise NotApplicable("There is one feature.")
    forest = RandomForestClassifier if inspection.classifies else RandomForestRegressor
    forest = forest(30, min_samples_leaf=3, random_state=inspection.seed)
    skills = {
        j: inspection.skill(
            inspection.refit_losses(
                make_pipeline(inspection.encoder([j]), forest), columns=[j]
            )
        )
        for j in inspection.top[:2]
    }
    best = max(skills, key=skills.get)
    share = skills[best] / own if own > 0 else 0.0
    finding = (
        f"{inspection.names[best]} alone removes {max(skills[best], 0):.0%} of the "
        f"loss, all features {own:.0%}."
    )
    advice = (
        "Ask whether it is known when predictions are made, or made from the target."
    )
    warns = own > 0.85 and share > 0.9
    return share, 0.9, warns, finding, advice


@check("Are there impossible predictions?")
def range_(inspection):
    """Share of held-out and permuted rows with predictions beyond possible targets."""
    inspection.need_targets()
    if inspection.classifies:
        raise NotApplicable("Probabilities are never impossible.")
    y = inspection.sample.y
    low, high = y.min(), y.max()
    margin = 0.5 * (high - low)
    limits = [0.0 if low >= 0 else low - margin, high + margin]
    if low >= 0 and high <= 1:
        limits[1] = 1.0
    found = [inspection.held_out_responses[:, 0]]
    if inspection.is_table:
        rows, rng = inspection.part.rows, np.random.default_rng(inspection.seed)
        for j in inspection.top[:5]:
            donors = {j: rng.permutation(rows.n_rows)}
            mixed = rows.mixed(np.arange(rows.n_rows), donors)
            found.append(np.asarray(inspection.model.predict(mixed), float).ravel())
    found = np.concatenate(found)
    size = 1e-9 * max(abs(low), abs(high))
    share = np.mean((found < limits[0] - size) | (found > limits[1] + size))
    finding = (
        f"{share:.1%} of predictions of held-out and permuted rows lie outside of "
        f"{limits[0]:.3g} to {limits[1]:.3g}."
    )
    advice = "Transform the target, or choose a link or a loss that keeps to its range."
    return share, 0.005, share > 0.005, finding, advice


@check("Is a class rare?")
def imbalance(inspection):
    """Share of the smallest class, relative to equal shares."""
    inspection.need_targets()
    if not inspection.classifies:
        raise NotApplicable("Targets are numbers.")
    classes, weights = inspection.model.classes_, inspection.sample.weights
    shares = [
        np.average(inspection.sample.y == label, weights=weights) for label in classes
    ]
    rare = int(np.argmin(shares))
    balance = shares[rare] * len(classes)
    own = inspection.sample.y[inspection.held_out] == classes[rare]
    hits = inspection.held_out_responses[own].argmax(axis=1) == rare
    recall = hits.mean() if own.any() else 0.0
    finding = (
        f"{classes[rare]} has {shares[rare]:.1%} of the rows, and {recall:.0%} of its "
        "held-out rows are recognised."
    )
    advice = "Score by balanced metrics, and explain rows of that class on their own."
    return balance, 0.2, balance < 0.2, finding, advice


@check("Do columns of noise get as much effect as real ones?")
def noise(inspection):
    """Effect of three columns of noise in a refit, relative to the largest one."""
    inspection.need_folds()
    inspection.need_table()
    inspection.need_targets()
    part, rng = inspection.part, np.random.default_rng(inspection.seed)
    X = _with_columns(part.rows, rng.normal(size=(3, part.rows.n_rows)))
    model = type(inspection.frozen)(clone(inspection.unfitted).fit(X, part.y))
    n_columns = part.rows.n_columns
    features = [*inspection.top[:5], *range(n_columns, n_columns + 3)]
    found = AccumulatedLocalEffects(model, features=features, target=inspection.target)
    sizes = found.fit(X).feature_importances_
    largest = sizes[:n_columns].max()
    if not largest:
        raise NotApplicable("No feature moves the prediction.")
    share = sizes[n_columns:].max() / largest
    finding = (
        f"Of three columns of noise, the one with the largest effect has {share:.0%} "
        "of the effect of the strongest feature."
    )
    advice = "Effects of that size are noise: regularise the model, or use more rows."
    return share, 0.2, share > 0.2, finding, advice


def _with_columns(rows, columns):
    """The native table with more columns of numbers."""
    native = rows.native
    names = [f"noise {k + 1}" for k in range(len(columns))]
    if hasattr(native, "assign"):
        return native.assign(**dict(zip(names, columns, strict=True)))
    if hasattr(native, "with_columns"):
        series = import_module("polars").Series
        return native.with_columns(*map(series, names, columns))
    if isinstance(native, np.ndarray):
        return np.column_stack([native, *columns])
    raise NotApplicable("This takes arrays and frames.")
