"""
Can a tree of seven questions stand in for a support vector machine?
====================================================================

A support vector machine tells malignant from benign tissue by thirty measurements of
cells (scikit-learn's breast cancer data). It has no rules that one could read. A
decision tree learns what the machine predicts, not what is true: its questions then
describe the machine, as far as the tree follows it.

See the histograms at the bottom: what the support vector machine predicts for the rows
of each leaf. The orange line is the one number that the tree puts in their place;
narrow histograms close to it mean that the tree is a good summary.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret.surrogates import GlobalSurrogate, GlobalSurrogateDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
labels = y.map({0: "malignant", 1: "benign"})
X_train, X_test, y_train, y_test = train_test_split(
    X, labels, test_size=0.4, random_state=0, stratify=labels
)
machine = make_pipeline(StandardScaler(), SVC()).fit(X_train, y_train)
print("Accuracy of the machine on patients it never saw: ", end="")
print(f"{machine.score(X_test, y_test):.2f}")

# %%
# How far does each surrogate follow?
# -----------------------------------
#
# R squared between surrogate and machine, on the rows of the fit and on others, and the
# share of patients to whom both give the same label. The targets are the machine's
# predictions, so that no others are needed. Choose by the fidelity on patients that
# were not in the fit: it gains little beyond three questions in a row.
surrogates = {
    f"tree of depth {depth}": DecisionTreeRegressor(
        max_depth=depth, min_samples_leaf=10, random_state=0
    )
    for depth in (3, 5, 8)
}
surrogates["linear model"] = make_pipeline(StandardScaler(), RidgeCV())
print(f"{'':18}{'fitted':>8}{'others':>8}{'labels':>8}")
fitted = {}
for name, surrogate in surrogates.items():
    one = GlobalSurrogate(FrozenEstimator(machine), surrogate=surrogate).fit(X_train)
    same = (one.predict(X_test) == one.black_box_predict(X_test)).mean()
    print(f"{name:18}{one.fidelity_:8.2f}{one.fidelity_score(X_test):8.2f}{same:8.2f}")
    fitted[name] = one

# %%
# The tree of depth 3
# -------------------
#
# Below each leaf's path are the machine's own outputs for the patients that end there.
# Where they lie in one narrow heap around the tree's output, the path is a rule that
# the machine keeps. Where they are spread out, or lie on both sides of zero, where the
# label changes, the machine sees differences that the tree doesn't, and the path must
# not be trusted.
display = GlobalSurrogateDisplay.from_estimator(
    fitted["tree of depth 3"],
    X_train,
    response_name="Machine's output, malignant > 0",
    model_name="a support vector machine",
    surrogate_name="A tree of depth 3",
)
for leaf in display.to_frame().itertuples():
    print(f"{leaf.n_rows:3} patients, outputs {leaf.q05:5.2f} to {leaf.q95:5.2f}:")
    print(f"    {leaf.rule}")

# %%
# The linear model
# ----------------
#
# The change of the machine's output with one standard deviation of each measurement.
_ = GlobalSurrogateDisplay.from_estimator(
    fitted["linear model"], X_train, max_entries=12
)
