"""What of the site is made, not written: pages of the command line, plots, and drawings.

``pages`` is called while the site is built. ``python -m docs.making`` writes the pictures that are
committed, because README.md shows them too.
"""
