"""C and C++ host code as a tree of `clmap_lsp.hosts.tree`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

import tree_sitter_cpp
from tree_sitter import Language, Node, Parser

from clmap_lsp.hosts.macros import INCLUDED
from clmap_lsp.hosts.syntax import (
    MAX_BRANCHES,
    OF_STATEMENT,
    TreeReader,
    field_text,
    raw_content,
    short_text,
    text_of,
)
from clmap_lsp.hosts.tree import (
    LISTS,
    OUTERMOST,
    AddressOf,
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Class,
    Conditional,
    Counted,
    Declare,
    Dereference,
    Designated,
    Evaluate,
    Expr,
    Function,
    If,
    Index,
    Initialise,
    Items,
    Jump,
    Lambda,
    Loop,
    Member,
    Module,
    Name,
    New,
    Num,
    Opaque,
    Parameter,
    Placed,
    Raise,
    Return,
    Scope,
    SizeOf,
    Stmt,
    Str,
    Switch,
    Unary,
)
from clmap_lsp.hosts.values import bounded, is_vector, is_whole, size_of
from clmap_lsp.source.bounded import host_tree

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\n": "", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_HANDLES = frozenset(
    (
        *("cl_platform_id", "cl_device_id", "cl_context", "cl_command_queue", "cl_mem"),
        *("cl_program", "cl_kernel", "cl_event", "cl_sampler"),
    )
)
_CERTAIN = frozenset(("identifier", "abstract_pointer_declarator", "abstract_reference_declarator"))
"""What stands behind a type: `HWND window`, `size_t *`, but not the product `n * m`."""
_CASTS = frozenset(("static_cast", "reinterpret_cast", "const_cast", "dynamic_cast"))


@cache
def _language() -> Language:
    return Language(tree_sitter_cpp.language())


def parse_c(text: str) -> Node:
    """Return the syntax tree of C or C++."""
    return host_tree(Parser(_language()), text)


def read_c(text: str, path: str) -> Module:
    """Read the compiled lines of one file. Never raises; what does not parse is left out."""
    return _Reader(path).module(parse_c(text))


def read_c_expression(text: str) -> Expr:
    """Read one expression, such as the body of a macro."""
    root = parse_c(f"int x = {text};")
    if root.has_error or not root.named_children:
        return Opaque(text)
    declaration = root.named_children[0]
    declarator = declaration.child_by_field_name("declarator")
    value = declarator.child_by_field_name("value") if declarator is not None else None
    if value is None or len(root.named_children) != 1:
        return Opaque(text)
    return _Reader("").expression(value)


_CONSTANTS: dict[str, Expr] = {"true": Num(1), "false": Num(0), "nullptr": Name("NULL")}


class _Reader(TreeReader):
    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.globals: list[Stmt] = []
        self.constants: dict[str, Expr] = {}
        self.types: dict[str, str] = {}
        self.scope, self.namespace = "", ""
        self.templates: tuple[str, ...] = ()
        self.defaults: dict[tuple[str, str], tuple[Parameter, ...]] = {}

    def module(self, root: Node) -> Module:
        self._top(root, "")
        functions, declared = tuple(self.functions), tuple(self.globals)
        types = self.types
        return Module(self.path, "c", functions, self.classes, declared, self.constants, types, self.defaults)

    # -------------------------------------------------------------------------------- outside functions

    def _top(self, node: Node, owner: str) -> None:
        with self.nested(OF_STATEMENT) as is_followed:
            if is_followed:
                self._declarations(node, owner)

    def _declarations(self, node: Node, owner: str) -> None:
        for child in node.named_children:
            match child.type:
                case "function_definition":
                    self._function(child, owner)
                case "declaration":
                    self._types_in(child)
                    self._prototype(child, owner)
                    self.globals += [it for it in self._declaration(child) if isinstance(it, Declare)]
                case "class_specifier" | "struct_specifier" | "union_specifier":
                    self._class(child)
                case "enum_specifier":
                    self._enumeration(child)
                case "type_definition":
                    self._types_in(child)
                    self._type_definition(child)
                case "alias_declaration":
                    self.types[field_text(child, "name")] = field_text(child, "type")
                case "namespace_definition":
                    before, name = (self.scope, self.namespace), field_text(child, "name")
                    self.scope = name.split("::")[-1]
                    self.namespace = "::".join(filter(None, (self.namespace, name)))
                    self._top(child, owner)
                    self.scope, self.namespace = before
                case "template_declaration":
                    outer, self.templates = self.templates, _template_names(child)
                    self._top(child, owner)
                    self.templates = outer
                case (
                    "linkage_specification"
                    | "declaration_list"
                    | "ERROR"
                    | "expression_statement"
                    | "compound_statement"
                ):
                    self._top(child, owner)

    def _types_in(self, node: Node) -> None:
        kind = node.child_by_field_name("type")
        if kind is not None and kind.type in ("class_specifier", "struct_specifier", "union_specifier"):
            self._class(kind)
        elif kind is not None and kind.type == "enum_specifier":
            self._enumeration(kind)

    def _type_definition(self, node: Node) -> None:
        kind, declarator = node.child_by_field_name("type"), node.child_by_field_name("declarator")
        if kind is None or declarator is None:
            return
        name = text_of(declarator)
        body = kind.child_by_field_name("body")
        if body is not None and kind.child_by_field_name("name") is None:
            self._class(kind, name)
        else:
            self.types[name] = text_of(kind.child_by_field_name("name") or kind)

    def _enumeration(self, node: Node) -> None:
        body = node.child_by_field_name("body")
        if body is None:
            return
        before: Expr | None = None
        for child in body.named_children:
            if child.type != "enumerator":
                continue
            name, value = field_text(child, "name"), child.child_by_field_name("value")
            if value is not None:
                before = self.expression(value)
            else:
                before = Num(0) if before is None else Binary("+", before, Num(1))
            is_other = name in self.constants and self.constants[name] != before
            self.constants[name] = Opaque(name) if is_other else before

    def _class(self, node: Node, given: str = "") -> None:
        with self.nested(OF_STATEMENT) as is_followed:
            if is_followed:
                self._members(node, given)

    def _members(self, node: Node, given: str) -> None:
        body = node.child_by_field_name("body")
        name = given or _last_name(node.child_by_field_name("name"))
        if body is None or not name:
            return
        fields: list[Declare] = []
        virtual: set[str] = set()
        templates, self.templates = self.templates, ()
        for child in body.named_children:
            virtual |= _virtual(child)
            if child.type in ("field_declaration", "declaration"):
                self._prototype(child, name)
            if child.type == "field_declaration":
                self._types_in(child)
                fields += [it for it in self._declaration(child) if isinstance(it, Declare)]
            elif child.type == "function_definition":
                self._function(child, name)
            elif child.type == "template_declaration":
                outer, self.templates = self.templates, _template_names(child)
                self._top(child, name)
                self.templates = outer
            elif child.type in ("class_specifier", "struct_specifier"):
                self._class(child)
            elif child.type == "enum_specifier":
                self._enumeration(child)
        self.templates = templates
        bases = tuple(
            it
            for clause in node.named_children
            if clause.type == "base_class_clause"
            for it in clause.named_children
            if it.type in ("type_identifier", "qualified_identifier", "template_type")
        )
        is_union = node.type == "union_specifier"
        names, of_bases = tuple(map(_last_name, bases)), tuple(map(_template, bases))
        self.classes[name] = Class(
            name, tuple(fields), names, is_union, frozenset(virtual), templates, of_bases
        )

    def _function(self, node: Node, owner: str) -> None:
        declarator = node.child_by_field_name("declarator")
        body = node.child_by_field_name("body")
        while declarator is not None and declarator.type not in ("function_declarator",):
            declarator = _inner(declarator)
        if declarator is None or body is None or self._sends_messages(body):
            return
        called = declarator.child_by_field_name("declarator")
        name = _last_name(called)
        if called is not None and called.type == "qualified_identifier":
            owner = _scope_of(called) or owner  # `gpu::Device::run`: the class stands last.
        templates, self.templates = self.templates, ()
        first: list[Stmt] = []
        for child in node.named_children:
            if child.type == "field_initializer_list":
                first += self._initialisers(child)
        block = self.block(body)
        parameters = self._parameters(declarator.child_by_field_name("parameters"))
        row = node.start_point.row + 1
        made = Function(
            name,
            owner,
            parameters,
            block,
            self.path,
            row,
            tuple(first),
            templates,
            _template(called),
            result=_last_name(node.child_by_field_name("type")),
            namespace=self.namespace,
        )
        self.templates = templates
        self.functions.append(made)

    def _sends_messages(self, body: Node) -> bool:
        """Tell a function of Objective-C that cannot be read whole and does not use OpenCL: what it gives
        is not known, and what seems to be left of it may be its way out where something failed."""
        return self.path.endswith(".m") and body.has_error and _OPENCL.search(body.text or b"") is None

    def _prototype(self, node: Node, owner: str) -> None:
        """Note the defaults that a declaration gives the parameters of a function."""
        declarator = node.child_by_field_name("declarator")
        while declarator is not None and declarator.type != "function_declarator":
            declarator = _inner(declarator)
        listed = declarator.child_by_field_name("parameters") if declarator is not None else None
        if declarator is None or listed is None or b"=" not in (listed.text or b""):
            return
        parameters = self._parameters(listed)
        if any(it.default is not None for it in parameters):
            name = _last_name(declarator.child_by_field_name("declarator"))
            self.defaults[owner, name] = parameters

    def _initialisers(self, node: Node) -> Iterator[Stmt]:
        for child in node.named_children:
            if child.type != "field_initializer" or len(child.named_children) < 2:
                continue
            name, values = child.named_children[0], child.named_children[1]
            given = tuple(self.expression(it) for it in values.named_children)
            yield Initialise(_last_name(name), given, child.start_point.row + 1)

    def _parameters(self, node: Node | None) -> tuple[Parameter, ...]:
        result = []
        for child in node.named_children if node is not None else ():
            is_pack = child.type == "variadic_parameter_declaration"
            if child.type not in ("parameter_declaration", "optional_parameter_declaration") and not is_pack:
                continue
            kind = _type_text(child)
            declarator = child.child_by_field_name("declarator")
            default = child.child_by_field_name("default_value")
            name, shape = _declared(declarator)
            if name or kind != "void":
                result.append(
                    Parameter(
                        ("*" if is_pack else "") + name,
                        kind + ("*" if shape.pointer or shape.dimensions else ""),
                        self.expression(default) if default is not None else None,
                        shape.reference,
                    )
                )
        return tuple(result)

    # ------------------------------------------------------------------------------------- statements

    def block(self, node: Node | None) -> Block:
        if node is None:
            return ()
        if node.type not in ("compound_statement", "ERROR", "declaration_list"):
            return tuple(self.statement(node))
        result: list[Stmt] = []
        labels: dict[str, int] = {}
        for child in node.named_children:
            if child.type == "labeled_statement":
                labels.setdefault(field_text(child, "label"), len(result))
            result += self.statement(child)
            starts = [labels[it] for it in _jumps(child) if it in labels] if labels else []
            if starts:
                # Jumping back makes a loop of what lies between, and one statement of all from there on.
                start = min(starts)
                result[start:] = [Loop((), Opaque("goto"), (), tuple(result[start:]), tests_first=False)]
                labels = {it: at for it, at in labels.items() if at <= start}
        return tuple(result)

    def _statement(self, node: Node) -> Iterator[Stmt]:
        row = node.start_point.row + 1
        match node.type:
            case "declaration":
                self._types_in(node)
                yield from self._declaration(node)
            case "expression_statement":
                for child in node.named_children:
                    yield Evaluate(self.expression(child), row)
            case "compound_statement":
                yield Scope(self.block(node))
            case "ERROR":
                yield from self.block(node)
            case "if_statement":
                yield from self._if(node)
            case "else_clause":
                for child in node.named_children:
                    yield from self.statement(child)
            case "for_statement" | "for_range_loop" | "while_statement" | "do_statement":
                yield self._loop(node)
            case "switch_statement":
                yield self._switch(node)
            case "return_statement" | "co_return_statement":
                value = self.expression(node.named_children[0]) if node.named_children else None
                yield Return(value, _row(node))
            case "break_statement" | "continue_statement":
                yield Jump(node.type == "break_statement")
            case "throw_statement":
                yield Raise()
            case "try_statement":
                yield Scope(self.block(node.child_by_field_name("body")))
                for child in node.named_children:
                    if child.type == "catch_clause":
                        yield If(Opaque("caught"), self.block(child.child_by_field_name("body")), ())
            case "labeled_statement":
                for child in node.named_children[1:]:
                    yield from self.statement(child)
            case "type_definition" | "alias_declaration" | "class_specifier" | "struct_specifier":
                self._local_types(node)
            case "enum_specifier":
                self._enumeration(node)
            case "comment" | "statement_identifier" | "using_declaration":
                return
            case _ if node.type.endswith(("expression", "literal", "identifier", "string")):
                yield Evaluate(self.expression(node), row)

    def _if(self, node: Node) -> Block:
        """Read all that stand behind each other's `else`, from the last one on."""
        branches = [node]
        last: Node | None = None
        while len(branches) <= MAX_BRANCHES:
            last = branches[-1].child_by_field_name("alternative")
            inner = last.named_children[0] if last is not None and len(last.named_children) == 1 else None
            if inner is None or inner.type != "if_statement":
                break
            branches.append(inner)
            last = None
        otherwise = self.block(last)
        for it in reversed(branches):
            condition = it.child_by_field_name("condition")
            then = self.block(it.child_by_field_name("consequence"))
            chosen = If(self._condition(condition), then, otherwise, _row(it))
            otherwise = (*self._initialiser_of(condition), chosen)
        return otherwise

    def _loop(self, node: Node) -> Loop:
        if node.type == "for_statement":
            return self._for(node)
        condition, body = node.child_by_field_name("condition"), self.block(node.child_by_field_name("body"))
        if node.type == "for_range_loop":
            name, _ = _declared(node.child_by_field_name("declarator"))
            target = Name(name) if name else None
            over = self.or_opaque(node.child_by_field_name("right"))
            return Loop((), None, (), body, each=target, over=over, row=_row(node))
        tests_first = node.type == "while_statement"
        return Loop((), self._condition(condition), (), body, tests_first=tests_first, row=_row(node))

    def _local_types(self, node: Node) -> None:
        if node.type == "type_definition":
            self._type_definition(node)
        elif node.type == "alias_declaration":
            self.types[field_text(node, "name")] = field_text(node, "type")
        else:
            self._class(node)

    def _initialiser_of(self, clause: Node | None) -> Iterator[Stmt]:
        if clause is None:
            return
        first = clause.child_by_field_name("initializer")
        value = clause.child_by_field_name("value")
        for child in (first, value):
            if child is not None and child.type in ("declaration", "init_statement"):
                for it in [child] if child.type == "declaration" else child.named_children:
                    yield from self.statement(it)

    def _condition(self, clause: Node | None) -> Expr:
        if clause is None:
            return Opaque("")
        value = clause.child_by_field_name("value") or clause
        if value.type == "declaration":
            name, _ = _declared(value.child_by_field_name("declarator"))
            return Name(name)
        if value is clause and clause.type in ("condition_clause", "parenthesized_expression"):
            return self.expression(clause.named_children[-1]) if clause.named_children else Opaque("")
        return self.expression(value)

    def _for(self, node: Node) -> Loop:
        start: list[Stmt] = []
        first = node.child_by_field_name("initializer")
        if first is not None:
            start += self.statement(first)
            if first.type != "declaration" and not start:
                start.append(Evaluate(self.expression(first), first.start_point.row + 1))
        condition, step = node.child_by_field_name("condition"), node.child_by_field_name("update")
        steps = (Evaluate(self.expression(step), step.start_point.row + 1),) if step is not None else ()
        body = self.block(node.child_by_field_name("body"))
        holds = self.expression(condition) if condition else None
        return Loop(tuple(start), holds, steps, body, row=_row(node))

    def _switch(self, node: Node) -> Switch:
        cases = []
        body = node.child_by_field_name("body")
        for child in body.named_children if body is not None else ():
            if child.type != "case_statement":
                continue
            value = child.child_by_field_name("value")
            inner = [it for it in child.named_children if value is None or it.id != value.id]
            block = tuple(stmt for it in inner for stmt in self.statement(it))
            cases.append((self.expression(value) if value is not None else None, block))
        return Switch(self._condition(node.child_by_field_name("condition")), tuple(cases), _row(node))

    # ----------------------------------------------------------------------------------- declarations

    def _declaration(self, node: Node) -> Iterator[Stmt]:
        kind = _type_text(node)
        template = _template(node.child_by_field_name("type"))
        is_constant = any(
            it.type == "type_qualifier" and text_of(it) in ("const", "constexpr") for it in node.children
        )
        is_static = any(
            it.type == "storage_class_specifier" and text_of(it) == "static" for it in node.children
        )
        default = node.child_by_field_name("default_value")
        row = node.start_point.row + 1
        for declarator in node.children_by_field_name("declarator"):
            value = declarator.child_by_field_name("value") if declarator.type == "init_declarator" else None
            inner = declarator.child_by_field_name("declarator") if value is not None else declarator
            if inner is not None and inner.type == "init_declarator":
                inner = inner.child_by_field_name("declarator")
            name, shape = _declared(inner)
            if not name or (
                value is None and shape.arguments is not None and _are_parameters(shape.arguments)
            ):
                continue
            arguments = None
            if shape.arguments is not None:
                arguments = tuple(self._argument(it) for it in shape.arguments)
            elif value is not None and value.type == "argument_list":
                arguments = tuple(self.expression(it) for it in value.named_children)
                value = None
            if value is None and default is not None:
                value = default
            yield Declare(
                name,
                kind,
                template,
                self.expression(value) if value is not None else None,
                arguments,
                tuple(self.expression(it) if it is not None else None for it in shape.dimensions),
                shape.reference,
                shape.pointer,
                is_constant,
                row,
                is_static,
                _scope_of(inner) or self.scope,
                _scope_of(node.child_by_field_name("type")),
            )

    def _argument(self, node: Node) -> Expr:
        """Read what the grammar takes for a parameter, as `range(N, M)` looks like a function."""
        text = text_of(node)
        return read_c_expression(text) if text in _CONSTANTS or not text.isidentifier() else Name(text)

    # ------------------------------------------------------------------------------------ expressions

    def number(self, node: Node) -> Expr:
        text = text_of(node).replace("'", "")
        value = number(text)
        return Num(value) if value is not None else Opaque(text)

    def string(self, node: Node) -> Expr:
        row = node.start_point.row + 1
        if node.type == "concatenated_string":
            parts: list[str | Expr] = []
            for child in node.named_children:
                if child.type.endswith("string_literal"):
                    piece = self.string(child)
                    parts += piece.parts if isinstance(piece, Str) else ()
                elif child.type != "comment":
                    parts.append(self.expression(child))
            return Str(tuple(parts), row)
        if node.type == "raw_string_literal":
            return Str((raw_content(node),), row)
        text = text_of(node)
        start, end = text.find('"') + 1, text.rfind('"')
        inner = text[start:end]
        if inner.startswith(INCLUDED):
            return Str((Call(Name("fopen"), (Str((inner.removeprefix(INCLUDED),), row),), row=row),), row)
        return Str((unescaped(inner),), row)

    def with_suffix(self, node: Node) -> Expr:
        """`"text"s`; what a suffix of a number makes of it is not known."""
        inner = node.named_children[0] if node.named_children else None
        is_text = inner is not None and inner.type.endswith("string_literal")
        return self.string(inner) if inner is not None and is_text else Opaque(text_of(node))

    def character(self, node: Node) -> Expr:
        inner = unescaped(text_of(node).strip("LuU8").strip("'"))
        return Num(ord(inner)) if len(inner) == 1 else Opaque(text_of(node))

    def binary(self, node: Node) -> Expr:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        return Binary(field_text(node, "operator"), self.or_opaque(left), self.or_opaque(right))

    def unary(self, node: Node) -> Expr:
        operand = self.or_opaque(node.child_by_field_name("argument"))
        op = field_text(node, "operator")
        return operand if op == "+" else Unary("!" if op == "not" else op, operand)

    def pointer(self, node: Node) -> Expr:
        operand = self.or_opaque(node.child_by_field_name("argument"))
        return AddressOf(operand) if field_text(node, "operator") == "&" else Dereference(operand)

    def update(self, node: Node) -> Expr:
        operand = self.or_opaque(node.child_by_field_name("argument"))
        op = field_text(node, "operator")[0]
        is_prefix = bool(node.children) and node.children[0].type in ("++", "--")
        return Assign(operand, op, Num(1), gives_before=not is_prefix)

    def assignment(self, node: Node) -> Expr:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        op = field_text(node, "operator")[:-1]
        torn = _torn(node)
        if torn is not None and torn.children[-1].type == ",":  # `(a = b, c)` as the grammar reads it.
            assigned = Assign(self.or_opaque(left), op, self.expression(torn.named_children[0]))
            return Opaque(short_text(node), (assigned, self.or_opaque(right)))
        return Assign(self.or_opaque(left), op, self.or_opaque(right))

    def subscript(self, node: Node) -> Expr:
        indices = node.child_by_field_name("indices") or node.child_by_field_name("index")
        if indices is not None and indices.type == "subscript_argument_list":
            indices = indices.named_children[0] if indices.named_children else None
        return Index(self.or_opaque(node.child_by_field_name("argument")), self.or_opaque(indices))

    def member(self, node: Node) -> Expr:
        base = self.or_opaque(node.child_by_field_name("argument"))
        return Member(base, _last_name(node.child_by_field_name("field")))

    def name(self, node: Node) -> Expr:
        text = text_of(node)
        return _CONSTANTS.get(text) or Name(_last_name(node), _scope_of(node))

    def call(self, node: Node) -> Expr:
        function = node.child_by_field_name("function")
        listed = node.child_by_field_name("arguments")
        arguments = tuple(
            self.expression(it) for it in (listed.named_children if listed else ()) if it.type != "comment"
        )
        row, text = node.start_point.row + 1, short_text(node)
        if function is None:
            return Opaque(text, arguments)
        template = _template(function)
        name = _last_name(function)
        if name in _CASTS and template and len(arguments) == 1:
            return Cast(template[0], arguments[0])
        if function.type in ("primitive_type", "sized_type_specifier") and len(arguments) == 1:
            return Cast(text_of(function), arguments[0])
        if function.type in ("identifier", "qualified_identifier") and is_whole(name) and len(arguments) == 1:
            return Cast(name, arguments[0])
        return Call(self._callee(function), arguments, {}, template, row, text)

    def _callee(self, node: Node) -> Expr:
        match node.type:
            case "template_function" | "template_type":
                inner = node.child_by_field_name("name")
                return Name(_last_name(inner))
            case "qualified_identifier":
                outermost = OUTERMOST if text_of(node).startswith("::") else ""
                return Name(_last_name(node), _scope_of(node) or outermost)
            case "field_expression":
                return self.member(node)
            case _:
                return self.expression(node)

    def compound_literal(self, node: Node) -> Expr:
        kind, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        items = self.or_opaque(value)
        name = _last_name(kind)
        if kind is not None and kind.type in ("primitive_type", "sized_type_specifier", "type_descriptor"):
            return items
        inner = items.items if isinstance(items, Items) else (items,)
        if is_vector(name):
            return Items(inner)
        if size_of(name) is not None and len(inner) < 2:  # `(cl_float){2}`
            return Cast(name, inner[0] if inner else Num(0))
        if name in LISTS:  # `vector<int>{2, 3}` has two elements, `vector<int>(2, 3)` has two threes.
            inner = (Items(inner),)
        return Call(Name(name), inner, {}, _template(kind), node.start_point.row + 1, short_text(node))

    def conditional(self, node: Node) -> Expr:
        return Conditional(
            self.or_opaque(node.child_by_field_name("condition")),
            self.or_opaque(node.child_by_field_name("consequence")),
            self.or_opaque(node.child_by_field_name("alternative")),
        )

    def items(self, node: Node) -> Expr:
        return Items(tuple(self.expression(it) for it in node.named_children if it.type != "comment"))

    def designated(self, node: Node) -> Expr:
        named = node.child_by_field_name("designator")
        value = self.or_opaque(node.child_by_field_name("value"))
        if named is not None and named.type == "subscript_designator" and named.named_children:
            return Placed(self.expression(named.named_children[0]), value)
        if named is None or named.type != "field_designator" or not named.named_children:
            return Opaque(short_text(node), (value,))
        return Designated(text_of(named.named_children[0]), value)

    def cast(self, node: Node) -> Expr:
        kind = node.child_by_field_name("type")
        return Cast(text_of(kind) if kind else "", self.or_opaque(node.child_by_field_name("value")))

    def size(self, node: Node) -> Expr:
        kind, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        if any(it.type == "..." for it in node.children):
            return Counted(short_text(value or kind or node))
        if kind is not None:
            return SizeOf(text_of(kind))
        operand = self.or_opaque(value)
        return SizeOf(operand.name if isinstance(operand, Name) else "", operand)

    def new(self, node: Node) -> Expr:
        kind, listed = node.child_by_field_name("type"), node.child_by_field_name("arguments")
        arguments = tuple(self.expression(it) for it in (listed.named_children if listed else ()))
        if node.child_by_field_name("declarator") is not None:  # `new T[n]`
            return Call(Name("new[]"), arguments, row=node.start_point.row + 1, text=short_text(node))
        return New(_last_name(kind), _template(kind), arguments, _row(node), short_text(node))

    def pack(self, node: Node) -> Expr:
        """Read `arguments...` as Python's `*arguments`."""
        return Opaque("*", tuple(self.expression(it) for it in node.named_children[:1]))

    def comma(self, node: Node) -> Expr:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        first, torn = self.or_opaque(left), _torn(node)
        if torn is not None and torn.children[0].type == "=":  # `(a = b, c, d)` as the grammar reads it.
            first = Assign(first, "", self.expression(torn.named_children[0]))
        return Opaque(short_text(node), (first, self.or_opaque(right)))

    def lambda_(self, node: Node) -> Expr:
        declarator = node.child_by_field_name("declarator")
        parameters = self._parameters(declarator.child_by_field_name("parameters") if declarator else None)
        body = self.block(node.child_by_field_name("body"))
        row = node.start_point.row + 1
        captures = node.child_by_field_name("captures")
        by_value = captures is not None and "&" not in text_of(captures) and "this" not in text_of(captures)
        made = Function(f"lambda at line {row}", "", parameters, body, self.path, row, by_value=by_value)
        return Lambda(made)


def _torn(node: Node) -> Node | None:
    """Return what the grammar of C++ leaves unread in an assignment behind which a comma stands."""
    if not node.has_error:
        return None
    return next((it for it in node.children if it.type == "ERROR" and it.named_children), None)


_Reader.expressions = {
    "number_literal": _Reader.number,
    "string_literal": _Reader.string,
    "raw_string_literal": _Reader.string,
    "user_defined_literal": _Reader.with_suffix,
    "concatenated_string": _Reader.string,
    "char_literal": _Reader.character,
    "binary_expression": _Reader.binary,
    "unary_expression": _Reader.unary,
    "pointer_expression": _Reader.pointer,
    "update_expression": _Reader.update,
    "assignment_expression": _Reader.assignment,
    "subscript_expression": _Reader.subscript,
    "field_expression": _Reader.member,
    "identifier": _Reader.name,
    "field_identifier": _Reader.name,
    "type_identifier": _Reader.name,
    "qualified_identifier": _Reader.name,
    "template_function": _Reader.name,
    "template_type": _Reader.name,
    "true": _Reader.name,
    "false": _Reader.name,
    "null": lambda _reader, _node: Name("NULL"),
    "this": lambda _reader, _node: Name("this"),
    "call_expression": _Reader.call,
    "conditional_expression": _Reader.conditional,
    "initializer_list": _Reader.items,
    "initializer_pair": _Reader.designated,
    "compound_literal_expression": _Reader.compound_literal,
    "cast_expression": _Reader.cast,
    "sizeof_expression": _Reader.size,
    "new_expression": _Reader.new,
    "parenthesized_expression": TreeReader.parenthesised,
    "comma_expression": _Reader.comma,
    "parameter_pack_expansion": _Reader.pack,
    "lambda_expression": _Reader.lambda_,
}


def _row(node: Node) -> int:
    return node.start_point.row + 1


class _Shape:
    """What a declarator adds to the name."""

    def __init__(self) -> None:
        self.dimensions: list[Node | None] = []
        self.pointer = False
        self.reference = False
        self.arguments: list[Node] | None = None


def _declared(node: Node | None) -> tuple[str, _Shape]:
    """Return the name that a declarator declares, and its shape."""
    shape = _Shape()
    while node is not None:
        match node.type:
            case "identifier" | "field_identifier" | "type_identifier":
                return text_of(node), shape
            case "qualified_identifier" | "template_function":
                return _last_name(node), shape
            case "array_declarator" | "abstract_array_declarator":
                shape.dimensions.insert(0, node.child_by_field_name("size"))
            case "pointer_declarator" | "abstract_pointer_declarator":
                shape.pointer = True
            case "reference_declarator" | "abstract_reference_declarator":
                shape.reference = True
            case "function_declarator":
                listed = node.child_by_field_name("parameters")
                shape.arguments = list(listed.named_children) if listed is not None else []
        node = _inner(node)
    return "", shape


def _virtual(member: Node) -> frozenset[str]:
    """Return the name of a method that is declared as virtual, or as one that overrides another."""
    is_virtual = any(it.type in ("virtual", "virtual_function_specifier") for it in member.children)
    declarator = member.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        declarator = _inner(declarator)
    if declarator is None:
        return frozenset()
    is_virtual = is_virtual or any(it.type == "virtual_specifier" for it in declarator.named_children)
    return (
        frozenset((_last_name(declarator.child_by_field_name("declarator")),)) if is_virtual else frozenset()
    )


def _are_parameters(listed: Sequence[Node]) -> bool:
    """Tell whether what stands in brackets after a name are a function's parameters for certain.

    `range(N, M)`, `range(N * M)` may be values; `f()`, `f(int)`, `f(HWND window)`, `f(cl_context, name_t *)`
    declare functions, as programs do inside of others, too.
    """
    if not listed:
        return True
    for it in listed:
        if it.type != "parameter_declaration":
            continue
        kind, declarator = it.child_by_field_name("type"), it.child_by_field_name("declarator")
        is_certain = kind is not None and kind.type in (
            "primitive_type",
            "sized_type_specifier",
            "struct_specifier",
        )
        is_declared = declarator is not None and declarator.type in _CERTAIN
        if is_certain or is_declared or (kind is not None and text_of(kind) in _HANDLES):
            return True
    return False


def _inner(node: Node) -> Node | None:
    inner = node.child_by_field_name("declarator")
    if inner is None:
        for child in node.named_children:
            if child.type.endswith(("declarator", "identifier")):
                return child
    return inner


def _last_name(node: Node | None) -> str:
    """Return a name without namespaces and template arguments."""
    while node is not None:
        inner = node.child_by_field_name("name")
        if inner is None or node.type not in (
            "qualified_identifier",
            "template_function",
            "template_type",
            "template_method",
            "dependent_name",
            "type_descriptor",
        ):
            break
        node = inner
    return text_of(node).split("::")[-1].split("<")[0].strip() if node is not None else ""


def _scope_of(node: Node | None) -> str:
    """Return the last namespace or class that a name is qualified with."""
    scope = ""
    while node is not None and node.type == "qualified_identifier":
        scope = _last_name(node.child_by_field_name("scope")) or scope
        node = node.child_by_field_name("name")
    return scope


def _template_names(node: Node) -> tuple[str, ...]:
    listed = node.child_by_field_name("parameters")
    names = []
    for it in listed.named_children if listed is not None else ():
        is_type = it.type == "type_parameter_declaration" and bool(it.named_children)
        declared = it.named_children[-1] if is_type else it.child_by_field_name("declarator")
        names.append(text_of(declared) if declared is not None else "")
    return tuple(names)


def _jumps(node: Node) -> Iterator[str]:
    """Yield the labels that a statement jumps to."""
    rest = [node]
    while rest:
        it = rest.pop()
        if it.type == "goto_statement":
            yield field_text(it, "label")
        if it.type.endswith(("statement", "clause", "definition")) or it.type == "case_statement":
            rest += it.named_children


def _type_text(node: Node) -> str:
    kind = node.child_by_field_name("type")
    if kind is None:
        return ""
    if kind.type in ("struct_specifier", "class_specifier", "union_specifier", "enum_specifier"):
        return field_text(kind, "name")
    if kind.type in ("qualified_identifier", "template_type"):
        return _last_name(kind)
    return " ".join(text_of(kind).split())


def _template(node: Node | None) -> tuple[str, ...]:
    """Return the template arguments of a type or function, as text."""
    while node is not None and node.type in ("qualified_identifier", "field_expression"):
        node = node.child_by_field_name("name" if node.type == "qualified_identifier" else "field")
    arguments = node.child_by_field_name("arguments") if node is not None else None
    if arguments is None or arguments.type != "template_argument_list":
        return ()
    return tuple(text_of(it) for it in arguments.named_children)


_OPENCL = re.compile(rb"\bcl[A-Z]\w+\s*\(")
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uUlLzZ]*)")


def number(text: str) -> int | float | None:
    """Return the value of a C number."""
    whole = _NUMBER.fullmatch(text)
    try:
        if whole is not None:
            digits = whole[1]
            is_octal = len(digits) > 1 and digits[0] == "0" and digits.isdecimal()
            return bounded(int(digits, 8) if is_octal else int(digits, 0))
        return float(text.rstrip("fFlLhH")) if not text.lower().startswith("0x") else float.fromhex(text)
    except (ValueError, OverflowError):
        return None


def unescaped(text: str) -> str:
    """Return what a string literal stands for, its ends not counted."""
    if "\\" not in text:
        return text
    return re.sub(
        r"\\(x[0-9a-fA-F]+|[0-7]{1,3}|\r\n|.)",
        lambda it: _escape(it[1]),
        text,
        flags=re.DOTALL,
    )


def _escape(body: str) -> str:
    if body in _ESCAPES or body == "\r\n":
        return _ESCAPES.get(body, "")
    if body[0] == "x" and len(body) > 1:
        return chr(int(body[1:], 16) & 0xFF)
    if body[0] in "01234567":
        return chr(int(body, 8) & 0xFF)
    return body
