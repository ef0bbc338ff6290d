"""Makes random OpenCL C kernels whose results every conforming implementation must agree on.

Signed arithmetic goes through the unsigned type, divisors are small and positive, and loops are short, so
that nothing is undefined; shifts beyond the width are defined by OpenCL C.
"""

from dataclasses import dataclass

SCALARS = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong")
LANES = (1, 1, 1, 2, 3, 4, 8, 16)


@dataclass
class Type:
    base: str
    lanes: int

    def __str__(self):
        return self.base if self.lanes == 1 else f"{self.base}{self.lanes}"

    @property
    def unsigned(self):
        return Type(self.base if self.base.startswith("u") else "u" + self.base, self.lanes)

    @property
    def is_signed(self):
        return not self.base.startswith("u")


class Generator:
    """One kernel: reads `in`, computes in a few variables, writes `out`."""

    def __init__(self, rng):
        self.rng = rng
        self.type = Type(rng.choice(SCALARS), rng.choice(LANES))
        self.names = []

    def kernel(self, name):
        kind = self.type
        body = [
            f"{kind} x = vload(i);",
            f"{kind} y = vload(i + 64);",
            f"{kind} z = ({kind})({self.literal()});",
        ]
        self.names = ["x", "y", "z"]
        for _ in range(self.rng.randint(2, 6)):
            body.append(self.statement(2))
        load = "in[i]" if kind.lanes == 1 else f"vload{kind.lanes}(i, in)"
        text = "\n  ".join(body)
        text = text.replace("vload(i + 64)", load.replace("i]", "i + 64]").replace("(i,", "(i + 64,"))
        text = text.replace("vload(i)", load)
        store = "out[i] = x ^ y ^ z;" if kind.lanes == 1 else f"vstore{kind.lanes}(x ^ y ^ z, i, out);"
        return (
            f"__kernel void {name}(__global const {kind.base} *in, __global {kind.base} *out) {{\n"
            f"  int i = get_global_id(0);\n  {text}\n  {store}\n}}\n"
        )

    def literal(self):
        return str(self.rng.randint(-100, 100) if self.type.is_signed else self.rng.randint(0, 200))

    def statement(self, depth):
        rng, name = self.rng, self.rng.choice(self.names)
        form = rng.randrange(8)
        if form == 0 and depth:
            inner = self.statement(depth - 1)
            other = self.statement(depth - 1)
            return f"if ({self.test()}) {{ {inner} }} else {{ {other} }}"
        if form == 1 and depth:
            loop = f"k{depth}"
            jump = rng.choice(["", f"if ({self.test()}) break;", f"if ({self.test()}) continue;"])
            inner = self.statement(depth - 1)
            return f"for (int {loop} = 0; {loop} < {rng.randint(1, 5)}; {loop}++) {{ {jump} {inner} }}"
        if form == 2 and depth:
            arms = "".join(
                f"case {n}: {self.statement(depth - 1)} {rng.choice(['break;', ''])} "
                for n in range(rng.randint(1, 3))
            )
            return f"switch (i & 3) {{ {arms} default: {self.statement(0)} }}"
        if form == 3 and self.type.lanes > 1:
            lane = f"s{rng.randrange(min(self.type.lanes, 10))}"
            return f"{name}.{lane} = (i & 1) ? {name}.s0 : ({self.type.base}){rng.randint(0, 9)};"
        return f"{name} = {self.expression(3)};"

    def test(self):
        left = self.rng.choice(self.names)
        left = left if self.type.lanes == 1 else f"{left}.s{self.rng.randrange(min(self.type.lanes, 10))}"
        operator = self.rng.choice(["<", "<=", "==", "!=", ">", ">="])
        return f"{left} {operator} ({self.type.base})({self.literal()})"

    def expression(self, depth):
        rng, kind = self.rng, self.type
        if depth == 0 or rng.random() < 0.15:
            return rng.choice([*self.names, f"({kind})({self.literal()})"])
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        unsigned = kind.unsigned
        cast, back = f"as_{unsigned}", f"as_{kind}"
        form = rng.randrange(14)
        if form <= 2:
            operator = rng.choice("+-*")
            if kind.lanes == 1:
                return f"({kind})(({unsigned})({a}) {operator} ({unsigned})({b}))"
            return f"{back}({cast}({a}) {operator} {cast}({b}))"
        if form <= 4:
            return f"(({a}) {rng.choice('&|^')} ({b}))"
        if form == 5:
            # Narrow scalars are promoted, so only the count's low bits may matter.
            width = {"char": 8, "short": 16, "int": 32, "long": 64}[kind.base.removeprefix("u")]
            mask = f"(({kind})({width - 1}))"
            left = f"({unsigned})({a})" if kind.lanes == 1 else f"{cast}({a})"
            right = f"(({b}) & {mask})"
            if rng.random() < 0.5:
                shifted = f"({left} << {right})" if kind.lanes == 1 else f"({left} << {cast}{right})"
                return f"({kind}){shifted}" if kind.lanes == 1 else f"{back}{shifted}"
            return f"({kind})(({a}) >> {right})" if kind.lanes == 1 else f"(({a}) >> {right})"
        if form == 6:
            divisor = f"((({b}) & ({kind})(15)) + ({kind})(1))"
            divisor = f"({kind}){divisor}" if kind.lanes == 1 else divisor
            return (
                f"({kind})(({a}) {rng.choice('/%')} {divisor})"
                if kind.lanes == 1
                else f"(({a}) {rng.choice('/%')} {divisor})"
            )
        if form == 7:
            return f"({kind})(~({a}))" if kind.lanes == 1 else f"(~({a}))"
        if form == 8:
            other = Type(rng.choice(SCALARS), kind.lanes)
            saturate = rng.choice(["", "_sat"])
            return f"convert_{kind}{saturate}(convert_{other}{rng.choice(['', '_sat'])}({a}))"
        if form == 9:
            name = rng.choice(["min", "max", "add_sat", "sub_sat", "hadd", "rhadd", "mul_hi", "rotate"])
            return f"{name}(({kind})({a}), ({kind})({b}))"
        if form == 10:
            name = rng.choice(["clz", "popcount"])
            call = f"{name}(({kind})({a}))"
            return f"({kind})(0 | {call})" if kind.lanes == 1 else f"(({kind})(0) | {call})"
        if form == 11:
            return f"convert_{kind}(abs_diff(({kind})({a}), ({kind})({b})))"
        if form == 12 and kind.lanes == 1:
            return f"({kind})(({a}) < ({b}) ? ({a}) : ({b}))"
        if form == 12:
            signed = Type(kind.base.removeprefix("u"), kind.lanes)
            return f"select({a}, {b}, as_{signed.unsigned}({a}) > as_{signed.unsigned}({b}))"
        return f"mad_sat(({kind})({a}), ({kind})({b}), ({kind})({self.literal()}))"
