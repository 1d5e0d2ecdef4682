"""Change-data-capture messages, typed: decode, validate, encode, and turn them into changes.

```python
import changewire as cw

message = cw.decode(data, format="aerospike-json")
for change in cw.changes(message):
    print(change.op, change.key, change.after)
```
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from changewire.version import VERSION
from changewire_messages import FORMATS

if TYPE_CHECKING:
    from changewire.changes import Adapter, DecodeKeywords, DecodeOptions, changes, delete_by_key
    from changewire.changes.connect.differences import Difference
    from changewire.changes.contradictions import validate
    from changewire.changes.pairs import pair
    from changewire.changes.rows import row
    from changewire.changes.schemas import Schemas, SchemaUse, schemas
    from changewire.changes.vendors import VendorKeywords, digest
    from changewire.codec import (
        CODES,
        Codec,
        CodecError,
        DecodeError,
        EncodeError,
        FormatError,
        Issue,
        codec,
        detect,
        formats,
    )
    from changewire.convert import convert, convert_key
    from changewire.explain import Explanation, Field, explain
    from changewire.infer import Draft, infer
    from changewire.messages import decode, decode_all, decode_key, encode, leniencies
    from changewire_messages import families as _families
    from changewire_messages.change import Change, Reason, Rejection, Sequence, Source
    from changewire_messages.families import *  # noqa: F403 - the package of each format
    from changewire_messages.support import Extra

__all__ = [
    "CODES",
    "Adapter",
    "Change",
    "Codec",
    "CodecError",
    "DecodeError",
    "DecodeKeywords",
    "DecodeOptions",
    "Difference",
    "Draft",
    "EncodeError",
    "Explanation",
    "Extra",
    "Field",
    "FormatError",
    "Issue",
    "Reason",
    "Rejection",
    "SchemaUse",
    "Schemas",
    "Sequence",
    "Source",
    "VendorKeywords",
    "__version__",
    "changes",
    "codec",
    "convert",
    "convert_key",
    "decode",
    "decode_all",
    "decode_key",
    "delete_by_key",
    "detect",
    "digest",
    "encode",
    "explain",
    "formats",
    "infer",
    "leniencies",
    "pair",
    "row",
    "schemas",
    "validate",
]
_FAMILIES: Final = tuple(package.rpartition(".")[2] for package in FORMATS.values())
if TYPE_CHECKING:
    __all__ += _families.__all__
else:
    __all__ += list(_FAMILIES)

__version__: Final = VERSION

_MODULES: Final = {
    "changewire.changes": (
        "Adapter",
        "DecodeKeywords",
        "DecodeOptions",
        "changes",
        "delete_by_key",
    ),
    "changewire.changes.connect.differences": ("Difference",),
    "changewire.changes.contradictions": ("validate",),
    "changewire.changes.pairs": ("pair",),
    "changewire.changes.rows": ("row",),
    "changewire.changes.schemas": ("SchemaUse", "Schemas", "schemas"),
    "changewire.changes.vendors": ("VendorKeywords", "digest"),
    "changewire.codec": (
        *("CODES", "Codec", "CodecError", "DecodeError", "EncodeError", "FormatError", "Issue"),
        *("codec", "detect", "formats"),
    ),
    "changewire.convert": ("convert", "convert_key"),
    "changewire.explain": ("Explanation", "Field", "explain"),
    "changewire.infer": ("Draft", "infer"),
    "changewire.messages": ("decode", "decode_all", "decode_key", "encode", "leniencies"),
    "changewire_messages.change": ("Change", "Reason", "Rejection", "Sequence", "Source"),
    "changewire_messages.support": ("Extra",),
}
"""Names that are imported with their module when they are first used."""

_MODULE_OF: Final = {name: module for module, names in _MODULES.items() for name in names}


class _Package(ModuleType):
    """A package whose public names win over its subpackages of the same name, like ``codec``."""

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute, unless the import system would put a subpackage over a public name."""
        if not (isinstance(value, ModuleType) and name in _MODULE_OF):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name in _FAMILIES:
        value: Any = import_module(f"changewire_messages.{name}")
    elif name in _MODULE_OF:
        value = getattr(import_module(_MODULE_OF[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value  # the next use is as quick as that of any name
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
