"""Links to rooms, the link by which an audience follows a talk, and what is said where none can
be told.
"""

import html
import ipaddress
from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import urlsplit

from viz.app_packages import segno, st
from viz.run.settings import base_path, is_known_host, is_reached_by_others
from viz.screen import Screen, link
from viz.talks.story_drafts import keeps_drafts

# Links to rooms and to the windows of a talk; what answers at them is in room_routes.py.


def rooms_address() -> str:
    """The path below which rooms are."""
    return f"{base()}/talk"


def windows(screen: Screen, code: str) -> dict[str, str]:
    """Links to the windows of a talk that is at this screen."""
    return {role: seen_by(screen, role, code) for role in ("stage", "presenter")}


def seen_by(screen: Screen, role: str | None, code: str | None) -> str:
    """The address of a screen for a window of this role."""
    return link(replace(screen, role=role, room=code, draft=None))


def base() -> str:
    """The path below which the app is; empty where it is the server's first."""
    path = base_path()
    return f"/{path}" if path else ""


# The link by which an audience follows a talk, as text and as a QR code; or why there is none.

AT_HOME = (
    "Phones cannot follow: this server listens to this machine only. Start it with "
    "“make run ADDRESS=0.0.0.0”, and give the talk from there."
)
NO_NETWORK = "Phones cannot follow: this machine is in no network."
NOT_LISTED = (
    "Phones cannot follow by this machine's number: open the talk by a name that HEADSCOPE_HOSTS "
    "lists."
)


@dataclass(frozen=True)
class Invitation:
    """The link for the audience, with its code, or the reason why there is none."""

    link: str = ""
    qr: str = ""
    """A picture's address that holds the whole picture."""
    why: str = ""


def invitation(code: str) -> Invitation:
    """To the room of this code, as somebody else's phone reaches it."""
    host = _host(st.context.url or "")
    if host is None:
        return Invitation(why=AT_HOME if not is_reached_by_others() else NO_NETWORK)
    if not is_known_host(host.encode("latin-1", "replace")):
        return Invitation(why=NOT_LISTED)
    scheme = urlsplit(st.context.url or "").scheme or "http"
    link = f"{scheme}://{host}{rooms_address()}/{code}"
    return Invitation(link, qr_code(link))


def who_follows() -> str:
    """Say before a talk whether phones can follow it, and what to do where they cannot."""
    why = invitation("").why
    if not why:
        return "Phones can follow a talk: q on the wall shows their link."
    return f"{why} Stories that are put together are kept." if keeps_drafts() else why


@lru_cache(maxsize=64)
def qr_code(text: str) -> str:
    """A QR code, black on white in every theme, as cameras need it: a data: address of an SVG."""
    code = segno.make(text, error="m", micro=False)
    return str(code.svg_data_uri(border=3, light="#fff", omitsize=True, nl=False))


def _host(url: str) -> str | None:
    """Name and port of this server, as others say them; None where they cannot."""
    parts = urlsplit(url)
    if not is_loopback(parts.hostname or "localhost"):
        return parts.netloc
    number = st.net_util.get_internal_ip() if is_reached_by_others() else None
    if number is None or is_loopback(number):
        return None
    port = parts.port or st.get_option("server.port")
    return f"[{number}]:{port}" if ":" in number else f"{number}:{port}"


def is_loopback(host: str) -> bool:
    """Tell whether a name leads to the machine that asks for it."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


# On a wall or a phone, a story that cannot be told: why, on the whole screen.

_STYLE = """
<style>
  [data-testid="stHeader"], [data-testid="stSidebar"] { display: none !important; }
  .untold { position: fixed; inset: 0; z-index: 9; display: flex; flex-direction: column;
            align-items: center; justify-content: center; gap: 1.5rem; padding: 2rem;
            background: var(--background); text-align: center; }
  .untold h1 { padding: 0; font-size: max(1.6rem, 5vmin); }
  .untold :is(p, a) { font-size: max(1.1rem, 3.4vmin); }
  .untold p { max-width: 60ch; margin: 0; overflow-wrap: anywhere; }
  .untold a { color: var(--accent); text-underline-offset: 3px; }
</style>
"""


def say_untold(why: str) -> None:
    """Draw the sentence over everything else, and a way to the stories that are there."""
    st.html(_whole_screen(why))


def _whole_screen(why: str) -> str:
    stories = html.escape(link(Screen(page="stories")))
    return (
        f'{_STYLE}<section class="untold" role="alert"><h1>This talk cannot be given</h1>'
        f'<p>{html.escape(why)}</p><a data-state href="{stories}">Stories</a></section>'
    )
