"""Reader of linear models of word counts: what each word of a text adds."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.sparse import csr_array
from scipy.special import logit
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
)
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import MaxAbsScaler

from sklearn_interpret._core.local.removals import linear_hint
from sklearn_interpret._model.formulas.formula_class import computes_as, formula_class
from sklearn_interpret._model.formulas.linear import LinearModel, read_linear
from sklearn_interpret._model.responses.predictors import unfrozen
from sklearn_interpret._model.responses.response import make_response
from sklearn_interpret.exceptions import UnreadableModelError

READABLE = (
    "a Pipeline of a CountVectorizer, TfidfVectorizer or HashingVectorizer of single "
    "words (analyzer='word', ngram_range=(1, 1), no tokenizer or preprocessor), of "
    "TfidfTransformer, MaxAbsScaler and selectors of features, and of a linear model"
)
# Steps that work column by column, but for a norm.
_STEPS = (TfidfTransformer, MaxAbsScaler, SelectorMixin)
_SINGLE_WORDS = {
    "input": "content",
    "analyzer": "word",
    "ngram_range": (1, 1),
    "tokenizer": None,
    "preprocessor": None,
}
_TOLERANCE = 1e-7


@dataclass(frozen=True, eq=False)
class BagOfWords:
    """A linear model of how often words stand in a text, built by :meth:`of`."""

    vectorizer: CountVectorizer | HashingVectorizer
    steps: list  # all but the last; a pipeline of hashing alone counts as unfitted
    last: object
    model: LinearModel  # the last step
    outcome: object

    @classmethod
    def read(cls, outcome):
        """Read the model of a `TargetOutcome`; an UnreadableModelError says why not."""
        pipeline = unfrozen(outcome.estimator)
        steps = pipeline.steps if computes_as(pipeline, Pipeline) else []
        parts = [unfrozen(p) for _, p in steps if p is not None and p != "passthrough"]
        if len(parts) < 2 or not (
            formula_class(parts[0], (CountVectorizer, HashingVectorizer))
            and _SINGLE_WORDS.items() <= parts[0].get_params().items()
            and all(formula_class(part, _STEPS) for part in parts[1:-1])
        ):
            raise UnreadableModelError(
                f"{type(pipeline).__name__} is no linear bag of words. What can be "
                f"read: {READABLE}."
            )
        model = read_linear(parts[-1])
        if model.exponential:
            raise UnreadableModelError("It is the exponential of a linear function.")
        return cls(parts[0], parts[:-1], parts[-1], model, outcome)

    def hint(self, tokens, own, most):
        """Sets of words to remove, and a bound of their size; None if it can't be read.

        `own` is the position of the class of the text, if that counts.
        """
        spaces = self._half_spaces(own)
        parts = self._parts(tokens) if spaces is not None else None
        if parts is None:
            return None
        effects, sizes, total, norm = parts
        found = [
            linear_hint(
                effects @ way,
                sizes,
                total @ way,
                self.model.intercept @ way + shift,
                norm,
                most,
            )
            for way, shift in zip(*spaces, strict=True)
        ]
        sets, bounds = zip(*found, strict=True)
        return sets, (min if self.outcome.is_other else max)(bounds)

    def _half_spaces(self, own):
        """Functions way @ margin + shift that the target keeps from being negative.

        One of them for the target of any other class, else all.
        """
        outcome, n_outputs = self.outcome, len(self.model.intercept)
        if outcome.interval is None:
            ways = np.eye(n_outputs) if n_outputs > 1 else np.array([[-1.0], [1.0]])
            chosen = own if outcome.is_other else outcome.wanted
            ways = ways[chosen] - np.delete(ways, chosen, axis=0)
            return (-ways if outcome.is_other else ways), np.zeros(len(ways))
        low, high = outcome.interval
        if outcome.response.method == "predict_proba":
            margin = make_response(outcome.estimator, "decision_function")
            if margin.name != "log-odds":
                return None
            low, high = logit(np.clip([low, high], 0, 1))
            way = np.array([-1.0 if outcome.response.target == 0 else 1.0])
        else:
            way = outcome.response.read(np.eye(n_outputs))[:, 0]
        ways, shifts = np.array([way, -way]), np.array([-low, high])
        bounded = np.isfinite(shifts)
        return (ways[bounded], shifts[bounded]) if bounded.any() else None

    def _parts(self, tokens):
        """Contributions of words to linear functions and norm, the sum, which norm."""
        if not self._stand_alone(tokens):
            return None
        n_words = len(tokens.keys)
        texts = [[] for _ in range(n_words)]
        for piece, feature in zip(tokens.pieces, tokens.features, strict=True):
            if feature >= 0:
                texts[feature].append(piece)
        texts = ["".join(tokens.pieces), *map(" ".join, texts)]
        X = texts
        for step in self.steps:
            X = step.transform(X)
        X = csr_array(X, dtype=np.float64)
        margins = self.model.margin(X)
        answers = getattr(self.last, self.model.method)(X)
        if not np.allclose(np.reshape(answers, margins.shape), margins):
            return None
        used = np.union1d(X.indices, [0])  # few of all columns
        coefficients, X = self.model.coefficients[used], X[:, used]
        text, alone = X[[0]], X[1:]
        masked = csr_array((alone != 0).multiply(text))
        for norm, parts in ((None, alone), ("l1", masked), ("l2", masked)):
            power = 2 if norm == "l2" else 1
            sizes = (abs(parts) ** power).sum(axis=1)
            scaled = csr_array(alone.multiply(sizes[:, None] ** (1 / power)))
            # Where there is a norm, that of the text is one.
            if norm and (not np.isclose(sizes.sum(), 1) or _differ(scaled, parts)):
                continue
            if not _differ(text, csr_array(parts.sum(axis=0)[None])):
                return parts @ coefficients, sizes, (text @ coefficients)[0], norm
        return None

    def _stand_alone(self, tokens):
        """Whether the vectorizer finds the same in each word next to any others."""
        analyze = self.vectorizer.build_analyzer()
        found, apart = [], True
        for piece, feature in zip(tokens.pieces, tokens.features, strict=True):
            inside = analyze(piece)
            # Two words are separated by text that stays and has no words.
            if inside and (feature < 0 or not apart):
                return False
            apart = feature < 0 or (apart and not inside)
            found += inside
        return found == analyze("".join(tokens.pieces))


def word_form(estimator):
    """Function of a word that is the same for words which a model takes for equal.

    Words are equal where the analyzers of all vectorizers at the start of the model
    make them equal. None for a model without vectorizers.
    """
    analyzers = [
        (v.analyzer, v.build_analyzer(), v.build_preprocessor())
        for v in _vectorizers(estimator)
    ]
    return partial(_form, analyzers) if analyzers else None


def _form(analyzers, word):
    """The form that all analyzers give a word; the word where they differ."""
    forms = set()
    for kind, analyze, preprocess in analyzers:
        of_letters = kind in ("char", "char_wb")
        tokens = [] if of_letters else list(analyze(word))
        if len(tokens) == 1 and isinstance(tokens[0], str):
            forms.add(tokens[0])
        else:
            forms.add(word if callable(kind) else preprocess(word))
    return forms.pop() or word if len(forms) == 1 else word


def _vectorizers(estimator):
    """The vectorizers of texts that a model begins with."""
    model = unfrozen(estimator)
    if isinstance(model, Pipeline):
        return _vectorizers(model[0]) if len(model) else []
    if isinstance(model, FeatureUnion):
        return [v for _, part in model.transformer_list for v in _vectorizers(part)]
    reads = isinstance(model, CountVectorizer | HashingVectorizer)
    return [model] if reads and model.input == "content" else []


def _differ(one, other):
    """Whether two sparse arrays differ by more than rounding."""
    return abs(one - other).max() > _TOLERANCE * max(abs(one).max(), abs(other).max())
