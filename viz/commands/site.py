"""python -m viz site: a folder that anybody can host, or a file that anybody can open, in which a
checkpoint answers what a reader types.
"""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections import Counter
from pathlib import Path
from typing import Any

from transformer import load_checkpoint
from transformer.commands.command import Command, Result
from transformer.discover import discover
from transformer.extras import require
from transformer.files.foreign_text import Unwritten, write_whole
from transformer.training.evaluation.translations import say
from viz.live.shelf import LISTS

USUAL = {False: ("en-de", "en-de-small"), True: ("en-de-small",)}
"""The checkpoints of a folder, whose large one comes behind the small one; and of one file."""
PICTURES = "gallery/"
"""The folder of small pictures, which the result sums up."""
WORDS = {
    "title": "Headscope: see what every attention head looks at",
    "description": (
        "Type a sentence: a trained Transformer answers it in your browser, and every attention "
        "head of every layer can be seen, switched off and asked why."
    ),
    "pages": "Pages",
    "others": "More pages",
    "predicted": "Predicted: {name}, with a logit of {logit}.",
    "unoffered": (
        "In the app this model's texts are drawn at random ({method}); this page has only "
        "{methods}."
    ),
    "copy": "Copy link",
    "copied": "Copied",
    "not_copied": "Copy the address above",
    "less": "Less",
    "more": "More",
    "try_": "Try",
    "checkpoint": "Checkpoint",
    "open_arrays": "Open arrays …",
    "of_file": "{name}: {look} It stays in this browser. Type a sentence, and {before} answers it.",
    "one_file": "{n} files cannot be opened together: drop one.",
    "file_gone": (
        "{checkpoint} was a file that this page opened, and no link carries it: open it again with "
        "More and “Open arrays …”. {model} answers."
    ),
    "here_of_file": "{name}: each square is a head, which says which word looks at which.",
    "decoding": "Decoding",
    "kind": "Kind of attention",
    "layer": "Layer",
    "head": "Head",
    "experiment": "Experiment",
    "licences": "Licences and scores of the weights",
    "tokens_title": "Tokens as",
    "special_title": "Special tokens",
    "hide": "Hide “{word}”",
    "undo": "Undo",
    "redo": "Redo",
    "all_off": "All off",
    "click": "A click",
    "picture": "Picture",
    "take_back": "Take it back",
    "loading": "The page is loading.",
    "recorded": (
        "What is shown is what {chosen} wrote when this page was made. {model} answers what you "
        "type or change."
    ),
    "waits": "What you typed is answered once {coming} is here: {have} of {of} MB.",
    "behind": "{model} goes on answering. {fault}.",
    "coming": "{model} comes: {have} of {of} MB. Until then there are recorded examples.",
    "until": "{model} answers until {chosen} is here: {have} of {of} MB.",
    "other": "{model} answers: the smaller model.",
    "failed": "{fault}. What is shown stays; the recorded examples need no model.",
    "no_worker": "This browser runs no worker, and so no model; the examples are recorded",
    "lacks": "The link says more than this page can do ({what}).",
    "not_here": "{checkpoint} is not among the models of this page: {model} answers.",
    "elsewhere": (
        "The app has it: run “make run” in the repository, and open the same link there with "
        "“?{address}”. What is shown is {here}."
    ),
    "survey_coming": "The survey is on its way.",
    "survey_failed": "The survey did not come: open this page again.",
    "listed": "{n} of {all} heads",
    "sorted": "Sorted",
    "sentences": "The sentences, and when they were read",
    "beside": "B: {coming} comes: {have} of {of} MB.",
    "compare_more": (
        "All heads by how much they changed, and the parameters of two checkpoints, are in the "
        "app, on its page Compare (make run)."
    ),
    "sweep_more": (
        "Several sentences, pairs of heads and activation patching are in the app, on its page "
        "Sweep (make run)."
    ),
    "heads_more": (
        "A map of all heads, each head by itself with its sentences, and a question of your own "
        "are in the app, on its page Heads (make run)."
    ),
    "app": "",  # its address, where the page is served beside it
    "in_app": "In the app",
    "elsewhere_here": "In the app it is there. What is shown is {here}.",
    "about": (
        "Made by Headscope from its own components and checkpoints. The app, with more pages and "
        "checkpoints of your own: <code>make run</code> in its repository."
    ),
}
"""Sentences that only this page says; the others are the app's."""
HERE = {
    "explore": "{title}, as you type. Each square is a head: which word looks at which.",
    "compare": "{title}: two heads beside each other, of one run or of two.",
    "sweep": "{title}: what each head is worth to each word of one sentence.",
    "decode": "{title}, as you type: step by step, with all that the search looked at.",
}
"""The sentence of each page that says what is seen there."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `site`."""
    parser.add_argument("out", type=Path, help="a folder; or one file, where it ends in .html")
    parser.add_argument(
        "--checkpoint",
        action="append",
        metavar="NAME|FOLDER",
        help="the one that answers; a second one is offered beside it",
    )
    parser.add_argument("--lesson", metavar="NAME", help="write this lesson, as one file")
    parser.add_argument("--one-file", action="store_true", help="write one file, not a folder")
    parser.add_argument(
        "--without",
        type=_lists,
        default=(),
        metavar="LISTS",
        help=f"leave some of {', '.join(LISTS)} out of a folder, with their pages",
    )
    parser.add_argument("--app", default="", metavar="ADDRESS", help="the app that it links to")


def run(options: Namespace) -> Result:
    """Write the page; its files with their sizes are the result. Raises Refusal."""
    require("app")
    from viz.live.site import NO_SHELF, build  # takes seconds: --help needs none of it
    from viz.pages.lessons.saved import lesson_page
    from viz.site_shelf import shelf_of

    is_named = options.out.suffix.lower() in (".html", ".htm")
    one_file = options.one_file or is_named or bool(options.lesson)
    out = options.out
    if one_file and not is_named:
        out = out / "index.html"
    usual = USUAL[one_file and not options.lesson]
    checkpoints = [load_checkpoint(it) for it in options.checkpoint or usual]
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        if options.lesson:
            page = lesson_page(options.lesson, checkpoints, one_file=True)
            write_whole(out, page)
            return {out.name: f"{len(page):,} bytes"}
        shelf = NO_SHELF if one_file else shelf_of(checkpoints, say, options.without)
        words = page_words() | {"app": options.app}
        site = build(checkpoints, out, words, one_file, shelf)
    except OSError as error:
        why = f"{out} cannot be written ({error.strerror or error}): name another place."
        raise Unwritten(why) from error
    sizes = Counter({f"{PICTURES}*": 0})
    for name, size in site.files.items():
        sizes[f"{PICTURES}*" if name.startswith(PICTURES) else name] += size
    return {name: f"{size:,} bytes" for name, size in sorted(sizes.items()) if size}


def _lists(text: str) -> list[str]:
    """Names of lists, separated by commas. Raises ArgumentTypeError."""
    names = [name.strip() for name in text.split(",")]
    if others := [name for name in names if name not in LISTS]:
        raise ArgumentTypeError(f"there is no {', '.join(others)}, only {', '.join(LISTS)}")
    return names


def page_words() -> dict[str, Any]:
    """All sentences of the page around the pictures: its own, and those of the app's controls."""
    from viz.live.models import SAYS
    from viz.live.tables import SPECIAL as READ_SPECIAL
    from viz.pages import compare
    from viz.pages.compare import heads, second, texts
    from viz.pages.decode import PAGE as DECODE
    from viz.pages.explore import PAGE as EXPLORE
    from viz.pages.heads import HERE as HEADS_HERE
    from viz.pages.heads import NONE
    from viz.pages.heads import PAGE as HEADS
    from viz.pages.heads.every import ALL_KINDS, FIND
    from viz.pages.sweep import PAGE as SWEEP
    from viz.pages.sweep import studies, sweep
    from viz.state.branching import TITLES as DECIDED
    from viz.ui import progress
    from viz.ui.changed_output import SAME_WORDS, WITH, WITHOUT
    from viz.ui.controls import SPECIAL, TOKENS
    from viz.ui.experiment import HELP, SHOWN_UNCHANGED, TOOLS, UNCHANGED
    from viz.ui.notes import GUESS, LONG, SHARE, SHORT
    from viz.ui.picture import TITLES
    from viz.ui.token_row import ENDLESS

    controls = {
        "explore": EXPLORE.title,
        "decode": DECODE.title,
        "heads": HEADS.title,
        "compare": compare.PAGE.title,
        "compare_with": second.WITH.replace("**", ""),
        "of_b": second.OF_B,
        "same_head": second.SAME_HEAD,
        "own_words": second.OWN_WORDS,
        "sweep": SWEEP.title,
        "sweep_says": sweep.SAYS,
        "sweep_csv": sweep.CSV,
        "all_kinds": ALL_KINDS,
        "find": FIND,
        "no_survey": NONE,
        "begins": DECIDED["prefix"],
        "unchanged": UNCHANGED,
        "without": WITHOUT,
        "with": WITH,
        "same": SAME_WORDS,
    }
    tables = {
        "here": HERE | {"heads": HEADS_HERE},
        "absent": {name: _absent(each) for name, each in discover("viz.pages", "PAGE").items()},
        "second": {
            "same": second.SAME,
            "edits": second.EDITED,
            "by": second.BY,
            "alike": texts.ALIKE,
            "switch": heads.SWITCH,
            "nothing": heads.NOTHING,
            "two_heads": compare.TWO_HEADS,
            "where": compare.WHERE,
            "not_applying": compare.NOT_APPLYING,
            "forced": compare.FORCED,
            "own": compare.OWN,
            "by_method": compare.BY_METHOD,
            "rewritten": compare.REWRITTEN,
        },
        "growth": {
            "begin": studies.BEGIN,
            "times": [[each, studies.about_time(each)] for each in studies.SAID],
            "done": progress.DONE.replace(":d", ""),
            "stopped": progress.STOPPED.replace(":d", ""),
            "stop": progress.STOP,
            "go_on": progress.GO_ON,
            "unchanged": SHOWN_UNCHANGED,
            "edits": ["edit", "edits"],
            "runs": ["run", "runs"],
            "all": sweep.ALL,
            "file": sweep.FILE,
        },
        "tools": list(TOOLS.items()),
        "help": HELP,
        "tokens": list(TOKENS.items()),
        "special": [[name, f"special {SPECIAL[name]}"] for name in READ_SPECIAL],
        "notes": {"guess": GUESS, "short": SHORT, "endless": ENDLESS, "long": [LONG, SHARE]},
        "pictures": [[name, text] for name, text in TITLES.items() if name != "why"],
    }
    return WORDS | SAYS | controls | tables


def _absent(page: Any) -> str:
    """Say of a page of the app that it is not here, and what it shows."""
    subject = page.subject[:1].lower() + page.subject[1:]
    of = ": it is made without it" if page.name in LISTS else ""
    return f"“{page.title}” ({subject}) is not in this page{of}."


COMMAND = Command("site", "write a page that needs no server", add_arguments, run)
