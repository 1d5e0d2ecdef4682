"""What `changewire doctor` looks at, one kind to a module."""
