"""Warnings and errors of the library's own."""

__all__ = [
    "AdditivityWarning",
    "ConstantFeatureWarning",
    "CostlyInspectionWarning",
    "DependentTermsWarning",
    "DisagreeingChainsWarning",
    "EmptyIntervalWarning",
    "ExtrapolationWarning",
    "FixedSumWarning",
    "InspectionWarning",
    "LowFidelityWarning",
    "LowWeightWarning",
    "NoAnchorWarning",
    "NoCounterfactualWarning",
    "NoRuleWarning",
    "NonFiniteResponseError",
    "OtherTrainingRowsWarning",
    "OverdispersionWarning",
    "RefitWarning",
    "SaturatedResponseWarning",
    "SeparationWarning",
    "SkippedSizeWarning",
    "UnconvergedDeletionWarning",
    "UndefinedFidelityWarning",
    "UndefinedShareWarning",
    "UnreadableModelError",
    "UnseenCategoryWarning",
]


class InspectionWarning(UserWarning):
    """Base of all warnings that an inspection raises about its own result."""


class AdditivityWarning(InspectionWarning):
    """Base value and attributions together miss predictions of the model."""


class ConstantFeatureWarning(InspectionWarning):
    """A feature has at most one observed value, so its effect is a single point."""


class CostlyInspectionWarning(InspectionWarning):
    """Much is about to be done: rows sent to the model, leaves summed, memory taken."""


class DependentTermsWarning(InspectionWarning):
    """Columns of a linear model depend on each other: their weights are arbitrary."""


class DisagreeingChainsWarning(InspectionWarning):
    """Markov chains sample different regions: shares of samples are no posterior."""


class EmptyIntervalWarning(InspectionWarning):
    """An interval of custom edges holds no row; its local effect is taken as zero."""


class ExtrapolationWarning(InspectionWarning):
    """Rows are beyond the training values of a feature, or in a wide gap of them."""


class FixedSumWarning(InspectionWarning):
    """Importances have one sum: a strong one spoils the p-values of the others."""


class LowFidelityWarning(InspectionWarning):
    """A surrogate follows the model poorly: it explains little of it."""


class NoAnchorWarning(InspectionWarning):
    """No rule of the wished precision was found, for some row."""


class NoCounterfactualWarning(InspectionWarning):
    """No row that the model answers as wished was found, for some row."""


class NoRuleWarning(InspectionWarning):
    """A classifier of rules predicts some class for no row that it was fitted on."""


class OtherTrainingRowsWarning(InspectionWarning):
    """Rows are not those a model was trained on: its objective is not least there."""


class OverdispersionWarning(InspectionWarning):
    """Targets vary more than their distribution says: errors are too small."""


class RefitWarning(InspectionWarning):
    """A fitted estimator was given bare, so that a clone of it is fitted again."""


class LowWeightWarning(InspectionWarning):
    """Weights sum to less than two rows, for which standard errors take them."""


class UndefinedShareWarning(InspectionWarning):
    """A share of a variance that is zero: it is undefined, and given as zero."""


class SaturatedResponseWarning(InspectionWarning):
    """Probabilities of 0 or 1 have no log-odds, and were clipped."""


class SeparationWarning(InspectionWarning):
    """Terms tell classes, or zeros, apart without error: no finite weights fit best."""


class SkippedSizeWarning(InspectionWarning):
    """A lasso path has nowhere as many features as asked for: it has fewer then."""


class UnconvergedDeletionWarning(InspectionWarning):
    """No optimum was found without some row: changes by it are not reliable."""


class UndefinedFidelityWarning(InspectionWarning):
    """A model responds alike wherever its surrogate was compared: R² is undefined."""


class UnseenCategoryWarning(InspectionWarning):
    """Rows carry a category that `fit` did not see; their effect is NaN."""


class NonFiniteResponseError(ValueError):
    """The model's response to some row is NaN, infinite, or beyond 1e75."""


class UnreadableModelError(TypeError):
    """A model that can't be read as what a method needs: a sum of trees, or linear."""
