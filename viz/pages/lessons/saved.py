"""Lessons as pages without a server: what the models answer is computed here, once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from transformer.checkpoint import Checkpoint
from transformer.discover import discover
from transformer.files.foreign_text import clean
from transformer.refusal import Refusal, visible
from viz.causes.needs import Causes
from viz.components.kit.picture import NothingLeft
from viz.exhibits.exhibit import PictureAt
from viz.figures.costs import cost_samples
from viz.figures.tables import GUESS
from viz.lessons.answers import code_of
from viz.lessons.exercise import lacking, read_task
from viz.lessons.own import WORDS as OWN
from viz.lessons.own import own_tasks
from viz.lessons.riddles import evidence_of, mistakes_in
from viz.lessons.sheet import seal, sheet
from viz.lessons.subject import Place, Subject, find_place
from viz.lessons.task import Task
from viz.live.lessons.page import SavedLesson, SavedPart, lesson_html
from viz.live.models import example, methods_of, models_of, size_of
from viz.live.shelf.lists import IN_APP, leading, nowhere
from viz.pages.lessons import asking
from viz.pages.lessons import lesson as shown
from viz.pages.lessons.listing import WRITES, in_order, length, standing_in, texts_of
from viz.painters.table_html import samples_body, style_of
from viz.run.request import Answer, Request
from viz.run.work import finish
from viz.screen import FIRST_PAGE, Screen
from viz.server.recording_scenes import chart_of, pane_of, request_of_scene
from viz.state.page import PAGES, Pane
from viz.state.requests import request_of
from viz.stories.markdown import as_html
from viz.stories.story import Scene, Story
from viz.theme import LIGHT
from viz.ui.saving import saved_picture

WORDS = {
    "all": "All lessons",
    "next": "Further lessons",
    "unkept": "This browser keeps nothing: your answers are lost once the page is closed.",
    "your_name": "Your name",
    "save": "Save my result",
    "nothing_sent": (
        "Nothing is sent anywhere: the file is yours to hand in. It holds your answers, and "
        "whoever edits it can change them."
    ),
    "start_again": "Start again",
    "enter": "Ask about it",
    "comes": (
        "{model} answers it in your browser; its {of} MB come once you type, and what you type "
        "stays here."
    ),
    "thinking": "The model reads it …",
    "before": "Before the lesson",
    "after": "After the lesson",
    "offer_before": (
        "Three questions first, and the same three at the end: so you see what you have learned. "
        "Until then nothing is said about your answers."
    ),
    "offer_after": "Now the three questions of the beginning once more.",
    "ask_me": "Ask me",
    "skip": "Skip them",
    "question_of": "Question {n} of {all}",
    "next_question": "Next",
    "compared": "Before and after",
    "counted": "{before} of {all} right before the lesson, {after} of {all} after it.",
    "each_compared": "Before: {before}, after: {after}.",
    "was_right": "right",
    "was_wrong": "not right",
    "models": {
        "coming": "{model} comes: {have} of {of} MB.",
        "until": "{model} answers until {chosen} is here: {have} of {of} MB.",
        "waits": "{model} comes: {have} of {of} MB.",
        "answers": "{model} answers, in this browser. Nothing that you type leaves it.",
        "other": "{model} answers: the smaller model.",
        "recorded": "",
        "failed": "{fault}.",
        "behind": "{model} continues to answer. {fault}.",
        "again": "Try again",
        "fetch": "Let {chosen} answer ({of} MB)",
        "no_worker": "This browser runs no worker, and so no model",
    },
}
"""Sentences that only these pages say; the others are the app's."""
SNAPSHOTS = "This scene needs a dozen snapshots of the model: only the app asks it."
NO_MODEL = "This page has no model that reads sentences of your own: only the app asks this."
COSTS = style_of([], LIGHT) + samples_body(cost_samples())
"""The legend of the charts of costs."""
Asked = tuple[Task, Subject]
YOURS = "“Your sentence” is a recorded one here, up to the last scene."
KINDS = ("encoder_self", "decoder_self", "cross")


def lesson_page(
    name: str,
    checkpoints: Sequence[Checkpoint] = (),
    *,
    to: Callable[[Screen], str] = nowhere,
    one_file: bool = False,
) -> bytes:
    """Return `lessons/NAME.html` of a site: the lesson of this name as a page.

    checkpoints: those of the site, whose weights lie in `weights/` beside the folder of lessons;
    the first one reads the recorded scenes, and the smallest that can answers sentences that a
    learner types. to: the address of a screen in the site, empty where it has none. one_file: all
    is in the file, the weights of that smallest one, too, and it links to nothing. Raises Refusal.
    """
    lessons = {each.name: each for each in in_order()}
    if name not in lessons:
        raise Refusal(f"There is no lesson {clean(name)}: there is {', '.join(lessons)}.")
    PAGES.update(PAGES or discover("viz.pages", "PAGE"))
    return lesson_html(
        _Saving(lessons[name], checkpoints, nowhere if one_file else to, one_file).lesson()
    )


@dataclass
class _Saving:
    """A lesson on its way into a file."""

    story: Story
    checkpoints: Sequence[Checkpoint]
    to: Callable[[Screen], str]
    one_file: bool
    sentence: str = ""
    """The one that was said last."""
    remark: str = ""
    models: dict[str, Checkpoint] = field(default_factory=dict)
    """Checkpoints that answer sentences of the learner's own, by their names."""

    def lesson(self) -> SavedLesson:
        first = self.checkpoints[0].name if self.checkpoints else None
        _, _, pane = pane_of(Screen(checkpoint=first))
        story = self.story
        parts = tuple(self._part(pane, i, each) for i, each in enumerate(story.scenes, 1))
        models, _, elements = models_of([*self.models.values()], self.one_file)
        says_yours = "your sentence" in " ".join(texts_of(story)).lower()
        names = [each.name for each in in_order()]
        after = in_order()[names.index(story.name) + 1 :][:1]
        return SavedLesson(
            story.name,
            story.title,
            story.introduction,
            f"{length(story)}. {YOURS if says_yours else ''}".strip(),
            story.learned,
            parts,
            tuple(map(_question, story.measures)),
            next=(f"Next: {after[0].title} →", f"{after[0].name}.html") if after else None,
            done=code_of((story.name, "finished")),
            models=models,
            elements=elements,
            words=lesson_words(),
            to=self.to,
            is_file=self.one_file,
        )

    def _part(self, pane: Pane, number: int, scene: Scene) -> SavedPart:
        plain = SavedPart(scene.heading, scene.text)
        exercise = scene.exercise
        if exercise.own:
            return replace(plain, own=self._own(scene))
        if exercise.is_of_evidence:
            return self._riddle(plain, number, scene)
        stand_in = standing_in(pane.answer, shown.all_needs(exercise), _answered)
        place = stand_in and shown.place_in(stand_in[0], exercise.head, exercise.row)
        if stand_in is None or place is None:
            return replace(plain, remark="No checkpoint here can show this.")
        result, remark = stand_in
        opened = shown.opened_by(scene, result, place)
        subjects = enumerate(_tasks_of(scene, result, place))
        sheets = [self._task(number, i, result.request, it) for i, it in subjects]
        drawn: dict[str, Any] = {}
        if exercise.shows:
            own, exhibits = shown.exhibits_in(
                exercise.shows, replace(pane, result=result), place, opened
            )
            each = [*exhibits.values()]
            is_picture = [isinstance(it.content, PictureAt) for it in each]
            drawn = {
                "pictures": tuple(saved_picture(own, it) for it in each if is_picture[0]),
                "charts": tuple(chart_of(own, it) for it in each if not is_picture[0]),
                "before_charts": COSTS if exercise.shows == "costs" else "",
            }
        has_link = exercise.shows or scene.screen.page != FIRST_PAGE
        words = PAGES[opened.page].invites or shown.OPEN
        return replace(
            plain,
            sentence=self._new_sentence(result),
            remark=self._remarked(remark),
            tasks=tuple(sheets),
            link=self._link(words, opened) if has_link else None,
            **drawn,
        )

    def _riddle(self, plain: SavedPart, number: int, scene: Scene) -> SavedPart:
        screen = scene.screen
        try:
            result = finish(request_of(screen.checkpoint or "", screen.text or "", screen))
            subjects = _tasks_of(scene, result, asking.NOWHERE)
        except (Refusal, NothingLeft) as reason:
            return replace(plain, remark=str(reason))
        for task, subject in subjects:
            if why := task.absent(subject):
                return replace(plain, sentence=self._new_sentence(result), remark=why)
        sheets = [self._task(number, i, result.request, it) for i, it in enumerate(subjects)]
        evidence = evidence_of(subject)
        verdicts = [visible(evidence.verdicts[at].text) for at, _ in mistakes_in(subject)[:1]]
        words = as_html("\n\n".join(verdicts)) + as_html(scene.exercise.riddle.solution)
        end = leading(words, self.to, IN_APP)
        return replace(
            plain,
            sentence=self._new_sentence(result),
            tasks=tuple(sheets),
            in_turn=True,
            end=seal(end),
            link=self._link(shown.ON_EXPLORE, screen),
        )

    def _task(self, number: int, i: int, request: Request, pair: Asked) -> dict[str, Any]:
        """A sheet with its code, which is the app's, its row, and what is said of that."""
        task, subject = pair
        place, speaks = subject.place, shown.speaks_of_row(task, subject)
        return {
            **sheet(task, subject),
            "code": code_of((self.story.name, number, i, request, place)),
            "row": code_of((request, place)),
            "ofRow": task.of_row,
            "about": subject.about_row if speaks else "",
        }

    def _own(self, scene: Scene) -> Mapping[str, Any]:
        """Return what the page needs to ask about a sentence: of the model that the scene names, or
        of the smallest that can be asked.
        """
        exercise, screen = scene.exercise, scene.screen
        if not all(read_task(it)[0].name in OWN for it in exercise.tasks):
            return {"model": "", "refused": SNAPSHOTS}
        needs = set(shown.all_needs(exercise)) & set(KINDS)
        able = [it for it in self.checkpoints if needs <= set(it.family.attentions)]
        named = [it for it in able if it.name == screen.checkpoint]
        chosen = min(named or able, key=size_of, default=None)
        if chosen is None:
            return {"model": "", "refused": NO_MODEL}
        self.models[chosen.name] = chosen
        method = screen.decoding or methods_of(chosen)[0]
        recording = example(chosen, chosen.about.examples[0])[1]
        of = own_tasks(exercise, chosen, recording)
        return {"model": chosen.name, "method": method, "of": of}

    def _new_sentence(self, result: Answer) -> str:
        """Return what is read and written, where it is another text than before."""
        before, self.sentence = self.sentence, _sentence(result)
        return "" if self.sentence == before else self.sentence

    def _remarked(self, remark: str) -> str:
        before, self.remark = self.remark, remark
        return "" if remark == before else remark

    def _link(self, words: str, opened: Screen) -> tuple[str, str] | None:
        address = self.to(opened)
        return (words, address) if address else None


def _tasks_of(scene: Scene, result: Answer, place: Place) -> list[Asked]:
    """The tasks of a scene with what they are about, once all of that is computed."""
    evidence = finish(Causes(result.request)) if scene.exercise.is_of_evidence else None
    pairs = []
    for task, arguments in map(read_task, scene.exercise.tasks):
        run = evidence
        if task.run is not None:
            run = finish(asking.TaskRun(task.name, arguments, result.request, place))
        of = result.checkpoint, result.recording, place, arguments, result.request.text
        pairs.append((task, Subject(*of, result=run, riddle=scene.exercise.riddle)))
    return pairs


def _question(scene: Scene) -> dict[str, Any]:
    """Return the sheet of a question before and after the lesson. Raises Refusal."""
    result = finish(request_of_scene(scene.screen))
    of, exercise = (result.checkpoint, result.recording), scene.exercise
    place = asking.NOWHERE
    if not exercise.is_of_evidence:
        place = find_place(result.recording, exercise.head, exercise.row) or place
    ((task, subject),) = _tasks_of(scene, result, place)
    why = lacking(shown.all_needs(exercise), *of) or task.absent(subject)
    if why:
        raise Refusal(f"{exercise.tasks[0]} cannot be asked of “{result.request.text}”: {why}.")
    about = subject.about_row if shown.speaks_of_row(task, subject) else ""
    return {**sheet(task, subject), "sentence": _sentence(result), "about": about}


def _sentence(result: Answer) -> str:
    written = result.decoding.text if result.decoding else ""
    return f"{result.request.text} → {written}" if written else result.request.text


def _answered(request: Request) -> Answer | None:
    return finish(request)


def lesson_words() -> dict[str, Any]:
    """All sentences of a lesson's page: its own, and those of the app's lessons."""
    return WORDS | {
        "check": asking.CHECK,
        "show_me": asking.SHOW_ME,
        "right": asking.RIGHT,
        "not_right": asking.NOT_RIGHT,
        "not_yet": asking.NOT_YET,
        "not_quite": asking.NOT_QUITE,
        "own_sentence": asking.OWN_SENTENCE,
        "once_entered": asking.ONCE_ENTERED,
        "continues": shown.CONTINUES,
        "open": shown.OPEN,
        "writes": WRITES,
        "done": shown.DONE,
        "guess": GUESS,
    }
