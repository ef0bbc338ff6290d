"""The host files of a program, read as they are asked for.

Names are looked up nearest first: in the file itself, in what it includes, then in files by the distance of
their folders, as a repository may hold many programs with a `main` and an `iDivUp` each.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import islice, takewhile
from pathlib import PurePath
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.hosts.budget import Budget
from clmap_lsp.hosts.kernels import KernelText, kernels_in
from clmap_lsp.interruption import checkpoint
from clmap_lsp.lazy import lazy_pattern, lazy_property

# What parses is imported where it parses: beside most kernels there is nothing that launches.
if TYPE_CHECKING:
    from clmap_lsp.hosts.expansion import Expansion
    from clmap_lsp.hosts.macros import Compiled, Macro
    from clmap_lsp.hosts.tree import Call, Class, Declare, Expr, Function, Module
    from clmap_lsp.hosts.values import Text, Value
    from clmap_lsp.hosts.walking import Writes

CALL_OPERATOR = "operator()"
"""What a class of C++ calls the method that calling its objects calls."""
C_SUFFIXES = frozenset(
    (".c", ".cc", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hpp", ".hxx", ".inl", ".cu", ".m")
)
_HEADER_SUFFIXES = (".h", ".hh", ".hpp", ".hxx")
_C_ALONE = frozenset((".c", ".m"))
_OWN_CONSTANTS = frozenset((".cc", ".cpp", ".cxx", ".c++"))
"""Files of C++ that no other includes: their constants are their own."""
PYTHON_SUFFIXES = frozenset((".py",))
HOST_SUFFIXES = C_SUFFIXES | PYTHON_SUFFIXES
KERNEL_SUFFIXES = frozenset((".cl", ".clc", ".ocl", ".opencl", ".clcpp", ".opencl.c", ".clh", ".inc"))
MAX_CHARACTERS = 2 << 20
"""Longer files are generated and hold no launches that a person could follow."""
_FAR = 6
"""Folders between two files of one program."""
_FAR_LAUNCH = 4
"""Folders between a kernel file and a host file that launches from it."""
_FARTHEST_LAUNCH = 7
"""The same where the host file spells the kernel file with its folder, as in `"kernels/blur/blur.cl"`."""
_MAX_INCLUDED = 64
"""Headers that include each other, one in the next."""
_MAX_BASES = 5
"""Classes above a class that are looked at."""
_MAX_CALLED = 200
"""Functions below one that are asked what they write."""
_MAX_MEANT = 16
"""Kernel files that a name with an open part means."""
_MAX_LOOKED_AT = 60
"""Files that are parsed for one name that nothing near defines."""

_LAUNCH = lazy_pattern(
    r"EnqueueNDRangeKernel|enqueueNDRange|[eE]nqueueTask|EnqueueArgs|enqueue_1d_range_kernel|\bcl::NDRange\b|\bNDRange\s*[({]|\bNDRange\s+\w+\s*[({;]"
    r"|KernelFunctor|make_kernel|enqueue_nd_range_kernel|enqueue_task|\bimport\b[^\n;]{0,200}\bpyopencl\b|\bfrom\s+pyopencl\b"
    r"|\b(?:ktt|cltune)::Tuner\b"
    r"|\b\w{0,40}(?:[rR]un|[lL]aunch|[eE]nqueue|[eE]xec)\w{0,40}\((?:\w{1,40},\s*)?\"\w{1,80}\",\s*[123],"
)
_BY_LIBRARY = lazy_pattern(r'\b(\w{1,80})\((?:\w{1,40},\s*)?"\w{1,80}",\s*[123],')
"""`run(queue, "kernel", 2, …)`: of a library that launches what it is given the name of."""
_HINTS = (
    '", 1,',
    '", 2,',
    '", 3,',
    "ktt::",
    "cltune::",
    "nqueue",
    "NDRange",
    "KernelFunctor",
    "make_kernel",
    "pyopencl",
)
_USES = lazy_pattern(rf"{_LAUNCH.pattern}|clCreateKernel|\bcl::Kernel\b")
_HINTS_OF_USES = (
    "nqueue",
    "NDRange",
    "KernelFunctor",
    "make_kernel",
    "pyopencl",
    "::Tuner",
    "clCreateKernel",
    "cl::Kernel",
)
_NUMBERED = lazy_pattern(r'",\s*[123],')
"""One of these stands wherever that is found."""
Scopes = tuple[frozenset[str], frozenset[str]]
"""The names of the namespaces, and of the classes, that a text opens or speaks of."""
_NAMESPACES = lazy_pattern(r"\bnamespace\s+(?:\w+::)*(\w+)\s*\{")
_CLASSES = lazy_pattern(r"\b(?:class|struct|union)\s+(\w+)")
_MAKES = lazy_pattern(r"\bmake_(?:unique|shared)\s*<\s*(?:\w+::)*(\w+)|\bnew\s+(?:\w+::)*(\w+)")
_MADE_BY = lazy_pattern(r"\b(\w+)(?:<[^<>;{}()\n]{0,80}>)?::~?\1\s*\(")
_INCLUDES = lazy_pattern(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
_WORDS = lazy_pattern(r"[A-Za-z_]\w*")
_HEADERS = lazy_pattern(r"(?:^|/)(?:(?:cl|opencl)[\d._-]{0,8}|cl_platform|cl_ext|cl_gl|cl_version)\.hp?p?$")
_GUARDS = lazy_pattern(r"^[ \t]*#[ \t]*ifndef[ \t]+(?:_*OPENCL_\w*H_*|CL_HPP_+)\s", re.MULTILINE)
"""What OpenCL's own headers are guarded by; a header of the project's own may have the name of one."""
_BOOST = lazy_pattern(r"/boost/(?:version|config|assert)\.hpp$")
"""Headers that most of Boost needs: a copy of parts of it has them too."""
_MAX_OVERLOADED = 4
"""Files that are looked at for what else a class has of the name of a template."""
_STANDARD = "std"
_LIBRARIES = frozenset(("cl", "compute", "std", "ktt", "cltune"))
"""Namespaces whose classes are known: those of OpenCL's bindings and of tuners."""


@dataclass(frozen=True, slots=True)
class HostFile:
    """One host file, parsed."""

    module: Module
    macros: Mapping[str, Macro]
    includes: tuple[str, ...]
    """Paths of the project's files that it includes, directly or not."""
    ended: Mapping[str, Sequence[tuple[Macro, int]]] = field(default_factory=dict)
    """Macros that it takes back by name, each with the row where it does."""

    def macro(self, name: str, row: int = 0) -> Macro | None:
        """Return what a macro stands for in a row: one that the file takes back stands until there."""
        known = (it for it, end in self.ended.get(name, ()) if it.row <= row < end)
        return next(known, None) or self.macros.get(name)


def _defined(module: Module, name: str, owner: str | None) -> list[Function]:
    """Return a file's functions of a name; the last of a class of Python takes the place of those before."""
    from clmap_lsp.hosts.by_name import methods_of, named

    found = methods_of(module, owner) if owner else named(module, name)
    found = [it for it in found if it.name == name and (owner is None or it.owner == owner)]
    if owner and _is_python(module.path) and not any(it.is_property for it in found):
        return found[-1:]
    return found


def _by_name(ended: Iterable[tuple[Macro, int]]) -> dict[str, list[tuple[Macro, int]]]:
    found: dict[str, list[tuple[Macro, int]]] = {}
    for macro, row in ended:
        found.setdefault(macro.name, []).append((macro, row))
    return found


_KERNEL_HEAD = lazy_pattern(r"(?<![\w.])(?:__)?kernel\s+(?:void\s|__attribute__)")


@dataclass(frozen=True, slots=True)
class KernelPlace:
    """A kernel in a file. `row` is that of its head."""

    path: str
    kernel: KernelText


@dataclass(frozen=True, slots=True)
class KeptKernel:
    """A kernel that host code keeps in a field of an object, and what puts it there.

    `name` is None where nobody knows it, `owner` the class of the method that runs, `holder` the field or
    variable that the object is.
    """

    name: Text | None
    sources: tuple[Text, ...]
    options: Text
    path: str
    owner: str
    holder: str
    program: str = ""
    """The field that its program was taken out of, where nothing is known to be in that."""
    element: str = ""
    """Which of several it is (`[1]`), where the field is an array."""
    of_this: bool = False
    """The field is one of the object whose method put the kernel there."""
    variable_of: str = ""
    """The file of the variable outside of functions that it was put into."""


@dataclass(slots=True, eq=False)
class KeptProgram:
    """A program that host code keeps in a field of an object; what it is built with may come later."""

    sources: tuple[Text, ...]
    options: Text
    path: str


class HostProject:
    """Host and kernel files below some folders. `read` returns a file's text, `None` if it has none."""

    def __init__(
        self,
        paths: Iterable[str],
        read: Callable[[str], str | None],
        defined: Mapping[str, str] | None = None,
        wrappers: Mapping[str, Mapping[str, int | str]] | None = None,
    ) -> None:
        self.paths = _without_boost(dict.fromkeys(map(_clean, paths)))
        self._read = read
        self.defined = dict(defined or {})
        self.wrappers = dict(wrappers or {})
        """For each function of the project's own that launches: which argument is what."""
        self._texts: dict[str, str | None] = {}
        self._files: dict[str, HostFile | None] = {}
        self._reading: set[str] = set()
        self._speaking: dict[str, list[str]] = {}
        """By word: the files that it stands in, of those that were looked through."""
        self._indexed: set[str] = set()
        self._indexed_around: set[tuple[str, bool]] = set()
        self._edited: set[str] = set()
        """Files whose text changed after they were looked through."""
        self._expressions: dict[str, Expr] = {}
        self._expansions: dict[int, tuple[Call, Expansion | None]] = {}
        self._macro_files: dict[str, tuple[Mapping[str, Macro], tuple[str, ...]]] = {}
        self._writes: dict[tuple[str, str], int] = {}
        self._ranked: dict[tuple[str, str], list[str]] = {}
        self._saying: dict[tuple[str, str], list[str]] = {}
        """By word and file: the file and those that it includes, as far as the word stands in them."""
        self._scopes: dict[str, tuple[str, Scopes]] = {}
        """By path: a text, and what it says of scopes."""
        self._launching: dict[str, tuple[str, bool]] = {}
        """By path: a text, and whether it has words in it that launch."""
        self._included_names: dict[str, tuple[str, list[str]]] = {}
        """By path: a text, and what it includes, as it is named there."""
        self.budget = Budget()
        self._know_no_runs()
        self._operators: dict[str, list[Function]] = {}
        """By the name of a variable or field: `operator()` of its class."""
        self._aliases: dict[str, dict[str, list[str]]] = {}
        """By file of Python: names of its own for functions, and what these are."""
        self._effects: dict[tuple[str, int], Writes] = {}
        self._reached: dict[tuple[str, int], frozenset[tuple[str, int]]] = {}
        self._neighbours: dict[tuple[str, bool], list[str]] = {}
        self._functions: dict[tuple[str, str, str | None], list[Function]] = {}
        self._completed: dict[int, tuple[Function, Function]] = {}
        self._class_named: dict[tuple[str, str], Class | None] = {}
        self._type_named: dict[tuple[str, str], str | None] = {}
        self._constant: dict[tuple[str, str], Expr | None] = {}
        self._variable: dict[tuple[str, str, str], tuple[str, Declare] | None] = {}
        self._given: dict[str, dict[str, list[Expr | None]]] = {}
        """By module of Python: what its statements give each name."""

    def _know_no_runs(self) -> None:
        """Make room for what runs of the program find out."""
        self.reaches: dict[tuple[str, int], bool] = {}
        """By file and row: whether OpenCL is called below a function."""
        self.reads: dict[tuple[str, int], bool] = {}
        """The same of what reads files."""
        self.kernels_in_fields: dict[str, list[KeptKernel]] = {}
        """By the name of a field: the kernels that runs put into it."""
        self.programs_in_fields: dict[str, list[KeptProgram]] = {}
        """The same of programs."""
        self.made: dict[str, tuple[Value, ...] | None] = {}
        """By the name of a class: what all runs gave its constructor alike, what they did not being open;
        `None` where its number differs, and nothing where some may have been missed."""
        self.constructed: dict[str, dict[tuple[Value, ...], None]] = {}
        """By the name of a class: what the first runs gave its constructor, whatever was missed."""
        self.launchers: dict[str, set[str]] = {}
        """By the name of a class of Python: its methods that launch by themselves."""
        self.too_long: set[tuple[str, int]] = set()
        """Short functions that call no OpenCL and took too much work to be run."""
        self.filled_in: dict[tuple[str, int], dict[str, set[str]]] = {}
        """By file and row of a formatted string of Python, or by the name of a file that is a template and 0:
        by name, all that runs put into it."""

    def has(self, path: str) -> bool:
        """Tell whether a file is one of the project's."""
        return path in self._path_set

    def forget(self, path: str) -> None:
        """Read a file again when it is next asked for: its text changed. What it says of names is dropped."""
        for texts in (self._texts, self._launching, self._included_names, self._scopes):
            texts.pop(path, None)
        self._edited.add(path)
        stale = {it for it in (*self._files, *self._macro_files) if path in (it, *self._includes_of(it))}
        for it in stale:
            self._files.pop(it, None)
            self._macro_files.pop(it, None)
        derived = (self._functions, self._class_named, self._type_named, self._constant, self._variable)
        for names in (
            *derived,
            self._writes,
            self._ranked,
            self._saying,
            self.reaches,
            self.reads,
            self.too_long,
            self.filled_in,
            self.kernels_in_fields,
            self.programs_in_fields,
            self.made,
            self.constructed,
            self.launchers,
            self._expansions,
            self._completed,
            self._operators,
            self._aliases,
            self._effects,
            self._reached,
            self._given,
        ):
            names.clear()
        for name in ("launching_files", "kernels"):
            self.__dict__.pop(name, None)

    def see(self, path: str, text: str) -> None:
        """Take a kernel file's text from an editor, where it may be newer than on the disk."""
        if self._texts.get(path) != text:
            self._texts[path] = text
            self.__dict__.pop("kernels", None)

    def unsee(self, path: str) -> None:
        """Drop a kernel file's text that is no longer in the editor: what is on the disk counts again."""
        if self._texts.pop(path, None) is not None:
            self.__dict__.pop("kernels", None)

    def _includes_of(self, path: str) -> tuple[str, ...]:
        file, macros = self._files.get(path), self._macro_files.get(path)
        return (*(file.includes if file is not None else ()), *(macros[1] if macros is not None else ()))

    # -------------------------------------------------------------------------------------------- files

    @lazy_property
    def host_files(self) -> tuple[str, ...]:
        """Host files by their suffix, OpenCL's own headers left out."""
        return tuple(
            it
            for it in self.paths
            if PurePath(it).suffix.lower() in HOST_SUFFIXES and not self._is_khronos(it)
        )

    def _is_khronos(self, path: str) -> bool:
        return bool(_HEADERS.search(path)) and bool(_GUARDS.search(self.text(path) or ""))

    @lazy_property
    def kernel_files(self) -> tuple[str, ...]:
        """Kernel files by their suffix."""
        return tuple(it for it in self.paths if PurePath(it).suffix.lower() in KERNEL_SUFFIXES)

    @lazy_property
    def launching_files(self) -> tuple[str, ...]:
        """Host files with words in them that launch kernels."""
        return tuple(it for it in self.host_files if self._may_launch(it))

    def _may_launch(self, path: str) -> bool:
        """Tell whether a file has words in it that launch; a text is looked through once."""
        text = self.text(path) or ""
        known = self._launching.get(path)
        if known is None or known[0] is not text:
            known = self._launching[path] = text, self._launches(text)
        return known[1]

    def library_launchers(self, path: str) -> frozenset[str]:
        """Return the functions of a file that perhaps launch a kernel which they are given the name of."""
        text = self.text(path) or ""
        return frozenset(_BY_LIBRARY.findall(text)) if any(it in text for it in _HINTS[:3]) else frozenset()

    def _launches(self, text: str) -> bool:
        """Tell whether a text has words in it that launch; most have none of which those are made."""
        may = any(it in text for it in (*_HINTS, *self.wrappers))
        return may and any(not _is_remark(text, it) for it in self._launches_pattern.finditer(text))

    @lazy_property
    def _launches_pattern(self) -> re.Pattern[str]:
        own = [rf"\b{re.escape(it)}\b" for it in self.wrappers]
        return re.compile("|".join([_LAUNCH.pattern, *own]))

    def launching_near(self, kernel_file: str, names: Iterable[str]) -> list[str]:
        """Return the host files that may launch what a kernel file defines.

        Those that lie beside it or close, and of those further away the ones that speak of its kernels or of
        the file by name; where what speaks of them launches nothing itself, the wrappers that it includes.
        """
        own = PurePath(kernel_file)
        words = (*names, own.name)
        found: list[str] = []
        speaking: list[str] = []
        for far, path in self._by_distance(kernel_file):
            checkpoint()
            if far > _FARTHEST_LAUNCH:
                break
            text = self.text(path)
            spoken = words if far <= _FAR_LAUNCH else (f"{own.parent.name}/{own.name}",)
            if text is not None and (far <= 1 or any(it in text for it in spoken)):
                (found if self._may_launch(path) else speaking).append(path)
        return list(dict.fromkeys((*found, *self._wrappers_of(speaking))))

    def _by_distance(self, kernel_file: str) -> list[tuple[int, str]]:
        """Return all host files with how many folders lie between, the nearest first."""
        far: dict[str, int] = {}  # By folder: there are few.
        found = []
        for path in self.host_files:
            folder = path.rpartition("/")[0]
            if folder not in far:
                far[folder] = distance(path, kernel_file)
            found.append((far[folder], path))
        return sorted(found)

    def _wrappers_of(self, paths: Iterable[str]) -> Iterator[str]:
        """Yield the files that launch behind a header that one of some files includes."""
        for path in paths:
            for name in self._names_included(path):
                header = self.included(name, path)
                stem = PurePath(name).stem
                beside = self._by_stem.get((os.path.dirname(header), stem), ()) if header else ()  # noqa: PTH120
                yield from filter(self._may_launch, beside)

    def _names_included(self, path: str) -> list[str]:
        """Return what a file includes, as it names that; a text is looked through once."""
        text = self.text(path) or ""
        known = self._included_names.get(path)
        if known is None or known[0] is not text:
            known = self._included_names[path] = text, _INCLUDES.findall(text)
        return known[1]

    @lazy_property
    def _by_stem(self) -> Mapping[tuple[str, str], list[str]]:
        result: dict[tuple[str, str], list[str]] = {}
        for path in self.host_files:
            result.setdefault((os.path.dirname(path), PurePath(path).stem), []).append(path)  # noqa: PTH120
        return result

    def text(self, path: str) -> str | None:
        """Return a file's text, read once; None where there is none, or where the budget is spent.

        Lines end as they do on Unix: those of a macro go on behind a backslash and a line feed.
        """
        if path not in self._texts:
            if self.budget.read <= 0:
                return None
            text = self._read(path)
            self.budget.take_read(len(text or ""))
            is_short = text is not None and len(text) <= MAX_CHARACTERS
            self._texts[path] = text.replace("\r\n", "\n") if text is not None and is_short else None
        return self._texts[path]

    def file(self, path: str) -> HostFile | None:
        """Return a host file, parsed once; None where it has no text, or where the budget is spent."""
        if path not in self._files:
            if not self.budget.take_parsed(len(self.text(path) or "")):
                return None
            self._files[path] = self._parsed(path)
        return self._files[path]

    def _parsed(self, path: str) -> HostFile | None:
        from clmap_lsp.hosts.c_reader import read_c
        from clmap_lsp.hosts.expansion import unfolded
        from clmap_lsp.hosts.macros import with_plain_arguments, with_semicolons
        from clmap_lsp.hosts.python_reader import read_python

        text = self.text(path)
        if text is None:
            return None
        if PurePath(path).suffix.lower() in PYTHON_SUFFIXES:
            return HostFile(read_python(text, path), {}, ())
        compiled = self._compiled(path, text, self.defined)
        if not _uses(compiled.text):
            # All launches are compiled out: let those in that a single option of the build would let in.
            missing = {name: "1" for line, names in compiled.left_out if _USES.search(line) for name in names}
            missing = missing or self._making_launchers(compiled)
            if missing:
                compiled = self._compiled(path, text, {**self.defined, **missing})
        written = with_plain_arguments(compiled.text, compiled.macros)
        module = read_c(with_semicolons(written, compiled.macros), path)
        module = replace(module, functions=tuple(self._of_namespaces(module, compiled)))
        file = HostFile(module, compiled.macros, tuple(compiled.includes), _by_name(compiled.ended))
        return replace(file, module=unfolded(module, file.macro))

    def _of_namespaces(self, module: Module, compiled: Compiled) -> Iterator[Function]:
        """Yield a file's functions: `size_t name::count()` is none of a class where `name` is a namespace."""
        owners = {it.owner for it in module.functions if it.owner not in module.classes} - {""}
        if not owners:
            yield from module.functions
            return
        said = [_scopes_in(compiled.text), *map(self._scopes_of, compiled.includes)]
        spaces = owners.intersection(*[set[str]().union(*(spaces for spaces, _ in said))])
        spaces = spaces.difference(*(classes for _, classes in said))
        for it in module.functions:
            is_free = it.owner in spaces
            space = "::".join(filter(None, (it.namespace, it.owner)))
            yield replace(it, owner="", namespace=space) if is_free else it

    def _scopes_of(self, path: str) -> Scopes:
        """Return what a file that is included says of scopes; it is asked for each file that includes it."""
        text = self.text(path) or ""
        known = self._scopes.get(path)
        if known is None or known[0] is not text:
            known = self._scopes[path] = text, _scopes_in(text)
        return known[1]

    def _making_launchers(self, compiled: Compiled) -> dict[str, str]:
        """Return the macros without which a file makes no object of a class that launches, though it may."""
        made = [
            (match[1] or match[2], names)
            for line, names in compiled.left_out
            for match in _MAKES.finditer(line)
            if names
        ]
        wanted = {name for name, _ in made} & self._launching_classes if made else frozenset()
        wanted = {it for it in wanted if not re.search(rf"\b{it}\b", compiled.text)}
        return {it: "1" for name, names in made if name in wanted for it in names}

    @lazy_property
    def _launching_classes(self) -> frozenset[str]:
        """Classes of C++ of which files that launch define constructors or destructors."""
        texts = (self.text(it) or "" for it in self.launching_files if not _is_python(it))
        return frozenset(it for text in texts for it in _MADE_BY.findall(text))

    def _compiled(self, path: str, text: str, defined: Mapping[str, str]) -> Compiled:
        from clmap_lsp.hosts.macros import compile_lines

        included: list[str] = []

        def include(name: str) -> Mapping[str, Macro]:
            found = self.included(name, path)
            is_read = found is None or found in self._reading or len(self._reading) >= _MAX_INCLUDED
            if found is None or is_read or self._is_khronos(found):
                return {}
            macros, below = self._macros_of(found)
            included.extend((found, *below))
            return macros

        if PurePath(path).suffix.lower() not in _C_ALONE:
            defined = {"__cplusplus": "201703L", **defined}
        self._reading.add(path)
        try:
            compiled = compile_lines(text, include, defined)
        finally:
            self._reading.discard(path)
        compiled.includes = list(dict.fromkeys(included))
        return compiled

    def _macros_of(self, path: str) -> tuple[Mapping[str, Macro], tuple[str, ...]]:
        if path not in self._macro_files:
            text = self.text(path)
            if text is None:
                return {}, ()
            compiled = self._compiled(path, text, self.defined)
            self._macro_files[path] = (compiled.macros, tuple(compiled.includes))
        return self._macro_files[path]

    def included(self, name: str, includer: str) -> str | None:
        """Return the project's file that an `#include` means: beside the includer, else the nearest."""
        name = name.replace("\\", "/")  # As on Windows.
        wanted = _clean(os.path.join(os.path.dirname(includer), name))  # noqa: PTH118, PTH120
        if wanted in self._path_set:
            return wanted
        tail = "/" + re.sub(r"^(?:\.\./)+", "", name)
        return self.nearest(
            (it for it in self._by_name.get(PurePath(name).name, ()) if it.endswith(tail)), includer
        )

    @lazy_property
    def _path_set(self) -> frozenset[str]:
        return frozenset(self.paths)

    @lazy_property
    def _by_name(self) -> Mapping[str, list[str]]:
        result: dict[str, list[str]] = {}
        for path in self.paths:
            result.setdefault(PurePath(path).name, []).append(path)
        return result

    def nearest(self, paths: Iterable[str], near: str, far: int = 1 << 30) -> str | None:
        """Return the path whose folder is nearest to that of `near`, if it is not too far."""
        found = min(paths, key=lambda it: (distance(it, near), it), default=None)
        return found if found is not None and distance(found, near) <= far else None

    def expression(self, text: str) -> Expr:
        """Return the body of a macro as an expression, parsed once."""
        if text not in self._expressions:
            from clmap_lsp.hosts.c_reader import read_c_expression

            self._expressions[text] = read_c_expression(text)
        return self._expressions[text]

    def expansion(self, macro: Macro, call: Call, path: str) -> Expansion | None:
        """Return what a use of a macro with parentheses in a file stands for, read once."""
        if id(call) not in self._expansions:
            from clmap_lsp.hosts.expansion import expanded

            file = self.file(path)
            macros = file.macros if file is not None else {}
            self._expansions[id(call)] = call, expanded(macro, call, macros)
        return self._expansions[id(call)][1]

    # -------------------------------------------------------------------------------------------- names

    def functions(self, name: str, near: str, owner: str | None = None) -> list[Function]:
        """Return the functions of a name in the nearest file that defines one."""
        key = (name, near, owner)
        if key not in self._functions:
            self._functions[key] = self._found_functions(name, near, owner)
        return self._functions[key]

    def functions_in(self, namespace: str, name: str, near: str, around: str) -> list[Function]:
        """Return the functions of a name in a namespace of C++, of the nearest file that has one.

        Several may end in the same name: what is meant shares most with that in which the call stands.
        """
        key = (name, near, f"{namespace}::{around}::")
        if key not in self._functions:
            self._functions[key] = self._found_in(namespace, name, near, around)
        return self._functions[key]

    def _found_in(self, namespace: str, name: str, near: str, around: str) -> list[Function]:
        from clmap_lsp.hosts.by_name import named

        for path in self.candidates(name, near):
            file = self.file(path)
            free = [it for it in (named(file.module, name) if file is not None else ()) if not it.owner]
            found = [it for it in free if f"::{it.namespace}".endswith(f"::{namespace}")]
            if found:
                shared = [_shared(it.namespace, around) for it in found]
                most = max(shared)
                best = [it for it, count in zip(found, shared, strict=True) if count == most]
                return [self._with_defaults(it) for it in best]
        return []

    def _found_functions(self, name: str, near: str, owner: str | None) -> list[Function]:
        # The constructor that Python makes for a record stands nowhere; that of another class is no use.
        for path in self.candidates(owner if owner and name in ("__init__", CALL_OPERATOR) else name, near):
            file = self.file(path)
            if file is None:
                continue
            found = _defined(file.module, name, owner)
            if found:
                return [self._with_defaults(it) for it in (*found, *self._overloads_of(found, owner))]
        return []

    def _overloads_of(self, found: Sequence[Function], owner: str | None) -> Iterator[Function]:
        """Yield what else a class of C++ has of a name: its templates stand in headers, others may not."""
        path, name = found[0].path, found[0].name
        if not owner or _is_python(path):
            return
        has_templates = any(it.templates for it in found)
        near = islice(self.candidates(name, path), _MAX_OVERLOADED) if has_templates else self._visible(path)
        for it in near:
            is_other = it != path and name in (self.text(it) or "")
            file = self.file(it) if is_other else None
            for each in _defined(file.module, name, owner) if file is not None else ():
                if has_templates or each.templates:
                    yield each

    def _with_defaults(self, function: Function) -> Function:
        """Return a function with the defaults that a header gives."""
        if _is_python(function.path) or not function.parameters:
            return function
        if id(function) not in self._completed:
            self._completed[id(function)] = function, self._completed_by_headers(function)
        return self._completed[id(function)][1]

    def _completed_by_headers(self, function: Function) -> Function:
        for path in self._visible(function.path):
            file = self.file(path)
            declared = file.module.defaults.get((function.owner, function.name)) if file is not None else None
            if declared is not None and [it.type for it in declared] == [
                it.type for it in function.parameters
            ]:
                both = zip(function.parameters, declared, strict=True)
                return replace(
                    function,
                    parameters=tuple(replace(one, default=one.default or two.default) for one, two in both),
                )
        return function

    def has_own(self, name: str, scope: str, near: str) -> bool:
        """Tell whether a class that a file names is the project's own and not the library's of that name."""
        if scope in _LIBRARIES:
            return False
        files = map(self.file, self._visible(near))
        return any(it is not None and name in it.module.classes for it in files)

    def class_named(self, name: str, near: str) -> Class | None:
        """Return the nearest class of a name."""
        if name == _STANDARD:
            return None
        cache = self._class_named
        key = (name, near)
        if key not in cache:
            cache[key] = None  # A `typedef` may go round in circles.
            cache[key] = self._find_class_named(name, near)
        return cache[key]

    def _find_class_named(self, name: str, near: str) -> Class | None:
        for path in self.candidates(name, near):
            file = self.file(path)
            if file is not None and name in file.module.classes:
                return file.module.classes[name]
        alias = (self.type_named(name, near) or "").removeprefix("struct ").strip()
        return self.class_named(alias, near) if alias.isidentifier() and alias != name else None

    def is_virtual(self, owner: str, name: str, near: str) -> bool:
        """Tell whether a class of C++ or one of its bases says that a method is virtual."""
        return any(True for _ in self._declaring(owner, name, near))

    def type_named(self, name: str, near: str) -> str | None:
        """Return what a `typedef` calls a name."""
        cache = self._type_named
        key = (name, near)
        if key not in cache:
            cache[key] = self._find_type_named(name, near)
        return cache[key]

    def _find_type_named(self, name: str, near: str) -> str | None:
        for path in self._visible(near):
            file = self.file(path)
            if file is not None and name in file.module.types:
                return file.module.types[name]
        return None

    def constant(self, name: str, near: str) -> Expr | None:
        """Return the value of an enumerator."""
        cache = self._constant
        key = (name, near)
        if key not in cache:
            cache[key] = self._find_constant(name, near)
        return cache[key]

    def _find_constant(self, name: str, near: str) -> Expr | None:
        for path in self.candidates(name, near):
            file = self.file(path)
            if file is not None and name in file.module.constants:
                return file.module.constants[name]
        return None

    def variable(self, name: str, near: str, scope: str = "") -> tuple[str, Declare] | None:
        """Return a variable outside of functions, with the file that defines it."""
        if (
            scope == _STANDARD
        ):  # Looking for `std::string` would parse all files around that speak of strings.
            return None
        cache = self._variable
        key = (name, near, scope)
        if key not in cache:
            cache[key] = self._find_variable(name, near, scope)
        return cache[key]

    def _find_variable(self, name: str, near: str, scope: str) -> tuple[str, Declare] | None:
        from clmap_lsp.hosts.tree import Declare

        declared: tuple[str, Declare] | None = None
        for path in self.candidates(name, near):
            file = self.file(path)
            if file is None or file.module.language != "c":
                continue
            hidden = path not in self._visible(near)
            found = [
                it
                for it in file.module.globals
                if isinstance(it, Declare) and it.name == name and not (hidden and _is_own(it, path))
            ]
            own = [it for it in found if it.scope == scope]
            if found and (own or len({it.scope for it in found}) == 1):
                given = next((it for it in own or found if it.value is not None), None)
                if given is not None:
                    return path, given
                declared = declared or (path, (own or found)[0])
                if not path.endswith(_HEADER_SUFFIXES):  # Where it is `extern`, another file says what it is.
                    break
        return declared

    def module_variable(self, name: str, near: str) -> tuple[str, str, Expr] | None:
        """Return what a module of Python gives a name, its own or one that it imports: file, name, value."""
        from clmap_lsp.hosts.walking import values_given

        for _ in range(4):
            file = self.file(near) if near else None
            if file is None:
                return None
            if near not in self._given:
                self._given[near] = values_given(file.module.globals)
            given = self._given[near].get(name, [])
            if given:
                return (near, name, given[0]) if len(given) == 1 and given[0] is not None else None
            means = file.module.imports.get(name)
            if means is None:
                stars = [it for key, (it, _) in file.module.imports.items() if key.startswith("*")]
                means = next(((it, name) for it in stars if self.module_file(it, near)), None)
            if means is None or not means[1]:
                return None
            near, name = self.module_file(means[0], near) or "", means[1]
        return None

    def imported_module(self, name: str, near: str) -> str | None:
        """Return the file of the module that a name of Python stands for."""
        file = self.file(near)
        module, inner = file.module.imports.get(name, ("", "")) if file is not None else ("", "")
        if not inner:
            return self.module_file(module, near) if module else None
        return self.module_file(f"{module}{'' if module.endswith('.') else '.'}{inner}", near)

    def library_name(self, name: str, near: str) -> tuple[str, str] | None:
        """Return the module and the name there of what Python takes out of a library, not of the project."""
        file = self.file(near)
        imports = file.module.imports if file is not None else {}
        own = imports.get(name)
        stars = [(it, name) for key, (it, _) in imports.items() if key.startswith("*")]
        found = [own] if own is not None else stars
        return next((it for it in found if it[1] and self.module_file(it[0], near) is None), None)

    def module_file(self, module: str, near: str) -> str | None:
        """Return the file of a module of Python as another one imports it."""
        parts = [it for it in module.split(".") if it]
        dots = len(module) - len(module.lstrip("."))
        folder = near
        for _ in range(dots):
            folder = os.path.dirname(folder)  # noqa: PTH120
        for tail in (f"{'/'.join(parts)}.py", "/".join((*parts, "__init__.py"))) if module else ():
            wanted = _clean(os.path.join(folder, tail)) if dots else ""  # noqa: PTH118
            if wanted in self._path_set:
                return wanted
            last = PurePath(tail).name
            found = [it for it in self._by_name.get(last, ()) if ("/" + it).endswith("/" + tail)]
            if found and not dots:
                return self.nearest(found, near)
        return None

    def effects(self, function: Function) -> Writes:
        """Return what a function may write, and the functions that it calls."""
        from clmap_lsp.hosts.walking import Writes, writes

        key = (function.path, function.row)
        if key not in self._effects:
            own = writes(function)
            names, members = set(own.names), set(own.fields)
            for it in self.called_below(function):
                below = writes(it)
                names |= below.names
                members |= below.fields
            self._effects[key] = Writes(frozenset(names), frozenset(members), own.parameters)
        return self._effects[key]

    def called_below(self, function: Function) -> list[Function]:
        """Return the functions of the project that a function calls, directly or not; a bounded number."""
        from clmap_lsp.hosts.walking import called_names

        found: dict[tuple[str, int], Function] = {}
        rest = [function]
        while rest and len(found) < _MAX_CALLED:
            it = rest.pop()
            for name in sorted(called_names(it)):  # Always the same, if not all are looked at.
                for below in self._perhaps_called(name, it):
                    if (below.path, below.row) not in found:
                        found[below.path, below.row] = below
                        rest.append(below)
        return list(found.values())

    def _perhaps_called(self, name: str, function: Function) -> Sequence[Function]:
        """Return the functions that a name in a function may mean, whatever it is called on."""
        from clmap_lsp.hosts.by_name import named

        found = self.functions(name, function.path) or self._operators.get(name, [])
        if not found and _is_python(function.path):
            found = [
                it
                for other in self._other_names(function.path).get(name, ())
                for it in self.functions(other, function.path)
            ]
        methods = [it for it in (function, *found[:1]) if it.owner and not _is_python(it.path)]
        declaring = {cls for it in methods for cls in self._declaring(it.owner, name, it.path)}
        if not declaring and (name != function.name or not function.owner):
            return found
        # A method that calls the one of its name of another object, a function, or what overrides a method.
        others = [it for path in self.candidates(name, function.path) if (it := self.file(path)) is not None]
        others_named = [it for each in others for it in named(each.module, name)]
        if name == function.name and function.owner:
            return others_named
        overriding = [it for it in others_named if declaring & set(self.with_bases(it.owner, it.path))]
        return [*found, *(it for it in overriding if it not in found)]

    def _other_names(self, path: str) -> Mapping[str, list[str]]:
        """Return what a module of Python calls by names of its own, as in `solve = solve_on_device`."""
        from clmap_lsp.hosts.tree import Assign, Evaluate, Name

        if path not in self._aliases:
            file = self.file(path)
            known = self._aliases[path] = {}
            for it in file.module.globals if file is not None else ():
                match it:
                    case Evaluate(value=Assign(target=Name(alias), op="", value=Name(name))):
                        known.setdefault(alias, []).append(name)
        return self._aliases[path]

    def _declaring(self, owner: str, name: str, near: str) -> Iterator[str]:
        """Yield the classes of C++, one and its bases, that say that a method is virtual."""
        for it in self.with_bases(owner, near):
            cls = self.class_named(it, near)
            if cls is not None and name in cls.virtual:
                yield it

    def with_bases(self, owner: str, near: str, depth: int = 0) -> Iterator[str]:
        """Yield a class and its bases, as far as they are known."""
        cls = self.class_named(owner, near) if owner and depth < _MAX_BASES else None
        if cls is not None:
            yield owner
            for it in cls.bases:
                yield from self.with_bases(it, near, depth + 1) if it != owner else ()

    def called_as(self, function: Function) -> frozenset[str]:
        """Return the names by which a function is called: for `operator()`, those of its class's objects.

        From then on, who calls such an object is known to call the function.
        """
        if function.name != CALL_OPERATOR:
            return frozenset((function.name,))
        from clmap_lsp.hosts.walking import declared_with

        names: set[str] = set()
        for path in self.candidates(function.owner, function.path):
            file = self.file(path)
            names |= declared_with(file.module, function.owner) if file is not None else set()
        for it in names:
            self._operators.setdefault(it, []).append(function)
        return frozenset(names)

    def written_apart(self, name: str, entry: Function) -> bool:
        """Tell whether a function that nothing calls from `entry`, such as a callback, writes a variable."""
        from clmap_lsp.hosts.walking import writes

        file = self.file(entry.path)
        if file is None:
            return True
        key = (entry.path, entry.row)
        if key not in self._reached:
            below = self.called_below(entry)
            self._reached[key] = frozenset((it.path, it.row) for it in (entry, *below))
        reached = self._reached[key]
        return any(
            name in writes(it).names or name in writes(it).fields
            for it in file.module.functions
            if (it.path, it.row) not in reached
        )

    def macro(self, name: str, near: str, row: int = 0) -> Macro | None:
        """Return what a macro stands for in a row of a file."""
        file = self.file(near)
        return file.macro(name, row) if file is not None else None

    def writes(self, name: str, near: str) -> int:
        """Return how often the files around change a variable of this name, its declaration not counted."""
        folder = os.path.dirname(near)  # noqa: PTH120
        key = (name, folder)
        if key not in self._writes:
            word = re.escape(name)
            pattern = re.compile(
                rf"\b{word}\s*(?:\[[^\]\n]{{0,80}}\]\s*)?(?:[-+*/%|&^]|<<|>>)?=(?!=)"
                rf"|\+\+\s*{word}\b|\b{word}\s*(?:\+\+|--)|--\s*{word}\b|(?<!&)&\s*(?:\w+(?:\.|->))*{word}\b|>>\s*{word}\b"
            )
            if _is_python(near):  # Keywords of calls look like assignments.
                pattern = re.compile(rf"\.{word}\s*(?:[-+*/%|&@]|//|\*\*|<<|>>)?=(?!=)")
            declared = re.compile(rf"\b[A-Za-z_]\w*[\s*&]+{word}\s*(?:\[[^\]\n]{{0,80}}\]\s*)?=(?!=)")
            total = 0
            for path in self._around(near):
                text = self.text(path)
                if text is None:
                    total += 2  # Nobody knows: no value may be claimed to be the same in every run.
                elif name in text:
                    lines = _lines_around(text, name)
                    total += len(pattern.findall(lines)) - len(declared.findall(lines))
            self._writes[key] = total
        return self._writes[key]

    def _around(self, near: str) -> Iterator[str]:
        limit = 3
        for path in self._close(near):
            if distance(path, near) > limit:
                break
            yield path

    def _visible(self, near: str) -> list[str]:
        file = self.file(near)
        return [near, *(file.includes if file is not None else ())]

    def candidates(self, name: str, near: str) -> Iterator[str]:
        """Yield files that may define a name, nearest first."""
        visible = self._visible(near)
        said = self._saying.get((name, near))
        if said is None:
            said = [it for it in visible if name in (self.text(it) or "")]
            if self._files.get(near) is not None:  # Else a budget was spent: there may be more later.
                self._saying[name, near] = said
        yield from said
        key = (name, os.path.dirname(near))  # noqa: PTH120
        if key not in self._ranked:
            apart = sorted((distance(it, near), it) for it in self._with_word(name, near))
            self._ranked[key] = [it for far, it in apart if far <= _FAR][:_MAX_LOOKED_AT]
        for path in self._ranked[key]:
            if path not in visible:
                yield path

    def _with_word(self, word: str, near: str) -> list[str]:
        """Return the files of the same language in which a word stands."""
        self._look_through(near)
        edited = [it for it in sorted(self._edited & self._indexed) if word in (self.text(it) or "")]
        found = [*(it for it in self._speaking.get(word, ()) if it not in self._edited), *edited]
        return [it for it in found if _is_python(it) == _is_python(near)]

    def _look_through(self, near: str) -> None:
        """Note the words of the files around one, once: names are looked up by the thousand."""
        key = (os.path.dirname(near), _is_python(near))  # noqa: PTH120
        if key in self._indexed_around:
            return
        self._indexed_around.add(key)
        for path in self._close(near):
            if path not in self._indexed:
                checkpoint()
                self._indexed.add(path)
                for word in set(_WORDS.findall(self.text(path) or "")):
                    self._speaking.setdefault(sys.intern(word), []).append(path)

    def _close(self, near: str) -> list[str]:
        """Return the files of the same language whose folders are not too far, nearest first."""
        key = (os.path.dirname(near), _is_python(near))  # noqa: PTH120
        if key not in self._neighbours:
            apart = [(it, distance(it, near)) for it in self.host_files if _is_python(it) == key[1]]
            close = sorted((far, it) for it, far in apart if far <= _FAR)
            self._neighbours[key] = [it for _, it in close]
        return self._neighbours[key]

    # ------------------------------------------------------------------------------------------ kernels

    @lazy_property
    def kernels(self) -> Mapping[str, list[KernelPlace]]:
        """Kernels in kernel files, by name."""
        result: dict[str, list[KernelPlace]] = {}
        for path in self.kernel_files:
            for kernel in self.kernels_of(path):
                result.setdefault(kernel.name, []).append(KernelPlace(path, kernel))
        return result

    @lazy_property
    def kernels_in_strings(self) -> Mapping[str, list[KernelPlace]]:
        """Kernels in strings of host files, by name; looked for where no kernel file has a name."""
        result: dict[str, list[KernelPlace]] = {}
        for path in self.host_files:
            if _KERNEL_HEAD.search(self.text(path) or ""):
                for kernel in self.kernels_of(path):
                    result.setdefault(kernel.name, []).append(KernelPlace(path, kernel))
        return result

    def kernels_of(self, path: str) -> list[KernelText]:
        """Return the kernels that a file defines."""
        text = self.text(path)
        return list(kernels_in(text)) if text is not None else []

    def kernel_file(self, name: str, near: str) -> str | None:
        """Return the kernel file that a program means by a name such as `src/kernel.cl`."""
        return next(iter(self.kernel_files_named(name, near)), None)

    def kernel_files_named(self, name: str, near: str) -> list[str]:
        """Return the kernel files that a program may mean, the nearest first.

        In a name such as `src/{real,complex}/*.cl` a part depends on the run: it means all that there are.
        """
        name = name.replace("\\", "/")
        parts = [it for it in PurePath(name).parts if it not in (".", "..", "/")]
        for keep in range(len(parts)):
            tail = "/".join(parts[keep:])
            if not _HOLE.search(tail):
                found = self.nearest(
                    (it for it in self._by_name.get(parts[-1], []) if ("/" + it).endswith("/" + tail)), near
                )
                if found is not None:
                    return [found]
            elif not tail.startswith("*"):
                several = self._matching(tail, near)
                if several:
                    return several
        return []

    def _matching(self, tail: str, near: str) -> list[str]:
        """Return the files whose path ends as a pattern says, of those below the folder of the nearest."""
        pattern = re.compile(_HOLE.sub(_as_pattern, re.escape(tail).replace(r"\*", "*")))
        depth = tail.count("/") + 1
        ends = {
            it: it.rsplit("/", depth)[0]
            for it in self.kernel_files
            if pattern.fullmatch("/".join(it.split("/")[-depth:]))
        }
        nearest = self.nearest(ends, near)
        found = [it for it in ends if nearest is not None and ends[it] == ends[nearest]]
        return sorted(found, key=lambda it: (it != nearest, it))[:_MAX_MEANT]


_HOLE = lazy_pattern(r"\*|\\?\{([^{}]*)\\?\}")


def _as_pattern(hole: re.Match[str]) -> str:
    named = hole[1]
    return r"[^/]+" if named is None else f"(?:{named.replace(',', '|').rstrip(chr(92))})"


def read_project(
    paths: Iterable[str],
    read: Callable[[str], str | None],
    defined: Mapping[str, str] | None = None,
    wrappers: Mapping[str, Mapping[str, int | str]] | None = None,
) -> HostProject:
    """Return the project of these files; nothing is read before it is asked for."""
    return HostProject(paths, read, defined, wrappers)


def _uses(text: str) -> bool:
    """Tell whether a text launches or makes kernels; most have nothing in them that those words hold."""
    may = any(it in text for it in _HINTS_OF_USES) or _NUMBERED.search(text) is not None
    return may and _USES.search(text) is not None


def _scopes_in(text: str) -> Scopes:
    return frozenset(_NAMESPACES.findall(text)), frozenset(_CLASSES.findall(text))


def _is_remark(text: str, match: re.Match[str]) -> bool:
    """Tell whether a line of a comment speaks of something, as OpenCL's own headers of built-ins do."""
    before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()].lstrip()
    return before.startswith(("* ", "//", "/*"))


def _is_own(declare: Declare, path: str) -> bool:
    """Tell whether a variable is seen in its own file alone: static ones, and constants of C++."""
    is_constant = declare.is_constant and not declare.is_pointer
    return declare.is_static or (is_constant and PurePath(path).suffix.lower() in _OWN_CONSTANTS)


def _lines_around(text: str, word: str) -> str:
    """Return the lines of a text in which a word stands, each with those before and behind it."""
    if not word:  # Of a field whose name is missing: it would stand everywhere.
        return ""
    pieces: list[str] = []
    done, at = 0, text.find(word)
    while at != -1:
        start = text.rfind("\n", 0, max(text.rfind("\n", 0, at), 0)) + 1
        stop = text.find("\n", text.find("\n", at) + 1) if text.find("\n", at) != -1 else -1
        stop = stop if stop != -1 else len(text)
        if start > done:
            pieces.append("\n;\n")
        pieces.append(text[max(start, done) : stop])
        done = stop
        at = text.find(word, done)
    return "".join(pieces)


def _is_python(path: str) -> bool:
    return path.lower().endswith(".py")


def _clean(path: str) -> str:
    return os.path.normpath(path).replace("\\", "/")


def _without_boost(paths: Iterable[str]) -> tuple[str, ...]:
    """Return paths without those of a copy of Boost, whose classes are known and which takes minutes."""
    known = tuple(paths)
    copies = tuple({it[: it.rindex("/") + 1] for it in known if _BOOST.search(it)})
    return tuple(it for it in known if not it.startswith(copies)) if copies else known


def distance(one: str, two: str) -> int:
    """Return how many folders lie between two files."""
    a, b = one.split("/")[:-1], two.split("/")[:-1]
    shared = 0
    for left, right in zip(a, b, strict=False):
        if left != right:
            break
        shared += 1
    return len(a) + len(b) - 2 * shared


def _shared(one: str, other: str) -> int:
    """Return how many outer namespaces are the same."""
    both = zip(one.split("::"), other.split("::"), strict=False)
    return sum(1 for _ in takewhile(lambda it: it[0] == it[1], both))
