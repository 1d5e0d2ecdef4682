"""``models.py`` of a family: msgspec structs, one for each object and each positional array."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from changewire_codegen.emit.checks import check_tables
from changewire_codegen.emit.lowering import SHARED, document
from changewire_codegen.errors import SchemaError
from changewire_codegen.nodes import Family, Object, class_names
from changewire_codegen.writer import module_docstring

_OPTIONS: Mapping[str, Any] = {
    "apply_default_values_for_required_fields": True,
    "custom_class_name_generator": str,  # names stay as they are
    "custom_template_dir": Path(__file__).parents[1] / "templates",
    "enum_field_as_literal": "all",
    "field_extra_keys": {"x-at", "x-name", "x-reader", "x-tag", "x-text", "x-type", "x-value"},
    "formatters": [],  # ruff formats all modules in one run
    "input_file_type": "jsonschema",
    "output_datetime_class": "datetime",
    "output_model_type": "msgspec.Struct",
    "schema_version": "2020-12",
    "skip_root_model": True,
    "target_python_version": "3.10",
    "use_annotated": True,
    "use_typed_nullable_map_values": True,
}
# For the text of templates and checks; ruff removes what a module does not use.
_IMPORTS = (
    *("re", "decimal", "collections.abc.Callable", "collections.abc.Mapping", "msgspec.field"),
    *("msgspec.Raw", "msgspec.Struct", "typing.ClassVar", "typing.Literal", "typing.TypeAlias"),
)
_SHARED = ("support.OpenTag", "support.constructor_call", "checks.is_scalar", "support.repeated")


def models(family: Family, package: str) -> str:
    """Return the source of the module, unformatted.

    Args:
        family: What to emit.
        package: Import name of the generated package.

    Raises:
        SchemaError: msgspec has no annotation for exactly the rules of a schema.
    """
    from datamodel_code_generator import GenerateConfig, generate

    support = f"{package}.support"
    schema = document(family)
    imported = {"Raw": "msgspec.Raw", "any": "typing.Any"}
    config = GenerateConfig(
        **_OPTIONS,
        additional_imports=[*_IMPORTS, *(f"{package}.{name}" for name in _SHARED)],
        aliases={**_renamed(family), "@alone": "alone", "@extra": "extra", "@named": "named"},
        custom_file_header=module_docstring("Messages", family),
        type_overrides={**imported, **{name: f"{support}.{name}" for name in SHARED}},
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        # It knows no tags of ours, and cannot tell arrays apart: `dispatch.py` does.
        warnings.filterwarnings("ignore", "msgspec cannot decode the union")
        try:
            lines = [str(generate(schema, config=config))]
        except UserWarning as warning:
            raise SchemaError(family.name, "", str(warning)) from warning
    exact = ", exact=True" if family.exact else ""
    for definition in schema["$defs"].values():
        for field in definition.get("properties", {}).values():
            if "x-reader" in field:
                reader, kind = field["x-reader"], field["x-type"]
                lines.append(f"{reader}: Callable[[Raw], {kind}] = repeated({kind}{exact})")
    names = sorted(n for d in family.definitions.values() for n in class_names(d))
    return "\n".join([*lines, *check_tables(family), f"__all__ = {names!r}\n"])


def _renamed(family: Family) -> dict[str, str]:
    """Return the fields whose names are not those of their properties, by class and property."""
    return {
        f"{definition.name}.{prop.wire}": prop.attribute
        for definition in family.definitions.values()
        if isinstance(definition, Object)
        for prop in definition.properties
        if prop.wire != prop.attribute
    }
