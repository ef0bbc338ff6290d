"""The naive kernels of all 80 combinations of eMAP and iMAP, written straight from the paper's formula."""

from __future__ import annotations

from clmap_lsp.access.maps import IMap, Map

_BODIES = {
    IMap.SINGLE: "sum = in[({row}) * W + ({column})];",
    IMap.ROW: "for (int i = 0; i < W; i++) sum += in[({row}) * W + ({column_i})];",
    IMap.COLUMN: "for (int j = 0; j < H; j++) sum += in[({row_j}) * W + ({column})];",
    IMap.BLOCK: """for (int j = -3; j <= 3; j++)
    for (int i = -3; i <= 3; i++) sum += in[({row_j}) * W + ({column_i})];""",
    IMap.NEIGHBOR: """sum = in[({row}) * W + ({column})] + in[({row} - 1) * W + ({column})]
    + in[({row} + 1) * W + ({column})] + in[({row}) * W + ({column} - 1)]
    + in[({row}) * W + ({column} + 1)];""",
}


def source_of(pattern: Map) -> str:
    """Return a kernel whose `in` is walked as (row, column) = M * (t_y, t_x) + iMAP."""
    (m00, m01), (m10, m11) = pattern.matrix
    row, column = _sum(m00, m01), _sum(m10, m11)
    body = _BODIES[pattern.imap].format(row=row, column=column, row_j=f"{row} + j", column_i=f"{column} + i")
    return f"""__kernel void walk(__global const float *in, __global float *out, int W, int H) {{
  int tx = get_global_id(0), ty = get_global_id(1);
  float sum = 0;
  {body}
  out[ty * W + tx] = sum;
}}
"""


def _sum(of_ty: int, of_tx: int) -> str:
    return " + ".join(["ty"] * of_ty + ["tx"] * of_tx) or "0"
