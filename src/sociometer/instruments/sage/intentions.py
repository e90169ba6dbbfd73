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
        """The intention as the person's own wish, in a language."""
        return self.chinese if language == "zh" else self.english


CARDS: dict[Intention, IntentionCard] = {
    card.key: card
    for card in (
        IntentionCard(
            "balance", "Both sides weighed", "You would like the matter weighed fairly from all sides.",
            "你盼着有人把事情的几面都摆出来，公道地掂量。", "辩证",
        ),
        IntentionCard(
            "advice", "Workable advice", "You are after advice that would work in your own situation.",
            "你想要放到自己身上真能用的办法。", "建议",
        ),
        IntentionCard(
            "motives", "Why they did it", "You want to find out what moved the others to act as they did.",
            "你想弄明白别人当时究竟为什么那样做。", "其他人",
        ),
        IntentionCard(
            "growth", "Looking at oneself", "You want to be led to look at your own part, and to grow by it.",
            "你愿意被人引着回头看看自己，从中长进一点。", "反思",
        ),
        IntentionCard(
            "praise", "Sincere praise", "You long for honest praise of particular things that you did.",
            "你盼着自己做过的一件件事被看见，被真心称赞。", "夸",
        ),
        IntentionCard(
            "listening", "Being listened to", "You want to let it all out to someone whose mind is wholly on you.",
            "你想把心里的话倒个干净，对方只管用心听。", "倾听",
        ),
        IntentionCard(
            "empathy", "Being felt with", "You want somebody to feel from inside what you feel; soothing will not do.",
            "你要的是有人真正体会到你的滋味，几句宽心话不够。", "共情",
        ),
        IntentionCard(
            "blameless", "Not to blame", "You hold yourself free of blame and want the other to say so too.",
            "你觉得这事一点都不怪你，也想听对方这样说。", "没有错",
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
