"""The command line: one file a command, loaded when asked for."""
