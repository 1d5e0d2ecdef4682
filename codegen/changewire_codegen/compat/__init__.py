"""Compares two states of schemas, and says which readers and writers a difference breaks.

This package is a room of its own behind ``changewire schema diff``: whoever generates code need not
read it. It imports the rest of the generator, and nothing outside imports it but the entry point in
``pyproject.toml``. ``docs/compatibility.md`` has the rules.

`sources` reads the two states and `families` compares them; `walk` goes down a pair of nodes and
`rules` holds the verdicts. `witness` searches for a message that shows a loss.
"""
