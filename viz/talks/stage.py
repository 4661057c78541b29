"""A scene for a wall: its heading and text above the page, which stays as live as it is."""

import html
from collections.abc import Callable
from dataclasses import asdict, replace

from viz.app_packages import st
from viz.components.kit.sync import opened
from viz.components.stage.stage import stage
from viz.labels import escaped
from viz.screen import Screen, link
from viz.state.fingerprints import meant
from viz.state.state import current_theme, session
from viz.stories.markdown import as_html
from viz.stories.shipped import stories_of
from viz.stories.story import Scene, Story, bare
from viz.talks.audience_link import invitation
from viz.talks.backup_address import recording_of
from viz.talks.departure import departure
from viz.talks.room_links import rooms_address, seen_by, windows
from viz.talks.stage_style import AUDIENCE_STYLE, PRESENTER_STYLE, STAGE_STYLE
from viz.talks.stories import story_of, why_not
from viz.talks.story import departed, say_doubts
from viz.talks.story_words import draw_words
from viz.talks.talk_error import say_untold

_KEYS = (
    '<p class="keys"><kbd>→</kbd> next <kbd>g</kbd> go to <kbd>o</kbd> overview '
    "<kbd>b</kbd> black <kbd>q</kbd> link on the wall <kbd>d</kbd> dark</p>"
)
_STYLES = {"stage": STAGE_STYLE, "audience": AUDIENCE_STYLE, "presenter": PRESENTER_STYLE}


def on_stage() -> bool:
    """Tell whether the screen is for a wall or a phone: navigation and tools are out of sight."""
    screen = session().screen
    return screen.role in ("stage", "audience") and story_of(screen.story) is not None


def on_wall() -> bool:
    """Tell whether it is for a wall, where type is large."""
    return on_stage() and session().screen.role == "stage"


def open_scene(ask: Callable[[], None]) -> bool:
    """In a talk, draw what stands above the page, and hear its keys. Returns whether the page is
    to be drawn below: on the presenter's window notes, time and the next scene take its place.

    ask: draws what the scene asks, for the presenter.
    """
    screen = session().screen
    story = story_of(screen.story)
    if screen.role is None:
        return True
    if story is None:
        why = why_not(screen.story)
        if why is not None:
            say_untold(why)
        return why is None
    number = story.nearest(screen.scene)
    scene = story.scenes[number - 1]
    st.html(_STYLES[screen.role])
    # An address as "story=...&role=stage": it goes there.
    if _names_no_screen(screen, story.screen_of(number)):
        _hear(story, number, start=seen_by(story.screen_of(number), screen.role, screen.room))
        return False
    if screen.role == "presenter":
        _present(story, number, scene, ask)
        return False
    _hear(story, number)
    _scene(story, number, scene)
    return True


def _names_no_screen(screen: Screen, there: Screen) -> bool:
    """Tell whether an address that was opened just now names a scene, and no screen of its own.

    there: the scene's own, which may be a page as it opens: then there is nowhere else to go to.
    """
    says_nothing = screen == session().arrival and bare(screen) == Screen(page=screen.page)
    return says_nothing and bare(there) != bare(screen)


def _present(story: Story, number: int, scene: Scene, ask: Callable[[], None]) -> None:
    """The presenter's window; the wall says nothing of what is not here."""
    say_doubts(story)
    words, beside = st.columns([6, 5], gap="large")
    with words:
        _scene(story, number, scene)
        ask()
        notes = as_html(scene.notes) or "<p>This scene has no notes.</p>"
        draw_words(f'<section class="notes" aria-label="Notes">{notes}</section>')
        st.html(_KEYS)
    with beside:
        _hear(story, number)


def _hear(story: Story, number: int, start: str = "") -> None:
    """Mount the part that hears keys and the room. start: where the window is to go at once."""
    state, screen = session(), session().screen
    role, room = screen.role, screen.room
    ours = {name: getattr(screen, name) for name in ("role", "room", "draft", "guess")}
    heard = replace(story.screen_of(number), **ours)
    after = (
        replace(story.screen_of(number + 1), role="stage") if number < len(story.scenes) else None
    )
    stage(
        story.title,
        [(each.heading, seen_by(story.screen_of(i), role, room)) for i, each in _numbered(story)],
        leave=link(bare(screen)),
        theme=current_theme(),
        recorded=recording_of(story.name) if role == "stage" else "",
        is_told=screen == heard or (state.arrival == heard and screen == state.landing),
        start=start,
        here=_spelled(screen),
        asked=_spelled(state.arrival),
        led=_spelled(state.landing),
        opened=str(opened()),
        tool=seen_by(replace(screen, tool=_other_tool(screen)), role, room),
        code=room or "",
        rooms=rooms_address(),
        windows=windows(screen, room) if room else {},
        audience=asdict(invitation(room)) if room and role != "audience" else {},
        next=link(after) if after and role == "presenter" else "",
    )


def _numbered(story: Story) -> enumerate[Scene]:
    return enumerate(story.scenes, 1)


def _spelled(screen: Screen | None) -> str:
    """Spell a screen as everybody in a room does."""
    return seen_by(screen, screen.role, screen.room) if screen else ""


def _other_tool(screen: Screen) -> str:
    """Return the tool that the key for it chooses: show, or switch a head off."""
    return "look" if screen.tool == "heads" else "heads"


def _scene(story: Story, number: int, scene: Scene) -> None:
    changed = departed(departure(scene, session().screen, meant(story.screen_of(number))))
    with st.container(key="scene", gap=None):
        st.html(f'<h1 data-scene="{number:d}">{escaped(scene.heading)}</h1>')
        draw_words(changed or as_html(scene.text))  # both would push the picture off the wall


def list_talks() -> None:
    """Draw a link to each talk that can be given."""
    for story in stories_of("talk"):
        text = escaped(f"{story.title} ({len(story.scenes)} scenes)")
        st.html(f'<p><a data-state href="{_first(story)}">Give a talk: {text}</a></p>')


def _first(story: Story) -> str:
    first: Screen = replace(story.screen_of(1), role="stage")
    return html.escape(link(first))
