"""What the methods share that give each feature a number for each row."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._model._sklearn_compat import check_feature_names_in
from sklearn_interpret._model.rows.features import default_name


class AttributionTransformerMixin(TransformerMixin):
    """Adds `transform` to an inspector that explains rows.

    A subclass has `explain` and `output_names_`, and says which features its
    attributions are of (`_attributed`).
    """

    @abstractmethod
    def _attributed(self):
        """Columns and name of each feature that gets a number, in order."""

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Attributions as columns.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_attributed x n_outputs)
            The values of `explain`, the outputs of the first feature or group first.
        """
        values = self.explain(X).values
        return values.reshape(len(values), -1)

    def get_feature_names_out(
        self, input_features: ArrayLike | None = None
    ) -> NDArray[np.object_]:
        """Names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the input features where `fit` saw none.

        Returns
        -------
        ndarray of str objects
            Names of features or groups, with the output's name behind them where there
            are several.
        """
        check_is_fitted(self)
        given = check_feature_names_in(self, input_features)
        several = len(self.output_names_) > 1
        names = []
        for columns, name in self._attributed():
            if len(columns) == 1 and name == default_name(columns[0]):
                name = given[columns[0]]  # unnamed in fit
            names += [
                f"{name}_{output}" if several else f"{name}"
                for output in self.output_names_
            ]
        return np.array(names, dtype=object)
