"""Libraries that tune kernels, KTT and CLTune: sizes and macros hang on parameters with names.

A program defines a kernel with sizes, gives it parameters, each with the values to try, and says how these
change the sizes. Each parameter is a macro of the kernel, too. Every configuration is launched, so that none
of the values holds in every run; as a default counts the first configuration with full work-groups that the
program's own constraints let through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clmap_lsp.hosts.opencl_calls import kernel_of, known_name
from clmap_lsp.hosts.store import texts_of
from clmap_lsp.hosts.tree import Call
from clmap_lsp.hosts.tuner_launches import (
    change_size,
    current,
    run_kernel,
    set_arguments,
    set_side,
    side,
    tune,
    update_scalar,
    value_of_parameter,
)
from clmap_lsp.hosts.tuner_notes import (
    MAX_VALUES,
    SCALAR,
    TUNER,
    Change,
    as_value,
    items_of,
    kernels_in_value,
    last_word,
    names_in,
    note,
    owner_of,
)
from clmap_lsp.hosts.values import (
    Alternatives,
    FileText,
    LocalMemory,
    Null,
    Number,
    Pointer,
    Routine,
    RunTime,
    Sizes,
    Text,
    Value,
    joined,
)

if TYPE_CHECKING:
    from clmap_lsp.hosts.interpreter import CallHandler, Interpreter

_DIMENSIONS = {"X": 0, "Y": 1, "Z": 2}


# ----------------------------------------------------------------------------------------- defining


def _tuner(interpreter: Interpreter, call: Call, _values: list[Value]) -> Value | None:
    return None if interpreter.path.endswith(".py") else Pointer(interpreter.fresh(TUNER, call))


def _dimensions(_interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    """`ktt::DimensionVector(x, y, z)`: one where nothing is said."""
    if any(not isinstance(it, (Number, RunTime)) for it in values):
        return None
    return Sizes(tuple([*values, *[Number(1)] * 3][:3]))


def _file_text(interpreter: Interpreter, value: Value) -> Text | None:
    text = next(texts_of(value), None) or interpreter.text(value)
    named = known_name(text) if text is not None else None
    return Text((FileText(named),)) if named else None


def _define(interpreter: Interpreter, call: Call, values: list[Value], source: Text | None) -> Value | None:
    """Return a kernel of a tuner: its name and sizes stand in `values`."""
    owner, store = owner_of(values), interpreter.store
    if owner is None or store is None or len(values) < 4:
        return None
    program = Pointer(interpreter.fresh("p", call))
    store[program.place + ".source"] = source if source is not None else Text()
    # A template's argument says the type, which is no part of the name in OpenCL.
    kernel = kernel_of(interpreter, call, program, values[1])
    if not isinstance(kernel, Pointer):
        return None
    store[f"{kernel.place}.tuned.global"] = values[2]
    store[f"{kernel.place}.tuned.local"] = values[3]
    store[f"{kernel.place}.tuned.at"] = Text((), call.row, interpreter.path)
    note(interpreter, f"{owner}.kernels", kernel)
    return kernel


def _define_from_file(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """KTT's `AddKernelDefinitionFromFile(name, path, global, local)`."""
    if len(values) < 5:
        return None
    sizes = [values[0], values[1], values[3], values[4]]
    return _define(interpreter, call, sizes, _file_text(interpreter, values[2]))


def _define_from_text(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """KTT's `AddKernelDefinition(name, source, global, local)`."""
    if len(values) < 5:
        return None
    return _define(
        interpreter, call, [values[0], values[1], values[3], values[4]], interpreter.text(values[2])
    )


def _add_files(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """CLTune's `AddKernel({paths}, name, {global}, {local})`."""
    if len(values) < 5:
        return None
    texts = [_file_text(interpreter, it) for it in items_of(interpreter, values[1])]
    source = Text()
    for it in texts:
        source = joined(source, it) if it is not None else source
    return _define(interpreter, call, [values[0], *values[2:5]], source)


def _simple(interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    """`CreateSimpleKernel(name, definition)`."""
    return values[2] if len(values) > 2 and kernels_in_value(interpreter, values[2]) else None


def _composite(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`CreateCompositeKernel(name, {definitions}, launcher)`."""
    if len(values) < 3 or owner_of(values) is None:
        return None
    listed = items_of(interpreter, values[2], call.arguments[1])
    made = tuple(Pointer(it) for one in listed for it in kernels_in_value(interpreter, one))
    for it in made if len(values) > 3 else ():
        interpreter.put(f"{it.place}.tuned.launcher", values[3])
    return Alternatives(made) if len(made) > 1 else made[0] if made else None


def _set_launcher(interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    """`SetLauncher(kernel, launcher)`."""
    for place in kernels_in_value(interpreter, values[1]) if len(values) > 2 else ():
        interpreter.put(f"{place}.tuned.launcher", values[2])
    return None


# --------------------------------------------------------------------------------------- parameters


def _parameter(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`AddParameter(kernel, name, {values})`."""
    if len(values) < 4 or owner_of(values) is None:
        return None
    name = interpreter.text(values[2])
    if name is None or not name.plain or not name.plain.isidentifier() or interpreter.store is None:
        return None
    tried = items_of(interpreter, values[3], call.arguments[2])[:MAX_VALUES] or (RunTime(name.plain),)
    for place in kernels_in_value(interpreter, values[1]):
        interpreter.store[f"{place}.tuned.parameter.{name.plain}"] = Sizes(tried)
    return Null()


def _modifier(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """KTT's `AddThreadModifier(kernel, {definitions}, type, dimension, names, action or function)`."""
    if len(values) < 7 or owner_of(values) is None:
        return None
    kind = {"Global": "global", "Local": "local"}.get(last_word(call.arguments[2]))
    dimension = _DIMENSIONS.get(last_word(call.arguments[3]))
    action: Value = values[6]
    if not isinstance(action, Routine):
        action = Text((last_word(call.arguments[5]),))
    if kind is None or dimension is None:
        return None
    change = as_value(Change(kind, dimension, names_in(interpreter, values[5]), action))
    for place in kernels_in_value(interpreter, Sizes(items_of(interpreter, values[2], call.arguments[1]))):
        note(interpreter, f"{place}.tuned.change", change)
    return Null()


def _simple_modifier(kind: str, action: str) -> CallHandler:
    """CLTune's `MulLocalSize(kernel, {names})` and its kin: a name, or none, for each dimension."""

    def handler(interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
        if len(values) < 3 or owner_of(values) is None:
            return None
        for dimension, it in enumerate(items_of(interpreter, values[2])[:3]):
            text = interpreter.text(it)
            if text is None or not text.plain:
                continue
            change = as_value(Change(kind, dimension, (text.plain,), Text((action,))))
            for place in kernels_in_value(interpreter, values[1]):
                note(interpreter, f"{place}.tuned.change", change)
        return Null()

    return handler


def _constraint(interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    """KTT's `AddConstraint(kernel, {names}, function)`; CLTune has the last two exchanged."""
    if len(values) < 4 or owner_of(values) is None:
        return None
    first, second = values[2], values[3]
    names, function = (second, first) if isinstance(first, Routine) else (first, second)
    if not isinstance(function, Routine):
        return None
    for place in kernels_in_value(interpreter, values[1]):
        listed = Sizes(tuple(Text((it,)) for it in names_in(interpreter, names)))
        note(interpreter, f"{place}.tuned.constraint", Sizes((listed, function)))
    return Null()


# ---------------------------------------------------------------------------------------- arguments


def _scalar(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """Return the place of a scalar, as a launcher may give it other values."""
    if len(values) < 2 or owner_of(values) is None:
        return None
    place = interpreter.fresh(SCALAR, call)
    interpreter.put(place, values[1])
    return _argument(interpreter, values, Pointer(place))


def _vector(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    return _argument(interpreter, values, Pointer(interpreter.fresh("b", call)))


def _local(interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    return _argument(interpreter, values, LocalMemory(values[1])) if len(values) > 1 else None


def _argument(interpreter: Interpreter, values: list[Value], value: Value) -> Value | None:
    """Return an argument; CLTune gives all of a tuner's to its kernels, in order."""
    owner = owner_of(values)
    if owner is None:
        return None
    note(interpreter, f"{owner}.arguments", value)
    return value


def _set_arguments(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """KTT's `SetArguments(definition, {arguments})`."""
    if len(values) < 3 or owner_of(values) is None:
        return None
    places = kernels_in_value(interpreter, values[1])
    set_arguments(interpreter, places, items_of(interpreter, values[2], call.arguments[1]), call.row)
    return Null() if places else None


def _options(interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    owner = owner_of(values)
    if owner is None or len(values) < 2 or interpreter.store is None:
        return None
    interpreter.store[f"{owner}.options"] = interpreter.text(values[1]) or Text()
    return Null()


def _size_type(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`SetGlobalSizeType(ktt::GlobalSizeType::CUDA)`: global sizes are counted in groups."""
    owner = owner_of(values)
    if owner is None or not call.arguments or interpreter.store is None:
        return None
    counted = last_word(call.arguments[0]) in ("CUDA", "Vulkan")
    interpreter.store[f"{owner}.in_groups"] = Number(int(counted))
    return Null()


TUNERS: dict[str, CallHandler] = {
    "new Tuner": _tuner,
    "new DimensionVector": _dimensions,
    "DimensionVector": _dimensions,
    ".AddKernelDefinitionFromFile()": _define_from_file,
    ".AddKernelDefinition()": _define_from_text,
    ".AddKernel()": _add_files,
    ".CreateSimpleKernel()": _simple,
    ".CreateCompositeKernel()": _composite,
    ".AddParameter()": _parameter,
    ".AddThreadModifier()": _modifier,
    ".MulGlobalSize()": _simple_modifier("global", "Multiply"),
    ".DivGlobalSize()": _simple_modifier("global", "Divide"),
    ".MulLocalSize()": _simple_modifier("local", "Multiply"),
    ".DivLocalSize()": _simple_modifier("local", "Divide"),
    ".AddConstraint()": _constraint,
    ".AddArgumentScalar()": _scalar,
    ".AddArgumentLocal()": _local,
    **dict.fromkeys((".AddArgumentVector()", ".AddArgumentInput()", ".AddArgumentOutput()"), _vector),
    ".SetArguments()": _set_arguments,
    ".SetLauncher()": _set_launcher,
    ".RunKernel()": run_kernel,
    ".RunKernelWithProfiling()": run_kernel,
    ".GetCurrentGlobalSize()": current(0),
    ".GetCurrentLocalSize()": current(1),
    ".GetSizeX()": side(0),
    ".GetSizeY()": side(1),
    ".GetSizeZ()": side(2),
    ".SetSizeX()": set_side(0),
    ".SetSizeY()": set_side(1),
    ".SetSizeZ()": set_side(2),
    **dict.fromkeys((".SetSize()", ".Multiply()", ".Divide()", ".RoundUp()"), change_size),
    ".UpdateScalarArgument()": update_scalar,
    "GetParameterValue": value_of_parameter,
    ".SetCompilerOptions()": _options,
    ".SetGlobalSizeType()": _size_type,
    **dict.fromkeys((".Tune()", ".TuneIteration()", ".Run()", ".SetReferenceKernel()"), tune),
}
