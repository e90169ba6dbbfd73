"""Times the first response of the pages of `view` on a store of a thousand runs and an episode of 200 turns.

Run: python bench/pages.py [--store pages.db] [--runs 1000] [--turns 200] [--rounds 5]
A store that exists is used as it is. `first` is the time to the first bytes of a page, `whole` to its last; medians.
"""

import argparse
import http.client
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from sociometer.core.config import RunConfig
from sociometer.core.conversation import Exchange, Message, Reply
from sociometer.core.task import Episode, Score
from sociometer.engine.engine import Engine
from sociometer.instruments import load
from sociometer.store.records import RunStatus
from sociometer.store.store import Store


def build(path: Path, runs: int, turns: int) -> None:
    """Plays one run, copies its record and episodes, and puts one long conversation into the last of them."""
    with Store(path) as store:
        engine = Engine(store, load)
        first = engine.run(RunConfig(instrument="sesi", subject="baseline/random", limit=50)).run
        episodes = list(first.episodes())
        for number in range(runs - 1):
            record = store.runs.create(first.manifest, f"copy {number}")
            for position, episode in enumerate(episodes):
                store.runs.add_item(record.id, "questions", position, episode.item)
                store.episodes.add(record.id, "questions", episode, ())
            store.runs.set_summary(record.id, "questions", first.summary())
            store.runs.set_status(record.id, RunStatus.FINISHED)
        said = [Message("user", "How are you?")]
        events = []
        for turn in range(turns):
            reply = Reply(f"Turn {turn}: " + "thank you for asking, and how are you " * 12)
            events.append(Exchange("subject", "baseline/random", tuple(said), reply))
            said += [Message("assistant", reply.text), Message("user", f"And at turn {turn + 1}?")]
        store.episodes.add(
            first.id, "questions", Episode(episodes[0].item, 0, episodes[0].outcome, Score(values={}), None), events
        )
        store.flush()


def timed(place: tuple[str, int], path: str, cookie: str) -> tuple[float, float]:
    """Seconds to the first bytes of a page and to its last."""
    connection = http.client.HTTPConnection(*place)
    began = time.perf_counter()
    connection.request("GET", path, headers={"Cookie": cookie})
    answer = connection.getresponse()
    answer.read(1)
    first = time.perf_counter() - began
    answer.read()
    whole = time.perf_counter() - began
    connection.close()
    if answer.status != 200:
        raise RuntimeError(f"{answer.status} for {path}")
    return first, whole


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, default=Path(tempfile.gettempdir()) / "sociometer_pages.db")
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if not options.store.exists():
        build(options.store, options.runs, options.turns)
    with Store(options.store) as store:
        records = list(store.runs.all())
        item = next(store.episodes.scored(records[0].id, "questions")).item
    command = ["view", "--store", str(options.store), "--port", "0", "--json"]
    program = [sys.executable, "-m", "sociometer.cli.main", *command]
    server = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        link = urlsplit(json.loads(server.stdout.readline())["link"])
        place = (str(link.hostname), int(link.port or 0))
        connection = http.client.HTTPConnection(*place)
        form = {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://{link.netloc}"}
        connection.request("POST", "/enter", link.query, form)
        cookie = str(connection.getresponse().getheader("Set-Cookie")).partition(";")[0]
        stem, one, two = "", records[0].id, records[-1].id
        paths = {
            "runs": f"{stem}/",
            "search": f"{stem}/?q=random",
            "run": f"{stem}/run/{one}/",
            "long episode": f"{stem}/run/{one}/item?{urlencode({'item': item})}",
            "side by side": f"{stem}/side-by-side?run={one}&run={two}",
        }
        print(f"{len(records)} runs")
        for name, path in paths.items():
            timed(place, path, cookie)
            times = [timed(place, path, cookie) for _ in range(options.rounds)]
            first, whole = (statistics.median(column) * 1000 for column in zip(*times, strict=True))
            print(f"{name:14} first {first:6.0f} ms   whole {whole:6.0f} ms")
    finally:
        server.terminate()
        server.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
