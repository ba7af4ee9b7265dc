"""The search for pairs of features that interact in what an additive model leaves."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from sklearn_interpret._core.additive.pairs import Groups, PairSums, clearest_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sklearn_interpret._core.additive.fitting import AdditiveFit, Likelihood
    from sklearn_interpret._core.additive.gram import RoundedDesign
    from sklearn_interpret.additive._passes import CodedRows, Passes

# Two columns.
Pair = tuple[int, int]

# Most pairs that are added before the model is fitted again: more save fits, but some
# of them may explain the same residuals.
_PAIRS_PER_ROUND = 3
# Largest p-value of a pair that is added, times the number of pairs.
_LEVEL = 0.01
# Residuals below this share of a deviance are not searched: columns are rounded to
# bins, which leaves more than rounding errors.
_NEGLIGIBLE = 1e-5
# Pairs whose sums are in memory at a time.
_PAIRS_IN_MEMORY = 20_000


@dataclass(frozen=True)
class PairSearch:
    """Finds pairs of features by the residuals of fitted models.

    Parameters
    ----------
    terms : dict of int to int
        Position of each feature's own term, by the position of the feature.
    groups : dict of int to Groups
        Groups of the bins of each feature.
    """

    terms: dict[int, int]
    groups: dict[int, Groups]

    def find(
        self, fits: list[AdditiveFit], coded: Passes, skip: Collection[Pair], most: int
    ) -> dict[Pair, float]:
        """P-values of pairs that interact in any model, the clearest first.

        They are multiplied by the number of pairs and models.
        """
        all_pairs = list(combinations(self.terms, 2))
        pairs = [pair for pair in all_pairs if pair not in skip]
        n_tests = max(len(fits) * len(all_pairs), 1)
        pvalues: dict[Pair, float] = {}
        for fit in fits:
            if fit.evaluation.deviance <= _NEGLIGIBLE * fit.start_deviance:
                continue
            for start in range(0, len(pairs), _PAIRS_IN_MEMORY):
                batch = pairs[start : start + _PAIRS_IN_MEMORY]
                given = fit.problem.likelihood, fit.problem.design, fit.coefficients
                sums = coded.sum(partial(_pair_sums, self, batch, *given))
                found = clearest_pairs(sums, self.groups, batch, _LEVEL / n_tests)
                for pair, pvalue in found:
                    pvalues[pair] = min(pvalue * n_tests, pvalues.get(pair, 1.0))
        ordered = sorted(pvalues, key=pvalues.__getitem__)
        return {pair: pvalues[pair] for pair in ordered[: min(most, _PAIRS_PER_ROUND)]}


def _pair_sums(
    search: PairSearch,
    pairs: Sequence[Pair],
    likelihood: Likelihood,
    design: RoundedDesign,
    coefficients: NDArray[np.float64],
    rows: CodedRows,
) -> PairSums:
    """Sums of the working residuals of some rows in the cells of pairs."""
    target_rows = rows.with_design(design)
    residuals, weights = likelihood.working_residuals(coefficients, target_rows)
    copies = np.ones_like(weights) if likelihood.trials else rows.weights
    codes = {
        j: groups.of_values[rows.terms[search.terms[j]].codes[-1]]
        for j, groups in search.groups.items()
    }
    dispersion = likelihood.family.dispersion or 0.0
    given = residuals, weights, copies, dispersion
    return PairSums.of_rows(codes, search.groups, pairs, *given)
