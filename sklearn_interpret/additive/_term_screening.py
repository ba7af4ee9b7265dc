"""Score tests of single terms in a model without terms, which choose among many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from sklearn_interpret._core.additive.fitting import TargetRows
from sklearn_interpret._core.additive.gram import RoundedRows
from sklearn_interpret._core.additive.inference import term_test
from sklearn_interpret._core.additive.smoothing import PenalisedFit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sklearn_interpret._core.additive.fitting import (
        AdditiveProblem,
        Evaluation,
        Likelihood,
    )
    from sklearn_interpret._core.additive.gram import RoundedDesign
    from sklearn_interpret.additive._passes import CodedRows, Passes


def clearest_terms(
    problems: Sequence[AdditiveProblem], designs: Sequence[RoundedDesign], coded: Passes
) -> NDArray[np.intp]:
    """Positions of terms by the smallest p-value of their score tests in any model.

    `problems` are those of the models without terms, each of `designs` is one term.
    """
    tests = np.array([_null_tests(problem, designs, coded) for problem in problems])
    smallest = tests.min(axis=0)
    # The p-values of very clear terms are all zero.
    return np.lexsort((-tests[:, :, 1].max(axis=0), smallest[:, 0]))


def _null_tests(
    problem: AdditiveProblem, designs: Sequence[RoundedDesign], coded: Passes
) -> NDArray[np.float64]:
    """P-value and statistic of each term alone, (n_terms, 2)."""
    given = problem.likelihood, problem.start, designs
    evaluations = coded.sum(partial(_null_evaluations, *given))
    dispersion = problem.likelihood.family.dispersion
    tests = np.empty((len(designs), 2))
    for k, (design, evaluation) in enumerate(zip(designs, evaluations, strict=True)):
        equations = replace(problem, design=design).equations(evaluation)
        fit = PenalisedFit(equations, equations.start)
        block = slice(1, len(equations.sums))
        (information,) = fit.information_matrices([block])
        dof = np.inf if dispersion else problem.n_rows - 1
        scale = dispersion or equations.square / dof
        tests[k] = term_test(fit, block, information, scale, dof)[::-1]
    return tests


def _null_evaluations(
    likelihood: Likelihood,
    start: float,
    designs: Sequence[RoundedDesign],
    rows: CodedRows,
) -> NDArray[np.object_]:
    """The `Evaluation` of some rows for each term, in a model without terms."""
    evaluations: list[Evaluation] = []
    for design, term in zip(designs, rows.terms, strict=True):
        functions = RoundedRows(design, [term], len(rows.weights))
        of_term = TargetRows(functions, rows.targets, rows.weights, rows.offset)
        coefficients = np.zeros(design.coordinates.shape[1])
        coefficients[0] = start
        evaluations.append(likelihood.evaluate(coefficients, True, of_term))
    # An array of objects adds up term by term.
    return np.array(evaluations, dtype=object)
