"""Looking inside open weights: what their layers represent, and which neurons respond."""

from sociometer.instruments.socialeval.inside.figures import inside_figures as inside_figures
from sociometer.instruments.socialeval.inside.view import stored_views as stored_views
