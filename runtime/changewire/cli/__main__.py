"""``python -m changewire.cli`` is the command ``changewire``."""

from changewire.cli import main

if __name__ == "__main__":
    main()
