"""Images that are windows over others, as the filter of a convolution is: small ones, whatever the launch."""

from __future__ import annotations

from collections.abc import Iterable

from clmap_lsp.launch.forms import Forms
from clmap_lsp.launch.image import QUERIES
from clmap_lsp.source import ir
from clmap_lsp.source.ir import Variable
from clmap_lsp.source.per_kernel import per_kernel

_QUERIES = frozenset((*QUERIES, "get_image_dim"))


@per_kernel
def find_windows(kernel: ir.Kernel) -> frozenset[Variable]:
    """Return the images that loops walk on both sides of something: `for (i = -w / 2; i <= w / 2; i++)`."""
    if not any(it.name in _QUERIES for it in ir.all_expressions(kernel.body) if isinstance(it, ir.Builtin)):
        return frozenset()
    forms = Forms.of(kernel)
    found: set[Variable] = set()
    for loop in ir.walk(kernel.body):
        if isinstance(loop, ir.Loop) and isinstance(loop.condition, ir.Compare):
            sides = loop.condition.left, loop.condition.right
            for counted, bound in (sides, sides[::-1]):
                counter = forms.origin(counted)
                if counter is not None and counter in forms.stepped:
                    starts = [it for it in forms.assigned.get(counter, ()) if not _reads(it, counter)]
                    found |= _asked(starts, forms) & _asked([bound], forms)
    return frozenset(found)


def _asked(values: Iterable[ir.Expression], forms: Forms) -> set[Variable]:
    """Return the images whose sides go into some values."""
    found: set[Variable] = set()
    followed: set[Variable] = set(forms.stepped)
    waiting = list(values)
    while waiting:
        for node in ir.nodes(waiting.pop()):
            match node:
                case ir.Builtin(name=name, arguments=(ir.Read(variable=image), *_)) if name in _QUERIES:
                    found.add(image)
                case ir.Read(variable=variable) if variable not in followed:
                    followed.add(variable)
                    known = forms.assigned.get(variable, ())
                    waiting += known if len(known) == 1 else ()
                case _:
                    pass
    return found


def _reads(value: ir.Expression, variable: Variable) -> bool:
    return any(isinstance(it, ir.Read) and it.variable is variable for it in ir.nodes(value))
