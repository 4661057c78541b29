"""Where a browser finds the recording of a talk, which it keeps for when all else fails."""

from urllib.parse import urlencode

PATH = "recorded"


def recording_of(story: str) -> str:
    """The address, relative to any page of the app, of the recording of the story of this name."""
    return f"./{PATH}?{urlencode({'story': story})}"
