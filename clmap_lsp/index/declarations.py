"""Declarations: what their specifiers, declarators and initialisers make of names."""

from __future__ import annotations

from clmap_lsp.index.checks import replaced
from clmap_lsp.index.compatible import Value
from clmap_lsp.index.cursor import (
    KEYWORDS,
    QUALIFIER_WORDS,
)
from clmap_lsp.index.declarators import Declarator, DeclaratorParser, Specifiers, changes, is_void
from clmap_lsp.index.declared import (
    declared_again_fault,
    functions_conflict,
    handle_fault,
    result_fault,
    typedef_fault,
)
from clmap_lsp.index.initializers import is_character
from clmap_lsp.index.model import CALLABLE, Edit, Fix, Kind, Role, Symbol
from clmap_lsp.index.operators import ASSIGNMENTS
from clmap_lsp.index.types import (
    TYPE_NAMES,
    UNKNOWN,
    Array,
    Enumeration,
    Function,
    Pointer,
    Qualified,
    Record,
    Unknown,
    base_of,
    canonical,
    is_const,
    space_of,
    spelled,
)
from clmap_lsp.source.ir import Severity
from clmap_lsp.source.lexer import is_name
from clmap_lsp.source.strings import string_bytes
from clmap_lsp.source.types import AddressSpace, OpaqueType, ScalarType, VectorType
from clmap_lsp.source.vocabulary import ATTRIBUTE_WORDS

_NEVER_OF_PROGRAMS = (AddressSpace.LOCAL, AddressSpace.PRIVATE)
_NO_VALUE = "variable in constant address space must be initialized"
_USES_A_NAME = (ASSIGNMENTS - {"="}) | {"->", ".", "++", "--"}
"""What follows a name that is used, and not one that is declared."""


class DeclarationParser(DeclaratorParser):
    """Reads declarations."""

    def declaration(self, end_words: str = "at end of declaration") -> None:
        """Read a declaration with its `;`. Raises: SyntaxFaultError."""
        specifiers = self.specifiers()
        if specifiers.has_ended:
            return
        if self.text == ";" and self.at > specifiers.start:
            self.at += 1  # `const;` declares nothing.
            return
        if not specifiers.has_type and not self.is_name():
            if self.text == "":
                raise self.fail("expected identifier or '('")
            raise self.fail(
                "expected identifier or '('" if self.at > specifiers.start else "expected expression"
            )
        if self.accept(";"):
            return
        self.declare_all(specifiers, end_words)

    def declare_all(self, specifiers: Specifiers, end_words: str, first: Declarator | None = None) -> None:
        """Read the declarators of a declaration."""
        while True:
            declared = first or self.declarator(specifiers.type)
            first = None
            self._declare_one(specifiers, declared)
            if not self.accept(","):
                break
            if not self._may_be_declared():
                # The comma ends a line, and another statement follows.
                said = f"expected ';' {end_words}"
                self.issue("syntax-error", said, token=self.at - 1, fix=replaced(self.at - 1, ";"))
                return
        if self.text != ";":
            if self.text == "{" and self.scopes:
                self.issue("syntax-error", "function definition is not allowed here")
                self.skip_brackets()
                return
            if self.expect_semicolon(end_words, in_list=True):
                return
            if not self._begins_something():
                self.skip_to(";")
                self.accept(";")
            return
        self.at += 1

    def _may_be_declared(self) -> bool:
        """Tell whether what stands behind a comma may be the next name that is declared."""
        if self.text in KEYWORDS and self.text not in ATTRIBUTE_WORDS:
            return self.text in QUALIFIER_WORDS  # That is another mistake.
        if self.text in TYPE_NAMES and self.lookup(self.text) is None:
            return not is_name(self.texts[self.at + 1])
        return not self.is_name() or self.texts[self.at + 1] not in _USES_A_NAME

    def _begins_something(self) -> bool:
        """Tell whether the present token begins a line of its own: a statement or a declaration."""
        text = self.text
        return text in ("", "}", "{") or is_name(text) or text in KEYWORDS or text in ("*", "++")

    def _declare_one(self, specifiers: Specifiers, declared: Declarator) -> None:
        name_at = declared.name
        if name_at is None:
            raise self.fail("expected identifier or '('")
        name = self.texts[name_at]
        is_function = isinstance(declared.type.base, Function)
        kind = Kind.VARIABLE
        if specifiers.storage == "typedef":
            kind = Kind.TYPEDEF
        elif is_function:
            kind = Kind.KERNEL if specifiers.is_kernel else Kind.FUNCTION
        symbol = Symbol(name, kind, declared.type, name_at, specifiers.start, self.at)
        symbol.storage = specifiers.storage
        symbol.parent = self.function
        symbol.attributes = (*specifiers.attributes, *declared.attributes)
        if is_function:
            symbol.is_definition = False
            self.link_function(symbol, declared)
            return
        self._check_function_pointer(declared.type, name_at)
        if kind is Kind.VARIABLE:
            symbol.is_definition = specifiers.storage != "extern"
            self._check_variable(symbol, specifiers)
        self._check_redefinition(symbol)
        base = declared.type.base
        if kind is Kind.TYPEDEF and isinstance(base, Record | Enumeration) and not base.name:
            base.alias = base.alias or name
        self.declare(symbol)
        if kind is Kind.VARIABLE and self.text == "(" and self.is_cpp:
            self.skip_brackets()
        if self.text == "=" and kind is Kind.TYPEDEF:
            said = "illegal initializer (only variables can be initialized)"
            self.issue("wrong-type", said, token=name_at)
        if self.text == "=":
            self._initialize(symbol)
        elif kind is Kind.VARIABLE and self.scopes and self.text in ("{",) and self.is_cpp:
            self.skip_brackets()
        symbol.end = self.at

    def link_function(self, symbol: Symbol, declared: Declarator) -> None:
        """Declare a function, as another declaration of an earlier one where it is that."""
        symbol.parameters = tuple(declared.parameters or ())
        if symbol.type is not None and isinstance(symbol.type.base, Function):
            self.check_extensions(symbol.type.base.result, symbol.token, "a result")
            if not self.is_cpp and (wrong := result_fault(symbol.type.base.result)) is not None:
                self.issue("wrong-type", wrong, token=symbol.token)
        for parameter in symbol.parameters:
            parameter.parent = symbol
            parameter.unit = self.unit
        before = self.lookup(symbol.name)
        if before is not None and not self.scopes and before.kind not in CALLABLE and not self.is_cpp:
            said = f"redefinition of '{symbol.name}' as different kind of symbol"
            self.issue("redefinition", said, token=symbol.token)
        if before is not None and before.kind in CALLABLE:
            is_overloadable = any(it[0] == "overloadable" for it in (*symbol.attributes, *before.attributes))
            if (is_overloadable or self.is_cpp) and not _same_parameters(symbol, before):
                symbol.overloads = before
            else:
                symbol.previous = before
                if not is_overloadable and not self.is_cpp and functions_conflict(before.type, symbol.type):
                    self.issue("redefinition", f"conflicting types for '{symbol.name}'", token=symbol.token)
                if is_overloadable or self.is_cpp:
                    symbol.overloads = before.overloads
                if symbol.kind is Kind.FUNCTION and before.kind is Kind.KERNEL:
                    symbol.kind = Kind.KERNEL
        self.declare(symbol)
        self._check_variadic(symbol)
        if declared.parameters is not None and self.text != "{":
            self.open_scope()
            self.scopes[-1][2].start = declared.opening
            self._declare_parameters(symbol)
            self.close_scope()

    def _check_variadic(self, symbol: Symbol) -> None:
        base = UNKNOWN.base if symbol.type is None else symbol.type.base
        if isinstance(base, Function) and base.is_variadic and symbol.name != "printf":
            what = "a function with '...'"
            self.need("__cl_clang_variadic_functions", what, symbol.token, Severity.ERROR)

    def _declare_parameters(self, function: Symbol) -> None:
        for parameter in function.parameters:
            if parameter.name:
                if parameter.name in self.scopes[-1][0]:
                    said = f"redefinition of parameter '{parameter.name}'"
                    self.issue("redefinition", said, token=parameter.token)
                self.declare(parameter)

    def _initialize(self, symbol: Symbol) -> None:
        symbol.is_initialised = True
        at = self.at
        self.at += 1
        mark, first_call = len(self.reads), len(self.piece.calls)
        type_ = symbol.type or UNKNOWN
        self._wrote_at(symbol)
        if space_of(type_) is AddressSpace.LOCAL and not self.is_cpp:
            self.issue(
                "local-initialised", "'__local' variable cannot have an initializer", token=symbol.token
            )
        found = self.initializer(type_, symbol.token)
        is_constant = space_of(type_) is AddressSpace.CONSTANT and not self.is_cpp
        is_number = isinstance(base_of(type_), ScalarType | VectorType) and not self.is_cpp
        is_kept = is_constant or (is_number and (symbol.storage == "static" or not self.scopes))
        is_block = (
            isinstance(found, Value) and isinstance(found.type.base, Pointer) and found.type.base.is_block
        )
        if (
            is_kept
            and isinstance(found, Value)
            and found.constant is None
            and (is_number or not found.is_pointed)
            and not is_block  # What it reads, it reads when it is called.
        ):
            self._check_constant(found, self.reads[mark:])
        if isinstance(found, Value) and not is_block and (is_kept or (not self.scopes and not self.is_cpp)):
            self._check_no_call(found, first_call)
        self.piece.flow.append((symbol, (*self.reads[mark:], *self.controls)))
        base = base_of(type_)
        if isinstance(found, Value) and isinstance(base, ScalarType) and is_const(type_):
            symbol.value = found.constant
        first = at + 1 + (self.texts[at + 1] == "{")
        if isinstance(base, Array) and self.texts[first][:1] == '"' and is_character(base.element):
            found = self._n_characters(first)
        if isinstance(found, int) and isinstance(base, Array) and base.length is None:
            symbol.type = Qualified(Array(base.element, found))

    def _n_characters(self, at: int) -> int:
        """Return the length of the array that the string literals from a token on make, with its zero."""
        count = 1
        while at < self.at and self.texts[at][:1] == '"':
            count += len(string_bytes(self.texts[at])) - 1
            at += 1
        return count

    def _check_constant(self, value: Value, reads: list[Symbol | None]) -> None:
        """Report what gives a variable its value as the kernel runs, where that has to be constant."""
        if any(map(changes, reads)) and not self._is_told(value.start):
            said = "initializer element is not a compile-time constant"
            self.issue("wrong-type", said, token=value.start)

    def _check_no_call(self, value: Value, first: int) -> None:
        """Report the call of a function that gives a variable a value that has to be constant."""
        if value.constant is not None or self.piece.has_error:
            return
        for call in self.piece.calls[first:]:
            callee = call.callee
            is_cast = isinstance(callee, str) and callee.startswith(("as_", "__builtin_"))
            if callee is not None and not is_cast:
                said = "initializer element is not a compile-time constant"
                self.issue("wrong-type", said, token=value.start)
                return

    def _is_told(self, token: int) -> bool:
        return any(it.token == token for it in self.piece.issues)

    def _wrote_at(self, symbol: Symbol) -> None:
        self.use(symbol.token, symbol, Role.WRITES)

    def _check_redefinition(self, symbol: Symbol) -> None:
        if self.scopes:
            ordinary, _, _ = self.scopes[-1]
            before = ordinary.get(symbol.name)
            if before is None and len(self.scopes) == 2:  # A body may not declare its parameters anew.
                before = self.scopes[0][0].get(symbol.name)
            self.n_unsure += before is not None
            if before is not None and before.kind is not Kind.FUNCTION and symbol.storage != "extern":
                if before.kind is Kind.TYPEDEF or symbol.kind is Kind.TYPEDEF:
                    self._check_typedef(symbol, before)
                    return
                same = before.type == symbol.type
                said = f"redefinition of '{symbol.name}'"
                if not same and before.type is not None:
                    old, new = spelled(before.type), spelled(symbol.type or UNKNOWN)
                    said += f" with a different type: '{new}' vs '{old}'" if old != new else ""
                notes = ((self.place_of(before), "previous definition is here"),)
                self.issue("redefinition", said, token=symbol.token, notes=notes)
            return
        before = self.file_scope.get(False, symbol.name)
        self.unit.lookups.setdefault((False, symbol.name), before)
        if before is not None and before.kind is symbol.kind:
            symbol.previous = before
        if before is not None and not self.is_cpp:
            self._check_declared_again(symbol, before)

    def _check_declared_again(self, symbol: Symbol, before: Symbol) -> None:
        """Report a name of the file that is declared anew as something else, or gets a value anew."""
        symbol.is_initialised = symbol.kind is Kind.VARIABLE and self.text == "="
        said = declared_again_fault(before, symbol)
        if said is not None:  # Without a note: of a host's strings, another one may be another program.
            self.issue("redefinition", said, token=symbol.token)
        symbol.is_initialised |= before.is_initialised and before.kind is symbol.kind

    def _check_typedef(self, symbol: Symbol, before: Symbol) -> None:
        """Report a typedef's name that is declared anew as something else."""
        said = typedef_fault(symbol.name, before, symbol)
        if said is not None:
            notes = ((self.place_of(before), "previous definition is here"),)
            self.issue("redefinition", said, token=symbol.token, notes=notes)

    def _check_variable(self, symbol: Symbol, specifiers: Specifiers) -> None:
        type_ = symbol.type or UNKNOWN
        base = base_of(type_)
        if is_void(base):
            self.issue("wrong-type", f"variable has incomplete type '{spelled(type_)}'", token=symbol.token)
        elif isinstance(base, Array) and is_void(base_of(base.element)):
            said = f"array has incomplete element type '{spelled(base.element)}'"
            self.issue("wrong-type", said, token=symbol.token)
        elif isinstance(base, Record) and base.members is None and specifiers.storage != "extern":
            said = f"variable has incomplete type '{spelled(Qualified(base))}'"
            self.issue("wrong-type", said, token=symbol.token)
        elif isinstance(base, Enumeration) and base.symbol is not None and not base.symbol.is_definition:
            said = f"variable has incomplete type '{spelled(type_)}'"
            self.issue("wrong-type", said, token=symbol.token)
        self.check_extensions(type_, symbol.token, "a variable")
        if self.is_cpp:
            return
        if (wrong := handle_fault(type_)) is not None:
            self.issue("wrong-type", wrong, token=symbol.token)
        if specifiers.inline_at is not None:
            said = "'inline' can only appear on functions"
            self.issue("wrong-type", said, token=specifiers.inline_at)
        is_extern = specifiers.storage == "extern" and self.version < 200 and not _is_unknown(type_)
        if is_extern and space_of(type_) is not AddressSpace.CONSTANT:
            said = "extern variable must reside in constant address space"
            self.issue("address-space", said, token=symbol.token)
        is_open = self.function is not None and self.texts[self.at - 2 : self.at] == ["[", "]"]
        if is_open and self.text != "=" and specifiers.storage != "extern":
            said = "definition of variable with array type needs an explicit size or an initializer"
            self.issue("wrong-type", said, token=symbol.token)
        if not self.scopes:
            self._check_program_scope(symbol, specifiers, type_)
        elif self.function is not None:
            self._check_storage(symbol, specifiers, type_)
            wrong = self._misplaced(specifiers, type_, self.function)
            if wrong is not None:
                self.issue("address-space", wrong, token=symbol.token)

    def _check_program_scope(self, symbol: Symbol, specifiers: Specifiers, type_: Qualified) -> None:
        space = space_of(type_)
        is_sampler = getattr(base_of(type_), "name", "") == "sampler_t"
        if space in _NEVER_OF_PROGRAMS or (space is AddressSpace.GLOBAL and self.version < 200):
            where = "global or constant" if self.version >= 200 else "constant"
            said = f"program scope variable must reside in {where} address space"
            code = "until-2.0" if space is AddressSpace.GLOBAL else "address-space"
            self.issue(code, said, token=symbol.token)
        elif space is None and self.version < 200 and specifiers.storage != "extern" and not is_sampler:
            if not _is_unknown(type_):
                fix = Fix("Insert '__constant'", (Edit(specifiers.start, specifiers.start, "__constant "),))
                said = "program scope variable must reside in constant address space"
                self.issue("address-space", said, token=symbol.token, fix=fix)
        elif is_sampler and not is_const(type_):
            fix = Fix("Insert 'const'", (Edit(specifiers.start, specifiers.start, "const "),))
            said = "global sampler requires a const or constant address space qualifier"
            self.issue("address-space", said, token=symbol.token, fix=fix)
        elif self._has_no_value(space, specifiers):
            self.issue("address-space", _NO_VALUE, token=symbol.token)

    def _has_no_value(self, space: AddressSpace | None, specifiers: Specifiers) -> bool:
        return space is AddressSpace.CONSTANT and self.text != "=" and specifiers.storage != "extern"

    def _check_storage(self, symbol: Symbol, specifiers: Specifiers, type_: Qualified) -> None:
        base = base_of(type_)
        if isinstance(base, OpaqueType) and base.is_image:
            said = f"type '{spelled(type_)}' can only be used as a function parameter in OpenCL"
            self.issue("wrong-type", said, token=symbol.token)
        is_static = specifiers.storage == "static" and self.version < 200
        if is_static or specifiers.storage in ("register", "auto"):
            said = f"OpenCL C version {self.version / 100:.1f} does not support the '{specifiers.storage}' "
            said += "storage class specifier"
            if specifiers.storage == "static":
                said = "variables in function scope cannot be declared static"
            self.issue("until-2.0" if is_static else "wrong-type", said, token=symbol.token)

    def _misplaced(self, specifiers: Specifiers, type_: Qualified, function: Symbol) -> str | None:
        """Return why a variable of a function cannot have its address space."""
        space = space_of(type_)
        if space in (AddressSpace.LOCAL, AddressSpace.CONSTANT) and specifiers.storage != "extern":
            where = f"in {space.value} address space"
            if function.kind is not Kind.KERNEL and specifiers.storage != "static":
                return f"non-kernel function variable cannot be declared {where}"
            if len(self.scopes) > 2:
                said = f"variables in the {space.value} address space can only be declared in the outermost "
                return f"{said}scope of a kernel function"
        if self._has_no_value(space, specifiers):
            return _NO_VALUE
        if space is AddressSpace.GLOBAL and (self.version < 200 or specifiers.storage is None):
            return "function scope variable cannot be declared in global address space"
        return None


def _is_unknown(type_: Qualified) -> bool:
    base = base_of(type_)
    while isinstance(base, Array | Pointer):
        base = base_of(base.element if isinstance(base, Array) else base.pointee)
    return isinstance(base, Unknown)


def _same_parameters(a: Symbol, b: Symbol) -> bool:
    if len(a.parameters) != len(b.parameters):
        return False
    pairs = zip(a.parameters, b.parameters, strict=True)
    return all(
        _canonical_text(x.type) == _canonical_text(y.type) and _access(x.type) == _access(y.type)
        for x, y in pairs
    )


def _access(type_: Qualified | None) -> str | None:
    """Return how an image may be accessed: functions of one name may be for each way."""
    if type_ is None or not isinstance(base_of(type_), OpaqueType):
        return None
    return canonical(type_).access or "read_only"


def _canonical_text(type_: Qualified | None) -> str:
    return "" if type_ is None else spelled(Qualified(base_of(type_)), is_canonical=True)
