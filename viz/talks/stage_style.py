"""The style of a page on a wall: large type, one picture, and no tools around it."""

from viz.notebook.story_page import WALL

PRESENTER_STYLE = """
<style>
  html { font-size: max(14px, min(100vw / 80, 100vh / 50)) !important; }
  [data-testid="stHeader"], [data-testid="stSidebar"], .st-key-checked {
    display: none !important;
  }
  [data-testid="stMainBlockContainer"] { padding: 1.4rem 2.4rem 1rem !important; }
  .st-key-scene h1 { margin: 0; padding: 0; font-size: 1.7rem; line-height: 1.2; }
  .st-key-scene p { margin: 0.4rem 0 0; font-size: 1.1rem; line-height: 1.45; opacity: 0.75; }
  .notes { margin-top: 1.6rem; max-width: 60ch; }
  .notes :is(p, ul, ol) { margin: 0 0 0.8rem; }
  .notes :is(p, li) { font-size: 1.5rem; line-height: 1.45; }
  .keys { position: fixed; bottom: 0.4rem; margin: 0; opacity: 0.65; }
  .keys kbd { padding: 0.05em 0.4em; border: 1px solid; border-radius: 4px; background: none;
              color: inherit; font: inherit; font-size: 0.875rem; }
</style>
"""
AUDIENCE_STYLE = """
<style>
  [data-testid="stHeader"], [data-testid="stSidebar"], .st-key-checked {
    display: none !important;
  }
  [data-testid="stMainBlockContainer"] { padding: 1rem 1rem 5rem !important; }
  .st-key-stage { position: absolute; }
  .st-key-scene h1 { margin: 0; padding: 0; font-size: 1.35rem; line-height: 1.25; }
  .st-key-scene p { margin: 0.3rem 0 0; line-height: 1.45; }
</style>
"""
STAGE_STYLE = (
    f"<style>{WALL}</style>"
    + """
<style>
  ::view-transition-group(root) { animation-duration: 0.18s; }
  @media (prefers-reduced-motion: reduce) {
    ::view-transition-group(root) { animation: none; }
  }
  /* The dialog is Streamlit's, about its connection: viz/components/stage/recorded.js says more. */
  [data-testid="stHeader"], [data-testid="stSidebar"], .st-key-checked,
  [data-testid="stDialog"] {
    display: none !important;
  }
  [data-testid="stMainBlockContainer"] { padding: 1.2rem 2.4rem 0 !important; }
  [data-testid="stMain"] { scroll-padding-top: 0; }
  .st-key-stage { position: absolute; }
  [data-testid="stTextInputRootElement"] input { font-size: 1.2rem; height: auto; }
  /* What is chosen stays as the scene has it: what chooses is out of sight, with its place. */
  :is(.st-key-page, .st-key-experiment) .stElementContainer:has(> :is(.stButtonGroup, .stSelectbox,
  .stNumberInput, .stDownloadButton, .stMenuButton), [data-testid="stCaptionContainer"]),
  .st-key-experiment > [data-testid="stLayoutWrapper"], .st-key-page .stPopover,
  .st-key-page > .stElementContainer:empty,
  [data-testid="stLayoutWrapper"]:has(.st-key-tokens):not(:has(.st-key-page)) { display: none; }
  .st-key-page [data-testid="stLayoutWrapper"]:has(.stButtonGroup, .stNumberInput,
  .stDownloadButton):not(:has(.stBidiComponent, .printed, iframe, table, .stDataFrame)) {
    display: none;
  }
  .st-key-page :is(p, th, td, figcaption, .stHtml div, .stHtml span, .stHtml small) {
    font-size: 1rem !important;
  }
  .st-key-page .tables p.title { font-size: 1.4rem !important; }
  .st-key-experiment p { font-size: 1rem !important; }
  /* What a correction costs stands nowhere else. */
  .st-key-branches .text-lines .foot { display: block; }
  .st-key-branches .text-lines dt small { display: none !important; }
  /* Why a text cannot be read: over the page, as it would push the picture off the wall. */
  .stElementContainer:has(> .stAlert [data-testid="stAlertContentWarning"]):not(.st-key-page *) {
    position: fixed; z-index: 1; top: 1rem; right: 2.4rem; width: auto !important; max-width: 45%;
    border-radius: 8px; background: Canvas;
  }
</style>
"""
)
