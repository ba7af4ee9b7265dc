"""The inspection report: one page that shows a model, checks it and advises.

`fit` refits the model in folds, makes an `Inspection` of it, and calls the functions of
checks and sections with this; `to_html` makes the page of their results.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import field, fields, replace
from numbers import Integral
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import parallel_config
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
)
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._inspectors.refitting import RefittingMixin
from sklearn_interpret._inspectors.results import ResultsMixin
from sklearn_interpret._model._sklearn_compat import Interval, StrOptions
from sklearn_interpret._model.parallel import run
from sklearn_interpret._model.progress import phases, with_progress
from sklearn_interpret._model.responses.predictors import (
    check_has_classes,
    is_classifier,
)
from sklearn_interpret._model.responses.scoring import class_indicators
from sklearn_interpret._model.rows.features import resolve_features, resolve_keys
from sklearn_interpret._model.rows.number_format import MINUS, entry_text
from sklearn_interpret._model.rows.tables import as_objects, json_value, lines_of
from sklearn_interpret._model.rows.texts import TextRows, as_texts
from sklearn_interpret._model.rows.validation import FitArguments
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.exceptions import UnreadableModelError
from sklearn_interpret.report._checks import CHECKS
from sklearn_interpret.report._failures import failures
from sklearn_interpret.report._inspection import Fold, Inspection
from sklearn_interpret.report._page import frame_page, page_html
from sklearn_interpret.report._results import Check, NotApplicable, Section, Table
from sklearn_interpret.report._row_sections import rows, training
from sklearn_interpret.report._sections import (
    effects,
    importance,
    interactions,
    overview,
    surrogates,
)

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample
    from sklearn_interpret.report._results import Titled

_SECTIONS = {
    section.__name__: section
    for section in (
        overview,
        failures,
        importance,
        effects,
        interactions,
        rows,
        training,
        surrogates,
    )
}

# Sections that explain one output, where a model has several.
_OF_ONE_OUTPUT = "interactions", "rows"

# Fields of a section that `to_dict` returns as they are.
_SECTION_FIELDS = "name", "title", "summary", "notes", "code"

# Parameters of counterfactuals that limit what may change.
_CONSTRAINTS = "features_to_vary", "permitted_range"

# More rows get fewer folds by default: models of many rows take long, and their scores
# vary little.
_MANY_ROWS = 5000


@estimator_dataclass
class InspectionReport(ResultsMixin, RefittingMixin, BaseInspector):
    """One page that shows what a model does, checks it, and advises.

    The report fits the model, and clones of it on the training rows of
    cross-validation folds. Its sections show held-out scores, slices of rows with large
    losses, importances, effects, interactions, single rows, training rows, and
    surrogates. Its checks say when not to believe them. :meth:`to_html` writes all of
    it as one page that needs no network, no server and no script.

    Parameters
    ----------
    estimator : estimator
        The predictor to inspect; a clone of it is fitted. A
        :class:`~sklearn.frozen.FrozenEstimator` is inspected as it is, on rows that it
        should not have seen; what needs refits, or its training rows, is then left out.
    cv : int, cross-validation splitter or iterable of (train, test), default=None
        Folds for the refits. None takes 5 shuffled folds, or 3 beyond 5000 rows;
        stratified for classifiers. `groups` passed to `fit` go to the splitter, such as
        :class:`~sklearn.model_selection.GroupKFold`; None then keeps groups together.
    max_features : int, default=10
        Most features in figures and tables: the most important ones.
    rows : array-like of int, or of bool of shape (n_samples,), default=None
        Positions in `X`, or a mask, of the rows to explain. None takes the best and the
        worst predicted row, the most typical and the most unusual one.
    features_to_vary : list of ints or strs, or bool mask, default=None
        Features that the counterfactuals of the rows may change, so that they propose
        nothing that nobody can change. None means all.
    permitted_range : dict, "any" or None, default=None
        The values that features may take in counterfactuals: (low, high) of a number, a
        list of levels of a category; see
        :class:`~sklearn_interpret.counterfactuals.ExactCounterfactual`.
    sections : "all" or list of str, default="all"
        Sections to compute: "overview", "failures", "importance", "effects",
        "interactions", "rows", "training", "surrogates".
    checks : "all" or list of str, default="all"
        Checks to run: "chance", "overfit", "companions", "outside", "opposite",
        "folds", "background", "ordinal", "leakage", "range", "imbalance", "noise",
        "calibration", "slices".
    random_state : int, RandomState or None, default=None
        Draws folds, subsamples and permutations. Pass an int for the same page.
    n_jobs : int or None, default=None
        Number of workers, which are threads. A model whose own `n_jobs` is None is
        fitted by as many.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    checks_ : list of Check
        Result of each check.
    sections_ : list of Section
        Each section with its figures, tables and summary.
    estimator_ : estimator
        The fitted model.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the input has string column names.
    classes_ : ndarray
        Class labels of a classifier.

    Raises
    ------
    ValueError
        In `fit`: if a section or a check is unknown, `rows` are not rows of `X`, or
        targets are missing, no numbers, or classes that a frozen model has not met.
    ImportError
        In :meth:`to_html`: if jinja2 is not installed.

    See Also
    --------
    sklearn_interpret.importance.PermutationImportance : One of the methods.
    sklearn_interpret.effects.RegionalEffects : Regions in which effects differ.

    Notes
    -----
    The cost is that of the refits plus that of methods on at most 1000 rows.
    Counterfactuals are proved nearest for linear models and for at most 5000 leaves;
    others are found by search, and their captions say so.

    References
    ----------
    Molnar, C., König, G., Herbinger, J. et al. (2022). General pitfalls of
    model-agnostic interpretation methods for machine learning models. In: xxAI, Lecture
    Notes in Computer Science 13200. https://doi.org/10.1007/978-3-031-04083-2_4

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.report import InspectionReport
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> report = InspectionReport(
    ...     LinearRegression(), sections=["overview"], checks=["chance"], random_state=0
    ... )
    >>> report.fit(X, y).checks_[0].verdict
    'passed'
    >>> report.to_html()[:15]
    '<!doctype html>'
    """

    cv: Any = None
    max_features: int = 10
    rows: ArrayLike | None = None
    features_to_vary: Sequence[int | str] | None = None
    permitted_range: dict[Any, Any] | str | None = None
    sections: str | Sequence[str] = "all"
    checks: str | Sequence[str] = "all"
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int | None = None

    checks_: list[Check] = field(init=False)
    sections_: list[Section] = field(init=False)

    _parameter_constraints = {
        **BaseInspector._parameter_constraints,
        "cv": ["cv_object"],
        "max_features": [Interval(Integral, 1, None, closed="left")],
        "rows": ["array-like", None],
        "features_to_vary": ["array-like", None],
        "permitted_range": [dict, StrOptions({"any"}), None],
        "sections": [str, "array-like"],
        "checks": [str, "array-like"],
    }

    # The response is that of each method; the model itself is asked.
    response_method = "auto"

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        is_list = isinstance(X, Iterable) and len(getattr(X, "shape", (0,))) == 1
        if is_list and isinstance(next(iter(X), None), str):
            return as_texts(X)
        if sparse.issparse(X):
            raise TypeError(
                "InspectionReport takes no sparse matrix: pass X.toarray()."
            )
        return super()._check_rows(X, reset=reset)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    def _fit_estimator(self, arguments: FitArguments, context: Any) -> None:
        workers = nullcontext()
        if self.n_jobs is not None:
            # For a model that sets no number itself; processes would need copies.
            workers = parallel_config("threading", n_jobs=self.n_jobs)
        with workers:
            super()._fit_estimator(arguments, context)

    def _inspect(self, sample: Sample, response: Any) -> None:
        if not isinstance(sample.rows, TextRows):
            self._check_constraints(sample.rows)
        sections = _resolve_names("sections", self.sections, _SECTIONS)
        checks = _resolve_names("checks", self.checks, CHECKS)
        check_has_classes(self.estimator_)
        # A large model takes longer to send to processes than they save.
        with parallel_config(prefer="threads"):
            self._compute_checks_and_sections(sample, checks, sections)
        del self._fit_input  # needed by refits alone

    def _check_constraints(self, rows: Rows) -> None:
        """Refuse features to vary, or with permitted values, that `X` lacks."""
        names, named = rows.names, rows.named
        resolve_features(
            self.features_to_vary, names, named=named, parameter="features_to_vary"
        )
        if self.permitted_range != "any":
            resolve_keys(
                self.permitted_range, names, named=named, parameter="permitted_range"
            )

    def _compute_checks_and_sections(
        self, sample: Sample, checks: list[str], sections: list[str]
    ) -> None:
        """Compute the checks and sections of these names."""
        if sample.y is not None:
            if sample.y.shape[1:] == (1,):
                sample = replace(sample, y=sample.y[:, 0])
            if sample.y.dtype.names is None:  # those of survival are not checked
                _check_targets(self.estimator_, sample.y)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        # All refits, all checks, and each section count as parts of similar length.
        phase = phases(2 + len(sections))
        next(phase)
        inspection = Inspection(
            self.estimator_,
            sample,
            self._fit_folds(sample, seed),
            self.max_features,
            seed,
            self._rows_to_explain(sample),
            self._fit_parameters,
            self.n_jobs,
            {name: getattr(self, name) for name in _CONSTRAINTS},
        )
        self.checks_, self.sections_, self._seconds = [], [], {}
        groups = [checks, *([name] for name in sections)]
        for _, names in zip(phase, groups, strict=True):
            for name in with_progress(names):
                start = perf_counter()
                if name in _SECTIONS:
                    self.sections_.append(_make_section(name, inspection))
                else:
                    self.checks_.append(_make_check(name, inspection))
                self._seconds[name] = perf_counter() - start

    def _fit_folds(self, sample: Sample, seed: int) -> list[Fold]:
        """Refit the model on the training rows of each fold."""
        if self._is_frozen or sample.y is None:
            return []
        cv = self.cv
        if cv is None:
            n_folds = 5 if sample.rows.n_rows <= _MANY_ROWS else 3
            by_class = is_classifier(self.estimator_) and sample.y.ndim == 1
            kind = StratifiedKFold if by_class else KFold
            if self._fit_input.groups is not None:
                kind = StratifiedGroupKFold if by_class else GroupKFold
            cv = kind(n_folds, shuffle=True, random_state=seed)
        splits = self._splits(sample, sample.y, cv)
        tasks = [
            (self._clone(), sample, train, self._fit_parameters(sample.index[train]))
            for train, _ in splits
        ]
        models = run(_refit, tasks, n_jobs=self.n_jobs)
        return [Fold(model, *rows) for model, rows in zip(models, splits, strict=True)]

    def _rows_to_explain(self, sample: Sample) -> Any:
        """Positions within the sample of the rows that the user chose, or None."""
        if self.rows is None:
            return None
        rows = np.asarray(self.rows)
        rows = rows.nonzero()[0] if rows.dtype == bool else rows
        if not np.isin(rows, sample.index).all():
            raise ValueError(
                f"rows={self.rows!r} must be positions of rows of X of positive weight."
            )
        return np.searchsorted(sample.index, rows).tolist()

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the report as one page of HTML, and save it if `path` is given.

        Parameters
        ----------
        path : str or path-like, default=None
            File to write.

        Returns
        -------
        str
            The page. It needs no other file, no script and no network.
        """
        check_is_fitted(self, "sections_")
        html = page_html(self)
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(html)
        return html

    def _result_blocks(self) -> list[dict[str, Any]]:
        """A line for each check: columns "name", "title", "verdict", "statistic",
        "threshold", "finding" and "advice".
        """
        names = [field.name for field in fields(Check)]
        columns = ([getattr(check, name) for check in self.checks_] for name in names)
        return [dict(zip(names, map(as_objects, columns), strict=True))]

    def to_text(self, digits: int = 4) -> str:
        """Return the checks as plain text.

        Parameters
        ----------
        digits : int, default=4
            Significant digits of statistics and thresholds.

        Returns
        -------
        str
            The verdict of each check, its number against the threshold, what was found,
            and the next step where it warns.
        """
        check_is_fitted(self, "checks_")
        lines = []
        for check in self.checks_:
            line = f"{check.verdict}: {check.title}"
            if check.statistic is not None:
                statistic = entry_text(check.statistic, digits)
                line += f" ({statistic} against {entry_text(check.threshold, digits)})"
            lines += [line, f"    {check.finding}"]
            if check.verdict == "warned":
                lines.append(f"    {check.advice}")
        return "\n".join(lines).replace(MINUS, "-")

    def to_dict(self) -> dict[str, Any]:
        """Return checks and sections as a dict that JSON can hold.

        Returns
        -------
        dict
            "class", "names", "versions"; "results": a dict for each check; and
            "sections": for each its "name", "title", "summary", "notes", "code",
            "tables" ("caption" and "lines") and the captions of its "figures".
        """
        results = super().to_dict()
        sections = [
            {name: getattr(section, name) for name in _SECTION_FIELDS}
            | _tables_and_figures(section)
            for section in self.sections_
        ]
        return results | {"sections": json_value(sections)}

    def _repr_html_(self) -> str:
        if not hasattr(self, "sections_"):
            return super()._repr_html_()  # type: ignore[misc]  # of scikit-learn
        return frame_page(self.to_html())


def _tables_and_figures(section: Section) -> dict[str, list[Any]]:
    """Captions and lines of a section's tables, and captions of its figures."""
    tables = [content for content in section.parts if isinstance(content, Table)]
    figures = [content for content in section.parts if not isinstance(content, Table)]
    return {
        "tables": [
            {"caption": table.caption, "lines": list(lines_of([table.columns]))}
            for table in tables
        ],
        "figures": [figure.caption for figure in figures],
    }


def _check_targets(model: BaseEstimator, y: NDArray[np.float64]) -> None:
    """Refuse targets that a frozen model cannot be scored with."""
    if is_classifier(model):
        if y.ndim == 1:
            class_indicators(y, model.classes_)
        return
    try:
        check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    except ValueError as error:
        raise ValueError(f"y must have a number for each row. {error}") from error


def _refit(
    estimator: BaseEstimator,
    sample: Sample,
    train: NDArray[np.intp],
    parameters: dict[Any, Any],
) -> BaseEstimator:
    """The estimator, fitted to the training rows of a fold."""
    return estimator.fit(sample.rows.take(train).native, sample.y[train], **parameters)


def _resolve_names(
    parameter: str, names: str | Sequence[str], functions: dict[str, Titled]
) -> list[str]:
    """The requested names, in the order of the report."""
    if isinstance(names, str) and names == "all":
        return list(functions)
    unknown = [name for name in np.atleast_1d(names).tolist() if name not in functions]
    if unknown:
        raise ValueError(
            f"{parameter} has {unknown[0]!r}; accepted are 'all' and a list of "
            f"{', '.join(functions)}."
        )
    return [name for name in functions if name in names]


def _make_section(name: str, inspection: Inspection) -> Section:
    """The section of a name; warnings of its methods are its notes."""
    function = _SECTIONS[name]
    result, notes = _compute_result(function, inspection)
    if isinstance(result, str):
        return Section(name, function.title, result, notes=notes)
    summary = result.summary
    if result.parts and name in _OF_ONE_OUTPUT and inspection.target is not None:
        summary += f" This is {inspection.response_text('about predictions')}."
    return Section(name, function.title, summary, result.parts, notes, result.code)


def _make_check(name: str, inspection: Inspection) -> Check:
    """The check of a name; an error of its methods is the reason to skip it."""
    function = CHECKS[name]
    result, _ = _compute_result(function, inspection)
    if isinstance(result, str):
        return Check(name, function.title, "skipped", None, None, result, "")
    return Check(
        name,
        function.title,
        "warned" if result.warns else "passed",
        float(result.statistic),
        float(result.threshold),
        result.finding,
        result.advice,
    )


def _compute_result(function: Titled, inspection: Inspection) -> tuple[Any, list[str]]:
    """The result of a section or a check, or the reason for none; and warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            inspection.require(*function.needs)
            result = function(inspection)
        except (NotApplicable, UnreadableModelError) as error:
            result = str(error)
        except (TypeError, ValueError) as error:
            result = f"Could not be computed: {error}"
    return result, list(dict.fromkeys(str(record.message) for record in caught))
