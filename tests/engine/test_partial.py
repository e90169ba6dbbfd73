"""A run that was stopped is a sample: its numbers come from the first items of a random order, and say so."""

import asyncio

from servers.paid import Server, config, engine_with
from sociometer.core.config import Caps
from sociometer.core.conversation import Reply
from sociometer.core.errors import Stopped


def test_the_order_of_play_is_random_and_the_same_for_every_subject(store):
    orders = []
    for name in "AB":
        server = Server()
        run = engine_with(store, server).run(config(name=name, in_flight=1, fresh=True)).run
        orders.append(list(server.asked))
        assert [episode.item.id for episode in run.episodes()] == [f"template-0{nth}" for nth in (1, 2, 3, 4)]
    asked = [run.transcript(one.item.id)[0].messages for one in run.episodes()]
    assert orders[0] == orders[1] != asked
    assert set(orders[0]) == set(asked)


def test_a_capped_run_counts_the_items_that_it_played(store):
    played = engine_with(store, Server()).run(config(caps=Caps(max_requests=3), in_flight=1))
    assert played.ending.status == "stopped"
    assert played.run.part("questions") == (3, 4)
    assert sum(1 for _ in played.run.view().episodes()) == 3
    assert any("first 3 of 4 items" in note for note in played.run.summary().notes)


class SlowOnTheThird(Server):
    """Answers the third request after all others, when the run is being stopped."""

    def __init__(self):
        super().__init__()
        self.last = asyncio.Event()

    async def answer(self, request):
        number = self.total = self.total + 1
        if number == 4:
            self.last.set()
        if number == 3:
            await self.last.wait()
            raise Stopped("interrupted")
        return Reply("A")


def test_an_item_that_is_still_open_holds_back_those_that_overtook_it(store):
    run = engine_with(store, SlowOnTheThird()).run(config()).run
    assert store.episodes.counts(run.id) == (3, 0)
    assert run.part("questions") == (2, 4)
    before = [episode.item.id for episode in run.view().episodes()]
    assert len(before) == 2
    whole = engine_with(store, Server()).resume(run.id).run
    assert whole.part("questions") is None
    after = [episode.item.id for episode in whole.view().episodes()]
    assert set(before) < set(after) and len(after) == 4
    assert not any("random order" in note for note in whole.summary().notes)
