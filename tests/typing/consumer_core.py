"""Every function of `changewire` as a user calls it; types are said where a checker must agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import changewire as cw
from changewire import aerospike_flat_json, aerospike_msgpack, dataworks_json, lindorm_json
from changewire.framing import SHAPES, FramingError, Position, Record, expand, read
from changewire.job import JobError, run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Unpack


def format_of(data: bytes) -> str:
    """Return the format of a message, or its kind where it has none that is known."""
    names: list[str] = cw.formats()
    try:
        name: str | None = cw.detect(data)
    except cw.FormatError as error:  # a package of formats that is installed, and broken
        return str(error)
    return name if name in names else f"unknown to {cw.__version__}"


def models(data: bytes, key: bytes) -> list[str]:
    """Return the names of the models of a message and of its record key."""
    element: (
        aerospike_flat_json.Message
        | aerospike_msgpack.Message
        | dataworks_json.Message
        | lindorm_json.Message
    )
    found: list[str] = []
    for element in cw.decode_all(data):
        used: list[str] = cw.leniencies(element)
        found += [type(element).__name__, *used]
    record_key: object = cw.decode_key(key, format="aerospike-msgpack")
    return [*found, type(record_key).__name__]


def described(change: cw.Change) -> dict[str, object]:
    """Return what a program asks of a change."""
    source: cw.Source = change.source
    order: cw.Sequence | None = change.sequence
    before: dict[str, Any] | None = change.before
    extra = {**change.extra} if isinstance(change.extra, cw.Extra) else {}
    return {
        "table": source.table,
        "order": (order.major, order.minor) if order else None,
        "is_update": change.op == "update" and before is not None,
        "extra": extra,
    }


def pairs(messages: list[bytes]) -> list[dict[str, object]]:
    """Return changes, with those that two messages make joined."""
    found = (
        change for data in messages for change in cw.changes(cw.decode(data), key_columns=["id"])
    )
    return [described(change) for change in cw.pair(found, size=100)]


def problems(data: bytes) -> list[str]:
    """Return every issue of a message, and what it means field by field."""
    issues: list[cw.Issue] = cw.validate(
        data, format="lindorm-json", strict=True, key_columns=["id"]
    )
    explained: cw.Explanation = cw.explain(data, most=None)
    fields: list[cw.Field] = explained.fields
    return [*(cw.CODES[issue.code] for issue in issues), *(field.meaning for field in fields)]


def converted(data: bytes, key: bytes) -> tuple[bytes, bytes]:
    """Return a message and its key in the other encoding, with what is lost printed."""
    lost: list[cw.Issue] = []
    try:
        message: bytes = cw.convert(
            data,
            source="aerospike-msgpack",
            target="aerospike-json",
            lossy=True,
            on_loss=lost.append,
        )
        return message, cw.convert_key(key, source="aerospike-msgpack", target="aerospike-json")
    except cw.CodecError as error:
        raise SystemExit(f"{error.code}: {error.pointer}") from error


def reasons(refused: cw.Rejection) -> list[str]:
    """Return the codes of a rejection."""
    why: list[cw.Reason] = refused.reasons
    return [reason.code for reason in why]


def rewritten(coder: cw.Codec, text: str) -> bytes:
    """Return the bytes of a message that stands in the JSON form."""
    model: object = coder.from_json(text)
    try:
        return cw.encode(model, version="legacy", declared=True, key_columns=None)
    except (cw.EncodeError, ValueError):
        return coder.to_json(model)


def evolution(path: str) -> dict[str, list[str]]:
    """Return what each schema of a dump changed of the one before it."""
    if path.rpartition(".")[2] in SHAPES:
        raise SystemExit("that is a shape")
    try:
        records: list[Record] = [record for file in expand([path]) for record in read(file)]
    except FramingError as error:
        raise SystemExit(str(error)) from error
    places: list[Position] = [record.position for record in records]
    found: cw.Schemas = cw.schemas(records, format="dataworks-json")
    uses: list[cw.SchemaUse] = found.schemas
    changed: list[cw.Difference] = [change for use in uses for change in use.differences]
    return {f"{len(places)} records": [f"{change.kind} {change.path}" for change in changed]}


def digest_of(user: str) -> bytes:
    """Return the digest by which a server knows a record."""
    return cw.digest("users", user)


def lindorm(**options: Unpack[cw.DecodeKeywords]) -> cw.DecodeOptions:
    """Return options that a caller passes on, each with its type."""
    return cw.DecodeOptions("lindorm-json", **options)


def hbase(**vendor: Unpack[cw.VendorKeywords]) -> list[cw.Change]:
    """Return changes by options for the messages of one vendor, each with its type."""
    return cw.changes(cw.decode(b"{}", format="lindorm-json"), **vendor)


def landed(message: Any, record_key: bytes | None, options: cw.DecodeOptions) -> cw.Change:
    """Return the change of a message of another package's format."""
    images: cw.RowImage | Mapping[str, cw.RowImage] = options.row_image
    name = images if isinstance(images, str) else ", ".join(images)
    table = cw.Source(system="shop", database=options.format, schema=None, table=name)
    return cw.Change(
        op="upsert",
        source=table,
        key={"id": message.id},
        before_key=None,
        before=None,
        after={"key": record_key, **dict.fromkeys(options.keys_of(table) or ())},
        event_time=None,
        sequence=cw.Sequence(major=1, minor=0),
        ddl=None,
        schema_fingerprint=None,
        attributes={},
    )


ADAPTER: cw.Adapter = cw.Adapter("shop", landed, {"keys"}, {"row_image": "events are whole rows"})
"""What an entry point of the group changewire.adapters names."""


def job(path: str) -> int:
    """Run the main job; return how many elements were rejected."""
    try:
        return run([path], "out", format="auto", engine="python").counts.dead_letters
    except JobError as error:
        raise SystemExit(str(error)) from error
