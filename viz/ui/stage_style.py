"""How a page looks on a wall: large type, one picture, and no tools around it."""

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
STAGE_STYLE = """
<style>
  /* 24 px of 1920 x 1080, and as large a part of any other screen. */
  html { font-size: max(12px, min(100vw / 80, 100vh / 45)) !important; }
  :root { --stage-type: 1rem; --stage-width: 100%; --used: none; }
  ::view-transition-group(root) { animation-duration: 0.18s; }
  @media (prefers-reduced-motion: reduce) {
    ::view-transition-group(root) { animation: none; }
  }
  /* The dialog is Streamlit's, about its connection: viz/components/stage/recorded.js says more. */
  [data-testid="stHeader"], [data-testid="stSidebar"], .st-key-checked, .st-key-tokens,
  [data-testid="stDialog"] {
    display: none !important;
  }
  [data-testid="stMainBlockContainer"] { padding: 1.2rem 2.4rem 0 !important; }
  [data-testid="stMain"] { scroll-padding-top: 0; }
  .st-key-stage { position: absolute; }
  /* What a click on a head shows takes the place that was kept for it: the head stays there. */
  .st-key-experiment dt small { display: block !important; }
  [data-testid="stLayoutWrapper"]:has(.st-key-tokens):has(+ * .st-key-experiment),
  .st-key-experiment > [data-testid="stLayoutWrapper"] { display: none; }
  .st-key-scene h1 { margin: 0; padding: 0; font-size: 1.9rem; line-height: 1.2; }
  .st-key-scene p { margin: 0.2rem 0 0; font-size: 1.15rem; line-height: 1.4; max-width: 130ch; }
  [data-testid="stTextInputRootElement"] input { font-size: 1.2rem; height: auto; }
  /* What is chosen stays as the scene has it. */
  :is(.st-key-page, .st-key-experiment) :is(.stButtonGroup, .stSelectbox, .stNumberInput,
  .stDownloadButton, .stMenuButton, .stCaption, [data-testid="stCaptionContainer"]),
  .st-key-page .stPopover, .st-key-experiment :is(.stButton, .stPopover, .stHtml > a) {
    display: none;
  }
  .st-key-page > .stElementContainer:empty { display: none; }
  .st-key-experiment :is(p, small, dt) { font-size: 1rem !important; }
  .st-key-experiment dt:last-child { display: none; }
  /* Charts have type of 14 px: they are drawn as for a small page, and enlarged. What Streamlit
     measures stays as it is; a chart is 380 px high at most, as viz/ui/panel.py says. */
  .st-key-page [data-testid="stElementContainer"]:has(.stPlotlyChart) {
    --enlarged: tan(atan2(1rem, 14px));
    width: calc(100% / var(--enlarged)) !important;
    margin-bottom: calc((var(--enlarged) - 1) * 380px);
    overflow: visible;
  }
  .st-key-page .js-plotly-plot { zoom: var(--enlarged); overflow: visible !important; }
  .st-key-page [data-testid="stHorizontalBlock"]:not(
  :has(.stPlotlyChart, iframe, canvas, .st-key-grid)):has(
  .stButtonGroup, .stNumberInput, .stDownloadButton) { display: none; }
</style>
"""
