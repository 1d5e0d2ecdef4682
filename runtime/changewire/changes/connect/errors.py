"""What is wrong with a schema, or with a value under it."""

from typing import Any

from msgspec import UNSET

from changewire.codec import Issue


class ConnectSchemaError(ValueError):
    """A JSON value is no schema of Kafka Connect."""

    def __init__(self, pointer: str, expected: str, actual: Any = UNSET) -> None:
        self.pointer = pointer
        self.expected = expected
        self.actual = actual
        issue = Issue(pointer, "wrong-value", "schema", expected, actual)
        super().__init__(f"Kafka Connect schema: {issue}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the value, which may be private."""
        return type(self), (self.pointer, self.expected)


class ValueMismatch(ValueError):  # noqa: N818 - it reads as what happened
    """A value is not what its schema says."""

    def __init__(
        self, pointer: str, schema_pointer: str, expected: str, actual: Any, rule: str
    ) -> None:
        self.pointer = pointer
        self.schema_pointer = schema_pointer
        self.expected = expected
        self.actual = actual
        self.rule = rule
        issue = Issue(pointer, rule, "connect", expected, actual)
        place = Issue(schema_pointer, rule, "connect", expected).place
        super().__init__(f"{issue}; its schema: {place or 'the root'}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the value, which may be private."""
        return type(self), (self.pointer, self.schema_pointer, self.expected, UNSET, self.rule)
