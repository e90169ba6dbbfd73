"""The passport of a simulator: does it judge a reply as its witnesses did, repeat itself, and see through nonsense?

| to find | look in |
| --- | --- |
| the criterion: every limit of the verdict | `criterion.py` |
| the floor: what is predicted without reading the reply | `floor.py` |
| the witnesses | `probes.py` (replies of ours), `released.py` (released judgements), `people.py` (people) |
| what is found against people | `against_people.py`; beside it simple rules, `simple_judges.py` |
| the verdict and its reasons | `verdict.py` |
| what is printed and kept | `page.py` |
| the commands | `examining.py` (passport), `importing.py` (import), `comparing.py` (people, ranking, style) |
| talks of people | `talks.py`, read from `own_files.py`, `recllmsim.py` and `esconv.py` by `files.py` |
| rankings of models, and style | `ranking.py` with `mixed.py`, `style.py` |
"""
