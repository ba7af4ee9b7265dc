"""Every public estimator keeps scikit-learn's contract and ours."""

from functools import cache
from importlib import import_module
from unittest import SkipTest

import numpy as np
import pytest
from sklearn import __version__ as sklearn_version
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._model.responses.predictors import RESPONSE_METHODS
from sklearn_interpret.estimator_checks import estimator_checks_generator
from sklearn_interpret.estimator_checks._results import all_results
from sklearn_interpret.estimator_checks._tables import fitted, numeric_table
from tests.instances import (
    ARGUMENTS,
    INSPECTORS,
    OF_TEXTS,
    instances,
    instances_for_any_data,
)


def short(estimator):
    """Return a name of an instance for pytest."""
    parameters = estimator.get_params(deep=False)
    around = [parameters.pop("estimator")] if "estimator" in parameters else []
    defaults = type(estimator)(*around).get_params(deep=False)
    own = [f"{k}={v}" for k, v in parameters.items() if v is not defaults[k]]
    own = [*(type(model).__name__ for model in around), *own]
    return f"{type(estimator).__name__}({', '.join(own)})"


# Checks of what parameters and the model decide; all others are of the class.
OF_EVERY_INSTANCE = {
    "check_parameters_are_kept",
    "check_rows_are_independent",
    "check_batches_are_independent",
    "check_weights_equal_repeated_rows",
    "check_zero_weights_are_left_out",
    "check_delegation",
    "check_has_what_the_estimator_has",
    "check_tags_of_the_estimator",
    "check_model_sees_frames",
    "check_explanation_adds_up",
    "check_explanation_describes_the_rows",
    "check_explanation_equals_transform",
    "check_interaction_values_add_up",
    "check_frame_names_each_line",
    "check_numbers_of_the_text_are_in_the_frame",
    "check_dict_survives_json",
    "check_rows_found_satisfy_the_target",
    "check_rows_found_keep_what_is_fixed",
    "check_feature_names_out",
    "check_selected_columns",
}


def own_checks(estimator_class):
    """Instances and checks: all on the first, on others what differs between them."""
    first, *others = instances(estimator_class)
    last = others[-1] if others else first
    for name, check in estimator_checks_generator(first):
        if name == "check_model_sees_frames":
            continue  # check_polars_equals_pandas holds pandas to the same
        # Parameters that differ from the defaults show what is left of a fit.
        yield (last if name == "check_refit_forgets" else first), name, check, ()
    for estimator in others:
        for name, check in estimator_checks_generator(estimator):
            if name in OF_EVERY_INSTANCE:
                yield estimator, name, check, pytest.mark.thorough


def with_own_checks(classes):
    """Parametrize by estimators and those of our checks that apply to them."""
    name_of = cache(short)  # each is named for many checks
    return pytest.mark.parametrize(
        ("estimator", "check"),
        [
            pytest.param(
                estimator, check, id=f"{name_of(estimator)}-{name}", marks=marks
            )
            for estimator_class in classes
            for estimator, name, check, marks in own_checks(estimator_class)
        ],
    )


def with_checks_of_scikit_learn(estimators):
    """Parametrize by a list; pytest dislikes the generator of scikit-learn 1.6."""
    mark = parametrize_with_checks(estimators)
    names, values = mark.args
    if parse_version(sklearn_version) < parse_version("1.7"):
        values = [pair for pair in values if not _fails_by_itself(*pair)]
    values = [
        pytest.param(*pair, marks=pytest.mark.thorough if _repeats(pair[1]) else ())
        for pair in values
    ]
    # An estimator is named once, not for each of its checks: names take long to write.
    return pytest.mark.parametrize(names, values, ids=cache(mark.kwargs["ids"]))


# Costly checks of scikit-learn whose promise is one of our checks, too.
OF_OURS = {
    "check_classifier_data_not_an_array",
    "check_dict_unchanged",
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_estimators_overwrite_params",
    "check_estimators_pickle",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_readonly_memmap_input",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
    "check_transformer_data_not_an_array",
}


def _repeats(check):
    """Whether a check is one of the others, on another table, or one of ours."""
    return check.keywords.get("readonly_memmap") or check.func.__name__ in OF_OURS


def _fails_by_itself(estimator, check):
    """Whether a check of scikit-learn 1.6 fails whatever the estimator does."""
    tags, name = get_tags(estimator), check.func.__name__
    if "sample_weight_equivalence" in name:
        # Two classes are made of shuffled rows in another way than of sorted ones.
        return tags.classifier_tags is not None and not tags.classifier_tags.multi_class
    # A mean is subtracted in place from whole numbers.
    return tags.input_tags.categorical and "positive_only" in name


def ignoring(*warnings, also=()):
    """A mark that ignores warnings of ours by name, and others by their message."""
    ours = [f"ignore::sklearn_interpret.exceptions.{name}Warning" for name in warnings]
    return pytest.mark.filterwarnings(*ours, *(f"ignore:{text}" for text in also))


# The tables of the checks are small and noise: rows may be without a counterfactual or
# an anchor, chains short, no rule sound, no feature useful. Some checks weight the rows
# of a model that was trained without weights.
OF_NOISE = [
    "NoCounterfactual",
    "NoAnchor",
    "NoRule",
    "DisagreeingChains",
    "OtherTrainingRows",
    "WeakNuisance",
]
# Some of scikit-learn's tables have constant columns, more columns than rows, classes
# far from each other or of one row, rows without weight, and copies of each class.
OF_ODD_TABLES = [
    "Overdispersion",
    "ConstantFeature",
    "DependentTerms",
    "Separation",
    "UnconvergedDeletion",
    "Extrapolation",
]
NOTHING_SELECTED = ["No features were selected"]


@pytest.fixture(autouse=True, scope="module")
def _few_candidates():
    """Rule ensembles try few and large penalties, and patches few starts.

    No check is about how close the best one is. Nor about how well nuisance regressions
    are checked, or how exact a stability is: few trees and two rows do that.
    """
    nuisance = "sklearn_interpret.importance._nuisance"
    surrogates = "sklearn_interpret.surrogates._base"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sklearn_interpret.rules._lasso._N_PENALTIES", 5)
        patch.setattr("sklearn_interpret.rules._lasso._LAST_SHARE", 0.02)
        patch.setattr("sklearn_interpret.adversarial._adversarial_patch._N_SCREENED", 4)
        patch.setattr(f"{nuisance}._MOST_COLUMNS", 0)
        patch.setattr(f"{surrogates}._N_REDRAWN_ROWS", 2)
        patch.setattr(f"{surrogates}._N_REDRAWS", 2)
        patch.setitem(import_module(nuisance)._RANDOM_TREES, "n_estimators", 1)
        yield


@ignoring(*OF_NOISE, *OF_ODD_TABLES, also=NOTHING_SELECTED)
@with_checks_of_scikit_learn(
    [
        estimator
        for estimator_class in sorted(ARGUMENTS, key=lambda c: c.__name__)
        for estimator in instances_for_any_data(estimator_class)
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@ignoring(*OF_NOISE, also=NOTHING_SELECTED)
@with_own_checks(ARGUMENTS)
def test_own_check(estimator, check):
    try:
        check(estimator)
    except SkipTest as reason:  # an optional library is absent
        pytest.skip(str(reason))


@pytest.mark.parametrize("estimator_class", INSPECTORS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("stop", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_fit_is_forgotten(estimator_class, stop, monkeypatch):
    estimator = instances_for_any_data(estimator_class)[0]
    X = np.random.default_rng(0).normal(size=(20, 5))

    def stopped(self, *args):
        raise stop

    monkeypatch.setattr(estimator_class, "_inspect", stopped)
    with pytest.raises(stop):
        estimator.fit(X, (X[:, 0] > 0).astype(int))
    with pytest.raises(NotFittedError):
        check_is_fitted(estimator)


def _with_a_far_target(estimator):
    """The estimator with a target that no row of its table satisfies, if it has any."""
    interval = "desired" in estimator.get_params(deep=False)
    if interval and not is_classifier(estimator.estimator):
        return estimator.set_params(desired=(1e6, None))
    return estimator


@ignoring(*OF_NOISE, *OF_ODD_TABLES, also=NOTHING_SELECTED)
@pytest.mark.parametrize(
    "estimator",
    [e for c in INSPECTORS if c not in OF_TEXTS for e in instances(c)],
    ids=short,
)
@pytest.mark.parametrize("far", [False, True])
def test_no_model_is_asked_about_no_rows(estimator, far, monkeypatch):
    """Most models of scikit-learn raise, others answer."""
    estimator = _with_a_far_target(clone(estimator)) if far else estimator
    kind = type(estimator.estimator)
    for name in RESPONSE_METHODS:
        method = getattr(kind, name, None)
        if method is not None:

            def asked(self, X, *args, method=method, **options):
                assert X.shape[0], "The model was asked about 0 rows."
                return method(self, X, *args, **options)

            monkeypatch.setattr(kind, name, asked)
    all_results(fitted(estimator), numeric_table()[:3])
