"""The conversions to make: each question that names somebody of its story, and who becomes "you"."""

from collections.abc import Iterable, Iterator

from sociometer.core.task import Item
from sociometer.instruments.egosocial.tombench.characters import role_of
from sociometer.instruments.egosocial.tombench.release import TomBenchQuestion, Wording


class Order(Item, frozen=True, kw_only=True):
    """One conversion to make: the released question, and who becomes "you"."""

    language: str
    ego: str
    order: int
    measures: str
    others: tuple[str, ...]
    third: Wording
    answer: int


def orders(questions: Iterable[TomBenchQuestion], language: str) -> Iterator[Order]:
    """The conversions to make: every question that names somebody of its story."""
    for question in questions:
        role = role_of(question, language)
        if role.ego:
            yield Order(
                id=question.id,
                cluster=question.cluster,
                language=language,
                ego=role.ego,
                order=role.order,
                measures=role.measures,
                others=role.others,
                third=question.wording(language),
                answer=question.answer,
            )
