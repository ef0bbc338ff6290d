"""Python host code as a tree of `clmap_lsp.hosts.tree`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

import tree_sitter_python
from tree_sitter import Language, Node, Parser

from clmap_lsp.hosts.syntax import MAX_BRANCHES, OF_STATEMENT, TreeReader, field_text, short_text, text_of
from clmap_lsp.hosts.tree import (
    SLICE,
    SLICES,
    Assign,
    Binary,
    Block,
    Call,
    Class,
    Comprehension,
    Conditional,
    Declare,
    Decorate,
    Define,
    Entered,
    Evaluate,
    Expr,
    Function,
    If,
    Index,
    Items,
    Jump,
    Lambda,
    Loop,
    Member,
    Module,
    Name,
    Num,
    Opaque,
    Parameter,
    Raise,
    Return,
    Stmt,
    Str,
    Try,
    Unary,
    Yield,
)
from clmap_lsp.hosts.values import bounded
from clmap_lsp.source.bounded import host_tree

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "\n": "", "0": "\0"}
_OPS = {"/": "truediv", "%": "mod", "and": "&&", "or": "||", "is": "==", "is not": "!=", "<>": "!="}


@cache
def _language() -> Language:
    return Language(tree_sitter_python.language())


def parse_python(text: str) -> Node:
    """Return the syntax tree of Python."""
    return host_tree(Parser(_language()), text)


def read_python(text: str, path: str) -> Module:
    """Read one file. Never raises; what does not parse is left out."""
    return _Reader(path).module(parse_python(text))


class _Reader(TreeReader):
    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.wrapped = False
        self.yields = False
        """Whether the function that is being read yields anything."""
        self.functions_around = 0
        self.imports: dict[str, tuple[str, str]] = {}

    def module(self, root: Node) -> Module:
        statements = self.block(root)
        functions = tuple(self.functions)
        return Module(self.path, "python", functions, self.classes, statements, {}, {}, imports=self.imports)

    # ------------------------------------------------------------------------------------- statements

    def block(self, node: Node | None) -> Block:
        if node is None:
            return ()
        return tuple(it for child in node.named_children for it in self.statement(child))

    def _statement(self, node: Node) -> Iterator[Stmt]:
        row = node.start_point.row + 1
        match node.type:
            case "expression_statement":
                for child in node.named_children:
                    yield from self._expression_statement(child, row)
            case "function_definition":
                function = self._function(node, "")
                self.functions.append(function)
                if self.functions_around:  # It knows the variables of the functions that it stands in.
                    yield Evaluate(Assign(Name(function.name), "", Lambda(function)), row)
                else:
                    yield from _defined(function)
            case "class_definition":
                known = len(self.functions)
                self._class(node)
                for it in self.functions[known:]:
                    yield from _defined(it) if it.owner else ()
            case "decorated_definition":
                inner = node.child_by_field_name("definition")
                if inner is not None:
                    is_local = inner.type == "function_definition" and self.functions_around > 0
                    before, self.wrapped = self.wrapped, _is_wrapped(node) and not is_local
                    yield from self.statement(inner)
                    self.wrapped = before
                    yield from self._decorated(node, inner) if is_local else ()
            case "import_statement" | "import_from_statement":
                self._import(node)
            case "if_statement":
                yield self._if(node, node.children_by_field_name("alternative"))
            case "for_statement":
                body = self.block(node.child_by_field_name("body"))
                each, over = node.child_by_field_name("left"), node.child_by_field_name("right")
                yield Loop((), None, (), body, each=self.or_opaque(each), over=self.or_opaque(over))
            case "while_statement":
                condition = self.or_opaque(node.child_by_field_name("condition"))
                yield Loop((), condition, (), self.block(node.child_by_field_name("body")))
            case "match_statement":
                yield from self._match(node)
            case "with_statement":
                yield from self._with(node)
            case "try_statement":
                yield from self._try(node)
            case "return_statement":
                yield Return(self.expression(node.named_children[0]) if node.named_children else None)
            case "break_statement" | "continue_statement":
                yield Jump(node.type == "break_statement")
            case "raise_statement":
                yield Raise()
            case "block" | "ERROR" | "else_clause":
                for child in node.named_children:
                    yield from self.statement(child)

    def _decorated(self, node: Node, function: Node) -> Iterator[Stmt]:
        """Yield what decorators make of a function, that next to it first."""
        listed = [it for it in node.named_children if it.type == "decorator" and it.named_children]
        for it in reversed(listed):
            if _decorator_name(it) not in _KEEPS_RESULT:
                decorator = self.expression(it.named_children[0])
                yield Decorate(field_text(function, "name"), decorator, it.start_point.row + 1)

    def _import(self, node: Node) -> None:
        """Note what the names of an import mean."""
        whole = node.child_by_field_name("module_name")
        module = text_of(whole) if whole is not None else ""
        if any(it.type == "wildcard_import" for it in node.named_children):
            self.imports["*" + module] = module, ""
        for it in node.children_by_field_name("name"):
            name = field_text(it, "name") if it.type == "aliased_import" else text_of(it)
            alias = field_text(it, "alias") if it.type == "aliased_import" else name
            self.imports[alias] = (module, name) if module else (name, "")

    def _expression_statement(self, node: Node, row: int) -> Iterator[Stmt]:
        match node.type:
            case "assignment" if node.child_by_field_name("right") is not None:
                yield Evaluate(self.expression(node), row)
            case "assignment":
                return
            case _:
                yield Evaluate(self.expression(node), row)

    def _if(self, node: Node, rest: list[Node]) -> If:
        otherwise: Block = ()
        for it in reversed(rest[:MAX_BRANCHES]):
            if it.type == "elif_clause":
                otherwise = (self._branch(it, otherwise),)
            else:
                otherwise = self.block(it.child_by_field_name("body"))
        return self._branch(node, otherwise)

    def _branch(self, node: Node, otherwise: Block) -> If:
        then = self.block(node.child_by_field_name("consequence"))
        return If(self.or_opaque(node.child_by_field_name("condition")), then, otherwise)

    def _with(self, node: Node) -> Iterator[Stmt]:
        for clause in node.named_children:
            for item in clause.named_children if clause.type == "with_clause" else ():
                value = item.child_by_field_name("value") or item
                if value.type == "as_pattern" and len(value.named_children) == 2:
                    target = value.named_children[1]
                    name = target.named_children[0] if target.named_children else target
                    opened = Entered(self.expression(value.named_children[0]))
                    yield Evaluate(Assign(self.expression(name), "", opened), item.start_point.row + 1)
                else:
                    yield Evaluate(Entered(self.expression(value)), item.start_point.row + 1)
        yield from self.block(node.child_by_field_name("body"))

    def _try(self, node: Node) -> Iterator[Stmt]:
        body = node.child_by_field_name("body")
        for name in _imported_names(body):  # Another value than that which is set where it is missing.
            if any(_assigns(it, name) for it in node.named_children if it.type == "except_clause"):
                yield Evaluate(Assign(Name(name), "", Opaque(name)), node.start_point.row + 1)
        caught = [it for it in node.named_children if it.type in ("except_clause", "except_group_clause")]
        yield Try(self.block(body), tuple(self.block(it.named_children[-1]) for it in caught))
        for child in node.named_children:
            if child.type in ("else_clause", "finally_clause"):
                inner = child.child_by_field_name("body") or child.named_children[-1]
                yield from self.block(inner)

    def _match(self, node: Node) -> Iterator[Stmt]:
        """Read `match` as branches of which any may be taken."""
        yield Evaluate(self.or_opaque(node.child_by_field_name("subject")), node.start_point.row + 1)
        body = node.child_by_field_name("body")
        for child in body.named_children if body is not None else ():
            if child.type == "case_clause":
                yield If(Opaque("case"), self.block(child.child_by_field_name("consequence")), ())

    def _class(self, node: Node) -> None:
        with self.nested(OF_STATEMENT) as is_followed:
            if is_followed:
                self._body_of(node)

    def _body_of(self, node: Node) -> None:
        name = field_text(node, "name")
        fields: list[Declare] = []
        items: list[Parameter] = []
        body = node.child_by_field_name("body")
        for child in body.named_children if body is not None else ():
            inner = child.child_by_field_name("definition") if child.type == "decorated_definition" else child
            if inner is None:
                continue
            if inner.type == "function_definition":
                before, self.wrapped = self.wrapped, child is not inner and _is_wrapped(child)
                self.functions.append(self._function(inner, name))
                self.wrapped = before
            elif inner.type == "class_definition":
                self._class(inner)
            elif inner.type == "expression_statement" and inner.named_children:
                assignment = inner.named_children[0]
                left, right = assignment.child_by_field_name("left"), assignment.child_by_field_name("right")
                if left is None or left.type != "identifier":
                    continue
                value = self.expression(right) if right is not None else None
                if value is not None:
                    fields.append(Declare(text_of(left), "", value=value, row=child.start_point.row + 1))
                if assignment.child_by_field_name("type") is not None:
                    items.append(Parameter(text_of(left), "", value))
        listed = node.child_by_field_name("superclasses")
        bases = tuple(text_of(it).split(".")[-1] for it in (listed.named_children if listed else ()))
        self.classes[name] = Class(name, tuple(fields), bases)
        if "NamedTuple" in bases or _is_dataclass(node.parent):
            self._record(name, items, node)

    def _record(self, name: str, items: Sequence[Parameter], node: Node) -> None:
        """Give a class the constructor that Python makes for it: every field out of an argument."""
        if any(it.owner == name and it.name == "__init__" for it in self.functions):
            return
        row, this = node.start_point.row + 1, Name("self")
        body = tuple(Evaluate(Assign(Member(this, it.name), "", Name(it.name)), row) for it in items)
        parameters = (Parameter("self", ""), *items)
        self.functions.append(Function("__init__", name, parameters, body, self.path, row))

    def _named_tuple(self, name: Node | None, call: Node | None) -> None:
        """Read `Sizes = namedtuple("Sizes", ["width", "height"])` as a class."""
        function = field_text(call, "function") if call is not None and call.type == "call" else ""
        listed = call.child_by_field_name("arguments") if call is not None else None
        if name is None or function.rpartition(".")[2] != "namedtuple" or listed is None:
            return
        arguments = [it for it in listed.named_children if it.type != "comment"]
        if len(arguments) < 2:
            return
        fields = re.findall(r"[A-Za-z_]\w*", re.sub(r"#[^\n]*", "", text_of(arguments[1])))
        self.classes[text_of(name)] = Class(text_of(name), ())
        self._record(text_of(name), [Parameter(it, "") for it in fields], arguments[1])

    def _function(self, node: Node, owner: str) -> Function:
        wrapped, self.wrapped = self.wrapped, False
        yields, self.yields = self.yields, False
        self.functions_around += 1
        body = self.block(node.child_by_field_name("body"))
        self.functions_around -= 1
        self.wrapped = wrapped
        is_generator, self.yields = self.yields, yields
        parameters = self._parameters(node.child_by_field_name("parameters"))
        name, row = field_text(node, "name"), node.start_point.row + 1
        named = frozenset(_global_names(node))
        return Function(
            name,
            owner,
            parameters,
            body,
            self.path,
            row,
            globals=named,
            is_property=bool(_PROPERTIES & set(_decorators(node.parent))),
            is_wrapped=self.wrapped,
            is_generator=is_generator,
        )

    def _parameters(self, node: Node | None) -> tuple[Parameter, ...]:
        result = []
        for child in node.named_children if node is not None else ():
            match child.type:
                case "identifier":
                    result.append(Parameter(text_of(child), ""))
                case "typed_parameter":
                    result.append(Parameter(text_of(child.named_children[0]), ""))
                case "default_parameter" | "typed_default_parameter":
                    value = child.child_by_field_name("value")
                    name = field_text(child, "name")
                    result.append(Parameter(name, "", self.expression(value) if value else None))
                case "list_splat_pattern" | "dictionary_splat_pattern":
                    result.append(Parameter(text_of(child), ""))
        return tuple(result)

    # ------------------------------------------------------------------------------------ expressions

    def number(self, node: Node) -> Expr:
        text = text_of(node).replace("_", "").rstrip("lL")
        try:
            value = bounded(int(text, 0) if node.type == "integer" else float(text))
        except ValueError:
            value = None
        return Num(value) if value is not None else Opaque(text)

    def string(self, node: Node) -> Expr:
        row = node.start_point.row + 1
        if node.type == "concatenated_string":
            pieces = [self.string(it) for it in node.named_children if it.type == "string"]
            return Str(tuple(part for it in pieces if isinstance(it, Str) for part in it.parts), row)
        start = text_of(node.children[0]) if node.children else ""
        is_raw = "r" in start.lower()
        parts: list[str | Expr] = []
        for child in node.named_children:
            if child.type == "string_content":
                parts.append(text_of(child) if is_raw else _unescaped(text_of(child)))
            elif child.type == "interpolation":
                inner = child.child_by_field_name("expression")
                parts.append(self.or_opaque(inner))
        return Str(tuple(parts), row)

    def name(self, node: Node) -> Expr:
        return Name(text_of(node))

    def attribute(self, node: Node) -> Expr:
        return Member(self.or_opaque(node.child_by_field_name("object")), field_text(node, "attribute"))

    def subscript(self, node: Node) -> Expr:
        base = self.or_opaque(node.child_by_field_name("value"))
        indices = node.children_by_field_name("subscript")
        if len(indices) == 1 and indices[0].type == "slice":
            return self._slice(node, base, indices[0])
        if len(indices) != 1:
            parts = tuple(
                self._slice(node, Num(0), it) if it.type == "slice" else self.expression(it) for it in indices
            )
            return Call(Name(SLICES), (base, *parts), {}, (), node.start_point.row + 1, short_text(node))
        return Index(base, self.expression(indices[0]))

    def _slice(self, node: Node, base: Expr, given: Node) -> Expr:
        """Read `base[start:stop:step]` as a call with the parts that are given."""
        parts: dict[str, Expr] = {}
        names = ["start", "stop", "step"]
        for child in given.children:
            if child.type == ":":
                names.pop(0)
            elif names and child.type != "comment":
                parts[names[0]] = self.expression(child)
        return Call(Name(SLICE), (base,), parts, (), node.start_point.row + 1, short_text(node))

    def binary(self, node: Node) -> Expr:
        op = field_text(node, "operator")
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        return Binary(_OPS.get(op, op), self.or_opaque(left), self.or_opaque(right))

    def comparison(self, node: Node) -> Expr:
        operands = [self.expression(it) for it in node.named_children]
        ops = [text_of(it) for it in node.children_by_field_name("operators")]
        if len(operands) != 2 or not ops:
            return Opaque(short_text(node), tuple(operands))
        return Binary(_OPS.get(ops[0], ops[0]), operands[0], operands[1])

    def unary(self, node: Node) -> Expr:
        operand = self.or_opaque(node.child_by_field_name("argument"))
        op = "!" if node.type == "not_operator" else field_text(node, "operator")
        return operand if op == "+" else Unary(op, operand)

    def call(self, node: Node) -> Expr:
        function = self.or_opaque(node.child_by_field_name("function"))
        listed = node.child_by_field_name("arguments")
        arguments: list[Expr] = []
        keywords: dict[str, Expr] = {}
        # `tuple(s * 2 for s in shape)` has the generator where other calls have their brackets.
        is_generator = listed is not None and listed.type == "generator_expression"
        if listed is not None and is_generator:
            arguments.append(self.expression(listed))
        for child in listed.named_children if listed is not None and not is_generator else ():
            if child.type == "keyword_argument":
                keywords[field_text(child, "name")] = self.or_opaque(child.child_by_field_name("value"))
            elif child.type != "comment":
                arguments.append(self.expression(child))
        row = node.start_point.row + 1
        return Call(function, tuple(arguments), keywords, (), row, short_text(node))

    def splat(self, node: Node) -> Expr:
        inner = self.expression(node.named_children[0]) if node.named_children else Opaque("")
        return Opaque("**" if node.type == "dictionary_splat" else "*", (inner,))

    def items(self, node: Node) -> Expr:
        return Items(tuple(self.expression(it) for it in node.named_children if it.type != "comment"))

    def dictionary(self, node: Node) -> Expr:
        entries: dict[str, Expr] = {}
        for child in node.named_children:
            if child.type == "pair":
                key = self.or_opaque(child.child_by_field_name("key"))
                value = self.or_opaque(child.child_by_field_name("value"))
                if isinstance(key, Str) and all(isinstance(it, str) for it in key.parts):
                    entries["".join(it for it in key.parts if isinstance(it, str))] = value
        return Call(Name("dict"), (), entries, (), node.start_point.row + 1, short_text(node))

    def comprehension(self, node: Node) -> Expr:
        """Read one with a single `for` and no `if`; the others are not told item by item."""
        clauses = [it for it in node.named_children if it.type in ("for_in_clause", "if_clause")]
        body = node.child_by_field_name("body")
        if len(clauses) != 1 or clauses[0].type != "for_in_clause" or body is None:
            return Opaque(short_text(node), tuple(self.expression(it) for it in node.named_children))
        each, over = (clauses[0].child_by_field_name(it) for it in ("left", "right"))
        pair = body.named_children if body.type == "pair" and len(body.named_children) == 2 else None
        return Comprehension(
            self.expression(pair[1] if pair else body),
            self.expression(pair[0]) if pair else None,
            self.or_opaque(each),
            self.or_opaque(over),
            node.start_point.row + 1,
            short_text(node),
        )

    def conditional(self, node: Node) -> Expr:
        if len(node.named_children) != 3:
            return Opaque(short_text(node))
        yes, condition, no = (self.expression(it) for it in node.named_children)
        return Conditional(condition, yes, no)

    def assignment(self, node: Node) -> Expr:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        self._named_tuple(left, right)
        op = field_text(node, "operator")[:-1] if node.type == "augmented_assignment" else ""
        return Assign(self.or_opaque(left), _OPS.get(op, op), self.or_opaque(right))

    def walrus(self, node: Node) -> Expr:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        return Assign(self.or_opaque(name), "", self.or_opaque(value))

    def yielded(self, node: Node) -> Expr:
        self.yields = True
        is_from = any(it.type == "from" for it in node.children)
        return Yield(self.expression(node.named_children[0]) if node.named_children else None, is_from)

    def lambda_(self, node: Node) -> Expr:
        body = node.child_by_field_name("body")
        parameters = self._parameters(node.child_by_field_name("parameters"))
        row = node.start_point.row + 1
        result: Block = (Return(self.or_opaque(body)),)
        return Lambda(Function(f"lambda at line {row}", "", parameters, result, self.path, row))


_Reader.expressions = {
    "integer": _Reader.number,
    "float": _Reader.number,
    "string": _Reader.string,
    "concatenated_string": _Reader.string,
    "identifier": _Reader.name,
    "attribute": _Reader.attribute,
    "subscript": _Reader.subscript,
    "binary_operator": _Reader.binary,
    "boolean_operator": _Reader.binary,
    "comparison_operator": _Reader.comparison,
    "unary_operator": _Reader.unary,
    "not_operator": _Reader.unary,
    "call": _Reader.call,
    "list_splat": _Reader.splat,
    "dictionary_splat": _Reader.splat,
    "tuple": _Reader.items,
    "list": _Reader.items,
    "expression_list": _Reader.items,
    "pattern_list": _Reader.items,
    "tuple_pattern": _Reader.items,
    "dictionary": _Reader.dictionary,
    "list_comprehension": _Reader.comprehension,
    "generator_expression": _Reader.comprehension,
    "dictionary_comprehension": _Reader.comprehension,
    "conditional_expression": _Reader.conditional,
    "assignment": _Reader.assignment,
    "augmented_assignment": _Reader.assignment,
    "named_expression": _Reader.walrus,
    "parenthesized_expression": TreeReader.parenthesised,
    "lambda": _Reader.lambda_,
    "yield": _Reader.yielded,
    "none": lambda _reader, _node: Name("NULL"),
    "true": lambda _reader, _node: Num(1),
    "false": lambda _reader, _node: Num(0),
}


_KEEPS_RESULT = frozenset(
    (
        *("property", "staticmethod", "classmethod", "cached_property", "cache", "lru_cache", "memoize"),
        *("abstractmethod", "override", "overload", "wraps"),
    )
)
"""Decorators behind which a function returns what it says."""


_PROPERTIES = frozenset(("property", "cached_property"))


def _is_wrapped(node: Node) -> bool:
    return any(it not in _KEEPS_RESULT for it in _decorators(node))


def _decorators(node: Node | None) -> Iterator[str]:
    for child in node.named_children if node is not None and node.type == "decorated_definition" else ():
        if child.type == "decorator":
            yield _decorator_name(child)


def _decorator_name(node: Node) -> str:
    return text_of(node).lstrip("@ ").partition("(")[0].strip().rpartition(".")[2]


def _defined(function: Function) -> Iterator[Stmt]:
    """Yield the defaults of a function that are more than a number or a string."""
    given = {it.name: it.default for it in function.parameters if it.default is not None}
    if not all(isinstance(it, Num | Str) or it == Name("NULL") for it in given.values()):
        yield Define(function.row, given)


def _is_dataclass(node: Node | None) -> bool:
    if node is None or node.type != "decorated_definition":
        return False
    decorators = [it for it in node.named_children if it.type == "decorator"]
    return any(re.match(r"@\s*(?:\w+\.)*dataclass\b", text_of(it)) for it in decorators)


def _imported_names(body: Node | None) -> Iterator[str]:
    for child in body.named_children if body is not None else ():
        if child.type == "import_from_statement":
            for it in child.children_by_field_name("name"):
                yield field_text(it, "alias") if it.type == "aliased_import" else text_of(it)


def _assigns(clause: Node, name: str) -> bool:
    rest = [clause]
    while rest:
        it = rest.pop()
        left = it.child_by_field_name("left") if it.type == "assignment" else None
        if left is not None and text_of(left) == name:
            return True
        rest += it.named_children
    return False


def _global_names(node: Node) -> Iterator[str]:
    rest = list(node.named_children)
    while rest:
        it = rest.pop()
        if it.type in ("global_statement", "nonlocal_statement"):
            yield from (text_of(name) for name in it.named_children)
        elif it.type in ("block", "if_statement", "for_statement", "while_statement", "with_statement",
                         "try_statement", "else_clause", "elif_clause", "except_clause"):  # fmt: skip
            rest += it.named_children


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    pieces, at = [], 0
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text):
            pieces.append(_ESCAPES.get(text[at + 1], text[at : at + 2]))
            at += 2
        else:
            pieces.append(text[at])
            at += 1
    return "".join(pieces)
