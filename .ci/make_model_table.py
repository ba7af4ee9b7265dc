"""Write the table of the models that are read, in the README and in the guide.

It is computed from the readers. Run this script after a change of them; a test fails
while a table is stale.
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.ensemble import IsolationForest
from sklearn.linear_model._base import LinearClassifierMixin, LinearModel
from sklearn.utils import all_estimators

sys.path.insert(0, str(Path(__file__).parents[1]))
from sklearn_interpret._model.formulas import linear, naive_bayes
from sklearn_interpret._model.formulas.trees import tree_response
from sklearn_interpret._model.gradients import models, objectives
from sklearn_interpret._model.training_weights.boosting import BOOSTING
from sklearn_interpret._model.training_weights.leaves import LEAF_MEANS
from sklearn_interpret._model.training_weights.readers import READERS

ROOT = Path(__file__).parents[1]
LIBRARIES = {
    "sklearn": "scikit-learn",
    "sklearn_interpret": "this package",
    "xgboost": "XGBoost",
    "lightgbm": "LightGBM",
    "catboost": "CatBoost",
    "interpret": "interpret",
    "sksurv": "scikit-survival",
    "statsmodels": "statsmodels",
    "pygam": "pyGAM",
}
# Bases, of which the linear classes of scikit-learn are subclasses.
BASES = {LinearModel, LinearClassifierMixin}
# Classes that hold other models, of which the text says so, or are read to be refused.
HOLDERS = {*("ModelDifference", "Pipeline", "BaseSearchCV", "AdaBoostRegressor")}
# Classes of other libraries, by what their users call them.
NAMES = {
    "XGBModel": "all models of trees",
    "LGBMModel": "all models",
    "CatBoost": "all models of numbers",
    "CatBoostRanker": "",
    "SparseLinearModel": "SparseLinear*",
}
# Models of other libraries that classes of this package stand for.
STANDS_FOR = {
    "LightGBMBooster": ("lightgbm", ""),
    "LinearResults": ("statsmodels", "results of OLS, WLS, GLS, RLM, QuantReg"),
}


class Kind(NamedTuple):
    """What models are read as, what is then exact, and the readers' classes."""

    name: str
    exact: str
    classes: Iterable[Any]


def kinds() -> list[Kind]:
    """The kinds of models, from the readers."""
    return [
        Kind(
            "sums of trees",
            "effects, interactions, Shapley values, permutation importance of all "
            "pairs, counterfactuals, adversarial examples, paths",
            [cls for cls in tree_response._READERS if cls is not IsolationForest],
        ),
        Kind(
            "mean path lengths of trees",
            "TreeSHAP, TreePathContributions, and with "
            'response_method="score_samples" effects and interactions',
            [IsolationForest],
        ),
        Kind(
            "linear functions",
            "LinearSHAP, permutation importance, SAGE, counterfactuals, attacks (SVC, "
            "SVR: of linear kernels)",
            [*linear._LINEAR, *linear._SUPPORT_VECTORS],
        ),
        Kind("sums of log-odds", "NaiveBayesContributions", naive_bayes._TERMS),
        Kind("smooth functions", "gradients of attacks", models._READERS),
        Kind(
            "weighted sums of targets",
            "PredictionWeights",
            [
                cls
                for cls in READERS
                if not (cls in BOOSTING and "Classifier" in str(cls))
            ],
        ),
        Kind(
            "losses with slopes",
            "InfluenceFunctions",
            [*objectives._LOSSES, *LEAF_MEANS, *BOOSTING],
        ),
    ]


def named(classes: Iterable[Any]) -> dict[str, list[str]]:
    """Names of classes by library; those of bases are the names of their subclasses."""
    found: dict[str, set[str]] = {}
    for cls in classes:
        if isinstance(cls, tuple):
            package, name = cls
        else:
            package, name = cls.__module__.partition(".")[0], cls.__name__
            package, name = STANDS_FOR.get(name, (package, name))
        names = {name}
        if cls in BASES:
            names = {n for n, sub in all_estimators() if issubclass(sub, cls)}
        names = {NAMES.get(n, n) for n in names - HOLDERS} - {""}
        found.setdefault(LIBRARIES[package], set()).update(names)
    return {library: shortened(names) for library, names in found.items() if names}


def shortened(names: set[str]) -> list[str]:
    """Sorted names: "Ridge*" for those of a stem and an ending, where there are two."""
    stems: dict[str, set[str]] = {}
    for name in names:
        stem = re.sub("(Classifier|Regressor)?(CV)?$", "", name)
        stems.setdefault(stem, set()).add(name)
    return sorted(
        f"{stem}*" if len(members) > 1 else members.pop()
        for stem, members in stems.items()
    )


def in_words(kind: Kind) -> str:
    """The classes of a kind, library by library."""
    found = named(kind.classes)
    return "; ".join(
        f"{library}: {', '.join(names)}"
        for library, names in sorted(found.items(), key=lambda item: item[0].lower())
    )


def in_markdown() -> str:
    """The table of the README."""
    lines = ["| read as | exact | models |", "|---|---|---|"]
    lines += [f"| {k.name} | {k.exact} | {in_words(k)} |" for k in kinds()]
    return "\n".join(lines)


def in_rst() -> str:
    """The table of the guide."""
    lines = [
        ".. list-table::",
        "   :header-rows: 1",
        "   :widths: 16 30 54",
        "",
        "   * - read as",
        "     - exact",
        "     - models",
    ]
    for kind in kinds():
        lines += [f"   * - {kind.name}", f"     - {kind.exact}"]
        lines += [f"     - {in_words(kind)}"]
    return "\n".join(lines)


# Pages, with the marks between which each has its table.
PAGES = {
    ROOT / "README.md": ("<!-- models -->", "<!-- end of models -->", in_markdown),
    ROOT / "doc" / "user_guide" / "which_method.rst": (
        ".. models",
        ".. end of models",
        in_rst,
    ),
}


def page(path: Path) -> str:
    """A page with the table of now."""
    begin, end, table = PAGES[path]
    before, _, rest = path.read_text(encoding="utf-8").partition(f"{begin}\n")
    _, _, after = rest.partition(f"{end}\n")
    return f"{before}{begin}\n\n{table()}\n\n{end}\n{after}"


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(page(path), encoding="utf-8")
