"""The tasks as the register of inspect_evals runs them: `inspect eval docs/adapters/inspect_evals_tasks.py@sesi`.

Inspect looks in a file for functions with the decorator `task`, written out. With Sociometer installed,
`inspect eval sociometer/sesi` runs the same tasks.
"""

from inspect_ai import Task, task

from sociometer.adapters import inspect_tasks


@task
def sesi(**settings) -> Task:
    """Situational social intelligence."""
    return inspect_tasks.sesi(**settings)


@task
def seceu(**settings) -> Task:
    """Emotional understanding."""
    return inspect_tasks.seceu(**settings)


@task
def egosocial(**settings) -> Task:
    """First-person theory of mind and games; needs `-T task=NAME`."""
    return inspect_tasks.egosocial(**settings)


@task
def socialeval(**settings) -> Task:
    """Social goals and interpersonal abilities; needs `-T task=NAME`."""
    return inspect_tasks.socialeval(**settings)


@task
def sage(**settings) -> Task:
    """Talks with a simulated person; name the person with `--model-role simulator=MODEL`."""
    return inspect_tasks.sage(**settings)


@task
def helpdesk(**settings) -> Task:
    """An assistant with tools under pressure."""
    return inspect_tasks.helpdesk(**settings)
