"""A model without shortcuts: sampled, with standard errors, and compared with whom?

Ten things were measured of diabetes patients, and how far the disease went in the year
after (scikit-learn's diabetes data; sex is a category here, and the columns have names
that say what they are). A neural network behind an encoder learns the one from the
others. It can't be read, it only predicts: KernelSHAP evaluates some of the coalitions
of features, and says by standard errors how much the others could change. Ten features
have 1024 coalitions, few enough to evaluate them all and see whether that is true.
What no standard error tells: the background is a sample, here of 50 patients, whose
base value is not that of all.

A Shapley value compares a patient with a background. Against everybody, against those
with about the same body mass index, and against a single other patient the answers
differ, because the questions do.

A break-down tells one prediction as a story, feature by feature. Its order matters:
backwards, the same features get other amounts. Shapley values are the mean over all
orders.

Run it as ``python doc/examples/shapley/plot_any_model.py``. It prints what it finds and
saves figures in ``figures/``.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only, no screen needed

import matplotlib.pyplot as plt
import numpy as np
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.datasets import load_diabetes
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sklearn_interpret.shapley import (
    BreakDown,
    ExactShapley,
    KernelSHAP,
    ShapleyForceDisplay,
    ShapleySummaryDisplay,
    ShapleyWaterfallDisplay,
)

FIGURES = Path("figures")
NAMES = {
    "bp": "blood pressure",
    "s1": "cholesterol",
    "s2": "LDL",
    "s3": "HDL",
    "s4": "chol / HDL",
    "s5": "triglycerides",
    "s6": "blood sugar",
}


def load_data():
    """Return patients to learn from and patients to explain."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X["sex"] = X["sex"].map({1.0: "1", 2.0: "2"}).astype("category")
    return train_test_split(X.rename(columns=NAMES), y, test_size=0.2, random_state=0)


def make_model():
    """Return the encoder and the neural network, unfitted."""
    encoder = make_column_transformer(
        (OneHotEncoder(drop="if_binary"), ["sex"]), remainder=StandardScaler()
    )
    network = MLPRegressor(
        hidden_layer_sizes=(20,),
        activation="tanh",
        solver="lbfgs",
        alpha=10,
        max_iter=5000,
        random_state=0,
    )
    scaled = TransformedTargetRegressor(network, transformer=StandardScaler())
    return make_pipeline(encoder, scaled)


def print_accuracy(frozen, X_train, X_test, exact):
    """Print how far few coalitions are from all, and what the standard errors say."""
    print("\nKernelSHAP against all 1024 coalitions, over the patients not seen:")
    print("coalitions  mean |error|  mean standard error  within two of them")
    for n_coalitions in (32, 64, 128, 256):
        inspector = KernelSHAP(
            frozen, n_coalitions=n_coalitions, subsample=50, random_state=0
        )
        explanation = inspector.fit(X_train).explain(X_test)
        error = np.abs(explanation.values - exact.values)
        within = (error <= 2 * explanation.standard_errors).mean()
        size = explanation.standard_errors.mean()
        print(f"{n_coalitions:10}  {error.mean():12.4f}  {size:19.4f}  {within:18.0%}")


def against(frozen, X_train, patient):
    """Return explanations of a patient against several backgrounds."""
    bmi = patient["bmi"].iloc[0]
    alike = X_train[X_train["bmi"].between(bmi - 2, bmi + 2)]
    responses = frozen.predict(X_train)
    other = np.abs(responses - np.median(responses)).argmin()
    backgrounds = {
        "everybody": X_train,
        f"bmi {bmi - 2:.0f} to {bmi + 2:.0f}": alike,
        "one other patient": X_train.iloc[[other]],
    }
    found = {}
    for name, rows in backgrounds.items():
        inspector = ExactShapley(frozen, background=rows).fit(X_train)
        found[f"Against {name}, n = {len(rows)}"] = inspector.explain(patient)
    return found


def print_contrasts(found):
    """Print a patient's Shapley values against each background, side by side."""
    print("\nOne patient, predicted", end=" ")
    print(f"{next(iter(found.values())).predictions[0]:.0f}:")
    for title, explanation in found.items():
        print(f"  {title}: base value {explanation.base_values[0]:.0f}")
        for feature in np.argsort(-np.abs(explanation.values[0]))[:4]:
            name = explanation.feature_names[feature]
            print(f"    {name:18} {explanation.values[0, feature]:+6.1f}")


def draw_contrasts(found):
    """Draw a patient's Shapley values against each background, below each other."""
    figure, axes = plt.subplots(
        len(found), figsize=(7, 3.8 * len(found)), layout="constrained"
    )
    for ax, (title, explanation) in zip(axes, found.items(), strict=True):
        ShapleyWaterfallDisplay.from_explanation(
            explanation, ax=ax, max_entries=6, response_name="progression"
        )
        ax.set_title(title, loc="left", pad=30)  # above what stands on the lines
    lows, highs = zip(*(ax.get_xlim() for ax in axes), strict=True)
    for ax in axes:
        ax.set_xlim(min(lows), max(highs))  # arrows of one length mean the same
    return figure


def break_down(frozen, X_train, patient, **params):
    """Return the explanation of a patient, step by step."""
    inspector = BreakDown(frozen, subsample=None, **params)
    return inspector.fit(X_train).explain(patient)


def print_orders(forwards, backwards, exact):
    """Print what features get when they come in early, late, and on average."""
    print("\nThe same patient      first to last  last to first  Shapley value")
    for feature in np.argsort(-np.abs(exact.values[0]))[:5]:
        amounts = (e.values[0, feature] for e in (forwards, backwards, exact))
        cells = "".join(f"{amount:+15.1f}" for amount in amounts)
        print(f"  {exact.feature_names[feature]:18}{cells}")


def main():
    """Fit, explain, compare, print and draw."""
    X_train, X_test, y_train, y_test = load_data()
    model = make_model().fit(X_train, y_train)
    print(f"R^2 on patients not seen: {model.score(X_test, y_test):.2f}")
    frozen = FrozenEstimator(model)

    exact = ExactShapley(frozen, subsample=50, random_state=0).fit(X_train)
    explanation = exact.explain(X_test)
    print_accuracy(frozen, X_train, X_test, explanation)

    ranks = np.argsort(explanation.predictions)
    patient = X_test.iloc[ranks[[int(0.9 * len(ranks))]]]
    found = against(frozen, X_train, patient)
    print_contrasts(found)

    forwards = break_down(frozen, X_train, patient)
    order = [patient.columns[feature] for (feature,) in forwards.steps(0)]
    backwards = break_down(frozen, X_train, patient, order=order[::-1])
    print_orders(forwards, backwards, next(iter(found.values())))

    few = KernelSHAP(frozen, n_coalitions=32, subsample=50, random_state=0)
    figures = {
        "few_coalitions": ShapleyWaterfallDisplay.from_explanation(
            few.fit(X_train).explain(patient), response_name="progression"
        ).figure_,
        "backgrounds": draw_contrasts(found),
        "break_down": ShapleyWaterfallDisplay.from_explanation(
            forwards, response_name="progression"
        ).figure_,
        "all_patients": ShapleyForceDisplay.from_explanation(
            explanation, response_name="progression"
        ).figure_,
        "summary": ShapleySummaryDisplay.from_explanation(
            explanation, response_name="progression"
        ).figure_,
    }
    FIGURES.mkdir(exist_ok=True)
    print("\nFigures:")
    for name, figure in figures.items():
        path = FIGURES / f"any_model_{name}.png"
        figure.savefig(path)
        print(f"  {path.resolve()}")


if __name__ == "__main__":
    main()
