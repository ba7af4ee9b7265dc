"""The one table of instances: every contract test runs over it.

A new estimator adds its row here, whether it wraps a model or not. The first set of
arguments has to serve any data; the others may name features of the contract's tables,
which have five.
"""

from inspect import signature
from itertools import cycle, islice

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_interpret import (
    additive,
    adversarial,
    counterfactuals,
    decomposition,
    diagnosis,
    effects,
    importance,
    influence,
    interactions,
    linear,
    prototypes,
    report,
    rules,
    shapley,
    surrogates,
    survival,
)


class Named:
    """Something to call whose text is the same in every process: it names tests."""

    def __repr__(self):
        return type(self).__name__


class CoefficientsOrNone(Named):
    """Coefficients, one for each feature, or the same for all where there are none."""

    def __call__(self, model):
        sizes = np.abs(np.atleast_2d(getattr(model, "coef_", [[]]))).sum(axis=0)
        n_features = model.n_features_in_
        return sizes if len(sizes) == n_features else np.ones(n_features)


class MostRows(Named):
    """Flags of all rows but some."""

    def __call__(self, X):
        if hasattr(X, "columns"):
            return np.asarray(X[X.columns[0]]) > -2
        X = X.toarray() if hasattr(X, "toarray") else X
        return X[:, 0] > -2


class OwnScore(Named):
    """Score of a model, of whatever kind."""

    def __call__(self, estimator, X, y, sample_weight=None):
        return estimator.score(X, y, sample_weight=sample_weight)


class Shuffled(Named):
    """Values of some columns, in another order of the rows."""

    def __call__(self, X, columns, rng):
        X = X.iloc if hasattr(X, "iloc") else X
        return rng.permutation(np.asarray(X[:, columns]))


def takes(estimator_class, parameter):
    """Whether a class has a parameter of this name."""
    return parameter in signature(estimator_class).parameters


ADDITIVE = {
    additive.GAMClassifier: [
        {"n_splines": 4, "smoothing": 1.0},
        {"n_splines": 4},
        {"terms": {0: "spline", 3: "category", (1, 2): "tensor"}, "smoothing": 3.0},
    ],
    additive.GAMRegressor: [
        {"n_splines": 4, "smoothing": 1.0},
        {"interactions": "auto"},
        {
            "terms": {0: "spline", 1: "spline", 2: "cyclic", 4: "linear"},
            "n_splines": {0: 9},
            "by": {0: 4},
            "periods": {2: 5.0},
            "monotonic_cst": {1: 1},
            "smoothing": "gcv",
            "handle_unknown": "zero",
        },
    ],
}

# `desired` is for regressors alone, see `suited`.
ADVERSARIAL = {
    adversarial.AdversarialPatch: [
        {
            "desired": (0.6, None),
            "n_transforms": 2,
            "n_steps": 2,
            "n_restarts": 0,
            "subsample": None,
        },
        {
            "desired": (0.6, 0.9),
            "patch_shape": (1, 2),
            "scale": (0.5, 1.0),
            "n_transforms": 2,
            "n_steps": 2,
            "n_restarts": 1,
            "subsample": 10,
            "bounds": (-3, 3),
        },
    ],
    adversarial.HopSkipJump: [
        {"desired": (0.6, None), "n_steps": 2, "n_draws": 5},
        {
            "desired": (0.2, 0.9),
            "n_steps": 1,
            "n_draws": 3,
            "norm": "inf",
            "units": "raw",
            "bounds": (-3, 3),
        },
    ],
    adversarial.FastGradientSign: [
        {"desired": (0.6, None)},
        {
            "desired": (0.6, 0.9),
            "norm": "2",
            "units": "raw",
            "bounds": {0: (-3, 3)},
            "features_to_vary": [0, 1, 2],
        },
    ],
    adversarial.OnePixelAttack: [
        {"desired": (0.6, None), "population_size": 6, "n_generations": 2},
        {
            "desired": (0.2, 0.9),
            "n_pixels": 2,
            "population_size": 5,
            "n_generations": 2,
            "bounds": (-3, 3),
        },
    ],
    adversarial.MinimalPerturbation: [
        {"desired": (0.6, None)},
        {
            "desired": (0.6, 0.9),
            "norm": "inf",
            "units": "raw",
            "bounds": {0: (-3, 3)},
            "features_to_vary": [0, 1, 2],
        },
    ],
    adversarial.ProjectedGradient: [
        {"desired": (0.6, None), "n_steps": 2},
        {"desired": (0.6, 0.9), "n_steps": 3, "norm": "1", "bounds": (-3, 3)},
    ],
    adversarial.SubstituteAttack: [
        {
            "attack": adversarial.ProjectedGradient(
                None, desired=(0.6, None), n_steps=2
            ),
            "substitute": Ridge(),
            "n_seeds": 20,
            "n_rounds": 1,
        },
        {
            "attack": adversarial.FastGradientSign(
                None, desired=(0.6, 0.9), units="raw", bounds=(-3, 3)
            ),
            "substitute": Ridge(),
            "n_rounds": 2,
            "step_size": 0.5,
            "max_queries": 70,
        },
    ],
}

ANCHORS = {
    counterfactuals.Anchors: [
        {"precision": 0.7, "n_samples": 16, "max_anchor_size": 1},
        {"precision": 0.8, "n_samples": 16, "beam_size": 1, "max_anchor_size": 2},
        {
            "precision": 0.8,
            "n_samples": 16,
            "max_anchor_size": 1,
            "discretize": 2,
            "categorical_features": [3],
            "tolerance": 1.0,
        },
    ]
}

EFFECTS = {
    effects.PartialDependence: [
        {"grid_resolution": 5},
        {"features": [0, 3, (0, 1)], "centered": True, "categorical_features": [3]},
        {"features": [2, (1, 2)], "grid_resolution": 3, "subsample": 30},
    ],
    effects.IndividualConditionalExpectation: [
        {"grid_resolution": 3},
        {"features": [0, (1, 3)], "grid_resolution": 4, "center": "start"},
        {"features": [0], "derivative": True, "center": {0: 0.25}},
    ],
    effects.ConditionalDependence: [
        {"n_intervals": 5},
        {"features": [0, (0, 1), 3], "categorical_features": [3], "subsample": 0.5},
    ],
    effects.AccumulatedLocalEffects: [
        {"n_intervals": 5},
        {"features": [0, (0, 1), 3, (2, 3)], "categorical_features": [3]},
        {"features": [0, 4], "confidence_level": 0.9, "centered": False},
        {
            "features": [1, (0, 2)],
            "n_intervals": 4,
            "confidence_level": 0.8,
            "confidence_method": "bootstrap",
            "n_bootstraps": 5,
        },
        {"n_intervals": "auto"},
    ],
    effects.RegionalEffects: [
        {"grid_resolution": 4},
        {"features": [0, 3], "effect": "ale", "categorical_features": [3]},
        {"joint": True, "max_depth": 1, "split_features": [1, 2], "min_gain": 0.02},
        {"features": [1], "alpha": 0.5, "min_samples_leaf": 3},
    ],
}

# Of a class and of a prediction alike: intervals are for both.
COUNTERFACTUALS = {
    counterfactuals.ExactCounterfactual: [
        {"desired": (0.6, None)},
        {
            "desired": (0.4, 2.0),
            "max_changes": 2,
            "objective": "n_changed",
            "distance": {0: 2.0},
        },
    ],
    counterfactuals.GrowingSpheres: [
        {"desired": (0.6, None), "n_samples": 5},
        {
            "desired": (0.6, None),
            "n_samples": 5,
            "features_to_vary": [0, 1],
            "permitted_range": {0: (-3, 3)},
            "direction": {1: "increase"},
        },
    ],
    counterfactuals.WachterCounterfactual: [
        {"desired": (0.6, None), "max_iter": 3},
        {
            "desired": (0.4, 2.0),
            "method": "search",
            "max_iter": 3,
            "max_changes": 2,
            "distance": {0: 2.0},
        },
    ],
}

# A regressor that takes numbers, texts and missing values as levels.
OF_ANY_COLUMNS = make_pipeline(
    OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
    DecisionTreeRegressor(max_depth=3, random_state=0),
)
# Few players: a regression is fitted for each coalition.
OF_TWO = {"g": slice(1, None)}

IMPORTANCE = {
    importance.ConditionalImportanceTest: [
        {"test": "loco", "cv": 2},
        {
            "test": "hrt",
            "sampler": Shuffled(),
            "n_samples": 25,
            "cv": 2,
            "correction": None,
        },
        {
            "test": "gcm",
            "nuisance": OF_ANY_COLUMNS,
            "feature_groups": {"g": [0, 3]},
            "cv": 2,
            "n_splits": 1,  # of "pcm", the default test, to which a check fits again
            "correction": "bh",
        },
    ],
    importance.DropColumnImportance: [
        {"cv": 2},
        {
            "cv": 3,
            "feature_groups": {"g": [0, 3]},
            "removal": "constant",
            "scoring": {"one": OwnScore(), "same": OwnScore()},
        },
    ],
    diagnosis.ChangeAttribution: [
        {"n_permutations": 4},
        {"n_permutations": 2, "feature_groups": {"two": [0, 1]}},
        {"loss": None, "subsample": 20, "random_state": 0, "alpha": 0.1, "cv": 2},
    ],
    diagnosis.ErrorSlices: [
        {"cv": 2, "min_samples": 0.1},
        {"cv": 2, "direction": "better", "max_conditions": 1, "correction": "bh"},
        {"cv": 3, "max_conditions": 3, "n_slices": 2, "n_bins": 3, "min_samples": 10},
    ],
    report.InspectionReport: [
        {"cv": 2, "sections": [], "checks": ["overfit"]},
        {"cv": 2, "sections": [], "checks": ["background", "overfit"]},
    ],
    importance.PartialDependenceImportance: [
        {"grid_resolution": 5},
        {"subsample": 30, "threshold": 0.01, "percentiles": (0, 1)},
    ],
    importance.PermutationTest: [
        {"n_permutations": 3, "importance_getter": CoefficientsOrNone()},
        {
            "n_permutations": 3,
            "distribution": "normal",
            "feature_groups": {"g": [0, 3]},
            "importance_getter": CoefficientsOrNone(),
        },
    ],
    importance.PermutationImportance: [
        {"n_repeats": 3},
        {"method": "exact", "feature_groups": {"g": [0, 3]}},
        {"method": "split", "n_repeats": 2, "conditional": True, "subsample": 50},
    ],
    importance.SAGE: [
        {"n_permutations": 4, "subsample": 10},
        {"feature_groups": {"g": [0, 3]}, "subsample": 20},
        {"method": "sampling", "n_permutations": 4, "subsample": 10},
        {"dependence": "auto", "feature_groups": {"all": slice(None)}, "subsample": 8},
    ],
}

INFLUENCE = {
    influence.DataValues: [{}],
    influence.InfluenceFunctions: [{}, {"damping": 0.5, "scaling": "mean"}],
    influence.DeletionDiagnostics: [
        {"rows": [0]},
        {},
        {"what": "loss", "subsample": 30},
    ],
    influence.PredictionWeights: [{}, {"n_kept": 3}],
    influence.RegressionInfluence: [{}, {"approximation": "refit"}],
}

INTERACTIONS = {
    interactions.FunctionalDecomposition: [
        {},
        {"max_order": 3, "feature_groups": {"g": [0, 3]}, "subsample": 5},
        {
            "max_order": 1,
            "subsample": 5,
            "response_method": ["predict_proba", "predict"],
        },
    ],
    interactions.HStatistic: [
        {"subsample": 30},
        {"pairs": [(0, 1), (4, 2)], "three_way": [(0, 1, 2)], "squared": False},
        {
            "features": [0, 3, "g"],
            "feature_groups": {"g": [1, 2]},
            "three_way": True,
            "method": "brute",
            "subsample": 20,
        },
    ],
    interactions.PartialDependenceInteraction: [
        {"grid_resolution": 3},
        {"pairs": [(0, 1), (3, 2)], "categorical_features": [3], "subsample": 30},
    ],
    interactions.VariableInteractionNetwork: [
        {"n_repeats": 3},
        {
            "features": [0, 3, "g"],
            "feature_groups": {"g": [1, 2]},
            "max_order": 3,
            "n_repeats": 2,
            "subsample": 30,
        },
    ],
}

LINEAR = {
    linear.CoefficientInference: [
        {},
        {"interval": "profile", "dispersion": "quasi"},
        {"covariance": "HC0", "confidence_level": 0.9},
    ],
    linear.SparseLinearClassifier: [{}, {"n_features_to_select": 2}],
    linear.SparseLinearRegressor: [{}, {"n_features_to_select": 2}],
}

PROTOTYPES = {
    prototypes.MMDCritic: [
        {"n_prototypes": 4, "n_criticisms": 3},
        {
            "n_prototypes": 3,
            "kernel": "gower",
            "gamma": 2.0,
            "categorical_features": [3],
            "criticism_regularizer": None,
        },
    ],
    prototypes.KMedoids: [
        {"n_clusters": 3},
        {
            "n_clusters": 4,
            "metric": "manhattan",
            "method": "alternate",
            "init": "random",
            "n_init": 1,
        },
        {"n_clusters": 2, "metric": "gower", "max_iter": 20},
    ],
    prototypes.NearestPrototypeClassifier: [
        {"selector": prototypes.KMedoids(n_clusters=3, random_state=0)},
        {"selector": prototypes.KMedoids(n_clusters=5, random_state=0, metric="gower")},
        {
            "selector": prototypes.MMDCritic(
                n_prototypes=2, n_criticisms=0, by_class=True
            )
        },
    ],
    prototypes.NearestPrototypeRegressor: [
        {"selector": prototypes.KMedoids(n_clusters=3, random_state=0)},
        {"selector": prototypes.KMedoids(n_clusters=5, random_state=0, metric="gower")},
    ],
}

DECOMPOSITION = {
    decomposition.NaiveBayesContributions: [{}],
    decomposition.NeighborContributions: [{}],
    decomposition.TreePathContributions: [
        {},
        {"response_method": ["predict_proba", "predict"]},
    ],
}

RULES = {
    rules.BayesianRuleListClassifier: [
        {"n_samples": 10},
        {
            "list_length_prior": 2.0,
            "rule_size_prior": 2.0,
            "alpha": 0.5,
            "min_support": 0.2,
            "max_conditions": 3,
            "max_rules": 20,
            "n_chains": 2,
            "n_samples": 10,
            "class_weight": "balanced",
            "categorical_features": [3],
        },
    ],
    rules.OneRClassifier: [
        {},
        {
            "strategy": "uniform",
            "n_bins": 3,
            "class_weight": "balanced",
            "categorical_features": [3],
        },
    ],
    rules.RIPPERClassifier: [
        {},
        {"prune": False, "class_weight": "balanced", "categorical_features": [3]},
        {"n_optimizations": 0, "min_weight": 1.0},
    ],
    rules.RuleFitClassifier: [
        {"max_rules": 4, "n_folds": 2},
        {
            "max_rules": 20,
            "tree_size": 3,
            "learning_rate": 0.2,
            "linear": False,
            "class_weight": "balanced",
            "n_folds": 3,
            "categorical_features": [3],
        },
    ],
    rules.RuleFitRegressor: [
        {"max_rules": 4, "n_folds": 2},
        {
            "max_rules": 20,
            "learning_rate": 0.2,
            "trim": 0.1,
            "n_folds": 3,
            "categorical_features": [3],
        },
    ],
    rules.SkopeRulesClassifier: [
        {"n_estimators": 5},
        {
            "n_estimators": 3,
            "max_overlap": 0.5,
            "class_weight": "balanced",
            "categorical_features": [3],
        },
    ],
}

SHAPLEY = {
    shapley.BreakDown: [
        {"subsample": None},
        {"interactions": True, "feature_groups": {"g": [0, 2]}, "subsample": 5},
    ],
    shapley.LinearSHAP: [
        {},
        {"perturbation": "correlation", "feature_groups": {"g": [0, 3]}},
        {"feature_groups": "correlation", "within_groups": True},
    ],
    shapley.ExactShapley: [
        {"feature_groups": {"all": slice(None)}, "subsample": None},
        {"feature_groups": {"g": [0, 2]}, "subsample": 5},
        {"dependence": "auto", "feature_groups": OF_TWO, "subsample": 8},
    ],
    shapley.KernelSHAP: [
        {"n_coalitions": 8, "subsample": None},
        {"n_coalitions": 16, "subsample": 5},
        {"dependence": "auto", "feature_groups": OF_TWO, "subsample": 8},
    ],
    shapley.ShapleySampling: [
        {"n_permutations": 2, "subsample": None},
        {"n_permutations": 2, "subsample": 5},
        {"dependence": "auto", "feature_groups": OF_TWO, "subsample": 8},
    ],
    shapley.ShapleyValues: [
        {"subsample": 1.0, "budget": 4},
        {"algorithm": "permutation", "budget": 8, "subsample": 5},
        {"dependence": "auto", "feature_groups": OF_TWO, "subsample": 8},
    ],
    shapley.TreeSHAP: [
        {},
        {"perturbation": "path_dependent", "feature_groups": {"g": [0, 3]}},
        {"subsample": 20, "response_method": ["predict_proba", "predict"]},
        {"feature_groups": {"g": [0, 1]}, "within_groups": True},
    ],
}

SURROGATES = {
    surrogates.GlobalSurrogate: [
        {"min_fidelity": None},
        {"subset": MostRows(), "subsample": 0.9, "min_fidelity": None},
    ],
    surrogates.LimeImage: [
        {"n_samples": 32, "min_fidelity": None},
        {
            "n_samples": 8,
            "hide_color": 1,
            "n_features_to_select": 3,
            "feature_selection": "highest_weights",
            "min_fidelity": None,
        },
    ],
    surrogates.LimeTabular: [
        {"n_samples": 32, "n_features_to_select": None, "min_fidelity": None},
        {
            "n_samples": 8,
            "discretize": False,
            "sample_around": "instance",
            "correlated": True,
            "categorical_features": [0],
            "n_features_to_select": 3,
            "feature_selection": "forward",
            "min_fidelity": None,
        },
    ],
}

ARGUMENTS = {
    **ADDITIVE,
    **ADVERSARIAL,
    **ANCHORS,
    **COUNTERFACTUALS,
    **DECOMPOSITION,
    **EFFECTS,
    **IMPORTANCE,
    **INFLUENCE,
    **INTERACTIONS,
    **LINEAR,
    **PROTOTYPES,
    **RULES,
    **SHAPLEY,
    **SURROGATES,
}
for public_class, rows in ARGUMENTS.items():
    for row in rows if takes(public_class, "random_state") else []:
        row.setdefault("random_state", 0)

# Inspectors of texts, which the contract's tables say nothing to: their own tests hold
# them to the promises that make sense for texts.
OF_TEXTS = {
    counterfactuals.AnchorsText,
    surrogates.LimeText,
    counterfactuals.TextCounterfactual,
}

# Models that stay as they were fitted, or wrap those of another library, and their
# family. Most checks fit what they get: scikit-learn leaves its FrozenEstimator out of
# them, and these have their own tests.
FITTED = {diagnosis.ModelDifference: "diagnosis", survival.SurvivalModel: "survival"}

# Inspectors that fit the model again, to parts of the rows, or look for its own
# importances. Boosting has none of these, and bounds its leaves in rows, so that a
# weight is not as good as copies in parts.
REFITTING = {
    diagnosis.ErrorSlices,
    influence.DeletionDiagnostics,
    importance.ConditionalImportanceTest,
    importance.DropColumnImportance,
    importance.PermutationTest,
    report.InspectionReport,
}
# Inspectors that look at all pairs of features: one model of each kind is enough.
OF_PAIRS = {interactions.HStatistic, interactions.PartialDependenceInteraction}
# Inspectors that ask for each pair at each row, or fit again for each feature. Some of
# scikit-learn's tables have thirty features: half of them are moved together there.
GROUPED = {
    importance.ConditionalImportanceTest,
    importance.DropColumnImportance,
    interactions.HStatistic,
    interactions.VariableInteractionNetwork,
}
# Inspectors that take models of trees only.
OF_TREES = {decomposition.TreePathContributions, shapley.TreeSHAP}
# Inspectors that take linear models only.
OF_LINES = {
    linear.CoefficientInference,
    shapley.LinearSHAP,
    influence.RegressionInfluence,
}
# Inspectors of models of one kind, and such models.
OF_ONE_KIND = {
    linear.CoefficientInference: [LinearRegression(), LogisticRegression(C=np.inf)],
    decomposition.NaiveBayesContributions: [BernoulliNB()],
    influence.DataValues: [
        KNeighborsRegressor(3, algorithm="brute"),
        KNeighborsClassifier(3, algorithm="brute"),
    ],
    decomposition.NeighborContributions: [
        # The trees of the other algorithms count their calls.
        KNeighborsRegressor(3, algorithm="brute"),
        KNeighborsClassifier(3, algorithm="brute"),
    ],
    influence.InfluenceFunctions: [
        LinearRegression(),
        HistGradientBoostingClassifier(max_iter=2, learning_rate=0.5),
        LogisticRegression(),
    ],
    influence.PredictionWeights: [
        KNeighborsRegressor(3, algorithm="brute"),
        RandomForestClassifier(3, max_depth=4, random_state=0),
    ],
}
# Inspectors that scikit-learn's checks see around a regressor too.
OF_BOTH_KINDS = {
    effects.PartialDependence,
    influence.InfluenceFunctions,
    linear.CoefficientInference,
}
# Estimators that call the model often, or fit another, or choose smoothing. The first
# set of arguments, for all rows, is for scikit-learn's checks alone, and the models are
# quick.
COSTLY = {
    additive.GAMClassifier,
    additive.GAMRegressor,
    report.InspectionReport,
    counterfactuals.Anchors,
    shapley.BreakDown,
    influence.DeletionDiagnostics,
    counterfactuals.ExactCounterfactual,
    shapley.ExactShapley,
    surrogates.GlobalSurrogate,
    counterfactuals.GrowingSpheres,
    shapley.KernelSHAP,
    surrogates.LimeImage,
    surrogates.LimeTabular,
    shapley.ShapleySampling,
    shapley.ShapleyValues,
    counterfactuals.WachterCounterfactual,
}


def wraps_a_model(estimator_class):
    """Whether instances are made around a model."""
    return takes(estimator_class, "estimator")


INSPECTORS = [c for c in ARGUMENTS if wraps_a_model(c)]
# Those whose work is spread over workers.
OF_WORKERS = [c for c in INSPECTORS if takes(c, "n_jobs")]


def own_arguments(estimator_class):
    """The sets of arguments for the checks of our own."""
    return ARGUMENTS[estimator_class][int(estimator_class in COSTLY) :]


def quick_arguments(estimator_class, model):
    """A set of arguments for checks of all kinds at once, around a model."""
    return suited(estimator_class, own_arguments(estimator_class)[0], model)


def models(inspector_class):
    """Models to test around: a quick regressor, a quick classifier, maybe others."""
    # Two large steps take less time than many small ones, and learn as much.
    two_steps = {"max_iter": 2, "learning_rate": 0.5}
    of_trees = [
        HistGradientBoostingRegressor(**two_steps),
        HistGradientBoostingClassifier(**two_steps),
    ]
    if inspector_class in OF_ONE_KIND:
        return OF_ONE_KIND[inspector_class]
    if inspector_class in OF_TREES:
        # Whole samples, for the weight of a row to be as good as its copies.
        whole = {"bootstrap": False, "max_features": None, "random_state": 0}
        forest = RandomForestClassifier(3, max_depth=4, **whole)
        return [of_trees[0], forest, of_trees[1]]
    if inspector_class in ADVERSARIAL:
        return [LinearRegression(), LogisticRegression(max_iter=1000)]
    if inspector_class in REFITTING:
        return [LinearRegression(), DecisionTreeClassifier(max_depth=3, random_state=0)]
    if inspector_class in COSTLY:
        # scikit-learn's check of a `max_iter` fits the model too.
        more_steps = {"max_iter": 1000} if inspector_class in COUNTERFACTUALS else {}
        return [
            DecisionTreeRegressor(max_depth=3, random_state=0),
            LogisticRegression(**more_steps),
        ]
    if inspector_class in OF_PAIRS:
        return [LinearRegression(), of_trees[1]]
    linear = [LinearRegression(), LogisticRegression()]
    return linear if inspector_class in OF_LINES else [*linear, of_trees[1]]


def instances_for_any_data(estimator_class):
    """The first arguments, around a classifier; first around a regressor for some."""
    first = ARGUMENTS[estimator_class][0]
    if estimator_class in GROUPED:
        first = first | {"feature_groups": {"half": slice(None, None, 2)}}
    if not wraps_a_model(estimator_class):
        return [estimator_class(**first)]
    around = models(estimator_class)[:2]
    return [
        estimator_class(model, **suited_to_any_data(estimator_class, first, model))
        for model in (around if estimator_class in OF_BOTH_KINDS else around[-1:])
    ]


def suited_to_any_data(estimator_class, arguments, model):
    """Arguments for a model, of however many classes."""
    arguments = suited(estimator_class, arguments, model)
    # An interval of probabilities needs a class where there are many.
    classifies = "desired" in arguments and is_classifier(model)
    return arguments | ({"desired": "other"} if classifies else {})


def suited(estimator_class, arguments, model):
    """Arguments for a model: attacks on classifiers have no interval to reach."""
    if estimator_class in ADVERSARIAL and is_classifier(model):
        suiting = {k: value for k, value in arguments.items() if k != "desired"}
        if "attack" in suiting:
            suiting["attack"] = clone(suiting["attack"]).set_params(desired=None)
            suiting["substitute"] = LogisticRegression()
        return suiting
    if estimator_class is influence.InfluenceFunctions and hasattr(model, "max_depth"):
        return arguments | {"damping": 0}  # of parameters, which trees do not have
    return arguments


def instances(estimator_class):
    """Each set of arguments, and each model, at least once."""
    rows = own_arguments(estimator_class)
    if not wraps_a_model(estimator_class):
        return [estimator_class(**arguments) for arguments in rows]
    around = models(estimator_class)
    if estimator_class is influence.InfluenceFunctions:
        # Our checks give weights to models that were fitted without: trees refuse them.
        around = [model for model in around if not hasattr(model, "max_depth")]
    pairs = zip(cycle(around), cycle(rows), strict=False)
    return [
        estimator_class(model, **suited(estimator_class, arguments, model))
        for model, arguments in islice(pairs, max(len(around), len(rows)))
    ]
