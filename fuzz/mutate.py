# ruff: noqa: SIM905 - so many words read better as text than as a list
"""Inputs made of other inputs: tokens deleted, doubled, swapped, replaced; bytes broken; sources joined."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

_TOKEN = re.compile(r"\s+|\w+|\"[^\"\n]*\"|<<=|>>=|->|\+\+|--|&&|\|\||##|[-+*/%&|^<>=!]=|<<|>>|.", re.DOTALL)

NUMBERS = (
    "0 1 2 3 7 8 15 16 31 32 33 63 64 65 127 128 255 256 1000 65535 65536 -1 0x7fffffff 0x80000000 "
    "4294967295 2147483648 0x7fffffffffffffff 0x8000000000000000 18446744073709551615 "
    "99999999999999999999 1e308 1e-45f 0.0f nan 1.5h 08 0xg 0b1 1ull 'a' '\\0' '\\xff' ''"
).split(" ")
NUMBERS += ["1" * 5000, "0x" + "f" * 5000, "0x1p99999", "0xp1", "1e99999"]
NUMBERS += ["(-1)**0.5", "2**4095", "1<<4000", "9" * 390]
"""Numbers of every kind, those among them that Python refuses to read, print or compare with floats."""
WORDS = (
    "__kernel kernel __global __local __constant __private const volatile restrict int uint float float4 "
    "double char uchar16 long ulong half bool void size_t int3 image2d_t sampler_t event_t struct union "
    "enum typedef sizeof if else for while do switch case default break continue return goto "
    "barrier(CLK_LOCAL_MEM_FENCE); get_global_id(0) get_local_id(1) get_group_id(0) get_local_size(0) "
    "get_num_groups(3) atomic_add vload4 vstore4 as_int convert_int4_sat select mad24 "
    "async_work_group_copy printf __attribute__ #define #include #if #ifdef #else #endif #undef #pragma "
    "#line #error defined __VA_ARGS__ __LINE__ ## # \\ // /* */ \" ' ( ) [ ] { } ; , . -> ? : + - * / % &"
    " | ^ ~ ! << >> <<= == != <= && || = += -= *= ++ -- .x .s0 .lo .xyzw .sF a b c i n x y \x0c \r \t "
    "\x00 é \ud83d"
).split(" ")
WORDS += [
    '\\"' * 300,
    "/*" * 300,
    "(" * 300,
    "`![x](https://evil.example/x)`",
    "\x1b]0;x\x07",
    "sin(i)*cos(i)",
]

Mutation = Callable[[random.Random, list[str], Sequence[str]], list[str]]


def mutated(rng: random.Random, seeds: Sequence[str]) -> str:
    """Return a text made of one of the seeds (or of two) by a few random changes."""
    tokens = _TOKEN.findall(rng.choice(seeds))
    if rng.random() < 0.15:
        tokens = _joined(rng, tokens, _TOKEN.findall(rng.choice(seeds)))
    for _ in range(rng.choice((1, 1, 2, 3, 5, 12))):
        tokens = [it for it in rng.choice(_MUTATIONS)(rng, tokens, seeds) if it]
    return "".join(tokens)[:40_000]


def mutated_bytes(rng: random.Random, seeds: Sequence[bytes]) -> bytes:
    """Return bytes made of some seeds, with a few bytes changed, dropped, doubled or inserted."""
    data = bytearray(b"".join(rng.choice(seeds) for _ in range(rng.randint(1, 5))))
    for _ in range(rng.choice((0, 1, 2, 5))):
        at = rng.randrange(len(data) + 1)
        match rng.randrange(5):
            case 0:
                data[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                del data[at : at + rng.randint(1, 40)]
            case 2:
                data[at:at] = rng.choice(
                    (b"\r\n\r\n", b"\n", b"\0", b"\xff", b"{", b"]", b"Content-Length: 7\r\n")
                )
            case 3:
                data[at:at] = data[at : at + rng.randint(1, 60)]
            case _:
                data[at:at] = rng.choice(
                    (b"-1", b"99999999999", b"null", b"[]", b"1e400", b'"\\ud800"', b"true")
                )
    return bytes(data)


def _joined(rng: random.Random, left: list[str], right: list[str]) -> list[str]:
    return left[: rng.randrange(len(left) + 1)] + right[rng.randrange(len(right) + 1) :]


def _delete(rng: random.Random, tokens: list[str], _: Sequence[str]) -> list[str]:
    at = rng.randrange(len(tokens) + 1)
    return tokens[:at] + tokens[at + rng.choice((1, 1, 2, 5, 30)) :]


def _double(rng: random.Random, tokens: list[str], _: Sequence[str]) -> list[str]:
    at = rng.randrange(len(tokens) + 1)
    part = tokens[at : at + rng.choice((1, 3, 8, 40))]
    return tokens[:at] + part * rng.choice((2, 2, 3, 20)) + tokens[at:]


def _swap(rng: random.Random, tokens: list[str], _: Sequence[str]) -> list[str]:
    if len(tokens) > 1:
        a, b = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        tokens[a], tokens[b] = tokens[b], tokens[a]
    return tokens


def _replace(rng: random.Random, tokens: list[str], _: Sequence[str]) -> list[str]:
    if tokens:
        tokens[rng.randrange(len(tokens))] = rng.choice(WORDS)
    return tokens


def _insert(rng: random.Random, tokens: list[str], _: Sequence[str]) -> list[str]:
    tokens.insert(rng.randrange(len(tokens) + 1), f" {rng.choice(WORDS)} ")
    return tokens


def _renumber(rng: random.Random, tokens: list[str], _: Sequence[str]) -> list[str]:
    places = [at for at, it in enumerate(tokens) if it[0].isdigit()]
    if places:
        tokens[rng.choice(places)] = rng.choice(NUMBERS)
    return tokens


def _rename(rng: random.Random, tokens: list[str], _: Sequence[str]) -> list[str]:
    """Put one word of the text where another stands: this keeps most texts meaningful."""
    places = [at for at, it in enumerate(tokens) if it[0].isalpha()]
    if places:
        tokens[rng.choice(places)] = tokens[rng.choice(places)]
    return tokens


def _deepen(rng: random.Random, tokens: list[str], _: Sequence[str]) -> list[str]:
    opening, closing = rng.choice(
        ("()", "{}", "[]", ("(int)", ""), ("-", ""), ("x?", ":0"), ("if(1)", ""), ("*", ""))
    )
    depth = rng.choice((2, 20, 200, 2000))
    at = rng.randrange(len(tokens) + 1)
    return [*tokens[:at], opening * depth, *tokens[at : at + 1], closing * depth, *tokens[at + 1 :]]


def _transplant(rng: random.Random, tokens: list[str], seeds: Sequence[str]) -> list[str]:
    other = _TOKEN.findall(rng.choice(seeds))
    start = rng.randrange(len(other) + 1)
    at = rng.randrange(len(tokens) + 1)
    return tokens[:at] + other[start : start + rng.choice((3, 10, 40))] + tokens[at:]


_MUTATIONS: tuple[Mutation, ...] = (
    _delete, _double, _swap, _replace, _insert, _renumber, _renumber, _rename, _rename, _rename, _deepen,
    _transplant,
)  # fmt: skip
