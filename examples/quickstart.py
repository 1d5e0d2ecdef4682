"""The whole library in one screen: decode a message, validate one, see its changes, encode it."""

import changewire as cw

DATA = (
    b'{"msg":"write","key":["shop","users","7D+CWqT+/uVwxRPN/9jmhVJMaJE=","ada"],"gen":3,"exp":0,'
    b'"lut":1767225600000,"bins":[{"name":"name","type":"str","value":"Ada"}]}'
)

message = cw.decode(DATA, format="aerospike-json")  # a typed, frozen model of the message
print("decoded:", type(message).__name__, message.key.user_key, message.bins[0])

for change in cw.changes(message):  # one kind of change for every format
    print("change:", change.op, change.source.table, change.after, change.event_time)

data = cw.encode(message)  # checked: decode accepts it, and reads the same message
print("encoded:", cw.decode(data, format="aerospike-json") == message)

damaged = DATA.replace(b'"gen":3', b'"gen":"3"').replace(b'"Ada"', b"7")
for issue in cw.validate(damaged, format="aerospike-json"):  # every issue, not only the first
    print("issue:", issue)
