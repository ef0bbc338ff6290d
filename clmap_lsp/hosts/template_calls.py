"""Templates that host programs in Python fill in before they build kernels: Mako, Jinja, `string.Template`.

The text stays as it is written, since that is where findings point; what is put into it is noted by name.
"""

from __future__ import annotations

from clmap_lsp.hosts.interpreter import CallHandler, Interpreter
from clmap_lsp.hosts.tree import Call, Opaque
from clmap_lsp.hosts.values import FileText, Text, Value


def named_given(interpreter: Interpreter, call: Call) -> dict[str, Value]:
    """Return what a call is given by name, the entries of `**dictionary` too."""
    given = {name: interpreter.value(it) for name, it in call.keywords.items()}
    for it in call.arguments:
        if isinstance(it, Opaque) and it.text == "**" and it.parts:
            given.update(interpreter.entries(interpreter.value(it.parts[0])))
    return given


def _template(interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    """`Template(text)`."""
    if not interpreter.path.endswith(".py") or not values:
        return None
    return interpreter.text(values[0])


def _filled(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`template.render(name=value)`."""
    text = values[0]
    if not isinstance(text, Text) or not interpreter.path.endswith(".py"):
        return None
    files = [(it.name, 0) for it in text.parts if isinstance(it, FileText)]
    for name, value in named_given(interpreter, call).items():
        for path, row in files or [(text.path, text.row)]:
            interpreter.note_filled(path, row, name, interpreter.text(value) or value)
    return text


TEMPLATES: dict[str, CallHandler] = {
    "Template": _template,
    ".Template()": lambda interpreter, call, values: _template(interpreter, call, values[1:]),
    ".from_string()": lambda interpreter, call, values: _template(interpreter, call, values[1:]),
    **dict.fromkeys((".render()", ".substitute()", ".safe_substitute()"), _filled),
}
"""By the name of a function: what it does."""
