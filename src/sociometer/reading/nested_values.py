"""Single values that were written as a small object: {"score": 5, "reason": "..."} for 5."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sociometer.reading.json_values import folded

__all__ = ["inner_value"]

_VALUE_WORDS = """
score value rating points code label answer choice strategy number level result grade mark selected amount category
分数 得分 评分 打分 分值 值 代码 编号 标签 策略 答案 选择 结果 等级
"""
_OTHER_WORDS = """
max maximum min minimum outof scale confidence certainty weight index id rank turn place page alternative
满分 最高 最低 置信度 权重 序号 轮次 备选
"""
_VALUE_KEYS, _OTHER_KEYS = frozenset(_VALUE_WORDS.split()), frozenset(_OTHER_WORDS.split())
_MOST_KEYS = 6


def inner_value(value: dict[str, Any], fits: Callable[[Any], bool], name: str) -> Any:
    """Return the one entry that can only be the value itself; the object unchanged where there is any doubt."""
    if not 0 < len(value) <= _MOST_KEYS:
        return value
    plain = {folded(key): part for key, part in value.items() if isinstance(part, str | int | float)}
    known = [part for key, part in plain.items() if key in _VALUE_KEYS or key == folded(name)]
    if known:
        return known[0] if len(known) == 1 and fits(known[0]) else value
    fitting = [part for key, part in plain.items() if key not in _OTHER_KEYS and fits(part)]
    return fitting[0] if len(fitting) == 1 else value
