"""A readable text form of the IR, for tests, debugging and documentation.

One line a statement; `%3` is a temporary, `#5` a site. The form is meant for people: it is not read back.
"""

from __future__ import annotations

from collections.abc import Iterator

from clmap_lsp.source.ir import (
    Assign,
    AsyncCopy,
    Atomic,
    Barrier,
    Binary,
    Block,
    Break,
    Builtin,
    Call,
    Collective,
    Compare,
    Constant,
    Continue,
    Convert,
    CopyObject,
    Declare,
    Expression,
    Fence,
    FieldAddress,
    Function,
    Goto,
    If,
    ImageRead,
    ImageWrite,
    InsertLanes,
    Kernel,
    Label,
    Leave,
    Load,
    Logical,
    Loop,
    ObjectAddress,
    OpaqueCall,
    PointerCast,
    PointerOffset,
    Print,
    Read,
    Reinterpret,
    Return,
    Scope,
    Select,
    Statement,
    Store,
    Switch,
    Swizzle,
    Unary,
    Undefined,
    Unsupported,
    Variable,
    VectorLiteral,
    WaitEvents,
    WorkItem,
)


def dump(item: Kernel | Function) -> str:
    """Return a kernel or function as text."""
    parameters = ", ".join(f"{it.type} {it.name}" for it in item.parameters)
    head = "kernel" if isinstance(item, Kernel) else f"function {item.result}"
    lines = [f"{head} {item.name}({parameters})", *_block(item.body or (), "  ")]
    return "\n".join(lines) + "\n"


def dump_block(block: Block) -> str:
    """Return statements as text."""
    return "".join(f"{line}\n" for line in _block(block, ""))


def _block(block: Block, indent: str) -> Iterator[str]:
    for statement in block:
        yield from _statement(statement, indent)


def _statement(statement: Statement, indent: str) -> Iterator[str]:
    deeper = indent + "  "
    match statement:
        case If(condition=condition, then=then, otherwise=otherwise):
            yield f"{indent}if {show(condition)}"
            yield from _block(then, deeper)
            if otherwise:
                yield f"{indent}else"
                yield from _block(otherwise, deeper)
        case Loop():
            yield from _loop(statement, indent)
        case Switch(value=value, cases=cases):
            yield f"{indent}switch {show(value)}"
            for case in cases:
                labels = [str(it) for it in case.values] + ["default"] * case.is_default
                yield f"{indent}case {', '.join(labels)}"
                yield from _block(case.body, deeper)
        case Scope(label=label, body=body, function=function):
            yield f"{indent}{f'inline {function}' if function else 'scope'} @{label}"
            yield from _block(body, deeper)
        case _:
            yield indent + line(statement)


def _loop(loop: Loop, indent: str) -> Iterator[str]:
    deeper = indent + "  "
    kind = "while" if loop.tests_first else "do while"
    unroll = "" if loop.unroll is None else f" unroll {loop.unroll or ''}".rstrip()
    condition = "forever" if loop.condition is None else show(loop.condition)
    if loop.test:
        yield f"{indent}test"
        yield from _block(loop.test, deeper)
    yield f"{indent}{kind} {condition}{unroll}"
    yield from _block(loop.body, deeper)
    if loop.step:
        yield f"{indent}step"
        yield from _block(loop.step, deeper)


def line(statement: Statement) -> str:
    """Return a statement without nested blocks as one line."""
    match statement:
        case Declare(variable=variable):
            return f"declare {variable.type} {variable.name}"
        case Assign(variable=variable, value=value):
            return f"{variable.name} = {show(value)}"
        case Load(site=site, variable=variable, pointer=pointer, size=size):
            return f"{variable.name} = load{size} {show(pointer)} #{site}"
        case Store(site=site, pointer=pointer, value=value, size=size):
            return f"store{size} {show(pointer)} = {show(value)} #{site}"
        case CopyObject(load_site=load, store_site=store, destination=to, source=source, type=type_):
            return f"copy {type_} {show(to)} = {show(source)} #{load} #{store}"
        case Atomic(site=site, variable=result, op=op, pointer=pointer, operands=operands):
            parts = ", ".join(show(it) for it in (pointer, *operands))
            return f"{_target(result)}atomic_{op.value}({parts}) #{site}"
        case AsyncCopy(load_site=load, store_site=store, event=event, count=count, stride=stride):
            given = (statement.destination, statement.source, count, *(() if stride is None else (stride,)))
            return f"{_target(event)}async_copy({_list(given)}) #{load} #{store}"
        case WaitEvents(site=site):
            return f"wait_events #{site}"
        case Barrier(site=site, scope=scope):
            fences = [
                name
                for name, there in (("local", statement.fences_local), ("global", statement.fences_global))
                if there
            ]
            return f"barrier {scope.value} {' '.join(fences)} #{site}"
        case Fence(site=site):
            return f"fence #{site}"
        case ImageRead(site=site, variable=variable, image=image, coordinate=coordinate):
            return f"{variable.name} = read_image({show(image)}, {show(coordinate)}) #{site}"
        case ImageWrite(site=site, image=image, coordinate=coordinate, value=value):
            return f"write_image({show(image)}, {show(coordinate)}, {show(value)}) #{site}"
        case Collective(site=site, variable=result, name=name, arguments=arguments):
            return f"{_target(result)}{name}({_list(arguments)}) #{site}"
        case Print(site=site, format=text, arguments=arguments):
            return f"printf({text!r}, {_list(arguments)}) #{site}"
        case Call(site=site, variable=result, function=name, arguments=arguments):
            return f"{_target(result)}call {name}({_list(arguments)}) #{site}"
        case OpaqueCall(site=site, variable=result, name=name, arguments=arguments, reason=reason):
            return f"{_target(result)}opaque {name}({_list(arguments)}) #{site} ({reason})"
        case Unsupported(site=site, text=text, reason=reason):
            return f"unsupported {text!r} #{site} ({reason})"
        case Return(value=returned):
            return "return" if returned is None else f"return {show(returned)}"
        case Leave(label=number):
            return f"leave @{number}"
        case Label(name=name):
            return f"label {name}"
        case Goto(name=name):
            return f"goto {name}"
        case Break():
            return "break"
        case Continue():
            return "continue"
        case _:
            return type(statement).__name__.lower()


def _target(variable: Variable | None) -> str:
    return "" if variable is None else f"{variable.name} = "


def _list(values: tuple[Expression, ...]) -> str:
    return ", ".join(show(it) for it in values)


def show(value: Expression) -> str:
    """Return an expression as text, every conversion and offset written out."""
    match value:
        case Constant(value=number, type=type_):
            return f"{number!r}:{type_}"
        case Read(variable=variable):
            return variable.name
        case ObjectAddress(variable=variable):
            return f"&{variable.name}"
        case WorkItem(query=query, dimension=dimension):
            if dimension is None:
                return f"{query.value}()"
            known = str(dimension.value) if isinstance(dimension, Constant) else show(dimension)
            return f"{query.value}({known})"
        case Unary(op=unary_op, operand=operand):
            return f"{unary_op.value}{show(operand)}"
        case Binary(op=op, left=left, right=right):
            return f"({show(left)} {op.value} {show(right)})"
        case Compare(op=compare_op, left=left, right=right):
            return f"({show(left)} {compare_op.value} {show(right)})"
        case Logical(op=logical_op, left=left, right=right):
            return f"({show(left)} {logical_op.value} {show(right)})"
        case Select(condition=condition, if_true=if_true, if_false=if_false):
            return f"({show(condition)} ? {show(if_true)} : {show(if_false)})"
        case Convert(operand=operand, type=type_, rounding=rounding, saturate=saturate):
            suffix = ("_sat" if saturate else "") + (f"_{rounding}" if rounding else "")
            return f"{type_}{suffix}({show(operand)})"
        case Reinterpret(operand=operand, type=type_):
            return f"as_{type_}({show(operand)})"
        case PointerCast(operand=operand, type=type_):
            return f"<{type_}>({show(operand)})"
        case VectorLiteral(parts=parts, type=type_):
            return f"{type_}({_list(parts)})"
        case Swizzle(operand=operand, lanes=lanes):
            return f"{show(operand)}.s{''.join(f'{it:x}' for it in lanes)}"
        case InsertLanes(vector=vector, lanes=lanes, value=inserted):
            return f"insert({show(vector)}, s{''.join(f'{it:x}' for it in lanes)}, {show(inserted)})"
        case PointerOffset(pointer=pointer, index=index, stride=stride):
            return f"{show(pointer)}[{show(index)}*{stride}]"
        case FieldAddress(pointer=pointer, field=member):
            return f"{show(pointer)}.{member.name}"
        case Builtin(name=name, arguments=arguments):
            return f"{name}({_list(arguments)})"
        case Undefined(name=name):
            return f"undefined({name})"
