"""The cards of all lessons, and the checkpoint that a scene is shown on."""

import html
from collections.abc import Callable, Iterator, Mapping
from textwrap import shorten

from transformer.checkpoint import checkpoints_folder
from transformer.decoding import default_method
from transformer.refusal import Refusal
from transformer.training.history import list_snapshots
from viz.app_packages import st
from viz.lessons.exercise import NEEDS, lacking, minutes, n_tasks
from viz.lessons.riddle import NO_RIDDLE
from viz.pages.lessons.asking import is_finished, keep
from viz.pages.training.heads import snapshots_of
from viz.run.request import Answer, Request, about, make_request
from viz.screen import Screen
from viz.state.checkpoints import shipped_names, title
from viz.state.focus import elsewhere, over_text
from viz.state.page import PAGES
from viz.state.state import session
from viz.stories.reading import stories_of
from viz.stories.story import Story
from viz.ui.controls import draw_link

# The cards of all lessons: what each is about, how long it takes, and how far one is.

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
  .lessons small b { color: var(--accent); }
  .lessons small { margin-top: auto; font-size: 0.875rem; color: var(--dim); }
</style>
"""
ORDER = (
    "first-look",
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
DONE = "<b>✓ Done</b> · "


def list_lessons() -> None:
    """All of them, in the order in which they build on each other."""
    st.markdown(
        "Each takes a few minutes and asks about **the sentence above**: type your own, and every "
        "question and every answer changes with it. **Where does it go wrong?** has real mistakes "
        "of the translator, with sentences of their own. Each ends with a sentence that you type."
    )
    lessons = in_order()
    done = {each.name: DONE for each in lessons if is_finished(each.name)}
    st.html(cards(lessons, session().screen, done))
    st.markdown("Without questions:")
    for page in PAGES.values():
        if page.lesson:
            draw_link(page.invites, over_text(session().screen, page.name))
    keep()


def in_order() -> list[Story]:
    """All lessons, as they build on each other."""
    return sorted(stories_of("lesson"), key=lambda each: (_place(each.name), each.name))


def _place(name: str) -> int:
    return ORDER.index(name) if name in ORDER else len(ORDER)


def cards(lessons: list[Story], screen: Screen, done: Mapping[str, str]) -> str:
    """Return the cards of lessons over a screen. done: what is said of those that are done."""
    items = "".join(
        _card(each, address_of(each, screen), done.get(each.name, "")) for each in lessons
    )
    return f'{_STYLE}<ol class="lessons">{items}</ol>'


def address_of(lesson: Story | None, screen: Screen) -> str:
    """The lesson, or the list, over the sentence and the checkpoint that are on the screen."""
    return elsewhere(screen, "lessons", story=lesson.name if lesson else None)


def _card(lesson: Story, address: str, done: str) -> str:
    return (
        f'<li><a data-state href="{html.escape(address)}">{html.escape(lesson.title)}</a>'
        f"<p>{html.escape(lesson.introduction)}</p>"
        f"<small>{done}{html.escape(length(lesson))}</small></li>"
    )


def length(lesson: Story) -> str:
    """Count a lesson's questions and minutes, in words."""
    exercises = [scene.exercise for scene in lesson.scenes]
    return f"{n_tasks(exercises)} questions, about {minutes(texts_of(lesson), exercises)} minutes"


def whose_sentences(lesson: Story) -> str:
    """Say which sentences a lesson is about."""
    exercises = [scene.exercise for scene in lesson.scenes]
    if any(it.riddle == NO_RIDDLE and not it.own for it in exercises):
        return "The sentence above is yours to change."
    models = {scene.screen.checkpoint for scene in lesson.scenes if scene.screen.checkpoint}
    by = f" by {' and '.join(sorted(models))}, whatever is chosen above" if models else ""
    return f"Each riddle has a sentence of its own, which is translated now{by}."


def texts_of(lesson: Story) -> list[str]:
    """All that is read of a lesson."""
    solutions = (scene.exercise.riddle.solution for scene in lesson.scenes)
    scenes = (f"{scene.heading} {scene.text}" for scene in lesson.scenes)
    return [lesson.introduction, *scenes, *solutions]


# The checkpoint that a scene is shown on: the chosen one, or a shipped one that can do it.

MOST_WRITTEN = 160
"""Characters of an output that are said."""


def standing_in(
    first: Answer, needs: tuple[str, ...], answer_of: Callable[[Request], Answer | None]
) -> tuple[Answer, str] | None:
    """The answer that meets all needs, and what is said where it is not the first one.

    None where no checkpoint meets them, or somebody stopped it. answer_of: waits for one; None: it
    was stopped.
    """
    lacks = _lacking(first, needs)
    if lacks is None:
        return first, ""
    chosen = title(first.request.checkpoint)
    for request in _requests(first.request, needs):
        try:
            other = answer_of(request)
        except Refusal:
            continue
        if other is None:
            return None
        if _lacking(other, needs) is None:
            is_yours = request.text == first.request.text
            of = "your sentence" if is_yours else f"its own example, “{request.text}”"
            remark = f"{chosen} {lacks}: this is {title(request.checkpoint)}, over {of}."
            return other, remark + written(other)
    return None


WRITES = "It writes “{text}”"


def written(other: Answer) -> str:
    """Say what it writes: the header says what the chosen checkpoint does."""
    text = shorten(other.decoding.text if other.decoding else "", MOST_WRITTEN, placeholder=" …")
    return f" {WRITES.format(text=text)}{'' if text.endswith('.') else '.'}" if text else ""


def _lacking(answer: Answer, needs: tuple[str, ...]) -> str | None:
    if "snapshots" in needs and not _may_open_snapshots(answer):
        return NEEDS["snapshots"].lacks
    return lacking(needs, answer.checkpoint, answer.recording)


def _may_open_snapshots(answer: Answer) -> bool:
    """Tell whether all its neighbours may be opened: not those of one that somebody opened."""
    return len(snapshots_of(answer)) == len(list_snapshots(answer.checkpoint.path))


def _requests(first: Request, needs: tuple[str, ...]) -> Iterator[Request]:
    """Yield requests to shipped checkpoints; those without the kinds of attention are left out."""
    kinds = {name for name in needs if name in ("encoder_self", "decoder_self", "cross")}
    folder = checkpoints_folder()
    for name in sorted(shipped_names(), key=_rank):
        description = about(name)
        if (
            description is None
            or not kinds <= set(description.family.attentions)
            or name == first.checkpoint
            or ("snapshots" in needs and len(list_snapshots(folder / name)) < 2)
        ):
            continue
        method = default_method(description.family.reads) if description.family.decodes else "none"
        method = "greedy" if method == "sample" else method  # tasks are about no word of chance
        for text in (first.text, *description.about.examples[:1]):
            yield make_request(name, text, method)


def _rank(name: str) -> int:
    """The best translator first, then the one with snapshots."""
    return {"en-de": 0, "en-de-small": 1}.get(name, 2)


assert {"encoder_self", "decoder_self", "cross"} <= set(NEEDS)
