"""A dialogue played against a server, as a program that a test may kill: STORE URL REPEATS TURNS IN_FLIGHT."""

import json
import sys
from pathlib import Path

from msgspec import structs

from sociometer.core.config import RunConfig
from sociometer.core.conversation import assistant, user
from sociometer.core.instrument import Instrument
from sociometer.engine import runner
from sociometer.engine.engine import Engine
from sociometer.engine.replies import RunReplies
from sociometer.instruments import load
from sociometer.reading import ChoiceAnswer, Vote
from sociometer.store.store import Store


async def talk(item, session):
    """Each turn quotes the reply before it, so that a reply in the wrong place changes all that follow."""
    messages, votes = [], []
    for turn in range(int(sys.argv[4])):
        messages.append(user(f"{item.id}, turn {turn}, lot {session.rng.random()}"))
        reply = await session.ask("subject", messages)
        messages.append(assistant(reply.text))
        votes.append(Vote((), int(reply.text, 16) % 4, reply.text))
    return ChoiceAnswer(tuple(votes), int(votes[-1].rule, 16) % 4)


class Telling(RunReplies):
    """Says on standard error when the run is told to stop."""

    def __init__(self, *given, **options):
        super().__init__(*given, **options)
        self.wake.append(lambda reason: print("stops", file=sys.stderr, flush=True))


def main():
    runner.RunReplies = Telling
    store, url, repeats, _, in_flight = sys.argv[1:6]
    config = RunConfig(
        instrument="_template",
        subject="vllm/test-model",
        base_url=url,
        revision="weights-1",
        repeats=int(repeats),
        in_flight=int(in_flight),
    )
    template = load("_template")
    instrument = Instrument(template.folder, [structs.replace(template.task("questions"), play=talk)])
    with Store(Path(store)) as opened:
        played = Engine(opened, lambda name: instrument).run(config)
        values = [
            [episode.item.id, episode.repeat, episode.score.values, [vote.rule for vote in episode.outcome.votes]]
            for episode in played.run.view().episodes()
            if episode.score
        ]
        told = {"run": played.run.id, "status": played.ending.status, "sent": played.progress.sent, "values": values}
        print(json.dumps({**told, "errors": dict(played.progress.failed)}))


if __name__ == "__main__":
    main()
