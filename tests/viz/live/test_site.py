"""A folder of pages: every link leads to what is there, and no page asks another host."""

import re
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from types import MappingProxyType
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.representatives import thorough
from transformer import load_checkpoint
from transformer.discover import discover
from viz import site_shelf
from viz.__main__ import main
from viz.commands.site import page_words
from viz.export import inline
from viz.figures.scenes import Picture
from viz.live.models import methods_of
from viz.live.shelf import LISTS
from viz.live.shelf.assets import components
from viz.live.shelf.lists import Shelf, TwoPictures, lacking
from viz.live.site import DONE, build, page_names
from viz.pages.lessons import saved
from viz.screen import Screen
from viz.stories.reading import read_story, shipped_stories
from viz.stories.story import Story

NAME = "en-de-small"
HERE, OPENED, APP = "A head that is here", "A page of the app", "A lens of the app"
FEW = f"""---
title: A gallery of one head
kind: gallery
checkpoint: {NAME}
---

## {HERE}

screen: ./decode?text=It+rains.&decoding=beam&picture=map
fact: cross.1.0.0.0 Es It 0.1

A [head](./?text=It+rains.) and a [file](./inspect?).

## {OPENED}

screen: ./positions?

## {APP}

screen: ./?text=It+rains.&lens=score
"""
_LINK = re.compile(r'\b(?:href|src|srcset)="([^"]*)"')
_POLICY = re.compile(r'Content-Security-Policy" content="([^"]*)"')


def few() -> Mapping[str, Story]:
    """One gallery, without the models that take seconds; and a lesson."""
    lesson = shipped_stories()["masks"]
    return MappingProxyType({"few": read_story(FEW, "few"), "masks": lesson})


@pytest.fixture(scope="module", params=["few", thorough("all")])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("site"), is_whole=request.param == "all")


def written(out: Path, is_whole: bool = False) -> Path:
    """A folder of pages with the small translator, and few stories unless it is to be whole."""
    checkpoint = load_checkpoint(NAME)
    with pytest.MonkeyPatch.context() as patch:
        if not is_whole:
            patch.setattr(site_shelf, "shipped_stories", few)
            for each in (site_shelf, saved):
                patch.setattr(each, "in_order", lambda: [few()["masks"]])
        build([checkpoint], out, page_words(), shelf=site_shelf.shelf_of([checkpoint], _silent))
    return out


def _silent(sentence: str) -> None:
    """Say nothing."""


def pages(folder: Path) -> dict[Path, str]:
    return {it: it.read_text("utf-8") for it in sorted(folder.rglob("*.html"))}


def test_every_link_leads_to_what_is_in_the_folder(folder: Path) -> None:
    n_links = 0
    for page, text in pages(folder).items():
        for address in map(unescape, _LINK.findall(text)):
            parts = urlsplit(address)
            if parts.scheme in ("data", "blob") or "${" in address:
                continue
            assert not parts.netloc, address
            there = (page.parent / parts.path) if parts.path else page
            assert there.is_file(), (page.name, address)
            n_links += 1
            if parts.fragment.isdigit():
                n_scenes = there.read_text("utf-8").count("<section ")
                assert 1 <= int(parts.fragment) <= n_scenes, address
            name = parse_qs(parts.query).get("page", ["explore"])[0]
            assert name in (*page_names(), *LISTS), address
    assert n_links > 5


def test_no_page_may_ask_another_host(folder: Path) -> None:
    for page, text in pages(folder).items():
        (policy,) = _POLICY.findall(text)
        allowed = {each for rule in policy.split(";") for each in rule.split()[1:]}
        own = {"'self'", "'unsafe-inline'", "'wasm-unsafe-eval'", "data:", "blob:", "'none'"}
        assert policy.startswith("default-src 'none'") and allowed <= own, page.name


def test_what_pages_have_in_common_is_in_no_page(folder: Path) -> None:
    code = [inline(it.script) for it in components()]
    for page, text in pages(folder).items():
        assert not any(each in text for each in code), page.name
        assert "font/woff2;base64" not in text and "image/webp;base64" not in text
    (script,) = folder.glob("assets/components.*.js")
    assert "token_rows" in script.read_text("utf-8")


@pytest.mark.parametrize("folder", ["few"], indirect=True)
def test_a_card_leads_to_the_page_or_to_the_recorded_scene(folder: Path) -> None:
    text = (folder / "index.html").read_text("utf-8")
    opens = {
        unescape(title): unescape(address)
        for address, title in re.findall(r'<a href="([^"]*)" aria-label="Open: ([^"]*)">', text)
    }
    assert parse_qs(opens[HERE][1:])["page"] == ["decode"]
    assert "scene" not in opens[HERE] and opens[HERE].startswith("?")
    assert (opens[OPENED], opens[APP]) == ("stories/few.html#2", "stories/few.html#3")
    assert '<a href="?text=It%20rains.">head</a> and a file <span class="app">' in text
    assert "<code>make run</code> in the repository of" in text


def test_what_is_left_out_has_no_entry_and_is_named(tmp_path: Path) -> None:
    checkpoint = load_checkpoint(NAME)
    shelf = site_shelf.shelf_of([checkpoint], _silent, without=LISTS)
    assert not shelf.lists and not shelf.places and not dict(shelf.pages)
    build([checkpoint], tmp_path / "page.html", page_words(), one_file=True, shelf=Shelf(places={}))
    text = (tmp_path / "page.html").read_text("utf-8")
    assert 'data-page="gallery"' not in text and 'data-of="gallery"' not in text
    absent = page_words()["absent"]
    assert absent.keys() == discover("viz.pages", "PAGE").keys()
    assert all(each.count(".") == 1 for each in absent.values())


def test_a_list_that_there_is_not_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["site", str(tmp_path / "site"), "--without", "stories, talks"])
    assert "there is no talks, only gallery, stories, lessons" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("screen", "lacks"),
    [
        (Screen(text="It rains.", decoding="greedy", layer=1), []),
        (Screen(checkpoint="en-de"), ["checkpoint=en-de"]),
        (Screen(page="inspect"), ["page=inspect"]),
        (Screen(decoding="sample"), ["decoding=sample"]),
        (Screen(lens="score"), ["lens=score"]),
        (Screen(picture="why"), ["picture=why"]),
        (Screen(edits=("head-off:cross.0.1",)), []),
        (Screen(edits=("head-scale:cross.0.1=0.5",)), ["edits=head-scale:cross.0.1=0.5"]),
        (Screen(story="masks", scene=2), []),
    ],
)
def test_a_screen_is_done_here_or_what_it_lacks_is_named(screen: Screen, lacks: list[str]) -> None:
    methods = {NAME: methods_of(load_checkpoint(NAME))}
    assert lacking(screen, DONE, page_names(), methods) == lacks


def test_a_picture_of_both_themes_is_fetched_in_one() -> None:
    picture = TwoPictures("<svg>1</svg>", 'a "b"', "<svg>2</svg>")
    assert sorted(picture.files.values()) == [b"<svg>1</svg>", b"<svg>2</svg>"]
    assert all(f'"{path}"' in picture.html for path in picture.files)
    assert 'alt="a &quot;b&quot;"' in picture.html and isinstance(picture, Picture)
