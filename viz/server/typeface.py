"""The typeface of the app, which comes with Streamlit, for a page that no server sends."""

from base64 import b64encode
from functools import cache
from pathlib import Path

from viz.app_packages import st

FAMILY = "Source Sans"
_FILES = {"normal": "SourceSansVF-Upright.*.woff2", "italic": "SourceSansVF-Italic.*.woff2"}


@cache
def typeface() -> str:
    """Its `@font-face` rules, with the files in them; none where Streamlit has another one."""
    folder = Path(st.__file__).parent / "static" / "static" / "media"
    by_style = {style: sorted(folder.glob(name)) for style, name in _FILES.items()}
    return "".join(_rule(style, files[0]) for style, files in by_style.items() if files)


def _rule(style: str, file: Path) -> str:
    content = b64encode(file.read_bytes()).decode()
    return (
        f'@font-face{{font-family:"{FAMILY}";font-weight:100 900;font-style:{style};'
        f'src:url(data:font/woff2;base64,{content})format("woff2")}}\n'
    )
