"""Rows put side by side that trees treat alike."""

import numpy as np

# Cells in which rows are put: sorting small whole numbers takes one pass for each byte.
_N_BITS = 16


def order_of_likeness(ensemble, codes):
    """Order in which rows that go the same ways in trees come near to each other.

    Each feature is cut into parts of equally many rows, twice as many for each of its
    bits, and features get bits as the trees split on them: first those that most rows
    come to. Rows are ordered by the bits, the first ones first.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    codes : ndarray of shape (n_rows, n_features), int
        The rows' codes.

    Returns
    -------
    ndarray of shape (n_rows,), intp
    """
    cells = np.zeros(len(codes), dtype=np.uint16)
    bits = _features_of_bits(ensemble)
    for j in np.unique(bits):
        which = np.flatnonzero(bits == j)
        counts = np.bincount(codes[:, j], minlength=ensemble.split_codes.n_codes[j])
        middle = (np.cumsum(counts) - counts / 2) / len(codes)
        parts = (middle * 2 ** len(which)).astype(np.uint16)
        spread = np.zeros(len(parts), dtype=np.uint16)
        for place, bit in enumerate(which.tolist()):
            digit = (parts >> (len(which) - 1 - place)) & 1
            spread |= digit << (_N_BITS - 1 - bit)
        cells |= spread.take(codes[:, j])
    return np.argsort(cells, kind="stable")


def _features_of_bits(ensemble):
    """The feature that each bit is taken from."""
    inner = np.flatnonzero(~ensemble.is_leaf)
    # A bit halves how many rows' ways part at the feature's splits.
    parting = np.bincount(
        ensemble.feature[inner], ensemble.cover[inner], ensemble.n_features
    )
    features = []
    for _ in range(_N_BITS):
        features.append(int(parting.argmax()))
        parting[features[-1]] /= 2
    return np.array(features)
