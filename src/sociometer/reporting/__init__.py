"""The report: one self-contained page about runs, and its figures as single files."""
