"""``models.py`` of a family: msgspec structs, one for each object and each positional array."""

from __future__ import annotations

import warnings
from pathlib import Path

from changewire_codegen.emit.checks import check_tables
from changewire_codegen.emit.lowering import IMPORTED, aliases, document, reader, repeated_type
from changewire_codegen.errors import SchemaError
from changewire_codegen.nodes import Family, Object
from changewire_codegen.writer import Writer, module_docstring

TEMPLATES = Path(__file__).parents[1] / "templates"
"""Folder of the templates of a class and of an alias."""

_IMPORTS = (
    *("re", "decimal", "collections.abc.Callable", "collections.abc.Mapping", "msgspec.field"),
    *("msgspec.Raw", "msgspec.Struct", "typing.ClassVar", "typing.Literal", "typing.TypeAlias"),
)
_SUPPORT = ("OpenTag", "as_binary64", "constructor_call", "repeated")


def models(family: Family, package: str) -> str:
    """Return the source of the module, unformatted.

    Args:
        family: What to emit.
        package: Import name of the generated package.

    Raises:
        SchemaError: msgspec has no annotation for something in a schema.
    """
    writer = Writer()
    writer(_generated(family, package))
    for line in ["", *_readers(family), *check_tables(family)]:
        writer(line)
    writer(f"__all__ = {sorted(family.definitions)!r}")
    return writer.text()


def _generated(family: Family, package: str) -> str:
    """Return the imports, classes and aliases that datamodel-code-generator writes."""
    from datamodel_code_generator import generate

    schema = document(family)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # It cannot choose between arrays: `dispatch.py` does.
        warnings.filterwarnings("ignore", "msgspec cannot decode the union")
        try:
            text = generate(
                schema,
                input_file_type="jsonschema",
                output_model_type="msgspec.Struct",
                schema_version="2020-12",
                target_python_version="3.10",
                custom_template_dir=TEMPLATES,
                custom_file_header=module_docstring("Messages", family),
                formatters=[],
                skip_root_model=True,
                custom_class_name_generator=lambda name: (
                    name if name in schema["$defs"] else f"Bounded_{name}"
                ),
                aliases=aliases(family),
                type_overrides={name: path.format(package=package) for name, path in IMPORTED.items()},
                additional_imports=[*_IMPORTS, *(f"{package}.support.{name}" for name in _SUPPORT)],
                field_extra_keys={"x-at", "x-name", "x-reader", "x-text", "x-type", "x-value"},
                apply_default_values_for_required_fields=True,
                enum_field_as_literal="all",
                output_datetime_class="datetime",
                use_annotated=True,
                use_msgspec_tagged_unions=True,
                use_typed_nullable_map_values=True,
            )
        except UserWarning as error:
            raise SchemaError(family.name, "", str(error)) from error
    assert isinstance(text, str)  # noqa: S101 - there is one module
    return text


def _readers(family: Family) -> list[str]:
    """Return the functions from text to model, which stand below all classes."""
    exact = ", exact=True" if family.exact else ""
    return [
        f"{reader(definition, prop)}: Callable[[Raw], {repeated_type(prop)}] ="
        f" repeated({repeated_type(prop)}{exact})"
        for definition in family.definitions.values()
        if isinstance(definition, Object)
        for prop in definition.properties
        if prop.repeated
    ]
