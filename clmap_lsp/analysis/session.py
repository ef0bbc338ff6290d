"""Analyse files again and again, redoing only the kernels whose content changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.analysis.content import KeptBySize, Moved, ProgramContent
from clmap_lsp.analysis.images import ImageAnalysis
from clmap_lsp.analysis.kernel import analyse_kernel
from clmap_lsp.analysis.launching import KnownLaunches, LaunchSources
from clmap_lsp.analysis.model import AccessAnalysis, FileAnalysis, KernelAnalysis
from clmap_lsp.interruption import checkpoint
from clmap_lsp.launch.model import Launch
from clmap_lsp.launch.problem import LaunchProblem
from clmap_lsp.source.per_kernel import n_statements

if TYPE_CHECKING:
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.source.ir import Kernel
    from clmap_lsp.source.options import BuildOptions
    from clmap_lsp.source.program import Program


MOST_KEPT = 100_000
"""Of all kernels that are kept together, in statements, which take some 0.4 to 0.8 KB each: 80 MB at most."""
_ACCESS = 10
"""What is known of an access takes as much as so many statements."""
_SYMBOLS = 10
"""So many symbols that an index depends on take as much as a statement: in ciphers there are thousands."""


class AnalysisSession:
    """Keeps the results of kernels by what they follow from: content, build options, launch, device.

    Not safe for several threads at once.
    """

    def __init__(self, kept_kernels: int = 512) -> None:
        self._kept_kernels = kept_kernels
        self._kernels: KeptBySize[KernelAnalysis] = KeptBySize(kept_kernels, MOST_KEPT, _size)
        self._launches = KnownLaunches(kept_kernels)
        self.n_analysed = 0
        """Kernels that were really analysed so far; for tests and debug information."""

    def analyse(
        self,
        program: Program,
        device: DeviceModel,
        sources: LaunchSources = LaunchSources(),  # noqa: B008 - frozen
        *,
        options: BuildOptions | None = None,
        only: str | None = None,
        without: frozenset[str] = frozenset(),
        on_kernel: Callable[[KernelAnalysis], None] | None = None,
        says_general: bool = True,
    ) -> FileAnalysis:
        """Analyse the kernels of a program.

        Args:
            sources: what says how kernels are launched, beside the comments of the program.
            options: the build options that the program was read with; only what is kept depends on them.
            only: leave out every other kernel.
            without: leave out these kernels.
            on_kernel: called with each kernel as soon as it is analysed.
            says_general: also say what accesses cost for every value of the scalars, and in other groups.
        """
        content = ProgramContent(program)
        self._kernels.least = len(program.kernels)
        self._kernels.limit = max(self._kept_kernels, 2 * len(program.kernels))
        kernels = []
        for kernel in program.kernels:
            if kernel.name in without or only not in (None, kernel.name):
                continue
            checkpoint()
            own = content.key(kernel), options
            launch = self._launches.launch_of(program, kernel, sources, own)
            key = (*own, _launch_key(launch), device, says_general)
            kernels.append(self._kernel(key, program, kernel, launch, device, says_general=says_general))
            if on_kernel is not None:
                on_kernel(kernels[-1])
        return FileAnalysis(program.path, device, tuple(kernels))

    def forget(self, path: str) -> None:
        """Drop the results of a file's kernels: they hold all of its text."""
        dropped = [key for key, it in self._kernels.items() if it.span.path == path]
        for key in dropped:
            del self._kernels[key]
        self._launches.forget({_of_kernel(key) for key in dropped} - set(map(_of_kernel, self._kernels)))

    def forget_all(self) -> None:
        """Drop all results."""
        self._kernels.clear()
        self._launches.forget_all()

    def _kernel(
        self,
        key: object,
        program: Program,
        kernel: Kernel,
        launch: Launch | LaunchProblem,
        device: DeviceModel,
        *,
        says_general: bool,
    ) -> KernelAnalysis:
        known = self._kernels.get(key)
        problem = launch if isinstance(launch, LaunchProblem) else None
        usable = None if isinstance(launch, LaunchProblem) else launch
        if known is None:
            self.n_analysed += 1
            problems = () if problem is None else (str(problem),)
            found = analyse_kernel(
                kernel, usable, problems, device, program.constants, says_general=says_general
            )
            return self._kernels.keep(key, replace(found, content=key))
        if known.kernel is kernel:
            self._kernels.used(key)
            return known
        return self._kernels.keep(key, _moved(known, kernel, usable))


def _size(found: KernelAnalysis) -> int:
    """Return how large a result is, in statements."""
    accesses = [*found.accesses, *found.unreached]
    n_symbols = sum(len(it.access.index.leaves) for it in accesses if it.access.index is not None)
    return n_statements(found.kernel) + _ACCESS * len(accesses) + n_symbols // _SYMBOLS


def _moved(known: KernelAnalysis, kernel: Kernel, launch: Launch | None) -> KernelAnalysis:
    """Return a result with the places of the kernel as it stands now."""
    moved = Moved(known.kernel, kernel)
    accesses = tuple(_at_new_place(it, moved) for it in known.accesses)
    unreached = tuple(_at_new_place(it, moved) for it in known.unreached)
    images = tuple(_image_at_new_place(it, moved) for it in known.images)
    return replace(known, kernel=kernel, launch=launch, accesses=accesses, unreached=unreached, images=images)


def _image_at_new_place(known: ImageAnalysis, moved: Moved) -> ImageAnalysis:
    access = moved.access(known.access)
    return replace(known, access=access, classified=replace(known.classified, access=access))


def _at_new_place(known: AccessAnalysis, moved: Moved) -> AccessAnalysis:
    access = moved.access(known.access)
    classified = None if known.classified is None else replace(known.classified, access=access)
    return replace(known, access=access, classified=classified)


def _of_kernel(key: object) -> object:
    """Return what stands for the kernel's text and options in the key of a result."""
    assert isinstance(key, tuple)
    return key[:2]


def _launch_key(launch: Launch | LaunchProblem) -> object:
    return str(launch) if isinstance(launch, LaunchProblem) else launch.fingerprint()
