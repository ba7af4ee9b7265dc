"""Usual names of methods lead to the chapter that explains them, or to a library."""

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[1] / "doc" / "user_guide"

# What people look for, by the page that answers.
NAMES = {
    "effects": "PDP, partial dependence, ICE, d-ICE, ALE, accumulated local effects, "
    "M-plot, marginal plot, ceteris paribus, what-if, regional effects, REPID, GADGET, "
    "RHALE, individual conditional expectation",
    "interactions": "H-statistic, Friedman's H, interaction strength",
    "functional_decomposition": "functional ANOVA, Sobol, functional decomposition",
    "importance": "permutation importance, MDA, SAGE, model reliance",
    "needed": "LOCO, drop-column, PIMP, GCM, PCM, HRT, conditional independence test",
    "shapley": "Shapley value, SHAP, TreeSHAP, interaction value",
    "shapley_any_model": "KernelSHAP, LinearSHAP, break-down, Shapley sampling",
    "shapley_dependence": "Owen value, Winter value, conditional Shapley value, "
    "asymmetric Shapley value, causal Shapley value",
    "shapley_plots": "waterfall, beeswarm, force plot, decision plot, dependence plot",
    "surrogates": "global surrogate",
    "differences": "model difference, champion and challenger, contrast of classes",
    "survival": "survival, censoring, concordance",
    "lime": "LIME, local surrogate",
    "counterfactuals": "counterfactual, recourse",
    "anchors": "anchor",
    "adversarial": "adversarial, FGSM, PGD, DeepFool, one-pixel, patch",
    "prototypes": "MMD-critic, prototype, criticism, k-medoids, outlier",
    "influence": "influence function, Cook's distance, DFBETAS, leverage",
    "linear": "odds ratio, confidence interval, GLM, lasso path",
    "additive": "GAM, spline, concurvity, partial residual",
    "decomposition": "decision path, tree interpreter",
    "rules": "OneR, RIPPER, RuleFit, skope, Bayesian rule list",
    "misleading": "Rashomon",
    "not_here": "EBM, explainable boosting, VIF, multicollinearity, AIC, conformal, "
    "prediction interval, calibration, drift, fairness, causal, uplift, "
    "integrated gradients, saliency, LRP, TCAV, Captum, knockoffs, Boruta, feature "
    "selection, MDI, QII, data Shapley, label errors, SP-LIME, dtreeviz",
}


def entries_of_the_glossary():
    """Terms of the glossary in lower case, each with the page that it links."""
    text = (GUIDE / "glossary.rst").read_text()
    blocks = re.findall(r"((?:^   \S.*\n)+)((?:^      .*\n)+)", text, re.M)
    return {
        term.strip().lower(): re.search(r":doc:`(\w+)`", definition)[1]
        for terms, definition in blocks
        for term in terms.splitlines()
    }


def names_of(page):
    """Usual names that lead to a page, as they are written."""
    return [name.strip() for name in NAMES[page].split(",")]


@pytest.mark.parametrize("page", NAMES)
def test_pages_are_indexed_by_their_names(page):
    """The site's search finds a page by its index first."""
    text = (GUIDE / f"{page}.rst").read_text()
    assert re.findall(r"^   ! single: (.*)$", text, re.M) == names_of(page)


@pytest.mark.parametrize("page", NAMES)
def test_names_lead_to_their_page(page):
    names = [name.lower() for name in names_of(page)]
    if page == "not_here":
        text = (GUIDE / "not_here.rst").read_text().lower()
        assert not [name for name in names if name not in text]
        return
    pages = entries_of_the_glossary()
    for name in names:
        assert page in {p for term, p in pages.items() if name in term}, name
