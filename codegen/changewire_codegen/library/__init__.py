"""Modules that are copied into each generated package; the generator imports none of them."""
