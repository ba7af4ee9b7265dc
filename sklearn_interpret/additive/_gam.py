"""Base of generalised additive models of numbers and of classes.

`_fit` makes the terms in a first pass over the rows, `_make_problems` centres them in a
second pass, and `_fit_terms` fits the models, again with each pair that is found.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, assert_all_finite
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.additive.families import FAMILIES, LINKS
from sklearn_interpret._core.additive.fitting import (
    AdditiveProblem,
    Likelihood,
    fit_additive,
    iterate_least_squares,
)
from sklearn_interpret._core.additive.gram import RoundedDesign
from sklearn_interpret._core.additive.inference import (
    concurvity,
    separated_terms,
    smoothing_covariance,
    term_tests,
)
from sklearn_interpret._inspectors.predictor import BasePredictor
from sklearn_interpret._inspectors.sklearn_bases import TransformerMixin
from sklearn_interpret._model._sklearn_compat import (
    Interval,
    StrOptions,
    check_feature_names_in,
    warn,
)
from sklearn_interpret._model.parallel import rows_in_memory, slices
from sklearn_interpret._model.progress import duration_in_words
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.features import resolve_keys, shortened
from sklearn_interpret._model.rows.lazy import lazy_transformer
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret._model.rows.validation import empty_for_no_rows, offsets_of
from sklearn_interpret.additive._diagnostics import check, sample_effects, summary
from sklearn_interpret.additive._passes import (
    CodedRows,
    ObservedRows,
    Passes,
    Totals,
    code_rows,
    targets_of,
)
from sklearn_interpret.additive._term_screening import clearest_terms
from sklearn_interpret.additive._terms import FittedTerm, TermReader
from sklearn_interpret.exceptions import (
    CostlyInspectionWarning,
    ExtrapolationWarning,
    SeparationWarning,
)
from sklearn_interpret.explanations import Explanation

if TYPE_CHECKING:
    from sklearn_interpret._core.additive.fitting import AdditiveFit
    from sklearn_interpret._core.additive.gram import Bins
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret.additive._pair_search import Pair
    from sklearn_interpret.additive._terms import ColumnKind, Summary

# Names of linear predictors, by link.
RESPONSES = {
    "identity": "prediction",
    "log": "log",
    "logit": "log-odds",
    "inverse": "1 / prediction",
}
# Up to this number of rows, equal rows are merged before a fit: it then does not depend
# on their order. Chosen by hand: more rows hardly ever have several exact fits.
_FEW_ROWS = 1000
# Largest p-value of a pair that a search found, with which it stays a term: a pair of
# copies of two features may be found before the pair itself.
_KEPT = 0.05
# Seconds of a fit by p^2 min(p, n), for p coefficients and n rows, with one thread, and
# how many times as long other families than the normal one take: from fits of 100 and
# 300 features. Longer fits than a minute are costly.
_SECONDS, _LEAST_SQUARES_PROBLEMS, _COSTLY = 2e-9, 3, 60
# Largest number of terms that a warning names.
_MOST_NAMED = 5


class FittedModel(NamedTuple):
    """The fit of one model, and what is computed from it."""

    fit: AdditiveFit
    tests: NDArray[np.float64]  # statistic and p-value of each term, (n_terms, 2)
    deviance_explained: float


class _ObservedTable(NamedTuple):
    """A table after the first pass over its rows."""

    reader: TermReader
    summaries: dict[ColumnKind, Summary]
    sample: Any  # a Sample or PartitionedSample
    passes: Passes


class _FittedTerms(NamedTuple):
    """Fits of some terms, and what they were made of."""

    fits: list[AdditiveFit]  # of each model
    coded: Passes  # the rows, coded by terms
    bins: list[list[Bins]]
    totals: Totals


@lazy_transformer
@dataclass(kw_only=True, eq=False, repr=False)
class BaseGAM(TransformerMixin, BasePredictor):
    """Base of the additive models of numbers and of classes: terms, fit, tests.

    A subclass sets the names `_family` and `_link`, at the latest in `_set_models`.
    """

    terms: dict[Any, str] | list[Any] | None = None
    n_splines: int | dict[Any, int] = 20
    knots: str = "uniform"
    by: dict[Any, Any] | None = None
    periods: dict[Any, float] | None = None
    monotonic_cst: dict[Any, int] | None = None
    interactions: str | int | list[Any] | None = None
    max_terms: int | None = None
    offset: int | str | None = None
    smoothing: str | float = "reml"
    shrinkage: bool = True
    extrapolation: str = "linear"
    handle_unknown: str = "error"
    missing: str = "error"
    max_iter: int = 100

    term_names_: NDArray[np.object_] = field(init=False)
    intercept_: float | NDArray[np.float64] = field(init=False)
    coef_: NDArray[np.float64] = field(init=False)
    covariance_: NDArray[np.float64] = field(init=False)
    scale_: float | NDArray[np.float64] = field(init=False)
    dispersion_: float | NDArray[np.float64] = field(init=False)
    smoothing_: NDArray[np.float64] = field(init=False)
    effective_dof_: NDArray[np.float64] = field(init=False)
    residual_dof_: float | NDArray[np.float64] = field(init=False)
    statistics_: NDArray[np.float64] = field(init=False)
    pvalues_: NDArray[np.float64] = field(init=False)
    concurvity_: NDArray[np.float64] = field(init=False)
    deviance_explained_: float | NDArray[np.float64] = field(init=False)
    reml_: float | NDArray[np.float64] = field(init=False)
    n_iter_: int = field(init=False)
    interaction_pairs_: list[tuple[int, int]] = field(init=False)
    interaction_pvalues_: NDArray[np.float64] = field(init=False)

    if TYPE_CHECKING:  # attributes, which are no parameters
        _family: str = field(init=False)
        _link: str = field(init=False)
    _result_index = "term"
    _parameter_constraints = {
        "terms": [dict, list, None],
        "n_splines": [Interval(Integral, 4, None, closed="left"), dict],
        "knots": [StrOptions({"uniform", "quantile"})],
        "by": [dict, None],
        "periods": [dict, None],
        "monotonic_cst": [dict, None],
        "interactions": [
            StrOptions({"auto"}),
            Interval(Integral, 0, None, closed="left"),
            list,
            None,
        ],
        "max_terms": [Interval(Integral, 1, None, closed="left"), None],
        "offset": [str, Integral, None],
        "smoothing": [
            StrOptions({"reml", "gcv"}),
            Interval(Real, 0, None, closed="neither"),
        ],
        "shrinkage": ["boolean"],
        "extrapolation": [StrOptions({"linear", "constant", "error"})],
        "handle_unknown": [StrOptions({"error", "zero"})],
        "missing": [StrOptions({"error", "level"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }
    # The dispersion takes the sum of the weights as the number of rows.
    _weights_count_rows = _errors_count_rows = _takes_partitions = True
    # Whether weights are numbers of trials, and targets shares of successes.
    _trials = False
    # Whether `fit` sets errors and tests, which take longer than a fit of few rows.
    _has_tests = True
    # Covariance of the coefficients over the scale, for known smoothing parameters.
    _inverse_information: NDArray[np.float64] = field(init=False)
    # Labels that each have a model, None if targets are numbers.
    _model_labels: ClassVar[Any] = None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "level"
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _check_rows(self, X: Any, *, reset: bool) -> Rows:
        name = type(self).__name__
        if sparse.issparse(X):
            raise TypeError(
                f"X is a sparse matrix, which {name} does not take; "
                "X.toarray() is dense."
            )
        rows = super()._check_rows(X, reset=reset)
        if not reset:
            _check_values(self.missing, name, range(rows.n_columns), rows)
        return rows

    @abstractmethod
    def _labels_reader(self) -> Callable[[NDArray[Any]], NDArray[Any]]:
        """Function that checks targets and returns their labels; it can be pickled."""

    @abstractmethod
    def _set_models(self, labels: NDArray[Any]) -> None:
        """Set the family and link, or the classes by the labels of all targets."""

    def _targets_of_models(self, y: NDArray[Any]) -> NDArray[np.float64]:
        """Targets of each model (n_models, n_rows)."""
        return targets_of(self._model_labels, y)

    def _fit(self, sample: Any) -> None:  # a Sample or PartitionedSample
        """Fit in passes over rows: the first (`_observe`) yields labels, and summaries
        of columns, which make terms; the second (`_make_problems`) totals, which centre
        the terms; further ones, over rows coded by terms, the models.
        """
        reader, in_memory = TermReader(self, sample.rows), isinstance(sample, Sample)
        columns = range(sample.rows.n_columns) if in_memory else reader.columns
        passes = Passes(sample, columns)
        observed = self._observe(passes, reader)
        self._set_models(observed.labels)
        self._n_rows = observed.n_rows
        if in_memory and self._n_rows <= _FEW_ROWS and not self._trials:
            # Few rows have many exact fits, among which rounding errors would decide,
            # and these depend on the order of the rows.
            sample = sample.distinct(reader.columns)
            passes = Passes(sample, columns)
        self._offset, self._names = reader.offset, list(sample.rows.names)
        quantiles = reader.quantiles(observed.summaries)
        sample = sample.with_values_and_levels(quantiles, (), most_distinct=1)
        table = _ObservedTable(reader, observed.summaries, sample, passes)
        self._searched_pairs: dict[Pair, float] = {}
        if reader.n_surplus_terms > 0:
            self._leave_out_terms(table)
        fitted = self._fit_terms(table)
        search = reader.pair_search(fitted.bins, fitted.totals.histograms)
        while True:
            most = reader.most_pairs - len(self._searched_pairs)
            found = search.find(fitted.fits, fitted.coded, reader.pairs, most)
            if not found:
                break
            self._searched_pairs |= found
            reader.add_pairs(found)
            fitted = self._fit_terms(table)
        self._set_fits(fitted)
        if unsupported := self._unsupported_pairs():
            reader.remove_pairs(unsupported)
            self._set_fits(self._fit_terms(table))

    def _fit_terms(self, table: _ObservedTable) -> _FittedTerms:
        """Fits of the terms that a reader has now, and what they were made of."""
        terms, bins, coded, totals = self._code_terms(table)
        signs = self._monotonic_signs(table, terms)
        problems = self._make_problems(coded, terms, bins, totals)
        if not self._searched_pairs:
            self._warn_if_costly(problems)
        fits = [self._fit_problem(problem, signs) for problem in problems]
        return _FittedTerms(fits, coded, bins, totals)

    def _warn_if_costly(self, problems: list[AdditiveProblem]) -> None:
        """Warn of problems whose number of coefficients makes a fit take minutes."""
        n_coefficients = len(problems[0].design.coordinates.T)
        seconds = _SECONDS * n_coefficients**2 * min(n_coefficients, self._n_rows)
        if not problems[0].likelihood.is_least_squares:
            seconds *= _LEAST_SQUARES_PROBLEMS * len(problems)
        if seconds > _COSTLY:
            warn(
                f"Allow about {duration_in_words(seconds)} for the fit of "
                f"{n_coefficients} coefficients: max_terms, or fewer n_splines, take "
                "less.",
                CostlyInspectionWarning,
            )

    def _code_terms(
        self, table: _ObservedTable
    ) -> tuple[list[FittedTerm], list[list[Bins]], Passes, Totals]:
        """Terms that are not centred, the bins of their columns, rows, and totals."""
        terms, bins = table.reader.terms(table.summaries, table.sample)
        labels = self._model_labels
        code = partial(code_rows, terms, bins, self._offset, labels)
        coded = table.passes.map_rows(code)
        totals: Totals = coded.sum(partial(Totals.of_rows, terms))
        return terms, bins, coded, totals

    def _leave_out_terms(self, table: _ObservedTable) -> None:
        """Leave out the terms of single features that are least clear."""
        terms, bins, coded, totals = self._code_terms(table)
        problems = self._make_problems(coded, [], [], totals)
        designs = [
            RoundedDesign([term.term], [term_bins], [histogram])
            for term, term_bins, histogram in zip(
                terms, bins, totals.histograms, strict=True
            )
        ]
        ranking = clearest_terms(problems, designs, coded)
        table.reader.leave_out_terms(ranking.tolist())

    def _unsupported_pairs(self) -> set[Pair]:
        """Pairs of the search that later ones explain, by the tests of all terms."""
        if not self._searched_pairs:
            return set()
        pvalues = self._pair_pvalues()
        return {pair for pair in self._searched_pairs if pvalues[pair] > _KEPT}

    def _pair_pvalues(self) -> dict[Pair, float]:
        """The smallest p-value of the models for each term that is a pair."""
        pvalues = np.atleast_2d(self.pvalues_).min(axis=0).tolist()
        columns = [[column.position for column in t.columns] for t in self._terms]
        return {
            (positions[0], positions[1]): pvalue
            for positions, pvalue, term in zip(
                columns, pvalues, self._terms, strict=True
            )
            if term.kind == "tensor"
        }

    def _observe(self, passes: Passes, reader: TermReader) -> ObservedRows:
        """Results of the first pass, of at least two rows."""
        name = type(self).__name__
        check = partial(_check_values, self.missing, name, passes.columns)
        observed: ObservedRows = passes.sum(
            partial(
                ObservedRows.of_sample,
                check,
                self._labels_reader(),
                reader.needed_columns,
            )
        )
        if observed.n_rows < 2:
            raise ValueError(
                f"Found array with {observed.n_rows} sample(s) of positive weight "
                f"while a minimum of 2 is required by {name}."
            )
        return observed

    def _make_problems(
        self,
        coded: Passes,
        terms: list[FittedTerm],
        bins: list[list[Bins]],
        totals: Totals,
    ) -> list[AdditiveProblem]:
        """The problem of each model; sets the centred terms."""
        design = RoundedDesign([term.term for term in terms], bins, totals.histograms)
        centred = map(FittedTerm.with_centred_term, terms, design.terms, totals.extents)
        self._terms = list(centred)
        passes, weight = _add_design(coded, design), totals.weight
        return [
            AdditiveProblem(
                design,
                Likelihood(self._family, self._link, self._trials, position),
                passes,
                self._null_predictor(mean) - totals.offset / weight,
                float(totals.n_rows if self._trials else weight),
            )
            for position, mean in enumerate(totals.targets / weight)
        ]

    def _null_predictor(self, mean: float) -> float:
        """The linear predictor of a model without terms."""
        if self._link == "log" and not mean > 0:
            # Of families of known dispersion, targets are not negative.
            has_known_dispersion = FAMILIES[self._family].dispersion is not None
            reasons = "the mean is not > 0", "all targets are zero"
            reason = reasons[has_known_dispersion]
            raise ValueError(f"y has no logarithm of its mean: {reason}.")
        return float(LINKS[self._link].of_mean(np.float64(mean)))

    def _fit_problem(self, problem: AdditiveProblem, signs: list[int]) -> AdditiveFit:
        """The fit of a problem."""
        smoothing = self.smoothing
        if not isinstance(smoothing, str):
            smoothing = np.log(smoothing)
        return fit_additive(problem, smoothing, signs, self.max_iter)

    def _set_fits(self, fitted: _FittedTerms) -> None:
        """Set the attributes, from the fit of each model."""
        self._set_values([_curves(fit) for fit in fitted.fits])
        self.term_names_ = self._term_names(self._names)
        if not self._has_tests:
            return
        separated, models = set(), []
        for fit in fitted.fits:
            tests, uninformed = term_tests(fit, self._term_slices(), self.max_iter)
            if uninformed:
                separated |= set(separated_terms(fit))
            null_deviance = fit.start_deviance
            if self._offset is not None and self._link != "identity":
                null_deviance = self._null_deviance(fit, fitted.coded)
            deviance = fit.evaluation.deviance
            unexplained = deviance / null_deviance if null_deviance > 0 else 1.0
            models.append(FittedModel(fit, tests, 1 - unexplained))
        if not all(model.fit.converged for model in models):
            warn(
                "Raise max_iter: the fit still changed after "
                f"max_iter={self.max_iter} iterations.",
                ConvergenceWarning,
            )
        self._set_results(models)
        self._warn_of_separation(separated)

    def _null_deviance(self, fit: AdditiveFit, coded: Passes) -> float:
        """Deviance of a model of the intercept and the offset alone."""
        design = RoundedDesign([], [], [])
        null = replace(fit.problem, design=design, rows=_add_design(coded, design))
        return iterate_least_squares(null, 0.0, self.max_iter).evaluation.deviance

    def _warn_of_separation(self, separated: set[int]) -> None:
        """Warn of terms, by their positions, that separate the targets."""
        if separated:
            names = self.term_names_[sorted(separated)].tolist()
            reason = (
                "classes" if self._link == "logit" else "zeros from positive targets"
            )
            warn(
                f"Remove the terms that separate {reason} without error, or ignore "
                f"their bands: {shortened(names)}. The likelihood grows with their "
                "effects, which only penalties bound. p-values are of the fit without "
                "each.",
                SeparationWarning,
            )

    def _set_results(self, models: list[FittedModel]) -> None:
        """Set the attributes of errors and tests."""
        self._set_values(list(map(self._model_attributes, models)))
        self.concurvity_ = concurvity(models[0].fit, self._term_slices())
        pvalues = self._pair_pvalues()
        self.interaction_pairs_ = list(pvalues)
        pvalues |= {
            pair: p for pair, p in self._searched_pairs.items() if pair in pvalues
        }
        self.interaction_pvalues_ = np.array(list(pvalues.values()))
        self.n_iter_ = max(model.fit.n_iter for model in models)

    def _set_values(self, results: list[dict[str, Any]]) -> None:
        """Set attributes, without an axis of models if there is one model."""
        for name in results[0]:
            values = [result[name] for result in results]
            setattr(self, name, values[0] if len(values) == 1 else np.array(values))

    def _model_attributes(self, model: FittedModel) -> dict[str, Any]:
        """Attributes of one model, besides its curves."""
        fit, penalised_fit = model.fit, model.fit.penalised_fit
        dof = penalised_fit.dof
        covariance = fit.dispersion * penalised_fit.inverse
        if isinstance(self.smoothing, str):
            covariance += smoothing_covariance(penalised_fit, fit.dispersion)
        statistics, pvalues = model.tests.T
        term_dof = [dof[index].sum() for index in self._term_slices()]
        return {
            "covariance_": covariance,
            "scale_": float(fit.dispersion),
            "dispersion_": float(fit.pearson_dispersion),
            "smoothing_": np.exp(penalised_fit.log_smoothing),
            "effective_dof_": np.array(term_dof),
            "residual_dof_": float(fit.residual_dof),
            "statistics_": statistics,
            "pvalues_": pvalues,
            "reml_": float(fit.restricted_likelihood),
            "deviance_explained_": model.deviance_explained,
        }

    def _term_slices(self) -> list[slice]:
        """Slices of each term's coefficients, after that of the intercept."""
        widths = [term.term.coordinates.shape[1] for term in self._terms]
        ends = np.cumsum([1, *widths])
        return [slice(start, stop) for start, stop in pairwise(ends)]

    def _monotonic_signs(
        self, table: _ObservedTable, terms: list[FittedTerm]
    ) -> list[int]:
        """Sign of each monotonic term, and zero for each other term."""
        rows, left_out = table.sample.rows, table.reader.left_out
        signs = resolve_keys(
            self.monotonic_cst, rows.names, named=rows.named, parameter="monotonic_cst"
        )
        positions = [t.ordered_columns[0].position if t.is_curve else -1 for t in terms]
        for j, sign in signs.items():
            if isinstance(sign, bool) or sign not in (-1, 0, 1):
                raise ValueError(
                    f"monotonic_cst has {sign!r} for {rows.names[j]!r}; accepted are "
                    "-1, 0 and 1."
                )
            if j not in positions and j not in left_out:
                raise ValueError(
                    "monotonic_cst is for features whose term is 'spline' or 'linear', "
                    "also with a curve for each level of a category; "
                    f"{rows.names[j]!r} has none of these."
                )
        return [signs.get(j, 0) for j in positions]

    def _term_names(self, names: NDArray[Any] | list[str]) -> NDArray[Any]:
        return np.array([term.name(names) for term in self._terms], dtype=object)

    @property
    def _dispersion_dof(self) -> float | NDArray[np.float64] | None:
        """Degrees of freedom of the dispersion, None if the dispersion is known."""
        is_fixed = FAMILIES[self._family].dispersion is not None
        return None if is_fixed else self.residual_dof_

    @property
    def _coefficients(self) -> NDArray[np.float64]:
        """Coefficients of all models, the intercepts first: (n_models, p)."""
        intercepts = np.reshape(self.intercept_, (-1, 1))
        return np.hstack([intercepts, np.reshape(self.coef_, (len(intercepts), -1))])

    @property
    def _covariances(self) -> NDArray[np.float64]:
        """Covariances of all models, (n_models, p, p)."""
        return np.reshape(self.covariance_, (-1, *np.shape(self.covariance_)[-2:]))

    def _warn_of_extrapolation(self, columns: list[list[NDArray[np.float64]]]) -> None:
        """Warn of terms with rows where `fit` saw none."""
        texts, n_rows = [], len(columns[0][0])
        for name, term, values in zip(
            self.term_names_, self._terms, columns, strict=True
        ):
            if n := np.count_nonzero(term.is_extrapolated(values)):
                texts.append(f"{name!r} in {n} of {n_rows} row(s)")
        if texts:
            more = len(texts) - _MOST_NAMED
            warn(
                f"Do not rely on the curves of {', '.join(texts[:_MOST_NAMED])}"
                f"{f' and {more} more terms' * (more > 0)}: these rows are beyond the "
                "values that fit saw, or in a gap wider than a tenth of their range.",
                ExtrapolationWarning,
            )

    def _effects(
        self,
        X: Any,
        *,
        coefficients: NDArray[np.float64] | None = None,
        covariances: Sequence[NDArray[np.float64]] | NDArray[np.float64] | None = None,
        warns_of_extrapolation: bool = False,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Linear predictors (n_models, m), effects (n_models, m, n_terms), errors.

        `coefficients` (n_models, p) are those of the models by default. Errors are
        standard errors of the linear predictors by the covariances of the models'
        coefficients, undefined without.
        """
        rows = self._check_rows(X, reset=False)
        columns = [
            term.read(rows, self.handle_unknown, self.extrapolation)
            for term in self._terms
        ]
        if warns_of_extrapolation:
            self._warn_of_extrapolation(columns)
        coefficients = self._coefficients if coefficients is None else coefficients
        effects = np.empty((len(coefficients), rows.n_rows, len(columns)))
        errors = np.empty(effects.shape[:2])
        # A row takes a float for each function of a term (a pair of columns has many),
        # or, with errors, for each coefficient of all terms.
        widest = max((len(term.term.coordinates) for term in self._terms), default=1)
        step = rows_in_memory(
            8 * (coefficients.shape[1] if covariances is not None else widest)
        )
        for batch in slices(rows.n_rows, step):
            blocks = [np.ones((batch.stop - batch.start, 1))]
            for k, (term, values) in enumerate(zip(self._terms, columns, strict=True)):
                blocks.append(term.term.evaluate([x[batch] for x in values]))
                term_coefficients = coefficients[:, self._term_slices()[k]]
                effects[:, batch, k] = term_coefficients @ blocks[-1].T
                if covariances is None:
                    blocks.pop()
            if covariances is not None:
                design = np.hstack(blocks)
                for error, covariance in zip(errors, covariances, strict=True):
                    error[batch] = _standard_errors(design, covariance)
        predictor = effects.sum(axis=2) + coefficients[:, :1]
        predictor += offsets_of(self._offset, rows)
        return predictor, effects, errors

    @empty_for_no_rows
    def transform(self, X: Any) -> NDArray[np.float64]:
        """Effects of the terms, on the scale of the linear predictor.

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_terms) or (n_samples, n_classes * n_terms)
            Effects; with the intercept, and the offset, they sum to the linear
            predictor. Of several classes, class after class.
        """
        _, effects, _ = self._effects(X)
        return np.concatenate(effects, axis=1)

    @empty_for_no_rows
    def explain(self, X: Any) -> Explanation:
        """Effects of the terms on rows.

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        Explanation
            Of the linear predictor, from the intercept and the offset on. Terms sum to
            zero over the rows of `fit`.
        """
        predictor, effects, _ = self._effects(X)
        base_values = predictor - effects.sum(axis=2)
        values = np.moveaxis(effects, 0, 2)
        if is_single := len(effects) == 1:
            values, base_values, predictor = effects[0], base_values[0], predictor[0]
        labels = getattr(self, "classes_", np.arange(1)).tolist()
        return Explanation(
            values,
            base_values.T,
            predictions=predictor.T,
            data=as_rows(X).native,
            feature_names=self.term_names_.tolist(),
            output_names=labels[-1:] if is_single else labels,
            response_name=RESPONSES[self._link],
            columns=[
                [c.position for c in term.ordered_columns] for term in self._terms
            ],
            value_name="effect",
        )

    def get_feature_names_out(
        self, input_features: ArrayLike | None = None
    ) -> NDArray[np.object_]:
        """Names of the columns of `transform`.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the features, by default those of `fit`.

        Returns
        -------
        ndarray of str
            Names of the terms, of several classes with the class behind.
        """
        check_is_fitted(self)
        names = self._term_names(check_feature_names_in(self, input_features))
        if np.ndim(self.intercept_) == 0:
            return names
        classes = getattr(self, "classes_", ())
        return np.array([f"{n}_{c}" for c in classes for n in names], dtype=object)

    def _term_position(self, term: int | str | tuple[Any, Any]) -> int:
        """Position of a term that is named as in `partial_effect`."""
        for i, name in enumerate(self.term_names_.tolist()):
            columns = [column.position for column in self._terms[i].ordered_columns]
            if term in (i, name, tuple(columns), self._names_of_features(i)):
                return i
        raise ValueError(
            f"term={term!r} is not among the terms: "
            f"{shortened(self.term_names_.tolist())}."
        )

    def _names_of_features(self, position: int) -> tuple[str, ...]:
        """Names of the features of the term at a position."""
        columns = self._terms[position].ordered_columns
        return tuple(self._names[column.position] for column in columns)

    def partial_effect(
        self, term: int | str | tuple[Any, Any], values: ArrayLike | None = None
    ) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]]:
        """Effect of a term at values of its features, whatever the other terms.

        Parameters
        ----------
        term : int, str or pair of int or str
            Position or name of the term, or its two features.
        values : array-like of shape (n_points,) or (n_points, 2), default=None
            Values of its feature or features; by default all levels of a category, the
            distinct values of a number that has at most 12, else 100 over its range,
            without those in gaps wider than a tenth of it; and all pairs of two
            features' values, then 30 of each of two numbers of many values.

        Returns
        -------
        values : ndarray of shape (n_points,) or (n_points, 2)
            The values.
        effects : ndarray of shape (n_points,) or (n_points, n_classes)
            The effects, on the scale of the linear predictor.
        standard_errors : ndarray of the same shape
            Their standard errors, in the Bayesian view of penalties.

        Raises
        ------
        ValueError
            No such term; values of another shape; with ``handle_unknown="error"``
            values that `fit` did not see.
        """
        check_is_fitted(self)
        position = self._term_position(term)
        fitted, index = self._terms[position], self._term_slices()[position]
        values = fitted.grid() if values is None else np.asarray(values)
        design = fitted.evaluate(values, self._names, self.handle_unknown)
        effects = design @ self._coefficients[:, index].T
        covariances = self._covariances[:, index, index]
        errors = np.transpose([_standard_errors(design, c) for c in covariances])
        if np.ndim(self.intercept_) == 0:
            effects, errors = effects[:, 0], errors[:, 0]
        return values, effects, errors

    def partial_residuals(self, X: Any, y: ArrayLike) -> NDArray[np.float64]:
        """Effects of the terms, each with the residuals of the model.

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their targets.

        Returns
        -------
        ndarray of shape (n_samples, n_terms) or (n_samples, n_classes * n_terms)
            As `transform`, plus the residual divided by the slope of the mean along
            the linear predictor.
        """
        predictor, effects, _ = self._effects(X)
        y = self._check_targets(as_rows(X), y)
        link = LINKS[self._link]
        residuals = self._targets_of_models(y) - link.mean(predictor)
        residuals /= link.slope(predictor)
        return np.concatenate(effects + residuals[:, :, None], axis=1)

    # Methods whose code is in `_diagnostics`.
    check, sample_effects, summary = check, sample_effects, summary

    def _result_blocks(self) -> list[dict[str, Any]]:
        """A line for each term, of several classes for each class and term, under its
        name: columns "effective_dof", "statistic", "pvalue" and "concurvity". Curves
        are in the table of :class:`~sklearn_interpret.additive.SmoothTermDisplay`.
        """
        n_models = np.size(self.intercept_)
        measures = {
            "effective_dof": self.effective_dof_,
            "statistic": self.statistics_,
            "pvalue": self.pvalues_,
            "concurvity": np.tile(self.concurvity_, n_models),
        }
        columns = {name: np.ravel(values) for name, values in measures.items()}
        return [{"term": self.get_feature_names_out()} | columns]

    def _result_facts(self) -> dict[str, Any]:
        facts = {
            "family": self._family,
            "link": self._link,
            "smoothing": self.smoothing,
            "rows": self._n_rows,
            "residual dof": self.residual_dof_,
            "deviance explained": self.deviance_explained_,
            "scale": self.scale_,
            "REML": self.reml_,
            "intercept": self.intercept_,
        }
        return {name: np.asarray(fact).tolist() for name, fact in facts.items()}

    def _result_units(self) -> dict[str, str]:
        return {"intercept": RESPONSES[self._link]}


def _curves(fit: AdditiveFit) -> dict[str, Any]:
    """Attributes of one model that its predictions and their leverages need."""
    return {
        "intercept_": float(fit.coefficients[0]),
        "coef_": fit.coefficients[1:],
        "_inverse_information": fit.penalised_fit.inverse,
    }


def _add_design(coded: Passes, design: RoundedDesign) -> Passes:
    """Passes over coded rows with the functions of a design."""
    return coded.map_rows(partial(CodedRows.with_design, design=design))


def _check_values(
    missing: str, estimator_name: str, columns: Sequence[int], rows: Rows
) -> None:
    """Refuse infinite numbers, and missing ones unless these are a level."""
    for j in columns:
        values = rows.column_array(j)
        if values.dtype.kind == "f" and missing == "error" and np.isnan(values).any():
            raise ValueError(
                f"Input X contains NaN: the feature {rows.names[j]!r} has missing "
                "values; missing='level' makes them a level of their own."
            )
        if values.dtype.kind in "fc":
            assert_all_finite(
                values,
                allow_nan=missing == "level",
                estimator_name=estimator_name,
                input_name="X",
            )


def _standard_errors(
    design: NDArray[np.float64], covariance: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Standard errors of the linear predictors of a design's rows."""
    return np.sqrt(np.maximum(((design @ covariance) * design).sum(axis=1), 0))
