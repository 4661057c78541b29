"""What holds for every checkpoint format."""

from pathlib import Path

import pytest

from transformer.checkpoint import CheckpointError
from transformer.discover import discover
from transformer.formats.format import Format
from transformer.formats.opening import format_of

FORMATS: dict[str, Format] = discover("transformer.formats", "FORMAT")


@pytest.mark.parametrize("format", FORMATS.values(), ids=list(FORMATS))
def test_it_declares_itself_and_takes_nothing_that_is_not_there(
    format: Format, tmp_path: Path
) -> None:
    assert format.name.isidentifier() and format.title
    missing = tmp_path / "nowhere"
    for path, name in ((missing, str(missing)), (tmp_path, tmp_path.name)):
        assert not format.fits(path)
        with pytest.raises(CheckpointError, match=rf"^{name} is"):
            format_of(path)
