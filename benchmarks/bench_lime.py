"""LIME against lime: the same coefficients, stability, fidelity, time beyond the model.

Stability is the mean Jaccard similarity of the five strongest features over seeds;
fidelity is the R^2 that each side reports of its own defaults; the time is what is left
of explaining when the model's own answers are taken off.
"""

import io
import itertools
import sys
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from typing import Any

import numpy as np
from command_line import parser, run_chosen
from pair import Case, Result, Watched, spread
from sklearn.datasets import load_breast_cancer, load_diabetes, make_friedman1
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from sklearn_interpret.surrogates import LimeImage, LimeTabular, LimeText
from sklearn_interpret.surrogates._local_fits import Neighbourhood, fit_locally

N_TOP = 5

Timing = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """Rows explained, draws, and whether targets are judged."""

    n_rows: int
    n_seeds: int
    n_timed: int
    n_samples: int
    judged: bool

    def target(self, value: float) -> float | None:
        """Return the target, or None where none is set."""
        return value if self.judged else None


FULL = Sizes(10, 10, 100, 5000, judged=True)
QUICK = Sizes(2, 2, 4, 200, judged=False)


@dataclass(frozen=True, eq=False)
class Task:
    """A forest and its data."""

    X: np.ndarray
    model: Any
    classifies: bool

    def rows(self, n: int) -> np.ndarray:
        """Return some rows, spread over the data."""
        return self.X[np.linspace(0, len(self.X) - 1, n).astype(int)]

    @property
    def answer(self) -> Callable[..., np.ndarray]:
        """The method that lime asks."""
        return self.model.predict_proba if self.classifies else self.model.predict


@cache
def task(name: str) -> Task:
    """Return one of the tasks."""
    if name == "friedman":
        X, y = make_friedman1(2000, 10, noise=1, random_state=0)
    elif name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
    else:
        X, y = load_breast_cancer(return_X_y=True)
    classifies = name == "cancer"
    kind = RandomForestClassifier if classifies else RandomForestRegressor
    return Task(X, kind(n_estimators=100, random_state=0).fit(X, y), classifies)


def lime_explainer(on: Task, *, discretize: bool, seed: int) -> Any:
    """Return lime's explainer."""
    from lime.lime_tabular import LimeTabularExplainer

    return LimeTabularExplainer(
        on.X,
        mode="classification" if on.classifies else "regression",
        discretize_continuous=discretize,
        random_state=seed,
    )


def lime_features(explained: Any) -> list[tuple[int, float]]:
    """Return features and weights of the output that lime explains, strongest first."""
    return explained.local_exp[
        1 if 1 in explained.local_exp else next(iter(explained.local_exp))
    ]


def missing(name: str, error: ImportError) -> Result:
    """Return the line of a case whose peer is not installed."""
    note = f"{type(error).__name__}: {error}"
    return Result(name, "lime", *"-----", "peer missing", note)


def similarity(sets: list[set[int]]) -> float:
    """Return the mean Jaccard similarity of each two sets."""
    return float(
        np.mean([len(a & b) / len(a | b) for a, b in itertools.combinations(sets, 2)])
    )


def our_tops(
    on: Task, rows: np.ndarray, seed: int, **params: Any
) -> tuple[list[set[int]], float]:
    """Return our strongest features of rows, and the mean R^2."""
    inspector = LimeTabular(
        FrozenEstimator(on.model), random_state=seed, min_fidelity=None, **params
    )
    explanation = inspector.fit(on.X).explain(rows)
    order = np.argsort(-np.abs(explanation.effects), axis=1)
    tops = [set(row[:N_TOP].tolist()) for row in order]
    return tops, float(explanation.fidelity.mean())


def lime_tops(
    on: Task, rows: np.ndarray, seed: int, *, discretize: bool, n_samples: int
) -> tuple[list[set[int]], float]:
    """Return lime's strongest features of rows, and the mean R^2 that it reports."""
    explainer = lime_explainer(on, discretize=discretize, seed=seed)
    explained = [
        explainer.explain_instance(
            row, on.answer, num_samples=n_samples, num_features=10
        )
        for row in rows
    ]
    tops = [{feature for feature, _ in lime_features(one)[:N_TOP]} for one in explained]
    return tops, float(np.mean([one.score for one in explained]))


def over_seeds(tops: Callable[[int], Any], n_seeds: int) -> tuple[float, float]:
    """Return the mean similarity over seeds, and the mean R^2."""
    found = [tops(seed) for seed in range(n_seeds)]
    by_row = zip(*[sets for sets, _ in found], strict=True)
    stable = float(np.mean([similarity(list(sets)) for sets in by_row]))
    return stable, float(np.mean([score for _, score in found]))


@cache
def of_lime(
    name: str, discretize: bool, n_samples: int, n_rows: int, n_seeds: int
) -> tuple[float, float]:
    """Return stability and fidelity of lime."""
    on = task(name)
    tops = partial(
        lime_tops, on, on.rows(n_rows), discretize=discretize, n_samples=n_samples
    )
    return over_seeds(tops, n_seeds)


def stability(
    name: str, *, data: str, discretize: bool, method: str, sizes: Sizes
) -> Result:
    """Compare our stability at a fifth of the samples with lime's."""
    on, many = task(data), sizes.n_samples
    few = many // 5
    params = {"discretize": discretize, "method": method, "n_samples": few}
    tops = partial(our_tops, on, on.rows(sizes.n_rows), **params)
    own, _ = over_seeds(tops, sizes.n_seeds)
    try:
        theirs, at_few = (
            of_lime(data, discretize, n, sizes.n_rows, sizes.n_seeds)[0]
            for n in (many, few)
        )
    except ImportError as error:
        return missing(name, error)
    target = sizes.target(theirs)
    return Result(
        name,
        f"lime {version('lime')} at {many}",
        f"{own:.3f}",
        f"{theirs:.3f}",
        f"{own - theirs:+.3f}",
        "-" if target is None else f">= {target:.3f}",
        "-",
        "ok" if target is None or own >= target else "below target",
        f"ours at {few} samples in all; lime at {few} for each row: {at_few:.3f}",
    )


def fidelity(name: str, *, data: str, sizes: Sizes) -> Result:
    """Compare the R^2 of the defaults."""
    on = task(data)
    tops = partial(our_tops, on, on.rows(sizes.n_rows), n_samples=sizes.n_samples)
    _, own = over_seeds(tops, 2)
    try:
        theirs = of_lime(data, True, sizes.n_samples, sizes.n_rows, sizes.n_seeds)[1]
    except ImportError as error:
        return missing(name, error)
    target = sizes.target(theirs)
    return Result(
        name,
        f"lime {version('lime')}",
        f"{own:.3f}",
        f"{theirs:.3f}",
        f"{own - theirs:+.3f}",
        "-" if target is None else f"> {target:.3f}",
        "-",
        "ok" if target is None or own > target else "below target",
    )


def coefficients(name: str, *, n_features: int, sizes: Sizes) -> Result:
    """Compare coefficients from lime's own samples and weights."""
    on = task("friedman")
    try:
        explainer = lime_explainer(on, discretize=True, seed=0)
    except ImportError as error:
        return missing(name, error)
    inner, taken = explainer.base.explain_instance_with_data, {}

    def keep(data, labels, distances, *args, **params):
        weights = explainer.base.kernel_fn(distances)
        taken.update(design=data, responses=labels[:, -1:], weights=weights)
        return inner(data, labels, distances, *args, **params)

    explainer.base.explain_instance_with_data = keep
    selection = "forward" if n_features <= 6 else "highest_weights"
    difference, n_compared = 0.0, 0
    for row in on.rows(sizes.n_rows):
        explained = explainer.explain_instance(row, on.answer, num_features=n_features)
        samples = Neighbourhood(**taken, origin=np.ones(on.X.shape[1]))
        fit = fit_locally(samples, n_features, selection, Ridge(alpha=1))
        theirs = np.zeros(on.X.shape[1])
        for feature, weight in lime_features(explained):
            theirs[feature] = weight
        difference = max(difference, np.abs(fit.coefficients[:, 0] - theirs).max())
        difference = max(difference, abs(fit.fidelity[0] - explained.score))
        n_compared += len(lime_features(explained))
    return Result(
        name,
        f"lime {version('lime')}",
        *"--",
        f"{n_compared} weights",
        "equal",
        f"{difference:.1e}",
        "ok" if difference <= 1e-8 else "DISAGREES",
    )


def compare_beyond(
    name: str,
    by_us: Callable[[], Any],
    by_lime: Callable[[], Any],
    *,
    sizes: Sizes,
    timing: Timing,
    agreement: Callable[[Any, Any], float],
    at_least: float,
) -> Result:
    """Compare times beyond the model; works return what they found, and that time."""
    clock = timing["clock"]

    def timed(work):
        start = clock()
        found, watched = work()
        span = clock() - start
        return found, span - watched.seconds_, span, watched.n_rows_

    # lime's bar of progress goes nowhere.
    with threadpool_limits(timing["threads"]), redirect_stderr(io.StringIO()):
        ours = timed(by_us)
        try:
            theirs = timed(by_lime)
        except ImportError as error:
            return missing(name, error)
        agrees = agreement(ours[0], theirs[0])
        spans = np.array(
            [
                (timed(by_us)[1:3], timed(by_lime)[1:3])
                for _ in range(min(timing["repeats"], 3))
            ]
        )
    ratios, whole = (spans[:, 1, part] / spans[:, 0, part] for part in (0, 1))
    target = sizes.target(5.0)
    verdict = "ok" if target is None or np.median(ratios) >= target else "below target"
    beyond = np.median(spans[:, :, 0], axis=0)
    return Result(
        name,
        f"lime {version('lime')}",
        *(f"{span:.3f} s" for span in beyond),
        spread(ratios, ".1f") + " x",
        "-" if target is None else f">= {target:g}",
        f"r = {agrees:.3f}",
        verdict if agrees >= at_least or not sizes.judged else "DISAGREES",
        f"whole: {spread(whole, '.1f')} x; rows asked: {ours[3]} against {theirs[3]}",
    )


def mean_correlation(ours: list[dict], theirs: list[dict]) -> float:
    """Return the mean correlation of weights, sample by sample.

    Of the features that the peer selected; those that we did not select weigh nothing.
    """
    found = []
    for own, other in zip(ours, theirs, strict=True):
        pairs = [(own.get(name, 0.0), weight) for name, weight in other.items()]
        found.append(np.corrcoef(np.array(pairs).T)[0, 1])
    return float(np.mean(found))


def beyond_tabular(name: str, *, sizes: Sizes, timing: Timing) -> Result:
    """Rows of a table, a forest."""
    on, clock = task("friedman"), timing["clock"]
    rows = on.rows(sizes.n_timed)

    def by_us():
        watched = Watched(on.model, clock)
        inspector = LimeTabular(
            FrozenEstimator(watched),
            n_samples=sizes.n_samples,
            min_fidelity=None,
            random_state=0,
        )
        explanation = inspector.fit(on.X).explain(rows)
        return [dict(enumerate(row)) for row in explanation.effects], watched

    def by_lime():
        watched = Watched(on.model, clock)
        explainer = lime_explainer(on, discretize=True, seed=0)
        explained = [
            explainer.explain_instance(
                row, watched.predict, num_samples=sizes.n_samples, num_features=10
            )
            for row in rows
        ]
        return [dict(lime_features(one)) for one in explained], watched

    return compare_beyond(
        name,
        by_us,
        by_lime,
        sizes=sizes,
        timing=timing,
        agreement=mean_correlation,
        at_least=0.9,
    )


class WatchedText(Watched):
    """A classifier of texts as a regressor of its probabilities."""

    def predict(self, X):
        """Answer, and note how long that took."""
        start = self.clock()
        answer = self.model.predict_proba(list(X))[:, 1]
        self.seconds_ += self.clock() - start
        self.n_rows_ += len(X)
        return answer


def beyond_text(name: str, *, sizes: Sizes, timing: Timing) -> Result:
    """Texts of 40 words, of a vocabulary of 300; a logistic regression of counts."""
    clock = timing["clock"]
    rng = np.random.default_rng(0)
    vocabulary = np.array([f"word{number}" for number in range(300)])
    counts = rng.integers(0, 300, size=(300, 40))
    texts = [" ".join(vocabulary[row]) for row in counts]
    y = (np.isin(counts, np.arange(30)).sum(axis=1) > 4).astype(int)
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, y)
    chosen, n_samples = texts[: sizes.n_timed], min(1000, sizes.n_samples)

    def by_us():
        watched = WatchedText(model, clock)
        inspector = LimeText(
            FrozenEstimator(watched),
            n_samples=n_samples,
            min_fidelity=None,
            random_state=0,
        )
        explanation = inspector.fit(texts[:2]).explain(chosen)
        names = explanation.feature_names
        return [
            dict(zip(names, row, strict=True)) for row in explanation.values
        ], watched

    def by_lime():
        from lime.lime_text import LimeTextExplainer

        watched = WatchedText(model, clock)
        explainer = LimeTextExplainer(random_state=0)

        def answer(masked):
            positive = watched.predict(masked)
            return np.column_stack([1 - positive, positive])

        explained = [
            explainer.explain_instance(
                text, answer, num_samples=n_samples, num_features=10
            )
            for text in chosen
        ]
        return [dict(one.as_list()) for one in explained], watched

    return compare_beyond(
        name,
        by_us,
        by_lime,
        sizes=sizes,
        timing=timing,
        agreement=mean_correlation,
        at_least=0.9,
    )


class WatchedImage(Watched):
    """Brightness of two corners of an image, as a regressor."""

    def predict(self, X):
        """Answer, and note how long that took."""
        start = self.clock()
        X = np.asarray(X)
        upper, lower = X[:, :16, :16].mean((1, 2, 3)), X[:, -16:, -16:].mean((1, 2, 3))
        self.seconds_ += self.clock() - start
        self.n_rows_ += len(X)
        return upper - 0.5 * lower


def grid(image: np.ndarray) -> np.ndarray:
    """Return segments of 16 x 16 pixels."""
    rows, columns = np.indices(image.shape[:2]) // 16
    return rows * (columns.max() + 1) + columns


def beyond_image(name: str, *, sizes: Sizes, timing: Timing) -> Result:
    """Colour images of 96 x 96 pixels in 36 segments."""
    clock, n_samples = timing["clock"], min(1000, sizes.n_samples)
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, size=(min(5, sizes.n_timed), 96, 96, 3))
    images = images.astype(np.uint8)
    # Brighter towards a corner, so that no corner is hidden by its own mean.
    images[:, ::2] //= 3

    def by_us():
        watched = WatchedImage(None, clock)
        inspector = LimeImage(
            FrozenEstimator(watched),
            n_samples=n_samples,
            n_features_to_select=None,
            segmentation=grid,
            hide_color=0,
            min_fidelity=None,
            random_state=0,
        )
        explanation = inspector.fit(images).explain(images)
        return [dict(enumerate(row)) for row in explanation.values], watched

    def by_lime():
        from lime.lime_image import LimeImageExplainer

        watched = WatchedImage(None, clock)
        explainer = LimeImageExplainer(random_state=0)
        explained = [
            explainer.explain_instance(
                image,
                lambda masked: watched.predict(masked)[:, None],
                labels=(0,),
                top_labels=None,
                hide_color=0,
                num_samples=n_samples,
                segmentation_fn=grid,
            )
            for image in images
        ]
        return [dict(one.local_exp[0]) for one in explained], watched

    return compare_beyond(
        name,
        by_us,
        by_lime,
        sizes=sizes,
        timing=timing,
        agreement=mean_correlation,
        at_least=0.9,
    )


def cases(sizes: Sizes, **timing: Any) -> dict[str, Case]:
    """Return the cases by name."""
    data = ("friedman", "diabetes", "cancer")
    stable: dict[str, Case] = {
        f"stability-{one}-{'bins' if discretize else 'numbers'}-{method}": partial(
            stability, data=one, discretize=discretize, method=method, sizes=sizes
        )
        for one in data
        for discretize in (True, False)
        for method in ("auto", "sampling")
    }
    return {
        "coefficients-4": partial(coefficients, n_features=4, sizes=sizes),
        "coefficients-10": partial(coefficients, n_features=10, sizes=sizes),
        **stable,
        **{f"fidelity-{one}": partial(fidelity, data=one, sizes=sizes) for one in data},
        "beyond-tabular": partial(beyond_tabular, sizes=sizes, timing=timing),
        "beyond-text": partial(beyond_text, sizes=sizes, timing=timing),
        "beyond-image": partial(beyond_image, sizes=sizes, timing=timing),
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen cases; returns 1 when results disagree, else 0."""
    options = parser(__doc__).parse_args(arguments)
    sizes = QUICK if options.quick else FULL
    return run_chosen(partial(cases, sizes), options)


if __name__ == "__main__":
    sys.exit(main())
