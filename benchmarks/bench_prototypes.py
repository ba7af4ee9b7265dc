"""Prototypes: MMDCritic against a plain greedy in numpy and mmd-critic.

All sides choose the same prototypes, from the same kernel. Ours also chooses
criticisms, which mmd-critic calls by the same name, but with the diagonal of the kernel
in place of its determinant: they are not compared.
"""

import sys
from functools import partial
from typing import Any

import numpy as np
from command_line import parser, run_chosen
from pair import Case, Pair, Result, bounded_memory, run_pair

from sklearn_interpret.prototypes import MMDCritic

# 1/2 over the median squared distance of the rows below, about.
GAMMA = 1 / 256
MEMORY_MIB = 32

Timing = dict[str, Any]


def rows(n_rows: int) -> np.ndarray:
    """Return rows of 64 columns: blurred clusters."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(20, 64))
    X = centres[rng.integers(20, size=n_rows)] + rng.normal(size=(n_rows, 64))
    return X / np.sqrt(2)


def ours(X: np.ndarray, n_prototypes: int, n_criticisms: int = 0) -> MMDCritic:
    """Return our critic of the rows, with the kernel of the others."""
    return MMDCritic(
        n_prototypes=n_prototypes,
        n_criticisms=n_criticisms,
        gamma=GAMMA,
        standardize=False,
    ).fit(X)


def plain(X: np.ndarray, n_prototypes: int) -> np.ndarray:
    """Return prototypes by running sums, a thousand rows of the kernel at a time."""
    squares = (X**2).sum(axis=1)

    def kernel(some: slice) -> np.ndarray:
        crossed = squares[some, None] + squares - 2 * X[some] @ X.T
        return np.exp(-GAMMA * crossed)

    parts = [slice(start, start + 1000) for start in range(0, len(X), 1000)]
    means = np.concatenate([kernel(part).mean(axis=1) for part in parts])
    chosen: list[int] = []
    similarity = np.zeros(len(X))
    for size in range(1, n_prototypes + 1):
        scores = means - (2 * similarity + 1) / (2 * size)
        scores[chosen] = -np.inf
        chosen.append(int(scores.argmax()))
        similarity += kernel(slice(chosen[-1], chosen[-1] + 1))[0]
    return X[chosen]


def by_mmd_critic(X: np.ndarray, n_prototypes: int) -> np.ndarray:
    """Return the prototypes of mmd-critic."""
    from mmd_critic.kernels import RBFKernel
    from mmd_critic.mmd_critic import MMDCritic as Peer

    kernel = RBFKernel(sigma=np.sqrt(0.5 / GAMMA))
    return Peer(X, kernel).select_prototypes(n_prototypes)[0]


def difference(one: np.ndarray, other: np.ndarray) -> float:
    """Return the largest difference between rows."""
    return float(np.abs(one - other).max())


def against_plain(name: str, n_rows: int, *, judged: bool, timing: Timing) -> Result:
    """Compare with the plain greedy."""
    X = rows(n_rows)
    pair = Pair(
        name,
        ours=lambda: ours(X, 50).prototypes_,
        peer=lambda: plain(X, 50),
        peer_package="numpy",
        agreement=difference,
        tolerance=0.0,
        target_ratio=1.0 if judged else None,
    )
    return run_pair(pair, **timing)


def against_mmd_critic(
    name: str, n_rows: int, *, judged: bool, timing: Timing
) -> Result:
    """Compare with mmd-critic, which holds the matrix of all pairs."""
    X = rows(n_rows)
    pair = Pair(
        name,
        ours=lambda: ours(X, 50).prototypes_,
        peer=lambda: by_mmd_critic(X, 50),
        peer_package="mmd-critic",
        agreement=difference,
        tolerance=0.0,
        target_ratio=4.0 if judged else None,
    )
    return run_pair(pair, **timing)


def memory(name: str, n_rows: int, *, judged: bool) -> Result:
    """Look at the memory in passing, for prototypes and criticisms of many rows."""
    return bounded_memory(
        name,
        lambda: ours(rows(n_rows // 4), 50, 10),
        lambda: ours(rows(n_rows), 50, 10),
        working_memory=MEMORY_MIB,
        limit=2.0 if judged else None,
    )


def cases(quick: bool, **timing: Any) -> dict[str, Case]:
    """Return the cases by name."""
    n_rows = 1000 if quick else 10_000
    sized = {"n_rows": n_rows, "judged": not quick}
    return {
        "mmd-plain": partial(against_plain, timing=timing, **sized),
        "mmd-critic": partial(against_mmd_critic, timing=timing, **sized),
        "mmd-memory": partial(memory, **sized),
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen cases; returns 1 when results disagree, else 0."""
    options = parser(__doc__).parse_args(arguments)
    return run_chosen(partial(cases, options.quick), options)


if __name__ == "__main__":
    sys.exit(main())
