"""Host files that change while a kernel is open: exactly the kernels that they launch are looked at again."""

from __future__ import annotations

from pathlib import Path

import pytest

from clmap_lsp.config import Settings
from clmap_lsp.workbench.hosts import HostFiles

KERNEL = "__kernel void {name}(__global float *a, int n) {{ a[get_global_id(0)] = n; }}\n"
HOST = """\
#include "sizes.h"
int main()
{{
    cl_kernel kernel = clCreateKernel(program, "{name}", &err);
    size_t global = {size}, local = GROUP;
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
}}
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "clmap.toml").write_text("")
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / f"{name}.cl").write_text(KERNEL.format(name=name))
        (folder / "main.c").write_text(HOST.format(name=name, size=1024))
        (folder / "sizes.h").write_text("#define GROUP 64\n")
    return tmp_path


def sizes(hosts: HostFiles, folder: Path, name: str) -> tuple[object, object]:
    launch = hosts.facts(str(folder / name / f"{name}.cl"), KERNEL.format(name=name), Settings()).launches[
        name
    ]
    assert launch.local_size[0] is not None
    return launch.global_size[0].number, launch.local_size[0].number


def test_only_what_uses_a_file_is_renewed(workspace: Path) -> None:
    hosts = HostFiles()
    assert sizes(hosts, workspace, "one") == sizes(hosts, workspace, "two") == (1024, 64)
    main = workspace / "one" / "main.c"
    main.write_text(HOST.format(name="one", size=4096))
    assert sizes(hosts, workspace, "one") == (1024, 64), "nobody said that it changed"
    assert hosts.changed([str(main)]) == (str(workspace / "one" / "one.cl"),)
    assert sizes(hosts, workspace, "one") == (4096, 64)
    (workspace / "two" / "sizes.h").write_text("#define GROUP 128\n")
    assert hosts.changed() == (str(workspace / "two" / "two.cl"),), "a header, found by its stamp"
    assert sizes(hosts, workspace, "two") == (1024, 128)
    assert hosts.changed() == ()


def test_new_and_removed_files_count(workspace: Path) -> None:
    hosts = HostFiles()
    assert sizes(hosts, workspace, "one") == (1024, 64)
    main = workspace / "one" / "main.c"
    text = main.read_text()
    main.unlink()
    assert hosts.changed([str(main)]) == (str(workspace / "one" / "one.cl"),)
    assert not hosts.facts(str(workspace / "one" / "one.cl"), KERNEL.format(name="one"), Settings()).launches
    (workspace / "one" / "other.c").write_text(text.replace("1024", "77"))
    assert hosts.changed([str(workspace / "one" / "other.c")]) == (str(workspace / "one" / "one.cl"),)
    assert sizes(hosts, workspace, "one") == (77, 64)


def test_what_is_typed_gives_the_parameters_their_names(workspace: Path) -> None:
    hosts = HostFiles()
    main = workspace / "one" / "main.c"
    main.write_text(
        main.read_text().replace("    size_t g", "    clSetKernelArg(kernel, 1, 4, &n);\n    size_t g")
    )
    path, text = workspace / "one" / "one.cl", KERNEL.format(name="one")
    assert list(hosts.facts(str(path), text, Settings()).launches["one"].arguments) == ["n"]
    typed = text.replace("int n", "int count")
    assert list(hosts.facts(str(path), typed, Settings()).launches["one"].arguments) == ["count"]
