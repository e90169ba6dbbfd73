"""Words for the same feeling: irregular nouns and close synonyms, used only where they can mean one option alone."""

from __future__ import annotations

__all__ = ["FAMILIES", "SYNONYMS"]

FAMILIES = tuple(
    frozenset(line.split())
    for line in """
proud pride prideful
ashamed shame shameful
angry anger angered
furious fury infuriated
envious envy
anxious anxiety
grateful gratitude
jealous jealousy
guilty guilt
sad sadness saddened
happy happiness
relieved relief
hopeful hope
worried worry worries
afraid fear fearful scared frightened
grieving grief grieved
nervous nerves nervousness
loving love loved
surprised surprise
curious curiosity
bored boredom
calm calmness
lonely loneliness
betrayed betrayal
disgusted disgust
contemptuous contempt
compassionate compassion
sympathetic sympathy
free freedom
tired tiredness
exhausted exhaustion
nostalgic nostalgia
touched touch
resentful resentment
remorseful remorse
regretful regret
joyful joy joyous
confident confidence
content contentment
tense tension
desperate desperation despair
indifferent indifference
impatient impatience
suspicious suspicion
cheerful cheer
horrified horror
terrified terror
panicked panic
hateful hatred hate
excited excitement
indignant indignation
powerless powerlessness
determined determination
forgiving forgiveness
wary wariness
amused amusement
stressed stress
annoyed annoyance
embarrassed embarrassment
frustrated frustration
humiliated humiliation
disappointed disappointment
confused confusion
puzzled puzzlement
hurt hurting
pleased pleasure
""".split("\n")
    if line
)
"""Word families; two words of one family name the same option."""

SYNONYMS = tuple(
    frozenset(line.split())
    for line in """
生气 愤怒 气愤 恼怒 恼火
骄傲 自豪
担忧 担心 忧虑
高兴 开心 快乐 喜悦 愉快
害怕 恐惧 惧怕
伤心 悲伤 难过 悲痛
嫉妒 妒忌 羡慕嫉妒
惊讶 吃惊 惊奇 诧异
羞愧 惭愧
愧疚 内疚 歉疚
焦虑 焦急
激动 兴奋

疑惑 困惑 迷惑
感激 感谢
孤独 孤单 寂寞
不甘 不甘心

沮丧 灰心 气馁
疲惫 疲倦 疲劳 劳累
平静 冷静
轻松 放松
后悔 懊悔 悔恨
无助 无力
尴尬 难堪

厌恶 反感 讨厌
轻蔑 鄙视 蔑视
怀念 思念 想念
愤怒 anger angry
生气 anger angry
悲伤 sadness sad
伤心 sadness sad
平静 calm calmness
希望 hope hopeful
害怕 fear afraid
恐惧 fear afraid
高兴 happy happiness
开心 happy happiness
快乐 joy happiness
失望 disappointment disappointed
惊讶 surprise surprised
尴尬 embarrassment embarrassed
羞愧 shame ashamed
愧疚 guilt guilty
内疚 guilt guilty
骄傲 pride proud
自豪 pride proud
嫉妒 jealousy jealous envy
焦虑 anxiety anxious
紧张 nervousness nervous
感激 gratitude grateful
孤独 loneliness lonely
后悔 regret regretful
厌恶 disgust disgusted
轻蔑 contempt contemptuous
期待 expectation anticipation
沮丧 frustration frustrated
疲惫 exhaustion exhausted
happy joyful glad happiness joy
confused puzzled confusion puzzlement
grateful thankful gratitude thankfulness
afraid scared fearful fear
""".split("\n")
    if line
)
"""Close synonyms; one stands for an option only if no other option belongs to the same group."""
