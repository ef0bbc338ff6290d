"""The process that runs LLVM's optimiser and back ends: a fatal error inside LLVM ends only this.

What it compiles may come from a stranger, by way of a process that may have been taken over: it is confined.

Started as `python -m clmap_lsp.compiled.child [OPTION…]`, options being LLVM's. One JSON object a line comes
in, one goes out: `triple`, `cpu`, `features`, `text` for `asm` or `error`; with `asks` being `arrays`, for
`private`: the bytes of the arrays that the optimiser leaves in memory, without writing code.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import llvmlite.binding as llvm

from clmap_lsp.compiled.target import NVIDIA_OPTIONS
from clmap_lsp.sandbox.confined import confine

_ARRAY = re.compile(r" = alloca (.+?), align (\d+)")


def compile_text(request: dict[str, Any]) -> dict[str, str]:
    """Return the assembly of a module, or what it keeps in memory. Raises: RuntimeError."""
    target = llvm.Target.from_triple(request["triple"])
    machine = target.create_target_machine(cpu=request["cpu"], features=request["features"], opt=3)
    text = request["text"].replace(
        'target datalayout = ""', f'target datalayout = "{machine.target_data}"', 1
    )
    module = llvm.parse_assembly(text)
    module.verify()
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    passes.getModulePassManager().run(module, passes)
    if request.get("asks") == "arrays":
        return {"private": str(_arrays(module, str(machine.target_data)))}
    return {"asm": str(machine.emit_assembly(module))}


def _arrays(module: Any, layout: str) -> int:
    """Return the bytes of a frame that holds what is left of a module's arrays, one behind the other."""
    size, widest = 0, 1
    for line in str(module).splitlines():
        if found := _ARRAY.search(line):
            alignment = int(found[2])
            one = llvm.parse_assembly(f'target datalayout = "{layout}"\n@one = external global {found[1]}')
            kind = one.get_global_variable("one").global_value_type
            size = -(-size // alignment) * alignment + llvm.create_target_data(layout).get_abi_size(kind)
            widest = max(widest, alignment)
    return -(-size // widest) * widest


def main() -> None:
    """Serve requests until standard input ends."""
    for option in (*NVIDIA_OPTIONS, *sys.argv[1:]):
        llvm.set_option("clmap-lsp", option)
    # NVIDIA's compiler unrolls loops of unknown length by 4, where LLVM alone would take up to 8.
    llvm.set_option("clmap-lsp", "-unroll-max-count=4")
    llvm.set_option("clmap-lsp", "-nvptx-short-ptr")  # Local addresses have 32 bits in machine code.
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    confine()
    for line in sys.stdin:
        try:
            answer = compile_text(json.loads(line))
        except RuntimeError as error:
            answer = {"error": str(error)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
