"""Chart specifications in Vega-Lite: one kind of chart a file, colours only from the theme at render time."""
