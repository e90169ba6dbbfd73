"""The eight hidden intentions: what a person secretly hopes for from the talk, and never says."""

from typing import Literal, get_args

from msgspec import Struct

from sociometer.core.errors import DataError

Intention = Literal["balance", "advice", "motives", "growth", "praise", "listening", "empathy", "blameless"]
INTENTIONS: tuple[Intention, ...] = get_args(Intention)


class IntentionCard(Struct, frozen=True):
    """An intention's short name, its meaning in our words, and the mark by which an official task is known."""

    key: Intention
    title: str
    english: str
    chinese: str
    mark: str

    def sentence(self, language: str) -> str:
        """The intention as the person's wish, in a language and in the third person, like the rest of a profile."""
        return self.chinese if language == "zh" else self.english


CARDS: dict[Intention, IntentionCard] = {
    card.key: card
    for card in (
        IntentionCard(
            "balance", "Both sides weighed", "They would like the matter weighed fairly from all sides.",
            "盼着有人把事情的几面都摆出来，公道地掂量。", "辩证",
        ),
        IntentionCard(
            "advice", "Workable advice", "They are after advice that would work in their own situation.",
            "想要放到自己身上真能用的办法。", "建议",
        ),
        IntentionCard(
            "motives", "Why they did it", "They want to find out what moved the others to act that way.",
            "想弄明白别人当时究竟为什么那样做。", "其他人",
        ),
        IntentionCard(
            "growth", "Self-reflection", "They want to be led to look at their own part, and to grow by it.",
            "愿意被人引着回头看看自己，从中长进一点。", "反思",
        ),
        IntentionCard(
            "praise", "Sincere praise", "They long for honest praise of particular things that they did.",
            "盼着自己做过的一件件事被看见，被真心称赞。", "夸",
        ),
        IntentionCard(
            "listening", "Being listened to", "They want to let it all out to someone whose mind is wholly on them.",
            "想把心里的话倒个干净，对方只管用心听。", "倾听",
        ),
        IntentionCard(
            "empathy", "Empathy", "They want somebody to feel from inside what they feel; soothing is not it.",
            "要的是有人真正体会到自己的滋味，几句宽心话不够。", "共情",
        ),
        IntentionCard(
            "blameless", "Not to blame", "They hold themselves free of blame and want the other to say so too.",
            "觉得这事一点都不怪自己，也想听对方这样说。", "没有错",
        ),
    )
}  # fmt: skip


def intention_of_task(task: str) -> Intention:
    """The intention that an official `task` sentence states, known by its one telling word."""
    found = [card.key for card in CARDS.values() if card.mark in task]
    if len(found) != 1:
        marks = ", ".join(card.mark for card in CARDS.values())
        raise DataError(f"task '{task}' states {len(found)} of the eight hidden intentions; told apart by: {marks}")
    return found[0]
