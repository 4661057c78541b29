"""Addresses: any is a screen, which is spelled and read again; paths open or are refused."""

from pathlib import Path
from random import Random
from urllib.parse import parse_qsl, quote, urlencode

from tests.fuzz.kind import Attempt, Kind
from tests.fuzz.strings import NUMBERS, strange_text
from viz.run.settings import is_known_host
from viz.screen import Screen, choose, link, parse, query, spell
from viz.server.shell import waiting
from viz.state.checkpoints import find

FIELDS = (*vars(Screen()), "options.beam_size", "options.seed", "controls.a", "controls.", "open")
VALUES = (
    *(
        "cross",
        "encoder_self",
        "arrows",
        "map",
        "inside",
        "why",
        "words",
        "pieces",
        "shown",
        "beam",
    ),
    *("q5", "k3,q1", "q", "0,0", "none", "yes", "weight", "rollout", "copy", "en-de", "sample"),
    *("12.45", "3,4.5", "3.4,3.4", "1.", ".2", "7.-1", "2.2,", "9" * 30 + ".1", "5.6,,7"),
    *(".".join("7" * 400), ".".join("7" * 401), ",".join(map(str, range(65)))),
    *NUMBERS,
)


def strange_address(random: Random) -> dict[str, str]:
    """Some fields, with values that are right, odd or empty."""
    names = random.choices(FIELDS, k=random.randrange(1, 8))
    return {
        name if random.randrange(12) else strange_text(random)[:50]: (
            random.choice(VALUES) if random.randrange(2) else strange_text(random)
        )
        for name in names
    }


def start(folder: Path) -> Attempt:
    (folder / "empty").mkdir()

    def attempt(random: Random) -> None:
        said = strange_address(random)
        screen = parse(said)
        assert parse(spell(screen)) == screen
        whole = query(screen)
        assert query(parse({**dict(parse_qsl(whole, True)), "page": screen.page})) == whole
        assert link(screen).startswith("./") and whole.isascii()
        choose(screen, checkpoint=said.get("checkpoint"), kind=None)
        assert "<zqx" not in waiting(urlencode(said, errors="replace"))
        is_known_host(quote(strange_text(random), safe="[]:@/", errors="replace").encode())
        find(random.choice((strange_text(random), str(folder), str(folder / "empty"))), False)

    return attempt


KIND = Kind("addresses", start, n=6000, n_quick=60)
