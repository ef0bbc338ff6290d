"""Start a VS Code server with the extension installed, run the suites against it, stop everything.

usage: session.py HOST_DIR VSIX
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
ARTEFACTS = ROOT / "test-artifacts"
KERNEL = """\
// clmap: global=256,256 local=16,16 N=256 A=random(N*N) B=random(N*N,1) C=zeros(N*N)
__kernel void mm(__global const float *A, __global const float *B, __global float *C, const int N)
{
    int r = get_global_id(0);
    int c = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < N; k++)
        sum += B[k * N + c] * A[r * N + k];
    C[r * N + c] = sum;
}
"""
SPINNING = """\
// clmap: global=64 local=16 a=zeros(2)
__kernel void spin(__global volatile int *a)
{
    int i = 0;
    while (a[0] == 0)
        i++;
    a[1] = i;
}
"""


TILES_HEADER = """\
#pragma once
#define RADIUS 2
"""
TILES = """\
#include "tiles.h"
#define AT(y, x) ((y) * n + (x))
#if 0
not read
#endif
__constant float filter[4] = {0.1f, 0.2f, 0.3f, 0.4f};
float weigh(__local float *row, int n)
{
    return row[0] * filter[n & 3];
}
__kernel void blur(__global const float *in, __global float *out, int n)
{
    __local float tile[16];
    int x = get_global_id(0), y = get_global_id(1);
    int2 place = (int2)(x, y);
    int i = AT(y, x);
    tile[get_local_id(0) & 15] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int k = 0; k < RADIUS; k++)
        sum += weigh(tile, k) + min(place.x, RADIUS);
    out[i] = sum;
}
"""
TILES_HOST = """\
#include <CL/cl.h>
cl_kernel make(cl_program program)
{
    cl_int error;
    return clCreateKernel(program, "blur", &error);
}
"""


def settings(trust: bool, interpreter: str, package: str = "") -> dict[str, object]:
    return {
        "clmap.server.package": package,
        "clmap.server.interpreter": interpreter,
        "clmap.device": "nvidia-hopper",
        "clmap.emulate": "onSave",
        "clmap.emulateTimeLimit": 60,
        "editor.inlayHints.enabled": "on",
        "security.workspace.trust.enabled": trust,
        "workbench.startupEditor": "none",
        "telemetry.telemetryLevel": "off",
        "extensions.autoCheckUpdates": False,
        "extensions.autoUpdate": False,
        "extensions.ignoreRecommendations": True,
        "chat.disableAIFeatures": True,
        "git.enabled": False,
        "editor.minimap.enabled": False,
    }


@contextlib.contextmanager
def vscode(
    host: Path,
    vsix: Path,
    *,
    trust: bool = False,
    interpreter: str = sys.executable,
    home: Path | None = None,
    package: str = "",
    also: Sequence[Path] = (),
) -> Iterator[str]:
    """Yield the URL of a running VS Code.

    `trust`: whether it asks before it trusts a workspace. `home`: a home folder to use; then nothing of ours
    is on `PATH`, only a Python without packages. `package`: what the extension installs as its server.
    `also`: packages of other extensions.
    """
    server = host / "node_modules/code-server/lib/vscode/out/server-main.js"
    state = Path(tempfile.mkdtemp(prefix="vscode-"))
    for folder in ("data/Machine", "data/User"):
        (state / "srv" / folder).mkdir(parents=True)
        (state / "srv" / folder / "settings.json").write_text(
            json.dumps(settings(trust, interpreter, package))
        )
    own_home = home or state / "home"
    own_home.mkdir(exist_ok=True)
    environment = {
        **os.environ,
        "HOME": str(own_home),
        "EXTENSIONS_GALLERY": "{}",  # Else it looks extensions up.
        "CLMAP_CACHE_DIR": str(state / "cache"),
    }
    if home is not None:
        environment["PATH"] = f"{bare_python(state)}:/usr/bin:/bin"
    base = [
        shutil.which("node") or "node",
        str(server),
        "--server-data-dir",
        str(state / "srv"),
        "--accept-server-license-terms",
    ]
    for package_ in (vsix, *also):
        install = [*base, "--install-extension", str(package_)]
        subprocess.run(install, env=environment, check=True, capture_output=True)
    port = free_port()
    options = ["--host", "127.0.0.1", "--port", str(port), "--without-connection-token"]
    options += ["--telemetry-level", "off", "--enable-smoke-test-driver"]
    # Else it asks a login shell for the environment, and whatever that has on PATH comes before ours.
    options += ["--force-disable-user-env"]
    log = (ARTEFACTS / "vscode-server.log").open("wb")
    process = subprocess.Popen(
        [*base, *options],
        env=environment,
        stdout=log,
        stderr=log,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/version")
        yield f"http://127.0.0.1:{port}"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        log.close()
        shutil.rmtree(state, ignore_errors=True)


def bare_python(state: Path) -> Path:
    """Return a folder with nothing but the interpreter that this environment was made from."""
    folder = state / "python"
    folder.mkdir()
    (folder / "python3").symlink_to(Path(sys.base_prefix) / "bin" / "python3")
    return folder


def wheel(folder: Path) -> str:
    """Build the package's wheel and return the requirement that installs it."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(folder),
        str(ROOT),
    ]
    subprocess.run(command, check=True)
    return f"clmap-lsp[emulate] @ {next(folder.glob('*.whl')).as_uri()}"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(url: str) -> None:
    for _ in range(240):
        with contextlib.suppress(OSError):
            urllib.request.urlopen(url, timeout=2).close()
            return
        time.sleep(0.25)
    raise SystemExit(f"{url} does not answer")


def workspace(size: int = 64) -> Path:
    """Return a new workspace; small sizes emulate quickly, 256 is what pictures show."""
    folder = Path(tempfile.mkdtemp(prefix="clmap-ws-"))
    (folder / "k.cl").write_text(KERNEL.replace("256", str(size)))
    (folder / "spin.cl").write_text(SPINNING)
    (folder / "tiles.h").write_text(TILES_HEADER)
    (folder / "tiles.cl").write_text(TILES)
    (folder / "main.c").write_text(TILES_HOST)
    return folder


def run_node(host: Path, script: str, *arguments: str) -> list[str]:
    """Run a suite, show what it prints, and return its lines that tell of failures, if it failed."""
    environment = {**os.environ, "NODE_PATH": str(host / "node_modules")}
    for module in HERE.glob("*.mjs"):  # ES modules are found beside the file that imports them.
        shutil.copyfile(module, host / module.name)
    command = ["node", str(host / script), *arguments]
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        print(line, end="", flush=True)
        lines.append(line.strip())
    if process.wait() == 0:
        return []
    told = [line for line in lines if line and not line.startswith("ok ")]
    return told[-8:] or [f"exit {process.returncode}"]


@dataclasses.dataclass(slots=True)
class Suites:
    """Runs suites and remembers how they ended.

    A real editor on a machine that others use now and then misses a wait. A suite that fails is therefore run
    once more in a new workspace; failing twice is a failure, and failing once is said at the end.
    """

    host: Path
    failed: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    repeated: dict[str, list[str]] = dataclasses.field(default_factory=dict)

    def run(self, name: str, script: str, arguments: Callable[[], tuple[str, ...]]) -> None:
        first = run_node(self.host, script, *arguments())
        if not first:
            return
        print(f"{name}: failed, once more", flush=True)
        second = run_node(self.host, script, *arguments())
        (self.failed if second else self.repeated)[name] = second or first

    def conclude(self) -> int:
        """Print how everything ended, failures last, and return the exit code."""
        for name, lines in self.repeated.items():
            print(f"{name}: passed at the second attempt; the first ended with", *lines, sep="\n  ")
        for name, lines in self.failed.items():
            print(f"{name}: failed twice; it ended with", *lines, sep="\n  ")
        print("VS Code:", f"failed: {', '.join(self.failed)}" if self.failed else "all suites passed")
        return 1 if self.failed else 0


def packaged(folder: Path, target: Path) -> Path:
    """Return the package of an extension that is a folder of files, as VS Code installs one."""
    described = json.loads((folder / "package.json").read_text())
    identity = {"Id": described["name"], "Version": described["version"], "Publisher": described["publisher"]}
    attributes = " ".join(f'{name}="{value}"' for name, value in {**identity, "Language": "en-US"}.items())
    manifest = (
        '<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">'
        f"<Metadata><Identity {attributes}/><DisplayName>{described['displayName']}</DisplayName></Metadata>"
        '<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation><Dependencies/>'
        '<Assets><Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" '
        'Addressable="true"/></Assets></PackageManifest>'
    )
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("extension.vsixmanifest", manifest)
        for path in sorted(folder.iterdir()):
            archive.write(path, f"extension/{path.name}")
    return target


def beside_another(suites: Suites, vsix: Path, folder: Path) -> None:
    """Stand beside another extension for OpenCL that has a server of its own."""
    other = packaged(HERE / "other", folder / "other.vsix")
    with vscode(suites.host, vsix, also=(other,)) as url:
        suites.run("beside", "beside.mjs", lambda: (url, str(workspace()), str(ARTEFACTS)))


def without_server(suites: Suites, vsix: Path, folder: Path) -> None:
    """Begin where nothing is installed: the extension brings its server and says what is wrong."""
    package = wheel(folder / "wheel")
    host, home, artefacts = suites.host, folder / "home", str(ARTEFACTS)
    with vscode(host, vsix, interpreter="", home=home, package=package) as url:
        suites.run("install", "install.mjs", lambda: (url, str(workspace()), artefacts))
    missing = str(folder / "no-such-python")
    with vscode(host, vsix, interpreter=missing, home=home) as url:
        suites.run("wrong", "wrong.mjs", lambda: (url, str(workspace()), artefacts, missing))


def main() -> int:
    host, vsix = Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute()
    ARTEFACTS.mkdir(exist_ok=True)
    extension = str(ROOT / "editors/vscode")
    suites = Suites(host)

    def in_extension_host(name: str, url: str) -> None:
        tests = str(HERE / f"{name}.js")
        suites.run(name, "exthost.mjs", lambda: (url, str(workspace()), extension, tests))

    with vscode(host, vsix) as url:
        in_extension_host("suite", url)
        suites.run("look", "look.mjs", lambda: (url, str(workspace(256)), str(ARTEFACTS)))
        in_extension_host("language", url)
        suites.run("write", "write.mjs", lambda: (url, str(workspace()), str(ARTEFACTS)))
    with vscode(host, vsix, trust=True) as url:
        in_extension_host("untrusted", url)
    with tempfile.TemporaryDirectory() as name:
        beside_another(suites, vsix, Path(name))
        without_server(suites, vsix, Path(name))
    return suites.conclude()


if __name__ == "__main__":
    sys.exit(main())
