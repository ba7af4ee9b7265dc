"""Warnings and errors of the library's own."""

__all__ = [
    "AdditivityWarning",
    "ConstantFeatureWarning",
    "EmptyIntervalWarning",
    "InspectionWarning",
    "LowFidelityWarning",
    "NonFiniteResponseError",
    "UndefinedFidelityWarning",
    "UnreadableModelError",
    "UnseenCategoryWarning",
]


class InspectionWarning(UserWarning):
    """Base of all warnings that an inspection raises about its own result."""


class AdditivityWarning(InspectionWarning):
    """Base value and attributions together miss predictions of the model."""


class ConstantFeatureWarning(InspectionWarning):
    """A feature has at most one observed value, so its effect is a single point."""


class EmptyIntervalWarning(InspectionWarning):
    """An interval of custom edges holds no row; its local effect is taken as zero."""


class LowFidelityWarning(InspectionWarning):
    """A surrogate follows the model poorly: it explains little of it."""


class UndefinedFidelityWarning(InspectionWarning):
    """A model responds alike wherever its surrogate was compared: R² is undefined."""


class UnseenCategoryWarning(InspectionWarning):
    """Rows carry a category that `fit` did not see; their effect is NaN."""


class NonFiniteResponseError(ValueError):
    """The model's response to some row is NaN or infinite."""


class UnreadableModelError(TypeError):
    """A model that can't be read as what a method needs: a sum of trees, or linear."""
