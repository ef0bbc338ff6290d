"""What two spellings of one address share."""

from __future__ import annotations

from clmap_lsp.source import ir

Spelling = tuple[object, ...]


def spelling(address: ir.Expression, *, temporaries_alike: bool = False) -> Spelling:
    """Return what is equal for addresses that are computed alike, whatever they are converted to on the way.

    Args:
        temporaries_alike: take variables that the compiler named for one: `bins[code[i]]` loads `code[i]`
            into another of them each time.
    """
    parts: list[object] = []
    for node in ir.nodes(address):
        match node:
            case ir.Convert() | ir.PointerCast():
                pass
            case ir.Read(variable=variable) | ir.ObjectAddress(variable=variable):
                parts.append(ir.Read if temporaries_alike and variable.is_temporary else variable)
            case ir.Constant(value=told) | ir.WorkItem(query=told):
                parts.append(told)
            case ir.Unary(op=told) | ir.Binary(op=told) | ir.Compare(op=told) | ir.Logical(op=told):
                parts.append(told)
            case ir.FieldAddress(field=field):
                parts.append(field.offset)
            case ir.PointerOffset(stride=told) | ir.Builtin(name=told) | ir.Undefined(name=told):
                parts.append(told)
            case ir.Swizzle(lanes=told) | ir.InsertLanes(lanes=told):
                parts.append(told)
            case _:
                parts.append(type(node))
    return tuple(parts)
