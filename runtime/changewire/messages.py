"""Messages of any format: functions that take the format as an argument, or find it.

What few programs need, the versions of a format and the checks of `validate`, is imported when it
is asked for: the first decode of a process waits for the codec alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from changewire.codec import Data, EncodeError, codec, codec_of, decode_all_any, decode_any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from changewire.changes.sources import KeysByTable
    from changewire.convert import Version


def decode(data: Data, *, format: str | None = None) -> Any:
    """Return the model of one message; see `Codec.decode`.

    Without a format, the one is taken that the message says it has (`detect`); a message that says
    none is rejected as ``unknown-variant``.
    """
    return decode_any(data) if format is None else codec(format).decode(data)


def decode_all(data: Data, *, format: str | None = None) -> list[Any]:
    """Return the elements of a message that may be a batch; see `Codec.decode_all`.

    Without a format, the one is taken that the message says it has, as in `decode`.

    Raises:
        DecodeError: There is no format, and the message says none.
    """
    return decode_all_any(data)[1] if format is None else codec(format).decode_all(data)


def decode_key(data: Data, *, format: str) -> Any:
    """Return the model of a Kafka record key; see `Codec.decode_key`."""
    return codec(format).decode_key(data)


def encode(
    model: object,
    *,
    version: Version = "current",
    declared: bool = False,
    key_columns: Sequence[str] | KeysByTable | None = None,
) -> bytes:
    """Return the bytes of a model, or of a list of models; see `Codec.encode`.

    Args:
        model: The model or models.
        version: ``legacy``, of ``aerospike-msgpack`` only, writes what connectors before 4.0.0 did:
            deletes of two parts. ``current`` writes each model as it is.
        declared: Also reject a model with values of other types than it declares for them, or that
            contradicts itself otherwise, as `validate` does.
        key_columns: With `declared`, columns that name the row, as for `validate`.

    Raises:
        EncodeError: A model cannot be written, or the legacy version has no place for all of it.
        ValueError: The format has no such version, or `key_columns` does not fit it.
    """
    coder = codec_of(model)
    if version != "current":
        from changewire.convert import in_version

        model = in_version(model, version)
    data = coder.encode(model)
    if declared:
        from changewire.changes.contradictions import contradictions, options_of

        issues = contradictions(data, coder.format, options_of(coder.format, key_columns))
        if issues:
            raise EncodeError(coder.format, issues)
    return data


def leniencies(model: object) -> list[str]:
    """Return the names of the leniencies that a message needed; see `Codec.leniencies`."""
    return codec_of(model).leniencies(model)
