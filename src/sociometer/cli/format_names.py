"""The formats of other tools' logs that `sociometer import` takes in place of an instrument; imports nothing."""

IMPORT = "import"
FORMATS = {
    "inspect": "Inspect logs (.eval or .json)",
    "lm-eval": "samples of lm-evaluation-harness (samples_*.jsonl, from --log_samples)",
    "csv": "a table with the columns item, subject, score and, if items share something, cluster",
}
"""No instrument may have one of these names."""


def formats_of(verb: str) -> dict[str, str]:
    """The formats that a verb takes, with what each reads; only `import` takes any."""
    return FORMATS if verb == IMPORT else {}
