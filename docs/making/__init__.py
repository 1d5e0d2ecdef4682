"""Generated parts of the site, and the linter of its prose.

``pages`` is called while the site is built. ``python -m docs.making`` writes the pictures and lists
of names, which are committed. ``python -m docs.making.prose`` checks the English of pages.
"""
