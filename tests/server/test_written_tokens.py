"""Semantic tokens while a person types are those of the text as it is, each written relative to the last."""

import random

import pytest
from lsprotocol.types import PositionEncodingKind

from clmap_lsp.index.meaning import Said
from clmap_lsp.index.reading import read_index
from clmap_lsp.server.documents import Document
from clmap_lsp.server.features.semantic import Encoded, difference
from clmap_lsp.server.indexing import Indexed

PATH = "/typed.cl"
TEXT = """#define TILE 16
#define AT(i, n) ((i) < (n) ? values[i] : values[(n) - 1])
#define SCALED(name, type) void name(global type *to, int n) { for (int i = 0; i < n; i++) to[i] *= n; }
struct Pair { float first; int second; };
SCALED(scale, float)
SCALED(scale_again, int)

#if TILE > 32
int left_out = 1; /* é */
#endif
float mean(const struct Pair *pair, int count) { return pair->first / count; }

kernel void reduce(global float *values, global const int *order, local float *tile, int n)
{
    const int gid = get_global_id(0), lane = get_local_id(0);
    float sum = 0.0f; /* \U0001d465 and ü */ float other = sum;
    for (int k = 0; k < TILE; k++) {
        sum += AT(gid + k, n) * order[k];
        tile[lane] = sum; /* 空 */ other = tile[lane ^ 1];
    }
    struct Pair pair = {sum, n};
    values[gid] = mean(&pair, n) + other;
}

kernel void copy(global float *values, int n) { values[get_global_id(0)] = AT(n, 3); }
"""
TYPED = (
    *(
        " int x = get_global_id(0);",
        "x",
        " ",
        "\n",
        "\r\n",
        "\r",
        "/*",
        "*/",
        "é",
        "\U0001d465",
        "{",
        "}",
        ";",
    ),
    *("{", "}", ";", "\n#define N 3\n", "AT(", ")", "\\\n", "n = gid;", '"'),
)


def edited(text: str, dice: random.Random) -> str:
    """Return a text with something typed, deleted or pasted somewhere."""
    at = dice.randrange(len(text) + 1)
    match dice.randrange(4):
        case 0:
            return text[:at] + text[at + dice.randrange(1, 30) :]
        case 1:
            start = dice.randrange(len(text))
            return text[:at] + text[start : start + 50] + text[at:]
        case _:
            return text[:at] + dice.choice(TYPED) + text[at:]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("encoding", list(PositionEncodingKind))
def test_tokens_of_an_edited_text_are_those_of_one_that_is_opened(
    seed: int, encoding: PositionEncodingKind
) -> None:
    dice = random.Random(seed)
    text, index, before = TEXT, None, None
    for version in range(60):
        document = Document(f"file://{PATH}", "opencl", version, text, encoding)
        index = read_index(text, PATH, previous=index)
        now = Encoded.of(Indexed(document, index), before)
        opened = Encoded.of(Indexed(document, read_index(text, PATH)), None)
        assert now.data == opened.data
        if before is not None:
            data = list(before.data)
            for it in difference(before.data, now.data):
                data[it.start : it.start + it.delete_count] = it.data or ()
            assert data == now.data
        before = now
        following = edited(text, dice)
        if version % 8 == 7:
            following, before, index = TEXT, None, None
        text = following


def test_what_an_edit_leaves_alone_is_not_written_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from clmap_lsp.server.features import semantic

    first = Indexed(Document(f"file://{PATH}", "opencl", 1, TEXT), read_index(TEXT, PATH))
    before = Encoded.of(first, None)
    text = TEXT.replace("other = tile", "int typed = 1; other = tile")
    second = Indexed(
        Document(f"file://{PATH}", "opencl", 2, text), read_index(text, PATH, previous=first.index)
    )
    spans: list[int] = []

    def noted(document: Document, found: Said, first: int, end: int, *, is_part: bool = True) -> list[int]:
        spans.append(end - first)
        return written(document, found, first, end, is_part=is_part)

    written = semantic.written
    monkeypatch.setattr(semantic, "written", noted)
    now = Encoded.of(second, before)
    assert now.data != before.data
    assert spans == [sum(spans)]
    assert spans[0] <= 12
