"""``changewire changes``."""

from changewire.changes.decode_options import AUTO
from changewire.cli.ending import ended, ending
from changewire.cli.options import (
    DigestsOption,
    Families,
    FoundFormat,
    ImageOption,
    Inputs,
    Json,
    Keys,
    NullValueOption,
    Shape,
    StripRegistryPrefix,
    TimeZone,
    decode_options_of,
)
from changewire.cli.records import place_of, records, report_rejected
from changewire.cli.stderr import counted
from changewire.cli.stdout import Lines
from changewire_messages.change import Rejection


@ending
def changes(
    inputs: Inputs = None,
    *,
    format: FoundFormat = AUTO,
    image: ImageOption = "full",
    keys: Keys = None,
    families: Families = None,
    digests: DigestsOption = "off",
    null_value: NullValueOption = "control",
    time_zone: TimeZone = "UTC",
    shape: Shape = "auto",
    strip_registry_prefix: StripRegistryPrefix = False,
    as_json: Json = False,
) -> int:
    """Write each change, and each control event, as a line of JSON with its place.

    Rejected elements are named on standard error.

    Example: changewire changes -f aerospike-json users.jsonl | jq .after
    """
    decode_options = decode_options_of(
        format,
        image=image,
        keys=keys,
        families=families,
        digests=digests,
        null_value=null_value,
        time_zone=time_zone,
    )
    lines = Lines()
    valid = rejected = 0
    for record in records(inputs, shape, strip_registry_prefix=strip_registry_prefix):
        elements = decode_options.elements(record.value, record.key)
        for number, (change, leniencies) in enumerate(elements):
            if isinstance(change, Rejection):
                report_rejected(record.position, change, as_json=as_json)
                rejected += 1
            else:
                lines.write(place_of(record.position, number), change, {"leniencies": leniencies})
                valid += 1
    text = f"{counted(valid, 'change')}, {rejected:,} refused"
    return ended(text, {"changes": valid, "refused": rejected}, as_json=as_json)
