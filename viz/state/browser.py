"""The browser of a session: what is put together in it stays there after a reload, and only there.

Its name is a number that says nothing of anybody, in a cookie that scripts cannot read.
Where a browser keeps none, as in a page of another site, the session is all there is.
"""

import secrets
from dataclasses import dataclass, field

from viz.app_packages import st
from viz.state.state import session

COOKIE = "headscope-browser"
_BYTES, _DAYS = 24, 30


def new_cookie(base: str, is_secure: bool) -> str:
    """Return the cookie for a browser that has none. base: the path of the app, without slashes."""
    cookie = f"{COOKIE}={secrets.token_urlsafe(_BYTES)}; Path=/{base}; Max-Age={_DAYS * 86400}"
    return f"{cookie}; HttpOnly; SameSite=Lax{'; Secure' if is_secure else ''}"


def _name() -> str:
    return st.context.cookies.get(COOKIE) or secrets.token_urlsafe(_BYTES)


@dataclass
class Browser:
    """A session's browser, asked once."""

    name: str = field(default_factory=_name)


def this_browser() -> str:
    """The same for all windows of a browser, if it keeps cookies."""
    return session().of(Browser).name
