"""
How well does a linear model do with only a few features?
=========================================================

The lasso answers for all numbers of features at once: as its penalty falls, features
enter one by one, and ``SparseLinearRegressor`` stops before the one that would be too
many.

See the lines leave zero one after the other, from left to right, as the penalty falls:
bmi and s5 first. The numbers at the top count them.
"""

from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline

from sklearn_interpret.linear import (
    SparseLinearClassifier,
    SparseLinearRegressor,
    SparsePathDisplay,
)

# %%
# The ten measurements of a patient, one after the other
# ------------------------------------------------------
#
# Each line is a feature of the diabetes data, per standard deviation, so that lines can
# be compared. At the right end there is no penalty: there the lines are those of least
# squares, and two of them have run far apart, since s1 and s2, both of cholesterol, say
# nearly the same. Under a penalty they do not do that.
X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
whole = SparseLinearRegressor().fit(X, y)
_ = SparsePathDisplay.from_estimator(whole)

# %%
# R² on patients that the models have not seen, for each number of features, of the
# shrunken weights and of those fitted again without a penalty:
folds = KFold(10, shuffle=True, random_state=0)
print(f"{'features':>8}  {'enters':8}{'lasso':>8}{'again':>8}")
for size, feature in enumerate(whole.entry_order_, start=1):
    model = SparseLinearRegressor(n_features_to_select=size)
    again = make_pipeline(model, LinearRegression())
    scores = [cross_val_score(one, X, y, cv=folds).mean() for one in (model, again)]
    print(f"{size:8}  {X.columns[feature]:8}{scores[0]:8.3f}{scores[1]:8.3f}")

# %%
# Four of thirty measurements of a tumour
# ---------------------------------------
#
# A *logistic* path, of the breast cancer data, whose columns are in part nearly copies
# of each other. One that came in early has left again, when another took its place: its
# line is grey.
tumours, benign = load_breast_cancer(return_X_y=True, as_frame=True)
classifier = SparseLinearClassifier(n_features_to_select=4).fit(tumours, benign)
chosen = ", ".join(classifier.get_feature_names_out())
print(f"By {chosen}: accuracy {classifier.score(tumours, benign):.3f}")
_ = SparsePathDisplay.from_estimator(classifier)
