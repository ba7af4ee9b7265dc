"""Rules that add up: diabetes, and one patient.

RuleFit predicts how far diabetes has come after a year from ten measurements, by a sum:
the coefficients of the rules that hold for a patient, and straight lines. The lasso
leaves a few dozen of 500 rules that small boosted trees have brought.

The output has the R² in five folds, beside those of its parents: the lasso without
rules, and a boosting machine. Here the lasso alone does better, since there is little
but straight lines in the data of so few patients: look at that before you tell rules.
Then come the most important rules.

The first figure has the *importances* of rules and of measurements: by how much, as a
standard deviation over the patients, each moves the prediction. The number beside the
bar of a rule is its coefficient, what is added where it holds.

The second takes the prediction for *one patient* apart. Each step is a measurement: its
share is that of its rules and its line, compared with the mean patient. The third has
the same prediction by rules. A rule that does not hold has a share, too: where half of
all patients have the relief of "bmi <= 26.95 and ...", it is bad news not to have it.

Run it as ``python doc/examples/rules/plot_rule_fit.py``. It prints the rules and saves
three figures in ``figures/``.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only, no screen needed

from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LassoCV
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_interpret.rules import RuleFitDisplay, RuleFitRegressor
from sklearn_interpret.shapley import ShapleyWaterfallDisplay

FIGURES = Path("figures")


def main():
    """Score RuleFit and its parents, print its rules, and explain a patient."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    model = RuleFitRegressor(max_rules=500, random_state=0)
    others = {
        "RuleFit": model,
        "lasso": make_pipeline(StandardScaler(), LassoCV()),
        "boosting": GradientBoostingRegressor(random_state=0),
    }
    folds = KFold(5, shuffle=True, random_state=0)
    for name, other in others.items():
        print(f"R² of {name}: {cross_val_score(other, X, y, cv=folds).mean():.2f}")

    model.fit(X, y)
    print(f"\n{len(model.rules_)} rules and {len(model.linear_terms_)} lines. First:")
    for rule in model.rules_[:5]:
        print(f"{rule.coefficient:+6.1f} for {rule.coverage:4.0%}: {rule}")

    patient = X.iloc[[0]]
    print(f"\nOne patient, predicted {model.predict(patient)[0]:.0f}, was {y[0]:.0f}:")
    print(patient.iloc[0].to_dict())
    drawn = {
        "importances": RuleFitDisplay.from_estimator(model),
        "patient": ShapleyWaterfallDisplay.from_explanation(model.explain(patient)),
        "patient_by_rules": ShapleyWaterfallDisplay.from_explanation(
            model.explain(patient, by="rules"), max_entries=10
        ),
    }
    FIGURES.mkdir(exist_ok=True)
    for name, display in drawn.items():
        path = FIGURES / f"rule_fit_{name}.png"
        display.figure_.savefig(path, dpi=150)
        print(f"Figure: {path.resolve()}")


if __name__ == "__main__":
    main()
