"""The address of a talk's recording, which a browser keeps for when all else fails."""

from urllib.parse import urlencode

PATH = "recorded"


def recording_of(story: str) -> str:
    """The address, relative to any page of the app, of the recording of the story of this name."""
    return f"./{PATH}?{urlencode({'story': story})}"
