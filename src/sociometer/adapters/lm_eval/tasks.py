"""The functions that the YAML files in this folder call; lm-evaluation-harness loads this file by its path."""

from typing import Any

import msgspec
from datasets import Dataset

from sociometer.adapters.one_turn import OneTurn, one_turns, plan_of, score_reply
from sociometer.core.conversation import Choice
from sociometer.instruments import card_of

SESI, SECEU, SOCIALEVAL, EGOSOCIAL = (card_of(name).version for name in ("sesi", "seceu", "socialeval", "egosocial"))
"""The version of each instrument, which is that of its tasks."""


def documents(
    instrument: str,
    task: str,
    settings: dict[str, Any] | None = None,
    official: bool = False,
    data: str = "",
    seed: int = 0,
    base: bool = False,
    **_: Any,
) -> dict[str, Dataset]:
    """The items with what is asked; `--metadata '{"official": true}'` takes the official ones.

    With `base`, the prompt is a text for base models to continue.
    """
    chosen = msgspec.json.encode(settings or {}, order="deterministic")
    plan = plan_of(instrument, task, chosen, official, data, seed, base)
    place = {"instrument": instrument, "task": task, "settings": chosen.decode(), "seed": seed}
    facts = {**place, "official": official, "data": data, "version": plan.instrument.card.version}
    return {"test": Dataset.from_list([{**_document(turn), **facts} for turn in one_turns(plan)])}


def _document(turn: OneTurn) -> dict[str, Any]:
    first, *rest = turn.messages
    opening, said = (first.content, rest) if first.role == "system" else ("", list(turn.messages))
    if [message.role for message in said] not in (["user"], ["text"]):
        raise ValueError(f"item {turn.item.id} is a conversation, not one question")
    wanted = turn.answer_format
    choice = {"labels": list(wanted.labels), "key": wanted.key} if isinstance(wanted, Choice) else {}
    return {
        **choice,
        "id": turn.item.id,
        "cluster": turn.item.cluster or turn.item.id,
        "system": opening,
        "prompt": said[0].content,
        "item": msgspec.json.encode(turn.item).decode(),
    }


def scores(document: dict[str, Any], replies: list[str]) -> dict[str, float]:
    """The scores of one reply, as `sociometer run` gives them."""
    settings = document["settings"].encode()
    plan = plan_of(
        document["instrument"], document["task"], settings, document["official"], document["data"], document["seed"]
    )
    item = msgspec.json.decode(document["item"], type=plan.tasks[0].item_type)
    made = score_reply(plan, item, replies[0])
    measured = {measure.value for measure in plan.instrument.card.measures_of(plan.tasks[0].name)}
    return {name: value for name, value in made.values.items() if name in measured}
