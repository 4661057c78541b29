"""A story that somebody puts together: screens are added where they are seen, and kept."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from viz.app_packages import st
from viz.components.kit.guarded import guarded
from viz.labels import literal
from viz.screen import Screen, link
from viz.state.browser import this_browser
from viz.state.checkpoints import checkpoint_names
from viz.state.mending import mend
from viz.state.state import change, session
from viz.stories.reading import MOST_SCENES, one_line
from viz.stories.story import Scene, Story, bare
from viz.talks.drafts_on_disk import folder, keeps_drafts
from viz.talks.story_drafts import DRAFTS

TITLE = "My story"
ADD = "Add this to a story"
GONE = (
    "The story that was put together here is gone: this server does not have it. Open the file "
    "that it was saved as, on Stories."
)


@dataclass
class Draft:
    """The story that is put together in a session."""

    code: str | None = None
    added: str = ""
    """A sentence about the scene that was added last, for the next run."""


def keep_draft() -> None:
    """Let the address name the story that is put together, also where a link has left it out."""
    own, screen = session().of(Draft), session().screen
    if screen.draft is not None:
        own.code = screen.draft
    elif own.code is not None and screen.role is None:
        mend(replace(screen, draft=own.code))


def draft() -> Story | None:
    """The story that is put together, in this browser."""
    code = session().screen.draft
    return DRAFTS.read(code) if code and DRAFTS.is_of(code, this_browser()) else None


def anothers() -> Story | None:
    """The story that the address names, where another browser puts it together."""
    return None if draft() is not None else DRAFTS.read(session().screen.draft)


def is_gone() -> bool:
    """Tell whether the address names a story that is put together nowhere any more."""
    code = session().screen.draft
    return code is not None and DRAFTS.read(code) is None


def begin(story: Story) -> None:
    """Put this story together from now on."""
    session().of(Draft).code = code = DRAFTS.begin(story, this_browser())
    change(draft=code)


def where_kept() -> str:
    """Say where the story is, and what that is good for."""
    if not keeps_drafts():
        return "Kept in the server's memory only: save it, or it is gone once the server ends."
    if why := DRAFTS.unkept(session().screen.draft or ""):
        return (
            f"The last change is not on disk ({why.rstrip('.')}): a restart loses it, "
            "unless you save the story."
        )
    return f"Kept on this machine, in {folder()}: a restart of the server does not lose it."


def close() -> None:
    """Put no story together any more."""
    session().of(Draft).code = None
    change(draft=None)


def changed(change_it: Callable[[Story], Story]) -> None:
    """Keep what becomes of the story."""
    code, story = session().screen.draft, draft()
    if code is not None and story is not None:
        DRAFTS.put(code, change_it(story), this_browser())


def add_button(key: str, title: str | None = None) -> None:
    """Draw the button that adds the screen to the story, or begins one with it.

    title: of a page that is about no sentence, and heads its scene.
    """
    st.button(
        ADD,
        key=key,
        type="tertiary",
        icon=":material/playlist_add:",
        help="This screen becomes a scene; Stories has them all",
        on_click=guarded(partial(_add, title)),
    )
    own = session().of(Draft)
    if title_added := own.added:
        own.added = ""
        at = link(Screen("stories", draft=session().screen.draft))
        st.toast(f"{literal(title_added)} [Stories]({at}) has all.")


def _scene(title: str | None) -> Scene | None:
    screen, answer, names = bare(session().screen), session().answer, checkpoint_names()
    if title is not None and names:
        return Scene(title, "", replace(screen, checkpoint=screen.checkpoint or names[0]))
    if answer is None:
        return None
    request = answer.request
    screen = replace(screen, checkpoint=request.checkpoint, text=request.text)
    return Scene(one_line(request.text)[:120] or "A scene", "", screen)


def _add(title: str | None) -> None:
    scene = _scene(title)
    if scene is None:
        return
    story = draft()
    if story is None:
        begin(Story("", TITLE, "talk", None, "", (scene,)))
    elif len(story.scenes) == MOST_SCENES:
        session().of(
            Draft
        ).added = f"A story has {MOST_SCENES} scenes at most: this one was not added."
        return
    else:
        changed(lambda story: replace(story, scenes=(*story.scenes, scene)))
    session().of(Draft).added = f"Added as scene {len(story.scenes) + 1 if story else 1}."
