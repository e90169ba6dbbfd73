"""Chart specifications in Vega-Lite: one file for each kind of chart; colours come from the theme at render time."""
