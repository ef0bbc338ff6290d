"""Kernels that the optimiser is judged by: fixtures of our own, and public ones by repository and path.

Public texts are not kept here: `benchmarks.optimise --corpus FOLDER` reads them from checkouts at
FOLDER/OWNER/NAME. Arguments are those of the command line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod
from pathlib import Path

HANDS_ON = "HandsOnOpenCL/Exercises-Solutions/"
NVIDIA = "sschaetz/nvidia-opencl-examples/OpenCL/src/"
AMD = "OpenCL/AMD_APP_samples/"
SHOC = "vetter/shoc/src/opencl/level1/"
RODINIA = "yuhc/gpu-rodinia/opencl/"
POLYBENCH = "cavazos-lab/PolyBench-ACC/OpenCL/"
PARBOIL = "abduld/Parboil/benchmarks/"
_SQUARE = "N=2048 A=random(N*N) B=random(N*N,1) C=zeros(N*N)"
_ODD = "N=1000 A=random(N*N) B=random(N*N,1) C=zeros(N*N)"


@dataclass(frozen=True, slots=True)
class Case:
    """One kernel and launch; `path` starts at `fixtures/`, or at the folder of checkouts.

    Without sizes the launch is that of the source's comment.
    """

    name: str
    path: str
    kernel: str
    size: str = ""
    group: str = ""
    arguments: str = ""
    options: tuple[str, ...] = ()

    @property
    def command(self) -> list[str]:
        """The options of the command line that give the launch."""
        if not self.size:
            return ["--kernel", self.kernel]
        given = [f"--arg={it}" for it in self.arguments.split()]
        return ["--kernel", self.kernel, "--global", self.size, "--local", self.group, *given, *self.options]

    @property
    def is_own(self) -> bool:
        """True for a kernel of this repository."""
        return self.path.startswith(("fixtures/", "benchmarks/"))


_ROWS = "A=random(67108864) x=random(8192,1)"
CASES = (
    Case("matmul", "fixtures/matmul/simple.cl", "mm_simple", "2048,2048", "16,16", _SQUARE),
    Case(
        "matmul, ids exchanged",
        "fixtures/matmul/simple.cl",
        "mm_simple_swapped",
        "2048,2048",
        "16,16",
        _SQUARE,
    ),
    Case("matmul by rows", "fixtures/matmul/row_per_item.cl", "mm_row", "2048", "64", _SQUARE),
    Case(
        "matvec by rows",
        "fixtures/matvec/by_row_and_column.cl",
        "matvec_row",
        "8192",
        "64",
        f"N=8192 rows=8192 {_ROWS} y=zeros(8192)",
    ),
    Case(
        "matvec by columns",
        "fixtures/matvec/by_row_and_column.cl",
        "matvec_column",
        "8192",
        "64",
        f"N=8192 rows=8192 {_ROWS} y=zeros(8192)",
    ),
    Case(
        "transpose",
        "fixtures/transpose/naive.cl",
        "transpose_naive",
        "4096,4096",
        "16,16",
        "N=4096 in=random(N*N) out=zeros(N*N)",
    ),
    Case(
        "transpose through a tile",
        "fixtures/transpose/tiled.cl",
        "transpose_tiled",
        "4096,4096",
        "32,32",
        "N=4096 in=random(N*N) out=zeros(N*N)",
    ),
    Case(
        "convolution",
        "fixtures/convolution/direct.cl",
        "convolve_direct",
        "4096,4096",
        "16,16",
        "N=4096 in=random((N+4)*(N+4)) filter=random(25,3) out=zeros(N*N)",
    ),
    Case(
        "stencil of nine points",
        "fixtures/stencil/nine_point.cl",
        "stencil_nine_point",
        "4096,4096",
        "32,8",
        "width=4096 height=4096 in=random(width*height) out=zeros(width*height)",
    ),
    Case(
        "stencil in three dimensions",
        "fixtures/stencil/seven_point_3d.cl",
        "stencil_seven_point",
        "256,256,256",
        "32,4,2",
        "nx=256 ny=256 nz=256 in=random(nx*ny*nz) out=zeros(nx*ny*nz)",
    ),
    Case(
        "reduction by modulo",
        "fixtures/reduction/kinds.cl",
        "reduce_modulo",
        "16777216",
        "256",
        "in=random(16777216) sums=zeros(65536)",
    ),
    Case(
        "reduction by strides",
        "fixtures/reduction/kinds.cl",
        "reduce_strided",
        "16777216",
        "256",
        "in=random(16777216) sums=zeros(65536)",
    ),
    Case(
        "reduction, sequential",
        "fixtures/reduction/kinds.cl",
        "reduce_sequential",
        "16777216",
        "256",
        "in=random(16777216) sums=zeros(65536)",
    ),
    Case(
        "n-body",
        "fixtures/particles/nbody_direct.cl",
        "nbody_direct",
        "16384",
        "64",
        "bodies=16384 softening=0.01 position=random(bodies) force=zeros(bodies)",
    ),
    Case(
        "chunks",
        "fixtures/strides/splits.cl",
        "split_chunk",
        "1048576",
        "256",
        "in=random(16777216) out=zeros(1048576)",
    ),
    Case(
        "sparse rows",
        "fixtures/sparse/spmv_csr.cl",
        "spmv_csr",
        "65536",
        "64",
        "rows=65536 row_start=formula(rows+1,i*64) columns=formula(rows*64,(i*37)%rows) "
        "values=random(rows*64) x=random(rows,1) y=zeros(rows)",
    ),
    Case(
        "Hands-On vadd",
        f"{HANDS_ON}Exercises/Exercise03/Cpp/vadd.cl",
        "vadd",
        "16777216",
        "64",
        "count=16777216 a=random(count) b=random(count,1) c=zeros(count)",
    ),
    Case(
        "Hands-On C_elem", f"{HANDS_ON}Solutions/Exercise08/C_elem.cl", "mmul", "2048,2048", "16,16", _SQUARE
    ),
    Case(
        "Hands-On C_elem, N = 1000",
        f"{HANDS_ON}Solutions/Exercise08/C_elem.cl",
        "mmul",
        "1008,1008",
        "16,16",
        _ODD,
    ),
    Case(
        "Hands-On C_row",
        f"{HANDS_ON}Solutions/Exercise08/C_row.cl",
        "mmul",
        "1024",
        "64",
        _SQUARE.replace("2048", "1024"),
    ),
    Case(
        "NVIDIA MatVecMulUncoalesced0",
        f"{NVIDIA}oclMatVecMul/oclMatVecMul.cl",
        "MatVecMulUncoalesced0",
        "8192",
        "256",
        "width=8192 height=8192 M=random(67108864) V=random(8192,1) W=zeros(8192)",
    ),
    Case(
        "NVIDIA transpose_naive",
        f"{NVIDIA}oclTranspose/transpose.cl",
        "transpose_naive",
        "4096,4096",
        "16,16",
        "offset=0 width=4096 height=4096 idata=random(16777216) odata=zeros(16777216)",
    ),
    Case(
        "NVIDIA reduce0",
        f"{NVIDIA}oclReduction/oclReduction_kernel.cl",
        "reduce0",
        "16777216",
        "256",
        "n=16777216 g_idata=random(n) g_odata=zeros(65536) sdata=local(256)",
        ("-DT=float", "-DblockSize=256", "-DnIsPow2=1"),
    ),
    Case(
        "NVIDIA reduce1",
        f"{NVIDIA}oclReduction/oclReduction_kernel.cl",
        "reduce1",
        "16777216",
        "256",
        "n=16777216 g_idata=random(n) g_odata=zeros(65536) sdata=local(256)",
        ("-DT=float", "-DblockSize=256", "-DnIsPow2=1"),
    ),
    Case(
        "NVIDIA DotProduct",
        f"{NVIDIA}oclDotProduct/DotProduct.cl",
        "DotProduct",
        "4194304",
        "256",
        "iNumElements=4194304 a=random(16777216) b=random(16777216,1) c=zeros(4194304)",
    ),
    Case(
        "NVIDIA VectorAdd",
        f"{NVIDIA}oclVectorAdd/VectorAdd.cl",
        "VectorAdd",
        "16777216",
        "256",
        "iNumElements=16777216 a=random(16777216) b=random(16777216,1) c=zeros(16777216)",
    ),
    Case(
        "AMD FloydWarshall",
        f"{AMD}cl/FloydWarshall/FloydWarshall_Kernels.cl",
        "floydWarshallPass",
        "4096,4096",
        "16,16",
        "numNodes=4096 pass=17 pathDistanceBuffer=formula(16777216,(i*37)%1009) pathBuffer=zeros(16777216)",
    ),
    Case(
        "Rodinia Fan2",
        f"{RODINIA}gaussian/gaussianElim_kernels.cl",
        "Fan2",
        "4096,4096",
        "16,16",
        "size=4096 t=0 m_dev=random(16777216) a_dev=random(16777216,1) b_dev=random(4096,2)",
    ),
    Case(
        "Rodinia kmeans_swap",
        f"{RODINIA}kmeans/kmeans.cl",
        "kmeans_swap",
        "494080",
        "256",
        "npoints=494020 nfeatures=34 feature=random(16796680) feature_swap=zeros(16796680)",
    ),
    Case(
        "Rodinia kmeans_kernel_c",
        f"{RODINIA}kmeans/kmeans.cl",
        "kmeans_kernel_c",
        "494080",
        "256",
        "npoints=494020 nclusters=5 nfeatures=34 offset=0 size=0 feature=random(16796680) "
        "clusters=random(170,1) "
        "membership=zeros(494020)",
    ),
    Case(
        "Rodinia NearestNeighbor",
        f"{RODINIA}nn/nearestNeighbor_kernel.cl",
        "NearestNeighbor",
        "8388608",
        "64",
        "numRecords=8388608 lat=30.0 lng=90.0 d_locations=random(8388608) d_distances=zeros(8388608)",
    ),
    Case(
        "SHOC spmv scalar",
        f"{SHOC}spmv/spmv.cl",
        "spmv_csr_scalar_kernel",
        "16384",
        "128",
        "dim=16384 rowDelimiters=formula(dim+1,i*164) cols=formula(dim*164,(i*37)%16384) val=random(dim*164) "
        "vec=random(dim,1) out=zeros(dim)",
        ("-DSINGLE_PRECISION",),
    ),
    Case(
        "PolyBench gemm",
        f"{POLYBENCH}linear-algebra/kernels/gemm/gemm.cl",
        "gemm",
        "2048,2048",
        "32,8",
        "alpha=1.5 beta=0.5 ni=2048 nj=2048 nk=2048 a=random(4194304) b=random(4194304,1) "
        "c=random(4194304,2)",
    ),
    Case(
        "PolyBench syrk",
        f"{POLYBENCH}linear-algebra/kernels/syrk/syrk.cl",
        "syrk_kernel",
        "1024,1024",
        "32,8",
        "alpha=1.5 beta=0.5 ni=1024 nj=1024 a=random(1048576) c=random(1048576,2)",
    ),
    Case(
        "PolyBench atax 1",
        f"{POLYBENCH}linear-algebra/kernels/atax/atax.cl",
        "atax_kernel1",
        "8192",
        "256",
        "nx=8192 ny=8192 A=random(67108864) x=random(8192,1) tmp=zeros(8192)",
    ),
    Case(
        "PolyBench bicg 1",
        f"{POLYBENCH}linear-algebra/kernels/bicg/bicg.cl",
        "bicgKernel1",
        "8192",
        "256",
        "nx=8192 ny=8192 A=random(67108864) p=random(8192,1) q=zeros(8192)",
    ),
    Case(
        "PolyBench mvt 2",
        f"{POLYBENCH}linear-algebra/kernels/mvt/mvt.cl",
        "mvt_kernel2",
        "8192",
        "256",
        "n=8192 a=random(67108864) x2=random(8192,1) y2=random(8192,2)",
    ),
    Case(
        "PolyBench 2DConvolution",
        f"{POLYBENCH}stencils/convolution-2d/2DConvolution.cl",
        "Convolution2D_kernel",
        "4096,4096",
        "32,8",
        "ni=4096 nj=4096 A=random(16777216) B=zeros(16777216)",
    ),
    # From here on: kernels that nobody had looked at while the rewrites were made.
    Case(
        "PolyBench 2mm 1",
        f"{POLYBENCH}linear-algebra/kernels/2mm/2mm.cl",
        "mm2_kernel1",
        "2048,2048",
        "32,8",
        "ni=2048 nj=2048 nk=2048 nl=2048 alpha=1.5 beta=0.5 tmp=zeros(4194304) A=random(4194304) "
        "B=random(4194304,1)",
    ),
    Case(
        "PolyBench 2mm 2, N = 1000",
        f"{POLYBENCH}linear-algebra/kernels/2mm/2mm.cl",
        "mm2_kernel2",
        "1024,1000",
        "32,8",
        "ni=1000 nj=1000 nk=1000 nl=1000 alpha=1.5 beta=0.5 tmp=random(1000000) C=random(1000000,1) "
        "D=random(1000000,2)",
    ),
    Case(
        "PolyBench gesummv",
        f"{POLYBENCH}linear-algebra/kernels/gesummv/gesummv.cl",
        "gesummv_kernel",
        "8192",
        "256",
        "n=8192 alpha=1.5 beta=0.5 a=random(67108864) b=random(67108864,1) x=random(8192,2) y=zeros(8192) "
        "tmp=zeros(8192)",
    ),
    Case(
        "PolyBench syr2k",
        f"{POLYBENCH}linear-algebra/kernels/syr2k/syr2k.cl",
        "syr2k_kernel",
        "1024,1024",
        "32,8",
        "ni=1024 nj=1024 alpha=1.5 beta=0.5 a=random(1048576) b=random(1048576,1) c=random(1048576,2)",
    ),
    Case(
        "PolyBench covariance mean",
        f"{POLYBENCH}datamining/covariance/covariance.cl",
        "mean_kernel",
        "8192",
        "256",
        "m=8192 n=8192 float_n=8192 data=random(67108864) mean=zeros(8192)",
    ),
    Case(
        "PolyBench correlation std",
        f"{POLYBENCH}datamining/correlation/correlation.cl",
        "std_kernel",
        "8192",
        "256",
        "m=8192 n=8192 float_n=8192 eps=0.005 data=random(67108864) mean=random(8192,1) std=zeros(8192)",
    ),
    Case(
        "PolyBench correlation reduce",
        f"{POLYBENCH}datamining/correlation/correlation.cl",
        "reduce_kernel",
        "4096,4096",
        "32,8",
        "m=4096 n=4096 float_n=4096 data=random(16777216) mean=random(4096,1) std=random(4096,2)",
    ),
    Case(
        "PolyBench jacobi2D 1",
        f"{POLYBENCH}stencils/jacobi-2d-imper/jacobi2D.cl",
        "runJacobi2D_kernel1",
        "4096,4096",
        "32,8",
        "n=4096 A=random(16777216) B=zeros(16777216)",
    ),
    Case(
        "PolyBench fdtd 3",
        f"{POLYBENCH}stencils/fdtd-2d/fdtd2d.cl",
        "fdtd_kernel3",
        "4096,4096",
        "32,8",
        "nx=4096 ny=4096 ex=random(16777216) ey=random(16777216,1) hz=random(16777216,2)",
    ),
    Case(
        "PolyBench 3DConvolution",
        f"{POLYBENCH}stencils/convolution-3d/3DConvolution.cl",
        "Convolution3D_kernel",
        "4096,4096",
        "32,8",
        "ni=3 nj=4096 nk=4096 i=1 A=random(50331648) B=zeros(50331648)",
    ),
    Case(
        "Parboil sgemm",
        f"{PARBOIL}sgemm/src/opencl_base/kernel.cl",
        "mysgemmNT",
        "2048,2048",
        "16,16",
        "lda=2048 ldb=2048 ldc=2048 k=2048 alpha=1.5 beta=0.5 A=random(4194304) B=random(4194304,1) "
        "C=random(4194304,2)",
    ),
    Case(
        "Rodinia hotspot3D",
        f"{RODINIA}hotspot3D/hotspotKernel.cl",
        "hotspotOpt1",
        "2048,2048",
        "64,4",
        "nx=2048 ny=2048 nz=8 sdc=0.1 ce=0.1 cw=0.1 cn=0.1 cs=0.1 ct=0.1 cb=0.1 cc=0.3 p=random(33554432) "
        "tIn=random(33554432,1) tOut=zeros(33554432)",
    ),
    Case(
        "AMD FastWalshTransform",
        f"{AMD}cl/FastWalshTransform/FastWalshTransform_Kernels.cl",
        "fastWalshTransform",
        "8388608",
        "256",
        "step=1024 tArray=random(16777216)",
    ),
    Case(
        "tiled matmul",
        "fixtures/matmul/coalesced_ab.cl",
        "mm_coalesced_ab_swapped",
        "2048,2048",
        "16,16",
        _SQUARE,
    ),
    Case(
        "tiled matmul, one operand",
        "fixtures/matmul/coalesced_a.cl",
        "mm_coalesced_a_swapped",
        "2048,2048",
        "16,16",
        _SQUARE,
    ),
    Case(
        "tiled matmul, tiles from the host",
        "fixtures/matmul/blocked.cl",
        "mm_blocked_swapped",
        "2048,2048",
        "16,16",
        f"{_SQUARE} a_block=local(256) b_block=local(256)",
    ),
    Case(
        "tiled matmul, N = 1500",
        "benchmarks/time_kernels/unseen_second.cl",
        "tiled_any",
        "1504,1504",
        "16,16",
        "a=random(2250000) b=random(2250000) c=zeros(2250000) n=1500",
    ),
    Case(
        "NVIDIA matrixMul, tiled",
        f"{NVIDIA}oclMatrixMul/matrixMul.cl",
        "matrixMul",
        "2048,2048",
        "16,16",
        "uiWA=2048 uiWB=2048 trueLocalSize1=2048 As=local(256) Bs=local(256) "
        "A=random(4194304) B=random(4194304,1) C=zeros(4194304)",
        ("-DBLOCK_SIZE=16",),
    ),
    Case(
        "Hands-On C_block_form, tiled",
        f"{HANDS_ON}Solutions/Exercise08/C_block_form.cl",
        "mmul",
        "2048,2048",
        "16,16",
        f"{_SQUARE} Awrk=local(256) Bwrk=local(256)",
    ),
    Case(
        "rows walked again: normalised",
        "benchmarks/time_kernels/unseen_second.cl",
        "normalised_rows",
        "16384",
        "64",
        "n=512 a=random(8388608) o=zeros(8388608)",
    ),
    Case("rows walked again: softmax in place", "benchmarks/walked_rows.cl", "softmax_in_place"),
    Case("rows walked again: softmax", "benchmarks/walked_rows.cl", "softmax_rows"),
    Case("rows walked again: layer norm", "benchmarks/walked_rows.cl", "layer_norm"),
)
"""Sizes are those that keep a large GPU busy for a while, and fit into 1 GB."""


def fixtures() -> tuple[Case, ...]:
    """Return every kernel of the fixtures, on the launch of its comment: small enough for CPUs."""
    from clmap_lsp.source.options import BuildOptions
    from clmap_lsp.source.read import read_program

    root = Path(__file__).resolve().parent.parent
    found = []
    for path in sorted((root / "fixtures").rglob("*.cl")):
        program = read_program(path.read_text(encoding="utf-8"), str(path), BuildOptions())
        name = path.relative_to(root).as_posix()
        found += [Case(f"{path.stem}: {it.name}", name, it.name) for it in program.kernels]
    return tuple(found)


_LAUNCH = re.compile(r"^// time: (.*)$", re.MULTILINE)


def timed(*families: str) -> tuple[Case, ...]:
    """Return the kernels of files of `time_kernels/`, of two by default, each at its largest launch there."""
    return tuple(case for it in families or ("unseen_second", "unseen_optimise") for case in _timed(it))


def _timed(family: str) -> list[Case]:
    path = f"benchmarks/time_kernels/{family}.cl"
    text = (Path(__file__).parent / "time_kernels" / f"{family}.cl").read_text(encoding="utf-8")
    found: dict[str, tuple[int, Case]] = {}
    for line in _LAUNCH.findall(text):
        words = dict(word.split("=", 1) for word in line.split())
        kernel, size, group = words.pop("kernel"), words.pop("global"), words.pop("local")
        items = prod(int(it) for it in size.split(","))
        arguments = " ".join(f"{name}={value}" for name, value in words.items())
        if kernel not in found or found[kernel][0] < items:
            found[kernel] = items, Case(kernel, path, kernel, size, group, arguments)
    return [case for _, case in found.values()]
