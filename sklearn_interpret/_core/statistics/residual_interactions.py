"""How much of a feature's attributions other features explain, given its own value."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.statistics.weighted import weighted_quantile

# Most bins of the feature's observed values: slopes within them follow its curve. This
# and the next numbers are chosen by hand.
MAX_BINS = 20
# Fewest rows of a bin of many values, on average: a line has two degrees of freedom.
ROWS_PER_BIN = 20
# Groups of another feature within a bin, of five rows each where rows are few.
N_GROUPS = 4
# Up to this number of distinct values, such as levels, each is a group.
MAX_LEVELS = 12
# A share counts where it exceeds this many of its standard deviations under chance: it
# is compared for many pairs of features.
N_DEVIATIONS = 3.5
# A feature whose own value leaves no more than this share of the variance acts alone.
NEGLIGIBLE = 1e-3
# Bins whose deviations are below this share of the largest hold rounding.
ROUNDING = 1e-6


def quantile_codes(
    values: NDArray[np.float64],
    n_groups: int,
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.intp]:
    """Codes 0, 1, ... of groups of about equal size; missing values are the last group.

    Equal values share a group; up to `MAX_LEVELS` distinct values have a group each.
    """
    observed = np.isfinite(values)
    codes = np.full(len(values), n_groups, dtype=np.intp)
    distinct = np.unique(values[observed])
    if 0 < len(distinct) <= max(n_groups, MAX_LEVELS):
        codes[:] = len(distinct)
        codes[observed] = np.searchsorted(distinct, values[observed])
    elif len(distinct):
        shares = np.arange(1, n_groups) / n_groups
        weights = None if weights is None else weights[observed]
        cuts = weighted_quantile(values[observed], shares, weights)
        codes[observed] = np.searchsorted(cuts, values[observed], side="left")
    return np.unique(codes, return_inverse=True)[1]


def residual_strengths(
    attributions: NDArray[np.float64],
    feature: NDArray[np.float64],
    companions: Sequence[NDArray[np.float64]] | NDArray[np.float64],
) -> NDArray[np.float64]:
    """Adjusted share of the residual variance that each other feature explains.

    Rows are grouped by the feature's own value. Within a group its attributions (n,)
    vary by the slope along that value, a line that is subtracted, and by interactions.
    Each group is then split by another feature; if it interacts, the means of the cells
    differ. The share is adjusted for the number of cells, so that its expectation is
    zero without an interaction; shares that chance alone easily gives count as zero.

    `feature` (n,) and each of `companions` are values or codes of levels, NaN where
    missing. The result has one number from zero to one for each of `companions`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret._core.statistics.residual_interactions import (
    ...     residual_strengths,
    ... )
    >>> rng = np.random.default_rng(0)
    >>> a, b, c = rng.normal(size=(3, 500))
    >>> strengths = residual_strengths(a * (b > 0), a, [b, c])
    >>> bool(strengths[0] > 0.3), float(strengths[1])
    (True, 0.0)
    """
    n_bins = int(np.clip(len(feature) // ROWS_PER_BIN, 1, MAX_BINS))
    bins = quantile_codes(feature, n_bins)
    scale = np.abs(attributions).max(initial=0.0)
    if scale > 0:  # squares of huge or tiny numbers overflow
        attributions = attributions / scale
    residuals = _subtract_lines(attributions, feature, bins)
    spread = ((attributions - attributions.mean()) ** 2).sum()
    strengths = np.zeros(len(companions))
    if residuals @ residuals <= NEGLIGIBLE * spread:
        return strengths
    # Residuals of curves are largest in the outer bins: bins are standardised for the
    # comparison with chance.
    deviations = np.sqrt(_group_means(residuals**2, bins))
    selected = np.flatnonzero((deviations > ROUNDING * deviations.max())[bins])
    residuals = residuals[selected]
    bins = np.unique(bins[selected], return_inverse=True)[1]
    standardised = residuals / np.sqrt(_group_means(residuals**2, bins))[bins]
    for position, companion in enumerate(companions):
        groups = quantile_codes(companion[selected], N_GROUPS)
        cells = bins * (groups.max() + 1) + groups
        cells = np.unique(cells, return_inverse=True)[1]
        # Degrees of freedom within cells, and of cells within bins.
        dof_within = len(cells) - cells.max() - 1
        dof_between = cells.max() - bins.max()
        if dof_within < 1:
            continue
        # Standard deviation of a share without an interaction.
        by_chance = np.sqrt(2 * dof_between) / dof_within
        standardised_share = _adjusted_share(standardised, cells, dof_between)
        if standardised_share > N_DEVIATIONS * by_chance:
            share = _adjusted_share(residuals, cells, dof_between)
            strengths[position] = max(share, 0.0)
    return strengths


def _adjusted_share(
    values: NDArray[np.float64], cells: NDArray[np.intp], dof_between: int
) -> float:
    """Share of the sum of squares between cells, adjusted for their number."""
    dof_within = len(values) - cells.max() - 1
    deviations = values - _group_means(values, cells)[cells]
    total = values @ values / (dof_within + dof_between)
    return 1 - (deviations @ deviations / dof_within) / total


def _group_means(
    values: NDArray[np.float64], codes: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Mean of each group."""
    return np.bincount(codes, values) / np.bincount(codes)


def _subtract_lines(
    values: NDArray[np.float64], feature: NDArray[np.float64], codes: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Values less the least-squares line along a feature within each group."""
    feature = np.where(np.isfinite(feature), feature, 0.0)
    scale = np.abs(feature).max(initial=0.0)
    feature = feature / scale if scale > 0 else feature
    values = values - _group_means(values, codes)[codes]
    feature = feature - _group_means(feature, codes)[codes]
    squares = np.bincount(codes, feature**2)
    products = np.bincount(codes, feature * values)
    slopes = np.divide(
        products, squares, out=np.zeros_like(products), where=squares > 1e-12
    )
    return values - slopes[codes] * feature
