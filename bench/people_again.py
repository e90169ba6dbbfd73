"""The floor, the added part and the ranking of `sage passport --people`, computed a second time and otherwise.

`python bench/people_again.py STUDY FILE.jsonl…` needs pandas and statsmodels, which Sociometer does not, and imports
nothing of Sociometer. STUDY is the released data (human_exp_V2.jsonl, or the folder of ESConv), FILE what `sociometer
export` wrote of a simulator's runs. It prints the numbers with the decimals of the passport.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy import stats


def plans(path: Path) -> pd.DataFrame:
    """The rated replies of RecLLMSim."""
    rows = []
    for number, line in enumerate(path.open(encoding="utf-8")):
        talk = json.loads(line)
        replies = [said for said in talk["history"] if said["role"] == "assistant"]
        for turn, reply in enumerate(replies, 1):
            talk_of = (talk["user"], number, talk["task_context"], talk["chat_model"])
            rows.append((*talk_of, turn, reply["satisfaction"], len(reply["content"])))
    return framed(rows)


def support(folder: Path) -> pd.DataFrame:
    """The rated support of ESConv, kept and rejected; a talk is a person."""
    talks = []
    for file in sorted(folder.glob("Failed*.json")):
        for talk in json.loads(file.read_text(encoding="utf-8")):
            messages = talk["dialog"]
            who = [said["speaker"] == "speaker" for said in messages]
            stars = [said["annotation"].get("feedback") for said in messages]
            talks.append(list(zip(who, [said["content"].strip() for said in messages], stars, strict=True)))
    for line in (folder / "valid.txt").open(encoding="utf-8"):
        messages = json.loads(line)["dialog"]
        who = [said["speaker"] == "usr" for said in messages]
        stars = [said.get("feedback") for said in messages]
        talks.append(list(zip(who, [said["text"].strip() for said in messages], stars, strict=True)))
    rows = []
    for number, talk in enumerate(talks):
        turn, reply, is_rated, is_answered = 0, "", True, True
        for by_seeker, words, stars in talk:
            if not by_seeker:
                if is_answered:
                    turn, reply, is_rated, is_answered = turn + 1, words, False, False
                else:
                    reply += "\n" + words
                continue
            is_answered = True
            if stars is not None and not is_rated:
                rows.append((number, number, "", "people", turn, stars, len(reply)))
                is_rated = True
    return framed(rows)


def framed(rows: list) -> pd.DataFrame:
    """The turns with their earlier reports."""
    columns = ["person", "talk", "task", "model", "turn", "report", "length"]
    frame = pd.DataFrame(rows, columns=columns)
    frame["report"] = frame["report"].astype(float)
    return with_earlier(frame)


def with_earlier(frame: pd.DataFrame) -> pd.DataFrame:
    """The previous report of the talk, and the mean of the earlier ones; missing on a first turn."""
    frame = frame.sort_values(["talk", "turn"], kind="stable").reset_index(drop=True)
    by_talk = frame.groupby("talk")["report"]
    frame["previous"] = by_talk.shift(1)
    frame["mean"] = by_talk.transform(lambda reports: reports.shift(1).expanding().mean())
    return frame


def design(frame: pd.DataFrame, other: bool = False) -> pd.DataFrame:
    """The state: dummies of the previous report, mean of the earlier ones, turn, log turn, log length and square."""
    columns = pd.get_dummies(frame["previous"].fillna(0).astype(int), prefix="previous", dtype=float)
    columns["mean"] = frame["mean"].fillna(0)
    columns["turn"] = frame["turn"]
    columns["log_turn"] = np.log(frame["turn"])
    names = ["length", "other_length"] if other else ["length"]
    for name in names:
        size = np.log1p(frame[name])
        columns[name] = size
        columns[name + "_squared"] = size**2
    return columns.astype(float)


def partial(frame: pd.DataFrame, judged: pd.Series, other: bool = False) -> float:
    """The correlation of the residuals of two regressions on the state."""
    state = design(frame, other)
    one = sm.OLS(judged.to_numpy(float), state).fit().resid
    two = sm.OLS(frame["report"].to_numpy(float), state).fit().resid
    return float(np.corrcoef(one, two)[0, 1])


def with_interval(frame: pd.DataFrame, judged: pd.Series, other: bool = False) -> str:
    """The partial correlation, with a jackknife over people."""
    people = frame["person"].unique()
    z = [np.arctanh(partial(frame, judged, other))]
    for person in people:
        stays = frame["person"] != person
        z.append(np.arctanh(partial(frame[stays], judged[stays], other)))
    count = len(people)
    half = stats.t.ppf(0.975, count - 1) * np.sqrt((count - 1) * np.var(z[1:]))
    return f"{np.tanh(z[0]):.4f} [{np.tanh(z[0] - half):.4f}, {np.tanh(z[0] + half):.4f}]"


def show_floor(frame: pd.DataFrame) -> None:
    """The previous report alone, the state, and the ceiling."""
    later = frame.dropna(subset=["previous"])
    print("turns", len(frame), "people", frame["person"].nunique(), "talks", frame["talk"].nunique())
    print(f"r of the previous report alone {later['previous'].corr(later['report']):.4f}")
    fold = pd.factorize(frame["person"])[0] % 5
    state = design(frame)
    fitted = np.zeros(len(frame))
    for held in range(5):
        model = sm.OLS(frame["report"][fold != held], state[fold != held]).fit()
        fitted[fold == held] = model.predict(state[fold == held])
    print(f"floor: r of the state {np.corrcoef(fitted, frame['report'])[0, 1]:.4f}", "(folds by order of appearance)")
    place = frame.groupby("talk").cumcount() % 2
    halves = frame.groupby(["talk", place])["report"].mean().unstack().dropna()
    r = halves[0].corr(halves[1])
    print(f"ceiling: r of odd and even turns {r:.4f}, of whole talks {2 * r / (1 + r):.4f}")


def show_ranking(frame: pd.DataFrame) -> None:
    """The means of the models by statsmodels, with people and tasks crossed."""
    talks = frame.groupby("talk").agg(
        report=("report", "mean"), person=("person", "first"), task=("task", "first"), model=("model", "first")
    )
    parts = {"person": "0 + C(person)", "task": "0 + C(task)"}
    fit = sm.MixedLM.from_formula("report ~ 0 + C(model)", groups=np.ones(len(talks)), vc_formula=parts, data=talks)
    found = fit.fit(reml=True)
    people = talks["person"].nunique()
    quantile = stats.t.ppf(0.975, people - 1)
    for name in found.fe_params.index:
        mean, error = found.fe_params[name], found.bse_fe[name]
        print(f"{name:45} {mean:.4f} [{mean - quantile * error:.4f}, {mean + quantile * error:.4f}]")


def answers(paths: list[Path]) -> pd.DataFrame:
    """The turns that a simulator judged, with its report for the reply and for the other one."""
    reports, others = [], {}
    for path in paths:
        for line in path.open(encoding="utf-8"):
            episode = json.loads(line)["episode"]
            item, outcome = episode["item"], episode["outcome"] or {}
            turn = (item["of_talk"], item["turn"])
            if item["asks"] == "other":
                others[turn] = (outcome.get("report"), len(item["talk"][-1][1]))
            if item["asks"] == "report":
                talk = (item["cluster"], item["of_talk"], item.get("kind", ""), item.get("subject", ""))
                reports.append((*talk, item["turn"], item["reported"], len(item["talk"][-1][1]), outcome.get("report")))
    columns = ["person", "talk", "task", "model", "turn", "report", "length", "judged"]
    frame = with_earlier(pd.DataFrame(reports, columns=columns))
    pairs = [others.get((row.talk, row.turn), (None, row.length)) for row in frame.itertuples()]
    frame["other"] = [report for report, _ in pairs]
    frame["other_length"] = [length for _, length in pairs]
    return frame


def main() -> None:
    """Prints the floor and the ranking of the data, and the added part of a simulator."""
    place = Path(sys.argv[1])
    data = support(place) if place.is_dir() else plans(place)
    show_floor(data)
    if data["model"].nunique() > 1:
        show_ranking(data)
    paths = [Path(name) for name in sys.argv[2:]]
    if not paths:
        return
    judged = answers(paths)
    print("judged turns", len(judged), "people", judged["person"].nunique())
    if judged["judged"].isna().any() or judged["other"].isna().any():
        print("some answers could not be read; this script has no rule for them")
        return
    print("added part", with_interval(judged, judged["judged"].astype(float)))
    difference = judged["judged"].astype(float) - judged["other"].astype(float)
    print("difference to another reply", with_interval(judged, difference, other=True))
    print(f"kindness {(judged['judged'] - judged['report']).mean():.4f}")
    if judged["model"].nunique() > 1:
        show_ranking(judged.assign(report=judged["judged"].astype(float)))


if __name__ == "__main__":
    main()
