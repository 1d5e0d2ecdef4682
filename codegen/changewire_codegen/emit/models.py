"""``models.py`` of a family: msgspec structs, by datamodel-code-generator."""

from __future__ import annotations

import json
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

from datamodel_code_generator import (
    InputFileType,
    LiteralType,
    PythonVersion,
    generate,
)
from datamodel_code_generator.enums import DataModelType
from datamodel_code_generator.format import DatetimeClassType

from changewire_codegen.emit.checks import check_tables, row_checks
from changewire_codegen.emit.head import module_docstring
from changewire_codegen.emit.lower import OPEN_TAG, exact_hint, lower, neutral_name
from changewire_codegen.emit.repeated import class_tail, readers, repeated_row
from changewire_codegen.nodes import Family, Object, Property, Row, Scalar
from changewire_codegen.order import has_extra, parsed_apart
from changewire_codegen.writer import quoted_docstring

TEMPLATES = Path(__file__).with_name("templates")
IMPORTS = [
    *("typing.Annotated", "typing.Any", "typing.ClassVar", "typing.Literal"),
    *(
        "collections.abc.Callable",
        "collections.abc.Mapping",
        "msgspec.Raw",
        "msgspec.Meta",
        "msgspec.UNSET",
        "msgspec.UnsetType",
        "msgspec.field",
    ),
]
SUPPORT = ("Extra", "OpenTag", "constructor_call", "repeated")
TEXT_WIDTH = 92


def models(family: Family, package: str) -> str:
    """Return the source of the module, unformatted.

    Args:
        family: What to emit.
        package: Import name of the generated package.
    """
    structs = [d for d in family.definitions.values() if isinstance(d, (Object, Row))]
    tail = "\n".join([*readers(family), *check_tables(family)])
    body = _generate(lower(family), {d.name: _class_data(d, family) for d in structs}, package)
    names = sorted(family.definitions)
    exported = ",\n    ".join(map(repr, names))
    public = f"__all__ = [\n    {exported},\n]"
    return f"{module_docstring('Messages', family)}\n{body}\n\n{tail}\n\n{public}\n"


def _generate(schema: dict[str, Any], data: dict[str, Any], package: str) -> str:
    """Call datamodel-code-generator; nothing else of this project sees it."""
    with warnings.catch_warnings():
        # Of a union of messages in MessagePack, whose reader chooses the arm before it decodes.
        warnings.filterwarnings("ignore", message="msgspec cannot decode the union")
        return _generated(schema, data, package)


def _generated(schema: dict[str, Any], data: dict[str, Any], package: str) -> str:
    output = generate(
        json.dumps(schema),
        input_file_type=InputFileType.JsonSchema,
        output_model_type=DataModelType.MsgspecStruct,
        target_python_version=PythonVersion.PY_310,
        output_datetime_class=DatetimeClassType.Datetime,
        enum_field_as_literal=LiteralType.All,
        use_annotated=True,
        use_msgspec_tagged_unions=True,
        strict_refs=True,
        allow_remote_refs=False,
        disable_timestamp=True,
        formatters=[],
        custom_file_header="#",
        custom_template_dir=TEMPLATES,
        extra_template_data=defaultdict(dict, data),
        additional_imports=[*IMPORTS, *(f"{package}.support.{name}" for name in SUPPORT)],
    )
    return str(output).removeprefix("#\n")


def _class_data(definition: Object | Row, family: Family) -> dict[str, Any]:
    """Return what the template needs to know of one class."""
    children = definition.properties if isinstance(definition, Object) else definition.positions
    tag = definition.tag if isinstance(definition, Object) else None
    options: dict[str, object] = {"frozen": True, "gc": False}
    options["forbid_unknown_fields"] = definition.name not in parsed_apart(family)
    if isinstance(definition, Row):
        options["array_like"] = True
    if isinstance(definition, Object) or _defaults(definition):
        options["kw_only"] = True
    if tag is not None:
        options["tag_field"] = repr(tag.wire)
        options["tag"] = repr(OPEN_TAG if tag.value is None else tag.value)
    rows = [_row(i, child, definition) for i, child in enumerate(children)]
    if has_extra(definition, family):
        rows.append(_EXTRA)
    return {
        "options": options,
        "doc": quoted_docstring((definition.description,), TEXT_WIDTH),
        "rows": rows,
        "tail": class_tail(definition, family)
        if isinstance(definition, Object)
        else row_checks(definition, family),
    }


def _defaults(row: Row) -> dict[str, str]:
    """Return the constant of each position that has one.

    The last position gets none: a default would let a shorter array pass.
    """
    found: dict[str, str] = {}
    for prop in row.positions[:-1]:
        values = prop.type.enum if isinstance(prop.type, Scalar) else None
        if values is not None and len(values) == 1:
            found[prop.wire] = repr(values[0])
    return found


_EXTRA = {
    "name": "extra",
    "hint": "Extra | UnsetType",
    "value": 'field(name="@extra", default=UNSET)',
    "doc": quoted_docstring(
        ("Properties that the schema does not name, by JSON Pointer; unset where there are none.",),
        TEXT_WIDTH,
    ),
}


def _row(index: int, prop: Property, owner: Object | Row) -> dict[str, Any]:
    tag = owner.tag if isinstance(owner, Object) else None
    doc = quoted_docstring((prop.description,), TEXT_WIDTH)
    row: dict[str, Any] = {"name": prop.name, "key": neutral_name(index), "doc": doc}
    if prop.repeated:
        return repeated_row(prop, row)
    if tag is not None and prop.wire == tag.wire:
        if tag.value is None:
            return {**row, "hint": "OpenTag", "value": f"field(name={'@' + tag.wire!r})"}
        return {**row, "hint": f"ClassVar[Literal[{tag.value!r}]]", "value": repr(tag.value)}
    if isinstance(owner, Row):
        default = _defaults(owner).get(prop.wire)
        row |= {} if default is None else {"value": default}
    hint = exact_hint(prop.type)
    if hint is not None:
        row["hint"] = hint if prop.required else f"{hint} | UnsetType"
    renamed = isinstance(owner, Object) and prop.name != prop.wire
    arguments = [f"name={prop.wire!r}"] if renamed else []
    if not prop.required:
        arguments.append("default=UNSET")
    if renamed:
        row["value"] = f"field({', '.join(arguments)})"
    elif not prop.required:
        row["value"] = "UNSET"
    return row
