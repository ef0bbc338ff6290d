"""Macro definitions and their expansion.

Expansion follows ISO/IEC 9899:1999, 6.10.3, and where that leaves the outcome open, the way GNU cpp does it:
a macro is switched off while tokens of its expansion are still unread, and a name of a macro that is switched
off is painted for good. GNU's `, ## __VA_ARGS__`, named variadic parameters and C23's `__VA_OPT__` are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import NamedTuple

from clmap_lsp.source.expansions import LARGE, TYPED, Expansion, Kept, Key, Meaning, key_of
from clmap_lsp.source.lexer import NO_GAP, SPACE, Cut, Token, Use, is_name, is_one_token, text_of
from clmap_lsp.source.made import NOT_YET, Made
from clmap_lsp.source.pieces import Piece
from clmap_lsp.source.segments import Segment, followed, segments_of

MAX_DEPTH = 120
"""Arguments nested deeper than this are left unexpanded; real code stays below 20."""


class Macro:
    """A macro. `parameters` is `None` for an object-like one; the last is the variadic one if `is_variadic`.

    `dynamic` makes the one token of `__LINE__` and its like. `is_disabled` is the expander's own state.
    """

    __slots__ = (
        *("_body", "_typed", "dynamic", "has_operators", "is_disabled", "is_variadic"),
        *("kept", "n_body", "name", "parameters"),
    )

    def __init__(
        self,
        name: str,
        body: list[Token] | Piece,
        parameters: tuple[str, ...] | None = None,
        is_variadic: bool = False,
        dynamic: Callable[[Token], str] | None = None,
        has_operators: bool = False,
        kept: Kept | None = None,
        n_body: int = 0,
    ) -> None:
        """Take a macro's body, or the directive that it ends, and of how many tokens it is then."""
        self.name = name
        self.parameters = parameters
        self.is_variadic = is_variadic
        self.dynamic = dynamic
        self.has_operators = has_operators
        self.is_disabled = False
        self.kept = Kept() if kept is None else kept
        self.n_body = len(body) if isinstance(body, list) else n_body
        self._body: list[Token] | None = body if isinstance(body, list) else None
        self._typed: Piece | None = None if isinstance(body, list) else body

    @property
    def body(self) -> list[Token]:
        """Return the tokens; not to be changed."""
        if self._body is None:
            assert self._typed is not None
            tokens = self._typed.tokens
            self._body = _body(tokens[len(tokens) - self.n_body :])
        return self._body

    @property
    def place(self) -> tuple[str, int, int]:
        """Return where the body is typed: its file, start and end."""
        if self._body is None and self._typed is not None and self.n_body:
            first, last = self._typed.token(-self.n_body), self._typed.token(-1)
            return first.path, first.start, last.end
        return (self.body[0].path, self.body[0].start, self.body[-1].end) if self.body else ("", 0, 0)

    def fresh(self) -> Macro:
        """Return the same macro with a state of its own, for another run of the preprocessor."""
        return self._copy(self._body if self._typed is None or self._body is not None else self._typed)

    def moved(self, directive: Piece) -> Macro:
        """Return the same macro by the directive that defines it where that is typed elsewhere."""
        return self._copy(directive)

    def follow(self, now: Cut, earlier: Macro, text: str, at: int) -> None:
        """Take over what was made of the segments of an earlier version's body that an edit leaves alone.

        Args:
            now: this version's body in its directive.
            text: of the earlier directive.
            at: where that started.
        """
        known = earlier.kept.segments
        if known is not None and self.n_body and self.parameters == earlier.parameters:
            self.kept.segments = followed(known, Cut(text, at, earlier.body), now)

    def _copy(self, body: list[Token] | Piece | None) -> Macro:
        return Macro(
            self.name,
            [] if body is None else body,
            self.parameters,
            self.is_variadic,
            None,
            self.has_operators,
            self.kept,
            self.n_body,
        )

    @property
    def words(self) -> frozenset[str]:
        """Return the texts of the tokens of the body."""
        if self.kept.words is None:
            self.kept.words = frozenset(map(text_of, self.body))
        return self.kept.words

    @property
    def spelled(self) -> str:
        """Return the body as one text."""
        if self.kept.spelled is None:
            self.kept.spelled = _as_text(self.body)
        return self.kept.spelled

    @property
    def beginning(self) -> str:
        """Return the first 60 characters of the body as one text."""
        if self.kept.beginning is None:
            self.kept.beginning = _as_text(self.body[:60])[:60]
        return self.kept.beginning


def _as_text(tokens: list[Token]) -> str:
    parts = ((" " if it.gap != NO_GAP and at else "") + it.text for at, it in enumerate(tokens))
    return "".join(parts).strip()


_OPERATORS = frozenset({"#", "##", "__VA_OPT__"})
_LONGEST_PASTE = 8
"""Characters of `##` with white space around it; between the bodies of two macros there are more."""
CHARACTERS_A_TOKEN = 16
"""Characters made by `#` and `##` that count as one token."""


class TooManyTokensError(Exception):
    """Expansion passed the limit: a macro bomb."""


class Noted(NamedTuple):
    """What is looked at while something is expanded: texts, and the tokens that name macros with these."""

    seen: set[str]
    log: list[tuple[Token, Macro]]


class _Context:
    """Tokens still to be read, and the macro that they came from."""

    __slots__ = ("at", "macro", "tokens")

    def __init__(self, tokens: list[Token], at: int, macro: Macro | None) -> None:
        self.tokens = tokens
        self.at = at
        self.macro = macro


MAX_ARGUMENTS = 128
"""Tokens of a use of which each segment of a body may expand the arguments anew."""
MAX_UNCLOSED = 8
"""Uses of macros that are not closed and are left as they are typed: each is followed to the file's end."""


class Expander:
    """Expands macro uses in lists of tokens: `limit` tokens in all, `use_limit` for one use or list."""

    def __init__(self, macros: dict[str, Macro], *, limit: int, use_limit: int | None = None) -> None:
        self.macros = macros
        self._budget = limit
        self._use_limit = limit if use_limit is None else use_limit
        self._use_budget = self._use_limit
        self._depth = 0
        self.log: list[tuple[Token, Macro]] | None = None
        """Gets each token that named a macro, with it."""
        self.unclosed: list[Token] = []
        """Names of macros whose use in a file is not closed."""
        self.miscounted: list[tuple[Token, str]] = []
        """Names of macros that are used in a file with too many or too few arguments, and what is wrong."""
        self.taken: list[tuple[int, Made]] = []
        """What was kept of earlier readings and is part of the output, and from which of its tokens on: these
        are `NOT_YET` in it."""
        self._seen: set[str] | None = None
        """Gets each text that is looked at, while an expansion is to be kept."""
        self._segment_depth = -1
        """The depth of arguments at which a segment is expanded."""
        self._ran_out = False
        """A use in a segment goes on behind it."""

    @property
    def is_used_up(self) -> bool:
        """True if not one use, but all together made too many tokens."""
        return self._budget < 0

    def grant(self, tokens: int) -> None:
        """Add tokens to what may be made in all."""
        self._budget += tokens

    def charge(self, tokens: int) -> None:
        """Take tokens off the budgets. Raises: TooManyTokensError."""
        self._budget -= tokens
        self._use_budget -= tokens
        if self._budget < 0 or self._use_budget < 0:
            raise TooManyTokensError

    def afford(self, tokens: int) -> None:
        """Look at the budgets before so many tokens are made of an argument. Raises: TooManyTokensError."""
        if tokens > self._budget or tokens > self._use_budget:
            raise TooManyTokensError

    def expand_use(
        self, tokens: list[Token], at: int, out: list[Token], refill: Callable[[], bool] | None = None
    ) -> int:
        """Expand the macro use at `tokens[at]` onto `out`; return the index of the first token not used up.

        `refill` is asked for more tokens (appended to `tokens`) when arguments run past the end.
        Raises: TooManyTokensError.
        """
        self._use_budget = self._use_limit
        macro = self.macros[tokens[at].text]
        if refill is not None or not (macro.kept.is_large or macro.n_body >= LARGE):
            n_before = len(out)
            end, _ = self._expand(tokens, at, out, refill)
            macro.kept.is_large = len(out) - n_before >= LARGE
            return end
        end = _end_of_use(macro, tokens, at)
        key = key_of(tokens, at, end)
        kept = macro.kept.by_use.get(key)
        if kept is not None and kept.use.path == tokens[at].path:
            now = kept.now(tokens[at].start, self.meanings(kept.names, macro))
            if now is not None:
                macro.kept.by_use.keep(key, now)
                self.take(now, out)
                return end
        return self._expand_and_keep(tokens, at, out, end, key)

    def _expand(
        self, tokens: list[Token], at: int, out: list[Token], refill: Callable[[], bool] | None
    ) -> tuple[int, Use]:
        name = tokens[at]
        use = Use(name.path, name.start, name.end)
        base = _Context(tokens, at, None)
        self._run([base], use, out, refill, stop_at_base=True)
        if base.at > at + 1:
            use.end = tokens[base.at - 1].end
        return base.at, use

    def take(self, kept: Expansion, out: list[Token]) -> None:
        """Append what is kept of a use."""
        self.charge(kept.cost)
        self.taken.append((len(out), kept.made))
        out += [NOT_YET] * kept.made.count
        if self._seen is not None:
            self._seen |= kept.names
        if self.log is not None:
            macros = map(self.macros.__getitem__, kept.named_macros)
            self.log += zip(kept.named.tokens, macros, strict=True)

    def take_stretch(self, kept: Expansion, out: list[Token]) -> bool:
        """Append what is kept of a stretch of the text; false where all together may pass the limit."""
        if kept.cost > self._budget:
            return False
        self._use_budget += kept.cost  # The limit of one use held for each of them.
        self.take(kept, out)
        return True

    def keep_stretch(self, stretch: Segment, use: Use, noted: Noted, made: Made, budget: int) -> None:
        """Keep what a stretch of the text became, if that follows from its tokens alone.

        Args:
            use: where it stands.
            noted: what was looked at.
            budget: tokens that might be made before it.
        """
        names = frozenset(noted.seen)
        meanings = self.meanings(names, None)
        if any(self.macros[it].dynamic is not None for it in meanings):
            stretch.by_use.pop(TYPED, None)
            return
        named, macros = Made([it for it, _ in noted.log]), [it.name for _, it in noted.log]
        cost = budget - self._budget
        kept = Expansion(use, made, named, macros, names, meanings, cost, is_stretch=True)
        stretch.by_use.keep(TYPED, kept)

    def _last_text(self, out: list[Token]) -> str:
        if out[-1] is NOT_YET:
            return self.taken[-1][1].texts[-1]
        return out[-1].text

    @contextmanager
    def noting(self, seen: set[str]) -> Iterator[Noted]:
        """Note what is looked at and which macros are used meanwhile, also where that is noted already."""
        noted = Noted(seen, [])
        outer, log = self._seen, self.log
        self._seen, self.log = noted.seen, noted.log
        try:
            yield noted
        finally:
            self._seen, self.log = outer, log
            if outer is not None:
                outer |= noted.seen
            if log is not None:
                log += noted.log

    def note(self, tokens: list[Token]) -> None:
        """Note tokens as looked at."""
        if self._seen is not None:
            self._seen.update(map(text_of, tokens))

    @property
    def budget(self) -> int:
        """Tokens that may still be made in all."""
        return self._budget

    def _expand_and_keep(self, tokens: list[Token], at: int, out: list[Token], end: int, key: Key) -> int:
        """Expand a use, and keep what it becomes if that follows from its tokens alone."""
        macro, budget, n_before = self.macros[tokens[at].text], self._budget, len(out)
        n_wrong, n_taken = len(self.unclosed) + len(self.miscounted), len(self.taken)
        with self.noting(set(map(text_of, tokens[at:end]))) as noted:
            found_end, use = self._expand_by_segments(tokens, at, out) or self._expand(tokens, at, out, None)
        names = frozenset(noted.seen)
        meanings = self.meanings(names, macro)
        runs_on = len(out) > n_before and self._last_text(out) in meanings
        varies = any(self.macros[it].dynamic is not None for it in meanings)
        macro.kept.is_large = len(out) - n_before >= LARGE
        if (
            macro.kept.is_large
            and key
            and found_end == end
            and not (runs_on or varies or len(self.unclosed) + len(self.miscounted) > n_wrong)
        ):
            named, macros = [it for it, _ in noted.log], [it.name for _, it in noted.log]
            cost = budget - self._budget
            made = Made(out[n_before:], [(it - n_before, part) for it, part in self.taken[n_taken:]])
            macro.kept.by_use.keep(key, Expansion(use, made, Made(named), macros, names, meanings, cost))
        return found_end

    def _expand_by_segments(self, tokens: list[Token], at: int, out: list[Token]) -> tuple[int, Use] | None:
        """Expand a use of a long macro segment by segment; `None` where that cannot be done."""
        name = tokens[at]
        macro = self.macros[name.text]
        if macro.n_body < LARGE or macro.dynamic is not None:
            return None
        base = _Context(tokens, at + 1, None)
        arguments: list[list[Token]] | None = []
        if macro.parameters is not None:
            if base.at >= len(tokens) or tokens[base.at].text != "(":
                return None
            base.at += 1
            arguments = self._arguments(macro, [base], None)
        if arguments is None or base.at - at > MAX_ARGUMENTS or miscount(macro, arguments) is not None:
            return None
        use = Use(name.path, name.start, tokens[base.at - 1].end)
        before = len(out), self._budget, self._use_budget, len(self.log or ()), len(self.unclosed)
        n_taken = len(self.taken)
        if self.log is not None:
            self.log.append((name, macro))
        self.charge(1)
        end = base.at
        last = _InSegments(self, macro, arguments, use, tokens[at:end]).expand(out)
        if last:
            macro.is_disabled = True
            self._run([base, _Context(last, 0, macro)], use, out, None, stop_at_base=True)
        if last is None or base.at > end:  # What the body ends in is used with what follows: that is one use.
            self._budget, self._use_budget = before[1], before[2]
            for there, n in ((out, before[0]), (self.log or [], before[3]), (self.unclosed, before[4])):
                del there[n:]
            del self.taken[n_taken:]
            return None
        return end, use

    def expand_segment(self, body: list[Token], use: Use) -> list[Token] | None:
        """Return what a segment becomes, its parameters replaced; `None` where a use goes on behind it."""
        out: list[Token] = []
        self._depth += 1
        depth, self._segment_depth, self._ran_out = self._segment_depth, self._depth, False
        try:
            self._run([_Context(body, 0, None)], use, out, None, stop_at_base=False)
        finally:
            self._depth -= 1
            self._segment_depth = depth
        return None if self._ran_out else out

    @contextmanager
    def in_stretch(self) -> Iterator[Callable[[], bool]]:
        """Expand uses in a stretch of the text; what is given tells whether one goes on behind it."""
        depth, self._segment_depth, self._ran_out = self._segment_depth, self._depth, False
        n_unclosed = len(self.unclosed)
        try:
            yield lambda: self._ran_out or len(self.unclosed) > n_unclosed
        finally:
            self._segment_depth = depth

    def meanings(self, names: frozenset[str], own: Macro | None) -> dict[str, Meaning]:
        """Return what those of some names stand for that are macros.

        What is kept of one, `own`, is to hold them: it goes without saying, and would hold itself for ever.
        """
        macros = self.macros
        own_kept = None if own is None else own.kept
        return {
            it: Meaning(None if macros[it].kept is own_kept else macros[it].kept, *macros[it].place)
            for it in macros.keys() & names
        }

    def expand_list(self, tokens: list[Token]) -> list[Token]:
        """Return a list of tokens with every macro in it expanded. Raises: TooManyTokensError."""
        self._use_budget = self._use_limit
        return self.expand_argument(tokens, None)

    def expand_argument(self, tokens: list[Token], use: Use | None) -> list[Token]:
        """Return a list with every macro in it expanded, as part of a use. Raises: TooManyTokensError."""
        if self._seen is not None:
            self._seen.update(map(text_of, tokens))
        if self.macros.keys().isdisjoint(map(text_of, tokens)) or self._depth >= MAX_DEPTH:
            return tokens
        out: list[Token] = []
        self._depth += 1
        try:
            self._run([_Context(tokens, 0, None)], use, out, None, stop_at_base=False)
        finally:
            self._depth -= 1
        return out

    def _run(
        self,
        stack: list[_Context],
        use: Use | None,
        out: list[Token],
        refill: Callable[[], bool] | None,
        *,
        stop_at_base: bool,
    ) -> None:
        macros = self.macros
        started = False
        try:
            while True:
                _pop_read(stack)
                top = stack[-1]
                if top.at >= len(top.tokens) or (started and stop_at_base and len(stack) == 1):
                    return
                started = True
                if len(stack) > 1 or not stop_at_base:
                    at = top.at
                    top.at = _next_use(top.tokens, at, macros)
                    if top.at > at:
                        out += top.tokens[at : top.at]
                        continue
                token = top.tokens[top.at]
                top.at += 1
                macro = macros.get(token.text)
                if macro is None or token.painted:
                    out.append(token)
                elif macro.is_disabled:
                    out.append(_painted(token))
                elif not self._enter(macro, token, stack, use or _use_of(token), refill):
                    out.append(token)
        finally:
            for context in stack:
                if context.macro is not None:
                    context.macro.is_disabled = False

    def _enter(
        self,
        macro: Macro,
        name: Token,
        stack: list[_Context],
        use: Use,
        refill: Callable[[], bool] | None,
    ) -> bool:
        """Replace a use; False where a function-like macro's name is not followed by `(`."""
        if macro.dynamic is not None:
            text = macro.dynamic(name)
            stack.append(
                _Context([Token(text, name.start, name.end, name.gap, name.path, name.use, True)], 0, None)
            )
            return True
        if macro.parameters is None:
            body = self._plain_body(macro, use)
        else:
            _pop_read(stack)
            top = stack[-1]
            if top.at >= len(top.tokens) or top.tokens[top.at].text != "(":
                self._ran_out |= top.at >= len(top.tokens) and self._depth == self._segment_depth
                return False
            is_typed = len(stack) == 1 and self._depth == 0
            opened = top.at
            top.at += 1
            arguments = self._arguments(macro, stack, refill)
            if arguments is None:
                self._ran_out |= self._depth == self._segment_depth
                if is_typed and len(self.unclosed) < MAX_UNCLOSED:
                    self._leave(name, macro, stack[0], opened)
                    return False
                return True
            if is_typed and (wrong := miscount(macro, arguments)) is not None:
                self.miscounted.append((name, wrong))
            body = _Substitution(self, macro, arguments, use).tokens()
        if self.log is not None:
            self.log.append((name, macro))
        self.charge(len(body) + 1)
        if self._seen is not None:
            self._seen.update(map(text_of, body))
        if body:
            first = body[0]
            body[0] = Token(
                first.text, first.start, first.end, name.gap, first.path, first.use, first.painted
            )
        macro.is_disabled = True
        stack.append(_Context(body, 0, macro))
        return True

    def _leave(self, name: Token, macro: Macro, base: _Context, opened: int) -> None:
        """Leave a use that is not closed as it is typed; cpp drops it with all the rest of the file."""
        self.unclosed.append(name)
        if self.log is not None:
            self.log.append((name, macro))
        base.at = opened

    def _plain_body(self, macro: Macro, use: Use) -> list[Token]:
        substitution = _Substitution(self, macro, [], use)
        return substitution.tokens() if macro.has_operators else substitution.made(macro.body)

    def _arguments(
        self, macro: Macro, stack: list[_Context], refill: Callable[[], bool] | None
    ) -> list[list[Token]] | None:
        """Read up to the matching `)`; `None` where the file ends first (cpp drops such a use)."""
        assert macro.parameters is not None
        wanted = len(macro.parameters)
        arguments: list[list[Token]] = [[]]
        depth = 0
        top = stack[-1]
        while True:
            while top.at >= len(top.tokens):
                _pop_read(stack)
                top = stack[-1]
                if top.at >= len(top.tokens) and not (len(stack) == 1 and refill is not None and refill()):
                    return None
            token = top.tokens[top.at]
            top.at += 1
            text = token.text
            if text == "(":
                depth += 1
            elif text == ")":
                if depth == 0:
                    break
                depth -= 1
            elif text == "," and depth == 0 and not (macro.is_variadic and len(arguments) == wanted):
                arguments.append([])
                continue
            elif (other := self.macros.get(text)) is not None and other.is_disabled and not token.painted:
                token = _painted(token)
            arguments[-1].append(token)
        if wanted == 0 and arguments == [[]]:
            return []
        return arguments


def miscount(macro: Macro, arguments: list[list[Token]]) -> str | None:
    """Return what is wrong with the number of arguments that a use gives a macro; `None` where nothing is."""
    wanted = 0 if macro.parameters is None else len(macro.parameters)
    if macro.parameters is None or wanted - macro.is_variadic <= len(arguments) <= wanted:
        return None
    which = "many" if len(arguments) > wanted else "few"
    return f"too {which} arguments provided to function-like macro invocation"


class _InSegments:
    """One use of a long macro, of which each segment is taken from before or expanded."""

    def __init__(
        self, expander: Expander, macro: Macro, arguments: list[list[Token]], use: Use, typed: list[Token]
    ) -> None:
        self.expander = expander
        self.macro = macro
        self.arguments = arguments
        self.use = use
        self.typed = typed
        self.key = key_of(typed, 0, len(typed))

    def expand(self, out: list[Token]) -> list[Token] | None:
        """Append what all segments but the last become; return that one with its parameters replaced.

        `None` where a use in a segment goes on in the next one.
        """
        macro, body = self.macro, self.macro.body
        if macro.kept.segments is None:
            macro.kept.segments = segments_of(body)
        start = 0
        macro.is_disabled = True
        try:
            for segment in macro.kept.segments[:-1]:
                part = body[start : start + segment.n_tokens]
                if not self._expand(segment, part, out, is_first=start == 0):
                    return None
                start += segment.n_tokens
        finally:
            macro.is_disabled = False
        return self._replaced(body[start:], is_first=start == 0)

    def _expand(self, segment: Segment, part: list[Token], out: list[Token], *, is_first: bool) -> bool:
        expander = self.expander
        own = Meaning(None, part[0].path, part[0].start, part[-1].end)
        kept = segment.by_use.get(self.key)
        if kept is not None and kept.use.path == self.use.path:
            meanings = {**expander.meanings(kept.names, self.macro), "": own}
            now = kept.now(self.use.start, meanings, self.use)
            if now is not None:
                segment.by_use.keep(self.key, now)
                expander.take(now, out)
                return True
        return self._expand_anew(segment, part, own, out, is_first=is_first)

    def _expand_anew(
        self, segment: Segment, part: list[Token], own: Meaning, out: list[Token], *, is_first: bool
    ) -> bool:
        expander = self.expander
        with expander.noting(set(map(text_of, self.typed[1:]))) as noted:
            budget = expander.budget
            made = expander.expand_segment(self._replaced(part, is_first=is_first), self.use)
            cost = budget - expander.budget
        if made is None:
            return False
        out += made
        names = frozenset(noted.seen)
        meanings = expander.meanings(names, self.macro)
        if self.key and not any(expander.macros[it].dynamic is not None for it in meanings):
            named, macros = Made([it for it, _ in noted.log]), [it.name for _, it in noted.log]
            kept = Expansion(self.use, Made(made), named, macros, names, {**meanings, "": own}, cost)
            segment.by_use.keep(self.key, kept)
        return True

    def _replaced(self, part: list[Token], *, is_first: bool) -> list[Token]:
        """Return a part of the body with the parameters in it replaced."""
        expander = self.expander
        body = _Substitution(expander, self.macro, self.arguments, self.use).replaced(part)
        expander.charge(len(body))
        expander.note(body)
        return _with_gap(body, self.typed[0].gap) if is_first else body


class _Substitution:
    """One replacement of parameters by arguments, with `#`, `##` and `__VA_OPT__`."""

    def __init__(self, expander: Expander, macro: Macro, arguments: list[list[Token]], use: Use) -> None:
        self.expander = expander
        self.macro = macro
        self.use = use
        parameters = macro.parameters or ()
        # GNU: the comma before `## __VA_ARGS__` goes where the argument is left out, not where it is empty.
        self.left_out = len(arguments) < len(parameters) or (len(parameters) == 1 and arguments == [[]])
        arguments = arguments + [[]] * (len(parameters) - len(arguments))
        self.arguments = dict(zip(parameters, arguments, strict=False))
        self.variadic = parameters[-1] if macro.is_variadic else None
        self.expanded: dict[str, list[Token]] = {}

    def tokens(self) -> list[Token]:
        """Return the replaced body."""
        return self.replaced(self.macro.body)

    def replaced(self, body: list[Token]) -> list[Token]:
        out: list[Token] = []
        arguments = self.arguments
        if not self.macro.has_operators:
            new, made = tuple.__new__, (self.use, False)  # Calling the class costs twice as much.
            for token in body:
                if token[0] in arguments:
                    argument = self._expanded(token[0])
                    self.expander.afford(len(out) + len(argument))
                    out += _with_gap(argument, token[3])
                else:
                    out.append(new(Token, token[:5] + made))
            return out
        marks = [at for at, it in enumerate(body) if it[0] in arguments or it[0] in _OPERATORS]
        at = following = 0
        # True where `##` stands before the next operand; an empty operand leaves nothing to paste with.
        pasting = False
        empty_left = False
        while at < len(body):
            while following < len(marks) and marks[following] < at:
                following += 1
            plain_end = marks[following] if following < len(marks) else len(body)
            plain_end -= plain_end < len(body) and body[plain_end].text == "##"
            if plain_end > at and not pasting:
                out += self.made(body[at:plain_end])
                at, empty_left = plain_end, False
                continue
            token = body[at]
            if token.text == "##" and at > 0 and at + 1 < len(body):
                pasting = True
                at += 1
                continue
            operand, at = self._operand(body, at, raw=pasting or _is_paste(body, at + 1))
            self.expander.afford(len(out) + len(operand))
            if pasting and _is_comma(out) and token.text == self.variadic:
                # It is never pasted either.
                if self.left_out and not empty_left:
                    out.pop()
                out += operand
            elif pasting and not empty_left and out and operand:
                out[-1:] = self._paste(out[-1], operand[0])
                out += operand[1:]
            else:
                out += operand
            empty_left = not operand and (empty_left or not pasting)
            pasting = False
        return out

    def made(self, plain: list[Token]) -> list[Token]:
        """Return tokens of the body as this use makes them."""
        new, made = tuple.__new__, (self.use, False)
        return [new(Token, it[:5] + made) for it in plain]

    def _operand(self, body: list[Token], at: int, *, raw: bool) -> tuple[list[Token], int]:
        """Return what stands at `body[at]` after replacement, and the index behind it."""
        token = body[at]
        if token.text == "#" and self.macro.parameters is not None and at + 1 < len(body):
            if body[at + 1].text in self.arguments:
                return [self._string(token, body[at + 1])], at + 2
            if body[at + 1].text == "__VA_OPT__" and self.variadic and _is_open(body, at + 2):
                end = _closing(body, at + 2)
                inner = self._optional(body[at + 3 : end])
                return [self._stringised(token, body[end], inner)], end + 1
        if token.text == "__VA_OPT__" and self.variadic and _is_open(body, at + 1):
            end = _closing(body, at + 1)
            return _with_gap(self._optional(body[at + 2 : end]), token.gap), end + 1
        if token.text in self.arguments:
            argument = self.arguments[token.text] if raw else self._expanded(token.text)
            return _with_gap(argument, token.gap), at + 1
        return [Token(token.text, token.start, token.end, token.gap, token.path, self.use)], at + 1

    def _optional(self, content: list[Token]) -> list[Token]:
        assert self.variadic is not None
        return self.replaced(content) if self._expanded(self.variadic) else []

    def _expanded(self, name: str) -> list[Token]:
        if (done := self.expanded.get(name)) is None:
            done = self.expanded[name] = self.expander.expand_argument(self.arguments[name], self.use)
        return done

    def _string(self, mark: Token, parameter: Token) -> Token:
        return self._stringised(mark, parameter, self.arguments[parameter.text])

    def _stringised(self, mark: Token, last: Token, tokens: list[Token]) -> Token:
        parts: list[str] = []
        for token in tokens:
            if parts and token.gap != NO_GAP:
                parts.append(" ")
            text = token.text
            if text[0] in "\"'" and len(text) > 1:
                text = text.replace("\\", "\\\\").replace('"', '\\"')
            parts.append(text)
        # Quotes inside quotes double at every level: 100 levels would take all memory.
        self.expander.charge(sum(map(len, parts)) // CHARACTERS_A_TOKEN)
        return Token(f'"{"".join(parts)}"', mark.start, last.end, mark.gap, mark.path, self.use)

    def _paste(self, left: Token, right: Token) -> list[Token]:
        text = left.text + right.text
        self.expander.charge(len(text) // CHARACTERS_A_TOKEN)
        if not is_one_token(text):
            return [left, right]
        is_near = 0 <= right.start - left.end <= _LONGEST_PASTE  # Else they are of different bodies.
        if left.path == right.path and left.use is right.use and is_near:
            return [Token(text, left.start, right.end, left.gap, left.path, self.use)]
        # The operands are typed in different places: the body's one says more than the argument's.
        place = left if left.use is not None or right.use is None else right
        return [Token(text, place.start, place.end, left.gap, place.path, self.use)]


def _use_of(token: Token) -> Use:
    return token.use or Use(token.path, token.start, token.end)


def _painted(token: Token) -> Token:
    return Token(token.text, token.start, token.end, token.gap, token.path, token.use, True)


def _end_of_use(macro: Macro, tokens: list[Token], at: int) -> int:
    """Return the index behind a macro's name and its arguments."""
    if macro.parameters is None or at + 1 >= len(tokens) or tokens[at + 1].text != "(":
        return at + 1
    return min(_closing(tokens, at + 1) + 1, len(tokens))


def _with_gap(tokens: list[Token], gap: int) -> list[Token]:
    if not tokens or tokens[0].gap == gap:
        return list(tokens)
    first = tokens[0]
    return [Token(first.text, first.start, first.end, gap, first.path, first.use, first.painted), *tokens[1:]]


def _next_use(tokens: list[Token], at: int, macros: dict[str, Macro]) -> int:
    """Return the index from `at` on of a token that may be a macro's, or the length."""
    for index in range(at, len(tokens)):
        if tokens[index][0] in macros:
            return index
    return len(tokens)


def _pop_read(stack: list[_Context]) -> None:
    """Drop contexts that are read to their end, and switch their macros on again."""
    while len(stack) > 1 and stack[-1].at >= len(stack[-1].tokens):
        macro = stack.pop().macro
        if macro is not None:
            macro.is_disabled = False


def _is_paste(body: list[Token], at: int) -> bool:
    return 0 < at < len(body) - 1 and body[at].text == "##"


def _is_open(body: list[Token], at: int) -> bool:
    return at < len(body) and body[at].text == "(" and _closing(body, at) < len(body)


def _is_comma(out: list[Token]) -> bool:
    return bool(out) and out[-1].text == ","


def _closing(body: list[Token], at: int) -> int:
    """Return the index of the `)` for the `(` at `at`, or the length where there is none."""
    depth = 0
    for index in range(at, len(body)):
        if body[index].text == "(":
            depth += 1
        elif body[index].text == ")":
            depth -= 1
            if depth == 0:
                return index
    return len(body)


def define(tokens: list[Token]) -> Macro | str:
    """Return the macro that the tokens after `#define` define, or what is wrong with them."""
    if not tokens or not is_name(tokens[0].text):
        return "#define needs a name"
    name, rest = tokens[0].text, tokens[1:]
    if name == "defined":
        return "`defined` cannot be a macro"
    parameters: tuple[str, ...] | None = None
    is_variadic = False
    if rest and rest[0].text == "(" and rest[0].gap == NO_GAP:
        end = next((i for i, token in enumerate(rest) if token.text == ")"), None)
        if end is None:
            return f"the parameter list of `{name}` has no `)`"
        words = [token.text for token in rest[1:end]]
        parsed = _parameters(words)
        if isinstance(parsed, str):
            return f"in the parameters of `{name}`: {parsed}"
        parameters, is_variadic = parsed
        rest = rest[end + 1 :]
    body = _body(rest)
    operators = {"##", "__VA_OPT__"} if parameters is None else _OPERATORS
    texts = frozenset(map(text_of, body))
    has_operators = not texts.isdisjoint(operators)
    if has_operators and (wrong := _misplaced_operator(body, parameters, texts)) is not None:
        return f"in the body of `{name}`: {wrong}"
    kept = Kept(words=texts) if len(body) >= LARGE else None
    return Macro(name, body, parameters, is_variadic, has_operators=has_operators, kept=kept)


def _misplaced_operator(
    body: list[Token], parameters: tuple[str, ...] | None, words: frozenset[str]
) -> str | None:
    """Return what is wrong with a `#` or `##` that has no operand (ISO C 6.10.3.2 and 6.10.3.3)."""
    for at, where in ((0, "start"), (-1, "end")):
        if body[at].text == "##":
            return f"'##' cannot appear at {where} of macro expansion"
    if parameters is None or "#" not in words:
        return None
    followed = pairwise([*map(text_of, body), ""])
    if any(text == "#" and it not in parameters and it != "__VA_OPT__" for text, it in followed):
        return "'#' is not followed by a macro parameter"
    return None


def _body(tokens: list[Token]) -> list[Token]:
    is_apart = bool(tokens) and tokens[0].gap != NO_GAP
    return _with_gap(tokens, SPACE) if is_apart else list(tokens)


def _parameters(words: list[str]) -> tuple[tuple[str, ...], bool] | str:
    if not words:
        return (), False
    names: list[str] = []
    for index, word in enumerate(words):
        last = index == len(words) - 1
        if index % 2 == 1 and word != ",":
            if word == "..." and last:
                return tuple(names), True
            return f"`{word}` where a comma was expected"
        if index % 2 == 0:
            if word == "..." and last:
                return (*names, "__VA_ARGS__"), True
            if not is_name(word):
                return f"`{word}` is not a name"
            if word in names:
                return f"`{word}` is there twice"
            names.append(word)
    if len(words) % 2 == 0:
        return "a name is missing after the last comma"
    return tuple(names), False
