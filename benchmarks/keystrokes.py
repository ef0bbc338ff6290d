"""Write recordings for `benchmarks.replay`: a person typing into a large file, hovering and looking around.

    python -m benchmarks.keystrokes session.jsonl                       200 edits at 20 a second
    python -m benchmarks.keystrokes long.jsonl --edits 20000 --rate 60  hours of work in minutes

The file has as many kernels as asked for, of six shapes that fixtures and public kernels have: matrix
multiply, transpose through local memory, stencil, reduction, gather, convolution with a macro.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

KERNELS = (
    """\
// clmap: global=256,256 local=16,16 N=256
__kernel void multiply_@(__global const float *A, __global const float *B, __global float *C, const int N)
{
    const int row = get_global_id(1);
    const int column = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < N; k++)
        sum += A[row * N + k] * B[k * N + column];
    C[row * N + column] = sum * 1.0f;
}
""",
    """\
// clmap: global=256,256 local=16,16 width=256
__kernel void transpose_@(__global const float *in, __global float *out, const int width)
{
    __local float tile[TILE][TILE + 1];
    const int lx = get_local_id(0), ly = get_local_id(1);
    const int gx = get_group_id(0) * TILE, gy = get_group_id(1) * TILE;
    tile[ly][lx] = in[(gy + ly) * width + gx + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(gx + ly) * width + gy + lx] = tile[lx][ly] * 1.0f;
}
""",
    """\
// clmap: global=256,256 local=32,4 width=256
__kernel void stencil_@(__global const float *in, __global float *out, const int width)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x > 0 && y > 0 && x < width - 1 && y < width - 1) {
        float sum = in[y * width + x];
        sum += in[y * width + x - 1] + in[y * width + x + 1];
        sum += in[(y - 1) * width + x] + in[(y + 1) * width + x];
        out[y * width + x] = sum * 1.0f;
    }
}
""",
    """\
// clmap: global=4096 local=256 count=4096
__kernel void reduce_@(__global const float *in, __global float *sums, const int count)
{
    __local float partial[256];
    const int lane = get_local_id(0);
    const int i = get_global_id(0);
    partial[lane] = i < count ? in[i] * 1.0f : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 128; step > 0; step >>= 1) {
        if (lane < step)
            partial[lane] += partial[lane + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0)
        sums[get_group_id(0)] = partial[0];
}
""",
    """\
// clmap: global=4096 local=64 index=permutation(4096)
__kernel void gather_@(__global const float4 *in, __global const int *index, __global float *out)
{
    const int i = get_global_id(0);
    const float4 value = in[index[i]];
    out[2 * i] = value.x + value.y * 1.0f;
    out[2 * i + 1] = value.z + value.w;
}
""",
    """\
// clmap: global=1024 local=128 count=1024
__kernel void convolve_@(__global const float *in, __constant float *weights, __global float *out,
                         const int count)
{
    const int i = get_global_id(0);
    float sum = 0.0f;
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += weights[k + RADIUS] * in[CLAMP(i + k, count)] * 1.0f;
    out[i] = sum;
}
""",
)
HEAD = """\
// Typed into by benchmarks/keystrokes.py.
#define TILE 16
#define RADIUS 4
#define CLAMP(i, n) ((i) < 0 ? 0 : (i) >= (n) ? (n) - 1 : (i))

"""
URI = "file:///clmap-replay/typed.cl"


def source(kernels: int, lines: int) -> str:
    """Return a file of at least so many lines: kernels with comments between them."""
    parts = [HEAD]
    n_lines = HEAD.count("\n")
    for number in range(kernels):
        kernel = KERNELS[number % len(KERNELS)].replace("@", str(number))
        parts.append(kernel)
        n_lines += kernel.count("\n")
        wanted = HEAD.count("\n") + (lines - HEAD.count("\n")) * (number + 1) // kernels
        filler = max(1, wanted - n_lines)
        parts.append("\n" + "".join(f"// notes on {number}, line {it}\n" for it in range(filler - 1)))
        n_lines += filler
    return "".join(parts)


class Typist:
    """Edits a text the way people do, and says what an editor would send."""

    def __init__(self, text: str, seed: int, emulate: str) -> None:
        self.lines = text.split("\n")
        self.dice = random.Random(seed)
        self.version = 1
        self.at = 0.0
        self.text = text
        self.emulate = emulate
        self.spots = [row for row, line in enumerate(self.lines) if "1.0f;" in line or "1.0f :" in line]

    def begin(self) -> Iterator[dict[str, Any]]:
        """Yield the start of a session, up to the first lenses."""
        capabilities = {"textDocument": {"publishDiagnostics": {"versionSupport": True}}}
        settings = {"emulate": self.emulate, "device": "nvidia-hopper"}
        yield self._event(
            "initialize",
            {
                "processId": None,
                "rootUri": None,
                "capabilities": capabilities,
                "initializationOptions": {"settings": settings},
            },
        )
        yield self._event("initialized", {})
        item = {"uri": URI, "languageId": "opencl", "version": 1, "text": self.text}
        yield self._event("textDocument/didOpen", {"textDocument": item})
        self.at += 6.0
        yield self._event("textDocument/codeLens", {"textDocument": {"uri": URI}})

    def edits(self, count: int, rate: float, burst: int) -> Iterator[dict[str, Any]]:
        """Yield keystrokes in bursts, with a pause, a look around and sometimes a save between them."""
        done = 0
        while done < count:
            row = self.dice.choice(self.spots)
            for digit in self._word(min(burst, count - done)):
                yield self._insert(row, digit)
                done += 1
                self.at += 1 / rate
            self.at += 0.5
            yield from self._look(row)
            if self.dice.random() < 0.1:
                yield self._event("textDocument/didSave", {"textDocument": {"uri": URI}})
            self.at += 0.5

    def end(self) -> Iterator[dict[str, Any]]:
        """Yield the end of a session."""
        self.at += 3.0
        yield self._event("textDocument/didClose", {"textDocument": {"uri": URI}})
        yield self._event("shutdown", None)

    def _word(self, length: int) -> Iterator[str]:
        """Yield what is typed into a number: digits in, then out again, so that the file stays a file."""
        typed = 0
        for _ in range(length):
            if typed and self.dice.random() < typed / 6:
                typed -= 1
                yield ""
            else:
                typed += 1
                yield self.dice.choice("0123456789")

    def _insert(self, row: int, digit: str) -> dict[str, Any]:
        """Type a digit behind the factor's point, or delete the last one that was typed there."""
        line = self.lines[row]
        column = line.index("1.0") + 3
        behind = column
        end = behind
        if not digit and line[behind].isdigit():
            end += 1
        self.lines[row] = line[:behind] + digit + line[end:]
        self.version += 1
        where = {"start": {"line": row, "character": behind}, "end": {"line": row, "character": end}}
        return self._event(
            "textDocument/didChange",
            {
                "textDocument": {"uri": URI, "version": self.version},
                "contentChanges": [{"range": where, "text": digit}],
            },
        )

    def _look(self, row: int) -> Iterator[dict[str, Any]]:
        here = {"textDocument": {"uri": URI}}
        line = self.lines[row]
        brackets = [it for it, char in enumerate(line) if char == "["] or [0]
        place = {"line": row, "character": max(0, self.dice.choice(brackets) - 1)}
        yield self._event("textDocument/hover", {**here, "position": place})
        self.at += 0.05
        span = {"start": place, "end": place}
        yield self._event("textDocument/codeAction", {**here, "range": span, "context": {"diagnostics": []}})
        self.at += 0.05
        yield self._event("textDocument/codeLens", here)
        self.at += 0.05
        whole = {
            "start": {"line": max(0, row - 30), "character": 0},
            "end": {"line": row + 30, "character": 0},
        }
        yield self._event("textDocument/inlayHint", {**here, "range": whole})
        self.at += 0.05
        yield self._event("clmap/kernelView", {**here, "position": place})

    def _event(self, method: str, params: Any) -> dict[str, Any]:
        return {"at": round(self.at, 4), "method": method, "params": params}


def record(
    kernels: int, lines: int, count: int, rate: float, burst: int, emulate: str
) -> list[dict[str, Any]]:
    """Return a whole session."""
    typist = Typist(source(kernels, lines), 1, emulate)
    return [*typist.begin(), *typist.edits(count, rate, burst), *typist.end()]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.keystrokes", description=__doc__.split("\n")[0]
    )
    parser.add_argument("recording", type=Path)
    parser.add_argument("--kernels", type=int, default=30)
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--rate", type=float, default=20.0, help="edits a second")
    parser.add_argument("--burst", type=int, default=20, help="edits between two pauses")
    parser.add_argument("--emulate", choices=("onIdle", "onSave", "off"), default="onIdle")
    args = parser.parse_args(argv)
    events = record(args.kernels, args.lines, args.edits, args.rate, args.burst, args.emulate)
    args.recording.write_text("".join(f"{json.dumps(it)}\n" for it in events), encoding="utf-8")
    print(f"{len(events)} events over {events[-1]['at']:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
