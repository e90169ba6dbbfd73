"""A stored dialogue judged anew by another simulator."""

from sociometer.core.session import Session
from sociometer.instruments.sage.dialogue import SHORT, Dialogue, StoredDialogue, Turn
from sociometer.instruments.sage.person import asked
from sociometer.instruments.sage.person.rehearsal import refuse_rehearsal
from sociometer.instruments.sage.play import protocol_of


async def rejudge(item: StoredDialogue, session: Session) -> Dialogue:
    """The dialogue with the new simulator's emotions, which continue from turn to turn; the words stay.

    The dialogue is not shortened where the new simulator would have ended it, because the old one determined its
    length.
    """
    refuse_rehearsal(session, "judging dialogues again")
    protocol = protocol_of(session.settings)
    emotion, turns = protocol.start, []
    for number, turn in enumerate(item.dialogue.turns):
        if turn.judgement is None:
            turns.append(turn)
            continue
        talk = (*item.dialogue.said(number), ("subject", turn.reply))
        judgement, rereads = await asked.feel(item.scenario, talk, emotion, session, protocol)
        emotion = judgement.after
        session.note("emotion", turn=number + 1, before=judgement.before, change=judgement.change, after=emotion)
        turns.append(Turn(turn.reply, judgement, turn.plan, turn.words, turn.leak, turn.tokens, rereads))
    simulator = session.identity_of("simulator") + (SHORT if item.dialogue.short else "")
    return Dialogue(item.dialogue.opening, protocol.start, tuple(turns), item.dialogue.ending, simulator)
