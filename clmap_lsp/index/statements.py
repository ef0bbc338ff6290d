"""Statements, functions and whole declarations of a unit."""

from __future__ import annotations

from itertools import takewhile

from clmap_lsp.index import builtins
from clmap_lsp.index.compatible import Value
from clmap_lsp.index.cursor import (
    KEYWORDS,
    MAX_DEPTH,
    OPENING,
    SPECIFIER_WORDS,
    TAG_WORDS,
    FileScope,
    SyntaxFaultError,
)
from clmap_lsp.index.declarators import Declarator, Specifiers, is_void
from clmap_lsp.index.declared import for_kernels_alone, functions_conflict, kernel_parameter_fault
from clmap_lsp.index.model import CALLABLE, TAGS, Edit, Expected, Fix, Kind, Role, Symbol
from clmap_lsp.index.pieces import Unit, all_pieces
from clmap_lsp.index.piecewise import BLOCK, Around, Earlier, PieceParser, seal
from clmap_lsp.index.types import (
    TYPE_NAMES,
    UNKNOWN,
    Array,
    Enumeration,
    Function,
    Pointer,
    Qualified,
    Unknown,
    base_of,
    decayed,
    is_integer,
    space_of,
    spelled,
)
from clmap_lsp.interruption import checkpoint
from clmap_lsp.source.ir import Severity
from clmap_lsp.source.lexer import is_name
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.preprocess import PRAGMA
from clmap_lsp.source.types import AddressSpace, ScalarType

_LOOPS = frozenset({"for", "while", "do", "__attribute__", "__attribute"})
_UNROLLS = (f"{PRAGMA} unroll", f"{PRAGMA} nounroll")
_TAKES = Role.READS | Role.CALLS
_JUMPS = frozenset({"return", "break", "continue", "goto"})
_PLACED = frozenset({AddressSpace.GLOBAL, AddressSpace.LOCAL, AddressSpace.CONSTANT})


def read_unit(
    texts: list[str], scope: FileScope, options: BuildOptions, earlier: Earlier | None = None
) -> Unit:
    """Read one top-level declaration; `scope` gets the names that it declares. Never raises on text.

    Args:
        earlier: an earlier reading of a declaration that begins in the same way; statements that are as they
            were are taken from it.
    """
    if "generic" in texts and (options.standard or "") >= "CL2.0":
        texts = ["__generic" if it == "generic" else it for it in texts]
    parser = UnitParser(texts, scope, options, earlier)
    try:
        parser.run()
    except RecursionError:  # Too deep for Python, though not by our count.
        parser.scopes.clear()
        parser.unit.head = None
    seal(parser.unit.root, 0, len(texts))
    return parser.unit


class UnitParser(PieceParser):
    """Reads top-level declarations and function bodies."""

    def _enter(self) -> None:
        """Forget what stands around statements: a function begins, or an expression outside of all."""
        self.labels, self.gotos, self.around = {}, [], []

    def run(self) -> None:
        """Read all of the tokens."""
        self._enter()
        if (head := self._resumed()) is not None:
            self._finish(head.symbol)
        while self.at < self.n_tokens:
            before = self.at
            self.scopes.clear()
            self._enter()
            try:
                self._external()
            except SyntaxFaultError:
                self.scopes.clear()
                self.n_outside = 0
                self.skip_to(";")
                self.accept(";")
            if self.at == before:
                if self.text == "}":
                    self.issue("syntax-error", "extraneous closing brace ('}')")
                elif self.text in (")", "]"):
                    self.issue("syntax-error", "expected identifier or '('")
                self.at += 1

    def _external(self) -> None:
        is_first = self.at == 0
        self.skip_pragmas()
        if not self.text or self.accept(";"):
            return
        if self.text == "_Static_assert":
            self._static_assertion()
            return
        if self.is_cpp and self.text in ("template", "namespace", "using", "class"):
            self.doubt()
        if self.text == "extern" and self.texts[self.at + 1][:1] == '"':
            self.at += 2
            self.accept("{")
            return
        specifiers = self.specifiers()
        if specifiers.has_ended:
            return
        if self.text == ";":
            self.at += 1
            return
        if not self.text and specifiers.tag is not None:
            self.expect_semicolon(f"after {specifiers.tag}")
            return
        if not specifiers.has_type and not self.is_name():
            if self.text == "}":
                return
            raise self.fail("expected identifier or '('")
        if not specifiers.has_type and self._is_macro_use(specifiers):
            return
        declared = self.declarator(specifiers.type)
        while self.text in ("__attribute__", "__attribute"):
            declared.attributes += self.attribute()
        base = declared.type.base
        if isinstance(base, Function) and not base.has_prototype and self.text not in ("{", ";", ",", "="):
            self.old_parameters(declared)
        if isinstance(declared.type.base, Function) and self.text == "{":
            self._function(specifiers, declared, is_first=is_first)
            return
        if isinstance(declared.type.base, Function) and self.text not in (";", ",", "="):
            self._after_declarator(specifiers, declared)
            return
        self.declare_all(specifiers, "after top level declarator", declared)

    def _is_macro_use(self, specifiers: Specifiers) -> bool:
        """Go past the use of a macro that nothing defines; report a declaration that begins with no type."""
        at = self.at
        if self.n_tokens == 1 and self.lookup(self.text) is None:
            self._unknown_type(self.text, at, is_qualifier=True)  # What it stood before begins a line.
            self.at += 1
            return True
        if self.texts[at + 1] == "(":
            name = self.text
            if name.upper() == name or self.texts[self.closing(at + 1) + 1] != "{":
                said = f"'{name}' is not defined; if the host defines it, set -D {name}=VALUE in clmap.toml"
                self.issue("undefined-name", said, Severity.INFORMATION, token=at, name=name)
                self.doubt()
                self.at = self.closing(at + 1) + 1
                self.accept(";")
                return True
            specifiers.type = Qualified(Unknown("int"))
            said = "type specifier missing, defaults to 'int'"
            self.issue("implicit-int", said, Severity.WARNING, token=at)
            return False
        if self.is_doubtful:
            raise SyntaxFaultError
        if specifiers.start == at and (self.texts[at + 1] in (";", "=", ",", "[")):
            said = "type specifier missing, defaults to 'int'"
            self.issue("implicit-int", said, Severity.WARNING, token=at)
        return False

    def _after_declarator(self, specifiers: Specifiers, declared: Declarator) -> None:
        """A function's head that neither `;` nor a body follows."""
        self._declare_one(specifiers, declared)
        if self.text == "" or self.text in SPECIFIER_WORDS or self.named_type() is not None:
            self.expect_semicolon("after top level declarator")
            return
        raise self.fail("expected function body after function declarator")

    # --------------------------------------------------------------------------------------- functions

    def _function(self, specifiers: Specifiers, declared: Declarator, *, is_first: bool) -> None:
        if declared.name is None:
            raise self.fail("expected identifier or '('")
        name = self.texts[declared.name]
        kind = Kind.KERNEL if specifiers.is_kernel else Kind.FUNCTION
        symbol = Symbol(name, kind, declared.type, declared.name, specifiers.start, self.at)
        symbol.storage = specifiers.storage
        symbol.attributes = (*specifiers.attributes, *declared.attributes)
        self.link_function(symbol, declared)
        if (
            symbol.previous is not None
            and symbol.previous.is_definition
            and symbol.previous.kind in CALLABLE
            and not self.is_cpp
            and not functions_conflict(symbol.previous.type, symbol.type)
        ):
            self.issue("redefinition", f"redefinition of '{name}'", token=declared.name)
        symbol.is_definition = True
        self.piece.uses = [
            it if it.symbol is not symbol else type(it)(it.token, symbol, it.role | Role.DEFINES)
            for it in self.piece.uses
        ]
        if symbol.kind is Kind.KERNEL:
            self._check_kernel(symbol, specifiers)
        elif not self.is_cpp and (wrong := for_kernels_alone(symbol.attributes)) is not None:
            self.issue("wrong-type", wrong, token=declared.name)
        scope = self.open_scope()
        scope.start = declared.opening
        self._declare_parameters(symbol)
        self._split_head(symbol, declared.opening, is_first=is_first)
        self._finish(symbol)

    def _finish(self, symbol: Symbol) -> None:
        """Read a function's body, and say what is wrong with the function as a whole."""
        self.function = symbol
        self._enter()
        opened = self.at
        try:
            ends = self._block(opened)
        finally:
            self.unit.bodies[symbol] = opened, self.at
            for inner in range(len(self.scopes) - 1, -1, -1):
                self.scopes[inner][2].end = self.at
            self.scopes.clear()
        self._check_labels()
        self._check_result(symbol, ends)
        if not self._has_error(opened):
            self._check_unused(symbol)
        self.function = None
        self.reads.clear()

    def _has_error(self, opened: int) -> bool:
        """Tell whether something in a body that was read, its `{` at `opened`, is an error."""
        if any(it.severity is Severity.ERROR for it in self.piece.issues):
            return True
        return any(it.has_error for at, it in self.piece.inner if at > opened)

    def _check_kernel(self, symbol: Symbol, specifiers: Specifiers) -> None:
        function = symbol.type.base if symbol.type is not None else None
        if not isinstance(function, Function) or self.is_cpp:
            return
        result = base_of(function.result)
        if not isinstance(result, Unknown) and not is_void(result):
            self.issue("kernel-result", "kernel must have void return type", token=specifiers.start)
        if specifiers.storage == "static":
            self.issue("wrong-type", "kernel functions cannot be declared static", token=symbol.token)
        earlier: set[str] = set()
        for parameter in symbol.parameters:
            type_ = parameter.type or UNKNOWN
            base = base_of(type_)
            if (
                isinstance(base, Pointer)
                and not isinstance(base_of(base.pointee), Unknown | Function)
                and space_of(base.pointee) not in _PLACED
            ):
                fix = Fix("Insert '__global'", (Edit(parameter.first, parameter.first, "__global "),))
                said = "pointer arguments to kernel functions must reside in '__global', '__constant' or "
                said += "'__local' address space"
                self.issue("address-space", said, token=parameter.token, fix=fix)
                continue
            self.note_members(type_)
            if (wrong := kernel_parameter_fault(type_, self.version, earlier)) is not None:
                self.issue("kernel-parameter", wrong, token=parameter.token)
            earlier.add(spelled(type_, is_canonical=True))

    def _check_labels(self) -> None:
        for name, at in self.gotos:
            label = self.labels.get(name)
            if label is None:
                self.issue("undeclared", f"use of undeclared label '{name}'", token=at)
            else:
                self.use(at, label, Role.NAMES)

    def _check_result(self, symbol: Symbol, ends: bool) -> None:
        function = symbol.type.base if symbol.type is not None else None
        if ends or not isinstance(function, Function) or self.texts[self.at - 1] != "}":
            return
        result = base_of(function.result)
        if isinstance(result, Unknown) or is_void(result):
            return
        said = "non-void function does not return a value in all control paths"
        if "return" not in self.texts[self.unit.bodies[symbol][0] : self.at]:
            said = "non-void function does not return a value"
        self.issue("missing-return", said, Severity.WARNING, token=self.at - 1)

    def _check_unused(self, function: Symbol) -> None:
        if self.is_doubtful:
            return
        seen, assigned = self._uses_so_far()
        for at, symbol in self._symbols_so_far():
            if symbol.kind not in (Kind.VARIABLE, Kind.PARAMETER) or not symbol.name:
                continue
            if symbol.parent is not function or any(name == "unused" for name, _ in symbol.attributes):
                continue
            role = seen.get(symbol, 0)
            if symbol.kind is Kind.PARAMETER:
                if not role:
                    said = f"unused parameter '{symbol.name}'"
                    self.issue("unused", said, Severity.HINT, token=at + symbol.token)
            elif not role & ~Role.WRITES.value:
                base = base_of(symbol.type or UNKNOWN)
                if role and isinstance(base, Pointer | Array):
                    continue
                said = f"unused variable '{symbol.name}'"
                if symbol in assigned:
                    said = f"variable '{symbol.name}' set but not used"
                self.issue("unused", said, Severity.HINT, token=at + symbol.token)

    def _uses_so_far(self) -> tuple[dict[Symbol, int], set[Symbol]]:
        """Return what is done with each symbol besides declaring it, and those named at another place too."""
        seen: dict[Symbol, int] = {}
        elsewhere: set[Symbol] = set()
        declares, writes = Role.DECLARES.value, Role.WRITES.value
        for _, piece in all_pieces(self.piece):
            for token, symbol, role in piece.uses:
                done = role._value_
                if not done & declares:
                    seen[symbol] = seen.get(symbol, 0) | done
                    if done == writes and (symbol.piece is not piece.key or token != symbol.token):
                        elsewhere.add(symbol)
        return seen, elsewhere

    def _symbols_so_far(self) -> list[tuple[int, Symbol]]:
        """Return what is declared, in order, each with the first token of its piece."""
        found = [(at, it) for at, piece in all_pieces(self.piece) for it in piece.symbols]
        return sorted(found, key=lambda it: it[0] + it[1].token)

    # -------------------------------------------------------------------------------------- statements

    def compound(self) -> None:
        """Read a block of statements with a scope of its own. Raises: SyntaxFaultError."""
        mark, n_inner = len(self.reads), len(self.piece.inner)
        self.open_scope()
        self._block(self.at)
        self.close_scope()
        self.reads[mark:] = self._read_within(n_inner)

    def block_literal(self) -> Value:
        """Read a block of OpenCL 2.0, `^(int x) { ... }`. Raises: SyntaxFaultError.

        What it returns is not judged: where no type stands before its parameters, that says its type.
        """
        at, outer = self.at, self.n_outside
        self.at += 1
        self.n_outside = len(self.scopes)
        self.open_scope()
        type_ = self._block_type()
        if self.text != "{":
            raise self.fail("expected '{'")
        mark, n_inner = len(self.reads), len(self.piece.inner)
        self.around.append(Around(BLOCK))
        self._block(self.at)
        self.around.pop()
        self.n_outside = outer
        self.close_scope()
        self.reads[mark:] = self._read_within(n_inner)
        return Value(Qualified(Pointer(type_, is_block=True)), at)

    def _read_within(self, n_inner: int) -> list[Symbol | None]:
        """Return what is read in the statements of an expression, be they read now or taken from before.

        Args:
            n_inner: how many statements the present piece had before.
        """
        found: dict[Symbol | None, None] = {}
        for _, inner in self.piece.inner[n_inner:]:
            for _, piece in all_pieces(inner):
                found |= dict.fromkeys(it.symbol for it in piece.uses if it.role & _TAKES)
                if any(it.is_varying for it in piece.builtins):
                    found[None] = None
        return list(found)

    def _block_type(self) -> Qualified:
        """Read what stands before a block's body; declare its parameters."""
        if self.text in ("{", "("):
            declared = Declarator(None, UNKNOWN)
            if self.text == "(":
                self.suffixes(declared)
        else:
            declared = self.declarator(self.specifiers().type, is_abstract=True)
        for it in declared.parameters or ():
            it.parent = self.function
            if it.name:
                self.declare(it)
        is_whole = isinstance(declared.type.base, Function)
        return declared.type if is_whole else Qualified(Function(declared.type, ()))

    def _block(self, opened: int) -> bool:
        """Read `{ ... }`; return whether control never comes to its end."""
        self.open_scope()
        self.at += 1
        ends = False
        reported = False
        while self.text and self.text != "}":
            before = self.at
            self.skip_pragmas()
            if self.at > before:
                self._check_unrolled(before)
                continue
            is_target = self.text in ("case", "default") or self.texts[self.at + 1] == ":"
            if is_target:
                ends = False
            elif ends and not reported and self.text != ";":
                reported = True
                self.issue(
                    "unreachable", "code will never be executed", Severity.HINT, end=self._end_of_line()
                )
            ends = self._piece(self._contained) or ends
        self.close_scope()
        if self.text != "}":
            notes = ((opened, "to match this '{'"),)
            fix = Fix("Insert '}'", (Edit(self.at, self.at, "}"),))
            self.issue(
                "syntax-error",
                "expected '}'",
                token=max(self.n_tokens - 1, 0),
                is_behind=False,
                fix=fix,
                notes=notes,
            )
            return True
        self.at += 1
        return ends

    def _check_unrolled(self, first: int) -> None:
        """Report what stands behind `#pragma unroll` and is no loop."""
        is_unroll = any(it.startswith(_UNROLLS) for it in self.texts[first : self.at])
        if is_unroll and self.text and self.text not in _LOOPS:
            said = "expected a for, while, or do-while loop to follow '#pragma unroll'"
            self.issue("wrong-pragma", said)

    def _end_of_line(self) -> int:
        end = self.at
        while self.texts[end] not in (";", "{", "}", ""):
            end += 1
        return end + 1

    def _contained(self) -> bool:
        """Read a statement; behind a syntax error go on with the next one."""
        before = self.at
        scopes, depth, controls = len(self.scopes), self.depth, len(self.controls)
        around, n_outside = len(self.around), self.n_outside
        try:
            return self.statement()
        except SyntaxFaultError:
            self.n_unsure += 1
            while len(self.scopes) > scopes:
                self.close_scope()
            self.depth = depth
            del self.controls[controls:]
            del self.around[around:]
            self.n_outside = n_outside
            self._recover(before)
            return False

    def _recover(self, before: int) -> None:
        """Go to where the next statement may start."""
        self.at = max(self.at, before)
        while self.text:
            text = self.text
            if text == ";":
                self.at += 1
                return
            if text == "}":
                if self.at == before:
                    self.at += 1
                return
            if text == "{":
                if self.at == before:
                    self.skip_brackets()
                return
            if self.at > before and self._begins_statement(before):
                return
            self._name_passed()
            self.at += 1

    def _begins_statement(self, before: int) -> bool:
        """Tell whether a token can only begin a statement, or does so as it seems, behind a broken one."""
        text = self.text
        if text in _NEVER_INSIDE:
            return True
        if text in _STARTS and self.texts[self.at - 1] in (")", ";", "}", "]"):
            return True
        return self.texts[before] not in _STATEMENTS and self._begins_declaration()

    def _begins_declaration(self) -> bool:
        """Tell whether a type and a name stand here, and what follows a name that is declared."""
        at, is_type = self.at, False
        while self.texts[at] in SPECIFIER_WORDS or (not is_type and self._is_type(at)):
            is_type = is_type or self._is_type(at)
            at += 1
        while is_type and self.texts[at] == "*":
            at += 1
        return is_type and self.is_name(at) and self.texts[at + 1] in ("=", ";", ",", "[")

    def _is_type(self, at: int) -> bool:
        text = self.texts[at]
        if text in TYPE_NAMES or text in ("unsigned", "signed"):
            return True
        symbol = self.lookup(text, is_tag=self.texts[at - 1] in TAG_WORDS) if self.is_name(at) else None
        return symbol is not None and (symbol.kind is Kind.TYPEDEF or symbol.kind in TAGS)

    def _name_passed(self) -> None:
        """Note what a name is that is gone past: half-typed text keeps its colours and can be asked about."""
        if self.is_name() and self.texts[self.at - 1] not in (".", "->"):
            is_tag = self.texts[self.at - 1] in TAG_WORDS
            symbol = self.lookup(self.text, is_tag=is_tag)
            if symbol is not None:
                calls = symbol.kind in CALLABLE and self.texts[self.at + 1] == "("
                self.use(self.at, symbol, Role.CALLS if calls else Role.NAMES if is_tag else Role.READS)
            elif builtins.find(self.text) is not None or self.text in TYPE_NAMES:
                self.use_builtin(self.at)

    def statement(self) -> bool:
        """Read a statement; return whether control never comes behind it. Raises: SyntaxFaultError."""
        checkpoint()
        if self.depth > MAX_DEPTH:
            raise SyntaxFaultError
        self.depth += 1
        try:
            return self._statement()
        finally:
            self.depth -= 1

    def _statement(self) -> bool:
        self.skip_pragmas()
        while self.text in ("__attribute__", "__attribute"):
            self._check_unroll_hint(self.at, self.attribute())
        text = self.text
        handler = _STATEMENTS.get(text)
        if handler is not None:
            result: bool = handler(self)
            return result
        if is_name(text) and text not in KEYWORDS and self.texts[self.at + 1] == ":":
            return self._label()
        if self.starts_declaration():
            self.declaration()
            return False
        if text == "}":
            raise self.fail("expected statement")
        start = self.at
        self.expression()
        if self.text != ";":
            if self.expect_semicolon("after expression"):
                return False
            if self.at == start or not self._begins_something():
                raise SyntaxFaultError
            return False
        self.at += 1
        return False

    def _check_unroll_hint(self, at: int, attributes: list[tuple[str, str]]) -> None:
        """Report `opencl_unroll_hint` before what is no loop."""
        if any(it == "opencl_unroll_hint" for it, _ in attributes) and self.text not in _LOOPS:
            what = "'for', 'while', and 'do' statements"
            self.issue("wrong-pragma", f"'opencl_unroll_hint' attribute only applies to {what}", token=at)

    def starts_declaration(self) -> bool:
        """Tell whether the statement here is a declaration."""
        text = self.text
        if text in SPECIFIER_WORDS:
            return text != "__extension__" or self.texts[self.at + 1] in SPECIFIER_WORDS
        if not is_name(text) or text in KEYWORDS:
            return False
        if self.named_type() is not None:
            return True
        following = self.texts[self.at + 1]
        if self.lookup(text) is not None:
            return False
        if is_name(following) and following not in KEYWORDS:
            return True  # Two names in a row: the first can only be a type, or a macro.
        return following == "*" and self.is_name(self.at + 2) and self.texts[self.at + 3] in ("=", ";", ",")

    def _label(self) -> bool:
        at = self.at
        self.n_unsure += 1
        self.at += 2
        name = self.texts[at]
        if name in self.labels:
            self.issue("redefinition", f"redefinition of label '{name}'", token=at)
        symbol = Symbol(name, Kind.LABEL, None, at, at, self.at)
        symbol.unit, symbol.parent = self.unit, self.function
        self.labels[name] = symbol
        self.piece.symbols.append(symbol)
        self.use(at, symbol, Role.DECLARES | Role.DEFINES)
        if self.text == "}":
            return False
        return self.statement()

    def _compound_statement(self) -> bool:
        return self._block(self.at)

    def _empty(self) -> bool:
        self.at += 1
        return False

    def _condition(self, word: str) -> Value:
        """Read the bracketed condition behind a keyword."""
        if self.text != "(":
            raise self.fail(f"expected '(' after '{word}'", self.opening_for(")"))
        opened = self.at
        self.at += 1
        value = self.expression()
        self.expect(")", opened)
        if word != "switch" and (written := self._plain_assignment(opened, self.at - 1)) is not None:
            said = "using the result of an assignment as a condition without parentheses"
            self.issue("suspicious", said, Severity.WARNING, token=written)
        base = base_of(value.type)
        if word != "switch":
            self._check_scalar(value, opened - 1)
        if word == "switch" and not isinstance(base, Unknown) and not is_integer(base):
            said = f"statement requires expression of integer type ('{spelled(value.type)}' invalid)"
            self.issue("wrong-type", said, token=opened - 1)
        return value

    def _check_scalar(self, value: Value, at: int) -> None:
        """Report a condition that is neither a number nor a pointer."""
        base = base_of(value.type)
        if is_void(base) or not isinstance(base, Unknown | Pointer | Array | ScalarType | Enumeration):
            said = "statement requires expression of scalar type"
            self.issue("wrong-type", f"{said} ('{spelled(value.type)}' invalid)", token=at)

    def _plain_assignment(self, opened: int, closed: int) -> int | None:
        """Return the `=` of a condition that is nothing but an assignment."""
        depth = 0
        found: int | None = None
        for at in range(opened + 1, closed):
            text = self.texts[at]
            depth += (text in OPENING) - (text in OPENING.values())
            if depth == 0 and text in (",", "?"):
                return None
            if depth == 0 and text == "=" and found is None:
                found = at
        return found

    def _control(self, mark: int) -> None:
        """Let what was read from a mark on decide whether the statements that follow run."""
        known = set(self.controls)
        self.controls += [it for it in dict.fromkeys(self.reads[mark:]) if it not in known]

    def _if(self) -> bool:
        controls = len(self.controls)
        ends = True
        while True:  # A chain of `else if` is as long as it likes: it nests for the grammar alone.
            self.at += 1
            mark = len(self.reads)
            self._condition("if")
            self._control(mark)
            ends = self._body("if") and ends
            if not self.accept("else"):
                ends = False
                break
            if self.text != "if":
                ends = self._body("if") and ends
                break
        del self.controls[controls:]
        return ends

    def _body(self, word: str) -> bool:
        """Read the statement that a keyword rules, in a scope of its own."""
        if self.text in ("}", ""):
            raise self.fail("expected statement")
        self.open_scope()
        if word != "if":
            self.around.append(Around(word))
        try:
            return self.statement()
        finally:
            if word != "if":
                self.around.pop()
            self.close_scope()

    def _while(self) -> bool:
        self.at += 1
        mark = len(self.reads)
        start = self.at
        condition = self._condition("while")
        controls = len(self.controls)
        self._control(mark)
        self._body("while")
        del self.controls[controls:]
        return bool(condition.constant) and not _breaks(self.texts[start : self.at])

    def _do(self) -> bool:
        self.at += 1
        start = self.at
        ends = self._body("do")
        if not self.accept("while"):
            notes = ((start - 1, "to match this 'do'"),)
            self.issue("syntax-error", "expected 'while' in do/while loop", notes=notes)
            raise SyntaxFaultError
        condition = self._condition("while")
        self.expect_semicolon("after do/while statement")
        breaks = _breaks(self.texts[start : self.at])
        return (ends or bool(condition.constant)) and not breaks

    def _for(self) -> bool:
        self.at += 1
        if self.text != "(":
            raise self.fail("expected '(' after 'for'", self.opening_for(")", over=";"))
        opened = self.at
        self.at += 1
        self.open_scope()
        try:
            if not self.accept(";"):
                self._piece(self._for_first)
            mark = len(self.reads)
            is_endless = self.text == ";"
            if self.text != ";":
                value = self.expression()
                self._check_scalar(value, opened - 1)
                is_endless = bool(value.constant)
            self._for_semicolon()
            controls = len(self.controls)
            self._control(mark)
            if self.text != ")":
                self.expression()
            self.expect(")", opened)
            start = self.at
            self._body("for")
            del self.controls[controls:]
            return is_endless and not _breaks(self.texts[start : self.at])
        finally:
            self.close_scope()

    def _for_first(self) -> bool:
        """Read what a loop begins with, as a piece: what it declares stays while its body is edited."""
        if self.starts_declaration():
            self._for_declaration()
        else:
            self.expression()
            self._for_semicolon()
        return False

    def _for_declaration(self) -> None:
        specifiers = self.specifiers()
        while True:
            self._declare_one(specifiers, self.declarator(specifiers.type))
            if not self.accept(","):
                break
        self._for_semicolon()

    def _for_semicolon(self) -> None:
        if not self.accept(";"):
            fix = Fix("Insert ';'", (Edit(self.at, self.at, ";"),))
            self.issue("syntax-error", "expected ';' in 'for' statement specifier", fix=fix)
            raise SyntaxFaultError

    def _switch(self) -> bool:
        self.at += 1
        mark = len(self.reads)
        self._condition("switch")
        controls = len(self.controls)
        self._control(mark)
        start = self.at
        ends = self._body("switch")
        del self.controls[controls:]
        inside = self.texts[start : self.at]
        return ends and "default" in inside and not _breaks(inside, of_switch=True)

    def _case(self) -> bool:
        at = self.at
        self.at += 1
        if self._switch_around() is None:
            self.issue("misplaced", f"'{self.texts[at]}' statement not in switch statement", token=at)
        value: int | float | str | None = "default"
        if self.texts[at] == "case":
            mark = len(self.reads)
            found = self.constant_expression()
            value = found.constant
            self.check_integer_constant(found, self.reads[mark:])
            if self.accept("..."):
                self.constant_expression()
                value = None
        if value is not None and self._add_case(value):
            said = "multiple default labels in one switch" if value == "default" else ""
            self.issue("redefinition", said or f"duplicate case value '{value}'", token=at)
        if not self.accept(":"):
            fix = Fix("Insert ':'", (Edit(self.at, self.at, ":"),))
            word = self.texts[self.at - 1] if self.texts[self.at - 1] == "default" else "case"
            where = f"after '{word}'"
            self.issue("syntax-error", f"expected ':' {where}", is_behind=True, fix=fix)
        if self.text == "}":
            return False
        return self.statement()

    def _return(self) -> bool:
        at = self.at
        self.at += 1
        in_block = any(it.word == BLOCK for it in self.around)
        function = self.function.type.base if self.function and self.function.type else None
        result = function.result if isinstance(function, Function) and not in_block else UNKNOWN
        mark = len(self.reads)
        name = self.function.name if self.function is not None else ""
        if self.text == ";":
            if not is_void(base_of(result)) and not isinstance(base_of(result), Unknown):
                said = f"non-void function '{name}' should return a value"
                self.issue("wrong-return", said, token=at)
        else:
            self.piece.expected.append(Expected(self.at, result))
            value = self.expression()
            if is_void(base_of(result)) and not is_void(base_of(value.type)):
                if not isinstance(base_of(value.type), Unknown):
                    said = f"void function '{name}' should not return a value"
                    self.issue("wrong-return", said, token=at)
            elif not is_void(base_of(result)):
                self.check_conversion(result, value, "returning", value.start)
        if not in_block:
            self.piece.flow.append((self.function, (*self.reads[mark:], *self.controls)))
        self.expect_semicolon("after return statement")
        return True

    def _break(self) -> bool:
        word = self.text
        around = [it.word for it in takewhile(lambda it: it.word != BLOCK, reversed(self.around))]
        if word == "break" and not around:
            self.issue("misplaced", "'break' statement not in loop or switch statement")
        elif word == "continue" and all(it == "switch" for it in around):
            self.issue("misplaced", "'continue' statement not in loop statement")
        self.at += 1
        self.expect_semicolon(f"after {word} statement")
        return True

    def _goto(self) -> bool:
        self.at += 1
        if not self.is_name():
            raise self.fail("expected identifier")
        self.n_unsure += 1
        self.gotos.append((self.text, self.at))
        self.at += 1
        self.expect_semicolon("after goto statement")
        return True

    def _else(self) -> bool:
        raise self.fail("expected expression")

    def _static_assertion(self) -> bool:
        start, opened = self.at, self.at + 1
        self.at += 1
        if self.accept("("):
            held = self.constant_expression().constant
            said = self.text if self.accept(",") else ""
            while self.text[:1] == '"':
                said = self.text.strip('"')
                self.at += 1
            self.expect(")", opened)
            if held == 0:
                self.issue("wrong-number", f"static assertion failed: {said}".rstrip(": "), token=start)
        self.accept(";")
        return False

    def _assembly(self) -> bool:
        self.at += 1
        while self.text in ("volatile", "__volatile__", "goto"):
            self.at += 1
        if self.text == "(":
            self._operands_of_assembly()
        self.accept(";")
        return False

    def _operands_of_assembly(self) -> None:
        """Read what stands in brackets behind the strings of an `asm`; the rest is not C."""
        end = self.closing(self.at)
        n_colons = 0
        self.at += 1
        while self.at < end:
            n_colons += self.text == ":"
            if self.text == "(" and self.texts[self.at - 1][:1] == '"':
                self.at += 1
                value = self.expression()
                if n_colons == 1:
                    self.wrote(value, True)
            else:
                self.at += 1
        self.at = min(end + 1, self.n_tokens)


def _breaks(texts: list[str], *, of_switch: bool = False) -> bool:
    """Tell whether a loop's text may leave it by `break` or `goto`; those of inner loops leave these."""
    if "goto" in texts and not of_switch:
        return True
    at = 0 if "break" in texts else len(texts)
    while at < len(texts):
        if texts[at] == "break":
            return True
        at = _behind_inner(texts, at) if texts[at] in _LEFT_BY_BREAK else at + 1
    return False


def _behind_inner(texts: list[str], at: int) -> int:
    """Return where a loop or switch ends whose body has braces; else where its body starts."""
    while at < len(texts) and texts[at] in _LEFT_BY_BREAK:
        has_condition = texts[at] != "do"
        at += 1
        if has_condition:
            at = _behind_brackets(texts, at, "(", ")")
    return _behind_brackets(texts, at, "{", "}")


def _behind_brackets(texts: list[str], at: int, opening: str, closing: str) -> int:
    """Return where brackets end that open at a token; the token itself where none do."""
    depth = 0
    for index in range(at, len(texts)):
        depth += (texts[index] == opening) - (texts[index] == closing)
        if depth <= 0:
            return index + 1 if index > at else at
    return len(texts)


_LEFT_BY_BREAK = frozenset({"for", "while", "do", "switch"})


_STATEMENTS = {
    "{": UnitParser._compound_statement,
    ";": UnitParser._empty,
    "if": UnitParser._if,
    "while": UnitParser._while,
    "do": UnitParser._do,
    "for": UnitParser._for,
    "switch": UnitParser._switch,
    "case": UnitParser._case,
    "default": UnitParser._case,
    "return": UnitParser._return,
    "break": UnitParser._break,
    "continue": UnitParser._break,
    "goto": UnitParser._goto,
    "else": UnitParser._else,
    "_Static_assert": UnitParser._static_assertion,
    "asm": UnitParser._assembly,
    "__asm": UnitParser._assembly,
    "__asm__": UnitParser._assembly,
}
_STARTS = frozenset(_STATEMENTS) | SPECIFIER_WORDS
_NEVER_INSIDE = frozenset({"for", "while", "if", "switch", "do", "return", "break", "continue", "goto"})
"""Words that no expression holds."""

__all__ = ["UnitParser", "decayed", "read_unit"]
