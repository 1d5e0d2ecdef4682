"""Repeated properties in ``models.py``: the text is kept, and parsed once for all messages."""

from __future__ import annotations

from changewire_codegen.emit.conditions import model_rules
from changewire_codegen.names import snake
from changewire_codegen.nodes import Family, Nullable, Object, Property, RefTo
from changewire_codegen.writer import quoted_docstring

_WIDTH = 88


def class_tail(definition: Object, family: Family) -> list[str]:
    """Return the lines of a class below its fields: what it checks, and what it reads on demand."""
    texts = [prop for prop in definition.properties if prop.repeated]
    lines = model_rules(definition, family)
    if texts and not lines:
        lines = ["", "def __post_init__(self) -> None:", '    """Parse what is kept as text."""']
    for prop in texts:
        read = f"{_reader(definition, prop)}(self.{prop.attribute})"
        guarded = [f"    if self.{prop.attribute} is not UNSET:", f"        {read}"]
        lines += [f"    {read}"] if prop.required else guarded
    for prop in texts:
        lines += _accessor(definition, prop)
    if texts:
        doc = '"""Return the constructor call."""'
        lines += [
            "",
            "def __repr__(self) -> str:",
            f"    {doc}",
            "    return constructor_call(self)",
        ]
    return lines


def _accessor(definition: Object, prop: Property) -> list[str]:
    doc = [f"    {line}" for line in quoted_docstring((prop.description,), _WIDTH)]
    hint = _hint(prop) if prop.required else f"{_hint(prop)} | UnsetType"
    read = f"{_reader(definition, prop)}(self.{prop.attribute})"
    if not prop.required:
        read = f"UNSET if self.{prop.attribute} is UNSET else {read}"
    head = ["", "@property", f"def {prop.name}(self) -> {hint}:"]
    return [*head, *doc, f"    return {read}"]


def readers(family: Family) -> list[str]:
    """Return the functions from text to model, which stand below all classes."""
    exact = ", exact=True" if family.exact else ""
    return [
        f"{_reader(definition, prop)}: Callable[[Raw], {_hint(prop)}] ="
        f" repeated({_hint(prop)}{exact})"
        for definition in family.definitions.values()
        if isinstance(definition, Object)
        for prop in definition.properties
        if prop.repeated
    ]


def _reader(definition: Object, prop: Property) -> str:
    return f"_{snake(definition.name)}_{prop.name}"


def _hint(prop: Property) -> str:
    kind = prop.type.of if isinstance(prop.type, Nullable) else prop.type
    assert isinstance(kind, RefTo)  # noqa: S101 - the builder refuses other types
    return f"{kind.name} | None" if isinstance(prop.type, Nullable) else kind.name
