"""A subject whose every word tries to become part of the page."""

HOSTILE = '</p><script>window.hacked=1</script><img src=x onerror="window.hacked=1"> {{ 7*7 }} \u202egnikcah\u2028'


def hostile(messages):
    return HOSTILE
