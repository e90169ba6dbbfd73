"""Entailment by a local NLI model, for users who have one (transformers and its weights in a folder)."""

import itertools
from collections.abc import Iterable
from pathlib import Path

from sociometer.core.errors import UsageError

_BATCH = 16


class LocalModel:
    """A sequence classifier of transformers with a label for entailment; nothing in its folder is executed."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise UsageError(f"--nli {folder} is not a folder; give a folder that contains a transformers NLI model.")
        try:
            import torch
            from transformers import AutoModelForSequenceClassification, AutoTokenizer
            from transformers.utils.logging import disable_progress_bar
        except ImportError:
            raise UsageError(
                "--nli needs: pip install 'sociometer[nli]' (or leave out --nli to ask the builder)."
            ) from None
        self._torch = torch
        disable_progress_bar()
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)
            self._model = AutoModelForSequenceClassification.from_pretrained(
                str(folder), local_files_only=True, use_safetensors=True, trust_remote_code=False
            ).eval()
        except (OSError, ValueError) as error:
            raise UsageError(f"no NLI model can be loaded from {folder}: {str(error).splitlines()[0]}") from None
        # a premise that is too long loses its beginning, not the answer at its end
        self._tokenizer.truncation_side = "left"
        labels: dict[int, str] = self._model.config.id2label
        entailing = [int(place) for place, label in labels.items() if _means_entailment(label)]
        if len(entailing) != 1:
            raise UsageError(
                f"the model in {folder} has no label 'entailment'; its labels: {', '.join(labels.values())}."
            )
        self._place = entailing[0]

    def probabilities(self, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], float]:
        """For each pair, the probability that the first sentence entails the second."""
        found: dict[tuple[str, str], float] = {}
        remaining = iter(dict.fromkeys(pairs))
        while batch := list(itertools.islice(remaining, _BATCH)):
            firsts, seconds = zip(*batch, strict=True)
            encoded = self._tokenizer(
                list(firsts), list(seconds), return_tensors="pt", truncation="only_first", padding=True
            )
            with self._torch.no_grad():
                likely = self._torch.softmax(self._model(**encoded).logits, dim=-1)[:, self._place]
            found |= dict(zip(batch, likely.tolist(), strict=True))
        return found


def _means_entailment(label: str) -> bool:
    return "entail" in label.lower() and "not" not in label.lower()
