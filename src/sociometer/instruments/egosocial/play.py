"""The conversation of the static scenarios: each telling of a scene is asked in a separate conversation."""

from msgspec import Struct, structs

from sociometer.core.conversation import Choice, Message, Sampling, system, user
from sociometer.core.reply_kind import Asked
from sociometer.core.session import Session
from sociometer.instruments.egosocial.scene import Scene, Telling
from sociometer.reading import Vote, answer_line, ask_choice, render_options, with_room

SAMPLING = Sampling(temperature=0, max_tokens=200)


class Pick(Struct, frozen=True, omit_defaults=True):
    """The option read from one reply (None: unreadable), and the rule that read it."""

    telling: str
    picked: int | None
    rule: str
    asked: Asked = Asked()

    @property
    def vote(self) -> Vote:
        """The pick as a vote in the order of the options."""
        return Vote((), self.picked, self.rule, self.asked)


class Picks(Struct, frozen=True):
    """The outcome of a scene: one pick for each telling that was asked."""

    picks: tuple[Pick, ...]

    def of(self, telling: str) -> Pick | None:
        """The pick of one telling, or None if it was not asked."""
        return next((pick for pick in self.picks if pick.telling == telling), None)

    def first_replies(self) -> "Picks":
        """The picks before any second question."""
        return Picks(tuple(structs.replace(pick, picked=pick.vote.first.picked) for pick in self.picks))


async def ask_scene(item: Scene, session: Session) -> Picks:
    """Asks every telling that the setting `perspective` selects."""
    wanted = session.settings.text("perspective")
    every = wanted == "both"
    asked = [telling for telling in item.tellings if every or telling.name not in ("third", "first")]
    asked += [telling for telling in item.tellings if wanted == telling.name]
    return Picks(tuple([await pick_telling(item, telling, session) for telling in asked]))


async def pick_telling(item: Scene, telling: Telling, session: Session) -> Pick:
    """Asks one telling of a scene."""
    prompts, language = session.prompts, item.language

    def messages(choice: Choice) -> list[Message]:
        texts = {"story": telling.story, "question": telling.question, "options": render_options(choice)}
        texts["how"] = answer_line(session, language)
        for part in ("rules", "hint"):
            if name := getattr(telling, part):
                texts[part] = prompts.render(name, language, person=item.ego)
        opening = prompts.render(telling.system or f"system_{telling.name}", language, person=item.ego)
        return [system(opening), user(prompts.render(telling.prompt, language, **texts))]

    vote = await ask_choice(
        session,
        messages,
        telling.options,
        key=telling.answer,
        sampling=with_room(session, SAMPLING),
        language=language,
        telling=telling.name,
    )
    return Pick(telling.name, vote.picked, vote.rule, vote.asked)
