"""The schemas that stand in the messages of a topic that carries several formats."""

from changewire.changes.schemas import Schemas, Tally
from changewire.codec import Codec, Data, DecodeError, codec_for, rejection
from changewire.framing import Position
from changewire_messages.change import Rejection


class TopicTally:
    """Counts schemas as `Tally` does, of each message by the format that it says it has.

    Messages of formats whose messages hold no schema are without one, and what no format claims is
    rejected.

    Attributes:
        tallies: What counts the schemas of each format; None if its messages hold none.
    """

    def __init__(self) -> None:
        self.tallies: dict[str, Tally | None] = {}
        self._messages = self._without = self._rejected = 0

    def add(self, value: Data | None, position: Position) -> list[Rejection]:
        """Count a message, and return the elements of it that were rejected."""
        if value is None:
            self._messages += 1
            self._without += 1
            return []
        try:
            reader = codec_for(value)
        except DecodeError as error:
            self._messages += 1
            self._rejected += 1
            return [rejection(error)]
        tally = self.tally_of(reader.format)
        return self._plain(reader, value) if tally is None else tally.add(value, position)

    def schemas(self) -> Schemas:
        """Return what was found so far, format by format in the order of their first messages."""
        found = [tally.schemas() for tally in self.tallies.values() if tally is not None]
        return Schemas(
            [use for schemas in found for use in schemas.schemas],
            messages=self._messages + sum(schemas.messages for schemas in found),
            without=self._without + sum(schemas.without for schemas in found),
            rejected=self._rejected + sum(schemas.rejected for schemas in found),
            left_out=sum(schemas.left_out for schemas in found),
        )

    def tally_of(self, format: str) -> Tally | None:
        """Return what counts the schemas of a format; None if its messages hold none."""
        if format not in self.tallies:
            try:
                self.tallies[format] = Tally(format)
            except ValueError:
                self.tallies[format] = None
        return self.tallies[format]

    def _plain(self, reader: Codec, value: Data) -> list[Rejection]:
        """Count a message that holds no schema."""
        models = reader.decode_all(value)
        rejected = [model for model in models if isinstance(model, Rejection)]
        self._messages += len(models)
        self._rejected += len(rejected)
        self._without += len(models) - len(rejected)
        return rejected
