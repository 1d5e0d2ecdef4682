"""The commands, one to a module; `changewire.cli.groups` imports one when it is named."""
