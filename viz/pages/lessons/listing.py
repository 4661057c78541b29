"""The cards of all lessons: what each is about, how long it takes, and how far one is."""

import html

from viz.app_packages import st
from viz.elsewhere import elsewhere
from viz.lessons.length import minutes, n_tasks
from viz.lessons.riddle import NO_RIDDLE
from viz.screen import Screen
from viz.state.state import session
from viz.stories.shipped import stories_of
from viz.stories.story import Story

_STYLE = """
<style>
  .lessons { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 330px), 1fr));
             gap: 1rem; list-style: none; counter-reset: lesson; }
  .lessons, .lessons li { margin: 0 !important; }  /* Streamlit indents lists. */
  .lessons { padding: 0 !important; }
  .lessons li { display: flex; flex-direction: column; gap: 0.5rem; padding: 1rem 1.1rem;
                border: 1px solid var(--grid); border-radius: 8px; }
  .lessons a { font-weight: 600; }
  .lessons p { margin: 0; font-size: 0.95rem; line-height: 1.5; }
  .lessons small { margin-top: auto; font-size: 0.875rem; color: var(--dim); }
</style>
"""
ORDER = (
    "attention-by-hand",
    "why-the-square-root",
    "masks",
    "positions",
    "three-attentions",
    "heads-emerge",
    "smoothing-and-rate",
    "why-attention",
    "two-meanings",
    "lost-words",
    "one-for-another",
)
"""In which they build on each other; others follow by name."""


def list_lessons() -> None:
    """All of them, in the order in which they build on each other."""
    st.markdown(
        "Each takes a few minutes and asks about **the sentence above**: type your own, and every "
        "question and every answer changes with it. **Where does it go wrong?** has real mistakes "
        "of the translator, with sentences of their own."
    )
    st.html(_cards(in_order(), session().screen))


def in_order() -> list[Story]:
    """All lessons, as they build on each other."""
    return sorted(stories_of("lesson"), key=lambda each: (_place(each.name), each.name))


def _place(name: str) -> int:
    return ORDER.index(name) if name in ORDER else len(ORDER)


def _cards(lessons: list[Story], screen: Screen) -> str:
    items = "".join(_card(each, address_of(each, screen)) for each in lessons)
    return f'{_STYLE}<ol class="lessons">{items}</ol>'


def address_of(lesson: Story | None, screen: Screen) -> str:
    """The lesson, or the list, over the sentence and the checkpoint that are on the screen."""
    return elsewhere(screen, "lessons", story=lesson.name if lesson else None)


def _card(lesson: Story, address: str) -> str:
    return (
        f'<li><a data-state href="{html.escape(address)}">{html.escape(lesson.title)}</a>'
        f"<p>{html.escape(lesson.introduction)}</p><small>{html.escape(length(lesson))}</small></li>"
    )


def length(lesson: Story) -> str:
    """Count a lesson's questions and minutes, in words."""
    exercises = [scene.exercise for scene in lesson.scenes]
    return f"{n_tasks(exercises)} questions, about {minutes(texts_of(lesson), exercises)} minutes"


def whose_sentences(lesson: Story) -> str:
    """Say which sentences a lesson is about."""
    if any(scene.exercise.riddle == NO_RIDDLE for scene in lesson.scenes):
        return "The sentence above is yours to change."
    models = {scene.screen.checkpoint for scene in lesson.scenes if scene.screen.checkpoint}
    by = f" by {' and '.join(sorted(models))}, whatever is chosen above" if models else ""
    return f"Each riddle has a sentence of its own, which is translated now{by}."


def texts_of(lesson: Story) -> list[str]:
    """All that is read of a lesson."""
    solutions = (scene.exercise.riddle.solution for scene in lesson.scenes)
    scenes = (f"{scene.heading} {scene.text}" for scene in lesson.scenes)
    return [lesson.introduction, *scenes, *solutions]
