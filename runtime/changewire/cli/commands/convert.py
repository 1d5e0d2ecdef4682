"""``changewire convert``."""

from typing import Annotated, Final

import typer

from changewire.cli.ending import ended, ending
from changewire.cli.options import Inputs, Json, Shape, StripRegistryPrefix, ToShape, format_option
from changewire.cli.records import found_issue, place_of, records, report_issues
from changewire.cli.stderr import counted, notice
from changewire.cli.stdout import CONCATENATED, writer_of
from changewire.codec import CodecError, Issue
from changewire.convert import CONVERSIONS
from changewire.convert import convert as convert_message
from changewire.framing import Position

_FORMATS: Final = sorted({name for pair in CONVERSIONS for name in pair})

Source = Annotated[
    str,
    format_option("--from", of=_FORMATS, help=f"Format of the messages: {', '.join(_FORMATS)}."),
]
Target = Annotated[
    str,
    format_option("--to", of=_FORMATS, help=f"Format to convert to: {', '.join(_FORMATS)}."),
]
Lossy = Annotated[
    bool,
    typer.Option("--lossy", help="Also convert messages that lose something, and list each loss."),
]


@ending
def convert(
    inputs: Inputs = None,
    *,
    source: Source,
    target: Target,
    lossy: Lossy = False,
    shape: Shape = "auto",
    strip_registry_prefix: StripRegistryPrefix = False,
    to_shape: ToShape = CONCATENATED,
    as_json: Json = False,
) -> int:
    """Write each message in another format: JSON as lines, MessagePack as bytes.

    Messages that cannot be converted, or only with a loss, are listed on standard error.

    Example: changewire convert --from aerospike-msgpack --to aerospike-json topic.bin
    """
    if (source, target) not in CONVERSIONS:
        raise typer.BadParameter(f"no conversion from {source} to {target}")
    write = writer_of(target, to_shape)
    valid = rejected = empty = lost = 0
    for record in records(inputs, shape, strip_registry_prefix=strip_registry_prefix):
        if record.value is None:
            empty += 1
            continue
        losses: list[Issue] = []
        try:
            data = convert_message(
                record.value, source=source, target=target, lossy=lossy, on_loss=losses.append
            )
        except CodecError as error:
            report_issues(record.position, error, as_json=as_json)
            rejected += 1
            continue
        _say_losses(record.position, losses, as_json=as_json)
        write(data)
        lost += len(losses)
        valid += 1
    without = f", {empty:,} without a value left out" if empty else ""
    losses_text = f", {counted(lost, 'loss', 'losses')}" if lost else ""
    totals = {"messages": valid, "rejected": rejected, "losses": lost, "without_value": empty}
    text = f"{counted(valid, 'message')}, {rejected:,} rejected{losses_text}{without}"
    return ended(text, totals, as_json=as_json)


def _say_losses(position: Position, losses: list[Issue], *, as_json: bool) -> None:
    place = place_of(position)
    for loss in losses:
        text = f"{place}: {loss}"
        notice("loss", text, place, found_issue(loss), as_json=as_json, style="yellow")
