"""A format under test, with the golden messages of each of its variants."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.runtime.codec.formats import FORMATS, Format, role_of, wire_of
from tests.variants import variant_of, variants

from changewire_messages import FORMATS as PACKAGES


@dataclass(frozen=True)
class Sample:
    """A golden message.

    Attributes:
        data: its bytes.
        value: what a plain parser makes of them.
        model: what the codec makes of them.
        variant: name of its variant.
    """

    data: bytes
    value: Any
    model: Any
    variant: str


@dataclass(frozen=True)
class Subject:
    """A format under test.

    Attributes:
        name: public name of the format.
    """

    name: str

    @cached_property
    def form(self) -> Format:
        """The format as the tests of the codec see it."""
        return FORMATS[self.name]

    @cached_property
    def variants(self) -> Mapping[str, type]:
        """The model of each variant."""
        return variants(self.name)

    @cached_property
    def samples(self) -> list[Sample]:
        """The golden messages, at least one of each variant."""
        paths = self.form.golden("valid")
        found = [self._sample(path) for path in paths if role_of(path) == "message"]
        assert {sample.variant for sample in found} == self.variants.keys()
        return found

    def module(self, name: str) -> Any:
        """Return a generated module of the format."""
        return import_module(f"{PACKAGES[self.name]}.{name}")

    def _sample(self, path: Path) -> Sample:
        data = wire_of(path)
        model = self.form.codec.decode(data)
        return Sample(data, self.form.encoding.loads(data), model, variant_of(model))
