"""Which digits stand for all, and which does nothing stand for?

Handwritten digits, of which MMD-critic chooses a few *prototypes*: digits that, taken
together, are distributed most like all of them. Then it chooses *criticisms*: digits
where the prototypes stand for too many or too few others, and that are unlike each
other. Prototypes alone make data look tidier than they are; the criticisms show what
the tidy picture leaves out. They are where models err: the output has the share of
digits that support vectors read wrongly when they were fitted without them, among the
criticisms and among all.

Prototypes are also a model that needs no words: a digit is what the prototype nearest
to it is. The table compares how many are read rightly that way with prototypes by
MMD-critic, chosen within each class, and with medoids, that are chosen to be near to
all others.

The first figure has prototypes, above, and criticisms; the second where they lie among
all digits, on the two principal components. These keep but a part of the distances, so
that a criticism may well lie in the midst of others there.

Run it as ``python doc/examples/prototypes/plot_prototypes.py``. It prints the table and
saves two figures in ``figures/``.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only, no screen needed

from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.svm import SVC

from sklearn_interpret.prototypes import (
    KMedoids,
    MMDCritic,
    NearestPrototypeClassifier,
    PrototypeDisplay,
)

FIGURES = Path("figures")


def make_critic(**parameters):
    """Return a selector of prototypes; pixels have one unit, and are not scaled."""
    return MMDCritic(standardize=False, random_state=0, **parameters)


def main():
    """Choose and draw digits, and read others by the nearest prototype."""
    X, y = load_digits(return_X_y=True)
    critic = make_critic(n_prototypes=20, n_criticisms=10).fit(X)
    print(f"Prototypes: {y[critic.prototype_indices_]}")
    print(f"Criticisms: {y[critic.criticism_indices_]}")
    mmd = critic.mmd_
    print(f"Squared discrepancy after 1 and after 20: {mmd[0]:.4f}, {mmd[-1]:.4f}")

    many = make_critic(n_prototypes=20, n_criticisms=100).fit(X)
    wrong = cross_val_predict(SVC(), X, y, cv=5) != y
    among = wrong[many.criticism_indices_].mean()
    print(f"\nRead wrongly by support vectors: {wrong.mean():.1%} of all digits,")
    print(f"{among:.1%} of the first 100 criticisms")

    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.4, stratify=y, random_state=0
    )
    print("\nDigits read rightly by the nearest prototype")
    print(f"{'prototypes':>12}{'MMD-critic':>12}{'medoids':>10}")
    for each in (1, 2, 5, 10):
        selectors = (
            make_critic(n_prototypes=each, n_criticisms=0, by_class=True),
            KMedoids(n_clusters=10 * each, random_state=0),
        )
        scores = [
            NearestPrototypeClassifier(selector=selector)
            .fit(X_train, y_train)
            .score(X_test, y_test)
            for selector in selectors
        ]
        print(f"{10 * each:12}{scores[0]:12.2f}{scores[1]:10.2f}")

    FIGURES.mkdir(exist_ok=True)
    for kind in ("images", "map"):
        display = PrototypeDisplay.from_estimator(
            critic, X, y, image_shape=(8, 8), kind=kind
        )
        path = FIGURES / f"prototypes_{kind}.png"
        display.figure_.savefig(path, dpi=150)
        print(f"Figure: {path.resolve()}")


if __name__ == "__main__":
    main()
