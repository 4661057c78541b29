"""Public names: they complete before they are imported, and are there without an extra."""

import re
from inspect import getdoc, isclass
from pathlib import Path
from types import ModuleType

import pytest
from torch import nn

import transformer
import viz
import viz.headscope
from tests import typed_calls
from transformer import extras
from transformer.extras import NotInstalled
from viz.paper.record import versions


@pytest.mark.parametrize("module", [transformer, viz, viz.headscope])
def test_every_public_name_completes(module: ModuleType) -> None:
    names = {*module.__all__}
    assert names <= {*dir(module)} and len(names) == len(module.__all__)
    assert all(hasattr(module, name) for name in names)


NO_ERRORS = {"GiB", "NaN", "OSError"}
"""Words of these sentences that are no errors of ours."""


def test_every_error_that_help_names_can_be_imported() -> None:
    """Those that a function, or a method of a public value, raises."""
    for name in viz.headscope.__all__:
        value = getattr(viz.headscope, name)
        methods = (
            [each for at, each in vars(value).items() if at[0] != "_"] if isclass(value) else []
        )
        for text in filter(None, map(getdoc, [value, *methods])):
            for errors in re.findall(r"Raises ([^.]*)", text):
                names = {*re.findall(r"\b[A-Z]\w+", errors)} - NO_ERRORS
                assert names <= {*viz.headscope.__all__}, name


def test_only_public_names_complete() -> None:
    assert {name for name in dir(transformer) if name[:2] != "__"} == {*transformer.__all__}


def test_pictures_complete_before_they_are_imported() -> None:
    assert not {*viz.__all__} & vars(viz).keys()
    assert {*viz.__all__, *transformer.__all__} == {*viz.headscope.__all__}


@pytest.mark.parametrize("module", [viz, viz.headscope])
def test_another_name_is_not_there(module: ModuleType) -> None:
    assert not hasattr(module, "head_mop") and "head_mop" not in dir(module)


def test_explore_without_its_extra_refuses_when_it_is_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(extras.EXTRAS, "app", ("streamlit", "a_package_that_nobody_has"))
    assert hasattr(viz.headscope, "explore")
    with pytest.raises(NotInstalled, match="a_package_that_nobody_has"):
        viz.headscope.explore(nn.Identity())


def test_one_version_is_said_everywhere() -> None:
    assert viz.headscope.__version__ == transformer.__version__ == versions()["headscope"]


def test_the_calls_that_type_checkers_read_run(tmp_path: Path) -> None:
    typed_calls.main(tmp_path)
    assert {file.name for file in tmp_path.iterdir()} >= {"own.npz", "head.html", "two.svg"}
