"""Attacks: success, size and time against ART's, on digits in [0, 1].

Models learn 1200 images; correctly classified others are attacked. Every row that an
attack returns is asked of the model here, for both sides, and measured here. It fails
where `valid` is not what the model says, where a bound or a budget is broken, or where
a lower bound exceeds a row found by anybody.
"""

import io
import sys
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from typing import Any

import numpy as np
from command_line import parser, run_chosen
from pair import Case, Result, duration
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from sklearn_interpret.adversarial import (
    AdversarialPatch,
    FastGradientSign,
    HopSkipJump,
    MinimalPerturbation,
    OnePixelAttack,
    ProjectedGradient,
    SubstituteAttack,
)

PEER = "adversarial-robustness-toolbox"
EPSILON = 0.1
ROUNDING, SINGLE = 1e-9, 1e-7
MODELS = {
    "logistic": LogisticRegression(max_iter=2000),
    "svc-linear": SVC(kernel="linear"),
    "linear-svc": LinearSVC(),
    "svc-rbf": SVC(),
    "mlp": MLPClassifier(max_iter=500, random_state=0),
    "pipeline": make_pipeline(
        StandardScaler(), MLPClassifier(max_iter=500, random_state=0)
    ),
    "forest": RandomForestClassifier(random_state=0),
    "forest8": RandomForestClassifier(max_depth=8, random_state=0),
}

Timing = dict[str, Any]


@dataclass(frozen=True)
class Attacked:
    """The result of an attack on some rows.

    Sizes are those of perturbations of the rows that the model classifies wrongly.
    """

    wrong: np.ndarray
    sizes: np.ndarray
    seconds: float
    # Number of rows out of bounds, or whose claimed validity is wrong.
    n_broken: int = 0

    @property
    def success(self) -> float:
        """The share of rows that the model classifies wrongly."""
        return float(self.wrong.mean())

    @property
    def mean(self) -> float:
        """The mean size of the perturbations that succeeded."""
        return float(self.sizes[self.wrong].mean()) if self.wrong.any() else np.nan


@cache
def digits() -> tuple[np.ndarray, ...]:
    """Return images and classes: those to learn, and the others."""
    X, y = load_digits(return_X_y=True)
    X = X / 16
    return X[:1200], y[:1200], X[1200:], y[1200:]


@cache
def fitted(name: str) -> Any:
    """Return a model that has learned."""
    X, y, _, _ = digits()
    return MODELS[name].fit(X, y)


@cache
def fitted_for_peer(name: str) -> Any:
    """Return the model as ART takes it: its iterated attack asks for probabilities."""
    if not isinstance(MODELS[name], SVC):
        return fitted(name)
    X, y, _, _ = digits()
    return clone(MODELS[name]).set_params(probability=True, random_state=0).fit(X, y)


def victims(name: str, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows that a model classifies correctly."""
    _, _, X, y = digits()
    right = fitted(name).predict(X) == y
    return X[right][:n_rows], y[right][:n_rows]


def judged(
    name: str,
    found: np.ndarray,
    claimed: Any,
    n_rows: int,
    order: float,
    seconds: float,
) -> Attacked:
    """Ask the model about the rows that an attack returned."""
    X, y = victims(name, n_rows)
    wrong = fitted(name).predict(found) != y
    # Differences below single precision are rounding errors.
    steps = np.where(np.abs(found - X) < SINGLE, 0, found - X)
    sizes = np.linalg.norm(steps, order, axis=1)
    broken = ((found < 0) | (found > 1)).any(axis=1)
    if claimed is not None:
        broken |= np.asarray(claimed) != wrong
    return Attacked(wrong, sizes, seconds, int(broken.sum()))


def ours(
    name: str, attack_class: Any, n_rows: int, timing: Timing, **parameters: Any
) -> tuple[Attacked, Any]:
    """Return the result of one of our attacks, and its explanation."""
    train, (X, y) = digits()[0], victims(name, n_rows)
    parameters = {"units": "raw", "bounds": (0, 1), **parameters}
    order = float(parameters.get("norm", "inf"))
    if attack_class is OnePixelAttack:
        del parameters["units"]
        order = 0
    attack = attack_class(FrozenEstimator(fitted(name)), **parameters).fit(train)
    attack.explain(X[:2], y[:2])  # warm
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rows for which nothing was found
        start = timing["clock"]()
        explanation = attack.explain(X, y)
        seconds = timing["clock"]() - start
    attacked = judged(name, explanation.rows, explanation.valid, n_rows, order, seconds)
    return attacked, explanation


@cache
def theirs(name: str, attack: str, n_rows: int, clock: Callable[[], float]) -> Attacked:
    """Return the result of an attack of ART."""
    with warnings.catch_warnings(), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        from art.attacks import evasion
        from art.estimators.classification import (
            BlackBoxClassifierNeuralNetwork,
            SklearnClassifier,
        )

        attacks = {
            "sign": partial(evasion.FastGradientMethod, eps=EPSILON),
            "iterated": partial(
                evasion.ProjectedGradientDescent,
                eps=EPSILON,
                eps_step=2.5 * EPSILON / 40,
                max_iter=40,
                verbose=False,
            ),
            "hop-skip-jump": partial(evasion.HopSkipJump, max_iter=10, verbose=False),
            "pixel": partial(evasion.PixelAttack, th=3, es=1, verbose=False),
        }
        X, y = victims(name, n_rows)
        model = SklearnClassifier(fitted_for_peer(name), clip_values=(0, 1))
        if attack == "pixel":  # it takes images of networks alone
            X = X.reshape(-1, 8, 8, 1)
            model = BlackBoxClassifierNeuralNetwork(
                lambda images: fitted(name).predict_proba(images.reshape(-1, 64)),
                *((8, 8, 1), 10),
                channels_first=False,
                clip_values=(0, 1),
            )
        np.random.seed(0)  # noqa: NPY002  -- ART draws from the global state
        start = clock()
        found = attacks[attack](model).generate(X.astype(np.float32), y)
        seconds = clock() - start
    order = {"hop-skip-jump": 2, "pixel": 0}.get(attack, np.inf)
    # In single precision ART leaves the bounds by rounding.
    found = np.clip(np.asarray(found, dtype=np.float64), 0, 1).reshape(n_rows, -1)
    return judged(name, found, None, n_rows, order, seconds)


def outcome(
    name: str,
    own: Attacked,
    peer: Attacked | str,
    measured: str,
    target: str,
    *,
    reached: bool,
    fails: bool = False,
    note: str = "",
) -> Result:
    """Return a line of the table."""
    known = not isinstance(peer, str)
    both = [own, peer] if known else [own]
    texts = [
        f"{one.success:.2f}, {one.mean:.3f}, {duration(one.seconds)}" for one in both
    ]
    verdict = "ok" if reached else "below target"
    return Result(
        name,
        f"ART {version(PEER)}" if known else peer,
        *(f"{one.success:.2f}" for one in both),
        *(["-"] if not known else []),
        measured,
        target,
        f"{own.n_broken}",
        "DISAGREES" if fails or own.n_broken else verdict,
        "; ".join(
            f"{who}: success, mean size, time {text}"
            for who, text in zip(("ours", "theirs"), texts, strict=False)
        )
        + note,
    )


def peer_of(name: str, attack: str, n_rows: int, timing: Timing) -> Attacked | str:
    """Return the result of ART, or the reason why there is none."""
    try:
        return theirs(name, attack, n_rows, timing["clock"])
    except ImportError as error:
        return f"peer missing: {error}"
    except Exception as error:
        return f"ART refuses: {type(error).__name__}"


def budgeted(
    name: str,
    *,
    model: str,
    attack: str,
    least: float,
    faster: float | None,
    n_rows: int,
    timing: Timing,
) -> Result:
    """Compare the success of attacks within a budget, and their time."""
    classes = {"sign": FastGradientSign, "iterated": ProjectedGradient}
    drawn = {"random_state": 0} if attack == "iterated" else {}
    with threadpool_limits(timing["threads"]):
        own, found = ours(
            model, classes[attack], n_rows, timing, epsilon=EPSILON, **drawn
        )
        peer = peer_of(model, attack, n_rows, timing)
    broken = bool((found.distances > EPSILON * (1 + ROUNDING)).any())
    measured, reached = f"{own.success:.2f}", own.success >= least - ROUNDING
    if isinstance(peer, Attacked):
        speed = peer.seconds / own.seconds
        measured = f"{own.success - peer.success:+.2f}, time {speed:.1f} x"
        reached &= own.success >= peer.success and speed >= (faster or 0)
    target = f">= {least:.2f}" + (f", time >= {faster:g}" if faster else "")
    return outcome(name, own, peer, measured, target, reached=reached, fails=broken)


def nearest(
    name: str,
    *,
    model: str,
    attack_class: Any,
    most: float,
    faster: float | None,
    n_rows: int,
    timing: Timing,
    **parameters: Any,
) -> Result:
    """Compare the mean size of perturbations in the norm 2, and the time."""
    with threadpool_limits(timing["threads"]):
        own, found = ours(model, attack_class, n_rows, timing, norm="2", **parameters)
        peer = peer_of(model, "hop-skip-jump", n_rows, timing)
    measured = f"{own.mean:.3f}"
    reached = own.success == 1 and own.mean <= most
    beaten = False
    lower = getattr(found, "lower_bounds", None)
    if isinstance(peer, Attacked):
        speed = peer.seconds / own.seconds
        measured = f"size {own.mean / peer.mean:.2f}, time {speed:.1f} x"
        reached &= own.mean <= peer.mean and speed >= (faster or 0)
        if lower is not None:
            beaten = bool((peer.sizes < lower * (1 - 1e-6))[peer.wrong].any())
    target = f"<= {most:g}" + (f", time >= {faster:g}" if faster else "")
    return outcome(name, own, peer, measured, target, reached=reached, fails=beaten)


def exact(name: str, *, n_rows: int, timing: Timing) -> Result:
    """Compare the nearest rows without bounds with the formula of a linear model."""
    model = fitted("logistic")
    X, y = victims("logistic", n_rows)
    with threadpool_limits(timing["threads"]):
        free = (-np.inf, np.inf)
        own, found = ours(
            "logistic", MinimalPerturbation, n_rows, timing, norm="2", bounds=free
        )
    scores, every = model.decision_function(X), np.arange(len(X))
    rise = scores[every, y][:, None] - scores
    slopes = np.linalg.norm(model.coef_[y][:, None] - model.coef_, axis=2)
    with np.errstate(invalid="ignore"):
        expected = np.nanmin(rise / slopes, axis=1)
    difference = float(np.abs(found.distances / expected - 1).max())
    wrong = model.predict(found.rows) != y
    return Result(
        name,
        "the distance to the boundary",
        f"{found.distances.mean():.4f}",
        f"{expected.mean():.4f}",
        duration(own.seconds),
        "equal",
        f"{difference:.1e}",
        "ok" if difference < 1e-6 and wrong.all() else "DISAGREES",
    )


def of_trees(name: str, *, norm: str, n_rows: int, timing: Timing) -> Result:
    """Count the rows of a forest of 100 trees of which the nearest is proved."""
    with threadpool_limits(timing["threads"]):
        own, found = ours("forest8", MinimalPerturbation, n_rows, timing, norm=norm)
    gaps = found.distances / np.maximum(found.lower_bounds, 1e-12)
    fails = bool((found.lower_bounds > found.distances * (1 + 1e-6)).any())
    reached = bool(own.success == 1 and (found.lower_bounds > 0).all())
    n_proved = int((gaps <= 1 + 1e-6).sum())
    return outcome(
        name,
        own,
        "its lower bound",
        f"{np.median(gaps):.2f} x the bound",
        "all found",
        reached=reached,
        fails=fails,
        note=f"; {n_proved} of {n_rows} proved",
    )


def pixels(name: str, *, n_rows: int, timing: Timing) -> Result:
    """Count digits that three pixels flip."""
    with threadpool_limits(timing["threads"]):
        own, _ = ours(
            "logistic", OnePixelAttack, n_rows, timing, n_pixels=3, random_state=0
        )
        peer = peer_of("logistic", "pixel", n_rows, timing)
    fails = bool((own.sizes > 3).any())
    reached = own.success >= 0.25
    measured = f"{own.success:.2f}"
    if isinstance(peer, Attacked):
        speed = peer.seconds / own.seconds
        measured = f"{own.success - peer.success:+.2f}, time {speed:.1f} x"
    return outcome(name, own, peer, measured, ">= 0.25", reached=reached, fails=fails)


def patches(name: str, *, model: str, n_targets: int, timing: Timing) -> Result:
    """Compare learned patches of 3 x 3 pixels with random ones, at the same places."""
    train, _, X, y = digits()
    shares, by_chance = [], []
    random = np.random.default_rng(0)
    start = timing["clock"]()
    with threadpool_limits(timing["threads"]):
        for target in range(n_targets):
            attack = AdversarialPatch(
                FrozenEstimator(fitted(model)),
                target=target,
                image_shape=(8, 8),
                patch_shape=(3, 3),
                bounds=(0, 1),
                random_state=0,
            ).fit(train)
            others = X[(fitted(model).predict(X) != target) & (y != target)]
            predict = fitted(model).predict
            shares += [
                np.mean(predict(attack.apply(others, random_state=seed)) == target)
                for seed in range(5)
            ]
            learned, sent = attack.patch_, []
            for seed in range(20):
                attack.patch_ = random.uniform(size=learned.shape)
                found = attack.apply(others, random_state=seed)
                sent.append(np.mean(predict(found) == target))
            by_chance.append(np.mean(sent))
    passed = timing["clock"]() - start
    ratio = np.mean(shares) / np.mean(by_chance)
    return Result(
        name,
        "random patches",
        f"{np.mean(shares):.3f}",
        f"{np.mean(by_chance):.3f}",
        f"{ratio:.1f} x",
        ">= 3",
        "-",
        "ok" if ratio >= 3 else "below target",
        f"share sent to the target, mean of {n_targets}; {duration(passed)} in all",
    )


def substitute(name: str, *, model: str, timing: Timing) -> Result:
    """Measure how far a substitute agrees with its model on images it has not seen."""
    train, _, X, y = digits()
    attack = SubstituteAttack(
        FrozenEstimator(fitted(model)),
        attack=ProjectedGradient(
            LogisticRegression(), epsilon=0.2, units="raw", bounds=(0, 1)
        ),
        random_state=0,
    )
    start = timing["clock"]()
    with threadpool_limits(timing["threads"]):
        attack.fit(train)
        seconds = timing["clock"]() - start
        agreement = np.mean(attack.substitute_.predict(X) == fitted(model).predict(X))
        found = attack.explain(X[:100], y[:100])
    sent = np.mean(found.status == "found")
    return Result(
        name,
        "the model it stands for",
        f"{agreement:.2f}",
        "-",
        f"{agreement:.2f}",
        ">= 0.75",
        "-",
        "ok" if agreement >= 0.75 else "below target",
        f"{attack.n_queries_} queries, {duration(seconds)}; of 100 rows "
        f"{sent:.2f} are misled at epsilon=0.2",
    )


def cases(*, quick: bool, **timing: Any) -> dict[str, Case]:
    """Return the cases by name."""
    n_rows, few = (10, 2) if quick else (100, 20)
    shared = {"timing": timing}
    rows = {"n_rows": n_rows, **shared}
    known: dict[str, Case] = {}
    for attack, of_models in {
        "sign": {
            "logistic": (0.34, None),
            "svc-linear": (0.43, None),
            "svc-rbf": (0.19, None),
            "linear-svc": (0.0, None),
            "mlp": (0.0, None),
            "pipeline": (0.0, None),
        },
        "iterated": {
            "logistic": (0.35, None),
            "svc-linear": (0.43, 30),
            "svc-rbf": (0.19, 30),
            "linear-svc": (0.0, None),
            "mlp": (0.0, None),
            "pipeline": (0.0, None),
        },
    }.items():
        for model, (least, faster) in of_models.items():
            known[f"{attack}-{model}"] = partial(
                budgeted,
                model=model,
                attack=attack,
                least=0.0 if quick else least,
                faster=None if quick else faster,
                **rows,
            )
    for model, most in {"logistic": 0.56, "mlp": 0.896, "svc-rbf": 0.896}.items():
        known[f"minimal-{model}"] = partial(
            nearest,
            model=model,
            attack_class=MinimalPerturbation,
            most=most,
            faster=None,
            **rows,
        )
    known["minimal-exact"] = partial(exact, **rows)
    for model, most in {"svc-rbf": 0.90, "forest": 0.85, "mlp": 0.896}.items():
        known[f"hop-skip-jump-{model}"] = partial(
            nearest,
            model=model,
            attack_class=HopSkipJump,
            most=most,
            faster=None if quick else 4,
            random_state=0,
            **rows,
        )
    for norm in ("inf", "1"):
        known[f"trees-{norm}"] = partial(
            of_trees, norm=norm, n_rows=2 if quick else 10, **shared
        )
    known["pixels-logistic"] = partial(pixels, n_rows=few, **shared)
    for model in ("logistic", "svc-rbf", "mlp"):
        known[f"patch-{model}"] = partial(
            patches, model=model, n_targets=1 if quick else 10, **shared
        )
    for model in ("svc-rbf", "forest"):
        known[f"substitute-{model}"] = partial(substitute, model=model, **shared)
    return known


if __name__ == "__main__":
    options = parser(__doc__).parse_args()
    sys.exit(run_chosen(partial(cases, quick=options.quick), options))
