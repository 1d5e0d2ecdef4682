"""The second room: a record's value to a generated model, and back. It knows no vendor."""

from changewire.codec.border import rejection
from changewire.codec.codec import Codec
from changewire.codec.installed import FormatError, encoding_of, formats, module_of
from changewire.codec.issues import CODES, CodecError, DecodeError, EncodeError, Issue
from changewire.codec.msgpack_values import ExtKey, json_form
from changewire.codec.registry import (
    codec,
    codec_for,
    codec_of,
    decode_all_any,
    decode_any,
    detect,
)
from changewire.codec.wire import Data

__all__ = [
    "CODES",
    "Codec",
    "CodecError",
    "Data",
    "DecodeError",
    "EncodeError",
    "ExtKey",
    "FormatError",
    "Issue",
    "codec",
    "codec_for",
    "codec_of",
    "decode_all_any",
    "decode_any",
    "detect",
    "encoding_of",
    "formats",
    "json_form",
    "module_of",
    "rejection",
]
