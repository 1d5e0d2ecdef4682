"""Errors of the machine are raised again: they say nothing of a message or a change."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from tests.samples import FORMAT, examples

import changewire as cw
from changewire.changes import aerospike
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.decode import Decoder
from changewire.engines.typed import fit
from changewire.tables import routing
from changewire.tables.names import template_of
from changewire.tables.routing import KnownTables, Routing, find_routes
from changewire_messages.change import Source

ERRORS = (MemoryError, OSError)
MESSAGE = json.dumps(examples("write")[0]).encode()


def ended(error: type[Exception]) -> Callable[..., Any]:
    """Return a function that raises an error."""

    def raising(*_: object, **__: object) -> Any:
        raise error

    return raising


@pytest.mark.parametrize("error", ERRORS)
def test_no_message_becomes_a_dead_letter(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    """A message that was decoded without memory is decoded again, and not rejected."""
    monkeypatch.setattr(aerospike, "row_by", ended(error))
    with pytest.raises(error):
        cw.changes(cw.decode(MESSAGE, format=FORMAT))
    with pytest.raises(error):
        DecodeOptions(FORMAT).rows(MESSAGE, None)
    monkeypatch.setattr(DecodeOptions, "rows", ended(error))
    decoder: Any = Decoder(DecodeOptions(FORMAT))
    with pytest.raises(error):
        decoder._message(MESSAGE, None)  # noqa: SLF001 - a kernel would read it


@pytest.mark.parametrize("error", ERRORS)
def test_no_change_is_refused(monkeypatch: pytest.MonkeyPatch, error: type[Exception]) -> None:
    """Neither routing nor fitting a row makes a refusal of it."""
    monkeypatch.setattr(routing, "route", ended(error))
    key = Source(system="aerospike", database="d", schema=None, table="t"), "upsert"
    with pytest.raises(error):
        find_routes([key], Routing(template_of("/lake/{table}")), KnownTables())
    columns = pa.schema([("a", pa.int64())])
    cells = fit.Fitting(fit.key_cells(columns), fit.row_cells(columns))
    monkeypatch.setattr(fit, "key_text", ended(error))
    with pytest.raises(error):
        fit.fitted_texts('{"a":1}', None, cells)


def test_other_errors_become_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    """One message or change must not end a run by what nothing expected."""
    monkeypatch.setattr(DecodeOptions, "rows", ended(KeyError))
    decoder: Any = Decoder(DecodeOptions(FORMAT))
    ((rejected, _),) = decoder._message(MESSAGE, None)  # noqa: SLF001 - as above
    assert rejected.code == "internal-error"
    columns = pa.schema([("a", pa.int64())])
    cells = fit.Fitting(fit.key_cells(columns), fit.row_cells(columns))
    monkeypatch.setattr(fit, "key_text", ended(KeyError))
    failure = fit.fitted_texts('{"a":1}', None, cells).failure
    assert failure is not None
    assert failure.code == "apply-failed"
