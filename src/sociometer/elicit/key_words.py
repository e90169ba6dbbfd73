"""Keys of JSON answers in English and Chinese."""

from __future__ import annotations

__all__ = ["TRANSLATIONS"]

TRANSLATIONS = {
    "analysis": "分析",
    "change": "变化 情绪变化 改变",
    "activity": "活动 行动 心理活动 接下来",
    "reason": "理由 原因 依据",
    "why": "理由 原因 为什么",
    "strategy": "策略",
    "label": "标签 类别",
    "cause": "原因",
    "empathy": "共情 同理心",
    "respect": "尊重",
    "clarity": "清晰 清晰度",
    "helpfulness": "有用 有用性 帮助",
    "prediction": "预测 预期",
    "choice": "选择",
    "message": "消息 留言 信息",
    "amount": "金额 数量",
    "title": "标题 题目",
    "name": "姓名 名字 名称",
    "age": "年龄",
    "role": "角色 身份",
    "feeling": "感受 情绪",
    "emotion": "情绪 情感",
    "intensity": "强度",
    "target": "对象 目标",
    "goal": "目标",
    "secret": "秘密",
    "winner": "胜者 获胜者",
    "confidence": "置信度 信心",
    "notes": "备注 说明",
    "place": "地点",
    "time": "时间",
    "conflict": "冲突",
    "resolved": "已解决 是否解决",
    "characters": "人物 角色",
    "people": "人物",
    "answers": "答案",
    "ranking": "排名 排序",
    "words": "话 原话",
    "tone": "语气",
    "content": "内容",
}
"""The Chinese words for an English key."""
