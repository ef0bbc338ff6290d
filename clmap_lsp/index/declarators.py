"""The parts of declarations: specifiers, records, enumerations, declarators, names of types."""

from __future__ import annotations

from abc import ABC
from dataclasses import field, replace
from functools import lru_cache

from clmap_lsp.dataclass import dataclass
from clmap_lsp.index import builtins
from clmap_lsp.index.compatible import Value
from clmap_lsp.index.cursor import (
    CONST_WORDS,
    FUNCTION_WORDS,
    KEYWORDS,
    QUALIFIER_WORDS,
    RESTRICT_WORDS,
    SIZE_WORDS,
    SPECIFIER_WORDS,
    STORAGE_WORDS,
    TAG_WORDS,
    TYPEOF_WORDS,
    VOLATILE_WORDS,
    SyntaxFaultError,
)
from clmap_lsp.index.declared import (
    member_fault,
    parameter_fault,
    storage_fault,
    work_group_fault,
)
from clmap_lsp.index.heads import is_old_head
from clmap_lsp.index.initializers import InitializerParser
from clmap_lsp.index.model import Edit, Fix, Kind, Role, Symbol
from clmap_lsp.index.names import ONLY_CPP, nearest
from clmap_lsp.index.types import (
    DOUBLE,
    HALF,
    INT,
    OF_2_0,
    TYPE_NAMES,
    UNKNOWN,
    Array,
    Enumeration,
    Function,
    Named,
    Pipe,
    Pointer,
    Qualified,
    Record,
    Unknown,
    base_of,
    decayed,
    is_const,
    is_integer,
    space_of,
    spelled,
    unqualified,
)
from clmap_lsp.source.ir import Severity
from clmap_lsp.source.lexer import is_name
from clmap_lsp.source.types import SCALARS, AddressSpace, OpaqueType, ScalarKind, ScalarType, VectorType
from clmap_lsp.source.vocabulary import ACCESS_QUALIFIERS, ADDRESS_SPACES, ATTRIBUTE_WORDS, KERNEL_WORDS

_TAG_KINDS = {"struct": Kind.STRUCT, "union": Kind.UNION, "enum": Kind.ENUM}
_ENDS_ATTRIBUTE = frozenset({";", "{", "}", *KERNEL_WORDS, "void"})
"""What no attribute holds: its bracket is not closed."""
_MAKES_VECTORS = frozenset({"vector_size", "ext_vector_type"})
_SPACES = {it.value: it for it in AddressSpace}


@dataclass(slots=True)
class Specifiers:
    """What a declaration says before its first name."""

    type: Qualified = UNKNOWN
    has_type: bool = False
    storage: str | None = None
    is_kernel: bool = False
    attributes: list[tuple[str, str]] = field(default_factory=list)
    start: int = 0
    tag: str | None = None
    """`struct` and its like, where the type is one."""
    inline_at: int | None = None
    storage_at: int = 0
    has_ended: bool = False
    """A `;` is missing behind the record that it defines; that has been reported."""


@dataclass(slots=True)
class Declarator:
    """A name with what is around it; `name` is its token, `None` for a type's name."""

    name: int | None
    type: Qualified
    parameters: list[Symbol] | None = None
    opening: int = 0
    attributes: list[tuple[str, str]] = field(default_factory=list)


class DeclaratorParser(InitializerParser, ABC):
    """Reads what declarations are made of."""

    def specifiers(self) -> Specifiers:  # noqa: PLR0915 (a flat table of words)
        """Read qualifiers, storage classes and one type. Raises: SyntaxFaultError."""
        found = Specifiers(start=self.at)
        quals: dict[str, bool] = {}
        sizes: list[str] = []
        space: AddressSpace | None = None
        access: str | None = None
        access_at = restrict_at = self.at
        base: Qualified | None = None
        is_pipe = False
        while True:
            text = self.texts[self.at]
            if text in CONST_WORDS:
                quals["is_const"] = True
            elif text in VOLATILE_WORDS:
                quals["is_volatile"] = True
            elif text in RESTRICT_WORDS:
                quals["is_restrict"] = True
                restrict_at = self.at
            elif text in ADDRESS_SPACES:
                space = _SPACES[text.strip("_")]
                self._check_generic(space, text)
            elif text in ACCESS_QUALIFIERS:
                if access is not None:
                    self.issue("wrong-type", "multiple access qualifiers")
                access, access_at = text.strip("_"), self.at
                self._check_access(access)
            elif text in KERNEL_WORDS:
                found.is_kernel = True
            elif text in STORAGE_WORDS:
                found.storage, found.storage_at = text, self.at
            elif text in FUNCTION_WORDS:
                if "inline" in text:
                    found.inline_at = self.at
            elif text in ATTRIBUTE_WORDS:
                found.attributes += self.attribute()
                continue
            elif text in TYPEOF_WORDS and base is None:
                base = self._type_of()
                continue
            elif text in TAG_WORDS:
                if base is not None or sizes:
                    break
                found.tag = text
                base = self._tagged(text)
                if found.has_ended or self._ends_after_record():
                    found.has_ended = True
                    break
                continue
            elif text in SIZE_WORDS and (base is None or sizes):
                sizes.append(text)
                base = base or INT
            elif text in ("void", "bool", "_Bool") and base is None:
                base = TYPE_NAMES["void" if text == "void" else "bool"]
            elif base is None and text == "pipe" and self._is_pipe():
                is_pipe = True
            elif base is None and is_name(text) and text not in KEYWORDS:
                base = self._type_by_name(text)
                if base is None:
                    break
            else:
                break
            self.at += 1
        if sizes:
            base = _sized(sizes)
            if (wrong := _wrong_sizes(sizes)) is not None:
                self.issue("wrong-type", wrong, token=self.at - 1)
        if is_pipe:
            if access == "read_write":
                said = "access qualifier 'read_write' can not be used for "
                self.issue("wrong-type", f"{said}'read_only pipe {base or ''}'", token=access_at)
            base = Qualified(Pipe(f"pipe {base}" if base is not None else "pipe", base))
        if access is not None and base is not None and not _has_access(base):
            said = "access qualifier can only be used for pipe and image type"
            self.issue("wrong-type", said, token=access_at)
        if "is_restrict" in quals and base is not None and not _may_be_restricted(base):
            said = f"restrict requires a pointer or reference ('{spelled(base)}' is invalid)"
            self.issue("wrong-type", said, token=restrict_at)
        found.has_type = base is not None
        if base is None and self.at > found.start and self._is_declared_without_type():
            base = INT  # As C has it.
        base = _as_vector(base, found.attributes) if base is not None else UNKNOWN
        found.type = Qualified(
            base.base,
            base.is_const or "is_const" in quals,
            base.is_volatile or "is_volatile" in quals,
            base.is_restrict or "is_restrict" in quals,
            space or base.space,
            access or base.access,
        )
        return found

    def _type_of(self) -> Qualified:
        """Read `__typeof__(x)`; return the type of the value. Raises: SyntaxFaultError."""
        self.at += 1
        opened, mark = self.at, len(self.reads)
        self.expect("(")
        type_ = self.type_name() if self.starts_type(self.at) else self.expression().type
        del self.reads[mark:]
        self.expect(")", opened)
        return replace(type_, space=None) if type_.space is not None else type_

    def _check_generic(self, space: AddressSpace, text: str) -> None:
        if space is AddressSpace.GENERIC and self.version < 200 and not self.is_cpp:
            said = f"OpenCL C version {self.version / 100:.1f} does not support the '{text}' type qualifier"
            self.issue("version", said, name="generic")

    def _check_access(self, access: str) -> None:
        if access == "read_write" and self.version < 200 and not self.is_cpp:
            said = "access qualifier 'read_write' can not be used prior to OpenCL C version 2.0"
            self.issue("version", said, name="read_write")

    def _is_declared_without_type(self) -> bool:
        return is_name(self.text) and self.texts[self.at + 1] in ("=", ";", ",", "[")

    def _type_by_name(self, text: str) -> Qualified | None:
        """Return the type that a name stands for here; leave the cursor on its last token."""
        at = self.at
        symbol = self.lookup(text)
        if symbol is not None:
            if symbol.kind is not Kind.TYPEDEF or symbol.type is None:
                return None
            self.use(at, symbol, Role.NAMES)
            self.note_members(symbol.type)
            return Qualified(Named(text, symbol.type, symbol))
        if text in ("typeof", "__typeof__"):
            return None
        if text == "pipe":
            return UNKNOWN
        named = self.named_type(at)
        if named is not None:
            self.use_builtin(at, type_=named)
            return named
        following = self.texts[at + 1]
        if (tagged := self._untagged(text, at)) is not None:
            return tagged
        starts = following in SPECIFIER_WORDS or self.named_type(at + 1) is not None
        starts = starts or self._is_before_type(at)
        if starts or (is_name(following) and following not in KEYWORDS) or following == "*":
            self._unknown_type(text, at, is_qualifier=starts and following != "*")
            if starts:
                self.at += 1
                return self._after_unknown_qualifier()
            return Qualified(Unknown(text))
        return None

    def _untagged(self, name: str, at: int) -> Qualified | None:
        """Return the type of a structure that is named as C++ names it, without the word `struct`."""
        following = self.texts[at + 1]
        if not (is_name(following) and following not in KEYWORDS) and following != "*":
            return None
        tag = self.lookup(name, is_tag=True)
        if tag is None or tag.type is None:
            return None
        if not self.is_cpp:
            word = next(it for it, kind in _TAG_KINDS.items() if kind is tag.kind)
            said = f"must use '{word}' tag to refer to type '{name}'"
            fix = Fix(f"Insert '{word}'", (Edit(at, at, f"{word} "),))
            self.issue("wrong-type", said, token=at, fix=fix)
        self.use(at, tag, Role.NAMES)
        return Qualified(tag.type.base)

    def _is_before_type(self, at: int) -> bool:
        """Tell whether an unknown word stands before another one, which is the type: `INLINE real f(`."""
        type_, behind = self.texts[at + 1], self.texts[at + 2]
        if not is_name(type_) or type_ in KEYWORDS or self.lookup(type_) is not None:
            return False
        declares = is_name(behind) and behind not in KEYWORDS and (not behind.isupper() or type_.isupper())
        return declares or (behind == "*" and not self.scopes)

    def _is_pipe(self) -> bool:
        """Tell whether the token is OpenCL 2.0's `pipe`, before the type of its packets, and no name."""
        following = self.texts[self.at + 1]
        starts = following in SPECIFIER_WORDS or (is_name(following) and following not in KEYWORDS)
        return self.version >= 200 and starts and self.lookup("pipe") is None

    def _after_unknown_qualifier(self) -> Qualified | None:
        """Go on behind a word that nothing defines and that stands before a type: a macro for a qualifier."""
        inner = self.specifiers()
        self.at -= 1
        return inner.type

    def _unknown_type(self, text: str, at: int, *, is_qualifier: bool) -> None:
        is_function = builtins.find(text) is not None
        close = None if is_function else _near_word(text) or self.near(text, is_type=True)
        if nearest(text, (self.texts[at + 1],)) is not None:
            close = None  # `typedef real realN`: names made of this one are not what was meant.
        said = f"unknown type name '{text}'"
        if text in ONLY_CPP:
            self.issue("undeclared", f"{said}, a word of C++", token=at, name=text)
            self.doubt()
            return
        of_2_0 = text in OF_2_0
        if text == "generic" and is_qualifier:
            self._check_generic(AddressSpace.GENERIC, text)
            return
        if close is not None and not of_2_0 and text.upper() != text:
            fix = Fix(f"Change to '{close}'", (Edit(at, at + 1, close),))
            self.issue("undeclared", f"{said}; did you mean '{close}'?", token=at, fix=fix, name=text)
            self.doubt()
            return
        if of_2_0:
            message = f"'{text}' is of OpenCL C 2.0; this is built as {self.version / 100:.1f}"
            self.issue("version", message, token=at, name=text)
        else:
            severity = Severity.INFORMATION if text.upper() == text or is_qualifier else Severity.WARNING
            said += f"; if the host defines it, set -D {text}=VALUE in clmap.toml"
            self.issue("undefined-name", said, severity, token=at, name=text)
        self.doubt()

    def attribute(self) -> list[tuple[str, str]]:
        """Read `__attribute__((a, b(c)))`; return names with their arguments as text."""
        self.at += 1
        if self.text != "(":
            return []
        opened, end = self.at, self.closing(self.at)
        stop = next((at for at in range(opened, end) if self.texts[at] in _ENDS_ATTRIBUTE), end)
        if stop < end:
            fix = Fix("Insert ')'", (Edit(stop, stop, ")"),))
            notes = ((opened, "to match this '('"),)
            self.issue("syntax-error", "expected ')'", token=stop, is_behind=True, fix=fix, notes=notes)
        start = opened + 1
        inside = self.texts[start:stop]
        if inside[:1] == ["("] and inside[-1:] == [")"]:
            inside = inside[1:-1]
            start += 1
        behind = stop if stop < end else min(end + 1, self.n_tokens)
        found: list[tuple[str, str]] = []
        at = 0
        while at < len(inside):
            name = inside[at].strip("_")
            at += 1
            arguments = ""
            if inside[at : at + 1] == ["("]:
                depth, bracket = 0, at
                while at < len(inside):
                    depth += (inside[at] == "(") - (inside[at] == ")")
                    at += 1
                    if depth == 0:
                        break
                arguments = " ".join(inside[bracket + 1 : at - 1]).replace(" ,", ",")
                if name in _MAKES_VECTORS:
                    self.at = start + bracket + 1
                    arguments = str(self.constant_expression().constant)
            if is_name(name):
                found.append((name, arguments))
            if (wrong := work_group_fault(name, arguments)) is not None:
                self.issue("wrong-number", wrong, token=min(start + at, self.n_tokens) - 1)
            if name == "aligned" and arguments.isdecimal() and int(arguments[:12]).bit_count() != 1:
                self.issue("wrong-number", "requested alignment is not a power of 2", token=start + at - 1)
            while at < len(inside) and inside[at] == ",":
                at += 1
        self.at = behind
        return found

    # ---------------------------------------------------------------------------------- tags and bodies

    def _tagged(self, keyword: str) -> Qualified:
        """Read `struct S`, with its body if it has one; stand behind it."""
        first = self.at
        self.at += 1
        attributes: list[tuple[str, str]] = []
        while self.text in ATTRIBUTE_WORDS:
            attributes += self.attribute()
        name_at = self.at if is_name(self.text) and self.text not in KEYWORDS else None
        name = self.text if name_at is not None else ""
        if name_at is not None:
            self.at += 1
        if self.text != "{":
            if name_at is None:
                raise self.fail(f"declaration of anonymous {keyword} must be a definition")
            return self._tag_reference(keyword, name, name_at, first)
        before = self.scopes[-1][1].get(name) if self.scopes else self.file_scope.tags.get(name)
        if name and not self.scopes:
            self.unit.lookups.setdefault((True, name), before)
        if before is not None and (before.is_definition or before.kind is not _TAG_KINDS[keyword]):
            if (before.is_definition and before.unit is self.unit) or before.is_definition:
                self.issue("redefinition", f"redefinition of '{name}'", token=name_at)
            before = None
        symbol = Symbol(
            name, _TAG_KINDS[keyword], None, first if name_at is None else name_at, first, self.n_tokens
        )
        symbol.previous = before
        if keyword == "enum":
            return self._enumeration(symbol)
        return self._record(symbol, keyword == "union", attributes, before)

    def _tag_reference(self, keyword: str, name: str, name_at: int, first: int) -> Qualified:
        is_declaration = self.text == ";"
        symbol = self.lookup(name, is_tag=True)
        if symbol is not None and symbol.kind is not _TAG_KINDS[keyword]:
            said = f"use of '{name}' with tag type that does not match previous declaration"
            self.issue("redefinition", said, token=name_at)
        if symbol is not None and not (is_declaration and not self.scopes and symbol.unit is not self.unit):
            self.use(name_at, symbol, Role.NAMES)
            if symbol.type is not None:
                return Qualified(symbol.type.base)
            return UNKNOWN
        if symbol is not None and symbol.type is not None:
            self.use(name_at, symbol, Role.NAMES | Role.DECLARES)
            return Qualified(symbol.type.base)
        symbol = Symbol(name, _TAG_KINDS[keyword], None, name_at, first, self.at, is_definition=False)
        declared = Enumeration(name) if keyword == "enum" else Record(name, keyword == "union")
        declared.symbol = symbol
        symbol.type = Qualified(declared)
        self.declare(symbol, is_tag=True)
        return symbol.type

    def _record(
        self, symbol: Symbol, is_union: bool, attributes: list[tuple[str, str]], before: Symbol | None
    ) -> Qualified:
        record = Record(symbol.name, is_union)
        if before is not None and before.type is not None and isinstance(before.type.base, Record):
            record = before.type.base  # Pointers to it were declared before it was defined.
        symbol.type = Qualified(record)
        if record.symbol is None:
            record.symbol = symbol
        opened = self.at
        self.declare(symbol, is_tag=True)
        self.at += 1
        members: list[Symbol] = []
        while self.text and self.text != "}":
            before_at = self.at
            self._members(symbol, members)
            if self.at == before_at:
                self.at += 1
        symbol.members = members
        record.symbol = symbol
        self.expect("}", opened)
        symbol.body = opened, self.at
        while self.text in ATTRIBUTE_WORDS:
            attributes += self.attribute()
        record.is_packed = any(name == "packed" for name, _ in attributes)
        record.aligned = _aligned(attributes)
        symbol.attributes = tuple(attributes)
        symbol.end = self.at
        return Qualified(record)

    def _members(self, record: Symbol, members: list[Symbol]) -> None:
        """Read one declaration of members."""
        self.skip_pragmas()
        if self.accept(";") or self.text == "}":
            return
        start = self.at
        specifiers = self.specifiers()
        if not specifiers.has_type:
            self.issue("syntax-error", "type name requires a specifier or qualifier")
            self.skip_to(";")
            self.accept(";")
            return
        if specifiers.storage is not None:
            said = "type name does not allow storage class to be specified"
            self.issue("wrong-type", said, token=specifiers.storage_at)
        if self.text == ";":
            inner = specifiers.type.base
            if isinstance(inner, Record) and not inner.name:
                members.append(Symbol("", Kind.MEMBER, specifiers.type, start, start, self.at))
            self.at += 1
            return
        while True:
            is_unnamed = self.text == ":"
            declared = Declarator(None, specifiers.type) if is_unnamed else self.declarator(specifiers.type)
            bits: int | None = None
            if self.accept(":"):
                width = self.constant_expression().constant
                bits = width if isinstance(width, int) else 0
            attributes = [*specifiers.attributes, *declared.attributes]
            while self.text in ATTRIBUTE_WORDS:
                attributes += self.attribute()
            if is_unnamed:
                members.append(Symbol("", Kind.MEMBER, declared.type, start, start, self.at))
                members[-1].bits = bits
            if declared.name is not None:
                name = self.texts[declared.name]
                if any(it.name == name for it in members):
                    self.issue("redefinition", f"duplicate member '{name}'", token=declared.name)
                member = Symbol(name, Kind.MEMBER, declared.type, declared.name, start, self.at)
                member.unit = self.unit
                self._check_member(member, bits)
                member.parent, member.bits, member.aligned = record, bits, _aligned(attributes)
                members.append(member)
                self.piece.symbols.append(member)
                self.use(declared.name, member, Role.DECLARES | Role.DEFINES)
            if not self.accept(","):
                break
        if self.text != ";":
            severity = Severity.WARNING if self.text == "}" else Severity.ERROR
            if self.expect_semicolon("at end of declaration list", severity, in_list=True):
                return
            if self.text != "}" and not self.starts_type(self.at):
                self.skip_to(";")
                self.accept(";")
            return
        self.at += 1

    def _check_member(self, member: Symbol, bits: int | None) -> None:
        type_ = member.type or UNKNOWN
        if is_void(base_of(type_)):
            said: str | None = f"field has incomplete type '{spelled(type_)}'"
        else:
            said = None if self.is_cpp else member_fault(member.name, type_)
        if said is not None:
            self.issue("wrong-type", said, token=member.token)
        self._check_function_pointer(type_, member.token)
        if bits is not None:
            self.need("__cl_clang_bitfields", "a bit-field", member.token)

    def _enumeration(self, symbol: Symbol) -> Qualified:
        enumeration = Enumeration(symbol.name)
        enumeration.symbol = symbol
        type_ = symbol.type = Qualified(enumeration)
        self.declare(symbol, is_tag=True)
        opened = self.at
        self.at += 1
        value: int | float | None = 0
        names: set[str] = set()
        while self.text and self.text != "}":
            if not self.is_name():
                raise self.fail("expected identifier")
            at = self.at
            self.at += 1
            if self.accept("="):
                value = self._enumerated()
            of_item = _type_of_enumerator(value)
            item = Symbol(self.texts[at], Kind.ENUMERATOR, of_item, at, at, self.at, value=value)
            item.parent = symbol
            if item.name in names:
                self.issue("redefinition", f"redefinition of enumerator '{item.name}'", token=at)
            elif self.scopes and (before := self.scopes[-1][0].get(item.name)) is not None:
                notes = ((self.place_of(before), "previous definition is here"),)
                self.issue("redefinition", f"redefinition of '{item.name}'", token=at, notes=notes)
                self.n_unsure += 1
            elif not self.scopes and not self.is_cpp and self.lookup(item.name) is not None:
                self.issue("redefinition", f"redefinition of '{item.name}'", token=at)
            names.add(item.name)
            self.declare(item)
            value = None if value is None else value + 1
            if self.accept(","):
                continue
            if not self.is_name():
                break
            fix = Fix("Insert ','", (Edit(self.at, self.at, ","),))
            self.issue("syntax-error", "missing ',' between enumerators", is_behind=True, fix=fix)
        if not names and self.text == "}":
            self.issue("wrong-type", "use of empty enum", token=opened)
        self.expect("}", opened)
        symbol.body = opened, self.at
        symbol.end = self.at
        return type_

    def _enumerated(self) -> int | float | None:
        """Read the value of an enumerator."""
        mark = len(self.reads)
        found = self.constant_expression()
        self.check_integer_constant(found, self.reads[mark:])
        return found.constant

    def check_integer_constant(self, found: Value, reads: list[Symbol | None]) -> None:
        """Report what is no integer, or is known only as the kernel runs, where a constant has to be."""
        base = base_of(found.type)
        if isinstance(base, ScalarType) and base.is_float:
            said = f"integer constant expression must have integer type, not '{spelled(found.type)}'"
            self.issue("wrong-type", said, token=found.start)
        elif found.constant is None and any(map(changes, reads)):
            said = "expression is not an integer constant expression"
            self.issue("wrong-type", said, token=found.start)

    def _ends_after_record(self) -> bool:
        """Tell whether a `;` is missing right behind a record's body; report it."""
        if self.texts[self.at - 1] != "}":
            return False
        text = self.text
        if text not in SPECIFIER_WORDS - QUALIFIER_WORDS and self.named_type() is None:
            return False
        if text in ATTRIBUTE_WORDS:
            return False
        if self.is_name() and self.texts[self.at + 1] in (";", ",", "=", "["):
            return False  # A name that hides the type of that name.
        self.expect_semicolon("after struct")
        return True

    # -------------------------------------------------------------------------------------- declarators

    def declarator(self, type_: Qualified, *, is_abstract: bool = False) -> Declarator:
        """Read pointers, a name, and what follows it. Raises: SyntaxFaultError."""
        while self.text in ("*", "^"):
            is_block = self.text == "^"
            self.at += 1
            type_ = self._pointer(type_, is_block)
        if self.depth > 60:
            raise SyntaxFaultError
        attributes: list[tuple[str, str]] = []
        while self.text in ATTRIBUTE_WORDS:
            attributes += self.attribute()
        if self.text == "(" and self._is_nested(is_abstract):
            opened = self.at
            self.skip_brackets()
            outer = Declarator(None, type_)
            self.suffixes(outer)
            end, self.at = self.at, opened + 1
            self.depth += 1
            try:
                found = self.declarator(outer.type, is_abstract=is_abstract)
            finally:
                self.depth -= 1
            self.expect(")", opened)
            self.at = end
            found.parameters = found.parameters or outer.parameters
            found.attributes += attributes
            return found
        found = Declarator(None, type_, attributes=attributes)
        if self.is_name():
            found.name = self.at
            self.at += 1
        elif not is_abstract:
            raise self.fail("expected identifier or '('")
        while self.text in ATTRIBUTE_WORDS:
            found.attributes += self.attribute()
        self.suffixes(found)
        while self.text in ATTRIBUTE_WORDS:
            found.attributes += self.attribute()
        found.type = _as_vector(found.type, found.attributes)
        return found

    def _pointer(self, type_: Qualified, is_block: bool) -> Qualified:
        """Return a pointer to a type, with the qualifiers that stand behind its `*`."""
        if space_of(type_) is None and not isinstance(base_of(type_), Function):
            space = AddressSpace.GENERIC if self.version >= 200 else AddressSpace.PRIVATE
            type_ = Qualified(
                type_.base, type_.is_const, type_.is_volatile, type_.is_restrict, space, type_.access
            )
        is_const_, is_volatile, is_restrict = False, False, False
        space_: AddressSpace | None = None
        while (text := self.text) in QUALIFIER_WORDS:
            if text in CONST_WORDS:
                is_const_ = True
            elif text in VOLATILE_WORDS:
                is_volatile = True
            elif text in RESTRICT_WORDS:
                is_restrict = True
            elif text in ADDRESS_SPACES:
                space_ = _SPACES[text.strip("_")]
            self.at += 1
        return Qualified(Pointer(type_, is_block), is_const_, is_volatile, is_restrict, space_)

    def _is_nested(self, is_abstract: bool) -> bool:
        following = self.texts[self.at + 1]
        if following in ("*", "^", "("):
            return True
        if following in ATTRIBUTE_WORDS or following in QUALIFIER_WORDS:
            return not is_abstract
        if not self.is_name(self.at + 1) or self.named_type(self.at + 1) is not None:
            return False
        symbol = self.lookup(following) if is_abstract else None
        return not is_abstract or (symbol is not None and symbol.kind is not Kind.TYPEDEF)

    def suffixes(self, found: Declarator) -> None:
        """Read the lengths of an array, or the parameters of a function, behind a name."""
        lengths: list[int | None] = []
        open_: list[int | None] = []
        """As `lengths`, with a number for each that is written, if it is known or not."""
        while self.text == "[":
            opened = self.at
            self.at += 1
            while self.text in QUALIFIER_WORDS or self.text == "static":
                self.at += 1
            if self.text == "]":
                lengths.append(None)
                open_.append(None)
            else:
                lengths.append(self._length(found))
                open_.append(0)
            self.expect("]", opened)
        if None in open_[1:]:
            inner = spelled(Qualified(Array(found.type, None)))
            said = f"array has incomplete element type '{inner}'"
            self.issue("wrong-type", said, token=self.at - 1)
        for length in reversed(lengths):
            found.type = Qualified(Array(found.type, length))
        if not lengths and self.text == "(":
            found.opening = self.at
            parameters, is_variadic, has_prototype = self._parameters()
            types = tuple(unqualified(it.type or UNKNOWN) for it in parameters)
            found.parameters = parameters
            found.type = Qualified(Function(found.type, types, is_variadic, has_prototype))

    def _length(self, found: Declarator) -> int | None:
        """Read how many elements an array has."""
        at, mark = self.at, len(self.reads)
        given = self.assignment()
        size, base = given.constant, base_of(decayed(given.type))
        if not is_integer(base) and not isinstance(base, Unknown):
            said = f"size of array has non-integer type '{spelled(unqualified(given.type))}'"
            self.issue("wrong-type", said, token=at)
            return None
        named = "" if found.name is None else self.texts[found.name]
        if isinstance(size, int) and size < 0:
            said = f"'{named}' declared as an array with a negative size"
            self.issue("wrong-type", said, token=at)
            return None
        if size is None and any(map(changes, self.reads[mark:])) and self.function is not None:
            self.issue("wrong-type", "variable length arrays are not supported in OpenCL", token=found.name)
        return size if isinstance(size, int) else None

    def _parameters(self) -> tuple[list[Symbol], bool, bool]:
        """Read a list of parameters with its brackets."""
        if not self.scopes and is_old_head(self.texts, self.at):
            return self._listed(), False, False
        opened = self.at
        self.at += 1
        if self.accept(")"):
            return [], False, True
        if self.text == "void" and self.texts[self.at + 1] == ")":
            self.at += 2
            return [], False, True
        found: list[Symbol] = []
        is_variadic = False
        while True:
            self.skip_pragmas()
            if self.accept("..."):
                is_variadic = True
                break
            found.append(self._parameter())
            self._macro_behind_parameter()
            if not self.accept(","):
                break
        self.expect(")", opened, in_list=True)
        return found, is_variadic, True

    def _listed(self) -> list[Symbol]:
        """Read names of parameters whose types stand behind the list, as before C had prototypes."""
        end = self.closing(self.at)
        found = [
            Symbol(self.texts[at], Kind.PARAMETER, INT, at, at, at + 1)
            for at in range(self.at + 1, end)
            if self.texts[at] != ","
        ]
        self.at = end + 1
        return found

    def old_parameters(self, declared: Declarator) -> None:
        """Read the types of parameters that stand between a function's list of names and its body."""
        listed = {it.name: it for it in declared.parameters or ()}
        while self.text and self.text != "{":
            specifiers = self.specifiers()
            while True:
                found = self.declarator(specifiers.type)
                name = "" if found.name is None else self.texts[found.name]
                symbol = listed.get(name)
                if symbol is None or found.name is None:
                    self.issue("undeclared", f"parameter named '{name}' is missing", token=found.name)
                else:
                    self.use(symbol.token, symbol, Role.NAMES)
                    symbol.type = _as_parameter(found.type)
                    symbol.token, symbol.first = found.name, specifiers.start
                if not self.accept(","):
                    break
            self.expect_semicolon("at end of declaration")
        function = declared.type.base
        if isinstance(function, Function):
            types = tuple(unqualified(it.type or UNKNOWN) for it in declared.parameters or ())
            declared.type = Qualified(Function(function.result, types, False, has_prototype=False))

    def _macro_behind_parameter(self) -> None:
        """Go past a word in capitals that nothing defines, as in `(int n MORE)`: parameters, perhaps."""
        while self.is_name() and self.text.isupper() and self.lookup(self.text) is None:
            self._unknown_type(self.text, self.at, is_qualifier=False)
            self.at += 1

    def _parameter(self) -> Symbol:
        start = self.at
        specifiers = self.specifiers()
        if not specifiers.has_type:
            if self.is_name() and self.texts[self.at + 1] in (",", ")"):
                self._unknown_type(self.text, self.at, is_qualifier=False)
                self.at += 1
                return Symbol("", Kind.PARAMETER, UNKNOWN, start, start, self.at)
            raise self.fail("expected parameter declarator")
        declared = self.declarator(specifiers.type, is_abstract=True)
        if self.text not in (",", ")") and not self.is_doubtful and self.text == "=" and self.is_cpp:
            self.skip_to(",")
        name = "" if declared.name is None else self.texts[declared.name]
        type_ = _as_parameter(declared.type)
        base = base_of(declared.type)
        symbol = Symbol(
            name, Kind.PARAMETER, type_, declared.name if declared.name is not None else start, start, self.at
        )
        symbol.attributes = (*specifiers.attributes, *declared.attributes)
        if is_void(base):
            said = "argument may not have 'void' type"
            if not name or self.text == ",":
                said = "'void' must be the first and only parameter if specified"
            self.issue("wrong-type", said, token=symbol.token)
        elif not self.is_cpp and (wrong := parameter_fault(declared.type)) is not None:
            self.issue("wrong-type", wrong, token=symbol.token)
        if (misplaced := storage_fault(specifiers.storage, self.version)) is not None and not self.is_cpp:
            self.issue("wrong-type", misplaced, token=specifiers.storage_at)
        self.check_extensions(type_, symbol.token, "a parameter")
        self._check_function_pointer(declared.type, symbol.token)
        return symbol

    def _check_function_pointer(self, type_: Qualified, at: int) -> None:
        base = base_of(type_)
        while isinstance(base, Array):
            base = base_of(base.element)
        if isinstance(base, Pointer) and not base.is_block and isinstance(base_of(base.pointee), Function):
            self.need("__cl_clang_function_pointers", "a pointer to a function", at, Severity.ERROR)

    def check_extensions(self, type_: Qualified, at: int, what: str) -> None:
        """Note the extensions that values of a type need."""
        base = base_of(type_)
        while isinstance(base, Array):
            base = base_of(base.element)
        element = base.element if isinstance(base, VectorType) else base
        if base == base_of(HALF):
            self.need("cl_khr_fp16", f"{what} of type 'half'", at)
        elif element == base_of(DOUBLE) and self.version < 120:
            self.need("cl_khr_fp64", f"{what} of type '{spelled(Qualified(base))}'", at)

    def type_name(self) -> Qualified:
        """Read a type's name, as in a cast. Raises: SyntaxFaultError."""
        text = self.text
        if (
            is_name(text)
            and text not in KEYWORDS
            and self.named_type() is None
            and self.texts[self.at + 1] in (")", "*")
        ):
            self._unknown_type(text, self.at, is_qualifier=False)
            self.at += 1
            return self._without_name(Qualified(Unknown(text)))
        specifiers = self.specifiers()
        if not specifiers.has_type:
            if specifiers.type.space is None and not specifiers.type.is_const:
                raise self.fail("expected a type")
            raise self.fail("type name requires a specifier or qualifier")
        return self._without_name(specifiers.type)

    def _without_name(self, type_: Qualified) -> Qualified:
        found = self.declarator(type_, is_abstract=True)
        if found.name is not None:
            is_nested = self.texts[found.name - 1] in ("(", "*")
            said = "type-id cannot have a name" if is_nested else "expected ')'"
            self.issue("syntax-error", said, token=found.name)
        return found.type


def _as_parameter(type_: Qualified) -> Qualified:
    """Return the type of a parameter that is declared with a type: arrays and functions are pointers."""
    if not isinstance(base_of(type_), Array | Function):
        return type_
    type_ = decayed(type_)
    if not isinstance(type_.base, Pointer) or space_of(type_.base.pointee) is not None:
        return type_
    inner = type_.base.pointee
    private = Qualified(
        inner.base, inner.is_const, inner.is_volatile, inner.is_restrict, AddressSpace.PRIVATE
    )
    return Qualified(Pointer(private))


@lru_cache(maxsize=1024)
def _near_word(text: str) -> str | None:
    """Return the word of the language that was perhaps meant by an unknown type's name."""
    return nearest(text, [*TYPE_NAMES, *sorted(SPECIFIER_WORDS)])  # A set has another order in each process.


def _type_of_enumerator(value: int | float | None) -> Qualified:
    """Return the type of an enumerator: int, or the first that is large enough, as clang has it."""
    if not isinstance(value, int) or -(1 << 31) <= value < 1 << 31:
        return INT
    name = "uint" if 0 < value < 1 << 32 else "long" if value < 1 << 63 else "ulong"
    return Qualified(SCALARS[name])


def is_void(base: object) -> bool:
    """Tell whether a base is `void`."""
    return isinstance(base, ScalarType) and base.kind is ScalarKind.VOID


def changes(it: Symbol | None) -> bool:
    """Tell whether what was read is a variable that no constant expression may hold."""
    if it is None or it.kind is Kind.PARAMETER:
        return it is not None
    return it.kind is Kind.VARIABLE and not is_const(it.type or UNKNOWN)


def _may_be_restricted(type_: Qualified) -> bool:
    return isinstance(base_of(type_), Pointer | Unknown | Array)


def _has_access(type_: Qualified) -> bool:
    base = base_of(type_)
    return isinstance(base, Unknown) or (isinstance(base, OpaqueType) and base.is_image)


def _wrong_sizes(words: list[str]) -> str | None:
    """Say what is wrong with a list such as `unsigned float` or `int int`; `None` where nothing is."""
    for word in ("int", "char", "double", "float", "half", "signed", "unsigned", "short"):
        if words.count(word) > 1:
            return f"cannot combine with previous '{word}' declaration specifier"
    if words.count("long") > 2:
        return "cannot combine with previous 'long long' declaration specifier"
    kinds = [it for it in words if it in ("int", "char", "double", "float", "half")]
    if len(kinds) > 1:
        return f"cannot combine with previous '{kinds[0]}' declaration specifier"
    if {"signed", "unsigned"} <= set(words):
        first = next(it for it in words if it in ("signed", "unsigned"))
        return f"cannot combine with previous '{first}' declaration specifier"
    if "short" in words and "long" in words:
        first = next(it for it in words if it in ("short", "long"))
        return f"cannot combine with previous '{first}' declaration specifier"
    if kinds and kinds[0] != "int" and ("short" in words or "long" in words):
        size = "short" if "short" in words else "long"
        if (size, kinds[0]) != ("long", "double"):
            return f"'{size} {kinds[0]}' is invalid"
    if kinds and kinds[0] in ("float", "half", "double") and {"signed", "unsigned"} & set(words):
        return f"'{kinds[0]}' cannot be signed or unsigned"
    return None


def _sized(words: list[str]) -> Qualified:
    """Return the type of `unsigned long int` and the like, words in any order."""
    for word in ("double", "float", "half"):
        if word in words:
            return TYPE_NAMES[word]
    prefix = "u" if "unsigned" in words else ""
    for word in ("char", "short", "long"):
        if word in words:
            return Qualified(SCALARS[f"{prefix}{word}"])
    return Qualified(SCALARS[f"{prefix}int"])


def _as_vector(type_: Qualified, attributes: list[tuple[str, str]]) -> Qualified:
    """Return the vector that GCC's and clang's attributes make of a scalar, else the type itself."""
    element = base_of(type_)
    for name, argument in attributes:
        if name in _MAKES_VECTORS and isinstance(element, ScalarType):
            n_lanes = int(argument) if argument.isdecimal() and len(argument) < 5 else 0
            n_lanes //= element.size if name == "vector_size" and element.size else 1
            return replace(type_, base=VectorType(element, n_lanes) if n_lanes else Unknown())
    return type_


def _aligned(attributes: list[tuple[str, str]]) -> int | None:
    for name, argument in attributes:
        if name == "aligned":
            return int(argument) if argument.isdecimal() else None
    return None
