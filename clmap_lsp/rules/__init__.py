"""Rules: one file each, named by its code, found by itself.

To add one, write `cmNNN_name.py` with a docstring (its documentation), `RULE = RuleMeta(...)` and
`check(context) -> Iterator[Finding]`. Nothing else needs to be edited.
"""

from clmap_lsp.rules.meta import Rule, RuleDocs, RuleMeta
from clmap_lsp.rules.registry import all_rules, find_rule, selectors
from clmap_lsp.rules.selection import Selection, UnknownRuleError

__all__ = [
    "Rule",
    "RuleDocs",
    "RuleMeta",
    "Selection",
    "UnknownRuleError",
    "all_rules",
    "find_rule",
    "selectors",
]
