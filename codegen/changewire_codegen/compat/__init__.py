"""``changewire schema diff``: compares two states of schemas by the rules in ``rules.py``.

Whoever generates code need not read it: only `diff` is used, through the command line.
"""
