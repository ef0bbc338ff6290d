"""Drive Neovim in a terminal as a person does, and take pictures of its screen; they are to be looked at.

usage: look.py NVIM ARTEFACTS
Needs `pyte`, which keeps the terminal's screen, and Chromium, which draws it.
"""

from __future__ import annotations

import fcntl
import html
import os
import pty
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pyte

ROOT = Path(__file__).parents[3]
COLUMNS, ROWS = 112, 34
PATIENCE_S = 60
KERNEL = """\
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
    int i = AT(y, x);
    tile[get_local_id(0) & 15] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int k = 0; k < RADIUS; k++)
        sum += weigh(tile, k);
    out[i] = sum;
}
"""
INIT = """\
vim.o.termguicolors, vim.o.number, vim.o.signcolumn, vim.o.swapfile = true, true, 'yes', false
vim.o.completeopt = 'menuone,noselect,popup'
vim.lsp.config('clmap', {{
  cmd = {{ {python!r}, '-m', 'clmap_lsp', '--stdio' }},
  settings = {{ clmap = {{ device = 'nvidia-hopper', emulate = 'off' }} }},
}})
local colours = {{ ['global'] = '#d7875f', ['local'] = '#5faf87', constant = '#af87d7' }}
for space, colour in pairs(colours) do
  vim.api.nvim_set_hl(0, '@lsp.mod.' .. space .. '.opencl', {{ fg = colour }})
end
vim.api.nvim_set_hl(0, '@lsp.mod.workItemDependent.opencl', {{ italic = true }})
vim.api.nvim_set_hl(0, '@lsp.mod.kernel.opencl', {{ bold = true }})
vim.api.nvim_create_autocmd('LspAttach', {{ callback = function(event)
  vim.lsp.completion.enable(true, event.data.client_id, event.buf, {{ autotrigger = true }})
end }})
"""
NAMED = {
    "black": "#000000",
    "red": "#cd3131",
    "green": "#0dbc79",
    "brown": "#e5e510",
    "blue": "#2472c8",
    "magenta": "#bc3fbc",
    "cyan": "#11a8cd",
    "white": "#e5e5e5",
}


class Terminal:
    """A Neovim in a terminal of its own."""

    def __init__(self, command: list[str], environment: dict[str, str], artefacts: Path) -> None:
        self.screen = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self.screen)
        self._artefacts = artefacts
        self.failed = 0
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.execvpe(command[0], command, environment)
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))

    def read(self, seconds: float) -> None:
        """Take what the terminal gets until it has been quiet for so long."""
        while select.select([self._terminal], [], [], seconds)[0]:
            try:
                self._stream.feed(os.read(self._terminal, 65536))
            except OSError:
                return

    def keys(self, typed: str, pause_s: float = 0.06) -> None:
        """Press keys one by one."""
        for key in typed:
            os.write(self._terminal, key.encode())
            self.read(pause_s)

    @property
    def text(self) -> str:
        """The screen's text."""
        return "\n".join(self.screen.display)

    def check(self, name: str, seen: Callable[[str], bool]) -> None:
        """Wait until a screen shows what it should."""
        deadline = time.monotonic() + PATIENCE_S
        while not seen(self.text) and time.monotonic() < deadline:
            self.read(0.1)
        self.read(0.4)
        ok = seen(self.text)
        self.failed += not ok
        print(f"  {'ok  ' if ok else 'FAIL'} {name}" + ("" if ok else f"\n{self.text}"))

    def colour(self, word: str) -> str:
        """Return the colour of the last place of a word on the screen."""
        for row in reversed(range(ROWS)):
            at = self.screen.display[row].rfind(word)
            if at >= 0:
                return str(self.screen.buffer[row][at].fg)
        return ""

    def shot(self, name: str) -> None:
        """Draw the screen into a picture."""
        page = self._artefacts / f"nvim-{name}.html"
        page.write_text(self._page(), encoding="utf-8")
        picture = self._artefacts / f"nvim-{name}.png"
        subprocess.run(
            [
                *("chromium", "--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1020,680"),
                *(f"--screenshot={picture}", page.as_uri()),
            ],
            check=True,
            capture_output=True,
            timeout=120,
        )
        page.unlink()

    def _page(self) -> str:
        rows = []
        for row in range(ROWS):
            cells = [self.screen.buffer[row][column] for column in range(COLUMNS)]
            rows.append("".join(map(_cell, cells)))
        style = "background:#14161b;color:#e0e2ea;font:15px/1.25 'DejaVu Sans Mono',monospace;margin:8px"
        return f'<!doctype html><meta charset=utf-8><body style="{style}"><pre>{chr(10).join(rows)}</pre>'

    def end(self) -> None:
        """Leave Neovim."""
        self.keys("\x1b:qall!\r")
        os.waitpid(self.pid, 0)


def _cell(cell: pyte.screens.Char) -> str:
    front, back = _rgb(cell.fg, "#e0e2ea"), _rgb(cell.bg, "#14161b")
    if cell.reverse:
        front, back = back, front
    style = f"color:{front};background:{back}"
    style += ";font-weight:bold" * cell.bold + ";font-style:italic" * cell.italics
    style += ";text-decoration:underline" * cell.underscore
    return f'<span style="{style}">{html.escape(cell.data or " ")}</span>'


def _rgb(colour: str, default: str) -> str:
    if colour == "default":
        return default
    return NAMED.get(colour.removeprefix("bright"), f"#{colour}")


def go(line: int, column: int) -> str:
    """Return the keys that bring the cursor to a place."""
    return f":call cursor({line},{column})\r"


def look(it: Terminal) -> None:
    """Use the language features as a person does."""
    it.check("lenses show", lambda text: "emulate" in text)
    colours = ["d7875f", "5faf87"]
    it.check(
        "address spaces have their colours", lambda _: [it.colour("in[i]"), it.colour("tile[get")] == colours
    )
    it.shot("colours")
    it.keys(go(20, 18))
    it.keys("K")
    it.check("hover", lambda text: "float weigh(__local float *row, int n)" in text)
    it.shot("hover")
    it.keys("\x1b" + go(20, 18) + "\x1d")  # Ctrl-]: the tag, which the server answers.
    it.check("definition", lambda text: "7,7" in text)
    it.keys("gO")
    it.check("outline, the kernel first", lambda text: "    1 " in text and "[Event] blur" in text)
    it.shot("outline")
    it.keys(":lclose\r" + go(19, 1) + "O")
    it.keys("    get_lo", 0.15)
    it.keys("\x18\x0f")
    it.check("completion popup", lambda text: "get_local_id" in text and "get_local_size" in text)
    it.shot("completion")
    it.keys("\x1b:undo\r" + go(19, 1) + "Oclamp(1.0f, \x13", 0.1)
    it.check("signature help", lambda text: "float clamp(float x, float minval, float maxval)" in text)
    it.shot("signature")
    it.keys("\x1b\x1b")
    it.check("errors in a compiler's words", lambda text: "expected expression" in text)
    it.check("and no hints behind lines", lambda text: "left out by" not in text)
    it.shot("error")
    it.keys(":earlier 1f\r:edit!\r" + go(13, 19) + "grn")
    it.check("rename asks", lambda text: "New Name" in text)
    it.shot("rename")
    it.keys("\x15patch\r")
    it.check("rename changes every place", lambda text: "patch[16]" in text and "weigh(patch" in text)
    it.keys(":s/patch\\[16\\]/patch[ 16 ]/\r:lua vim.lsp.buf.format()\r")
    it.check("formatting", lambda text: "    __local float patch[16];" in text)
    it.shot("formatted")


def main() -> int:
    nvim, artefacts = sys.argv[1], Path(sys.argv[2]).absolute()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tiles.cl").write_text(KERNEL)
        (folder / "tiles.h").write_text("#define RADIUS 2\n")
        (folder / "init.lua").write_text(INIT.format(python=sys.executable))
        environment = {
            **os.environ,
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            **{f"XDG_{it}_HOME": str(folder / it.lower()) for it in ("CONFIG", "STATE", "DATA")},
            "CLMAP_CACHE_DIR": str(folder / "cache"),
        }
        command = [shutil.which(nvim) or nvim, "--clean", "--cmd", f"set rtp^={ROOT / 'editors/nvim'}"]
        command += ["--cmd", f"luafile {folder / 'init.lua'}", str(folder / "tiles.cl")]
        terminal = Terminal(command, environment, artefacts)
        look(terminal)
        terminal.end()
    print(f"look.py: {f'{terminal.failed} failed' if terminal.failed else 'all ok'}")
    return terminal.failed > 0


if __name__ == "__main__":
    sys.exit(main())
