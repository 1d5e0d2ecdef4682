"""A service that sends JSON lines to a topic: python examples/producer.py HOST:PORT TOPIC < lines.

Messages that readers would reject are not sent; standard error has every reason, also for messages
that were not delivered. The exit code is 1 if there are any.
"""

import sys
from collections import Counter

from confluent_kafka import KafkaError, KafkaException, Message, SerializingProducer
from confluent_kafka.error import ValueSerializationError

from changewire.kafka import ChangewireSerializer

MOST_WAITING = 10_000
SECONDS = 60
UNREACHED = {"_ALL_BROKERS_DOWN", "_RESOLVE", "_TRANSPORT"}

undelivered: Counter[str] = Counter()
said: set[str] = set()
server, topic = sys.argv[1:]


def delivered(error: KafkaError | None, _: Message) -> None:
    """Count a message that was not delivered, by the reason."""
    if error is not None:
        undelivered[error.str()] += 1


def say_once(error: KafkaError) -> None:
    """Print each error once; librdkafka's log repeats it for each attempt to reach a broker."""
    text = f"waiting for broker {server} ..." if error.name() in UNREACHED else error.str()
    if text not in said:
        print(text, file=sys.stderr, flush=True)
    said.add(text)


serializer = ChangewireSerializer("aerospike-json", strict=True, header=True)
quiet = {"log_level": 0, "error_cb": say_once}
producer = SerializingProducer(
    {"bootstrap.servers": server, "value.serializer": serializer, **quiet}
)
refused = 0
for number, line in enumerate(sys.stdin.buffer, 1):
    try:
        producer.produce(topic, value=line.strip(), headers=[], on_delivery=delivered)
    except ValueSerializationError as error:
        refused += 1
        print(f"line {number}: {error.exception}", file=sys.stderr)
    except KafkaException as error:  # such as a topic that the client knows to be missing
        undelivered[error.args[0].str()] += 1
    producer.poll(1 if len(producer) > MOST_WAITING else 0)  # waits if the broker is slower
if unsent := producer.flush(SECONDS):
    undelivered[f"no answer within {SECONDS} seconds"] += unsent
for reason, count in undelivered.items():
    print(f"{topic}: {count} not delivered: {reason}", file=sys.stderr)
sys.exit(1 if refused or undelivered else 0)
