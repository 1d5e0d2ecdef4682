"""The commands, one to a module; `changewire.cli.app` imports one when it is named."""
