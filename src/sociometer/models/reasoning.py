"""Separates the reasoning of a model from its answer."""

_OPENINGS = ("<think>", "<thinking>", "<reasoning>", "[THINK]")
_CLOSINGS = {"<think>": "</think>", "<thinking>": "</thinking>", "<reasoning>": "</reasoning>", "[THINK]": "[/THINK]"}


def split_reasoning(text: str) -> tuple[str, str]:
    """The answer and the reasoning of a text that may begin with marked reasoning.

    Some chat templates write the opening mark into the prompt, so a closing mark alone ends reasoning as well; an
    opening mark that is never closed means that the reply was cut off while thinking.
    """
    if "<" not in text and "[" not in text:
        return text, ""
    begun = text.lstrip()
    for opening in _OPENINGS:
        if begun.startswith(opening):
            thought, closed, answer = begun[len(opening) :].partition(_CLOSINGS[opening])
            return (answer.strip() if closed else ""), thought.strip()
    if "</think>" in text:
        thought, _, answer = text.partition("</think>")
        return answer.strip(), thought.strip()
    return text, ""
