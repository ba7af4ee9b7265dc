"""Sets of rows as bits, and the weights of the classes in them."""

import numpy as np

_WORD = 64
# Weights are whole numbers of a unit, at most so many in all, or so many for each row.
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
        What weights are multiples of.
    everything : ndarray of shape (n_words,), uint64
        The set of all rows.
    """

    def __init__(self, labels, weights, n_classes):
        sizes = np.bincount(labels, minlength=n_classes)
        ends = np.cumsum(-(-sizes // _WORD))
        starts = np.append(0, ends[:-1])
        self._words = list(map(slice, starts, ends))
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
        bits = np.zeros((len(flags), self._words[-1].stop * _WORD), dtype=bool)
        bits[:, self._bits] = flags
        return np.ascontiguousarray(np.packbits(bits, axis=1).view(np.uint64).T)

    def sums(self, sets):
        """Weights, in units, of each class in sets of rows.

        Parameters
        ----------
        sets : ndarray of shape (..., n_words, n_sets), uint64
            The sets.

        Returns
        -------
        ndarray of shape (n_classes, ..., n_sets), int
            The sums.
        """
        shape = len(self._words), *sets.shape[:-2], sets.shape[-1]
        total = np.zeros(shape, dtype=np.int64)
        for power, of_power in enumerate(self._of_power):
            own = sets & of_power[:, None] if len(self._of_power) > 1 else sets
            counts = np.bitwise_count(own)
            # Sums of many bytes are much faster in two bytes than in eight.
            dtype = np.uint16 if len(self._bits) < 2**16 else np.int64
            for of_class, words in zip(total, self._words, strict=True):
                sums = counts[..., words, :].sum(axis=-2, dtype=dtype)
                of_class += sums.astype(np.int64) << power
        return total


def _unit(weights):
    """What all weights are multiples of, at least nearly."""
    total = weights.sum()
    most = max(_MOST_UNITS, _MOST_UNITS_OF_ROW * len(weights))
    for unit in (1.0, weights.min()):
        units = weights / unit
        # What is 0.3 / 0.1?
        whole = np.abs(units - np.rint(units)) <= 1e-9 * units
        if whole.all() and total / unit <= most:
            return unit
    return total / most
