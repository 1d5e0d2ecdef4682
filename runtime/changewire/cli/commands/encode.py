"""``changewire encode``."""

from typing import Annotated, Final

import typer

from changewire import encode as encode_model
from changewire.cli.ending import ended, ending
from changewire.cli.options import Format, Inputs, Json, Keys, ToShape, decode_options_of
from changewire.cli.records import model_on, records, report_issues
from changewire.cli.stderr import counted
from changewire.cli.stdout import CONCATENATED, writer_of
from changewire.codec import CodecError, codec

_SHAPE: Final = "json-lines"

Declared = Annotated[
    bool,
    typer.Option("--declared", help="Also reject messages that contradict the types they declare."),
]


@ending
def encode(
    inputs: Inputs = None,
    *,
    format: Format,
    to_shape: ToShape = CONCATENATED,
    declared: Declared = False,
    key_columns: Keys = None,
    as_json: Json = False,
) -> int:
    """Write each message as the bytes that are sent: JSON one to a line, MessagePack as bytes.

    The input is lines as `changewire decode` writes them, or messages alone. Invalid ones are
    listed on standard error, with every issue.

    Example: changewire encode -f aerospike-msgpack lines.jsonl > topic.bin
    """
    keys = decode_options_of(format, {}, key_columns=key_columns).key_columns
    coder, write = codec(format), writer_of(format, to_shape)
    valid = rejected = empty = 0
    for record in records(inputs, _SHAPE):
        try:
            model = model_on(record.value or b"", coder)
            data = (
                None if model is None else encode_model(model, declared=declared, key_columns=keys)
            )
        except CodecError as error:
            report_issues(record.position, error, as_json=as_json)
            rejected += 1
            continue
        if data is None:
            empty += 1
            continue
        write(data)
        valid += 1
    without = f", {empty:,} without a value left out" if empty else ""
    totals = {"messages": valid, "rejected": rejected, "without_value": empty}
    text = f"{counted(valid, 'message')}, {rejected:,} rejected{without}"
    return ended(text, totals, as_json=as_json)
