"""Models as older versions of a format write them."""

from typing import Any, Literal, TypeAlias, get_args

from changewire.codec import EncodeError, Issue, codec_of
from changewire_messages import aerospike_msgpack as wire

Version: TypeAlias = Literal["current", "legacy"]

_TIMES = ("gen", "exp", "lut")


def in_version(model: object, version: Version) -> Any:
    """Return a model, or a list of models, as a version of its format writes it.

    Connectors before 4.0.0 wrote deletes of two parts, and writes without nil; that is the legacy
    version of ``aerospike-msgpack``. In the current one each model is what it is: a `LegacyDelete`
    stays one, since its bytes decode to it.

    Args:
        model: A message, a key, or a list of either.
        version: ``current`` or ``legacy``.

    Raises:
        EncodeError: The legacy version has no place for something that a model holds.
        TypeError: It is no model of a message.
        ValueError: There is no such version, or the format has no legacy version.
    """
    if version == "current":
        return model
    if version not in get_args(Version):
        raise ValueError(f"no version {version!r}; there are: {', '.join(get_args(Version))}")
    name = codec_of(model).format
    if name != wire.FORMAT:
        raise ValueError(f"{name} has no legacy version; {wire.FORMAT} has one")
    issues: list[Issue] = []
    if isinstance(model, list):
        found: Any = [_legacy(item, f"/{i}", issues) for i, item in enumerate(model)]
    else:
        found = _legacy(model, "", issues)
    if issues:
        raise EncodeError(name, issues)
    return found


def _legacy(model: object, at: str, issues: list[Issue]) -> object:
    """Return the legacy form of one model; what it has no place for is added to the issues."""
    if isinstance(model, wire.Write):
        row = model.payload
        for position, name in enumerate(_TIMES, 1):
            if getattr(row, name) is None:
                issues.append(
                    _issue(f"{at}/2/{position}", "a number, 0 where it is not known", None)
                )
        return model
    if not isinstance(model, wire.Delete):
        return model
    payload = model.payload
    for position, name in enumerate(_TIMES, 2):
        if (value := getattr(payload, name)) is not None:
            issues.append(
                _issue(f"{at}/2/{position}", "null: its deletes have no place for it", value)
            )
    return wire.LegacyDelete(payload=wire.LegacyDeletePayload(payload.key, payload.flags))


def _issue(pointer: str, expected: str, actual: object) -> Issue:
    return Issue(pointer, "not-encodable", "legacy", expected, actual)
