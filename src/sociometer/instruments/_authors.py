"""The texts in a Python file, found in its syntax tree; nothing of the file is executed or imported.

A text is named by where it is assigned: `NAME` in the module, `Class.NAME`, `function.NAME`, `Class.method.NAME` for
locals and attributes of `self`, and `NAME.key` for the value of a key in a dictionary. The new text of a call
`.replace(OLD, NEW)` is named `function.OLD`, without braces.
"""

import ast
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

from sociometer.core.errors import DataError
from sociometer.core.words import grouped

MOST_BYTES = 2_000_000
_DOUBLE_BRACES = re.compile(r"\{\{([A-Za-z_][A-Za-z0-9_]*)\}\}")
_WORD = re.compile(r"\w")


def python_texts(path: Path) -> dict[str, list[str]]:
    """Return all texts of a Python file by name, in the order of the file; a part that is computed is `{name}`."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise DataError(f"is larger than {MOST_BYTES:,} bytes, so it is not a file of prompts", path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd escapes in the authors' other strings are none of the user's business
            tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"is not a Python file ({error}); fetch it again", path) from None
    return grouped(_texts(tree, ()))


def python_text(path: Path, name: str) -> str:
    """Return the one text of this name that holds words; a DataError if the file has none or several."""
    held = dict.fromkeys(
        text for text in python_texts(path).get(name, ()) if _WORD.search(re.sub(r"\{.*?\}", "", text))
    )
    if len(held) != 1:
        count = "no text" if not held else f"{len(held)} different texts"
        raise DataError(f"has {count} named '{name}'; another release of the authors may differ", path)
    return next(iter(held))


def from_format(text: str) -> str:
    """Return a text for `str.format` with our placeholders: doubled braces are single, names in lower case."""
    try:
        parts = [(literal, field) for literal, field, _, _ in Formatter().parse(text)]
    except ValueError as error:
        raise DataError(f"a prompt of the authors is not a text for str.format ({error})") from None
    return "".join(literal if field is None else f"{literal}{{{field.lower()}}}" for literal, field in parts)


def from_double_braces(text: str) -> str:
    """Return a text whose placeholders are written `{{name}}` with ours."""
    return _DOUBLE_BRACES.sub(lambda match: f"{{{match[1].lower()}}}", text)


def _texts(node: ast.AST, scope: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _texts(child, (*scope, child.name))
            continue
        if isinstance(child, ast.Assign):
            for target in child.targets:
                if name := _target(target):
                    yield from _values(".".join((*scope, name)), child.value)
        elif isinstance(child, ast.AnnAssign) and child.value is not None and (name := _target(child.target)):
            yield from _values(".".join((*scope, name)), child.value)
        elif (new := _replacement(child)) is not None:
            yield f"{'.'.join(scope)}.{new[0]}", new[1]
        yield from _texts(child, scope)


def _values(name: str, value: ast.expr) -> Iterator[tuple[str, str]]:
    if isinstance(value, ast.Dict):
        for key, one in zip(value.keys, value.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield from _values(f"{name}.{key.value}", one)
    elif (text := _text(value)) is not None:
        yield name, text


def _target(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return node.attr
    return ""


def _replacement(node: ast.AST) -> tuple[str, str] | None:
    """The old and new text of a call `.replace("{{old}}", new)`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "replace"):
        return None
    if len(node.args) != 2 or not isinstance(node.args[0], ast.Constant) or not isinstance(node.args[0].value, str):
        return None
    text = _text(node.args[1])
    return None if text is None else (node.args[0].value.strip("{}"), text)


def _text(node: ast.expr) -> str | None:
    """The text of an expression of constants, sums and f-strings; None for any other."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            parts = _text(left), _text(right)
            return None if parts[0] is None or parts[1] is None else parts[0] + parts[1]
        case ast.JoinedStr(values=values):
            pieces = [_text(one.value if isinstance(one, ast.FormattedValue) else one) for one in values]
            return None if None in pieces else "".join(piece for piece in pieces if piece is not None)
        case ast.Subscript(slice=ast.Constant(value=str(name))) | ast.Name(id=name) | ast.Attribute(attr=name):
            return f"{{{name.lower()}}}"
    return None
