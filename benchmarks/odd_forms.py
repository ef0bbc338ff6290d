"""Forms of OpenCL C for random kernels: each leaves its result in `r`, and has one on every implementation.

A form is made by a function of a random generator and a name of its own. It returns what stands before the
kernel and statements, which find `i` and `l` (global and local id), `v` and `w` (64 random bits each) and the
buffers `in` (128 numbers of 64 bits) and `fin` (256 floats, tricky ones among them).
"""

from __future__ import annotations

import random
from collections.abc import Callable

GROUP = 16
"""Work-items of a group; a power of two."""
_INTEGERS = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong")
_FLOATS = ("float", "double")
_BITS = {"char": 8, "short": 16, "int": 32, "long": 64, "float": 32, "double": 64}
_WIDER = {"char": "short", "short": "int", "int": "long"}
_MODES = ("", "_rte", "_rtz", "_rtp", "_rtn")
_DIGITS = "0123456789abcdef"
_SYNC = "barrier(CLK_LOCAL_MEM_FENCE);"

Form = Callable[[random.Random, str], tuple[str, str]]


def _bits(kind: str) -> int:
    return _BITS[kind if kind in _FLOATS else kind.removeprefix("u")]


def _named(kind: str, lanes: int) -> str:
    return f"{kind}{lanes}" if lanes > 1 else kind


def folded(kind: str, lanes: int, value: str) -> str:
    """Return statements that mix all of a vector into `r`; every NaN counts as the same."""
    parts = [f"x.s{_DIGITS[it]}" for it in range(lanes)] if lanes > 1 else ["x"]
    if kind in _FLOATS:
        whole = "uint" if kind == "float" else "ulong"
        parts = [f"(isnan({it}) ? ({whole})1 : as_{whole}({it}))" for it in parts]
    elif not kind.startswith("u"):
        parts = [f"(long){it}" for it in parts]
    mixed = " ".join(f"r = r * 31 + (ulong)({it});" for it in parts)
    return f"{{ {_named(kind, lanes)} x = {value}; {mixed} }}"


def _vector(kind: str, lanes: int, rng: random.Random) -> str:
    """Return an expression of random numbers."""
    each = []
    for _ in range(lanes):
        place = f"i * {rng.randrange(1, 99)} + {rng.randrange(999)}"
        is_float = kind in _FLOATS
        shift = rng.choice((0, 0, 7, 32, 60))
        each.append(
            f"({kind})fin[({place}) & 255]" if is_float else f"({kind})(in[({place}) & 127] >> {shift})"
        )
    return f"({kind}{lanes})({', '.join(each)})" if lanes > 1 else each[0]


def _finite(kind: str, lanes: int, value: str) -> str:
    """Return a value with 1 where implementations may differ: for infinities and NaN."""
    if lanes == 1:
        return f"(isfinite({value}) ? {value} : ({kind})1)"
    return f"select(({kind}{lanes})(1), {value}, isfinite({value}))"


def conversion(rng: random.Random, _: str) -> tuple[str, str]:
    source, target = rng.choice((*_INTEGERS, *_FLOATS)), rng.choice((*_INTEGERS, *_FLOATS))
    lanes = rng.choice((1, 2, 3, 4, 8, 16))
    value, mode = _vector(source, lanes, rng), rng.choice(_MODES)
    must = target in _INTEGERS and source in _FLOATS
    saturates = "_sat" if must or (target in _INTEGERS and rng.random() < 0.5) else ""
    return "", folded(target, lanes, f"convert_{_named(target, lanes)}{saturates}{mode}({value})")


def half_memory(rng: random.Random, _: str) -> tuple[str, str]:
    lanes, kind = rng.choice((1, 2, 3, 4, 8, 16)), rng.choice(_FLOATS)
    suffix = str(lanes) if lanes > 1 else ""
    aligned = rng.choice(("", "a")) if lanes not in (1, 3) else ""  # PoCL has none of scalars.
    value, mode = _vector(kind, lanes, rng), rng.choice(_MODES)
    room, shift = 16 * lanes, rng.choice((0, 9, 31))
    is_nan = "(h[k] & 0x7c00) == 0x7c00 && (h[k] & 0x3ff)"
    lines = [
        f"__private ushort h[{room}] __attribute__((aligned(64)));",
        f"for (int k = 0; k < {room}; k++) h[k] = 0;",
        f"vstore{aligned}_half{suffix}{mode}({value}, (i & 3), (__private half *)h);",
        f"for (int k = 0; k < {4 * lanes}; k++) r = r * 31 + ({is_nan} ? 1 : h[k]);",
        f"for (int k = 0; k < {room}; k++) h[k] = (ushort)(in[(i + k) & 127] >> {shift});",
        folded("float", lanes, f"vload{aligned}_half{suffix}((i & 3), (__private half *)h)"),
    ]
    return "", " ".join(lines)


def shuffled(rng: random.Random, _: str) -> tuple[str, str]:
    kind = rng.choice((*_INTEGERS, *_FLOATS))
    whole = {8: "uchar", 16: "ushort", 32: "uint", 64: "ulong"}[_bits(kind)]
    wide, out = rng.choice((2, 4, 8, 16)), rng.choice((2, 4, 8, 16))
    mask, first = _vector(whole, out, rng), _vector(kind, wide, rng)
    if rng.random() < 0.5:
        return "", folded(kind, out, f"shuffle({first}, {mask})")
    return "", folded(kind, out, f"shuffle2({first}, {_vector(kind, wide, rng)}, {mask})")


def reinterpreted(rng: random.Random, _: str) -> tuple[str, str]:
    source, lanes = rng.choice((*_INTEGERS, *_FLOATS)), rng.choice((1, 2, 3, 4, 8, 16))
    ways = [(it, lanes) for it in (*_INTEGERS, *_FLOATS) if _bits(it) == _bits(source)]
    for it in (*_INTEGERS, *_FLOATS):
        many, rest = divmod(_bits(source) * lanes, _bits(it))
        if lanes != 3 and not rest and many in (1, 2, 4, 8, 16):
            ways.append((it, many))
    target, many = rng.choice(ways)
    return "", folded(target, many, f"as_{_named(target, many)}({_vector(source, lanes, rng)})")


def swizzled(rng: random.Random, _: str) -> tuple[str, str]:
    kind, lanes = rng.choice(_INTEGERS), rng.choice((2, 3, 4, 8, 16))
    lines = [f"{kind}{lanes} a = {_vector(kind, lanes, rng)}, b = {_vector(kind, lanes, rng)};"]
    for _step in range(rng.randint(2, 5)):
        count = rng.choice([it for it in (1, 2, 3, 4) if it <= lanes])
        to = "".join(_DIGITS[it] for it in rng.sample(range(lanes), count))
        of = "".join(_DIGITS[rng.randrange(lanes)] for _ in range(count))
        operator = rng.choice(("=", "+=", "^=", "-=", "|=", "*="))
        lines.append(f"{rng.choice('ab')}.s{to} {operator} {rng.choice('ab')}.s{of};")
        if lanes in (4, 8, 16):
            halves = ("lo", "hi", "odd", "even")
            lines.append(f"a.{rng.choice(halves)} = b.{rng.choice(halves)};")
            inner = rng.choice(("even", "odd", "s0", "s1"))
            lines.append(f"b.{rng.choice(halves)}.{inner} ^= ({kind}){rng.randrange(99)};")
    chosen = f"a = b {rng.choice(('<', '==', '>=', '!='))} a ? a : b;"
    lines.append("a ^= b++;" if kind.startswith("u") else chosen)
    lines.append(folded(kind, lanes, f"a + {rng.choice(('b', '-b', '~b', 'b--', '++b'))}"))
    return "", " ".join(lines)


def structures(rng: random.Random, name: str) -> tuple[str, str]:
    kind, lanes = rng.choice(_INTEGERS), rng.choice((2, 3, 4, 8))
    inner, many = rng.choice(_INTEGERS), rng.randint(2, 5)
    packed = rng.choice(("", " __attribute__((packed))"))
    text = (
        f"typedef struct{packed} {{ {inner} a[{many}]; {kind}{lanes} v[2];"
        f" union {{ {kind} k; uchar b[8]; }} u; }} {name}_s;\n"
        f"{name}_s {name}_f({name}_s x, __local {name}_s *y, int n) {{\n"
        f"  x.a[n % {many}] += y->a[(n + 1) % {many}]; y->v[n & 1].s1 = x.v[0].s0;\n"
        "  x.v[1] = y->v[n & 1]; x.u.b[n & 3] ^= 0x5a; return x;\n}\n"
    )
    other = f"(l * {rng.choice((1, 3, 5))} + {rng.randrange(GROUP)}) & {GROUP - 1}"
    lines = [
        f"__local {name}_s t[{GROUP}]; __private {name}_s p;",
        f"for (int k = 0; k < {many}; k++) p.a[k] = ({inner})(v >> k);",
        f"p.v[0] = {_vector(kind, lanes, rng)}; p.v[1] = ({kind}{lanes})({rng.randrange(9)}); p.u.k = 0;",
        "for (int k = 0; k < 8; k++) p.u.b[k] = (uchar)(v >> 8 * k);",
        f"{_SYNC} t[l] = p; {_SYNC} p = t[{other}]; {_SYNC}",
        f"{name}_s q = {name}_f(p, &t[l], (int)(v & 7));",
        f"r = sizeof({name}_s) + 100 * (ulong)((uchar *)&q.v[1] - (uchar *)&q);",
        f"for (int k = 0; k < {many}; k++) r = r * 31 + (ulong)q.a[k];",
        "for (int k = 0; k < 8; k++) r = r * 31 + q.u.b[k];",
        *(folded(kind, lanes, it) for it in ("q.v[0]", "q.v[1]", "t[l].v[0]", "t[l].v[1]")),
    ]
    return text, " ".join(lines)


def components(rng: random.Random, name: str) -> tuple[str, str]:
    """Vectors in memory that are set and used by component."""
    kind, lanes = rng.choice((*_INTEGERS, *_FLOATS)), rng.choice((2, 3, 4, 8))
    space, other = rng.choice(("__private", "__local")), rng.randrange(lanes)
    used = rng.sample(range(lanes), rng.randint(1, lanes))
    declared = f"__local {kind}{lanes} t[{GROUP}][3];" if space == "__local" else f"{kind}{lanes} t[3];"
    row = "t[l]" if space == "__local" else "t"
    text = (
        f"void {name}_f({space} {kind}{lanes} *p, {kind} x) {{ p->s{_DIGITS[other]} = x;"
        f" p[1].s{_DIGITS[used[0]]} = p->s{_DIGITS[other]}; }}\n"
    )
    lines = [declared, f"{name}_f({row} + 1, {_vector(kind, 1, rng)});"]
    for lane in used:
        lines.append(f"{row}[0].s{_DIGITS[lane]} = {_vector(kind, 1, rng)};")
    lines.append(
        folded(kind, 1, f"{row}[1].s{_DIGITS[other]}") + folded(kind, 1, f"{row}[2].s{_DIGITS[used[0]]}")
    )
    lines += [folded(kind, 1, f"{row}[0].s{_DIGITS[lane]}") for lane in used]
    both = "".join(_DIGITS[it] for it in (used[0], used[-1]))
    lines.append(folded(kind, 2, f"{row}[0].s{both}"))
    return text, " ".join(lines)


def strided(rng: random.Random, _: str) -> tuple[str, str]:
    kind, lanes = rng.choice((*_INTEGERS, "float")), rng.choice((1, 2, 4))
    name, stride = _named(kind, lanes), rng.randint(1, 4)
    base = f"((__global const {name} *)in)"
    lines = [
        f"__local {name} a[{GROUP}], b[{GROUP}]; event_t e = 0;",
        f"{_SYNC} a[l] = ({name})(0); b[l] = ({name})(0); {_SYNC}",
        f"e = async_work_group_strided_copy(a, {base} + get_group_id(0), {rng.randint(1, 8)}, {stride}, e);",
        f"e = async_work_group_copy(b, {base}, {rng.randint(1, GROUP)}, e); wait_group_events(1, &e);",
    ]
    for value in ("a[l]", f"b[{GROUP - 1} - l]"):
        plain = kind != "float"
        whole = kind if plain else "uint"
        lines.append(folded(whole, lanes, value if plain else f"as_{_named(whole, lanes)}({value})"))
    return "", " ".join(lines)


def atomics(rng: random.Random, _: str) -> tuple[str, str]:
    """Local counters whose earlier values are used: sums of them, which no order changes."""
    kind = rng.choice(("int", "uint", "long", "ulong"))
    at = "atom" if _bits(kind) == 64 else "atomic"
    operator = rng.choice(("add", "sub", "and", "or", "xor", "min", "max"))
    lines = [
        f"__local {kind} c[4], s[2]; {_SYNC}",
        f"if (l < 4) c[l] = ({kind})in[l]; if (l < 2) s[l] = 0; {_SYNC}",
        f"{kind} was = {at}_inc(&c[l & 1]); {at}_add(&s[0], was);",
        f"{at}_{operator}(&c[2], ({kind})v); was = {at}_xchg(&c[3], ({kind})l); {at}_xor(&s[1], was);",
        f"{_SYNC} if (l == 0) {at}_xor(&s[1], c[3]); {_SYNC}",
        "r = (ulong)c[0] + 3 * (ulong)c[1] + 5 * (ulong)c[2] + 7 * (ulong)s[0] + 11 * (ulong)s[1];",
        f"{_SYNC} if (l == 3) {{ was = {at}_cmpxchg(&c[0], c[0] + ({kind})(v & 1), ({kind})77);",
        f"r += (ulong)was * 13 + (ulong)c[0] + (ulong){at}_dec(&c[1]); }}",
    ]
    return "", " ".join(lines)


def falling(rng: random.Random, _: str) -> tuple[str, str]:
    """A `switch` that falls through, in a loop, with barriers that all come to."""
    arms = list(range(rng.randint(2, 5)))
    rng.shuffle(arms)
    text = []
    for number in arms:
        jump = rng.choice(("break;", "break;", "", "", "continue;", "if (k & 1) break;"))
        meets = (
            f"{_SYNC} t[l] ^= (uint)r; {_SYNC} r += t[(l + 1) & {GROUP - 1}];" if rng.random() < 0.5 else ""
        )
        text.append(f"case {number}: r = r * 7 + {number} + k; {meets} {jump}")
    otherwise = f"default: r ^= 0x{rng.randrange(1 << 30):x}; {rng.choice(('break;', ''))}"
    text.insert(rng.randrange(len(text) + 1), otherwise)
    chosen = f"({rng.choice(('k', 'k * 3', 'k ^ 1'))}) % {len(arms) + 1}"
    lines = [
        f"__local uint t[{GROUP}]; {_SYNC} t[l] = (uint)v; {_SYNC}",
        f"for (int k = 0; k < {rng.randint(2, 6)}; k++) {{",
        f"switch ({chosen}) {{ {' '.join(text)} }} r += k; }}",
        "int m = (int)(v & 15); do { switch (m & 3) { case 1: r += 5; case 2:",
        "if (m > 9) { m -= 2; continue; } r ^= m; break; case 3: r *= 3; } } while (m-- > 0);",
    ]
    return "", " ".join(lines)


def pointers(rng: random.Random, name: str) -> tuple[str, str]:
    """Pointers that leave their array at either end and come back."""
    kind, far = rng.choice(_INTEGERS), rng.choice((1, 7, 1000, 1 << 20, (1 << 31) + 5))
    space = rng.choice(("__private", "__local"))
    text = (
        f"ulong {name}_g({space} {kind} *p, {space} {kind} **q, long n) {{ {space} {kind} *o = p + n;\n"
        "  *q = o - n + 2; return (ulong)(o - p) + (ulong)(p[1] ^ (*q)[-1]);\n}\n"
    )
    declared = f"__local {kind} a[{GROUP}][8];" if space == "__local" else f"{kind} a[8];"
    lines = [
        f"{declared} {space} {kind} *p = {'a[l]' if space == '__local' else 'a'};",
        f"for (int k = 0; k < 8; k++) p[k] = ({kind})(v >> k);",
        f"{space} {kind} *q = p + {far}L; q -= {far}L - 3; r = q[-2] + q - p;",
        f"{space} {kind} *e = p + 8; while (e-- != p) r = r * 31 + (ulong)*e; r += (e < p) + (ulong)(e - p);",
        f"e++; r += {name}_g(p, &q, -{far}L);",
        "r += (q > p) + 2 * (q >= p + 3) + 4 * (e == p) + (q - e) * 8;",
        "*q++ = 5; *++q = 6; --q; r += (ulong)*q + (ulong)q[1] * 3 + (ulong)q[-1];",
        f"{space} uchar *b = ({space} uchar *)q; r += b[{rng.randrange(_bits(kind) // 8)}];",
        "r += sizeof(*q) + (ulong)(&p[5] - &q[0]);",
    ]
    return text, " ".join(lines)


def shifts(rng: random.Random, _: str) -> tuple[str, str]:
    kind, lanes, operator = rng.choice(_INTEGERS), rng.choice((1, 2, 3, 4)), rng.choice(("<<", ">>"))
    if lanes > 1:  # Counts beyond the width are defined for vectors.
        count = f"({kind}{lanes})({rng.choice(('v', 'v >> 9', 'l', '63', '64', '31', '200'))} & 127)"
        return "", folded(kind, lanes, f"({_vector(kind, lanes, rng)} {operator} {count})")
    amount = f"(({rng.choice(('int', 'uint', 'long', 'ulong'))})v & {max(_bits(kind), 32) - 1})"
    line = folded(kind, 1, f"({kind})(({kind})w {operator} {amount})")
    return "", f"{line} {kind} y = ({kind})w; y {rng.choice(('<<=', '>>='))} {amount}; r += (ulong)y;"


def integer_functions(rng: random.Random, _: str) -> tuple[str, str]:
    kind, lanes = rng.choice(_INTEGERS), rng.choice((1, 2, 3, 4, 8, 16))
    a, b, c = (_vector(kind, lanes, rng) for _ in range(3))
    n, signed = lanes if lanes > 1 else "", kind.removeprefix("u")
    counted = f"clz({a}) + popcount({b})"
    ways = [
        (kind, f"clamp({a}, min({b}, {c}), max({b}, {c}))"),
        (kind, f"bitselect({a}, {b}, {c})"),
        (kind, f"select({a}, {b}, as_u{signed}{n}({c}))"),
        (kind, f"mad_hi({a}, {b}, {c})"),
        (kind, f"mad_sat({a}, {b}, {c})"),
        (kind, f"rotate({a}, {b})"),
        (kind, counted if lanes > 1 else f"({kind})({counted})"),
        (f"u{signed}", f"abs({a})"),
        (f"u{signed}", f"abs_diff({a}, {b})"),
        (kind, f"add_sat({a}, sub_sat({b}, {c}))"),
        (kind, f"rhadd({a}, hadd({b}, {c}))"),
    ]
    if signed == "int":
        small = f"({a} & ({kind}{n})(0x3fffff)), ({b} & ({kind}{n})(0x1ff))"
        ways += [(kind, f"mul24({small})"), (kind, f"mad24({small}, {c})")]
    if signed in _WIDER:
        wider = _WIDER[signed] if kind == signed else f"u{_WIDER[signed]}"
        ways.append((wider, f"upsample({a}, as_u{signed}{n}({b}))"))
    if kind == signed and rng.random() < 0.1:
        return "", folded("int", 1, f"any({a}) + 2 * all({b})")
    result, value = rng.choice(ways)
    return "", folded(result, lanes, value)


_EXACT = ("floor", "ceil", "trunc", "rint", "round", "fabs", "sign", "logb")
_EXACT_OF_TWO = ("fmin", "fmax", "copysign", "fdim", "nextafter", "step", "maxmag", "minmag")
_EXACT_OF_SCALARS = ("fmod", "remainder")
"""In vectors of PoCL what one lane gets depends on the others, as `frexp` of zero does on the width."""
_ORDERS = ("isequal", "isnotequal", "isgreater", "isgreaterequal", "isless", "islessequal", "islessgreater",
           "isordered", "isunordered")  # fmt: skip
_CLASSES = ("isnan", "isinf", "isfinite", "isnormal", "signbit")


def float_functions(rng: random.Random, _: str) -> tuple[str, str]:
    """Those whose results are exact."""
    kind, lanes = rng.choice(_FLOATS), rng.choice((1, 2, 3, 4, 8))
    a, b = _vector(kind, lanes, rng), _vector(kind, lanes, rng)
    n, finite, order = lanes if lanes > 1 else "", _finite(kind, lanes, a), rng.choice(_ORDERS)
    integer = {"float": "int", "double": "long"}[kind] if lanes > 1 else "int"

    two = _EXACT_OF_TWO + (_EXACT_OF_SCALARS if lanes == 1 else ())

    def with_second(second: str, call: str) -> str:
        return f"{_named(second, lanes)} e; {folded(kind, lanes, call)} {folded(second, lanes, 'e')}"

    chosen = f"select({a}, {b}, {order}({a}, {b}))" if lanes > 1 else f"({a} < {b} ? {a} : {b})"
    ways = [
        folded(kind, lanes, f"{rng.choice(_EXACT)}({a})"),
        folded(kind, lanes, f"{rng.choice(two)}({a}, {b})"),
        folded(integer, lanes, f"{order}({a}, {b})"),
        folded(integer, lanes, f"{rng.choice(_CLASSES)}({a})"),
        folded("int", lanes, f"ilogb({finite})"),
        folded(kind, lanes, f"ldexp({a}, (int{n})({rng.randint(-160, 160)}))"),
        *([with_second("int", f"frexp({finite}, &e)")] if lanes == 1 else []),
        with_second(kind, f"modf({a}, &e)"),
        with_second(kind, f"fract({finite}, &e)"),
        folded(kind, lanes, f"fma({a}, {b}, {_vector(kind, lanes, rng)})"),
        folded(kind, lanes, chosen),
    ]
    return "", rng.choice(ways)


def flow(rng: random.Random, name: str) -> tuple[str, str]:
    """C as people write it: side effects in conditions, narrow types, functions that return early."""
    kind = rng.choice(("char", "uchar", "short", "ushort", "int"))
    text = (
        f"enum {name}_e {{ {name}_A = 3, {name}_B, {name}_C = -2 }};\n"
        f"__constant {kind} {name}_t[2][3] = {{ {{ 1, {rng.randrange(100)} }}, {{ 4, 5, 6 }} }};\n"
        f"static inline {kind} {name}_h({kind} x, int *n) {{\n"
        f"  if (x > {rng.randrange(50)}) return ++*n;\n"
        f"  while (*n < {rng.randrange(9)}) if (++*n == 4) return x; return *n += 2;\n}}\n"
    )
    lines = [
        f"{kind} x = ({kind})v; int n = (int)(v & 7), m = 0, z[4] = {{ 1, 2 }};",
        f"x += 100; x *= 3; x >>= 1; x -= {name}_B; r = (ulong)(long)x;",
        "if (n++ > 3 && (m = n) > 5 || --n == 2) r += 10 + m; r += n * 3;",
        f"r += (x ? n : m, n) + !x + (m == 0 ? {name}_A : n > 2 ? {name}_C : 7u);",
        "z[n & 3]++; z[(n + 1) & 3] = z[n & 3]-- + m; r += z[0] + 3 * z[1] + 5 * z[2] + 7 * z[3];",
        "for (int j = 0, k = 9; j < k; j += 2, --k) {",
        "if (j == (int)(v & 3)) continue; r = r * 5 + j * k; if (k == 6) break; }",
        f"r = r * 31 + (ulong){name}_h(x, &n); r = r * 31 + (ulong){name}_h(({kind})n, &m) * 7;",
        f"r += {name}_t[v & 1][n % 3 < 0 ? 0 : n % 3] + n + m + (uchar)-1 + (char)200;",
        "r += ((short)0x8000 < 0) + (ulong)(-1 < 1u) * 2 + (ulong)((uchar)255 + 1 > 255) + 'A';",
        "r += sizeof(1 ? (char)1 : (short)2);",
    ]
    return text, " ".join(lines)


def vectors_of_three(rng: random.Random, _: str) -> tuple[str, str]:
    kind, turned = rng.choice((*_INTEGERS, *_FLOATS)), rng.choice(("021", "110", "222"))
    lines = [
        f"__local {kind}3 t[{GROUP}]; __private {kind} p[24]; __local {kind} s[{3 * GROUP}];",
        f"for (int k = 0; k < 24; k++) p[k] = ({kind}){rng.randrange(9)};",
        f"{_SYNC} t[l] = {_vector(kind, 3, rng)}; vstore3(t[l].zyx, l, s); {_SYNC}",
        f"vstore3(vload3({GROUP - 1} - l, s).s{turned}, i & 3, p + 1);",
        f"r = sizeof({kind}3) + 10 * vec_step({kind}3) + 100 * sizeof(t[0]);",
        *(folded(kind, 1, f"p[{k}]") for k in range(14)),
        folded(kind, 3, f"t[l ^ {rng.randrange(GROUP)}]"),
        folded(kind, 2, "t[l].xy"),
        folded(kind, 4, f"({kind}4)(t[l], p[3])"),
    ]
    return "", " ".join(lines)


def images(rng: random.Random, _: str) -> tuple[str, str]:
    """A read without interpolation of `im1f` and its kin, 8 texels a side, at a place that may be outside."""
    kind, shape = rng.choice(("f", "i", "ui")), rng.choice(("1", "2", "a", "3"))
    address = rng.choice(("CLAMP", "CLAMP_TO_EDGE", "NONE", "REPEAT", "MIRRORED_REPEAT"))
    is_normal = address in ("REPEAT", "MIRRORED_REPEAT") or (address != "NONE" and rng.random() < 0.3)
    if is_normal and shape == "a":
        shape = "3"  # PoCL takes the layer of an array for a part of the whole, too, which it is not.
    low, span = (0, 8) if address == "NONE" else (-5, 20)
    place = [f"(int)((v >> {rng.randrange(40)}) % {span}) + {low}" for _ in range(3)]
    is_float = is_normal or rng.random() < 0.4
    if is_float:  # Well inside a texel: what lies on an edge may go to either side.
        place = [f"(({it}) + 0.375f){' / 8.0f' if is_normal else ''}" for it in place]
    number = "float" if is_float else "int"
    two, four = f"({number}2)({place[0]}, {place[1]})", f"({number}4)({', '.join(place)}, 0)"
    at = {"1": place[0], "2": two}.get(shape, four)
    side = {"1": "get_image_width({})", "2": "get_image_dim({}).y", "a": "get_image_array_size({})"}
    image = f"im{shape}{kind}"
    sampler = f"CLK_ADDRESS_{address} | CLK_FILTER_NEAREST | CLK_NORMALIZED_COORDS_{str(is_normal).upper()}"
    whole = {"f": "float", "i": "int", "ui": "uint"}[kind]
    line = folded(whole, 4, f"read_image{kind}({image}, sm, {at})")
    asked = side.get(shape, "get_image_dim({}).z").format(image)
    return "", f"const sampler_t sm = {sampler}; {line} r += {asked};"


FORMS: dict[str, Form] = {
    it.__name__: it
    for it in (
        conversion, half_memory, shuffled, reinterpreted, swizzled, structures, components, strided, atomics,
        falling, pointers, shifts, integer_functions, float_functions, flow, vectors_of_three, images,
    )
}  # fmt: skip
