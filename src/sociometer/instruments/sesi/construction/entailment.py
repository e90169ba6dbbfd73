"""Entailment by a local NLI model, for users who have one (transformers and its weights in a folder)."""

from collections.abc import Iterable
from pathlib import Path

from sociometer.core.errors import UsageError


def probabilities(folder: Path, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """For each pair, the model's probability that the first sentence entails the second."""
    if not folder.is_dir():
        raise UsageError(f"--nli {folder} is no folder; give one that holds an NLI model of transformers.")
    try:
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer  # type: ignore[import-not-found]
    except ImportError:
        raise UsageError(
            "--nli needs: pip install transformers torch (or leave --nli out: then the builder is asked)."
        ) from None
    tokenizer = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    model = AutoModelForSequenceClassification.from_pretrained(str(folder), local_files_only=True).eval()
    places = [
        place
        for place, label in model.config.id2label.items()
        if "entail" in label.lower() and "not" not in label.lower()
    ]
    if len(places) != 1:
        raise UsageError(f"the model in {folder} has no label 'entailment'; its labels: {model.config.id2label}.")
    found = {}
    with torch.no_grad():
        for first, second in pairs:
            encoded = tokenizer(first, second, return_tensors="pt", truncation=True)
            found[first, second] = float(torch.softmax(model(**encoded).logits[0], dim=0)[int(places[0])])
    return found
