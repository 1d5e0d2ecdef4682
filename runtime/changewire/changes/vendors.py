"""The registry of vendors: adapters of the built-in formats, options, and public functions."""

from collections.abc import Mapping
from typing import Any, Final

from changewire.changes.aerospike_digest import digest
from changewire.changes.aerospike_options import AerospikeKeywords
from changewire.changes.dataworks_options import DataWorksKeywords
from changewire.changes.lindorm_options import LindormKeywords
from changewire.changes.vendor_options import VendorOption, declared_by

# A schema of Kafka Connect may stand in messages of any vendor, and is described where one has it.
from changewire_messages.lindorm_json import values as connect_values

__all__ = [
    "BUILT_IN",
    "USER_KEY_COLUMN",
    "USER_KEY_SYSTEM",
    "VENDOR_OPTIONS",
    "VendorKeywords",
    "connect_values",
    "digest",
    "with_defaults",
    "without_defaults",
]

BUILT_IN: Final[Mapping[str, str]] = {
    "aerospike-flat-json": "changewire.changes.aerospike_flat_json:ADAPTER",
    "aerospike-json": "changewire.changes.aerospike:ADAPTER",
    "aerospike-msgpack": "changewire.changes.aerospike_msgpack:ADAPTER",
    "dataworks-json": "changewire.changes.dataworks:ADAPTER",
    "lindorm-json": "changewire.changes.lindorm:ADAPTER",
}
"""The adapter of each built-in format, as an entry point names one: a module and a name in it."""


USER_KEY_SYSTEM: Final = "aerospike"
"""The system of sources whose records may store the key by which applications address them."""

USER_KEY_COLUMN: Final = "aerospike_user_key"
"""The column of those keys in tables: no bin has so long a name."""


class VendorKeywords(AerospikeKeywords, LindormKeywords, DataWorksKeywords, total=False):
    """Options that are for the messages of one vendor; formats of others refuse them."""


VENDOR_OPTIONS: Final[Mapping[str, VendorOption]] = declared_by(VendorKeywords)
"""What the vendors declare of their options, by name."""


def with_defaults(given: VendorKeywords) -> dict[str, Any]:
    """Return all options, those that are not given by default.

    Raises:
        TypeError: No vendor declares an option of this name.
    """
    if unknown := given.keys() - VENDOR_OPTIONS.keys():
        raise TypeError(f"no option {', '.join(map(repr, sorted(unknown)))}")
    found = {name: each.declaration.default for name, each in VENDOR_OPTIONS.items()}
    return {**found, **given}


def without_defaults(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that differ from their defaults."""
    return {n: v for n, v in options.items() if v != VENDOR_OPTIONS[n].declaration.default}
