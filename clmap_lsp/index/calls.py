"""Calls: of functions, with overloads, and of what is built in."""

from __future__ import annotations

from abc import ABC

from clmap_lsp.index import builtins
from clmap_lsp.index.compatible import Value
from clmap_lsp.index.cursor import (
    SPECIFIER_WORDS,
)
from clmap_lsp.index.model import (
    CALLABLE,
    Call,
    Expected,
    Kind,
    Symbol,
    Use,
)
from clmap_lsp.index.operands import OperandParser
from clmap_lsp.index.pipes import pipe_fault
from clmap_lsp.index.types import (
    SIZE_T,
    UNKNOWN,
    Function,
    Pipe,
    Pointer,
    Qualified,
    Unknown,
    base_of,
    canonical,
    decayed,
    is_const,
    space_of,
    spelled,
)
from clmap_lsp.source.ir import Severity
from clmap_lsp.source.types import OpaqueType, ScalarType, VectorType, lanes_of

_ATOMICS_OF_64_BITS = frozenset({"cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"})


class CallParser(OperandParser, ABC):
    """Reads calls and holds their arguments to the parameters."""

    def _call(self, value: Value) -> Value:
        opened = self.at
        self.at += 1
        callee = value.callee
        call = Call(value.start, opened, [], self.n_tokens, callee, function=self.function)
        self.piece.calls.append(call)
        arguments: list[Value] = []
        marks: list[int] = [len(self.reads)]
        self._expect_parameter(callee, 0)
        if self.text != ")":
            while True:
                if arguments:
                    self._expect_parameter(callee, len(arguments))
                arguments.append(self._argument())
                call.arguments.append(arguments[-1].type)
                marks.append(len(self.reads))
                if self.text != ",":
                    break
                call.commas.append(self.at)
                self.at += 1
        closing = self.at
        self.expect(")", opened, in_list=True)
        call.end = self.at
        call.varying = []
        return self._called(value, call, arguments, closing, marks)

    def _argument(self) -> Value:
        if self.starts_type(self.at) and self.text not in ("__extension__",):
            # Only macros take types: this is the use of one that nothing defines, or a misplaced declaration.
            if self.text in SPECIFIER_WORDS:
                self.issue("syntax-error", "expected expression")
            self.doubt()
            start = self.at
            self.skip_to(",", ";")
            return Value(UNKNOWN, start)
        return self.assignment()

    def _expect_parameter(self, callee: Symbol | str | None, index: int) -> None:
        if isinstance(callee, Symbol) and index < len(callee.parameters):
            wanted = callee.parameters[index].type
            if wanted is not None:
                self.piece.expected.append(Expected(self.at, wanted))

    def _called(
        self, value: Value, call: Call, arguments: list[Value], closing: int, marks: list[int]
    ) -> Value:
        callee = value.callee
        if isinstance(callee, str):
            return self._builtin_call(callee, value, arguments, closing)
        if isinstance(callee, Symbol) and callee.kind in CALLABLE:
            callee = self._overload(callee, arguments)
            if callee is not value.callee and value.use is not None:
                use = self.piece.uses[value.use]
                self.piece.uses[value.use] = Use(use.token, callee, use.role)
            call.callee = callee
            for at, parameter in enumerate(callee.parameters[: len(arguments)]):
                self.piece.flow.append((parameter, tuple(self.reads[marks[at] : marks[at + 1]])))
            self.reads.append(callee)
            self._check_arguments(callee, value, arguments, closing)
            function = callee.type.base if callee.type is not None else None
            is_open = any(isinstance(base_of(it.type), Unknown) for it in arguments)
            if is_open and isinstance(value.callee, Symbol) and value.callee.overloads is not None:
                return Value(UNKNOWN, value.start)  # Which of them is called, what the host defines decides.
            if isinstance(function, Function):
                return Value(function.result, value.start)
            return Value(UNKNOWN, value.start)
        base = base_of(decayed(value.type))
        if isinstance(base, Pointer) and isinstance(inner := base_of(base.pointee), Function):
            self._check_pointed(inner, "block" if base.is_block else "function", arguments, closing)
            return Value(inner.result, value.start)
        if not isinstance(base, Unknown) and not (isinstance(base, Pointer) and base.is_block):
            said = f"called object type '{spelled(value.type)}' is not a function or function pointer"
            self.issue("not-a-function", said, token=value.start)
        return Value(UNKNOWN, value.start)

    def _overload(self, callee: Symbol, arguments: list[Value]) -> Symbol:
        """Return which of the functions of one name (`overloadable`) a call is of."""
        best, best_score = callee, -1.0
        candidate: Symbol | None = callee
        while candidate is not None:
            score = -1.0
            if len(candidate.parameters) == len(arguments):
                pairs = zip(candidate.parameters, arguments, strict=True)
                score = sum(_alike(a.type, b.type) for a, b in pairs)
            if score > best_score:
                best, best_score = candidate, score
            candidate = candidate.overloads
        return best

    def _check_arguments(self, callee: Symbol, value: Value, arguments: list[Value], closing: int) -> None:
        function = callee.type.base if callee.type is not None else None
        named = value.callee if isinstance(value.callee, Symbol) else callee
        if not isinstance(function, Function) or named.overloads is not None or not function.has_prototype:
            return  # Of several functions of the name each takes something else.
        wanted, given = len(function.parameters), len(arguments)
        only = callee.parameters[0].name if wanted == 1 and callee.parameters else ""
        if given < wanted:
            said = f"expected {'at least ' if function.is_variadic else ''}{wanted}, have {given}"
            if only:
                said = f"single argument '{only}' was not specified"
            self.issue("wrong-arguments", f"too few arguments to function call, {said}", token=closing)
        elif given > wanted and not function.is_variadic:
            said = f"expected {wanted}, have {given}"
            if only:
                said = f"expected single argument '{only}', have {given} arguments"
            first = arguments[wanted].start
            self.issue("wrong-arguments", f"too many arguments to function call, {said}", token=first)
        if given < wanted or (given > wanted and not function.is_variadic):
            return  # As to a compiler: which argument is which is open.
        for type_, argument in zip(function.parameters, arguments, strict=False):
            self.check_conversion(type_, argument, "passing", argument.start)
        for parameter, argument in zip(callee.parameters, arguments, strict=False):
            self._check_passed_image(parameter, argument)

    def _check_pointed(self, function: Function, what: str, arguments: list[Value], closing: int) -> None:
        """Report arguments that a block, or what a pointer to a function points to, does not take."""
        wanted, given = len(function.parameters), len(arguments)
        if not function.has_prototype:
            return
        if given < wanted:
            said = f"expected {'at least ' if function.is_variadic else ''}{wanted}, have {given}"
            self.issue("wrong-arguments", f"too few arguments to {what} call, {said}", token=closing)
        elif given > wanted and not function.is_variadic:
            said = f"too many arguments to {what} call, expected {wanted}, have {given}"
            self.issue("wrong-arguments", said, token=arguments[wanted].start)
        else:
            for type_, argument in zip(function.parameters, arguments, strict=False):
                self.check_conversion(type_, argument, "passing", argument.start)

    def _check_passed_image(self, parameter: Symbol, argument: Value) -> None:
        """Report an image that is passed on to be accessed in another way than it may be."""
        wanted, given = parameter.type or UNKNOWN, argument.type
        base = base_of(wanted)
        if isinstance(base, Pipe) and isinstance(pipe := base_of(given), Pipe):
            is_shared = argument.root is not None and argument.root.kind is not Kind.PARAMETER
            one, other = (
                f"{it.access or 'read_only'} {end.name}" for it, end in ((wanted, base), (given, pipe))
            )
            if not is_shared and one != other and None not in (base.packet, pipe.packet):
                said = f"passing '{other}' to parameter of incompatible type '{one}'"
                self.issue("wrong-type", said, token=argument.start)
        if not isinstance(base, OpaqueType) or not base.is_image or base != base_of(given) or self.is_cpp:
            return
        kinds = [canonical(it).access or "read_only" for it in (wanted, given)]
        if kinds[0] != kinds[1]:
            names = [f"__{access} {base}" for access in kinds]
            said = f"passing '{names[1]}' to parameter of incompatible type '{names[0]}'"
            self.issue("wrong-type", said, token=argument.start)

    def _builtin_call(self, name: str, value: Value, arguments: list[Value], closing: int) -> Value:
        builtin = builtins.find(name)
        if builtin is None:
            return Value(UNKNOWN, value.start)
        if builtin.is_varying:
            self.reads.append(None)
        if (fault := pipe_fault(name, arguments)) is not None:
            at, said = fault
            self.issue("wrong-arguments", said, token=value.start if at < 0 else arguments[at].start)
        types = [it.type for it in arguments]
        found = builtins.resolve(builtin, types, has_generic=self.version >= 200)
        text = builtins.shown(builtin, found) if found is not None else None
        self.use_builtin(value.start, text, is_varying=builtin.is_varying)
        if found is None and (loose := self._with_other_pointers(builtin, arguments)) is not None:
            return Value(loose.result, value.start)
        if found is not None:
            if not self._takes(found, arguments) or not _is_accessible(name, types):
                self.issue("wrong-arguments", f"no matching function for call to '{name}'", token=value.start)
                return Value(UNKNOWN, value.start)
            if not self._is_conversion(name, value, found.result, arguments):
                return Value(UNKNOWN, value.start)  # As to a compiler: nothing follows from what is refused.
            if builtins.is_ambiguous(builtin, types):
                self.issue("ambiguous", f"call to '{name}' is ambiguous", Severity.WARNING, token=value.start)
            self._written_through(found, arguments)
            self._needs_of(name, builtin, found, value.start)
            return Value(found.result, value.start, is_size=found.result == SIZE_T)
        least, most = builtins.arity(builtin)
        known = not any(isinstance(base_of(it.type), Unknown) for it in arguments)
        if known or len(arguments) < least or (most is not None and len(arguments) > most):
            self.issue("wrong-arguments", f"no matching function for call to '{name}'", token=value.start)
        return Value(UNKNOWN, value.start)

    def _with_other_pointers(
        self, builtin: builtins.Builtin, arguments: list[Value]
    ) -> builtins.Resolved | None:
        """Return what is called where a pointer is to another type than wanted; warn of that, as C does."""
        types = [it.type for it in arguments]
        found = builtins.resolve(builtin, types, has_generic=self.version >= 200, is_strict=False)
        if found is None or not self._takes(found, arguments):
            return None
        for wanted, argument in zip(found.parameters, arguments, strict=False):
            a, b = base_of(wanted), base_of(decayed(argument.type))
            if isinstance(a, Pointer) and isinstance(b, Pointer) and base_of(a.pointee) != base_of(b.pointee):
                said = (
                    f"incompatible pointer types passing '{spelled(decayed(argument.type))}' to parameter of "
                )
                said += f"type '{spelled(wanted)}'"
                self.issue("wrong-arguments", said, Severity.WARNING, token=argument.start)
        self._written_through(found, arguments)
        return found

    def _takes(self, found: builtins.Resolved, arguments: list[Value]) -> bool:
        """Tell whether no number stands for a pointer, and an image's coordinates are as many as it has."""
        for wanted, argument in zip(found.parameters, arguments, strict=False):
            is_number = isinstance(base_of(argument.type), ScalarType)
            if is_number and argument.constant != 0 and isinstance(base_of(wanted), Pointer):
                return False
        return builtins.coordinates_fit(found, [base_of(it.type) for it in arguments])

    def _is_conversion(self, name: str, value: Value, type_: Qualified, arguments: list[Value]) -> bool:
        """Report `as_float4(n)` of another size, and `convert_int4(n)` of another number of lanes."""
        if not name.startswith(("as_", "convert_")) or len(arguments) != 1:
            return True
        result, given = base_of(type_), base_of(decayed(arguments[0].type))
        sized = ScalarType, VectorType, OpaqueType
        if not isinstance(result, ScalarType | VectorType) or not isinstance(given, sized):
            return True
        said = ""
        if name.startswith("convert_") and lanes_of(result) != lanes_of(given):
            said = f"no matching function for call to '{name}'"
        elif name.startswith("as_") and result.size != given.size:
            said = f"invalid reinterpretation: sizes of '{result}' and '{given}' must match"
        if said:
            self.issue("wrong-arguments", said, token=value.start)
        return not said

    def _needs_of(self, name: str, builtin: builtins.Builtin, found: builtins.Resolved, at: int) -> None:
        """Note the extension that a built-in function needs, of those that need a pragma."""
        first = base_of(found.parameters[0]) if found.parameters else None
        if builtin.extension in _ATOMICS_OF_64_BITS and isinstance(first, Pointer):
            element = base_of(first.pointee)
            if isinstance(element, ScalarType) and element.bits == 64:
                self.need(builtin.extension, f"'{name}' of 64 bits", at, Severity.HINT)
        elif builtin.extension == "cl_khr_subgroups":
            self.need(builtin.extension, f"'{name}'", at, Severity.HINT)
        elif (
            name.startswith("write_image")
            and self.version < 200
            and getattr(first, "name", "") == "image3d_t"
        ):
            self.need("cl_khr_3d_image_writes", "writing to an image of three dimensions", at)

    def _written_through(self, found: builtins.Resolved, arguments: list[Value]) -> None:
        """Note what `vstore4(v, 0, p)` and its like write."""
        for parameter, argument in zip(found.overload.parameters, arguments, strict=False):
            writes = parameter.is_pointer and not parameter.is_const
            if writes and argument.use is not None and isinstance(base_of(decayed(argument.type)), Pointer):
                reads = found.overload.result.word != "void" and parameter.is_volatile
                self.wrote(argument, reads)


def _is_accessible(name: str, types: list[Qualified]) -> bool:
    """Tell whether an image may be read, or written, as a function of this name does."""
    image = base_of(types[0]) if types else None
    if not isinstance(image, OpaqueType) or not image.is_image:
        return True
    access = types[0].access or "read_only"
    if name.startswith("read_image"):
        return access != "write_only"
    return access != "read_only" or not name.startswith("write_image")


def _alike(wanted: Qualified | None, given: Qualified) -> float:
    if wanted is None:
        return 0.0
    a, b = base_of(wanted), base_of(decayed(given))
    if isinstance(a, Pointer) and isinstance(b, Pointer):
        same = base_of(a.pointee) == base_of(b.pointee)
        if is_const(b.pointee) and not is_const(a.pointee):
            return -4.0
        is_as_const = is_const(a.pointee) == is_const(b.pointee)
        return 2.0 * same + (space_of(a.pointee) is space_of(b.pointee)) + 0.5 * is_as_const
    if a == b:
        return 3.0 + 0.5 * (canonical(wanted).access == canonical(given).access)
    if isinstance(a, ScalarType) and isinstance(b, ScalarType):
        return 1.0 + 0.5 * (a.is_float == b.is_float) + 0.1 * (a.bits == b.bits)
    return -4.0
