"""Command line: ``python -m changewire_codegen [--check]``."""

from __future__ import annotations

import sys

from changewire_codegen.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
