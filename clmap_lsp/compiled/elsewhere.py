"""What a confined process may not do itself, and asks the process that started it for: running compilers.

LLVM's back ends and NVIDIA's assembler run in processes of their own, and a confined process starts none. The
texts that it hands over are data to those programs, whoever made them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Asker = Callable[[str, Mapping[str, str]], Mapping[str, Any]]
"""Takes what is asked for and its texts, returns what came of it."""
_asker: Asker | None = None


def hand_over(asker: Asker | None) -> None:
    """From now on ask `asker`, where this process may start no others."""
    global _asker  # noqa: PLW0603 - a fact about the process
    _asker = asker


def asked(kind: str, request: Mapping[str, str]) -> Mapping[str, Any] | None:
    """Return what another process made of a request; `None` where this one does such things itself."""
    return None if _asker is None else _asker(kind, request)


def answer(kind: object, request: object) -> dict[str, Any]:
    """Do what a confined process asks for. It may have been taken over: its words are checked."""
    if not isinstance(request, Mapping) or not all(isinstance(it, str) for it in request.values()):
        return {"error": "a request that is none"}
    texts: Mapping[str, str] = request
    match kind:
        case "assembly" if {"triple", "cpu", "features", "text"} == set(texts) - {"asks"}:
            from clmap_lsp.compiled.backend import BackendError, assembled

            try:
                return dict(assembled(texts))
            except BackendError as error:
                return {"error": str(error)}
        case "registers" if {"text", "cpu"} == set(texts):
            from clmap_lsp.compiled.ptxas import assemble

            found = assemble(texts["text"], texts["cpu"])
            return {} if found is None else {"registers": found.registers, "spills": found.spill_bytes}
    return {"error": "a request that is none"}
