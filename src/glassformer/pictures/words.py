"""How figures speak of a task."""

RULE_WORDS = {  # how figures speak of a rule; a subject has those of its own task
    "law": "rule",
    "input": "context",
    "error": "rule error",
    "demand": "the rule demands",
}
