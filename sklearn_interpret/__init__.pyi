"""Types for static checkers, written by .ci/make_stubs.py."""

from sklearn_interpret import additive as additive
from sklearn_interpret import adversarial as adversarial
from sklearn_interpret import base as base
from sklearn_interpret import counterfactuals as counterfactuals
from sklearn_interpret import datasets as datasets
from sklearn_interpret import decomposition as decomposition
from sklearn_interpret import diagnosis as diagnosis
from sklearn_interpret import effects as effects
from sklearn_interpret import estimator_checks as estimator_checks
from sklearn_interpret import exceptions as exceptions
from sklearn_interpret import explanations as explanations
from sklearn_interpret import importance as importance
from sklearn_interpret import influence as influence
from sklearn_interpret import interactions as interactions
from sklearn_interpret import linear as linear
from sklearn_interpret import partitions as partitions
from sklearn_interpret import prototypes as prototypes
from sklearn_interpret import report as report
from sklearn_interpret import rules as rules
from sklearn_interpret import shapley as shapley
from sklearn_interpret import surrogates as surrogates
from sklearn_interpret import survival as survival

__version__: str
