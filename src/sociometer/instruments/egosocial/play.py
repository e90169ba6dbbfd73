"""The conversation of the static scenarios: each telling of a scene is asked on its own, with no word of the others."""

from msgspec import Struct

from sociometer.core.answer_format import Choice
from sociometer.core.conversation import Sampling, system, user
from sociometer.core.task import Session
from sociometer.elicit import read_choice, render_options
from sociometer.instruments.egosocial.scene import Scene, Telling

SAMPLING = Sampling(temperature=0, max_tokens=200)


class Pick(Struct, frozen=True):
    """The option read from one reply (None: unreadable), and the rule that read it."""

    telling: str
    picked: int | None
    rule: str


class Picks(Struct, frozen=True):
    """The outcome of a scene: one pick for each telling that was asked."""

    picks: tuple[Pick, ...]

    def of(self, telling: str) -> Pick | None:
        """The pick of one telling, or None where it was not asked."""
        return next((pick for pick in self.picks if pick.telling == telling), None)


async def ask_scene(item: Scene, session: Session) -> Picks:
    """Asks every telling that the setting `perspective` wants."""
    wanted = session.settings.text("perspective")
    asked = [telling for telling in item.tellings if wanted == "both" or telling.name not in ("third", "first")]
    asked += [telling for telling in item.tellings if wanted == telling.name]
    return Picks(tuple([await _pick(item, telling, session) for telling in asked]))


async def _pick(item: Scene, telling: Telling, session: Session) -> Pick:
    answer_format = Choice(telling.options, key=telling.answer)
    prompts, language = session.prompts, item.language
    question = prompts.render(
        telling.prompt,
        language,
        story=telling.story,
        question=telling.question,
        options=render_options(answer_format.options, answer_format.labels),
    )
    opening = prompts.render(f"system_{telling.name}", language)
    reply = await session.ask("subject", [system(opening), user(question)], answer_format, sampling=SAMPLING)
    reading = read_choice(reply.text, answer_format.options, answer_format.labels)
    session.note("read", telling=telling.name, rule=reading.rule)
    return Pick(telling.name, reading.index, reading.rule)
