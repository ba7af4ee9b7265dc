"""Sets of rows as bits, and the weights of the classes in them."""

import numpy as np

_WORD = 64
# Words in a block, which fits the cache.
_BLOCK = 16
# Largest sum of the weights in units, in all or for each row if that is more.
_MOST_UNITS, _MOST_UNITS_OF_ROW = 2**20, 16


class PackedRows:
    """Weighted rows of classes; a set of them is a column of words of bits.

    The words of a class follow each other. Weights are sums of powers of two, so that
    the weight of a set takes no more than counting bits.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,), int
        Classes of the rows.
    weights : ndarray of shape (n_rows,)
        Weights of the rows, all positive.
    n_classes : int
        Number of classes.

    Attributes
    ----------
    unit : float
        Greatest common unit of the weights, at least nearly.
    everything : ndarray of shape (n_words,), uint64
        The set of all rows.
    """

    def __init__(self, labels, weights, n_classes):
        sizes = np.bincount(labels, minlength=n_classes)
        ends = np.cumsum(-(-sizes // _WORD))
        starts = np.append(0, ends[:-1])
        self._n_classes, self._n_words = n_classes, ends[-1]
        self._blocks = [
            (label, slice(first, min(first + _BLOCK, end)))
            for label, (start, end) in enumerate(zip(starts, ends, strict=True))
            for first in range(start, end, _BLOCK)
        ]
        # The rows of a class take its bits in their order.
        by_class = np.argsort(labels, kind="stable")
        skipped = starts * _WORD - (np.cumsum(sizes) - sizes)
        self._bits = np.empty_like(by_class)
        self._bits[by_class] = np.arange(len(labels)) + skipped[labels[by_class]]
        self.unit = _unit(weights)
        units = np.maximum(np.rint(weights / self.unit), 1).astype(np.int64)
        powers = np.arange(int(units.max()).bit_length())
        self._of_power = self.pack((units >> powers[:, None]) & 1 == 1).T
        self.everything = np.bitwise_or.reduce(self._of_power)

    def pack(self, flags):
        """Flags of rows (n_sets, n_rows) as words of sets (n_words, n_sets)."""
        bits = np.zeros((len(flags), self._n_words * _WORD), dtype=bool)
        bits[:, self._bits] = flags
        return np.ascontiguousarray(np.packbits(bits, axis=1).view(np.uint64).T)

    def sums(self, sets, within=None):
        """Weights, in units, of each class in sets of rows.

        Parameters
        ----------
        sets : ndarray of shape (..., n_words, n_sets), uint64
            The sets.
        within : ndarray of shape (n_words,), uint64, default=None
            The set of rows that count; by default all.

        Returns
        -------
        ndarray of shape (n_classes, ..., n_sets), int
            The sums.
        """
        within = self.everything if within is None else within
        shape = self._n_classes, *sets.shape[:-2], sets.shape[-1]
        total = np.zeros(shape, dtype=np.int64)
        for power, of_power in enumerate(self._of_power):
            counted = (within & of_power)[:, None]
            for label, words in self._blocks:
                own = np.bitwise_count(sets[..., words, :] & counted[words])
                # Sums of bytes are much faster in two bytes than in eight.
                sums = own.sum(axis=-2, dtype=np.uint16)
                total[label] += sums.astype(np.int64) << power
        return total


def _unit(weights):
    """A unit of which all weights are multiples, at least nearly."""
    total = weights.sum()
    most = max(_MOST_UNITS, _MOST_UNITS_OF_ROW * len(weights))
    for unit in (1.0, weights.min()):
        units = weights / unit
        # 0.3 / 0.1 is not 3 in floats.
        whole = np.abs(units - np.rint(units)) <= 1e-9 * units
        if whole.all() and total / unit <= most:
            return unit
    return total / most
