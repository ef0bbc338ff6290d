"""What the source calls the element at an offset of a buffer or array."""

from __future__ import annotations

from clmap_lsp.source.types import ArrayType, PointerType, StructType, Type, VectorType


def element_name(name: str, declared: Type, offset: int) -> str:
    """Return `q[16]`, `t[1][3]`, `s[2].v[0]`, `f[4].s2` for a byte offset from the start of a variable.

    `declared` is the variable's type; a pointer leads to elements of its pointee.
    """
    if isinstance(declared, PointerType):
        size = declared.pointee.size
        if not size:
            return f"{name} + {offset} bytes"
        return _inside(f"{name}[{offset // size}]", declared.pointee, offset % size)
    return _inside(name, declared, offset)


def _inside(name: str, kind: Type, offset: int) -> str:
    match kind:
        case ArrayType(element=element) if element.size:
            return _inside(f"{name}[{offset // element.size}]", element, offset % element.size)
        case StructType(fields=members, is_union=False):
            for member in members:
                if member.offset <= offset < member.offset + member.type.size:
                    inner = f"{name}.{member.name}" if member.name else name
                    return _inside(inner, member.type, offset - member.offset)
        case VectorType(element=element, lanes=lanes) if offset // element.size < lanes and offset:
            return f"{name}.s{offset // element.size:x}"
        case _:
            pass
    return name
