"""
Which digits stand for all, and which does nothing stand for?
=============================================================

Handwritten digits, of which MMD-critic chooses a few *prototypes*: digits that, taken
together, are distributed most like all of them. Then it chooses *criticisms*: digits
where the prototypes stand for too many or too few others, and that are unlike each
other. Prototypes alone make data look tidier than they are; the criticisms show what
the tidy picture leaves out.

See the prototypes (blue frames), which are well written, and the criticisms (orange
frames), most of which are not.
"""

from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.svm import SVC

from sklearn_interpret.prototypes import (
    KMedoids,
    MMDCritic,
    NearestPrototypeClassifier,
    PrototypeDisplay,
)

X, y = load_digits(return_X_y=True)
# Pixels have one unit, and are not scaled.
RAW = {"standardize": False, "random_state": 0}

# %%
# Prototypes, above, and criticisms
# ---------------------------------
critic = MMDCritic(n_prototypes=20, n_criticisms=10, **RAW).fit(X)
mmd = critic.mmd_
print(f"Squared discrepancy after 1 and after 20: {mmd[0]:.4f}, {mmd[-1]:.4f}")
_ = PrototypeDisplay.from_estimator(critic, X, y, image_shape=(8, 8), kind="images")

# %%
# Where they lie among all digits, on the two principal components. These keep but a
# part of the distances, so that a criticism may well lie in the midst of others there.
_ = PrototypeDisplay.from_estimator(critic, X, y, image_shape=(8, 8), kind="map")

# %%
# Criticisms are where models err
# -------------------------------
#
# The share of digits that support vectors read wrongly when they were fitted without
# them, among the criticisms and among all:
many = MMDCritic(n_prototypes=20, n_criticisms=100, **RAW).fit(X)
wrong = cross_val_predict(SVC(), X, y, cv=5) != y
print(f"{wrong.mean():.1%} of all digits, ", end="")
print(f"{wrong[many.criticism_indices_].mean():.1%} of the first 100 criticisms")

# %%
# A model that needs no words
# ---------------------------
#
# A digit is what the prototype nearest to it is. The table compares how many are read
# rightly that way with prototypes by MMD-critic, chosen within each class, and with
# medoids, that are chosen to be near to all others.
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.4, stratify=y, random_state=0
)
print(f"{'prototypes':>12}{'MMD-critic':>12}{'medoids':>10}")
for each in (1, 2, 5, 10):
    selectors = (
        MMDCritic(n_prototypes=each, n_criticisms=0, by_class=True, **RAW),
        KMedoids(n_clusters=10 * each, random_state=0),
    )
    scores = [
        NearestPrototypeClassifier(selector=one).fit(X_train, y_train)
        for one in selectors
    ]
    scores = [model.score(X_test, y_test) for model in scores]
    print(f"{10 * each:12}{scores[0]:12.2f}{scores[1]:10.2f}")
