"""The views that a page lists: those that declare it and apply to what was recorded."""

from transformer.discover import discover
from transformer.recording import Recording
from viz.views.view import PLACES, Place, View


def views_of_page(place: Place, recording: Recording) -> dict[str, View]:
    """name -> view, for a page: in the order of what they need, then by name.

    Those that the page has beside its subject come last: the first one is what opens.
    """
    views: dict[str, View] = discover("viz.views", "VIEW")
    order = list(PLACES)
    fitting = (view for view in views.values() if view.page == place and view.applies_to(recording))

    def rank(view: View) -> tuple[bool, int]:
        return PLACES[view.needs] != place, order.index(view.needs)

    return {view.name: view for view in sorted(fitting, key=rank)}
