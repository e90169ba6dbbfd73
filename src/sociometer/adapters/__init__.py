"""Adapters to other tools, one file each; a module is imported only when it is used, and most need an extra."""
