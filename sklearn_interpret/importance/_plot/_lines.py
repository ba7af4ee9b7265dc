"""What stands on each line of a display of importances: pure functions."""

from dataclasses import dataclass

import numpy as np

from sklearn_interpret._plotting.bars import others_text, ranked


@dataclass(frozen=True)
class Lines:
    """The numbers of the lines of a display, the first on top.

    Parameters
    ----------
    names : list of str
        What stands beside each line.
    samples : list of ndarray of shape (n_lines, n_draws)
        The draws of each sample of rows.
    null : ndarray of shape (n_lines, n_permutations) or None
        Importances without a relation to the targets.
    pvalues : ndarray of shape (n_lines,) or None
        NaN for the line of the others.
    n_others : int
        Number of features that share the last line.
    """

    names: list
    samples: list
    null: np.ndarray | None
    pvalues: np.ndarray | None
    n_others: int

    def __len__(self):
        return len(self.names)


def line_order(samples, no_effect, max_display):
    """Features from the largest down, and those that are too weak to be shown.

    Parameters
    ----------
    samples : list of ndarray of shape (p, n_draws)
        The draws of each sample of rows.
    no_effect : float
        The importance of a feature without any.
    max_display : int or None
        Largest number of lines.

    Returns
    -------
    shown, others : ndarray of intp
        A feature is shown for its distance from `no_effect` in one of the samples, be
        it above or below; those shown are ordered by the larger of their means.
    """
    means = np.stack([sample.mean(axis=1) for sample in samples])
    strengths = np.abs(means - no_effect).max(axis=0)
    shown, others = ranked(strengths, max_display)
    shown = np.sort(shown)
    return shown[np.argsort(-means.max(axis=0)[shown], kind="stable")], others


def make_lines(names, samples, null, pvalues, *, no_effect, max_display):
    """The lines of the features that are shown, and one for the mean of the others.

    Parameters
    ----------
    names : list of str
        Names of all features.
    samples : list of ndarray of shape (p, n_draws)
        The draws of each sample of rows.
    null : ndarray of shape (n_permutations, p) or None
        Importances without a relation to the targets.
    pvalues : ndarray of shape (p,) or None
        P-values.
    no_effect : float
        The importance of a feature without any.
    max_display : int or None
        Largest number of lines.

    Returns
    -------
    Lines
    """
    shown, others = line_order(samples, no_effect, max_display)

    def pick(draws):
        parts = [draws[shown]]
        if len(others):
            parts.append(draws[others].mean(axis=0, keepdims=True))
        return np.concatenate(parts)

    names = [names[j] for j in shown]
    if pvalues is not None:
        pvalues = pvalues[shown]
    if len(others):
        names.append(f"mean of {others_text(len(others))}")
        pvalues = None if pvalues is None else np.append(pvalues, np.nan)
    return Lines(
        names,
        [pick(sample) for sample in samples],
        None if null is None else pick(null.T),
        pvalues,
        len(others),
    )


def deviation(draws):
    """Standard deviation of each line's draws, of whatever magnitude these are."""
    scale = np.abs(draws).max(initial=0.0)
    return scale * (draws / scale).std(axis=1) if scale > 0 else np.zeros(len(draws))
