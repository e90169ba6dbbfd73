"""`sociometer show RUN --unreadable`: lists every reply without an answer, so that a person can see why."""

from collections.abc import Iterable, Iterator

from msgspec import Struct, structs

from sociometer.cli.output import print_json, print_line
from sociometer.core.conversation import Event, Exchange
from sociometer.store.stored_run import StoredRun

_LONGEST = 600
_SEEN = 200  # characters by which a reply is recognised


class UnreadReply(Struct, frozen=True, omit_defaults=True):
    """One reply without an answer, and the result of asking again."""

    task: str
    item: str
    repeat: int
    role: str
    kind: str
    rule: str
    reply: str
    limit: int = 0
    then: str = ""
    """The reply to the second question; empty if there was none."""
    answered: bool = False
    """Whether the reply to the second question has an answer."""


def show_unreadable(stored: StoredRun, tasks: Iterable[str], *, as_json: bool) -> None:
    """Print the replies of a run that have no answer."""
    found = [reply for task in tasks for reply in unread_replies(stored, task)]
    if as_json:
        print_json(found)
        return
    for reply in found:
        cut = f" at {reply.limit} tokens" if reply.limit else ""
        print_line(f"{reply.task} · {reply.item} · repeat {reply.repeat} · {reply.role}: {reply.kind}{cut}")
        print_line(_indented(reply.reply))
        if reply.then:
            print_line(f"  asked again, {'answered' if reply.answered else 'still no answer'}:")
            print_line(_indented(reply.then))
        print_line()
    again = sum(bool(reply.then) for reply in found)
    answered = sum(reply.answered for reply in found)
    if not found:
        print_line("Every reply had a readable answer.")
        return
    print_line(f"{len(found)} replies had no answer; {again} were asked again, of which {answered} then had one.")


def unread_replies(stored: StoredRun, task: str) -> Iterator[UnreadReply]:
    """The replies of a task that have no answer, in the order of items."""
    for episode in stored.episodes(task):
        if episode.score is None or episode.score.replies or episode.score.unreadable:
            item, repeat = episode.item.id, episode.repeat
            yield from _unread(stored.transcript(item, task, repeat), task, item, repeat)


def _unread(events: Iterable[Event], task: str, item: str, repeat: int) -> Iterator[UnreadReply]:
    last: dict[str, Exchange] = {}
    waiting: dict[str, UnreadReply] = {}
    for event in events:
        if isinstance(event, Exchange):
            last[event.branch] = event
            before = waiting.get(event.branch)
            if before is not None and _asks_again(event, before):
                waiting[event.branch] = structs.replace(before, then=event.reply.text or "(nothing)", answered=True)
        elif event.kind == "read" and event.branch in last:
            asked, kind = last[event.branch], event.facts.get("reply", "")
            before = waiting.get(event.branch)
            if kind and before is not None and before.then and _asks_again(asked, before):
                waiting[event.branch] = structs.replace(before, answered=False)
            elif kind:
                yield from filter(None, [waiting.pop(event.branch, None)])
                rule = str(event.facts.get("rule", ""))
                text, limit = asked.reply.text, asked.limit
                waiting[event.branch] = UnreadReply(task, item, repeat, asked.role, kind, rule, text, limit)
    yield from waiting.values()


def _asks_again(asked: Exchange, before: UnreadReply) -> bool:
    """Whether an exchange continues after the reply without an answer."""
    said = [message.content for message in asked.messages if message.role == "assistant"]
    start = before.reply[:_SEEN].strip()
    return asked.role == before.role and bool(said) and said[-1].startswith(start)


def _indented(text: str) -> str:
    shown = text.strip() or "(nothing)"
    shown = shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST // 2]} […] {shown[-_LONGEST // 2 :]}"
    return "\n".join(f"    {line}" for line in shown.splitlines())
