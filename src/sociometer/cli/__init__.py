"""The command line: one file per command, loaded when the command is called."""
