"""A service that sends JSON lines to a topic: python examples/producer.py HOST:PORT TOPIC < lines.

What readers of the topic would refuse is not sent, and said with every reason.
"""

import sys

from confluent_kafka import SerializingProducer
from confluent_kafka.error import ValueSerializationError

from changewire.kafka import ChangewireSerializer

MOST_WAITING = 10_000

server, topic = sys.argv[1:]
serializer = ChangewireSerializer("aerospike-json", closed=True, header=True)
producer = SerializingProducer({"bootstrap.servers": server, "value.serializer": serializer})
refused = 0
for number, line in enumerate(sys.stdin.buffer, 1):
    try:
        producer.produce(topic, value=line.strip(), headers=[])
    except ValueSerializationError as error:
        refused += 1
        print(f"line {number}: {error.exception}", file=sys.stderr)
    producer.poll(1 if len(producer) > MOST_WAITING else 0)  # waits where the broker is slower
unsent = producer.flush(60)
sys.exit(1 if refused or unsent else 0)
