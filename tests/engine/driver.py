"""Plays the template against a server, as a program that a test may kill: STORE URL REPEATS ORDERS IN_FLIGHT."""

import json
import sys
from pathlib import Path

from sociometer.engine.config import RunConfig
from sociometer.engine.engine import Engine
from sociometer.instruments import folder_of, load_folder
from sociometer.store.store import Store


def main():
    store, url, repeats, orders, in_flight = sys.argv[1:6]
    config = RunConfig(
        instrument="_template",
        subject="vllm/test-model",
        base_url=url,
        revision="weights-1",
        repeats=int(repeats),
        settings={"orders": int(orders)},
        in_flight=int(in_flight),
    )
    with Store(Path(store)) as opened:
        played = Engine(opened, lambda name: (load_folder(name), folder_of(name))).run(config)
        values = [
            [episode.item.id, episode.repeat, episode.score.values["correct"]]
            for episode in played.run.view().episodes()
            if episode.score
        ]
        told = {"run": played.run.id, "status": played.ending.status, "sent": played.tally.sent, "values": values}
        print(json.dumps({**told, "errors": dict(played.tally.failed)}))


if __name__ == "__main__":
    main()
