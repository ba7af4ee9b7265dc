"""Warnings and errors of the library."""

__all__ = [
    "AdditivityWarning",
    "BalancedClassesWarning",
    "ConstantFeatureWarning",
    "CostlyInspectionWarning",
    "DependentTermsWarning",
    "DisagreeingChainsWarning",
    "EmptyIntervalWarning",
    "ExtrapolationWarning",
    "FixedSumWarning",
    "IdentifierWarning",
    "InspectionWarning",
    "LeverageWarning",
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
    "WeakNuisanceWarning",
]


class InspectionWarning(UserWarning):
    """Base of all warnings that an inspection raises about its own result."""


class AdditivityWarning(InspectionWarning):
    """Base value and attributions do not sum to a prediction of the model."""


class BalancedClassesWarning(InspectionWarning):
    """Balanced weights of classes change without a row, and are held as they are."""


class ConstantFeatureWarning(InspectionWarning):
    """A feature has at most one observed value, so its effect is a single point."""


class CostlyInspectionWarning(InspectionWarning):
    """The work ahead is large: rows sent to the model, leaves summed, or memory."""


class DependentTermsWarning(InspectionWarning):
    """Columns of a linear model depend on each other: their weights are arbitrary."""


class DisagreeingChainsWarning(InspectionWarning):
    """Markov chains differ: shares of samples do not estimate the posterior."""


class EmptyIntervalWarning(InspectionWarning):
    """An interval of custom edges holds no row; its local effect is taken as zero."""


class ExtrapolationWarning(InspectionWarning):
    """Rows are beyond the training values of a feature, or in a wide gap of values."""


class FixedSumWarning(InspectionWarning):
    """Importances have a fixed sum: a strong one distorts the others' p-values."""


class IdentifierWarning(InspectionWarning):
    """A column has a level for each row or two: no rules on it are sought."""


class LeverageWarning(InspectionWarning):
    """Single rows determine terms of a linear model alone: their errors are unknown."""


class LowFidelityWarning(InspectionWarning):
    """A surrogate has low fidelity: it explains little of the model's variance."""


class NoAnchorWarning(InspectionWarning):
    """For some row, no rule of the required precision was found."""


class NoCounterfactualWarning(InspectionWarning):
    """For some row, no row that satisfies the target was found."""


class NoRuleWarning(InspectionWarning):
    """A rule classifier predicts some class for no row that it was fitted on."""


class OtherTrainingRowsWarning(InspectionWarning):
    """Rows differ from the training rows of a frozen model: it is not optimal there."""


class OverdispersionWarning(InspectionWarning):
    """Targets vary more than the distribution implies: errors are too small."""


class RefitWarning(InspectionWarning):
    """An estimator is fitted, but not frozen: a clone of it is fitted again."""


class LowWeightWarning(InspectionWarning):
    """Weights sum to less than two, which standard errors use as number of rows."""


class UndefinedShareWarning(InspectionWarning):
    """A share of a zero variance is undefined, and set to zero."""


class SaturatedResponseWarning(InspectionWarning):
    """Probabilities of 0 or 1 have no log-odds, and were clipped."""


class SeparationWarning(InspectionWarning):
    """Terms separate classes, or zeros, perfectly: no finite weights are optimal."""


class SkippedSizeWarning(InspectionWarning):
    """A lasso path skips the requested number of features: it has fewer."""


class UnconvergedDeletionWarning(InspectionWarning):
    """No optimum was found without some row: changes by its removal are unreliable."""


class UndefinedFidelityWarning(InspectionWarning):
    """A model is constant where its surrogate was evaluated: R² is undefined."""


class UnseenCategoryWarning(InspectionWarning):
    """Rows have a category that `fit` did not see; their effect is NaN."""


class WeakNuisanceWarning(InspectionWarning):
    """A nuisance regression leaves a part that other features explain.

    P-values that rest on it may be too small.
    """


class NonFiniteResponseError(ValueError):
    """The model's response to some row is NaN, infinite, or beyond 1e75."""


class UnreadableModelError(TypeError):
    """A model that can't be read as what a method needs: a sum of trees, or linear."""
