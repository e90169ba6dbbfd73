"""A person at the terminal: the same items, the same scoring."""

import re
import sys
from collections.abc import Callable

from sociometer.core.conversation import (
    Allocation,
    AnswerFormat,
    Choice,
    Identity,
    Message,
    Reply,
    Request,
    Schema,
    Usage,
)
from sociometer.core.errors import Stopped
from sociometer.core.lazy import lazy
from sociometer.core.player import RulePlayer
from sociometer.models.serial_thread import SerialThread

rich_console = lazy("rich.console")
rich_markdown = lazy("rich.markdown")
rich_panel = lazy("rich.panel")
rich_text = lazy("rich.text")

_NO_TOKENS = Usage(0, 0)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
ReadLine = Callable[[str], str]
"""Shows a prompt and returns a line; raises EOFError at the end of input."""


class Human(RulePlayer):
    """Shows what a model would see and reads a line; one question at a time.

    Without a revision (a name for the person) only `resume` reuses the answers, because another person may answer.
    """

    journaled = True

    def __init__(self, revision: str = "", read_line: ReadLine | None = None) -> None:
        super().__init__(Identity("human", "human", revision=revision, certain=bool(revision)))
        self._read_line = read_line or _read_terminal
        self._shown: tuple[Message, ...] = ()
        self._turns = SerialThread("person")

    async def answer(self, request: Request) -> Reply:
        """The text that the person typed; the end of input stops the run cleanly."""
        return Reply(await self._turns.run(lambda: self._ask(request)), usage=_NO_TOKENS)

    async def close(self) -> None:
        self._turns.end()

    def _ask(self, request: Request) -> str:
        self._show(request)
        written: list[str] = []
        while not written or _unfinished(request.answer_format, written):
            try:
                line = self._read_line(_hint(request.answer_format, written)).strip()
            except EOFError:
                raise Stopped("the person ended the session; all answers so far are stored") from None
            if line:
                written.append(line)
            elif written:
                break
        said = "\n".join(written)
        self._shown = (*request.messages, Message("assistant", said))
        return said

    def _show(self, request: Request) -> None:
        console = rich_console.Console(stderr=True)
        seen = len(self._shown) if request.messages[: len(self._shown)] == self._shown else 0
        if not seen:
            console.rule()
        for message in request.messages[seen:]:
            if message.role == "system":
                console.print(
                    rich_panel.Panel(rich_text.Text(message.content), title="instructions", border_style="dim")
                )
            elif message.role == "assistant":
                console.print(rich_text.Text(f"you: {message.content}", style="dim"))
            else:
                console.print(
                    rich_markdown.Markdown(message.content)
                    if "```" in message.content
                    else rich_text.Text(message.content)
                )


def _unfinished(answer_format: AnswerFormat, written: list[str]) -> bool:
    """Whether points are still missing: they may be typed in one line, or in one line per option."""
    if not isinstance(answer_format, Allocation):
        return False
    return len(written) < len(answer_format.options) and len(_NUMBER.findall(written[0])) < len(answer_format.options)


def _hint(answer_format: AnswerFormat, written: list[str]) -> str:
    if written:
        return "[type your reply; an empty line ends it] "
    match answer_format:
        case Choice(labels=labels):
            return f"[{'/'.join(labels)}] "
        case Allocation(options=options, total=total):
            return f"[share {total:g} points among {', '.join(options)}] "
        case Schema(name=name):
            return f"[{name}, as JSON] "
        case _:
            return "> "


def _read_terminal(prompt: str) -> str:
    sys.stderr.write(prompt)
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line
