"""The public face: names, parameters and defaults stay as they are promised."""

import importlib
import inspect
import pkgutil
from importlib.resources import files

import pytest

import sklearn_interpret
from sklearn_interpret import (
    additive,
    adversarial,
    counterfactuals,
    decomposition,
    effects,
    importance,
    influence,
    interactions,
    linear,
    prototypes,
    rules,
    shapley,
    surrogates,
)
from tests.instances import wraps_a_model

PUBLIC = [
    module.name
    for module in pkgutil.walk_packages(
        sklearn_interpret.__path__, "sklearn_interpret."
    )
    if "._" not in module.name
]

FIRST = {
    "features": None,
    "categorical_features": "auto",
    "feature_groups": None,
}
LAST = {
    "response_method": "auto",
    "target": None,
    "subsample": None,
    "random_state": None,
    "n_jobs": None,
    "verbose": 0,
}
GRID = {
    "grid_resolution": 100,
    "percentiles": (0.05, 0.95),
    "custom_values": None,
}
OWN = {
    "PartialDependence": {**GRID, "centered": False, "method": "auto"},
    "IndividualConditionalExpectation": {
        **GRID,
        "center": None,
        "derivative": False,
        "method": "auto",
    },
    "ConditionalDependence": {"n_intervals": None, "custom_values": None},
    "AccumulatedLocalEffects": {
        "n_intervals": None,
        "custom_values": None,
        "categorical_order": "similarity",
        "centered": True,
        "confidence_level": None,
        "confidence_method": "standard_error",
        "n_bootstraps": 200,
        "method": "auto",
    },
}
SHAPLEY = {
    "BreakDown": {
        "order": "greedy",
        "interactions": False,
        "link": "identity",
        "background": None,
        "feature_groups": None,
        "subsample": 100,
    },
    "LinearSHAP": {
        "perturbation": "interventional",
        "background": None,
        "feature_groups": None,
    },
    "ExactShapley": {
        "link": "identity",
        "background": None,
        "feature_groups": None,
        "subsample": 100,
    },
    "KernelSHAP": {
        "n_coalitions": "auto",
        "link": "identity",
        "background": None,
        "feature_groups": None,
        "subsample": 100,
    },
    "ShapleySampling": {
        "n_permutations": 50,
        "antithetic": True,
        "link": "identity",
        "background": None,
        "feature_groups": None,
        "subsample": 100,
    },
    "ShapleyValues": {
        "algorithm": "auto",
        "budget": None,
        "background": None,
        "feature_groups": None,
    },
    "TreeSHAP": {
        "perturbation": "interventional",
        "background": None,
        "feature_groups": None,
    },
}
IMPORTANCE = {
    "DropColumnImportance": {
        "cv": None,
        "scoring": None,
        "removal": "auto",
        "feature_groups": None,
        "threshold": 0.0,
        "response_method": "auto",
        "n_jobs": None,
        "verbose": 0,
    },
    "PartialDependenceImportance": {
        "categorical_features": "auto",
        "feature_groups": None,
        **GRID,
        "method": "auto",
        "threshold": 0.0,
        **LAST,
    },
    "PermutationTest": {
        "n_permutations": 100,
        "distribution": "empirical",
        "alpha": 0.05,
        "importance_getter": "permutation",
        "feature_groups": None,
        "random_state": None,
        "n_jobs": None,
        "verbose": 0,
    },
    "PermutationImportance": {
        "scoring": None,
        "n_repeats": 10,
        "comparison": "difference",
        "method": "permutation",
        "feature_groups": None,
        "conditional": False,
        "threshold": 0.0,
        "response_method": "auto",
        "subsample": None,
        "random_state": None,
        "n_jobs": None,
        "verbose": 0,
    },
}
INFLUENCE = {
    "DeletionDiagnostics": {
        "rows": None,
        "what": "prediction",
        "groups": None,
        **LAST,
    },
    "InfluenceFunctions": {
        "damping": 0.0,
        "scaling": "sum",
        "groups": None,
        "n_jobs": None,
        "verbose": 0,
    },
    "RegressionInfluence": {"approximation": "one_step", "n_jobs": None, "verbose": 0},
}
INTERACTIONS = {
    "HStatistic": {
        "features": None,
        "pairs": None,
        "three_way": False,
        "squared": True,
        "method": "auto",
        "n_repeats": 1,
        "feature_groups": None,
    },
    "PartialDependenceInteraction": {
        "features": None,
        "pairs": None,
        "categorical_features": "auto",
        "feature_groups": None,
        **GRID,
        "grid_resolution": 20,
        "method": "auto",
    },
    "VariableInteractionNetwork": {
        "features": None,
        "threshold": 0.01,
        "max_order": 2,
        "n_repeats": 10,
        "feature_groups": None,
    },
}

LOCAL_SURROGATES = {
    "LimeTabular": {
        "n_features_to_select": 10,
        "n_samples": 5000,
        "kernel_width": None,
        "discretize": True,
        "feature_selection": "lars",
        "surrogate": None,
        "sample_around": "training",
        "correlated": False,
        "categorical_features": "auto",
        "method": "auto",
        "min_fidelity": 0.2,
        "response_method": "auto",
        "target": None,
        "random_state": None,
        "n_jobs": None,
        "verbose": 0,
    },
    "LimeImage": {
        "image_shape": None,
        "segmentation": None,
        "n_segments": None,
        "hide_color": None,
        "n_features_to_select": None,
        "n_samples": 1000,
        "kernel_width": None,
        "feature_selection": "lars",
        "surrogate": None,
        "min_fidelity": 0.2,
        "response_method": "auto",
        "target": None,
        "random_state": None,
        "n_jobs": None,
        "verbose": 0,
    },
    "LimeText": {
        "n_features_to_select": 10,
        "n_samples": 1000,
        "tokenizer": None,
        "split_expression": r"\W+",
        "bow": True,
        "mask_token": None,
        "kernel_width": None,
        "feature_selection": "lars",
        "surrogate": None,
        "min_fidelity": 0.2,
        "response_method": "auto",
        "target": None,
        "random_state": None,
        "n_jobs": None,
        "verbose": 0,
    },
}


ANCHORS = {
    "precision": 0.95,
    "delta": 0.1,
    "tau": 0.15,
    "beam_size": 4,
    "max_anchor_size": None,
    "n_samples": 2000,
    "n_coverage_samples": 10000,
}
OF_ANCHORS = {"tolerance": None, "random_state": None, "n_jobs": None, "verbose": 0}
ANCHORS_OF = {
    "Anchors": {
        **ANCHORS,
        "discretize": True,
        "categorical_features": "auto",
        **OF_ANCHORS,
    },
    "AnchorsText": {
        **ANCHORS,
        "replacement": "mask",
        "mask_token": None,
        "tokenizer": None,
        "split_expression": r"\W+",
        "bow": True,
        **OF_ANCHORS,
    },
}

TEXT_COUNTERFACTUAL = {
    "desired": "other",
    "target": None,
    "max_removed": None,
    "method": "auto",
    "max_iter": 50,
    "tokenizer": None,
    "split_expression": r"\W+",
    "bow": True,
    "mask_token": None,
    "n_jobs": None,
    "verbose": 0,
}

SURROGATES = {
    "GlobalSurrogate": {
        "surrogate": None,
        "scoring": "r2",
        "subset": None,
        "min_fidelity": 0.2,
    },
}


WISH = {
    "desired": "other",
    "target": None,
    "features_to_vary": None,
    "permitted_range": None,
    "direction": None,
    "categorical_features": "auto",
    "max_changes": None,
    "distance": "mad",
    "n_counterfactuals": 1,
}
WORK = {"random_state": None, "n_jobs": None, "verbose": 0}
COUNTERFACTUALS = {
    "ExactCounterfactual": {
        "constraints": None,
        "time_limit": 10.0,
        "objective": "distance",
        "margin": 0.0,
        "region": False,
        "n_jobs": None,
        "verbose": 0,
    },
    "GrowingSpheres": {
        "n_samples": 100,
        "first_radius": 1.0,
        "decrease": 2.0,
        **WORK,
    },
    "WachterCounterfactual": {
        "tolerance": 1e-3,
        "max_iter": 100,
        "method": "auto",
        **WORK,
    },
}
OWN_ATTACKS = {
    "AdversarialPatch": {
        "target": None,
        "desired": None,
        "image_shape": None,
        "patch_shape": 0.3,
        "scale": 1.0,
        "max_rotation": 0.0,
        "n_transforms": 64,
        "n_steps": 100,
        "step_size": 0.1,
        "n_restarts": 4,
        "subsample": 500,
        "bounds": None,
        "features_to_vary": None,
        **WORK,
    },
    "SubstituteAttack": {
        "attack": None,
        "substitute": None,
        "n_seeds": 100,
        "n_rounds": 2,
        "step": 0.1,
        "max_queries": None,
        **WORK,
    },
}

ATTACKED = {
    "target": None,
    "desired": None,
    "norm": "inf",
    "units": "std",
    "bounds": None,
    "features_to_vary": None,
}
ADVERSARIAL = {
    "HopSkipJump": {"n_steps": 8, "n_draws": 20, **ATTACKED, "norm": "2", **WORK},
    "OnePixelAttack": {
        "n_pixels": 1,
        "image_shape": None,
        "population_size": 100,
        "n_generations": 100,
        **{n: ATTACKED[n] for n in ATTACKED if n not in ("norm", "units")},
        **WORK,
    },
    "FastGradientSign": {"epsilon": 0.3, **ATTACKED, "n_jobs": None, "verbose": 0},
    "MinimalPerturbation": {
        **ATTACKED,
        "norm": "2",
        "time_limit": 10.0,
        "n_jobs": None,
        "verbose": 0,
    },
    "ProjectedGradient": {
        "epsilon": 0.3,
        "n_steps": 40,
        "step_size": None,
        "n_restarts": 1,
        **ATTACKED,
        **WORK,
    },
}

LINEAR = {
    "SparseLinearClassifier": {"n_features_to_select": None},
    "SparseLinearRegressor": {"n_features_to_select": None},
}

PROTOTYPES = {
    "KMedoids": {
        "n_clusters": 8,
        "metric": "euclidean",
        "method": "fasterpam",
        "init": "build",
        "n_init": 3,
        "max_iter": 100,
        "random_state": None,
    },
    "NearestPrototypeClassifier": {"selector": None},
    "NearestPrototypeRegressor": {"selector": None},
    "MMDCritic": {
        "n_prototypes": 10,
        "n_criticisms": 10,
        "kernel": "auto",
        "gamma": "median",
        "standardize": True,
        "categorical_features": "auto",
        "criticism_regularizer": "logdet",
        "by_class": False,
        "embedding": None,
        "random_state": None,
        "n_jobs": None,
        "verbose": 0,
    },
}

RULE_FIT = {
    "max_rules": 2000,
    "tree_size": 4,
    "learning_rate": 0.01,
    "linear": True,
    "trim": 0.025,
    "n_folds": 5,
    "categorical_features": "auto",
    "random_state": None,
}

RULES = {
    "BayesianRuleListClassifier": {
        "list_length_prior": 3.0,
        "rule_size_prior": 1.0,
        "alpha": 1.0,
        "min_support": 0.1,
        "max_conditions": 2,
        "max_rules": 1000,
        "n_chains": 3,
        "n_samples": 3000,
        "class_weight": None,
        "categorical_features": "auto",
        "random_state": None,
    },
    "RuleFitClassifier": {
        **dict(list(RULE_FIT.items())[:6]),
        "class_weight": None,
        **RULE_FIT,
    },
    "RuleFitRegressor": RULE_FIT,
    "OneRClassifier": {
        "strategy": "majority",
        "min_bin_size": 6,
        "n_bins": 5,
        "class_weight": None,
        "categorical_features": "auto",
    },
    "RIPPERClassifier": {
        "prune": True,
        "n_optimizations": 2,
        "min_weight": 2.0,
        "class_weight": None,
        "categorical_features": "auto",
        "random_state": None,
    },
    "SkopeRulesClassifier": {
        "precision_min": 0.5,
        "recall_min": 0.01,
        "n_estimators": 20,
        "max_depth": 3,
        "max_samples": 0.8,
        "max_overlap": 0.8,
        "class_weight": None,
        "categorical_features": "auto",
        "random_state": None,
    },
}


OF_TERMS = {
    "n_splines": 20,
    "knots": "uniform",
    "by": None,
    "periods": None,
    "monotonic_cst": None,
    "offset": None,
    "smoothing": "reml",
    "shrinkage": True,
    "extrapolation": "linear",
    "handle_unknown": "error",
    "missing": "error",
    "max_iter": 100,
}
ADDITIVE = {
    "GAMClassifier": {"terms": None, **OF_TERMS},
    "GAMRegressor": {"terms": None, "family": "normal", "link": None, **OF_TERMS},
}
DECOMPOSITION = {
    "NaiveBayesContributions": {"target": None},
    "NeighborContributions": {},
    "TreePathContributions": {"response_method": "auto", "target": None},
}
LINEAR = {
    "CoefficientInference": {
        "target": None,
        "covariance": "model",
        "dispersion": "model",
        "interval": "wald",
        "confidence_level": 0.95,
        "n_jobs": None,
        "verbose": 0,
    },
}


def in_order(own):
    """A class's own parameters and defaults, then what all have, with its defaults."""
    return (
        {n: own[n] for n in own if n not in LAST}
        | LAST
        | {name: own[name] for name in own if name in LAST}
    )


PROMISED = {
    **{getattr(additive, name): own for name, own in ADDITIVE.items()},
    **{getattr(adversarial, name): own for name, own in ADVERSARIAL.items()},
    **{
        getattr(counterfactuals, name): {**WISH, **own}
        for name, own in COUNTERFACTUALS.items()
    },
    **{getattr(counterfactuals, name): own for name, own in ANCHORS_OF.items()},
    **{getattr(adversarial, name): own for name, own in OWN_ATTACKS.items()},
    counterfactuals.TextCounterfactual: TEXT_COUNTERFACTUAL,
    **{getattr(linear, name): own for name, own in LINEAR.items()},
    **{getattr(prototypes, name): own for name, own in PROTOTYPES.items()},
    **{getattr(rules, name): own for name, own in RULES.items()},
    **{getattr(importance, name): own for name, own in IMPORTANCE.items()},
    **{getattr(influence, name): own for name, own in INFLUENCE.items()},
    **{getattr(decomposition, name): own for name, own in DECOMPOSITION.items()},
    **{getattr(linear, name): own for name, own in LINEAR.items()},
    **{getattr(surrogates, name): own for name, own in LOCAL_SURROGATES.items()},
    **{getattr(effects, name): {**FIRST, **own, **LAST} for name, own in OWN.items()},
    **{
        getattr(family, name): in_order(own)
        for family, classes in (
            (interactions, INTERACTIONS),
            (shapley, SHAPLEY),
            (surrogates, SURROGATES),
        )
        for name, own in classes.items()
    },
}

# Neighbours vote alike, whatever their rows weigh.
WITHOUT_WEIGHTS = {decomposition.NeighborContributions}

every_class = pytest.mark.parametrize(
    "public_class", PROMISED, ids=lambda c: c.__name__
)


@every_class
def test_parameters_and_defaults(public_class):
    """A wrapped model or selector comes first; all else is passed by keyword."""
    others = list(inspect.signature(public_class).parameters.values())
    if wraps_a_model(public_class):
        estimator = others.pop(0)
        assert estimator.name == "estimator"
        assert estimator.default is inspect.Parameter.empty
        assert estimator.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    kinds = {p.kind for p in others if p.name != "selector"}
    assert kinds <= {inspect.Parameter.KEYWORD_ONLY}
    promised = PROMISED[public_class]
    assert {p.name: p.default for p in others} == promised
    assert list(promised) == [p.name for p in others]


@every_class
def test_fit_takes_the_same_everywhere(public_class):
    """Parameters of a wrapped model's `fit` are taken too."""
    parameters = inspect.signature(public_class.fit).parameters
    expected = ["self", "X", "y", "sample_weight"]
    if public_class in WITHOUT_WEIGHTS:
        expected.remove("sample_weight")
    else:
        assert parameters["sample_weight"].default is None
    if wraps_a_model(public_class):
        expected.append("params")
        assert parameters["params"].kind is inspect.Parameter.VAR_KEYWORD
    assert list(parameters) == expected
    assert parameters["y"].default is None


def test_public_modules():
    assert sorted(PUBLIC) == [
        "sklearn_interpret.additive",
        "sklearn_interpret.adversarial",
        "sklearn_interpret.base",
        "sklearn_interpret.counterfactuals",
        "sklearn_interpret.decomposition",
        "sklearn_interpret.effects",
        "sklearn_interpret.estimator_checks",
        "sklearn_interpret.exceptions",
        "sklearn_interpret.explanations",
        "sklearn_interpret.importance",
        "sklearn_interpret.influence",
        "sklearn_interpret.interactions",
        "sklearn_interpret.linear",
        "sklearn_interpret.prototypes",
        "sklearn_interpret.rules",
        "sklearn_interpret.shapley",
        "sklearn_interpret.surrogates",
    ]


@pytest.mark.parametrize("name", ["sklearn_interpret", *PUBLIC])
def test_declared_names(name):
    """Sorted, present, and nothing else of ours stands beside them in public."""
    module = importlib.import_module(name)
    assert list(module.__all__) == sorted(module.__all__)
    assert len(set(module.__all__)) == len(module.__all__)
    for declared in module.__all__:
        assert hasattr(module, declared), declared
    ours = {
        attribute
        for attribute, value in vars(module).items()
        if not attribute.startswith("_")
        and not inspect.ismodule(value)
        and getattr(value, "__module__", "") == name
    }
    assert ours <= set(module.__all__)


@pytest.mark.parametrize("name", PUBLIC)
def test_star_import(name):
    found = {}
    exec(f"from {name} import *", found)
    del found["__builtins__"]
    assert sorted(found) == importlib.import_module(name).__all__


def test_families_are_listed_on_top():
    assert [
        f"sklearn_interpret.{name}"
        for name in sklearn_interpret.__all__
        if name != "__version__"
    ] == PUBLIC
    assert "effects" in dir(sklearn_interpret)


def test_types_are_declared():
    assert files(sklearn_interpret).joinpath("py.typed").is_file()


def annotated(function):
    """Names in a signature that lack an annotation, the return value among them."""
    signature = inspect.signature(function)
    bare = [
        p.name
        for p in signature.parameters.values()
        if p.annotation is inspect.Parameter.empty and p.name != "self"
    ]
    if signature.return_annotation is inspect.Signature.empty:
        bare.append("return")
    return bare


@every_class
def test_public_signatures_are_annotated(public_class):
    for method_name, method in inspect.getmembers(public_class):
        if method_name != "__init__" and method_name.startswith("_"):
            continue
        if isinstance(method, property):
            method = method.fget
        if inspect.isfunction(inspect.unwrap(method)) and inspect.unwrap(
            method
        ).__module__.startswith("sklearn_interpret"):
            assert annotated(inspect.unwrap(method)) == [], method_name
