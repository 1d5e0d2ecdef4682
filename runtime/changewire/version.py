"""The version of this distribution, which its metadata is made of."""

from typing import Final

VERSION: Final = "0.1.0"
