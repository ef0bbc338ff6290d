"""Find the rules: every module of this package whose name starts with a code."""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import lru_cache
from pathlib import Path

from clmap_lsp.rules.meta import Rule, parse_docs
from clmap_lsp.suggestions import did_you_mean

_MODULE = re.compile(r"cm\d{3}_\w+")


@lru_cache(maxsize=1)
def all_rules() -> tuple[Rule, ...]:
    """Return every rule, by code."""
    names = sorted(
        it.name for it in pkgutil.iter_modules([str(Path(__file__).parent)]) if _MODULE.fullmatch(it.name)
    )
    return tuple(_load(name) for name in names)


def _load(name: str) -> Rule:
    module = importlib.import_module(f"clmap_lsp.rules.{name}")
    meta = module.RULE
    if not name.startswith(meta.code.lower() + "_"):
        raise ValueError(f"rule module {name} holds {meta.code}")
    return Rule(meta, parse_docs(module.__doc__ or ""), module.check)


def find_rule(word: str) -> Rule | None:
    """Return the rule with this code or name, in any case."""
    return _by_word().get(word.strip().lower())


@lru_cache(maxsize=1)
def _by_word() -> dict[str, Rule]:
    """Return every rule by its code and its name; an editor asks for those of all findings at each key."""
    found: dict[str, Rule] = {}
    for it in all_rules():
        for word in (it.meta.code.lower(), it.meta.name):
            found.setdefault(word, it)
    return found


@lru_cache(maxsize=1)
def selectors() -> tuple[str, ...]:
    """Return every word that selects rules: `ALL`, prefixes, codes, names."""
    codes = [it.meta.code for it in all_rules()]
    prefixes = sorted({code[:length] for code in codes for length in (3, 4)})
    return ("ALL", "CM", *prefixes, *codes, *(it.meta.name for it in all_rules()))


def suggestion(word: str) -> str:
    """Return `; did you mean "CM101"?` for a word that selects nothing."""
    meant = did_you_mean(word, [it for it in selectors() if it != word])
    return meant or '; "clmap-lsp rules" lists them'
