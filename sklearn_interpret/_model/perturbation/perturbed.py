"""Responses to altered rows: some columns exchanged, everything else as it was.

One primitive serves all methods that move features: each row stands in a batch with
all of its variants next to each other, one exchanged column is written into a standing
work copy, and one call of the model answers the batch. Variants of a row take similar
paths through a tree, which makes this order two to four times faster for forests than
one call per grid value.
"""

from collections import namedtuple
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from joblib import effective_n_jobs

from sklearn_interpret._model.parallel import batch_rows, run


@dataclass(frozen=True)
class Replacement:
    """What some columns are exchanged for, variant by variant.

    Parameters
    ----------
    columns : tuple of int
        Columns to exchange.
    levels : tuple of native vectors
        For each column, the values that occur.
    codes : tuple of ndarray of shape (1 or n_rows, n_variants)
        For each column, which of its values stands in which row and variant. A first
        axis of length one means the same for every row.
    rows : ndarray of int or None
        Rows that take part; None means all.
    together : bool, default=False
        Whether all variants of a row are needed in one block.
    """

    columns: tuple
    levels: tuple
    codes: tuple
    rows: np.ndarray | None = None
    together: bool = False

    @property
    def n_variants(self):
        """Number of altered copies of each row."""
        return self.codes[0].shape[1]

    def recast(self, rows):
        """The same exchange, with its values as another container has them."""
        pairs = zip(self.columns, self.levels, strict=True)
        levels = tuple(rows.cast(j, np.asarray(level)) for j, level in pairs)
        return replace(self, levels=levels)


Block = namedtuple("Block", "which start stop first last")


def altered_responses(
    response,
    rows,
    replacements,
    reduce,
    *,
    merge=None,
    n_jobs=None,
    verbose=0,
    on_block=None,
):
    """Send altered rows to the model and reduce its answers block by block.

    Parameters
    ----------
    response : Response
        The model.
    rows : Rows
        The rows to alter.
    replacements : list of Replacement
        What to exchange.
    reduce : callable
        ``reduce(which, index, variants, answers)``: the number of the replacement,
        the rows' positions, a slice of variants, and answers of shape (n_rows,
        n_variants, n_outputs). Its results are collected.
    merge : callable, optional
        ``merge(earlier, later)``: the results of two blocks of rows for the same
        variants as one. Without it all results are kept until the end.
    n_jobs : int or None, default=None
        Workers.
    verbose : int, default=0
        Passed to joblib.
    on_block : callable, optional
        Called with no arguments after each block.

    Returns
    -------
    list of list
        For each replacement, the reduced blocks, in the order of rows and variants
        (merged ones in the order of variants); neither which blocks there are nor the
        order in which they are merged depends on `n_jobs`.
    """
    blocks = _plan(replacements, rows)
    workers = effective_n_jobs(n_jobs)
    if workers <= 1:
        answered = _answer(response, rows, replacements, reduce, blocks)
        collected = zip(blocks, answered, strict=True)
    else:
        groups = _split(blocks, 4 * workers)
        tasks = [(response, rows, replacements, reduce, group) for group in groups]
        answered = run(_answer_all, tasks, n_jobs=n_jobs, verbose=verbose)
        collected = (
            pair
            for group, answers in zip(groups, answered, strict=True)
            for pair in zip(group, answers, strict=True)
        )
    keyed = [{} for _ in replacements]
    for block, answer in collected:
        kept = keyed[block.which]
        if merge is None:
            kept[block.start, block.first] = answer
        elif block.first in kept:
            kept[block.first] = merge(kept[block.first], answer)
        else:
            kept[block.first] = answer
        if on_block is not None:
            on_block()
    return [[kept[place] for place in sorted(kept)] for kept in keyed]


def plain_responses(response, rows):
    """Responses to the rows as they are, in batches: (n_rows, n_outputs)."""
    height = batch_rows(rows.row_bytes)
    if rows.n_rows <= height:
        return response(rows.native)
    index = np.arange(rows.n_rows)
    return np.concatenate(
        [
            response(rows.take(index[start : start + height]).native)
            for start in range(0, rows.n_rows, height)
        ]
    )


def count_outputs(response, rows):
    """Number of the model's outputs, asked with a single row."""
    return plain_responses(response, rows.take([0])).shape[1]


def _plan(replacements, rows):
    """Blocks of rows x variants within the batch size.

    Blocks over the same rows with as many variants come together, so that they share
    one work copy.
    """
    limit = batch_rows(rows.row_bytes)
    blocks = []
    for which, replacement in enumerate(replacements):
        if not replacement.n_variants:  # a grid without points
            continue
        n_rows = rows.n_rows if replacement.rows is None else len(replacement.rows)
        width = replacement.n_variants
        if not replacement.together:
            width = min(width, limit)
        height = max(1, limit // width)
        for start in range(0, n_rows, height):
            for first in range(0, replacement.n_variants, width):
                last = min(first + width, replacement.n_variants)
                stop = min(start + height, n_rows)
                blocks.append(Block(which, start, stop, first, last))
    return sorted(blocks, key=lambda b: (b.last - b.first, b.start, b.stop, b.which))


def _split(blocks, n_groups):
    """Consecutive groups of about equal length."""
    edges = np.linspace(0, len(blocks), min(n_groups, len(blocks)) + 1).astype(int)
    return [blocks[a:b] for a, b in pairwise(edges)]


def _answer_all(response, rows, replacements, reduce, blocks):
    return list(_answer(response, rows, replacements, reduce, blocks))


def _answer(response, rows, replacements, reduce, blocks):
    """Reduced answers to the blocks, one after the other.

    The work copy of the last block serves the next one if that is over the same rows.
    """
    tiles, standing = None, None
    for block in blocks:
        replacement = replacements[block.which]
        repeats = block.last - block.first
        chosen = None if replacement.rows is None else block.which
        wanted = (chosen, block.start, block.stop, repeats)
        index = np.arange(block.start, block.stop)
        if replacement.rows is not None:
            index = replacement.rows[index]
        if standing != wanted:
            if replacement.rows is None:
                tiles = rows.tiles(block.start, block.stop, repeats)
            else:
                tiles = rows.take(index).tiles(0, len(index), repeats)
            standing = wanted
        variants = slice(block.first, block.last)
        codes = [
            (part if len(part) == 1 else part[block.start : block.stop])[:, variants]
            for part in replacement.codes
        ]
        X = tiles.replaced(replacement.columns, replacement.levels, codes)
        answers = response(X).reshape(len(index), repeats, -1)
        yield reduce(block.which, index, variants, answers)
