"""The texts of the raters' pages, in English and Chinese."""

WORDS = {
    "en": {
        "skip link": "Skip to the question",
        "code label": "Your code",
        "welcome": "Enter the code that you were given. You can leave at any time and come back with it.",
        "go on": "Continue",
        "wrong code": "There is no rater with this code.",
        "progress": "Progress",
        "of": "of",
        "settles": "Other raters disagree on this one. Please decide.",
        "answer": "Your answer",
        "send": "Save and continue",
        "skip": "Skip for now",
        "reason": "Why are you skipping it?",
        "need reason": "Please say why you are skipping it.",
        "choose one": "Please answer every question.",
        "a number": "Enter a number within the range.",
        "done": "Thank you",
        "done text": "You have labelled everything. Your answers are saved.",
        "skipped": "Skipped",
        "skipped none": "You have skipped nothing.",
        "back to": "Label it now",
        "next": "Next",
        "blind": "This page does not show who wrote this or how others labelled it.",
    },
    "zh": {
        "skip link": "跳到问题",
        "code label": "您的参与码",
        "welcome": "请输入您收到的参与码。您可以随时离开，之后凭参与码回来继续。",
        "go on": "继续",
        "wrong code": "没有找到这个参与码。",
        "progress": "进度",
        "of": "/",
        "settles": "其他人对这一条意见不一，请您裁定。",
        "answer": "您的回答",
        "send": "保存并继续",
        "skip": "暂时跳过",
        "reason": "为什么跳过？",
        "need reason": "请说明跳过的原因。",
        "choose one": "请回答所有问题。",
        "a number": "请输入规定范围内的数字。",
        "done": "谢谢您",
        "done text": "您已完成全部标注，答案已保存。",
        "skipped": "已跳过",
        "skipped none": "您没有跳过任何一条。",
        "back to": "现在标注",
        "next": "下一条",
        "blind": "页面不显示内容出自谁手，也不显示别人的标注。",
    },
}


def words_of(language: str) -> dict[str, str]:
    """The texts in a language; in English if there are none."""
    return WORDS.get(language, WORDS["en"])
