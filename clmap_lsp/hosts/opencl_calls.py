"""What OpenCL's host functions do, in C, in C++ and in Python.

Handles are places of their own: a kernel (`k…`) has a name, a program and arguments, a program (`p…`) a
source and build options, a buffer (`b…`) a size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import PurePath

from clmap_lsp.hosts.interpreter import CallHandler, Interpreter, Raised, opened_as
from clmap_lsp.hosts.list_calls import changed_length
from clmap_lsp.hosts.project import KERNEL_SUFFIXES
from clmap_lsp.hosts.store import MAX_ALTERNATIVES, join_values, with_elements
from clmap_lsp.hosts.strings import piece
from clmap_lsp.hosts.tree import Call, Expr, Member, Name, Str
from clmap_lsp.hosts.values import (
    Alternatives,
    ArrayValue,
    FileText,
    Launching,
    LocalMemory,
    Null,
    Number,
    Pointer,
    Routine,
    RunTime,
    Sizes,
    Text,
    Value,
    binary,
    default_of,
    is_handle,
    is_kernel,
    is_program,
    joined,
    kept_name,
    name_of,
    size_of,
    text_of,
)

_READS_INPUT = ("fread", "scanf", "fscanf", "read", "recv", "getline", "fgets")
_HARMLESS = frozenset(
    (
        *("printf", "fprintf", "free", "puts", "memcmp", "strcmp", "strncmp", "fclose", "clFinish"),
        *("clFlush", "clReleaseMemObject", "clReleaseKernel", "clReleaseProgram", "clReleaseEvent"),
        *("clWaitForEvents", "print", "len", "clEnqueueWriteBuffer", "clReleaseContext", "assert"),
        *("clReleaseCommandQueue", "clSetEventCallback", "clCreateContext", "clRetainKernel", "shrLog"),
        *("fwrite", "clCreateCommandQueue"),
    )
)
_READ_ONLY = frozenset(("at", "front", "back", "size", "empty", "length", "cbegin", "cend"))
_QUERIES = ("Info", "info")
_CHANGES_LIST = frozenset(("sort", "reverse", "insert", "pop", "remove", "extend", "clear", "__setitem__"))
_CHANGES_ARGUMENTS = re.compile(r"shuffle|sort|heap|extend|append|update|insort", re.IGNORECASE)
_LONGEST_PATH = 512
_HEADERS = frozenset((".h", ".hpp"))
_READS_FILES = re.compile(r"read|load|file|source|slurp", re.IGNORECASE)
_SAYS = re.compile(
    r"print|log|info|warn|err|debug|trace|check|assert|fmt|format|throw|report|time|write|save|dump|put|push|add",
    re.IGNORECASE,
)
"""Names of functions that take a string and numbers to say them, or keep them."""
_TAKES_OPTIONS = re.compile(
    r"opt|arg|flag|param|pars|read|scan|load|get|ask|input|quer|config|init|set|tie|swap|bind", re.IGNORECASE
)
"""Names of functions that may write what they are given by reference."""

_MAX_STRINGS = 4096
"""Strings that one program is put together of."""


def handles(interpreter: Interpreter, value: Value, expression: Expr | None) -> list[str]:
    """Return the places of the handles that a value may be."""
    if isinstance(value, Pointer):
        if value.place[:1] in "kpb" and value.place[1:2].isdecimal():
            return [value.place]
        held = interpreter.store.read(value.place) if interpreter.store is not None else None
        if held is not None and held != value:
            return handles(interpreter, held, None)
        return _held_by(interpreter, value.place) or [value.place]
    if isinstance(value, Alternatives):
        return [place for it in value.values for place in handles(interpreter, it, None)]
    place = interpreter.place(expression) if expression is not None else None
    return [place] if place is not None else []


def _held_by(interpreter: Interpreter, place: str) -> list[str]:
    """Return the place of the kernel or program that an object of a class holds, if it holds but one.

    Such classes turn into what they hold by `operator cl_kernel()`.
    """
    if place not in interpreter.objects:
        return []
    fields = (held for it, held in interpreter.known.items() if it.startswith(place + "."))
    found = {it.place for it in fields if isinstance(it, Pointer) and is_handle(it, "kp")}
    return list(found) if len(found) == 1 else []


def find_text(interpreter: Interpreter, value: Value, depth: int = 0) -> Text | None:
    """Return the first string in a value: itself, what it points to, or an item of it."""
    found = interpreter.text(value)
    if found is not None:
        return found
    if isinstance(value, Sizes):
        for item in value.items:
            inner = find_text(interpreter, item, depth + 1) if depth < 3 else None
            if inner is not None:
                return inner
    return None


# -------------------------------------------------------------------------------------------- programs


def _program(interpreter: Interpreter, call: Call, source: Text | Alternatives | None) -> Value:
    place = interpreter.fresh("p", call)
    if interpreter.store is not None:
        interpreter.store[place + ".source"] = _with_included(interpreter, source) if source else Text()
    return Pointer(place)


_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"[^\n]*$', re.MULTILINE)


def _with_included(interpreter: Interpreter, source: Text | Alternatives) -> Text | Alternatives:
    """Return the text of a program with the kernel files that it includes in their places."""
    if isinstance(source, Alternatives):
        texts = (_with_included(interpreter, it) if isinstance(it, Text) else it for it in source.values)
        return Alternatives(tuple(texts))
    if not any(isinstance(it, str) and "include" in it for it in source.parts):
        return source
    parts = (each for it in source.parts for each in _split_at_includes(interpreter, it))
    return replace(source, parts=tuple(parts))


def _split_at_includes(
    interpreter: Interpreter, part: str | Value | FileText
) -> Iterator[str | Value | FileText]:
    if not isinstance(part, str):
        yield part
        return
    behind = 0
    for match in _INCLUDED.finditer(part):
        found = interpreter.project.kernel_file(match[1], interpreter.path)
        if found is not None and PurePath(found).suffix.lower() in KERNEL_SUFFIXES:
            yield part[behind : match.start()]
            yield FileText(match[1])
            behind = match.end()
    yield part[behind:]


def _create_program(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    if len(values) < 3:
        return None
    count, strings = values[1], values[2]
    source = interpreter.strings(strings) or find_text(interpreter, strings)
    if isinstance(count, Number) and count.value > 1 and isinstance(strings, Pointer) and interpreter.store:
        strings_read = range(int(min(count.value, _MAX_STRINGS)))
        parts = [interpreter.text(interpreter.read(f"{strings.place}[{i}]")) for i in strings_read]
        whole: Text | None = None
        for part in parts:
            whole = part if whole is None else joined(whole, part) if part is not None else whole
        source = whole
    return _program(interpreter, call, source or _embedded(interpreter, strings))


_MADE_OF_FILES = re.compile(r"_(?:cl|ocl|src|source|code|string|str|kernels?|bin|spv|il)$")
"""What tools that make arrays of files put behind the file's name."""


def _embedded(interpreter: Interpreter, value: Value) -> Text | None:
    """Return the file that an array was made of by the build: it is called like the array."""
    for _ in range(4):
        held = interpreter.known.get(value.place) if isinstance(value, Pointer) else None
        if not isinstance(held, (Pointer, RunTime)) or held == value:
            break
        value = held
    shown = name_of(value.place) if isinstance(value, Pointer) else text_of(value)
    name = shown.partition("[")[0].lstrip("&*")
    for it in dict.fromkeys((name, _MADE_OF_FILES.sub("", name))) if name.isidentifier() else ():
        if interpreter.project.kernel_file(f"{it}.cl", interpreter.path) is not None:
            return Text((FileText(f"{it}.cl"),))
    return None


def _create_from_binary(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`clCreateProgramWithBinary(context, n, devices, sizes, binaries, …)`: what was compiled is no text."""
    if len(values) < 5:
        return None
    return _program(interpreter, call, _embedded(interpreter, values[4]))


def _create_from_il(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`clCreateProgramWithIL(context, il, size, …)`."""
    return _program(interpreter, call, _embedded(interpreter, values[1])) if len(values) > 2 else None


def _new_program(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    if not values or is_program(values[0]):  # An object that holds a program.
        return values[0] if values else None
    source = next((it for it in (find_text(interpreter, v) for v in values) if it is not None), None)
    made = _program(interpreter, call, source)
    options = call.keywords.get("options")
    if options is not None and isinstance(made, Pointer):
        _set_options(interpreter, made.place, interpreter.value(options))
    return made


def _built_program(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """Boost.Compute's `program::build_with_source(source, context, options)`."""
    made = _new_program(interpreter, call, values)
    if len(values) > 2 and isinstance(made, Pointer):
        _set_options(interpreter, made.place, values[2])
    return made


def _build(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    if len(values) > 3:
        for place in handles(interpreter, values[0], call.arguments[0]):
            _set_options(interpreter, place, values[3])
    return RunTime("CL_SUCCESS", 0)


def _link(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`clLinkProgram(context, count, devices, options, count, programs, …)`: it is made of the first."""
    given = handles(interpreter, values[5], call.arguments[5]) if len(values) > 5 else []
    return Pointer(given[0]) if given else None


def _promise(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`promise.set_value(value)` of C++: what `get_future().get()` gives then."""
    place = interpreter.place(call.function.base) if isinstance(call.function, Member) else None
    if place is None or len(values) != 2 or interpreter.path.endswith(".py"):
        return None
    interpreter.put(place, values[1])
    return Null()


def _build_method(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    owner = values[0]
    callee = call.function.base if isinstance(call.function, Member) else None
    given = call.keywords.get("options")
    options = interpreter.value(given) if given is not None else None
    for value in values[1:]:
        found = interpreter.text(value)
        is_list = isinstance(value, Sizes) and interpreter.path.endswith(".py")  # In C++ one of devices.
        if options is None and (found is not None or is_list):
            options = value if found is None else found
    places = handles(interpreter, owner, callee)
    for place in places:
        if options is not None:
            _set_options(interpreter, place, options)
    if interpreter.path.endswith(".py"):  # In C++ it gives an error code.
        among = owner.values if isinstance(owner, Alternatives) else (owner,)
        return owner if any(map(is_program, among)) else None
    return RunTime("CL_SUCCESS", 0) if places or is_program(owner) else None


def _set_options(interpreter: Interpreter, place: str, options: Value) -> None:
    store = interpreter.store
    if store is None:
        return
    found = interpreter.text(options)
    if found is None and isinstance(options, Sizes):
        found = Text()
        for item in options.items:
            found = joined(found, joined(Text((" ",)), piece(interpreter.text(item) or item)))
    if found is None:
        found = Text() if isinstance(options, (Null, Number)) else Text((options,))
    store[place + ".options"] = found
    if (kept := interpreter.kept_programs.get(place)) is not None:
        kept.options = found


# --------------------------------------------------------------------------------------------- kernels


def kernel_of(interpreter: Interpreter, call: Call, program: Value, name: Value) -> Value:
    """Return the handle of a program's kernel."""
    shown = interpreter.text(name)
    place = interpreter.fresh("k", replace(call, text=f"{call.text}{text_of(shown) if shown else ''}"))
    if interpreter.store is not None:
        interpreter.store[place + ".name"] = shown if shown is not None else name
        programs = handles(interpreter, program, None)
        interpreter.store[place + ".program"] = Pointer(programs[0]) if programs else program
    return Pointer(place)


def _spelt(name: Value) -> Value:
    """Return the strings that a name is one of, where parts of it are: `(up ? "high" : "low") + "_sum"`."""
    if not isinstance(name, Text) or not any(isinstance(it, Alternatives) for it in name.parts):
        return name
    found: list[Text] = [Text((), name.row, name.path)]
    for part in name.parts:
        each = part.values if isinstance(part, Alternatives) else (part,)
        if len(found) * len(each) > MAX_ALTERNATIVES:
            return name
        found = [joined(it, one if isinstance(one, Text) else Text((one,))) for it in found for one in each]
    return Alternatives(tuple(dict.fromkeys(found)))


def _create_kernel(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    if len(values) < 2:
        return None
    program = values[0]
    if not is_program(program):
        places = handles(interpreter, program, call.arguments[0])
        program = Pointer(places[0]) if places else program
    name = _spelt(interpreter.text(values[1]) or values[1])
    names = name.values if isinstance(name, Alternatives) else (name,)
    made = tuple(kernel_of(interpreter, call, program, it) for it in names)
    if len(made) == 1:
        return made[0]
    several = Alternatives(made)
    interpreter.choices.follow(name, several)
    return several


def _new_kernel(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    if values and is_kernel(values[0]):
        return _bound(interpreter, values)
    return _create_kernel(interpreter, call, values) if len(values) >= 2 else None


def _bound(interpreter: Interpreter, values: list[Value]) -> Value:
    """`cl::KernelFunctor(kernel, queue, [offset,] global, local)`: the sizes come before the arguments."""
    kernel = values[0]
    if len(values) >= 4 and isinstance(kernel, Pointer) and interpreter.store is not None:
        offset = values[2] if len(values) > 4 else Null()
        interpreter.store[kernel.place + ".bound"] = Launching(values[-2], values[-1], offset)
    return kernel


def _bind(interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    """`kernel.bind(queue, global, local)`."""
    return _bound(interpreter, values) if is_kernel(values[0]) else None


def _kernel_method(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`cl.Kernel(program, name)`."""
    return _new_kernel(interpreter, call, values[1:])


def _attribute_of_program(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """Return the kernel that `program.name` is in Python."""
    member = call.function
    if not isinstance(member, Member) or not interpreter.path.endswith(".py"):
        return None
    if member.name in ("build", "get_info", "get_build_info", "kernel_names", "all_kernels"):
        return None
    name = Text((member.name,))
    where = Call(member, (), row=0, text=f"{text_of(values[0])}{values[0]}.{member.name}")
    return kernel_of(interpreter, where, values[0], name)


def set_argument(
    interpreter: Interpreter, places: Sequence[str], index: Value, value: Value, row: int
) -> None:
    """Give a kernel an argument, and note the line that does."""
    if interpreter.store is None:
        return
    at = index.whole if isinstance(index, Number) else None
    if at is None:
        for place in places:
            interpreter.open_at(f"{place}.arg")
        return
    for place in places:
        where = f"{place}.arg[{at}]"
        before = interpreter.store.get(where) if len(places) > 1 else None
        interpreter.store[where] = value if before is None else join_values(where, (before, value))
        interpreter.store[f"{place}.set[{at}]"] = Text((), row, interpreter.path)


def _set_arg(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    if len(values) < 4:
        return None
    places = handles(interpreter, values[0], call.arguments[0])
    set_argument(interpreter, places, values[1], _pointed(interpreter, values[2], values[3]), call.row)
    return RunTime("CL_SUCCESS", 0)


def _pointed(interpreter: Interpreter, size: Value, pointer: Value) -> Value:
    """Return the argument that a size and a pointer give; a null pointer asks for local memory."""
    if isinstance(pointer, Null) or pointer == Number(0):
        return LocalMemory(size)
    if isinstance(pointer, Pointer) and not is_handle(pointer, "b"):
        if interpreter.is_vector(interpreter.types.get(pointer.place, "")):
            lanes = (interpreter.known.get(f"{pointer.place}[{i}]") for i in range(16))
            return Sizes(tuple(it for it in lanes if it is not None))
        is_one = size == Number(size_of(interpreter.types.get(pointer.place, "")) or 0)
        if pointer.place in interpreter.arrays and not pointer.moved and is_one:
            return interpreter.read(f"{pointer.place}[0]")  # `&sizes[0]` is the array's own address.
        return interpreter.read(pointer.place) if not pointer.moved else RunTime("?")
    return pointer


def _set_arg_method(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    if len(values) < 3 or not isinstance(call.function, Member):
        return None
    value = values[2]
    if len(values) > 3 and not interpreter.path.endswith(".py"):
        value = _pointed(interpreter, values[2], values[3])
    elif isinstance(value, Pointer) and len(call.arguments) > 1:
        value = interpreter.read(value.place) if not is_handle(value, "b") else value
    set_argument(interpreter, handles(interpreter, values[0], call.function.base), values[1], value, call.row)
    return RunTime("CL_SUCCESS", 0)


def _set_args_method(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    if not isinstance(call.function, Member):
        return None
    places = handles(interpreter, values[0], call.function.base)
    for index, value in enumerate(values[1:]):
        set_argument(interpreter, places, Number(index), value, call.row)
    return Null() if places else None


# -------------------------------------------------------------------------------------------- launches


def launch(
    interpreter: Interpreter,
    call: Call,
    kernel: Value,
    kernel_expression: Expr | None,
    sizes: tuple[Value, Value],
    *,
    dimensions: int | None = None,
    arguments: Sequence[Value] | None = None,
    is_likely: bool = False,
    offset: Value | None = None,
    gives_all: bool = True,
) -> None:
    """Note a launch of every kernel that the handle may be.

    Args:
        gives_all: the kernel has as many parameters as there are `arguments`, if there are any.
    """
    store = interpreter.store
    if store is None:
        return
    places = handles(interpreter, kernel, kernel_expression)
    asked = _asked_for(interpreter, call, places)
    if asked is not None:
        places = [asked]
    n_known = _count_before_more(arguments or ())
    gives_all = gives_all and arguments is not None and n_known == len(arguments)
    if arguments is not None:
        for index, value in enumerate(arguments[:n_known]):
            if is_handle(value, "b") or not isinstance(value, Pointer):
                set_argument(interpreter, places, Number(index), value, call.row)
            else:
                held = interpreter.read(value.place)
                set_argument(interpreter, places, Number(index), held, call.row)
    if interpreter.trials:
        return
    interpreter.keep_store()
    known = store.copied()
    for variable, value in interpreter.initial.items():
        known.setdefault(variable, value)
    for place in places or [""]:
        start = place + ".arg["
        given = {
            int(key[len(start) : -1]): value
            for key, value in store.items()
            if place and key.startswith(start) and key[len(start) : -1].isdecimal()
        }
        raised = Raised(
            Pointer(place) if place else kernel,
            known,
            interpreter.path,
            call.row,
            *sizes,
            dimensions,
            given,
            interpreter.loop_depth > 0,
            interpreter.frame.function.owner,
            is_likely,
            Null() if offset is None else offset,
            interpreter.frames[0].function.path,
            interpreter.is_of_this(place or (kernel.place if isinstance(kernel, Pointer) else "")),
            n_known if gives_all else None,
        )
        interpreter.launches.append(raised)


def _asked_for(interpreter: Interpreter, call: Call, places: Sequence[str]) -> str | None:
    """Return the kernel that a function is asked for by name which launches one of a table: the table is
    gone through for it in ways that are not followed."""
    store = interpreter.store
    if store is None or any(kept_name(it) and "[" not in it for it in places):
        return None  # A kernel of its own, whatever the function is told besides.
    known = {it: name.plain for it in places if isinstance(name := store.get(f"{it}.name"), Text)}
    if len(places) == 1 and known.get(places[0]) is not None:
        return None
    for said in _kernels_named_to_callers(interpreter):
        if said.plain in known.values():
            return next(it for it, name in known.items() if name == said.plain)
        if not any(known.values()):
            made = handles(interpreter, kernel_of(interpreter, call, Null(), said), None)[0]
            before = f"{places[0]}." if places else "."
            set_before = [it for it in store if it.startswith(before) and it != f"{before}name"]
            store.update((f"{made}.{it[len(before) :]}", store[it]) for it in set_before)
            return made
    return None


def _kernels_named_to_callers(interpreter: Interpreter) -> Iterator[Text]:
    """Yield the names of kernels that the functions which are run were given, from the innermost outwards."""
    for frame in reversed(interpreter.frames):
        for parameter in frame.function.parameters:
            place = frame.names.get(parameter.name)
            said = interpreter.text(interpreter.read(place)) if place is not None else None
            if said is not None and said.plain in interpreter.project.kernels:
                yield said


def _count_before_more(values: Sequence[Value]) -> int:
    """Return how many values stand before `*arguments` of which nobody knows how many they are."""
    more = (at for at, it in enumerate(values) if isinstance(it, RunTime) and it.text.startswith("*"))
    return next(more, len(values))


def _dimensions(value: Value) -> int | None:
    """Return how many dimensions a launch has, of one to three in OpenCL; None where that is open."""
    return value.whole if isinstance(value, Number) and value.whole in (1, 2, 3) else None


def _enqueue(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    if len(values) < 6:
        return None
    launch(
        interpreter,
        call,
        values[1],
        call.arguments[1],
        (values[4], values[5]),
        dimensions=_dimensions(values[2]),
        offset=values[3],
    )
    return RunTime("CL_SUCCESS", 0)


def _enqueue_task(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    if len(values) < 2:
        return None
    one = Sizes((Number(1),))
    launch(interpreter, call, values[1], call.arguments[1], (one, one))
    return RunTime("CL_SUCCESS", 0)


def _enqueue_method(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`queue.enqueueNDRangeKernel(kernel, offset, global, local)`."""
    if len(values) < 4:
        return None
    local = values[4] if len(values) > 4 else Null()
    launch(interpreter, call, values[1], call.arguments[0], (values[3], local), offset=values[2])
    return RunTime("CL_SUCCESS", 0)


def _enqueue_task_method(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`queue.enqueueTask(kernel)`; `cl.enqueue_task(queue, kernel)` of Python."""
    if interpreter.path.endswith(".py"):
        return _enqueue_task(interpreter, call, values[1:])
    as_function = replace(call, arguments=(call.function, *call.arguments))
    return _enqueue_task(interpreter, as_function, values)


def _enqueue_python(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`cl.enqueue_nd_range_kernel(queue, kernel, global, local)`; Boost.Compute's method of that name."""
    if len(values) < 4:
        return None
    if not interpreter.path.endswith(".py"):
        is_counted = isinstance(values[2], Number) and len(values) > 5
        sizes = (
            (values[4], values[5]) if is_counted else (values[3], values[4] if len(values) > 4 else Null())
        )
        dimensions = _dimensions(values[2]) if is_counted else None
        offset = values[3] if is_counted else values[2]
        launch(interpreter, call, values[1], call.arguments[0], sizes, dimensions=dimensions, offset=offset)
        return RunTime("event")
    local = values[4] if len(values) > 4 else Null()
    named = call.keywords.get("global_work_offset")
    offset = interpreter.value(named) if named is not None else values[5] if len(values) > 5 else Null()
    launch(interpreter, call, values[2], call.arguments[1], (values[3], local), offset=offset)
    return RunTime("event")


def _enqueue_line(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """Boost.Compute's `queue.enqueue_1d_range_kernel(kernel, offset, global, local)`."""
    if len(values) < 5:
        return None
    local = Null() if values[4] == Number(0) else values[4]
    launch(interpreter, call, values[1], call.arguments[0], (values[3], local), offset=values[2])
    return RunTime("event")


def _ndrange(_interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    if len(values) == 1 and isinstance(values[0], Sizes):
        return values[0]
    return Sizes(tuple(values))


def _ndrange_of_dim(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """Boost.Compute's `dim(n, m)`."""
    return (
        None
        if interpreter.path.endswith((".py", ".c")) or not values
        else _ndrange(interpreter, call, values)
    )


def _enqueue_args(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    interpreter.sized.add((interpreter.path, call.row))
    ranges = values[1:]
    while len(ranges) > 1 and not isinstance(ranges[0], (Sizes, Number)) and not _is_range(ranges[0]):
        if len(ranges) <= 2 and isinstance(ranges[1], RunTime):
            break
        ranges = ranges[1:]
    match ranges:
        case [whole]:
            return Launching(whole, Null(), Null())
        case [whole, local]:
            return Launching(whole, local, Null())
        case [offset, whole, local, *_]:
            return Launching(whole, local, offset)
        case _:
            return None


def _is_range(value: Value) -> bool:
    return isinstance(value, RunTime) and value.text.endswith("NullRange")


def _local(_interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    return LocalMemory(values[-1]) if values else None


def _buffer(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    if len(values) < 3:
        return None
    return _made_buffer(interpreter, call, values[2])


def _made_buffer(interpreter: Interpreter, call: Call, size: Value) -> Value:
    place = interpreter.fresh("b", call)
    if interpreter.store is not None:
        interpreter.store[place + ".size"] = size
    return Pointer(place)


def _new_buffer(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`cl::Buffer(context, flags, size)`, `cl.Buffer(context, flags, size, hostbuf=array)`."""
    given = call.keywords.get("size")
    if given is not None:
        return _made_buffer(interpreter, call, interpreter.value(given))
    host = call.keywords.get("hostbuf")
    if host is not None:
        return _made_buffer(interpreter, call, bytes_of(interpreter.value(host)))
    sizes = [it for it in values[2:3] if isinstance(it, (Number, RunTime))]
    return _made_buffer(interpreter, call, sizes[0]) if sizes else None


def _buffer_method(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    return _new_buffer(interpreter, call, values[1:])


def bytes_of(value: Value) -> Value:
    """Return the size in bytes of an array."""
    if isinstance(value, ArrayValue) and isinstance(value.shape, Sizes):
        total: Value = Number(value.item_bytes) if value.item_bytes is not None else RunTime("itemsize")
        for item in value.shape.items:
            total = binary("*", total, item)
        return total
    return RunTime(f"{text_of(value)}.nbytes")


# --------------------------------------------------------------------------------------------- queries


def _query(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    for value, expression in zip(values, call.arguments, strict=False):
        del expression
        if isinstance(value, Pointer) and interpreter.store is not None:
            _forget(interpreter, value, default=False, device=True)
    return RunTime("CL_SUCCESS", 0)


def _query_method(_interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    shown = call.template[0] if call.template else text_of(values[1]) if len(values) > 1 else ""
    return RunTime(shown.split("::")[-1] or call.text, device=True)


def _forget(interpreter: Interpreter, pointer: Pointer, *, default: bool, device: bool = False) -> None:
    """Open what a pointer points to, as a function that is not known may have written there."""
    store = interpreter.store
    place = pointer.place
    if store is None or (is_handle(pointer)):
        return
    interpreter.open_fields(place, keeps_default=default, device=device)
    for target in with_elements(place):
        held = store.get(target)
        is_number = isinstance(held, (Number, RunTime, Null))  # A handle starts as NULL.
        declared = interpreter.types.get(target)
        is_scalar = declared is not None and "char*" not in declared and target not in interpreter.arrays
        if is_number or (held is None and target == place and is_scalar):
            kept = default_of(held) if default and held is not None else None
            store[target] = RunTime(name_of(target).lstrip("."), kept, device=device)


# --------------------------------------------------------------------------------------------- unknown


def known_name(path: Text) -> str | None:
    """Return the path that a string is, with what depends on the run as in a shell's pattern.

    Nothing is said of what stands before a path's first known folder.
    """
    if path.plain is not None:
        return path.plain
    last = path.parts[-1] if path.parts else None
    if not isinstance(last, str) or not PurePath("x" + last).suffix:
        return None
    whole = "".join(it if isinstance(it, str) else _pattern_of(it) for it in path.parts)
    if whole.startswith("*") or len(whole) > _LONGEST_PATH:
        folder, _, name = last.rpartition("/")
        return f"{folder}/{name}".lstrip("/") if PurePath(name).suffix else None
    return whole


def _pattern_of(part: Value | FileText) -> str:
    """Return `{one,other}` for strings of which a part of a path is one, `*` for any."""
    values = part.values if isinstance(part, Alternatives) else ()
    names = [it.plain for it in values if isinstance(it, Text)]
    known = [it for it in names if it is not None and re.fullmatch(r"[\w./-]*", it)]
    return f"{{{','.join(known)}}}" if values and len(known) == len(values) else "*"


def given_file(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """Return the text of the kernel file that a function was given the name of, if it was.

    Headers that host and kernels share count where the function reads files by its name.
    """
    called = call.function.name if isinstance(call.function, (Name, Member)) else ""
    suffixes = KERNEL_SUFFIXES | _HEADERS if _READS_FILES.search(called) else KERNEL_SUFFIXES
    for value in values:
        found = interpreter.text(value)
        plain = known_name(found) if found is not None else None
        if plain is None or not 0 < len(plain) < _LONGEST_PATH:
            continue
        name, row = plain.strip(), found.row if found is not None else 0
        if PurePath(name).suffix.lower() in suffixes:
            return Text((FileText(name),), row)
        may_be_kernel = name in interpreter.project.kernels and not _READS_FILES.search(called)
        if may_be_kernel or not re.fullmatch(r"[\w./-]+", name):
            continue
        if interpreter.project.kernel_file(name + ".cl", interpreter.path):
            return Text((FileText(name + ".cl"),), row)
    return None


def _by_reference(interpreter: Interpreter, call: Call, name: str) -> Iterator[str]:
    """Yield the variables that an unknown function of C++ may write, as it may take them by reference.

    Where its name does not say so, these are those that hold nothing of use before.
    """
    writes = _TAKES_OPTIONS.search(name) is not None
    # `settings.lookup("size", size)`, but not `log("size", size)`.
    named = isinstance(call.arguments[0] if call.arguments else None, Str) and not _SAYS.search(name)
    project, path = interpreter.project, interpreter.path
    for expression in call.arguments:
        if isinstance(expression, Name) and (
            project.macro(expression.name, path) or project.constant(expression.name, path)
        ):
            continue
        place = interpreter.place(expression) if isinstance(expression, (Name, Member)) else None
        if place is None:
            continue
        held = interpreter.store.get(place) if interpreter.store is not None else None
        if writes or named or held in (Number(0), Number(-1)):
            yield place


def unknown_call(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """A function that the project does not define: a kernel's handle, a wrapper, or anything else."""
    arguments = values[1:]
    name = call.function.name if isinstance(call.function, (Name, Member)) else ""
    handle = _unwrapped(interpreter, call, name, values)
    if handle is not None:
        return handle
    if _launches(interpreter, call, name, arguments):
        return RunTime("event")
    if _launched_by_library(interpreter, call, name, arguments):
        return RunTime("event")
    if "kernel" in name.lower():
        found = kernel_by_name(interpreter, call, arguments)
        if found is not None:
            return found
    file = given_file(interpreter, call, arguments)
    changed = values[0]
    if isinstance(changed, Pointer) and changed.place in interpreter.arrays and name not in _READ_ONLY:
        _forget(interpreter, changed, default=False)  # A list of C++ is resized, filled, …
        interpreter.put(f"{changed.place}[*]", RunTime(call.text))
    if not interpreter.path.endswith((".py", ".c")):
        changed_length(interpreter, call, changed, arguments)
    if name not in _HARMLESS:
        device = any(it in name for it in _QUERIES)
        reads = any(it in name for it in _READS_INPUT)
        if interpreter.path.endswith(".py"):
            _changed_in_place(interpreter, call, name, values)
        if not interpreter.path.endswith((".py", ".c")):
            for place in _by_reference(interpreter, call, name):
                interpreter.open_at(place, keeps_default=not (device or reads), device=device)
        data: Value | None = None
        for value, follows in zip_longest(arguments, arguments[1:]):
            if data is not None and value is data:
                continue  # What the function changes of it is opened with that.
            data = follows if isinstance(value, Routine) and _is_record(interpreter, follows) else None
            if isinstance(value, Routine):
                interpreter.skip_routine(value, data=data)
            if isinstance(value, Pointer) and not value.moved:
                _forget(interpreter, value, default=not (device or reads), device=device)
                if file is not None and interpreter.store is not None and not is_handle(value, "p"):
                    held = interpreter.store.get(value.place)
                    declared = interpreter.types.get(value.place, "")
                    if (held is None or isinstance(held, (Null, RunTime))) and (
                        "char" in declared or "string" in declared
                    ):
                        interpreter.store[value.place] = file
    if file is not None:
        return file
    owner = values[0]
    if isinstance(owner, Text) and name in ("c_str", "str", "data", "strip", "encode", "decode", "read"):
        return owner
    text = call.text if len(call.text) <= 48 else f"{name}(…)"
    return RunTime(text, device=isinstance(owner, RunTime) and owner.device)


def _is_record(interpreter: Interpreter, value: Value | None) -> bool:
    """Tell whether a value points to a structure some of whose fields are known."""
    if not isinstance(value, Pointer) or value.moved:
        return False
    return any(it.startswith(f"{value.place}.") for it in interpreter.known)


def _unwrapped(interpreter: Interpreter, call: Call, name: str, values: list[Value]) -> Value | None:
    """Return the handle that `kernel()` and `kernel.get()` give in C++."""
    if interpreter.path.endswith((".py", ".c")) or call.arguments:
        return None
    if name == "get":
        owner = values[0]  # Of what `unique_ptr` and its kin own.
        is_object = isinstance(owner, Pointer) and (
            owner.place in interpreter.objects or owner.place in interpreter.types
        )
        return owner if is_object else _handle_in(owner)
    return _handle_in(interpreter.value(call.function)) if isinstance(call.function, Name) else None


def _handle_in(value: Value) -> Value | None:
    """Return a handle, or the only one that a value may be where it is no empty pointer."""
    found = [it for it in (value.values if isinstance(value, Alternatives) else (value,)) if is_handle(it)]
    return found[0] if len(found) == 1 else None


def _set_attribute(interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    """`setattr(thing, "name", value)` of Python."""
    if not interpreter.path.endswith(".py") or len(values) < 3:
        return None
    name = interpreter.text(values[1])
    if name is not None and name.plain is not None:
        interpreter.opened.add(name.plain)
        if isinstance(values[0], Pointer):
            interpreter.put(f"{values[0].place}.{name.plain}", values[2])
    elif isinstance(values[0], Pointer):
        interpreter.open_at(values[0].place, keeps_default=False)
    return Null()


def _made_object(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`std::make_unique<T>(…)`, `std::make_shared<T>(…)`."""
    whole, angle, given = call.template[0].partition("<") if call.template else ("", "", "")
    wanted = whole.rpartition("::")[2] + angle + given
    own = interpreter.made(wanted, call, values)
    if own is not None or not wanted:
        return own
    if interpreter.store is not None and size_of(whole) is not None and len(values) <= 1:
        held = values[0] if values else Number(0)
        if interpreter.frame.is_module:  # Any function may change it by way of the pointer.
            held = opened_as(call.text, held)
        place = interpreter.fresh_memory()
        interpreter.store[place], interpreter.types[place] = held, whole
        return Pointer(place)
    made = Call(Name(wanted), call.arguments, call.keywords, (), call.row, call.text)
    return interpreter.answer("new " + wanted, made, values)


def _changed_in_place(interpreter: Interpreter, call: Call, name: str, values: list[Value]) -> None:
    """Open a list or dictionary of Python that a method, or a function such as `shuffle`, changes."""
    owner = values[0]
    if isinstance(owner, Pointer) and owner.place.startswith("d"):
        interpreter.open_at(owner.place, keeps_default=False)
    changed = values[:1] if name in _CHANGES_LIST else values[1:] if _CHANGES_ARGUMENTS.search(name) else []
    for it in changed:
        if isinstance(it, Sizes):
            interpreter.replace_list(it, RunTime(call.text))
    if name in ("exec", "execfile"):
        for place in list(interpreter.store or ()):
            interpreter.open_at(place)


_RUNS = re.compile(r"run|launch|enqueue|exec|dispatch|invoke", re.IGNORECASE)
"""What functions of libraries are called that launch a kernel."""


def _launched_by_library(interpreter: Interpreter, call: Call, name: str, values: list[Value]) -> bool:
    """Note what `run(queue, "kernel", 2, global, local, n, buffer)` launches, of a library that is not here.

    It tells a launch by its parts: a kernel of the project by name, then how many dimensions there are, an
    array of as many sizes, another one or NULL, and as many arguments as the kernel has parameters.
    """
    if not _RUNS.search(name) or interpreter.path.endswith(".py"):
        return False
    for at, value in enumerate(values[:-3]):
        kernel = interpreter.text(value)
        known = interpreter.project.kernels.get(kernel.plain or "", ()) if kernel is not None else ()
        count, whole, local = values[at + 1 : at + 4]
        dimensions = _dimensions(count)
        is_array = isinstance(whole, Pointer) and whole.place in interpreter.arrays
        given = values[at + 4 :]
        fits = any(len(it.kernel.parameters) == len(given) for it in known)
        if kernel is not None and fits and is_array and dimensions and isinstance(local, Null | Pointer):
            made = kernel_of(interpreter, call, Null(), kernel)
            launch(interpreter, call, made, None, (whole, local), dimensions=dimensions, arguments=given)
            return True
    return False


def _launches(interpreter: Interpreter, call: Call, name: str, arguments: list[Value]) -> bool:
    """Tell whether a call launches a kernel through its handle, and note it."""
    kernel = None
    if name or not isinstance(call.function, Name):
        kernel = interpreter.value(call.function)
    kernels = kernel.values if isinstance(kernel, Alternatives) else (kernel,)
    if not any(map(is_kernel, kernels)) and _looks_launched(interpreter, name, arguments, call.function):
        kernel = kernel_of(interpreter, call, Null(), Text((name,)))
        kernels = (kernel,)
    if kernel is None or not any(map(is_kernel, kernels)):
        if arguments and isinstance(arguments[0], Launching):
            return _functor(interpreter, call, RunTime(name), arguments)
        return _launches_field(interpreter, call, arguments)
    if arguments and isinstance(arguments[0], Launching):
        return _functor(interpreter, call, kernel, arguments)
    bound = _bound_sizes(interpreter, kernel)
    if bound is not None:
        return _functor(interpreter, call, kernel, [bound, *arguments])
    if not interpreter.path.endswith(".py"):
        return False
    named = [call.keywords.get(it) for it in ("global_size", "local_size", "global_offset")]
    offset = interpreter.value(named[2]) if named[2] is not None else Null()
    if named[0] is not None and arguments:
        sizes = interpreter.value(named[0]), interpreter.value(named[1]) if named[1] is not None else Null()
        given = arguments[1:] or None  # Named sizes are those of a launch, whatever is set before it.
        launch(interpreter, call, kernel, None, sizes, arguments=given, offset=offset)
        return True
    if len(arguments) < 3 or _is_of_module(interpreter, call, arguments):
        return False
    whole, local = arguments[1], arguments[2]
    if is_handle(local, "b"):  # In early versions of pyopencl the groups had a name only.
        named_local = interpreter.value(named[1]) if named[1] is not None else Null()
        launch(interpreter, call, kernel, None, (whole, named_local), arguments=arguments[2:], offset=offset)
        return True
    if "g_times_l" in call.keywords:  # The first size is counted in groups then.
        whole = RunTime(f"{text_of(whole)} groups")
    launch(interpreter, call, kernel, None, (whole, local), arguments=arguments[3:], offset=offset)
    return True


def _bound_sizes(interpreter: Interpreter, kernel: Value) -> Value | None:
    if not isinstance(kernel, Pointer) or interpreter.store is None:
        return None
    return interpreter.store.get(f"{kernel.place}.bound")


def _looks_launched(interpreter: Interpreter, name: str, arguments: list[Value], callee: Expr) -> bool:
    """Tell whether `kernels.name(queue, global, local, …)` calls a kernel of the project."""
    known = interpreter.project.kernels.get(name, ())
    is_of_program = isinstance(callee, Member) and _is_called_program(text_of(interpreter.value(callee.base)))
    n_known = _count_before_more(arguments)
    fits = any(n_known < len(arguments) or it.kernel.takes(n_known - 3) for it in known)
    return fits and (
        interpreter.path.endswith(".py")
        and len(arguments) >= 3
        and isinstance(arguments[1], (Sizes, RunTime))
        and isinstance(arguments[2], (Sizes, Null, RunTime))
        and (
            (is_of_program and _may_be_queue(arguments[0]))
            or any(isinstance(it, (Sizes, Null)) for it in arguments[1:3])
        )
    )


def _is_of_module(interpreter: Interpreter, call: Call, arguments: list[Value]) -> bool:
    """Tell whether `kernel.name(a, b, c)` calls a function of a module that has a kernel's name."""
    return (
        isinstance(call.function, Member)
        and not is_program(interpreter.value(call.function.base))
        and not any(isinstance(it, (Sizes, Null)) for it in arguments[1:3])
        and not _may_be_queue(arguments[0])
    )


def _may_be_queue(value: Value) -> bool:
    """Tell whether what is given first is a queue, by its handle or its name: modules have functions too."""
    return (
        is_handle(value)
        or re.search(r"queue|stream|(?<![a-z])c?q(?![a-z])", text_of(value).lower()) is not None
    )


def _is_called_program(text: str) -> bool:
    return re.search(r"kernel|knl|prog|prg", text.lower()) is not None


def _launches_field(interpreter: Interpreter, call: Call, arguments: list[Value]) -> bool:
    """Note what `self.kernel(queue, global, local, …)` launches if another method put a kernel there."""
    is_method = isinstance(call.function, Member) and call.function.base == Name("self")
    if isinstance(call.function, Name):
        return _launches_unknown(interpreter, call, call.function.name, arguments)
    if not is_method or len(arguments) < 3 or not interpreter.path.endswith(".py"):
        return False
    whole, local = arguments[1:3]
    place = interpreter.place(call.function)
    if place is None or not isinstance(whole, (Sizes, RunTime)) or not isinstance(local, (Sizes, Null)):
        return False
    kernel = Pointer(place)
    launch(interpreter, call, kernel, None, (whole, local), arguments=arguments[3:], is_likely=True)
    return True


def _launches_unknown(interpreter: Interpreter, call: Call, name: str, arguments: list[Value]) -> bool:
    """Note what `kernel(queue, global, local, …)` launches, where nothing is known of the kernel."""
    if not interpreter.path.endswith(".py") or len(arguments) < 3 or not _is_called_program(name):
        return False
    whole, local = arguments[1:3]
    if "queue" not in text_of(arguments[0]) or not isinstance(local, (Sizes, Null)):
        return False
    launch(interpreter, call, interpreter.value(call.function), None, (whole, local), arguments=arguments[3:])
    return True


def _kernel_attribute(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """Return the kernel that `self.kernels.name` is in Python, if the project has one of that name."""
    member = call.function
    if not isinstance(member, Member) or not interpreter.path.endswith(".py"):
        return None
    if isinstance(values[0], Alternatives) and all(map(is_program, values[0].values)):
        made = (_attribute_of_program(interpreter, call, [it]) for it in values[0].values)
        return join_values("#kernel", [it for it in made if it is not None])
    owner = text_of(values[0]).lower()
    if member.name in interpreter.project.kernels and _is_called_program(owner):
        where = Call(member, (), row=0, text=f"{owner}.{member.name}")
        return kernel_of(interpreter, where, Null(), Text((member.name,)))
    return None


def kernel_by_name(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """Return the kernel that a function of any name is asked for by the name of one that the project has."""
    for value in values:
        found = interpreter.text(value)
        if found is not None and found.plain in interpreter.project.kernels:
            program = next((it for it in values if is_program(it)), Null())
            return kernel_of(interpreter, call, program, found)
    return None


def _attribute_by_name(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`getattr(program, name)` of Python: a kernel of the program, whoever says its name."""
    if len(values) < 2 or not interpreter.path.endswith(".py"):
        return None
    several = values[0].values if isinstance(values[0], Alternatives) else (values[0],)
    program = next(filter(is_program, several), None)
    if program is None and not (isinstance(values[0], RunTime) and _is_called_program(text_of(values[0]))):
        return kernel_by_name(interpreter, call, values[1:2])
    return kernel_of(interpreter, call, program or values[0], values[1])


def _all_kernels(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`program.all_kernels()`, of which the first is known where the program has one only."""
    if not is_program(values[0]):
        return None
    return Sizes((kernel_of(interpreter, call, values[0], RunTime(call.text)),))


def _functor(interpreter: Interpreter, call: Call, kernel: Value, arguments: list[Value]) -> bool:
    how = arguments[0]
    if not isinstance(how, Launching):
        return False
    sizes = how.global_size, how.local_size
    launch(interpreter, call, kernel, None, sizes, arguments=arguments[1:], offset=how.offset)
    return True


def own_wrapper(name: str, roles: dict[str, int | str]) -> CallHandler:
    """Return what a function of the project's own does that `clmap.toml` describes."""

    def launched(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
        def of(role: str) -> Value | None:
            where = roles.get(role)
            if isinstance(where, str):
                return Text((where,))
            return values[where] if where is not None and 0 <= where < len(values) else None

        whole, local, kernel = of("global"), of("local"), of("kernel")
        if whole is None:
            return None
        named = interpreter.text(kernel) if kernel is not None else None
        if named is not None:
            source = of("source")
            program = _program(interpreter, call, find_text(interpreter, source) if source else None)
            kernel = kernel_of(interpreter, call, program, named)
        first = roles.get("arguments")
        rest = values[first:] if isinstance(first, int) else None
        launch(
            interpreter,
            call,
            kernel if kernel is not None else RunTime(name),
            None,
            (whole, local if local is not None else Null()),
            arguments=rest,
            gives_all=False,
        )
        return RunTime(call.text)

    return launched


OPENCL: dict[str, CallHandler] = {
    "clCreateProgramWithSource": _create_program,
    "clCreateProgramWithBinary": _create_from_binary,
    "clCreateProgramWithIL": _create_from_il,
    "clBuildProgram": _build,
    "clCompileProgram": _build,
    "clLinkProgram": _link,
    ".set_value()": _promise,
    ".get_future()": lambda interpreter, _call, values: (
        None if interpreter.path.endswith(".py") else values[0]
    ),
    "clCreateKernel": _create_kernel,
    "clSetKernelArg": _set_arg,
    "clEnqueueNDRangeKernel": _enqueue,
    "clEnqueueTask": _enqueue_task,
    ".enqueueTask()": _enqueue_task_method,
    ".enqueue_task()": _enqueue_task_method,
    "enqueue_task": _enqueue_task,
    "create_with_source": _new_program,
    "build_with_source": _built_program,
    "new program": _new_program,
    "new kernel": _new_kernel,
    ".create_kernel()": _new_kernel,
    ".createKernel()": _new_kernel,
    ".bind()": _bind,
    "dim": _ndrange_of_dim,
    "clCreateBuffer": _buffer,
    **dict.fromkeys(
        (
            *("clGetDeviceInfo", "clGetKernelWorkGroupInfo", "clGetPlatformInfo", "clGetContextInfo"),
            *("clGetProgramInfo", "clGetProgramBuildInfo", "clGetKernelInfo", "clGetDeviceIDs"),
            *("clGetPlatformIDs", "clGetMemObjectInfo", "clGetCommandQueueInfo", "clGetKernelSubGroupInfo"),
        ),
        _query,
    ),
    "new Program": _new_program,
    ".Program()": lambda interpreter, call, values: _new_program(interpreter, call, values[1:]),
    ".build()": _build_method,
    "new Kernel": _new_kernel,
    "new KernelFunctor": _new_kernel,
    "new make_kernel": _new_kernel,
    "make_kernel": _new_kernel,
    "KernelFunctor": _new_kernel,
    ".Kernel()": _kernel_method,
    ".setArg()": _set_arg_method,
    ".set_arg()": _set_arg_method,
    ".set_args()": _set_args_method,
    ".enqueueNDRangeKernel()": _enqueue_method,
    ".enqueue_nd_range_kernel()": _enqueue_python,
    ".enqueue_1d_range_kernel()": _enqueue_line,
    "enqueue_nd_range_kernel": lambda interpreter, call, values: _enqueue_python(
        interpreter, call, [Null(), *values]
    ),
    "new NDRange": _ndrange,
    "NDRange": _ndrange,
    "new EnqueueArgs": _enqueue_args,
    "EnqueueArgs": _enqueue_args,
    "Local": _local,
    "__local": _local,
    ".LocalMemory()": _local,
    "LocalMemory": _local,
    "new Buffer": _new_buffer,
    ".Buffer()": _buffer_method,
    ".getInfo()": _query_method,
    ".getWorkGroupInfo()": _query_method,
    ".get_info()": _query_method,
    ".get_work_group_info()": _query_method,
    "attribute of p": _attribute_of_program,
    "given file": given_file,
    "kernel by name": kernel_by_name,
    "setattr": _set_attribute,
    "make_unique": _made_object,
    "make_shared": _made_object,
    "getattr": _attribute_by_name,
    ".__getattr__()": _attribute_by_name,
    ".all_kernels()": _all_kernels,
    "kernel attribute": _kernel_attribute,
    "unknown": unknown_call,
}
