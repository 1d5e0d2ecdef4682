"""PyFlink's format ``debezium-json`` beside changewire, on the same files of Lindorm's messages.

A job of Flink has two slots, reads the files and sends typed rows to a sink that drops them. It
runs in an environment of its own: ``nox -s bench_flink``.

The two do not do the same work. Flink parses the columns that the job names and makes one row of
an insert or a delete, two of an update. It validates nothing, and its rows have neither the time
of the change nor its source: its files have no such columns. With ``ignore-parse-errors``, without
which a broken message ends the job, it drops such messages without a count or a reason, and makes
values that it cannot parse NULL, keys among them. Unknown columns vanish. A number with more digits
than the type of its column is rounded. `benchmarks.flink.cases` shows each of these. changewire
keeps the text of rows, and everything that it rejects.
"""
