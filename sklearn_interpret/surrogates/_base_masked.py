"""What the local surrogates share that leave out parts of a whole: words, segments."""

from abc import abstractmethod
from functools import lru_cache

import numpy as np

from sklearn_interpret._core.local.masks import cosine_distances
from sklearn_interpret._model.parallel import slices
from sklearn_interpret.surrogates._base import Neighbourhood, Surroundings

# In cosine distance from the whole: so much as lime has it.
KERNEL_WIDTH = 0.25


class MaskedSurroundings(Surroundings):
    r"""Copies of a whole with some of its parts left out.

    A copy that keeps the share s of the parts weighs

    .. math:: \pi = \exp\left(-\frac{(1 - \sqrt{s})^2}{2 \sigma^2}\right).

    A subclass takes samples apart (`_apart`).

    Parameters
    ----------
    response : Response
        The model.
    draw : callable
        ``draw(n_parts, n_masks, rng)``: the `Masks`.
    n_samples : int
        How many copies.
    kernel_width : float or None
        The kernel's width sigma; None means 0.25.
    seed : list of int
        Of the draws. Wholes of as many parts get the same masks.
    """

    def __init__(self, response, draw, n_samples, kernel_width, seed):
        self.response = response
        self.draw = draw
        self.n_samples = n_samples
        self.kernel_width = KERNEL_WIDTH if kernel_width is None else kernel_width
        self.seed = seed

    @abstractmethod
    def _apart(self, sample):
        """A sample taken apart.

        Returns
        -------
        n_parts : int
            How many parts it has.
        together : callable
            ``together(kept)``: copies with the parts that are kept in each, (m,
            n_parts), as the model takes them.
        at_once : int
            How many copies to make at once.
        """

    def around(self, rows):
        """Neighbourhoods of samples, one after the other."""
        masks_of = lru_cache(maxsize=8)(self._masks)
        for sample in self._samples(rows):
            n_parts, together, at_once = self._apart(sample)
            masks = masks_of(n_parts)
            answers = [
                self.response(together(masks.kept[part]))
                for part in slices(len(masks.kept), at_once)
            ]
            distances = cosine_distances(masks.kept) / self.kernel_width
            yield Neighbourhood(
                design=masks.kept.astype(np.float64),
                answers=np.concatenate(answers),
                weights=masks.shares * np.exp(-(distances**2) / 2),
                own=np.ones(n_parts),
                complete=masks.complete,
            )

    def _samples(self, rows):
        """The samples, one after the other, as `_apart` takes them."""
        return rows.native

    def _masks(self, n_parts):
        rng = np.random.default_rng([*self.seed, n_parts])
        return self.draw(n_parts, self.n_samples, rng)
