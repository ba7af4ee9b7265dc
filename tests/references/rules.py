"""Rules evaluated row by row, as a reader does."""

import re

import numpy as np


def is_missing(value):
    """Whether a value of a row is missing."""
    return value is None or value != value


def condition_holds(condition, value):
    """Whether a `Condition` holds for one value, read off its attributes."""
    if condition.levels is not None:
        return any(
            level == value or (is_missing(level) and is_missing(value))
            for level in condition.levels
        )
    if is_missing(value):
        return False
    above = condition.low is None or value > condition.low
    return above and (condition.high is None or value <= condition.high)


def rule_holds(rule, row):
    """Whether all conditions of a `Rule` hold for one row."""
    return all(condition_holds(c, row[c.feature]) for c in rule.conditions)


def first_rule(rules, row):
    """Position of the first rule that holds for a row."""
    return next(k for k, rule in enumerate(rules) if rule_holds(rule, row))


_INTERVAL = re.compile(r"(?:(?P<low>\S+) < )?(?P<name>\w+) <= (?P<high>\S+)$")
_ABOVE = re.compile(r"(?P<name>\w+) > (?P<low>\S+)$")
_MISSING = re.compile(r"(?P<name>\w+) is missing$")
_LEVEL = re.compile(r"(?P<name>\w+) = (?P<level>\S+)$")


def words_hold(words, row):
    """Whether a condition in words holds for a row, a dict of values by name."""
    if found := _MISSING.match(words):
        return is_missing(row[found["name"]])
    if found := _LEVEL.match(words):
        return str(row[found["name"]]) == found["level"]
    found = _ABOVE.match(words) or _INTERVAL.match(words)
    groups, value = found.groupdict(), row[found["name"]]
    low = float(groups["low"] or -np.inf)
    return not is_missing(value) and low < value <= float(groups.get("high", np.inf))


def predicted_by_text(text, row):
    """The class, as text, that a list of rules in words gives a row."""
    for line in text.removeprefix("IF ").replace("ELSE IF ", "ELSE ").split("\nELSE "):
        conditions, then, label = line.partition(" THEN ")
        if not then:
            return line
        if all(words_hold(words, row) for words in conditions.split(" and ")):
            return label
    raise AssertionError(f"no default rule in {text!r}")
