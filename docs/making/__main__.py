"""Write the pictures, the lists of names and the page of leniencies of the documentation.

``--check`` compares, and writes nothing.
"""

from __future__ import annotations

import argparse
import sys

from docs.making import leniencies, names, pictures


def main() -> int:
    """Write pictures and lists, or compare them."""
    parser = argparse.ArgumentParser(prog=pictures.COMMAND, description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    if not parser.parse_args().check:
        pictures.write()
        names.write()
        leniencies.write()
        return 0
    found = [*pictures.differences(), *names.differences(), *leniencies.differences()]
    sys.stderr.writelines(f"{line}\n" for line in found)
    if found:
        sys.stderr.write(f"to write them again: {pictures.COMMAND}\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
