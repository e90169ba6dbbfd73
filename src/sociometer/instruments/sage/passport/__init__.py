"""The passport of a simulator: does it judge a reply as its witnesses did, repeat itself, and see through nonsense?

| to find | look in |
| --- | --- |
| the criterion: every limit of the verdict | `criterion.py` |
| the floor: what is predicted without reading the reply | `floor.py` |
| the witnesses | `probes.py` (replies of ours), `released.py` (released judgements), `against_people.py` (people) |
| the verdict and its reasons | `verdict.py` |
| what is printed and kept | `page.py` |
| talks of people, and their files | `talks.py` |
"""
