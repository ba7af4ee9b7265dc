"""The checks of the report, in its order."""

from sklearn_interpret.report import _explanation_checks as of_explanations
from sklearn_interpret.report import _model_checks as of_models

CHECKS = {
    check.__name__.rstrip("_"): check
    for check in (
        of_models.chance,
        of_models.overfit,
        of_models.leakage,
        of_models.imbalance,
        of_models.calibration,
        of_models.range_,
        of_models.ordinal,
        of_explanations.companions,
        of_explanations.outside,
        of_explanations.opposite,
        of_explanations.folds,
        of_explanations.noise,
        of_explanations.background,
    )
}
