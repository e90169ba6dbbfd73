"""Passages and questions as token numbers."""

from typing import Any

from sociometer.core.inner_model import OptionQuestion, Passage


class Tokens:
    """A tokenizer of transformers."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        # The same questions are asked again for every set of neurons.
        self._questions: dict[tuple[OptionQuestion, int], list[tuple[list[int], list[int]]]] = {}
        first = tokenizer("")["input_ids"][:1]
        self._start = list(first) if first and first[0] == tokenizer.bos_token_id else []

    def plain(self, text: str) -> list[int]:
        """The tokens of a text, without any that mark its start or end."""
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def passage(self, passage: Passage, most_before: int, longest: int) -> tuple[list[int], int]:
        """The tokens of a passage, and how many of them, at the end, are the utterance.

        Of the story only the last `most_before` tokens are kept.
        """
        said = self.plain(passage.said)[: longest - 1] or self.plain(" ")
        room = min(most_before, longest - len(said) - len(self._start))
        before = self.plain(passage.before)[-room:] if room > 0 else []
        return [*self._start, *before, *said], len(said)

    def question(self, question: OptionQuestion, longest: int) -> list[tuple[list[int], list[int]]]:
        """The tokens of the prompt and of each option; the beginning of a prompt that is too long is left out."""
        if (question, longest) not in self._questions:
            self._questions[question, longest] = self._question(question, longest)
        return self._questions[question, longest]

    def _question(self, question: OptionQuestion, longest: int) -> list[tuple[list[int], list[int]]]:
        answers = [self.plain(text) or self.plain(" ") for text in question.continuations]
        template = question.chat and getattr(self._tokenizer, "chat_template", None)
        if template:
            messages = [{"role": "user", "content": question.prompt}]
            text = self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
            prompt = self.plain(text)
        else:
            prompt = [*self._start, *self.plain(question.prompt)]
        room = max(1, longest - max(map(len, answers)))
        return [(prompt[-room:] or self.plain(" "), answer) for answer in answers]
