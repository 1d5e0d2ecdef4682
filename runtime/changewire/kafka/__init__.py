"""Serializers for Kafka clients: a producer validates before it sends, a consumer gets models.

```python
from changewire.kafka import ChangewireDeserializer, ChangewireSerializer

serialize = ChangewireSerializer("aerospike-json")  # also a value.serializer, a value_serializer
producer.produce("users", value=serialize(message))
```

They work with every client. Where confluent-kafka is installed they have its interface; without it
the names of that interface are classes of changewire.
"""

from changewire.kafka.deserializer import ChangewireDeserializer
from changewire.kafka.error import MessageRejectedError
from changewire.kafka.interface import MessageField, SerializationContext, SerializationError
from changewire.kafka.schema_header import HEADERS, SchemaHeader
from changewire.kafka.serializer import ChangewireSerializer

__all__ = [
    "HEADERS",
    "ChangewireDeserializer",
    "ChangewireSerializer",
    "MessageField",
    "MessageRejectedError",
    "SchemaHeader",
    "SerializationContext",
    "SerializationError",
]
