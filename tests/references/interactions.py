"""H statistics as Friedman & Popescu (2008) define them, in section 8.1, row by row."""

from itertools import combinations

import numpy as np


def partial_dependence(ask, rows, weights, members):
    """Partial dependence on columns at each row's own values, centred (eq. 41).

    Parameters
    ----------
    ask : callable
        A row, a list of values, to a number; its `of_all` takes a list of them.
    rows : list of list
        The sample.
    weights : sequence of float
        Weights of the rows.
    members : collection of int
        The columns.

    Returns
    -------
    ndarray of shape (n_rows,)
    """
    hybrids = [
        [row[j] if j in members else other[j] for j in range(len(row))]
        for row in rows
        for other in rows
    ]
    answers = np.reshape(ask.of_all(hybrids), (len(rows), len(rows)))
    found = np.average(answers, weights=weights, axis=1)
    return found - np.average(found, weights=weights)


def h_statistics(ask, rows, weights, players, *, three_way=False):
    """All statistics of a model of one output.

    Parameters
    ----------
    ask, rows, weights : object
        As above.
    players : list of tuple of int
        Columns of each player; together all columns.
    three_way : bool, default=False
        Whether to go on to triples.

    Returns
    -------
    dict
        `pairwise` (p, p), `overall` (p,), `total`, `three_way` by triple, each a ratio
        (eq. 44 to 46), and the weighted means of their numerators beside them.
    """
    p, everything = len(players), range(len(rows[0]))

    def pd(which):
        columns = {j for player in which for j in players[player]}
        return partial_dependence(ask, rows, weights, columns)

    def mean_square(values):
        return np.average(values**2, weights=weights)

    def ratio(left, whole):
        # Nothing of nothing is zero: of numbers some 1e-15 of the response, here.
        if np.abs(left).max() < 1e-12 * np.abs(f).max():
            return 0.0
        return mean_square(left) / mean_square(whole)

    f = np.array([ask(row) for row in rows])
    f = f - np.average(f, weights=weights)
    alone = [pd([j]) for j in range(p)]
    pairs = {pair: pd(pair) for pair in combinations(range(p), 2)}
    found = {
        "pairwise": np.zeros((p, p)),
        "pairwise_numerator": np.zeros((p, p)),
        "overall": np.zeros(p),
        "overall_numerator": np.zeros(p),
        "total": ratio(f - sum(alone), f),
        "three_way": {},
    }
    for (j, k), both in pairs.items():
        left = both - alone[j] - alone[k]
        for place in ((j, k), (k, j)):
            found["pairwise"][place] = ratio(left, both)
            found["pairwise_numerator"][place] = mean_square(left)
    for j in range(p):
        others = partial_dependence(ask, rows, weights, set(everything) - {*players[j]})
        left = f - alone[j] - others
        found["overall"][j] = ratio(left, f)
        found["overall_numerator"][j] = mean_square(left)
    for triple in combinations(range(p), 3) if three_way else ():
        whole = pd(triple)
        left = whole - sum(pairs[two] for two in combinations(triple, 2))
        left = left + sum(alone[j] for j in triple)
        found["three_way"][triple] = ratio(left, whole)
    return found
