"""Bayesian rule lists: lists of rules with their posterior (Letham et al. 2015)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv
from sklearn.utils import check_random_state

from sklearn_interpret._core.rules.mining import mine_rules
from sklearn_interpret._core.rules.rule_list_posterior import (
    RuleListPosterior,
    gibbs_chain,
    r_hat,
)
from sklearn_interpret._model._sklearn_compat import Interval, warn
from sklearn_interpret._model.progress import with_progress
from sklearn_interpret.exceptions import DisagreeingChainsWarning
from sklearn_interpret.explanations import Condition
from sklearn_interpret.rules._rule_classifiers import RuleListClassifier
from sklearn_interpret.rules._rules import Rule

if TYPE_CHECKING:
    from sklearn_interpret._inspectors.condition_space import ConditionSpace
    from sklearn_interpret._model.rows.sample import Sample

# Largest R-hat of chains that agree (Gelman and Rubin).
_LARGEST_R_HAT = 1.1
# Power of the likelihood when burn-in starts, chosen by hand: with a lower one early
# steps ignore the data, with a higher one chains stay near their first lists.
_FIRST_POWER = 0.1
# The last third of burn-in has the power 1: chains settle, and means over these steps
# say which of them is best.
_SETTLING_FRACTION = 3
# Quantiles at the ends of credible intervals, of 95 %.
_INTERVAL = ((0.025,), (0.975,))


@dataclass(frozen=True)
class BayesianRule(Rule):
    """A rule of a list, with credible intervals of the shares of classes.

    Parameters
    ----------
    conditions : tuple of Condition
        The conditions, at most one for each feature; without any, the rule is the
        default of its list.
    prediction : object
        The class with the largest share.
    coverage : float
        Share of the rows of `fit`, by weight, that the rule decides on.
    precision : float, default=None
        Share of the predicted class among these rows; None if it decides on no row.
    shares : tuple of float, default=None
        Posterior mean of the share of each class where the rule decides.
    n_rows : float, default=None
        Number of rows that the rule decides on, as the sum of their weights.
    shares_low, shares_high : tuple of float, default=None
        Bounds of their 95% credible intervals: as probable below as above.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_interpret.rules import BayesianRuleListClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianRuleListClassifier(n_samples=1000, random_state=0).fit(X, y)
    >>> rule = model.rules_[-1]
    >>> print(rule, rule.prediction)
    otherwise 2
    >>> [round(share, 2) for share in rule.shares_low]
    [0.0, 0.0, 0.86]
    """

    shares_low: tuple[float, ...] | None = None
    shares_high: tuple[float, ...] | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class BayesianRuleListClassifier(RuleListClassifier):
    """The most probable list of short rules, and how probable others are.

    First rules are mined: of one or a few conditions, which hold for enough rows of
    some class. A list of them has a prior, for short lists of short rules, and explains
    the classes of the rows by shares of its own where each rule decides. Markov chains
    sample its posterior; the most probable list that they meet is kept.

    Parameters
    ----------
    list_length_prior : float, default=3.0
        Mean of the Poisson prior of the number of rules, without the default: lambda
        of Letham et al.
    rule_size_prior : float, default=1.0
        Mean of the Poisson prior of the number of conditions of a rule: eta of Letham
        et al.
    alpha : float, default=1.0
        Parameter of the Dirichlet prior of shares: number of rows of each class that
        are added to those seen.
    min_support : float, default=0.1
        Share of the rows of some class for which a rule has to hold.
    max_conditions : int, default=2
        Largest number of conditions of a rule.
    max_rules : int, default=1000
        Largest number of mined rules of each number of conditions. Of more, the most
        informative on the class are taken.
    n_chains : int, default=3
        Number of Markov chains.
    n_samples : int, default=3000
        Number of lists that each chain samples, after as many of burn-in. Thousands of
        rows take 10000 or more.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, by which those of its rows are multiplied as rules are
        sought and as shares of classes are predicted; a dict leaves the classes that it
        lacks at 1. "balanced" makes all classes weigh the same. Coverage and numbers
        of rows are of the rows as they are, and so is precision.
    categorical_features : "auto", None, or list of ints or strs, default="auto"
        Features whose values are levels. "auto" takes the category, object, string
        and boolean columns of a DataFrame.
    random_state : int, RandomState or None, default=None
        Draws the samples.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    rules_ : list of BayesianRule
        The most probable list; the last rule, without conditions, is the default.
        Rules that decide on no row of `fit` are left out.
    posterior_ : list of tuple (rules, share)
        Sampled lists, each with its share of the samples, the largest first. The rules
        of a list are a tuple, and each is a tuple of `Condition`, without the default.
    log_posteriors_ : ndarray of shape (n_chains, n_samples)
        Logarithmic posteriors of the sampled lists, up to a constant.
    r_hat_ : float
        Variance of `log_posteriors_` among chains relative to that within, as a ratio
        of standard deviations (Gelman and Rubin). Above 1.1 the chains disagree, and a
        warning says so.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, where X has names that are all strings.

    Warns
    -----
    DisagreeingChainsWarning
        The chains have left each other, so that `posterior_` is not the posterior,
        and there may be a better list than `rules_`: raise `n_samples` or `n_chains`.
    IdentifierWarning
        A category has more than half as many levels as rows; it is left out, unless
        `categorical_features` names it.
    NoRuleWarning
        Some class is predicted for no row of `fit`, as where its rows are few.

    See Also
    --------
    RIPPERClassifier : Rules found one after the other, class by class.
    OneRClassifier : Rules on a single feature.

    Notes
    -----
    A condition is a level of a category, an interval of a number, or that the value is
    missing; a missing value meets no other. Intervals of a number are unions of bins
    that separate classes (Fayyad and Irani), and of quarters of the rows. Of rules
    that hold for the same rows the shortest, and first, is mined.

    Each step of a chain is a Gibbs step: it draws which of all mined rules, if any,
    stands at a place of the list, from their exact conditional posterior; or to which
    place a rule moves. Probabilities are posterior means of shares, (n_k + alpha) /
    (n + K alpha). A default rule that decides on no row of `fit` predicts from all.

    The more rows, the more probable is a list than those near it, and chains hardly
    leave a region. Burn-in therefore has two parts. In the first chains start apart,
    and the likelihood is raised to a power that increases to one (simulated annealing).
    Then all go on from the end of the one whose lists were the most probable, and so
    once more when samples are drawn. `r_hat_` says whether the samples agree in the
    region that this chain found, not whether there is a better one.

    Rows that meet the same conditions and are of one class are counted as one, so that
    weights do what repeated rows do. Weights that have no common unit are rounded to
    about a millionth of their sum.

    References
    ----------
    Letham, B., Rudin, C., McCormick, T. H., & Madigan, D. (2015). Interpretable
    classifiers using rules and Bayesian analysis. Annals of Applied Statistics 9.
    https://doi.org/10.1214/15-AOAS848

    Yang, H., Rudin, C., & Seltzer, M. (2017). Scalable Bayesian rule lists. Proceedings
    of the 34th International Conference on Machine Learning.
    https://proceedings.mlr.press/v70/yang17h.html

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_interpret.rules import BayesianRuleListClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BayesianRuleListClassifier(n_samples=1000, random_state=0).fit(X, y)
    >>> print(model.to_text())
    IF petal length (cm) <= 5.15 and 0.8 < petal width (cm) <= 1.75 THEN 1
    ELSE IF petal width (cm) <= 1.35 THEN 0
    ELSE 2
    >>> model.predict_proba(X.iloc[[0]]).round(2)
    array([[0.96, 0.02, 0.02]])
    >>> bool(model.r_hat_ < 1.05)
    True
    """

    list_length_prior: float = 3.0
    rule_size_prior: float = 1.0
    alpha: float = 1.0
    min_support: float = 0.1
    max_conditions: int = 2
    max_rules: int = 1000
    n_chains: int = 3
    n_samples: int = 3000
    class_weight: str | dict[Any, float] | None = None
    categorical_features: Any = "auto"
    random_state: int | np.random.RandomState | None = None
    verbose: int | None = None

    rules_: list[BayesianRule] = field(init=False)
    posterior_: list[tuple[tuple[tuple[Condition, ...], ...], float]] = field(
        init=False
    )
    log_posteriors_: NDArray[np.float64] = field(init=False)
    r_hat_: float = field(init=False)

    _parameter_constraints = {
        **RuleListClassifier._parameter_constraints,
        "list_length_prior": [Interval(Real, 0, None, closed="neither")],
        "rule_size_prior": [Interval(Real, 0, None, closed="neither")],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "min_support": [Interval(Real, 0, 1, closed="both")],
        "max_conditions": [Interval(Integral, 1, None, closed="left")],
        "max_rules": [Interval(Integral, 1, None, closed="left")],
        "n_chains": [Interval(Integral, 1, None, closed="left")],
        "n_samples": [Interval(Integral, 4, None, closed="left")],
        "random_state": ["random_state"],
        "verbose": ["verbose", None],
    }

    def _find_rules(
        self, space: ConditionSpace, sample: Sample, class_weights: NDArray[np.float64]
    ) -> list[tuple[Condition, ...]]:
        mined = mine_rules(
            space.table,
            sample.y,
            sample.weights * class_weights[sample.y],
            len(self.classes_),
            min_support=self.min_support,
            max_conditions=self.max_conditions,
            max_rules=self.max_rules,
        )
        posterior = RuleListPosterior(
            mined,
            length_prior=float(self.list_length_prior),
            size_prior=float(self.rule_size_prior),
            # `gammaln` of a subnormal number is infinite.
            alpha=max(float(self.alpha), np.finfo(float).tiny),
        )
        chains = self._sample_chains(posterior)
        lists = [rule_list for chain in chains for rule_list, _ in chain]
        self.log_posteriors_ = np.array([[log for _, log in chain] for chain in chains])
        self.r_hat_ = r_hat(self.log_posteriors_)
        rules = [space.conditions(rule) for rule in mined.rules]
        self.posterior_ = [
            (tuple(rules[i] for i in rule_list), count / len(lists))
            for rule_list, count in Counter(lists).most_common()
        ]
        if self.r_hat_ > _LARGEST_R_HAT:
            warn(
                f"Raise n_samples={self.n_samples} or n_chains={self.n_chains}: the "
                f"chains disagree, as r_hat_={self.r_hat_:.3g} is above "
                f"{_LARGEST_R_HAT}. Shares in `posterior_` mean little, and there may "
                "be a better list than `rules_`.",
                DisagreeingChainsWarning,
            )
        _, best_list = posterior.best
        return [rules[i] for i in best_list]

    def _sample_chains(
        self, posterior: RuleListPosterior
    ) -> list[list[tuple[tuple[int, ...], float]]]:
        """The lists of each chain after burn-in, with their logarithmic posteriors."""
        random = check_random_state(self.random_state)
        n_settling = self.n_samples // _SETTLING_FRACTION
        annealing = self.n_samples - n_settling, _FIRST_POWER
        settling, sampling = (n_settling, 1.0), (self.n_samples, 1.0)
        first_list = None
        for n_steps, first_power in with_progress((annealing, settling, sampling)):
            chains = []
            for _ in with_progress(range(self.n_chains)):
                steps = gibbs_chain(posterior, n_steps, random, first_list, first_power)
                chains.append(list(with_progress(steps, n_steps)))
            # The best chain has the largest mean: its last value may be a peak.
            means = [
                np.mean([log for _, log in chain[-n_settling:]]) for chain in chains
            ]
            first_list, _ = chains[int(np.argmax(means))][-1]
        return chains

    def _make_rule(
        self,
        conditions: tuple[Condition, ...],
        sums: NDArray[np.float64],
        all_sums: NDArray[np.float64],
        class_weights: NDArray[np.float64],
    ) -> Rule:
        rule = super()._make_rule(conditions, sums, all_sums, class_weights)
        # The posterior of shares is a Dirichlet distribution: a beta one of each share.
        counts = class_weights * (sums if sums.any() else all_sums) + self.alpha
        shares = low = high = counts / counts.sum()
        # The share of a single class is known to be one.
        if len(counts) > 1:
            low, high = betaincinv(counts, counts.sum() - counts, _INTERVAL)
        by_class = {"shares": shares, "shares_low": low, "shares_high": high}
        fields = {name: tuple(values.tolist()) for name, values in by_class.items()}
        return BayesianRule(**vars(rule) | fields)
