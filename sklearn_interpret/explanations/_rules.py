"""Rules for rows: anchors."""


class RuleExplanation: ...
