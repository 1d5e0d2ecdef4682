"""A real format with one flaw for each check of the matrix, which the check must find."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final

from tests.matrix.subject import Sample, Subject

FORMAT: Final = "dataworks-json"


def flawed(check: str) -> Subject:
    """Return a format that does not have the property of a check."""
    return FLAWS[check](Subject(FORMAT))


def with_samples(subject: Subject, samples: list[Sample]) -> Subject:
    """Return a subject that has these messages in place of its own."""
    vars(subject)["samples"] = samples
    return subject


def another_system(subject: Subject) -> Subject:
    """Name another system than the one that the messages come from."""
    return with_samples(Subject("lindorm-json"), subject.samples)


def value_of_nothing(subject: Subject) -> Subject:
    """Let each message be an empty object."""
    return with_samples(subject, [replace(sample, value={}) for sample in subject.samples])


def bytes_of_nothing(subject: Subject) -> Subject:
    """Let the bytes of each message be those of an empty object."""
    return with_samples(subject, [replace(sample, data=b"{}") for sample in subject.samples])


def model_of_another(subject: Subject) -> Subject:
    """Give each message the model of a message of another variant."""
    samples = subject.samples
    others = [next(o for o in samples if o.variant != sample.variant) for sample in samples]
    pairs = zip(samples, others, strict=True)
    return with_samples(
        subject, [replace(one, model=other.model, variant=other.variant) for one, other in pairs]
    )


def model_that_is_mutable(subject: Subject) -> Subject:
    """Let the model of a variant be a dictionary."""
    vars(subject)["variants"] = dict.fromkeys(subject.variants, dict)
    return subject


def variant_without_page(subject: Subject) -> Subject:
    """Add a variant that no page describes."""
    vars(subject)["variants"] = {**subject.variants, "Unwritten": dict}
    return subject


def columns_of_another(subject: Subject) -> Subject:
    """Let Spark have the columns of another format."""
    return with_samples(OtherColumns(subject.name), subject.samples)


def codec_of_one_message(subject: Subject) -> Subject:
    """Let the codec decode every message as the first one."""
    first = subject.samples[0].model

    def decode(_: bytes) -> Any:
        return first

    codec = SimpleNamespace(decode=decode, encode=subject.form.codec.encode)
    fields = {"codec": codec, "encoding": subject.form.encoding, "strategy": subject.form.strategy}
    vars(subject)["form"] = SimpleNamespace(**fields)
    return subject


class OtherColumns(Subject):
    """A format whose columns in Spark are those of another."""

    def module(self, name: str) -> Any:
        """Return a generated module."""
        return Subject("lindorm-json").module(name) if name == "spark" else super().module(name)


FLAWS: Final[Mapping[str, Callable[[Subject], Subject]]] = {
    "schema": value_of_nothing,
    "model": model_that_is_mutable,
    "validator": value_of_nothing,
    "struct-type": columns_of_another,
    "decode": model_of_another,
    "encode": value_of_nothing,
    "round-trip": codec_of_one_message,
    "change": another_system,
    "spark": model_of_another,
    "producer-check": bytes_of_nothing,
    "page": variant_without_page,
}
"""What is wrong with the format, for each check."""
