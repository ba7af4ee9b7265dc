"""Greedy prototypes and criticisms, each objective computed anew for each set."""

import numpy as np

# Ties, relative to the diagonal of the kernel.
ROUNDING = 1e-12


def mmd_squared(K, shares, chosen):
    """Squared maximum mean discrepancy of all rows and of those chosen."""
    some = K[:, chosen]
    cross = (shares @ some).mean()
    return shares @ K @ shares - 2 * cross + some[chosen].mean()


def criticism_objective(K, shares, prototypes, criticisms, *, log_determinant):
    """Sum of absolute witnesses, and the log-determinant of their kernel."""
    witness = shares @ K - K[prototypes].mean(axis=0)
    total = np.abs(witness[criticisms]).sum()
    if log_determinant:
        total += np.linalg.slogdet(K[np.ix_(criticisms, criticisms)])[1]
    return total


def greedy(score, candidates, n_chosen, K):
    """Candidates that make the score of all chosen largest, one by one."""
    chosen = []
    for _ in range(n_chosen):
        left = [i for i in candidates if not is_copy(K, i, chosen)]
        if not left:
            break
        scores = np.array([score([*chosen, i]) for i in left])
        enough = scores >= scores.max() - ROUNDING * np.diagonal(K).max()
        chosen.append(left[np.argmax(enough)])
    return chosen


def is_copy(K, row, others):
    """Whether a row is one of others, or at no distance from it in feature space."""
    d = np.diagonal(K)
    return any(d[row] + d[i] - 2 * K[row, i] <= ROUNDING * d.max() for i in others)


def prototypes_of(K, shares, n_prototypes):
    """Prototypes, and MMD^2 after each."""

    def score(chosen):
        return -mmd_squared(K, shares, chosen)

    chosen = greedy(score, range(len(K)), n_prototypes, K)
    steps = range(1, len(chosen) + 1)
    return chosen, [mmd_squared(K, shares, chosen[:size]) for size in steps]


def criticisms_of(K, shares, prototypes, n_criticisms, *, log_determinant):
    """Criticisms, given the prototypes."""

    def score(chosen):
        return criticism_objective(
            K, shares, prototypes, chosen, log_determinant=log_determinant
        )

    candidates = [i for i in range(len(K)) if not is_copy(K, i, prototypes)]
    return greedy(score, candidates, n_criticisms, K)
