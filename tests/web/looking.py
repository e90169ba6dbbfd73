"""What tests look at: the runs of an instrument, and the width and the theme that the browser shows pages in."""

import sociometer as sm

WIDTHS = (390, 1300)
MODES = ("light", "dark")


def look(browser, width, mode):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    feature = {"name": "prefers-color-scheme", "value": mode}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


def runs_of(stored, instrument):
    return [run.id for run in sm.runs(store=stored) if run.instrument == instrument]
