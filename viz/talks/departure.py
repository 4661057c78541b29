"""A sentence for whoever has left what the words of a scene are about."""

from viz.screen import Screen
from viz.state.checkpoints import checkpoint_names, title
from viz.state.requests import first_example
from viz.stories.story import Scene

LONGEST = 120
"""Characters of a sentence that is named."""


def departure(scene: Scene, screen: Screen, there: Screen) -> str:
    """Say what of a scene's request was changed; empty where its words are about what is shown,
    or state nothing of one sentence: many a scene asks for another.

    there: the scene's own screen, by the checkpoints that are here.
    """
    if not (scene.facts or scene.question or scene.writes):
        return ""
    here, own = (each.checkpoint or _usual() for each in (screen, there))
    if here != own:
        return f"The model was changed: this scene is about {title(own)}."
    texts = _texts(there)
    if _texts(screen) == texts:
        return ""
    whose = " and ".join(f"“{_cut(text)}”" for text in texts if text)
    end = "" if whose[-2:-1] in tuple(".!?") else "."
    return f"The sentence was changed: this scene is about {whose or 'no sentence'}{end}"


def _texts(screen: Screen) -> tuple[str, str]:
    text = screen.text
    if text is None:
        text = first_example(screen.checkpoint or _usual())
    return text, screen.pair or ""


def _usual() -> str:
    return next(iter(checkpoint_names()), "")


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
