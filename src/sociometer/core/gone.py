"""What earlier versions had and many people used: what to type in its place now."""

from collections.abc import Mapping

from sociometer.core.hints import hint

_READ = "Replies are read. For base models, lm-evaluation-harness has the task 'sociometer_sesi_likelihood'"
_SHEETS = ("Type '{}'", "sheet write RUN --of SHEET")

_INSTEAD: Mapping[str, tuple[str, ...]] = {
    "option until": ("--against RUN alone stops a run when the comparison is decided",),
    "option watch": ("Run each checkpoint with --against RUN",),
    "option shard": ("--on ray, several servers as one model and a store on PostgreSQL spread a run",),
    "option form": ("--turns 3 --judge-last plays short talks",),
    "option label": ("--name names the model, in commands, tables and pages",),
    "option batch": ("Requests are in flight together: -o in-flight=N",),
    "option blind": ("What readers reach without the situations is a figure of '{}'", "list INSTRUMENT"),
    "option log-to": ("In Python, callback=FUNCTION hears of every item",),
    "option profile": ("'{}' and '{}' show the profile of a model", "report", "view"),
    "option detect": ("'{}' and '{}' say what the items can show", "plan", "compare"),
    "name for -o answer": (_READ,),
    "name for -o logprobs": (_READ,),
    "command annotate": ("Type '{}' and '{}'", "sheet write", "sheet read"),
    "command env": ("HelpdeskEnvironment is the environment for training, in Python",),
    "import command inspect": ("Type '{}', or run our tests inside Inspect", "import csv FILE"),
    "import command lm-eval": ("Type '{}', or run our tests inside lm-evaluation-harness", "import csv FILE"),
    "import command run": ("Type '{}'", "check FILE"),
    "study command plan": ("The page on people has the formula for how many are needed",),
    "sage command sheet": _SHEETS,
    "sesi command sheet": _SHEETS,
    "sage task deeds": ("Type '{}'", "run helpdesk"),
    "function rank": ("Run several models, then call compare",),
}
"""By kind and name: a sentence, and the commands in it."""


def taken_away(what: str, name: str) -> str:
    """That earlier versions had a name, and what to type instead, as the end of a message; empty if they had none."""
    sentence, *commands = _INSTEAD.get(f"{what} {name.lstrip('-').replace('_', '-')}", ("",))
    if not sentence:
        return ""
    return f"version 0.4 took it away. {sentence.format(*map(hint, commands))}."
