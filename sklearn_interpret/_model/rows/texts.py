"""Texts in a list, a series or an array: checked, and copied into the like of it."""

import sys

import numpy as np

from sklearn_interpret._model.rows.samples import SampleRows


class TextRows(SampleRows):
    """Texts in the container in which the user passed them in.

    Build it with :func:`as_texts`.

    Parameters
    ----------
    native : list, ndarray or Series of str
        The texts.
    """

    def take(self, index):
        """Texts at the integer positions `index`, as `TextRows`."""
        return TextRows(super().take(index).native)

    def like(self, texts):
        """Other texts in such a container.

        Parameters
        ----------
        texts : list of str
            The texts.

        Returns
        -------
        list, ndarray or Series of str
            Of the kind of `native`; a series has its name, and a new index.
        """
        native = self.native
        if isinstance(native, list):
            return texts
        if isinstance(native, np.ndarray):
            # Fixed widths would cut longer texts off.
            dtype = str if native.dtype.kind == "U" else native.dtype
            return np.array(texts, dtype=dtype)
        series = type(native)
        if hasattr(native, "iloc"):
            categories = getattr(native.dtype, "categories", None)
            dtype = native.dtype if categories is None else categories.dtype
            return series(texts, dtype=dtype, name=native.name)
        return series(native.name, texts)


def as_texts(X):
    """Wrap texts.

    Parameters
    ----------
    X : list, tuple, ndarray, or pandas or polars Series of str
        The texts.

    Returns
    -------
    TextRows

    Raises
    ------
    TypeError
        A single text, another kind of container, or what is no text.
    ValueError
        No texts, or more than one axis.
    """
    if isinstance(X, str | bytes):
        raise TypeError(f"X is a single {type(X).__name__}: pass a list of texts, [X].")
    if isinstance(X, tuple):
        X = list(X)
    if not _is_container(X):
        hint = "; pass one of its columns" if hasattr(X, "columns") else ""
        raise TypeError(
            "X must be a list, a one-dimensional array or a Series of str; got "
            f"{type(X).__module__}.{type(X).__name__}{hint}."
        )
    if isinstance(X, np.ndarray) and X.ndim > 1:
        raise ValueError(
            f"X has the shape {X.shape}; texts stand along a single axis, as in "
            "X[:, 0]."
        )
    if not len(X):
        raise ValueError("Found array with 0 sample(s): X has no texts.")
    for place, text in enumerate(X):
        if not isinstance(text, str):
            raise TypeError(
                f"X has {text!r}, a {type(text).__name__}, at position {place}; texts "
                "must be str."
            )
    return TextRows(X)


def _is_container(X):
    if isinstance(X, np.ndarray):
        return X.ndim > 0
    kinds = [list]
    for library in ("pandas", "polars"):
        module = sys.modules.get(library)
        if module is not None:
            kinds.append(module.Series)
    return isinstance(X, tuple(kinds))
