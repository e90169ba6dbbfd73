"""Documents of the same structure as SECEU's official ones, in words of ours: items, norm and prompts."""

EXAMPLE = "Q: Ada waits for a tram. She feels: Options: Calm Cold Cross Keen. Rate all four."
ASKED = "Q: Bo drops a vase. Bo would feel: Options: (1) Calm; (2) Sad; (3) Cross; (4) Keen. Rate each, please."
PROMPTS = [
    "Title",
    *("Zero-Shot", "Rate what you read.", ASKED, "A:"),
    *("Zero-Shot + Step-by-step", "Rate what you read.", ASKED, "A: Slowly:"),
    *("Two shot COT", EXAMPLE, "Steps: 3, 3, 2, 2", 'A: {"Emotion": []}<end>', ASKED),
    *("Two shot COT + Step-by-step", EXAMPLE, "Steps: slowly, 3, 3, 2, 2", ASKED, "Steps: slowly,"),
    "",
]


def synthetic_english(numbers=range(1, 41)):
    for number in numbers:
        yield from (f"Item {number}", f"Story: Something happens to {number}. She would feel:")
        yield "Options: (1) Glad; (2) Calm: (3) Sad; (4) Cross"


def synthetic_norm():
    yield from ["The standard scores", *("4.00\t3.00 \t2.00\t1.00" for _ in range(40)), "M is 2.79", ""]
    yield from ["[" + ", ".join(["2.5"] * 20) + ",", ", ".join(["3.0"] * 20) + "]"]
