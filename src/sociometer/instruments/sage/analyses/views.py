"""The view of a program in the judge's role; never sent to a model."""

from msgspec import Struct


class JudgeView(Struct, frozen=True):
    """The analysis, and the subject's replies to analyse."""

    task: str
    language: str
    replies: tuple[str, ...]
