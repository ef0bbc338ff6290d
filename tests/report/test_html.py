"""The HTML report: complete, self-contained, safe, readable, and free of errors in a browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest
from warm import clmap

from clmap_lsp.cli import main
from clmap_lsp.errors import UsageError

pytest.importorskip("matplotlib", reason="the extra `report` is not installed")

VOID = {"meta", "br", "link", "img", "hr", "input"}
KERNELS = """\
#define TILE 16
// clmap: global=64,64 local=16,16 N=64 in=random(N*N) out=zeros(N*N)
__kernel void turn(__global const float *in, __global float *out, const int N)
{
    __local float tile[TILE][TILE]; // a <b> & "c"
    int x = get_local_id(0), y = get_local_id(1);
    tile[y][x] = in[get_global_id(1) * N + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(get_group_id(0) * TILE + y) * N + get_group_id(1) * TILE + x] = tile[x][y];
}
// clmap: global=64 local=32 in=random(64) out=zeros(63)
__kernel void past(__global const float *in, __global float *out)
{
    out[get_global_id(0)] = in[63 - get_global_id(0)];
}
"""


class Page(HTMLParser):
    """The elements of a page; `problems` holds what an HTML checker would complain about."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.problems: list[str] = []
        self.feed(text)
        self.close()
        if self.open:
            self.problems.append(f"never closed: {self.open}")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] != "style":
            self.text.append(data)

    def values(self, attribute: str) -> list[str]:
        return [it[attribute] or "" for _, it in self.elements if attribute in it]

    @property
    def words(self) -> str:
        return " ".join("".join(self.text).split())


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with kernels, an earlier analysis in which one was cheaper, and the report."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "k.cl").write_text(KERNELS)
    old = clmap("analyze", "k.cl", "--format", "json", cwd=folder)
    document = json.loads(old.stdout)
    turn, past = document["files"][0]["kernels"]
    turn["totals"]["local_load"]["wavefronts"] //= 2
    past["name"] = "gone"
    (folder / "old.json").write_text(json.dumps(document))
    rest = ("--previous", "old.json", "--platform", "K20m", "--device", "nvidia-hopper")
    done = clmap("report", "k.cl", "-o", "report.html", *rest, cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


@pytest.fixture(scope="module")
def markup(files: Path) -> str:
    return (files / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(markup: str) -> Page:
    return Page(markup)


def test_the_page_is_well_formed(page: Page) -> None:
    assert page.problems == []
    identifiers = page.values("id")
    assert len(identifiers) == len(set(identifiers))
    targets = [it[1:] for name in ("href", "xlink:href") for it in page.values(name) if it.startswith("#")]
    assert targets
    assert set(targets) <= set(identifiers)
    assert set(" ".join(page.values("aria-labelledby")).split()) <= set(identifiers)


def test_the_page_loads_nothing_and_runs_nothing(page: Page, markup: str) -> None:
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "base", "form"}
    assert not page.values("src")
    assert not [it for it in {name for _, have in page.elements for name in have} if it.startswith("on")]
    assert "@import" not in markup
    assert all(it.startswith("#") for it in re.findall(r"url\(\s*['\"]?([^)'\"]+)", markup))
    policy = next(
        it["content"] for _, it in page.elements if it.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'")
    outside = {it for it in page.values("href") if not it.startswith("#")}
    assert all(it.startswith("https://") for it in outside)


def test_the_page_can_be_read_without_seeing_it(page: Page) -> None:
    charts = [it for tag, it in page.elements if tag == "svg"]
    assert len(charts) >= 8
    assert all(it["role"] == "img" and len(it["aria-label"] or "") > 20 for it in charts)
    headings = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert headings[0] == 1
    assert headings.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(headings))
    assert page.elements[0] == ("html", {"lang": "en"})
    heads = [it for tag, it in page.elements if tag == "th"]
    assert heads
    scrolling = [it for _, it in page.elements if it.get("tabindex") == "0"]
    assert all(it.get("aria-label") for it in scrolling)


def test_it_shows_what_was_promised(page: Page) -> None:
    for heading in (
        *("Summary", "Findings", "Source", "Accesses", "Who touches what", "Locality", "History"),
        *("Would local memory pay?", "Faults in the emulator", "How to read this"),
    ):
        assert heading in page.words
    assert "tile[lx*16 + ly]" in page.words or "tile[x*16 + y]" in page.words
    assert "16 wavefronts" in page.words or "wavefronts, 1 would do" in page.words
    assert "out-of-bounds-write" in page.words
    assert "CM201" in page.words
    assert "nvidia-hopper" in page.words
    assert "K20m" in page.words


def test_text_of_the_source_is_escaped(markup: str, page: Page) -> None:
    assert 'a <b> & "c"' in page.words
    assert "<b>" not in markup


def test_history_names_regressions_and_kernels_that_came_and_went(page: Page) -> None:
    assert "local_load.wavefronts" in page.words
    assert "+100.0 %), worse" in page.words
    assert "past is new in k.cl" in page.words
    assert "gone is gone from k.cl" in page.words


def test_the_same_input_gives_the_same_charts(files: Path, markup: str) -> None:
    again = files / "again.html"
    rest = ("--previous", "old.json", "--platform", "K20m", "--device", "nvidia-hopper")
    assert clmap("report", "k.cl", "-o", again.name, *rest, cwd=files).returncode == 0
    charts = re.compile(r"<svg.*?</svg>", re.DOTALL)
    assert charts.findall(again.read_text(encoding="utf-8")) == charts.findall(markup)


def test_colours_follow_the_page(markup: str) -> None:
    """A chart that names a colour itself would be black on black in the dark."""
    charts = "".join(re.findall(r"<svg.*?</svg>", markup, re.DOTALL))
    assert set(re.findall(r"(?:fill|stroke|color): (#\w+)", charts)) == set()
    used = set(re.findall(r"var\(--([\w-]+)\)", markup))
    light, dark = re.findall(r":root \{(.*?)\n\s*\}", markup, re.DOTALL)
    assert used <= set(re.findall(r"--([\w-]+):", light))
    assert set(re.findall(r"--([\w-]+):", light)) == set(re.findall(r"--([\w-]+):", dark))
    assert "@media print" in markup


ROWS = """\
// clmap: global=4096 local=64 N=256 rows=4096 A=random(rows*N) x=random(N,1) y=zeros(rows)
__kernel void matvec(__global const float *A, __global const float *x, __global float *y, const int N,
                     const int rows)
{
    const int row = get_global_id(0);
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int k = 0; k < N; k++)
        sum += A[row * N + k] * x[k];
    y[row] = sum;
}
"""


def test_the_way_to_the_best_version_is_a_picture(tmp_path: Path) -> None:
    (tmp_path / "k.cl").write_text(ROWS)
    out = tmp_path / "r.html"
    words = ["report", str(tmp_path / "k.cl"), "--device", "nvidia-h200", "--optimise", "60", "-o", str(out)]
    assert main(words) == 0
    page = Page(out.read_text())
    assert not page.problems
    assert "To the best version that was found: " in page.words
    assert "the host must change too: launch a work-group of" in page.words
    assert "the next step needs" in page.words and "+ const int lane" in page.words
    assert any(it.startswith("matvec, ") and "as it is" in it for it in page.values("aria-label"))


def test_no_emulation_means_no_locality(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(files / "k.cl"), "--no-emulate", "-o", "-"]) == 0
    words = Page(capsys.readouterr().out).words
    assert "the emulator was not asked" in words
    assert "Method: symbolic" not in words
    assert "out-of-bounds" not in words


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["report", "k.cl"], "-o FILE.html"),
        (["report", "-o", "x.html"], "needs a PATH"),
        (["report", "-", "-o", "x.html"], "standard input"),
        (["report", "none.cl", "-o", "x.html"], "no such file"),
        (["report", "k.cl", "-o", "x.html", "--previous", "none.json"], "no such file"),
        (["report", "k.cl", "-o", "x.html", "--previous", "k.cl"], "not JSON"),
        (["report", "k.cl", "-o", "x.html", "--platform", "abacus"], "abacus"),
        (["report", "k.cl", "-o", "x.html", "--optimise", "--no-emulate"], "--optimise needs the emulator"),
    ],
)
def test_misuse_is_one_line(
    arguments: list[str],
    says: str,
    files: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(files)
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1
    assert not (files / "x.html").exists()


def test_without_the_extra_the_cure_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from clmap_lsp.report import html

    monkeypatch.setattr(
        html.importlib.util, "find_spec", lambda name: None if name == "matplotlib" else ModuleType(name)
    )
    with pytest.raises(UsageError, match=r"matplotlib; install with: pip install 'clmap-lsp\[report\]'"):
        html.check_requirements()


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_a_browser_opens_it_without_errors(files: Path, tmp_path: Path) -> None:
    """The policy forbids every request, so that one would show as an error on the console."""
    assert CHROMIUM is not None
    shot = tmp_path / "shot.png"
    done = subprocess.run(
        [
            *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"),
            *("--enable-logging=stderr", "--v=0", f"--user-data-dir={tmp_path / 'profile'}"),
            *("--window-size=1200,2000", f"--screenshot={shot}", (files / "report.html").as_uri()),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "CONSOLE" not in done.stderr
    assert shot.read_bytes().startswith(b"\x89PNG")
    assert shot.stat().st_size > 20_000


def test_the_page_says_how_long_a_launch_takes_where_that_is_known(tmp_path: Path) -> None:
    (tmp_path / "k.cl").write_text(KERNELS)
    pages = {}
    for device in ("nvidia-h200", "nvidia-hopper"):
        out = tmp_path / f"{device}.html"
        main(["report", str(tmp_path / "k.cl"), "--device", device, "-o", str(out)])
        pages[device] = out.read_text(encoding="utf-8")
    assert len(re.findall(r"<dt>Time</dt><dd>[\d.]+ us \(", pages["nvidia-h200"])) == 2
    assert "<dt>Time</dt>" not in pages["nvidia-hopper"]
