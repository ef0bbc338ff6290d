"""Holds what we say of statements that are wrong, or odd, in hundreds of ways against what clang says.

    python -m benchmarks.wrong_statements

Each line of `wrong_statements.txt` is put into a kernel, or behind `file:` into a file of its own (behind
`file CL2.0:` one of that version), with `⏎` for a new line, and both should find an error in it, within one
line of each other, or none. Names that nothing defines, and types that an extension's pragma allows, are
errors to clang and warnings to us: the host may define the one, and compilers differ in the other.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.clang_truth import first_error, parsed
from benchmarks.language_truth import read
from clmap_lsp.source.ir import Severity

STATEMENTS = Path(__file__).with_name("wrong_statements.txt")
DECLARATIONS = """\
typedef struct { float x; int n; float4 v; } point_t;
typedef enum { RED, GREEN } colour_t;
float helper(float a, int b) { return a * b; }
int plain(void) { return 1; }
__constant float table[4] = {1, 2, 3, 4};
"""
HEAD = f"""{DECLARATIONS}\
__kernel void k(__global float *out, __global const float4 *in, __local float *tile, __constant int *c,
                int n, float f,
                read_only image2d_t img, write_only image2d_t dst, sampler_t smp, point_t p)
{{
    int i = get_global_id(0); float g = 0; float4 v = in[i]; int4 iv = (int4)(1);
    uint u = 3; __local float buf[16]; float arr[4];
    __global float *gp = out; __private int *pp = &i; double d;
    half *hp; uchar4 uc = (uchar4)(1); float2 v2; bool b = true;
"""
TAIL = """
    out[i] = g;
}
__kernel void after(__global int *o) { o[0] = 1; }
"""
PATH = Path("statement.cl")


def as_file(statement: str) -> tuple[str, str]:
    """Return the text that a line stands for, and the version of OpenCL C that it is of."""
    where, colon, rest = statement.partition(": ")
    if not colon or not where.startswith("file"):
        return f"{HEAD}    {statement}{TAIL}".replace("⏎", "\n"), "CL1.2"
    text = f"{DECLARATIONS}{rest}\n__kernel void after(__global int *o) {{ o[0] = 1; }}\n"
    return text.replace("⏎", "\n"), where.removeprefix("file").strip() or "CL1.2"


def first_of_ours(text: str, standard: str) -> tuple[int, str] | None:
    """Return the row of our first error, and what it says."""
    index = read(PATH, text, standard)
    said = [(it.span, it.issue.severity, it.issue.message) for it in index.issues]
    said += [(it.span, it.severity, it.message) for it in index.problems]
    file = index.files[str(PATH)]
    found = [(file.position(at.start).row, what) for at, how, what in said if how is Severity.ERROR]
    return min(found, default=None)


def main() -> None:
    statements = STATEMENTS.read_text("utf-8").splitlines()
    n_same = 0
    for it in statements:
        text, standard = as_file(it)
        ours, theirs = first_of_ours(text, standard), first_error(parsed(PATH, text, standard), PATH)
        if (ours is None) == (theirs is None) and (
            ours is None or theirs is None or abs(ours[0] - theirs.row) <= 1
        ):
            n_same += 1
        else:
            print(f"{it:50} {ours and ours[1]} | clang: {theirs and theirs.message}")
    print(f"{n_same} of {len(statements)}")


if __name__ == "__main__":
    main()
