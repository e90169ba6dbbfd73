"""Points are read from JSON, pairs and numbers in order; the paper's repairs follow its order."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sociometer.reading import read_allocation, repair

CORPUS = Path(__file__).parents[1] / "corpus"
OPTIONS = ("joy", "anger", "frustrated", "relief")
POINTS = (3.0, 2.0, 4.0, 1.0)

SURE = [
    "joy: 3\nanger: 2\nfrustrated: 4\nrelief: 1",
    "- **Joy**: 3 points\n- **Anger**: 2 points\n- **Frustration**: 4 points (since 8 am)\n- **Relief**: 1 point",
    "relief: 1, joy: 3, frustrated: 4, anger: 2",
    "3 joy, 2 anger, 4 frustrated, 1 relief",
    "| feeling | points | why |\n|---|---|---|\n| joy | 3 | at 5 |\n| anger | 2 | - |\n| frustrated | 4 | x |\n"
    "| relief | 1 | y |",
    '{"joy": 3, "anger": 2, "frustrated": 4, "relief": 1}',
    '{"scores": {"Joy": "3", "Anger": "2 points", "Frustrated": 4, "Relief": 1}}',
    '[{"feeling": "joy", "points": 3}, {"feeling": "anger", "points": 2}, {"feeling": "frustrated", "points": 4},'
    ' {"feeling": "relief", "points": 1}]',
    "1. Joy: 3\n2. Anger: 2\n3. Frustrated: 4\n4. Relief: 1\nTotal: 10",
    "Joy gets a 3, angry a 2, frustration a 4, and the remaining 1 goes to relief.",
    "| anger | joy | relief | frustrated |\n|---|---|---|---|\n| 2 | 3 | 1 | 4 |",
    "My allocation is 3, 2, 4 and 1.",
    "Joy: three\nAnger: two\nFrustrated: four\nRelief: one",
    "(3, 2, 4, 1)",
    "3 2 4 1",
    "joy: 3\nanger: 2\nfrustrated: 4\nrelief: 2\nThat is 11, too many.\njoy: 3\nanger: 2\nfrustrated: 4\nrelief: 1",
]
NOT_SURE = [
    "",
    "Mostly joy, some anger.",
    "joy: 5\nanger: 3\nrelief: 2",  # what the fourth gets is not said
    "joy: 3\nanger: 2\nfrustrated: 4",
    "joy: 3\nanger: 2\nfrustrated: 4\nrelief: 1\nActually, swap joy and anger.",
    "First view: joy 3, anger 2, frustrated 4, relief 1. Second view: joy 1, anger 4, frustrated 2, relief 3.",
    "joy: 2-4\nanger: 2\nfrustrated: 4\nrelief: 1",
    "3, 2, 4",
    "7 8 9 12",
    "Rank: joy 1, anger 2, frustrated 3, relief 4",
    "joy 3, anger 2, frustrated 4, relief 1. No, joy 4 and relief 0.",
    "3, 2, 4, 1 or 2, 3, 4, 1",
    "It was joy at 3, then anger at 5, and she was frustrated by 6 o'clock; relief came at 8.",
]

FEELINGS = ("hopeful", "disappointed", "anxious", "calm")
CHINESE = ("惊讶", "高兴", "难过", "骄傲")
IN_ORDER = [
    ("(4, 3, 2, 4)", (4, 3, 2, 4)),
    ("4, 3, 2, 4", (4, 3, 2, 4)),
    ("4 3 2 4", (4, 3, 2, 4)),
    ("[4, 3, 2, 4]", (4, 3, 2, 4)),
    ("4; 3; 2; 4", (4, 3, 2, 4)),
    ("4/3/2/4", (4, 3, 2, 4)),
    ("4 | 3 | 2 | 4", (4, 3, 2, 4)),
    ("4\n3\n2\n4", (4, 3, 2, 4)),
    ("**4, 3, 2, 4**", (4, 3, 2, 4)),
    ("4,3,2,4.", (4, 3, 2, 4)),
    ("(1) 4 points; (2) 3 points; (3) 2 points; (4) 4 points", (4, 3, 2, 4)),
    ("(1) 3; (2) 3; (3) 1; (4) 3", (3, 3, 1, 3)),
    ("(1) 3\n(2) 3\n(3) 1\n(4) 3", (3, 3, 1, 3)),
    ("(1) 4; (2) 3; (3) 2; (4) 4", (4, 3, 2, 4)),
    ("1) 4 2) 3 3) 2 4) 4", (4, 3, 2, 4)),
    ("1. 4\n2. 3\n3. 2\n4. 4", (4, 3, 2, 4)),
    ("1: 4, 2: 3, 3: 2, 4: 4", (4, 3, 2, 4)),
    ("1) 4\n2) 3\n3) 2\n4) 4", (4, 3, 2, 4)),
    ("(1): 4, (2): 3, (3): 2, (4): 4", (4, 3, 2, 4)),
    ("(1) = 4, (2) = 3, (3) = 2, (4) = 4", (4, 3, 2, 4)),
    ("Option 1: 4\nOption 2: 3\nOption 3: 2\nOption 4: 4", (4, 3, 2, 4)),
    ("Option 1: 3, Option 2: 3, Option 3: 1, Option 4: 3", (3, 3, 1, 3)),
    ("(1) 4 pts, (2) 3 pts, (3) 2 pts, (4) 4 pts", (4, 3, 2, 4)),
    ("My answer: (1) 4; (2) 3; (3) 2; (4) 4.", (4, 3, 2, 4)),
    ("Answer: 4, 3, 2, 4", (4, 3, 2, 4)),
    ("A: (1) 4; (2) 3; (3) 2; (4) 4", (4, 3, 2, 4)),
    ("My scores are 4, 3, 2, 4.", (4, 3, 2, 4)),
    ("Points: 4, 3, 2 and 4", (4, 3, 2, 4)),
    ("Scores: [4, 3, 2, 4]", (4, 3, 2, 4)),
    ("(1) 2.5; (2) 3.5; (3) 1; (4) 4", (2.5, 3.5, 1, 4)),
    ("2.5, 3.5, 1, 4", (2.5, 3.5, 1, 4)),
    ("①4分 ②3分 ③2分 ④4分", (4, 3, 2, 4)),
    ("（1）4分；（2）3分；（3）2分；（4）4分", (4, 3, 2, 4)),
    ("① 3；② 3；③ 1；④ 3", (3, 3, 1, 3)),
    ("4，3，2，4", (4, 3, 2, 4)),
    ("4、3、2、4", (4, 3, 2, 4)),
    ("选项1：4分，选项2：3分，选项3：2分，选项4：4分", (4, 3, 2, 4)),
    ("(1) hopeful: 4; (2) disappointed: 3; (3) anxious: 2; (4) calm: 4", (4, 3, 2, 4)),
    ("(1) Hopeful 4; (2) Disappointed 3; (3) Anxious 2; (4) Calm 4", (4, 3, 2, 4)),
    ("Hopeful - 4\nDisappointed - 3\nAnxious - 2\nCalm - 4", (4, 3, 2, 4)),
    ("Hopeful – 4\nDisappointed – 3\nAnxious – 2\nCalm – 4", (4, 3, 2, 4)),
    ("Hopeful — 4\nDisappointed — 3\nAnxious — 1\nCalm — 2", (4, 3, 1, 2)),
    ("hopeful: 3/10, disappointed: 4/10, anxious: 2/10, calm: 1/10", (3, 4, 2, 1)),
    ("hopeful: 4/10, disappointed: 4/10, anxious: 2/10, calm: 3/10", (4, 4, 2, 3)),
    ("| (1) | (2) | (3) | (4) |\n|---|---|---|---|\n| 3 | 3 | 1 | 3 |", (3, 3, 1, 3)),
    ("0, 0, 0, 0", (0, 0, 0, 0)),
    ("(1) 10; (2) 0; (3) 0; (4) 0", (10, 0, 0, 0)),
    ("(1) 5; (2) 5; (3) 5; (4) 5", (5, 5, 5, 5)),
    ("(1) 1; (2) 2; (3) 3; (4) 4", (1, 2, 3, 4)),
    ("(1) 4; (2) 3; (3) 2; (4) 1", (4, 3, 2, 1)),
    ("(1) 4; (2) 3; (3) 2; (4) 4\nTotal: 13", (4, 3, 2, 4)),
    ("(1) 3; (2) 3; (3) 1; (4) 3\nTotal: 10", (3, 3, 1, 3)),
    ("#1: 4\n#2: 3\n#3: 2\n#4: 4", (4, 3, 2, 4)),
    ("1 - 4\n2 - 3\n3 - 2\n4 - 4", (4, 3, 2, 4)),
    ("1 → 4, 2 → 3, 3 → 2, 4 → 4", (4, 3, 2, 4)),
    ("(1) - 4 points, (2) - 3 points, (3) - 2 points, (4) - 4 points", (4, 3, 2, 4)),
    ("(a) 4; (b) 3; (c) 2; (d) 4", (4, 3, 2, 4)),
    ("40%, 30%, 20%, 10%", (40, 30, 20, 10)),
]
"""Read, although most do not add up to ten."""
RIGHT_OR_NOT = [
    ("Hopeful 2½, disappointed 5, anxious 1, calm 1½", (2.5, 5, 1, 1.5)),
    ("Hopeful: 2½\nDisappointed: 5\nAnxious: 1\nCalm: 1½", (2.5, 5, 1, 1.5)),
    ("Hopeful: 2 ½\nDisappointed: 5\nAnxious: 1\nCalm: 1 ½", (2.5, 5, 1, 1.5)),
    ("Hopeful: 2 1/2\nDisappointed: 5\nAnxious: 1\nCalm: 1 1/2", (2.5, 5, 1, 1.5)),
    ("2½, 5, 1, 1½", (2.5, 5, 1, 1.5)),
    ("(1) 2½; (2) 5; (3) 1; (4) 1½", (2.5, 5, 1, 1.5)),
    ("Hopeful: ½, disappointed: 5, anxious: 3, calm: 1½", (0.5, 5, 3, 1.5)),
    ("Hopeful: 1/5, disappointed: 1/2, anxious: 1/5, calm: 1/10", (0.2, 0.5, 0.2, 0.1)),
    ("Hopeful: 1/5\nDisappointed: 1/2\nAnxious: 1/5\nCalm: 1/10", (0.2, 0.5, 0.2, 0.1)),
    ("1/5, 1/2, 1/5, 1/10", (0.2, 0.5, 0.2, 0.1)),
    ("(1) 1/5; (2) 1/2; (3) 1/5; (4) 1/10", (0.2, 0.5, 0.2, 0.1)),
    ("hopeful: 2 + 1 = 3, disappointed: 4, anxious: 2, calm: 1", (3, 4, 2, 1)),
    ("hopeful: 2 + 1 = 3\ndisappointed: 4\nanxious: 2\ncalm: 1", (3, 4, 2, 1)),
    ("hopeful: 5 - 2 = 3\ndisappointed: 4\nanxious: 2\ncalm: 1", (3, 4, 2, 1)),
    ("hopeful: 2+1\ndisappointed: 4\nanxious: 2\ncalm: 1", (3, 4, 2, 1)),
    ("hopeful: 2x1=2\ndisappointed: 4\nanxious: 2\ncalm: 2", (2, 4, 2, 2)),
    ("hopeful: 2 × 2 = 4\ndisappointed: 3\nanxious: 2\ncalm: 1", (4, 3, 2, 1)),
    ("hopeful: 6 / 2 = 3\ndisappointed: 4\nanxious: 2\ncalm: 1", (3, 4, 2, 1)),
    ("hopeful: 6 ÷ 2 = 3\ndisappointed: 4\nanxious: 2\ncalm: 1", (3, 4, 2, 1)),
    ("(1) 2 + 1 = 3; (2) 4; (3) 2; (4) 1", (3, 4, 2, 1)),
    ("hopeful: −1, disappointed: 6, anxious: 4, calm: 1", (-1, 6, 4, 1)),
    ("hopeful: –1, disappointed: 6, anxious: 4, calm: 1", (-1, 6, 4, 1)),
    ("hopeful: -1, disappointed: 6, anxious: 4, calm: 1", (-1, 6, 4, 1)),
    ("hopeful −1, disappointed 6, anxious 4, calm 1", (-1, 6, 4, 1)),
    ("−1, 6, 4, 1", (-1, 6, 4, 1)),
    ("–1, 6, 4, 1", (-1, 6, 4, 1)),
    ("-1, 6, 4, 1", (-1, 6, 4, 1)),
    ("4, -1, 6, 1", (4, -1, 6, 1)),
    ("4, −1, 6, 1", (4, -1, 6, 1)),
    ("4, –1, 6, 1", (4, -1, 6, 1)),
    ("(1) −1; (2) 6; (3) 4; (4) 1", (-1, 6, 4, 1)),
    ("(1) –1; (2) 6; (3) 4; (4) 1", (-1, 6, 4, 1)),
    ("(1) -1; (2) 6; (3) 4; (4) 1", (-1, 6, 4, 1)),
    ('{"hopeful": −1, "disappointed": 6, "anxious": 4, "calm": 1}', (-1, 6, 4, 1)),
    ('{"hopeful": –1, "disappointed": 6, "anxious": 4, "calm": 1}', (-1, 6, 4, 1)),
    ('{"hopeful": "−1", "disappointed": 6, "anxious": 4, "calm": 1}', (-1, 6, 4, 1)),
    ('{"hopeful": "–1", "disappointed": 6, "anxious": 4, "calm": 1}', (-1, 6, 4, 1)),
    ('{"hopeful": 2½, "disappointed": 5, "anxious": 1, "calm": 1½}', (2.5, 5, 1, 1.5)),
    ('{"hopeful": "2½", "disappointed": "5", "anxious": "1", "calm": "1½"}', (2.5, 5, 1, 1.5)),
    ('{"hopeful": 1/5, "disappointed": 1/2, "anxious": 1/5, "calm": 1/10}', (0.2, 0.5, 0.2, 0.1)),
    ('{"hopeful": "1/5", "disappointed": "1/2", "anxious": "1/5", "calm": "1/10"}', (0.2, 0.5, 0.2, 0.1)),
    ('{"hopeful": "3/10", "disappointed": "4/10", "anxious": "2/10", "calm": "1/10"}', (3, 4, 2, 1)),
    ('{"hopeful": 3/10, "disappointed": 4/10, "anxious": 2/10, "calm": 1/10}', (3, 4, 2, 1)),
    ('{"hopeful": 2+1, "disappointed": 4, "anxious": 2, "calm": 1}', (3, 4, 2, 1)),
    ('{"hopeful": "2+1", "disappointed": 4, "anxious": 2, "calm": 1}', (3, 4, 2, 1)),
    ('{"hopeful": 2,5, "disappointed": 4, "anxious": 2, "calm": 1,5}', (2.5, 4, 2, 1.5)),
    ("[2½, 5, 1, 1½]", (2.5, 5, 1, 1.5)),
    ("[1/5, 1/2, 1/5, 1/10]", (0.2, 0.5, 0.2, 0.1)),
    ("[−1, 6, 4, 1]", (-1, 6, 4, 1)),
    ("[–1, 6, 4, 1]", (-1, 6, 4, 1)),
    ("[2+1, 4, 2, 1]", (3, 4, 2, 1)),
    ("hopeful: 2,5\ndisappointed: 4\nanxious: 2\ncalm: 1,5", (2.5, 4, 2, 1.5)),
    ("hopeful 2,5; disappointed 4; anxious 2,5; calm 1", (2.5, 4, 2.5, 1)),
    ("(1) 2,5; (2) 4; (3) 2; (4) 1,5", (2.5, 4, 2, 1.5)),
    ("2,5; 4; 2; 1,5", (2.5, 4, 2, 1.5)),
    ("hopeful: .5\ndisappointed: 5\nanxious: 3\ncalm: 1.5", (0.5, 5, 3, 1.5)),
    ("hopeful: 3⅓\ndisappointed: 3⅓\nanxious: 3⅓\ncalm: 0", (1, 1, 1, 0)),
    ("hopeful: 2²\ndisappointed: 3\nanxious: 2\ncalm: 1", (4, 3, 2, 1)),
    ("hopeful: 3¹\ndisappointed: 4\nanxious: 2\ncalm: 1", (3, 4, 2, 1)),
    ("hopeful: 3₁\ndisappointed: 4\nanxious: 2\ncalm: 1", (3, 4, 2, 1)),
    ("hopeful: 1e1\ndisappointed: 0\nanxious: 0\ncalm: 0", (10, 0, 0, 0)),
    ("hopeful: Ⅲ\ndisappointed: Ⅳ\nanxious: Ⅱ\ncalm: Ⅰ", (3, 4, 2, 1)),
    ("2½ hopeful, 5 disappointed, 1 anxious, 1½ calm", (2.5, 5, 1, 1.5)),
    ("1/5 hopeful, 1/2 disappointed, 1/5 anxious, 1/10 calm", (0.2, 0.5, 0.2, 0.1)),
    ("2 + 1 = 3 hopeful, 4 disappointed, 2 anxious, 1 calm", (3, 4, 2, 1)),
    ("-1 hopeful, 6 disappointed, 4 anxious, 1 calm", (-1, 6, 4, 1)),
    ("−1 hopeful, 6 disappointed, 4 anxious, 1 calm", (-1, 6, 4, 1)),
    ("| hopeful | 2½ |\n| disappointed | 5 |\n| anxious | 1 |\n| calm | 1½ |", (2.5, 5, 1, 1.5)),
    ("| hopeful | 1/5 |\n| disappointed | 1/2 |\n| anxious | 1/5 |\n| calm | 1/10 |", (0.2, 0.5, 0.2, 0.1)),
    ("| hopeful | −1 |\n| disappointed | 6 |\n| anxious | 4 |\n| calm | 1 |", (-1, 6, 4, 1)),
    (
        "hopeful: \\frac{1}{5}, disappointed: \\frac{1}{2}, anxious: \\frac{1}{5}, calm: \\frac{1}{10}",
        (0.2, 0.5, 0.2, 0.1),
    ),
    ("hopeful: 3.\ndisappointed: 4.\nanxious: 2.\ncalm: 1.", (3, 4, 2, 1)),
    ("hopeful: 3 → 4\ndisappointed: 3\nanxious: 2\ncalm: 1", (4, 3, 2, 1)),
    ("hopeful: 3 or 4\ndisappointed: 3\nanxious: 2\ncalm: 1", None),
    ("hopeful: 3±1\ndisappointed: 4\nanxious: 2\ncalm: 1", None),
    ("hopeful: ~3\ndisappointed: ~4\nanxious: ~2\ncalm: ~1", (3, 4, 2, 1)),
    ("hopeful: <1\ndisappointed: 6\nanxious: 3\ncalm: 0", None),
    ("hopeful: >5\ndisappointed: 3\nanxious: 1\ncalm: 1", None),
    ("hopeful: 3+\ndisappointed: 4\nanxious: 2\ncalm: 1", (3, 4, 2, 1)),
    ("hopeful: two and a half\ndisappointed: five\nanxious: one\ncalm: one and a half", (2.5, 5, 1, 1.5)),
    ("hopeful: 2 and a half\ndisappointed: 5\nanxious: 1\ncalm: 1 and a half", (2.5, 5, 1, 1.5)),
    ("希望2分半，失望5分，焦虑1分，平静1分半", None),
    ("(1) 4 of 10; (2) 3 of 10; (3) 2 of 10; (4) 4 of 10", (4, 3, 2, 4)),
    ("(1) 4/10; (2) 3/10; (3) 2/10; (4) 4/10", (4, 3, 2, 4)),
    ("(4) 4; (3) 2; (2) 3; (1) 4", (4, 3, 2, 4)),
    ("(2) 3; (1) 5; (4) 4; (3) 2", (5, 3, 2, 4)),
    ("(1) 3; (2) 3; (3) 1; (4) 3, although (1) could be 4", None),
    ("I have 10 points: (1) 4; (2) 3; (3) 2; (4) 4", (4, 3, 2, 4)),
    ("As to the scores, 4, 3, 2 and 4 seem right to me.", (4, 3, 2, 4)),
    ("anxious, calm, hopeful, disappointed: 2, 4, 4, 3", (4, 3, 2, 4)),
    ("(3) 2; (4) 4; (1) 4; (2) 3", (4, 3, 2, 4)),
    ("(1) 4; (2) 3; (3) 2; (4) 4\n(1) 3; (2) 3; (3) 2; (4) 2", (3, 3, 2, 2)),
    ("(1) 3; (2) 3; (3) 2; (4) 2\n(1) 2; (2) 4; (3) 2; (4) 2", (2, 4, 2, 2)),
    ("4, 3, 2, 4 -> 3, 3, 2, 2", (3, 3, 2, 2)),
    ("4, 3, 2, 4 scaled to ten: 3.1, 2.3, 1.5, 3.1", (3.1, 2.3, 1.5, 3.1)),
    ("1.4 2.3 3.2 4.4", (1.4, 2.3, 3.2, 4.4)),
    ("1.4, 2.3, 3.1, 4.2", None),
    ("1.4\n2.3\n3.1\n4.2", None),
    ("1-4, 2-3, 3-2, 4-4", (4, 3, 2, 4)),
    ("1=4 2=3 3=2 4=4", (4, 3, 2, 4)),
    ("1,4;2,3;3,2;4,4", None),
    ("1 4 2 3 3 2 4 4", None),
    ("1 4\n2 3\n3 2\n4 4", (4, 3, 2, 4)),
]
"""Signs, fractions and sums: the right points (in any scale) or none."""
STYLES = [
    "Here is my evaluation:\n\n(1) 4\n(2) 3\n(3) 2\n(4) 4",
    "The scores would be: (1) 4, (2) 3, (3) 2, (4) 4.",
    "Wang would mainly be surprised and proud.\n\n(1) 4 points; (2) 3 points; (3) 2 points; (4) 4 points",
    "**Answer:** (1) 4; (2) 3; (3) 2; (4) 4",
    "Final answer: 4, 3, 2, 4",
    "Final: (4, 3, 2, 4)",
    "My allocation: 4-3-2-4",
    "Scores: 4 / 3 / 2 / 4",
    "The allocation is 4, 3, 2 and 4 points, respectively.",
    "4 points, 3 points, 2 points, 4 points",
    "4 points; 3 points; 2 points; 4 points",
    "Surprised: 4\nJoyful: 3\nPuzzled: 2\nProud: 4",
    "Surprised=4, Joyful=3, Puzzled=2, Proud=4",
    "Surprised (4), Joyful (3), Puzzled (2), Proud (4)",
    "Surprised 4 | Joyful 3 | Puzzled 2 | Proud 4",
    "(1) Surprised: 4 points; (2) Joyful: 3 points; (3) Puzzled: 2 points; (4) Proud: 4 points",
    "1. Surprised – 4\n2. Joyful – 3\n3. Puzzled – 2\n4. Proud – 4",
    "1. **Surprised**: 4\n2. **Joyful**: 3\n3. **Puzzled**: 2\n4. **Proud**: 4\n\nTotal: 13",
    "Surprised -> 4\nJoyful -> 3\nPuzzled -> 2\nProud -> 4",
    "Surprised → 4, Joyful → 3, Puzzled → 2, Proud → 4",
    "Surprised => 4; Joyful => 3; Puzzled => 2; Proud => 4",
    "| Emotion | Score |\n|---|---|\n| Surprised | 4 |\n| Joyful | 3 |\n| Puzzled | 2 |\n| Proud | 4 |",
    "surprised 4, joyful 3, puzzled 2, proud 4",
    "4 for surprised, 3 for joyful, 2 for puzzled, 4 for proud",
    "4 points to Surprised, 3 points to Joyful, 2 points to Puzzled, and 4 points to Proud.",
    "I'd give Surprised 4, Joyful 3, Puzzled 2 and Proud 4.",
    "Surprised gets 4, Joyful 3, Puzzled 2, Proud 4.",
    '{"1": 4, "2": 3, "3": 2, "4": 4}',
    '{"(1)": 4, "(2)": 3, "(3)": 2, "(4)": 4}',
    "{1: 4, 2: 3, 3: 2, 4: 4}",
    '{"scores": [4, 3, 2, 4]}',
    '{"Surprised": 4, "Joyful": 3, "Puzzled": 2, "Proud": 4}',
    "```\n(1) 4\n(2) 3\n(3) 2\n(4) 4\n```",
    "```json\n[4, 3, 2, 4]\n```",
    "(1)4;(2)3;(3)2;(4)4",
    "(1) 4, (2) 3, (3) 2, and (4) 4",
    "1)4, 2)3, 3)2, 4)4",
    "1:4 2:3 3:2 4:4",
    "[1] 4\n[2] 3\n[3] 2\n[4] 4",
    "1. 4 points\n2. 3 points\n3. 2 points\n4. 4 points\n\nSum: 13",
    "A. 4\nB. 3\nC. 2\nD. 4",
    "a: 4\nb: 3\nc: 2\nd: 4",
    "Option (1): 4\nOption (2): 3\nOption (3): 2\nOption (4): 4",
    "Emotion 1: 4; Emotion 2: 3; Emotion 3: 2; Emotion 4: 4",
    "Score for (1): 4\nScore for (2): 3\nScore for (3): 2\nScore for (4): 4",
    "(1) 4 — (2) 3 — (3) 2 — (4) 4",
    "(1) 4 | (2) 3 | (3) 2 | (4) 4",
    "- (1): 4\n- (2): 3\n- (3): 2\n- (4): 4",
    "* 4\n* 3\n* 2\n* 4",
    "4.0, 3.0, 2.0, 4.0",
    "<answer>4, 3, 2, 4</answer>",
    "\\boxed{4, 3, 2, 4}",
    "(1) **4**\n(2) **3**\n(3) **2**\n(4) **4**",
    "Surprised: ████ 4\nJoyful: ███ 3\nPuzzled: ██ 2\nProud: ████ 4",
    "Surprised: 4 (a shock)\nJoyful: 3 (good news)\nPuzzled: 2 (why?)\nProud: 4 (well done)",
    "(1) 4 (a shock); (2) 3 (good news); (3) 2; (4) 4",
    "Surprised: 4,\nJoyful: 3,\nPuzzled: 2,\nProud: 4",
    "Surprised: 4/10; Joyful: 3/10; Puzzled: 2/10; Proud: 4/10",
    "Surprised 4 out of 10, Joyful 3 out of 10, Puzzled 2 out of 10, Proud 4 out of 10",
    "(1) 4 points (2) 3 points (3) 2 points (4) 4 points.",
    "4,3,2,4 (sum 13)",
    "(4,3,2,4)",
    "Proud: 4\nSurprised: 4\nPuzzled: 2\nJoyful: 3",
]
"""4, 3, 2 and 4 points in many styles."""
UNREAD = [
    "I'd say 4, 3, 2, 4 is wrong.",
    "The total score cannot be 4, 3, 2, 4 since that is 13.",
    "Answer choices: 1, 2, 3, 4",
    "Strongest to weakest: 4, 1, 2, 3",
    "Strongest first: (1) 4; (2) 1; (3) 3; (4) 2",
    "Most to least: 3 1 4 2",
    "Places: (1) 2; (2) 1; (3) 4; (4) 3",
    "Draft: 4, 3, 2, 4\nFinal answer: pending",
    "hopeful –4\ndisappointed –3\nanxious –2\ncalm –4",
    "(1) 4; (2) 3; (3) 2",
    "4, 3, 2",
    "4, 3, 2, 4, 1",
    "Ranking: (1) 4; (2) 3; (3) 2; (4) 4",
    "Ranking: 2, 1, 4, 3",
    "Ranked from strongest: (1) 2; (2) 1; (3) 4; (4) 3",
    "My ranking: (1) 1; (2) 2; (3) 3; (4) 4",
    "In order of strength: 2, 1, 4, 3",
    "Rank order: 3 1 2 4",
    "排序：2，1，4，3",
    "名次：(1) 2；(2) 1；(3) 4；(4) 3",
    '{"ranking": [2, 1, 4, 3]}',
    '{"rank": {"hopeful": 1, "disappointed": 2, "anxious": 3, "calm": 4}}',
    "(1) 2-3; (2) 3; (3) 2; (4) 4",
    "(1) 4; (2) 3; (3) 2; (4) 4 or 5",
    "(1) 4 or 3; (2) 3; (3) 2; (4) 4",
    "4, 3, 2, 4 or 4, 3, 3, 4",
    "(1) 4; (2) ?; (3) 2; (4) 4",
    "(1) 4; (2) 3; (3) 2; (4) -",
    "(1) 4; (2) 3; (3) 2; (4)",
    "(1) 4; (2) 3; (4) 2; (5) 4",
    "I can't do that. An example would be 4, 3, 2, 4.",
    "For example: 4, 3, 2, 4. But I need the story first.",
    "e.g. (1) 4; (2) 3; (3) 2; (4) 4",
    "Should I answer like (1) 4; (2) 3; (3) 2; (4) 4?",
    "Not 4, 3, 2, 4.",
    "The story has 4 people, 3 dogs, 2 cats and 4 birds.",
    "He waited 3 days, 4 hours, 5 minutes and 6 seconds.",
    "They are aged 3, 4, 5 and 6.",
    "On 3/4/2020 5 people came.",
    "12:30, 4, 5",
    "2020-11-18 10:30",
    "(1) 14; (2) 23; (3) 42; (4) 54",
    "Steps: (1) read; (2) think; (3) answer 4; (4) check",
    "4-3-2",
    "1, 2, 3, 4, 5, 6",
    "(1)(2)(3)(4)",
    "(1); (2); (3); (4)",
    "1. 2. 3. 4.",
    "1) 2) 3) 4)",
    "Options 1, 2, 3, 4 are all plausible.",
    "Options (1), (2), (3) and (4) all apply.",
    "1, 2, 3 and 4 all apply to her.",
    "All of 1, 2, 3, 4.",
    "(1) and (2) 4; (3) and (4) 3",
    "Actually (1) 4; (2) 3; (3) 2; (4) 4. No, wait, (1) should be lower.",
    "(1) 4; (2) 3; (3) 2; (4) 4. Hmm, wait, too many.",
    "(1) high; (2) low; (3) medium; (4) 4",
    "I would choose option 4, then 3, then 2, then 1.",
    "4 > 3 > 2 > 1",
    "3 > 1 > 4 > 2",
    "4 < 5 < 6 < 3",
    "If he were calm: 4, 3, 2, 4",
    "Other people might say 4, 3, 2, 4.",
    "Sure! Use the format 4, 3, 2, 4.",
    "(1) 4; (2) 3; (3) 2; (4) 4; (5) 1",
    "(1) 4x; (2) 3; (3) 2; (4) 4",
    "(1) 4e; (2) 3f; (3) 2; (4) 4",
    "(1) 4 people; (2) 3 dogs; (3) 2 cats; (4) 4 birds",
    "(1) joy 4; (2) 3; (3) 2; (4) 4 and maybe 1 more for the first",
    "Version 4.3.2.4",
    "Phone: 4 3 2 4 5",
    "Q4, Q3, Q2, Q4",
    "A4, A3, A2, A4",
    "x4 x3 x2 x4",
    "4th, 3rd, 2nd, 1st",
    "1st, 2nd, 3rd, 4th",
    "(1) 4th; (2) 3rd; (3) 2nd; (4) 1st",
    "hopeful 1st, disappointed 2nd, anxious 3rd, calm 4th",
    "hopeful: #1, disappointed: #2, anxious: #3, calm: #4",
    "hopeful (1), disappointed (2), anxious (3), calm (4)",
    "(1) hopeful, (2) disappointed, (3) anxious, (4) calm",
    "1. hopeful\n2. disappointed\n3. anxious\n4. calm",
    "Hopeful=1 Disappointed=2 Anxious=3 Calm=4 (ranking)",
    "hopeful No. 1, disappointed No. 2, anxious No. 3, calm No. 4",
    "the order is 2 1 4 3",
]


RUNNING = [
    ("Hope gets the most at 5, followed by anxiety at 3. Calm and disappointment get 1 each.", (5, 1, 3, 1)),
    ("I'd give five points to calm, three to anxiety, two to disappointment and none to hope.", (0, 2, 3, 5)),
    ("Anxious and calm share it: 4 points each. Hopeful 2; disappointed gets nothing.", (2, 0, 4, 4)),
    ("4 each on calm and anxiety, leaving 2 for hope; I don't see any disappointment.", (2, 0, 4, 4)),
    ("Anxious 8, calm 2, zero for the others.", (0, 0, 8, 2)),
    ("They all fit equally, 2.5 points each.", (2.5, 2.5, 2.5, 2.5)),
    ("Half of the points go to calm, three to hope and one each to anxiety and disappointment.", (3, 1, 1, 5)),
    ("Hope: two and a half points. Calm: half a point. Anxiety: five. Disappointment: two.", (2.5, 2, 5, 0.5)),
    ("Her hope is 3. She is 42 and waited 3 hours; calm: 1. Anxious, 4. It's her 2nd disappointment: 2.", (3, 2, 4, 1)),
    (
        "- Hopeful\n  - Points: 4\n- Disappointed\n  - Points: 3\n- Anxious\n  - Points: 2\n- Calm\n  - Points: 1",
        (4, 3, 2, 1),
    ),
    ("1. Hopeful: 4 2. Disappointed: 3 3. Anxious: 1 4. Calm: 2", (4, 3, 1, 2)),
    ("hopefull: 4\ndissapointed: 3\nanxius: 2\ncalm: 1", (4, 3, 2, 1)),
    ("Hope: 4\nDisappointment: 3\nAnxiety: 2\nCalmness: 4", (4, 3, 2, 4)),
    ("Hopeful: 2 + 1 = 3\nDisappointed: 4\nAnxious: 2\nCalm: 1", (3, 4, 2, 1)),
    ("Hopeful: 1 1/2\nDisappointed: 5\nAnxious: 1/2\nCalm: 3", (1.5, 5, 0.5, 3)),
    ("Hopeful 4, disappointed 3, anxious 2, calm 1. (4 + 3 + 2 + 1 = 10)", (4, 3, 2, 1)),
    ("Hopeful gets 4/10, disappointed gets 3/10, anxious gets 2/10 and calm gets 1/10.", (4, 3, 2, 1)),
    ("Hopeful: 4\nDisappointed: 4, no wait, 3\nAnxious: 2\nCalm: 1", (4, 3, 2, 1)),
    ("4/3/2/1 in the order hopeful / disappointed / anxious / calm", (4, 3, 2, 1)),
    (
        "<ul><li>Hopeful&nbsp;&ndash; 4</li><li>Disappointed: 3</li><li>Anxious: 2</li><li>Calm: 1</li></ul>",
        (4, 3, 2, 1),
    ),
    ("Hopeful ★★★★\nDisappointed ★★★\nAnxious ★★\nCalm ★", (4, 3, 2, 1)),
    (
        "hopeful 4 disappointed 3 anxious 2 calm 1 hopeful 4 disappointed 3 anxious 2 calm 1 hopeful 4 disapp",
        (4, 3, 2, 1),
    ),
    ("If I had to divide 10 points: hopeful 4, disappointed 3, anxious 2, calm 1.", (4, 3, 2, 1)),
    ("Hopeful: 4\nDisappointed: 3\nAnxious: 2\nCalm: 1\n\nWould you like me to change anything?", (4, 3, 2, 1)),
    ('{"hope": 4, "disappointment": 3, "anxiety": 2, "calmness": 1}', (4, 3, 2, 1)),
    ("他今年28岁。最强的是难过，给5分；其次是惊讶，三分；骄傲和高兴各一分。", (3, 1, 5, 1)),
    ("惊讶四分半，高兴两分，难过半分，骄傲三分", (4.5, 2, 0.5, 3)),
    ("难过给一半的分数，也就是5分；惊讶给5分，其他的不给分。", (5, 0, 5, 0)),
    ("惊讶占其三，高兴占其五，难过占其二，骄傲则一分也无。", (3, 5, 2, 0)),
]
"""Running text, other spellings of names and numbers."""
NOT_AN_ANSWER = [
    "Format: [a, b, c, d], for example [3, 2, 4, 1]. Now let me think.",
    "Hopeful: 2\nDisappointed: 5\nAnxious: 3\nCalm: 0\n\n[5, 2, 0, 3]",
    "Please send the story. A sample output:\nHopeful: 4\nDisappointed: 3\nAnxious: 2\nCalm: 1",
    "If the exam were cancelled, she'd feel hopeful 4, disappointed 3, anxious 2, calm 1.",
    "My friend would say hopeful 4, disappointed 3, anxious 2, calm 1, but I disagree.",
    "The previous answer was hopeful 4, disappointed 3, anxious 2, calm 1. It is wrong.",
    "Hopeful: 4\nDisappointed: 3\nAnxious: 2\nCalm: 1\n\nEdit: sorry, calm should be 2 and hopeful 3.",
    "Hopeful 4, disappointed 3, anxious 2, calm 1, but on a second thought I'd take one point from hopeful.",
    "Hopeful: 4\nDisappointed: 3\nAnxious: 2\nCalm: 1\n\nForget it, ignore the above.",
    "Hopeful 4 and disappointed 3, or the other way round; anxious 2, calm 1.",
    "Hopeful gets more than 4, disappointed less than 3, anxious 2, calm 1.",
    "Hopeful: around 4, or 5 maybe\nDisappointed: 3\nAnxious: 2\nCalm: 1",
    "I'm not sure. Hopeful 4? Disappointed 3? Anxious 2? Calm 1?",
    "Hopeful 4, disappointed 3, anxious 2, calm 1. (3 + 4 + 1 + 2 + 0 = 10, 5 + 3 + 1 + 1 = 10)",
    "On page 4 there is hope, on page 3 disappointment, on page 2 anxiety, on page 1 calm.",
    "There are 4 signs of hope, 3 tears of disappointment, 2 bouts of anxiety and 1 of calm.",
    "Hopeful and disappointed share 7, anxious and calm share 3.",
    "1 Hopeful\n2 Calm\n3 Anxious\n4 Disappointed",
    "Hopeful: 1\nDisappointed: 2\nAnxious: 3\nCalm: 4\n(1 = strongest)",
    "如果他知道真相：惊讶0，高兴1，难过6，骄傲3。",
    "惊讶4分，高兴3分，难过2分，骄傲1分。算了，重来。",
    "惊讶4或5分，高兴3分，难过2分，骄傲1分",
]


@pytest.mark.parametrize(("reply", "points"), RUNNING)
def test_points_are_read_where_each_number_belongs_to_one_name(reply, points):
    assert _read(reply) == points


@pytest.mark.parametrize("reply", NOT_AN_ANSWER)
def test_examples_conditions_and_points_taken_back_are_not_an_answer(reply):
    assert _read(reply) is None


@pytest.mark.parametrize("reply", SURE)
def test_a_plain_allocation_is_read(reply):
    assert read_allocation(reply, OPTIONS).values == POINTS


@pytest.mark.parametrize("reply", NOT_SURE)
def test_what_is_not_sure_is_not_read(reply):
    assert read_allocation(reply, OPTIONS).values is None


def _read(reply):
    chinese = any("一" <= sign <= "鿿" for sign in reply)
    return read_allocation(reply, CHINESE if chinese else FEELINGS, language="zh" if chinese else "en").values


@pytest.mark.parametrize(("reply", "points"), IN_ORDER)
def test_as_many_numbers_as_options_in_their_order_are_points_whatever_their_sum(reply, points):
    assert _read(reply) == points


@pytest.mark.parametrize("reply", STYLES)
def test_points_that_miss_the_total_are_read_in_many_styles(reply):
    assert read_allocation(reply, ("Surprised", "Joyful", "Puzzled", "Proud")).values == (4, 3, 2, 4)


@pytest.mark.parametrize(("reply", "points"), RIGHT_OR_NOT)
def test_signs_fractions_and_sums_are_read_right_or_not_at_all(reply, points):
    found = _read(reply)
    assert found is None or (points is not None and _shares(found) == pytest.approx(_shares(points), abs=1e-4))


@pytest.mark.parametrize("reply", UNREAD)
def test_rankings_stray_numbers_and_doubts_are_not_points(reply):
    assert _read(reply) is None


def test_a_number_for_each_of_two_and_nothing_for_another_are_read():
    reply = "Joy and anger get 5 each. No points for frustration, and relief gets nothing."
    assert read_allocation(reply, OPTIONS).values == (5.0, 5.0, 0.0, 0.0)


def test_chinese_names_and_full_width_numbers_are_read():
    reply = "高兴：３分\n生气：２分\n委屈：４分\n轻松：１分"
    assert read_allocation(reply, ("高兴", "生气", "委屈", "轻松")).values == POINTS


@pytest.mark.parametrize(
    ("values", "repaired", "rule"),
    [
        (None, (0, 0, 0, 0), "null"),
        ((0, 0, 0, 0), (0, 0, 0, 0), "null"),
        ((3, 2, 4, 1), (3, 2, 4, 1), "none"),
        ((6, 4, 8, 2), (3, 2, 4, 1), "scaled"),
        ((-1, 1, 2, 0), (0, 10 * 2 / 6, 10 * 3 / 6, 10 * 1 / 6), "lifted, scaled"),
    ],
)
def test_the_papers_repairs(values, repaired, rule):
    found = repair(values, 4)
    assert found.values == pytest.approx(repaired)
    assert found.repair == rule


@given(st.lists(st.floats(-10, 10, allow_nan=False), min_size=4, max_size=4))
def test_a_repaired_allocation_adds_up_to_the_total_or_to_nothing(values):
    assert sum(repair(values, 4).values) == pytest.approx(10) or not any(repair(values, 4).values)


@pytest.mark.parametrize(("folder", "right", "wrong"), [("measured", 0.90, 0.002), ("", 0.80, 0.002)])
def test_the_corpus_is_read_as_well_as_measured(folder, right, wrong):
    good = bad = count = 0
    for path in sorted((CORPUS / folder).glob("allocation*[0-9].jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            read, label = read_allocation(one["reply"], one["options"], one["total"]).values, one["label"]
            same = read is None if isinstance(label, str) else read is not None and _alike(read, label)
            count, good, bad = count + 1, good + same, bad + (read is not None and not same)
    assert good >= right * count
    assert bad <= wrong * count


def _alike(read, label):
    return _shares(read) == pytest.approx(_shares(label))


def _shares(points):
    return [value / (sum(points) or 1) for value in points]


@pytest.mark.parametrize(("file", "plain", "read_at_once", "wrong"), [
    ("allocations", 98, 98, 0),  # at first contact: 84 and 4
    ("allocations-2", 90, 88, 0),  # at first contact: 75 and 1
    ("allocations-3", 89, 86, 0),  # at first contact: 85 and 4
    ("allocations-4", 92, 86, 0),  # at first contact: 86 and 1
])  # fmt: skip
def test_replies_of_writers_who_had_seen_no_rule_are_read_as_the_guide_says(file, plain, read_at_once, wrong):
    found = Counter()
    for line in (CORPUS / "first_contact" / f"{file}.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        language = "zh" if re.search(r"[\u4e00-\u9fff]", "".join(one["options"])) else "en"
        read, label = read_allocation(one["reply"], one["options"], 10.0, language).values, one["label"]
        right = read is not None and label is not None and _alike(read, label)
        found["plain"] += one["plain"] and label is not None
        found["plain and right"] += one["plain"] and right
        found["wrong"] += read is not None and not right
    assert found["plain and right"] >= read_at_once and found["plain"] == plain
    assert found["wrong"] <= wrong
