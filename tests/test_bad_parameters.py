"""Values out of range are refused by their parameter's name, whatever the class."""

import numpy as np
import pytest
from sklearn.base import clone

from sklearn_interpret.estimator_checks._results import expect_error
from sklearn_interpret.estimator_checks._tables import numeric_table, target_for
from tests.instances import ARGUMENTS, instances

# What no class takes that has a parameter of this name.
BAD_VALUES = {
    "alpha": [-1, "a"],
    "antithetic": ["yes"],
    "approximation": ["exact"],
    "background": ["median", 3],
    "bounds": [(1, 0), (1, 2, 3), "wide"],
    "categorical_order": ["magic", {9: ["a"]}, {0: ["a"]}],
    "confidence_level": [1.0, 1.5, 95],
    "confidence_method": ["magic"],
    "covariance": ["HC4"],
    "criticism_regularizer": ["iterative"],
    "custom_values": [{9: [1]}, [1, 2]],
    "cv": ["five", 1],
    "damping": [-1.0],
    "decrease": [1],
    "discretize": [1.5],
    "dispersion": ["estimated"],
    "distribution": ["cauchy"],
    "embedding": ["leaves"],
    "epsilon": [0],
    "feature_selection": ["best"],
    "features_to_vary": [[9]],
    "first_radius": [0],
    "gamma": [0, np.inf, np.nan],
    "grid_resolution": [0, 1, 2.5, None],
    "importance_getter": [3],
    "init": ["k-means++"],
    "interactions": ["yes"],
    "interval": ["score"],
    "kernel": ["linear"],
    "kernel_width": [0],
    "learning_rate": [0],
    "linear": ["yes"],
    "link": ["no such link"],
    "list_length_prior": [0],
    "max_conditions": [0],
    "max_depth": [0],
    "max_iter": [0],
    "max_order": [0],
    "max_overlap": [2],
    "max_queries": [0],
    "max_rotation": [200],
    "max_rules": [0],
    "max_samples": [1.0],
    "method": ["magic"],
    "min_bin_size": [0],
    "min_fidelity": ["high"],
    "min_support": [1.5],
    "min_weight": [-0.5],
    "n_bins": [0, 2.5],
    "n_bootstraps": [0],
    "n_chains": [0],
    "n_clusters": [0],
    "n_criticisms": [-1],
    "n_draws": [0],
    "n_estimators": [0],
    "n_features_to_select": [0],
    "n_folds": [1],
    "n_generations": [0],
    "n_init": [0],
    "n_intervals": [0, 2.5, "a"],
    "n_optimizations": [-1],
    "n_permutations": [0],
    "n_pixels": [0],
    "n_prototypes": [0, True],
    "n_rounds": [-1],
    "n_samples": [0],
    "n_seeds": [0],
    "n_segments": [0],
    "n_steps": [0],
    "norm": [2, "0"],
    "percentiles": [(0.9, 0.1), (0.5, 0.5), (0.1,), (-1, 2), ("a", "b"), None],
    "perturbation": ["observational", "", None, 1],
    "population_size": [3],
    "precision_min": [1.5],
    "prune": ["yes"],
    "recall_min": [-0.1],
    "removal": ["shuffle"],
    "rule_size_prior": [-1.0],
    "sample_around": ["row"],
    "scaling": ["max"],
    "segmentation": ["slic"],
    "squared": ["yes"],
    "step": [0],
    "strategy": ["width"],
    "time_limit": [-1],
    "tolerance": [-1],
    "tree_size": [1.5],
    "trim": [0.5],
    "units": ["mad"],
    "what": ["losses"],
}


@pytest.mark.parametrize("estimator_class", ARGUMENTS, ids=lambda c: c.__name__)
def test_values_out_of_range(estimator_class):
    estimator = instances(estimator_class)[0]
    for name in sorted(BAD_VALUES.keys() & estimator.get_params(deep=False)):
        for value in BAD_VALUES[name]:
            bad = clone(estimator).set_params(**{name: value})
            with expect_error((ValueError, TypeError), name, doing=f"{name}={value!r}"):
                bad.fit(numeric_table(), target_for(estimator))
