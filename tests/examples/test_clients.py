"""Examples say in one line that no broker answers, and nothing of librdkafka's log."""

from __future__ import annotations

import io
import runpy
import socket
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import Producer, SerializingProducer
from examples import clients, produce
from examples.broker import HOST, free_port
from examples.clients import NoBrokerError, wait_for_broker

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_a_broker_that_comes_later_is_waited_for() -> None:
    """There is one line while nothing listens, and none when something does."""
    said: list[str] = []
    port = free_port()
    with ExitStack() as stack:

        def listen(line: str) -> None:
            said.append(line)
            stack.enter_context(socket.create_server((HOST, port)))

        wait_for_broker(f"{HOST}:{port}", say=listen)
        wait_for_broker(f"{HOST}:{port}", say=listen)
    assert said == [f"waiting for broker {HOST}:{port} ..."]


def test_one_of_several_servers_is_enough() -> None:
    """A client needs one bootstrap server."""
    with socket.create_server((HOST, 0)) as listening:
        servers = f"{HOST}:{free_port()},{HOST}:{listening.getsockname()[1]}"
        wait_for_broker(servers, say=pytest.fail)


def test_what_is_no_address_is_not_waited_for() -> None:
    """The sentence says what was expected."""
    with pytest.raises(NoBrokerError, match="expected HOST:PORT, found 'here'"):
        wait_for_broker("here")


def test_a_producer_without_broker_ends_with_two_lines(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """One says that it waits, one that nothing was sent."""
    (tmp_path / "a.jsonl").write_text("{}\n", encoding="utf-8")
    server = f"{HOST}:{free_port()}"
    monkeypatch.setattr(produce, "wait_for_broker", partial(wait_for_broker, seconds=0))
    monkeypatch.setattr(sys, "argv", ["produce", server, "t", str(tmp_path / "a.jsonl")])
    with pytest.raises(SystemExit) as ended:
        produce.main()
    assert ended.value.code == (
        f"nothing more is sent: no broker answers at {server}: Connection refused"
    )
    assert capfd.readouterr() == ("", f"waiting for broker {server} ...\n")


def test_a_service_without_broker_says_two_lines(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The client tries again and again, and says it once; at last it says what was not sent."""
    server = f"{HOST}:{free_port()}"

    def flush(producer: SerializingProducer, _: float) -> int:
        return int(Producer.flush(producer, 3))

    monkeypatch.setattr(SerializingProducer, "flush", flush)
    monkeypatch.setattr(sys, "argv", ["producer.py", server, "t"])
    message = b'{"msg": "delete", "key": ["n", "s", "ZGRkZGRkZGRkZGRkZGRkZGRkZGQ=", null]}\n'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(message)))
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(EXAMPLES / "producer.py"))
    assert ended.value.code == 1
    said = f"waiting for broker {server} ...\nt: 1 not delivered: no answer within 60 seconds\n"
    assert capfd.readouterr() == ("", said)


def test_clients_of_the_examples_have_no_log() -> None:
    """Librdkafka writes emergencies alone."""
    assert clients.settings("h:1") == {"bootstrap.servers": "h:1", "log_level": 0}
