"""What a program in the judge's chair is told; never sent to a model."""

from msgspec import Struct


class JudgeView(Struct, frozen=True):
    """The analysis, and the subject's replies it is about."""

    task: str
    language: str
    replies: tuple[str, ...]
