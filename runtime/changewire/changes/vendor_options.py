"""Options for the messages of one vendor: how a vendor declares them, and how they are checked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints


def as_given(value: Any) -> Any:
    """Return a value as it was given."""
    return value


class Declaration(NamedTuple):
    """An option of a vendor, in its annotation; name and type are those of the key.

    Attributes:
        default: The value of messages for which the option is not given.
        help: A sentence for the command line and the pages; ``{}`` becomes the allowed values.
        metavar: What the command line calls the value.
        flag: Flag of the command line, unless it is the name of the option.
        check: Raises ValueError or ImportError if a value that is given cannot be used.
        in_kernel: Returns what the native kernel takes for a value; None if it does not support the
            option, and then Python decodes if it is given.
    """

    default: Any
    help: str
    metavar: str
    flag: str = ""
    check: Callable[[Any], object] | None = None
    in_kernel: Callable[[Any], Any] | None = as_given


@dataclass(frozen=True)
class VendorOption:
    """An option, as its vendor declares it: a word of several, a sequence of names, or text."""

    name: str
    type: Any
    declaration: Declaration

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The allowed values; none if it takes others than words."""
        return get_args(self.type) if get_origin(self.type) is Literal else ()

    @property
    def is_names(self) -> bool:
        """Whether it is a sequence of names, or None."""
        return bool(self.type == Sequence[str] | None)

    @property
    def flag(self) -> str:
        """The flag of the command line; the name with hyphens, unless the vendor says another."""
        return self.declaration.flag or f"--{self.name.replace('_', '-')}"

    @property
    def help(self) -> str:
        """The sentence of help, with the allowed values."""
        text = self.declaration.help
        return text.format(", ".join(self.words)) if self.words else text

    def check_form(self, value: Any) -> None:
        """Check that a value is one of the allowed ones, or a sequence of names."""
        if self.words:
            check_word(self.name, value, self.words)
        elif self.is_names and value is not None:
            check_names(self.name, value)


def check_word(option: str, value: object, words: Sequence[str]) -> None:
    """Check that the value of an option is one of its words."""
    if value not in words:
        raise ValueError(f"no {option} {value!r}; there are: {', '.join(words)}")


def check_names(option: str, value: object) -> None:
    """Check that the value of an option is a sequence of names."""
    if isinstance(value, str) or not value:
        raise ValueError(f"{option} is a sequence of names, at least one")


def declared_by(keywords: type) -> Mapping[str, VendorOption]:
    """Return the options that a `TypedDict` declares, by their names."""
    found: dict[str, VendorOption] = {}
    for name, hint in get_type_hints(keywords, include_extras=True).items():
        kind, declaration = get_args(hint)
        found[name] = VendorOption(name, kind, declaration)
    return found
