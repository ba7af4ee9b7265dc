"""
What is enough for a diagnosis?
===============================

Cells of breast tissue were measured under the microscope (scikit-learn's breast cancer
data, thirty columns), and a forest tells benign from malignant tissue. An *anchor* of a
patient is a rule such as "worst area > 1084 and worst texture > 25": where it holds,
the forest nearly always gives the patient's diagnosis, whatever the other columns
are. It says what is enough, where a counterfactual says what would have to be
otherwise.

See six histograms with blue ranges: while the patient (black line) stays within all of
them, the diagnosis remains malignant with a precision of 0.98.
"""

import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split

from sklearn_interpret.counterfactuals import Anchors, AnchorsDisplay
from sklearn_interpret.exceptions import NoAnchorWarning

data = load_breast_cancer(as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(
    data.data, data.target_names[data.target], test_size=0.3, random_state=0
)
model = RandomForestClassifier(100, random_state=0).fit(X_train, y_train)
print(f"Accuracy on patients not seen: {model.score(X_test, y_test):.3f}")

# %%
# Three patients
# --------------
#
# Each rule comes with its *precision* (how often the diagnosis stays), bounds of it,
# and its *coverage* (for how many patients the rule holds). Two clear cases have rules
# of several conditions, since many columns have a say; a doubtful one has none that is
# precise enough, and the best there is is reported as failed.
share = model.predict_proba(X_test)[:, 1]
patients = {
    "malignant": int(share.argmax()),
    "benign": int(share.argmin()),
    "doubtful": int(np.abs(share - 0.5).argmin()),
}
anchors = Anchors(FrozenEstimator(model), random_state=0).fit(X_train)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", NoAnchorWarning)
    explanation = anchors.explain(X_test.iloc[list(patients.values())])
for row in range(len(patients)):
    print(f"\n{explanation.text(row)}: {explanation.answers[row]}", end=" ")
    print(f"({explanation.status[row]})")
    print(f"  precision {explanation.precision[row]:.3f}, at least", end=" ")
    print(f"{explanation.precision_low[row]:.3f}", end="; ")
    print(f"coverage {explanation.coverage[row]:.3f}")

# %%
# Is the promise kept?
# --------------------
#
# A rule is a promise about the forest, and can be held to that: of patients that the
# forest has not seen, those for whom the rule holds get the diagnosis of the rule.
diagnoses = model.predict(X_test)
for row, holds in enumerate(explanation.holds(X_test)):
    answer = explanation.answers[row]
    kept = (diagnoses[holds] == answer).mean() if holds.any() else np.nan
    print(f"{holds.sum():3} patients meet rule {row}: {kept:.0%} of them {answer}")

# %%
# The rules over the data
# -----------------------
#
# Each condition is a range of one column, over the distribution of the patients, whose
# values are the lines. The conditions of the clear cases cut off a tail; those of the
# doubtful one leave it among everybody.
for row in range(len(patients)):
    AnchorsDisplay.from_explanation(
        explanation, row=row, background=X_train, target_name="diagnosis"
    )
