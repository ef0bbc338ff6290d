"""`goto` as scopes and loops, and the jumps that stay what they are."""

from random import Random

import pytest
from ir_dump import dump

from clmap_lsp.source import ir
from clmap_lsp.source.gotos import MAX_LABELS
from clmap_lsp.source.nesting import MAX_NESTING, nesting_of
from clmap_lsp.source.read import read_program


def lines(body: str) -> list[str]:
    source = f"__kernel void k(__global int *a, int n, int m) {{ {body} }}"
    program = read_program(source, "k.cl")
    assert [it.message for it in program.problems] == []
    return [it for it in dump(program.kernels[0]).splitlines()[1:] if "declare " not in it]


def kernel(body: str, head: str = "") -> ir.Kernel:
    return read_program(f"{head} __kernel void k(__global int *a, int n) {{ {body} }}", "k.cl").kernels[0]


def jumps(found: ir.Kernel) -> list[str]:
    return [it.name for it in ir.walk(found.body) if isinstance(it, (ir.Goto, ir.Label))]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "if (n) goto end; a[0] = 1; end: a[1] = 2;",
            """
            scope @1
              if n
                leave @1
              store4 a[0:int*4] = 1:int #0
            store4 a[1:int*4] = 2:int #1
            """,
        ),
        (
            "while (n) { if (m) goto next; if (n > m) break; a[0] = 1; next: a[1] = 2; }",
            """
            while n
              scope @1
                if m
                  leave @1
                if (n > m)
                  break
                store4 a[0:int*4] = 1:int #0
              store4 a[1:int*4] = 2:int #1
            """,
        ),
        (
            "again: a[n] = 1; if (n) goto again;",
            """
            scope @1
              do while n
                store4 a[n*4] = 1:int #0
            """,
        ),
        (
            "again: if (n) goto out; a[n] = 1; goto again; out: ;",
            """
            scope @2
              while forever
                scope @1
                  if n
                    leave @2
                  store4 a[n*4] = 1:int #0
                  leave @1
            """,
        ),
        ("unused: a[0] = 1;", "store4 a[0:int*4] = 1:int #0"),
    ],
)
def test_jumps_become_scopes_and_loops(body: str, expected: str) -> None:
    found = lines(body)
    wanted = [it for it in expected.splitlines() if it.strip()]
    indent = min(len(it) - len(it.lstrip()) for it in wanted)
    margin = min(len(it) - len(it.lstrip()) for it in found)
    assert [it[margin:] for it in found] == [it[indent:] for it in wanted]


@pytest.mark.parametrize(
    "body",
    [
        "if (n) goto in; while (n) { in: n--; }",
        "if (n) { in: n--; } if (n > 3) goto in;",
        "while (n) { again: n--; if (n == 7) break; if (n & 1) goto again; }",
    ],
)
def test_jumps_into_other_blocks_stay(body: str) -> None:
    found = kernel(body)
    assert jumps(found)
    assert ir.has_goto(found)


def test_helpers_keep_their_labels_apart() -> None:
    helper = "int f(int x) { if (x > 9) goto big; return x; big: return x / 2; }"
    found = kernel("a[0] = f(50) + f(60);", helper)
    assert jumps(found) == []
    assert len({it.label for it in ir.walk(found.body) if isinstance(it, ir.Scope)}) == 4


def test_many_labels_nest_no_deeper_than_can_be_walked() -> None:
    for count in (MAX_LABELS, 3 * MAX_LABELS):
        tests = " ".join(f"if (n == {it}) goto l{it};" for it in range(count))
        labels = " ".join(f"l{it}: a[{it}] = n;" for it in range(count))
        assert nesting_of(kernel(f"{tests} {labels}").body).depth <= MAX_NESTING


# ---------------------------------------------------------------------------- against an interpreter of jumps


class Spaghetti:
    """A random kernel of jumps between any of its blocks, as text and as instructions for one work-item."""

    FUEL = 25
    """Jumps that one work-item takes at most."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.n_labels = self.rng.randint(1, 5)
        self.left = list(range(self.n_labels))
        self.code: list[tuple] = []
        self.text: list[str] = []
        self._block(0)
        while self.left:
            self._label()
            self._work()

    def _block(self, depth: int) -> None:
        for _ in range(self.rng.randint(2, 5)):
            pick = self.rng.random()
            if pick < 0.3:
                self._jump()
            elif pick < 0.5 and self.left:
                self._label()
            elif pick < 0.7 and depth < 3:
                self._if(depth)
            else:
                self._work()

    def _label(self) -> None:
        label = self.left.pop(self.rng.randrange(len(self.left)))
        self.text.append(f"l{label}: ;")
        self.code.append(("label", label))

    def _condition(self) -> tuple[str, tuple[int, int]]:
        shift, wanted = self.rng.randrange(6), self.rng.randrange(2)
        return f"((x >> {shift}) & 1) == {wanted}", (shift, wanted)

    def _jump(self) -> None:
        label, (text, test) = self.rng.randrange(self.n_labels), self._condition()
        self.text.append(f"if ({text}) {{ if (fuel-- > 0) goto l{label}; }}")
        self.code.append(("jump", test, label))

    def _if(self, depth: int) -> None:
        text, test = self._condition()
        self.text.append(f"if ({text}) {{")
        at = len(self.code)
        self.code.append(())
        self._block(depth + 1)
        self.text.append("}")
        self.code[at] = ("if", test, len(self.code))

    def _work(self) -> None:
        number = self.rng.randrange(1, 50)
        self.text.append(f"x = (x * 5 + {number}) & 1023; o[i * 256 + n] = x; n++;")
        self.code.append(("work", number))

    @property
    def body(self) -> str:
        return f"int x = i * 7, n = 0, fuel = {self.FUEL};\n" + "\n".join(self.text)

    def run(self, item: int) -> list[int]:
        """Return what one work-item writes."""
        places = {it[1]: at for at, it in enumerate(self.code) if it[0] == "label"}
        x, fuel, at = item * 7, self.FUEL, 0
        out: list[int] = []
        while at < len(self.code):
            match self.code[at]:
                case ("work", number):
                    x = (x * 5 + number) & 1023
                    out.append(x)
                case ("jump", (shift, wanted), label) if (x >> shift) & 1 == wanted:
                    fuel -= 1
                    if fuel >= 0:
                        at = places[label]
                case ("if", (shift, wanted), end) if (x >> shift) & 1 != wanted:
                    at = end
                    continue
            at += 1
        return out


def test_random_jumps_do_what_they_say() -> None:
    """What the two engines run, against the interpreter above; most of the kernels are structured."""
    from clmap_lsp.devices import load_model
    from clmap_lsp.emulator.result import Engine
    from clmap_lsp.emulator.run import emulate
    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.emulator.symbolic import Budget, count
    from clmap_lsp.launch.model import BufferArgument, Fill, Launch

    structured = 0
    for seed in range(60):
        made = Spaghetti(seed)
        program = read_program(
            f"__kernel void k(__global int *o) {{ int i = get_global_id(0); {made.body} }}", "k.cl"
        )
        launch = Launch("k", (16,), (16,), {"o": BufferArgument(Fill.ZEROS, 16 * 256)})
        wanted = [made.run(it) for it in range(16)]
        result = emulate(program, program.kernels[0], launch, EmulationSettings(engine=Engine.JIT))
        rows = result.buffers["o"].data.view("i4").reshape(16, 256).tolist()
        assert rows == [it + [0] * (256 - len(it)) for it in wanted], seed
        counted = count(program.kernels[0], launch, load_model("nvidia-hopper"), budget=Budget())
        if counted.bail is not None:
            assert jumps(program.kernels[0]), seed
            continue
        structured += 1
        assert counted.is_exact, seed
        assert sum(it.executions for it in counted.sites.values()) == sum(map(len, wanted)), seed
    assert structured > 20
