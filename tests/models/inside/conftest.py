"""A very small model, open_weights with its vectors in a folder of the test."""

import pytest

from sociometer.models.inside import OpenModel


@pytest.fixture
def open_weights(tiny_model, tmp_path, monkeypatch):
    import torch

    torch.set_num_threads(1)
    monkeypatch.setenv("SOCIOMETER_DEVICE", "cpu")

    def open_model(**options):
        return OpenModel(str(tiny_model), folder=tmp_path / "vectors", **options)

    return open_model
