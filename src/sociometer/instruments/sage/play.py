"""The conversation: the person opens, the subject replies, the person reacts and answers, until it ends."""

from collections.abc import Sequence

from sociometer.core.conversation import Free, Message, Sampling, assistant, system, user
from sociometer.core.session import Session
from sociometer.core.settings import Settings, is_paper
from sociometer.instruments.sage.dialogue import SHORT, Dialogue, Turn, is_rehearsed
from sociometer.instruments.sage.items import Scenario
from sociometer.instruments.sage.person import asked
from sociometer.instruments.sage.person.authors import SUBJECT_PROMPT
from sociometer.instruments.sage.person.emotion import Ending, Protocol, band, find_leak
from sociometer.instruments.sage.person.talk import SIMULATOR

REPLY_SAMPLING = Sampling()
"""No limit by default: one that fits a chat would cut off a reasoning model before its answer (`-o reply-tokens`)."""
_NOTHING_SAID = "…"
SHORT_TURNS = 3
"""The turns of a short talk: no released verdict is reversed, some become undecided (bench/short_talks.py)."""


def protocol_of(settings: Settings) -> Protocol:
    """The protocol under the user's settings."""
    turns = settings.whole("turns")
    judge_last = settings.flag("judge-last")
    return Protocol(
        turns=turns, judge_last=judge_last, any_farewell=is_paper(settings), short=judge_last and turns == SHORT_TURNS
    )


async def play_scenario(scenario: Scenario, session: Session) -> Dialogue:
    """Plays a scenario from its first words to its end."""
    protocol = protocol_of(session.settings)
    turns: list[Turn] = []
    emotion = protocol.start
    ending: Ending | None = None
    while ending is None:
        spoken = await _reply(scenario, turns, session)
        turn = await _take(scenario, turns, spoken, emotion, session, protocol)
        turns.append(turn)
        emotion = emotion if turn.judgement is None else turn.judgement.after
        ending = protocol.ending(emotion, len(turns), turn.words, scenario.language)
    simulator = session.identity_of(SIMULATOR) + (SHORT if protocol.short else "")
    made = Dialogue(scenario.first_words, protocol.start, tuple(turns), ending, simulator)
    # The feelings of a rehearsal mean nothing and are not shown.
    felt = {} if made.rehearsed else {"emotion": emotion, "band": band(emotion)}
    session.note("end", ending=ending, words=turns[-1].words, **felt)
    return made


def _messages(scenario: Scenario, turns: Sequence[Turn], session: Session) -> list[Message]:
    """What the subject sees: how to talk and the dialogue so far; no persona, goal or intention."""
    prompt = SUBJECT_PROMPT if is_paper(session.settings) else "subject"
    told = session.prompts.render(prompt, scenario.language)
    messages = [system(told), user(scenario.first_words)]
    for turn in turns:
        messages.append(assistant(turn.reply or _NOTHING_SAID))
        messages.append(user(turn.words or _NOTHING_SAID))
    return messages


async def _reply(scenario: Scenario, turns: list[Turn], session: Session) -> Turn:
    wanted = Free(key=scenario.hidden)
    messages = _messages(scenario, turns, session)
    reply = await session.ask("subject", messages, wanted, sampling=REPLY_SAMPLING)
    return Turn(reply.text.strip(), tokens=reply.usage.output_tokens)


async def _take(
    scenario: Scenario, turns: list[Turn], spoken: Turn, emotion: int, session: Session, protocol: Protocol
) -> Turn:
    """The turn with the person's judgement and next words, as far as the protocol asks for them."""
    number = len(turns) + 1
    if not protocol.judges(number):
        return spoken
    talk = (*Dialogue(scenario.first_words, 0, tuple(turns), "turns").said(len(turns)), ("subject", spoken.reply))
    judgement, rereads = await asked.feel(scenario, talk, emotion, session, protocol)
    if not is_rehearsed(session.identity_of(SIMULATOR)):
        session.note("emotion", turn=number, before=emotion, change=judgement.change, after=judgement.after)
    if number >= protocol.turns:
        return Turn(spoken.reply, judgement, tokens=spoken.tokens, rereads=rereads)
    plan, words, more = await asked.answer(scenario, talk, judgement, session)
    leak = find_leak(words, scenario.hidden, scenario.intention, scenario.language)
    if leak:
        session.note("leak", turn=number, gives=leak)
    return Turn(spoken.reply, judgement, plan, words, leak, spoken.tokens, rereads + more)
