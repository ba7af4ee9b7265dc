"""The checks of the report by name, in its order."""

from sklearn_interpret.report import _explanation_checks as of_explanations
from sklearn_interpret.report import _model_checks as of_models
from sklearn_interpret.report._failures import check_slices

CHECKS = {
    "chance": of_models.check_chance,
    "overfit": of_models.check_overfit,
    "leakage": of_models.check_leakage,
    "imbalance": of_models.check_imbalance,
    "calibration": of_models.check_calibration,
    "range": of_models.check_range,
    "ordinal": of_models.check_ordinal_codes,
    "slices": check_slices,
    "companions": of_explanations.check_shared_importance,
    "outside": of_explanations.check_permuted_rows,
    "opposite": of_explanations.check_opposite_curves,
    "folds": of_explanations.check_importance_stability,
    "noise": of_explanations.check_noise_importance,
    "background": of_explanations.check_shapley_background,
}
