"""A very small language model with random weights, as a GGUF file that llama.cpp loads; made in a test."""

import struct
from pathlib import Path

import numpy as np

WIDTH, INNER, HEADS, LAYERS, CONTEXT = 32, 64, 2, 1, 8192
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_U32, _I32, _F32, _STRING, _ARRAY = 4, 5, 6, 8, 9


def make_tiny_gguf(path: Path, seed: int = 0) -> Path:
    """Write a Llama of one layer whose tokens are bytes; the seed gives its weights."""
    tokens = [*SPECIAL, *_byte_tokens()]
    kinds = [3] * len(SPECIAL) + [1] * (len(tokens) - len(SPECIAL))
    facts = [
        _fact("general.architecture", _STRING, "llama"),
        *(
            _fact(f"llama.{name}", _U32, value)
            for name, value in {
                "block_count": LAYERS, "context_length": CONTEXT, "embedding_length": WIDTH,
                "feed_forward_length": INNER, "attention.head_count": HEADS, "attention.head_count_kv": HEADS,
                "rope.dimension_count": WIDTH // HEADS,
            }.items()
        ),
        _fact("llama.attention.layer_norm_rms_epsilon", _F32, 1e-5),
        _fact("tokenizer.ggml.model", _STRING, "gpt2"),
        _fact("tokenizer.ggml.pre", _STRING, "gpt-2"),
        _facts("tokenizer.ggml.tokens", _STRING, tokens),
        _facts("tokenizer.ggml.token_type", _I32, kinds),
        _facts("tokenizer.ggml.merges", _STRING, ["a a"]),
        _fact("tokenizer.ggml.bos_token_id", _U32, 0),
        _fact("tokenizer.ggml.eos_token_id", _U32, 2),
        _fact("tokenizer.chat_template", _STRING, TEMPLATE),
    ]  # fmt: skip
    tensors = _weights(np.random.default_rng(seed), len(tokens))
    head, body, place = [], [], 0
    for name, values in tensors.items():
        shape = values.shape[::-1]
        head.append(_text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, place))
        data = values.astype("<f4").tobytes()
        body.append(data + b"\0" * (-len(data) % 32))
        place += len(body[-1])
    start = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(facts)) + b"".join((*facts, *head))
    path.write_bytes(start + b"\0" * (-len(start) % 32) + b"".join(body))
    return path


def _weights(rng: np.random.Generator, tokens: int) -> dict[str, np.ndarray]:
    def drawn(*shape: int) -> np.ndarray:
        return rng.normal(0, 0.3, shape)

    found = {"token_embd.weight": drawn(tokens, WIDTH), "output_norm.weight": np.ones(WIDTH)}
    for layer in range(LAYERS):
        found |= {f"blk.{layer}.attn_{part}.weight": drawn(WIDTH, WIDTH) for part in ("q", "k", "v", "output")}
        found |= {f"blk.{layer}.{part}_norm.weight": np.ones(WIDTH) for part in ("attn", "ffn")}
        found |= {f"blk.{layer}.ffn_{part}.weight": drawn(INNER, WIDTH) for part in ("gate", "up")}
        found[f"blk.{layer}.ffn_down.weight"] = drawn(WIDTH, INNER)
    printable = np.arange(len(SPECIAL), len(SPECIAL) + 94)  # others would end a reply, or be half a letter
    output = np.zeros((tokens, WIDTH))
    output[printable] = drawn(printable.size, WIDTH)
    return {**found, "output.weight": output}


def _byte_tokens() -> list[str]:
    """One token for each byte, spelled as GPT-2 spells bytes."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return [chr(byte) for byte in plain] + [chr(256 + nth) for nth in range(len(others))]


def _text(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack("<Q", len(encoded)) + encoded


def _value(kind: int, value: str | float) -> bytes:
    return _text(value) if isinstance(value, str) else struct.pack({_U32: "<I", _I32: "<i", _F32: "<f"}[kind], value)


def _fact(name: str, kind: int, value: str | float) -> bytes:
    return _text(name) + struct.pack("<I", kind) + _value(kind, value)


def _facts(name: str, kind: int, values: list) -> bytes:
    items = b"".join(_value(kind, value) for value in values)
    return _text(name) + struct.pack("<IIQ", _ARRAY, kind, len(values)) + items
