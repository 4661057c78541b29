"""The few rules that Streamlit's theme has no setting for."""

from collections.abc import Iterable

import streamlit as st

from viz.exhibits.chart import SCALES
from viz.painters.bars_html import PARTS_HTML_STYLE as PARTS
from viz.painters.bars_html import STYLE as BARS
from viz.painters.table_html import style_of
from viz.painters.words_html import STYLE as WORDS
from viz.state.page import Page
from viz.state.state import current_theme
from viz.theme import Theme

_CSS = """
<style>
  [data-testid="stMainBlockContainer"] { padding: 4.2rem 2rem 1rem; max-width: 2400px; }
  [data-testid="stMain"] { font-variant-numeric: tabular-nums; }
  /* Streamlit's offer to who writes apps with it lies over the header. */
  .stSkillsNudge { display: none; }
  /* What gets the focus is not to lie below the header. */
  [data-testid="stMain"] { scroll-padding-top: 4.2rem; }
  /* A swipe is for the pictures, not for Back. */
  html, [data-testid="stMain"] { overscroll-behavior-x: none; }
  /* A closed sidebar takes no focus; it slides out before it is gone. */
  [data-testid="stSidebar"] {
    transition: transform 0.3s, min-width 0.3s, max-width 0.3s, visibility 0.3s !important;
  }
  [data-testid="stSidebar"][data-collapsed="true"] { visibility: hidden; }
  [data-testid="stSidebar"][data-collapsed="true"] * { visibility: inherit !important; }
  /* The last result stays as it is until the new one is there. */
  [data-stale="true"] { opacity: 1 !important; }
  /* Of these popovers the icon is enough to see; their names are still read aloud. */
  .st-key-options button [data-testid="stMarkdownContainer"] {
    position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  }
  /* Its arrow reaches beyond a button without a frame. */
  [class*="st-key-new-edit"] [data-testid="stPopoverButton"] { padding-inline-end: 0.5rem; }
  /* What is typed is shown at once: nothing has to be applied. */
  [class*="st-key-text"] [data-testid="InputInstructions"] { display: none; }
  /* A sentence in Arabic or Hebrew begins at the right. */
  [data-testid="stTextInputRootElement"] input, [data-testid="stTextArea"] textarea,
  [data-testid="stMarkdownContainer"] :is(p, li), [data-testid="stHtml"] :is(td, th, p, h1) {
    unicode-bidi: plaintext;
  }
  /* What was done is said at the foot of the window: above it the menus open. */
  [data-testid="stToastContainer"] {
    top: auto !important; bottom: calc(var(--strip, 0px) + 1rem);
  }
  /* A name that is too long says so. */
  .stSelectbox input { text-overflow: ellipsis; }
  /* In the line of the navigation: it takes no place from the pictures. */
  html {
    --beside-save: 6.7rem; --beside-checked: 16.7rem;
    /* Linux calls none of its fonts "math"; in another, what stands below a line stands on it. */
    --math-font: math, "Latin Modern Math", "STIX Two Math", "DejaVu Math TeX Gyre", serif;
  }
  math { font-family: var(--math-font); }
  :is(.st-key-save, .st-key-checked) {
    position: fixed; top: 0.6rem; right: 1.5rem; z-index: 999991; width: auto;
  }
  .st-key-checked { right: var(--beside-save); }
  [data-testid="stLayoutWrapper"]:has(> :is(.st-key-proved, .st-key-doubted)) {
    position: absolute; /* the badge has its place in the line above */
  }
  .st-key-saved [data-testid="stHorizontalBlock"] { gap: 0 1rem; }
  .st-key-saved .stDownloadButton button { min-height: 2rem; }
  [data-testid="stPopoverBody"]:has(.st-key-saved) {
    max-height: calc(100vh - 5rem); overflow: auto;
  }
  :is(.st-key-save, .st-key-checked) button {
    font-size: 0.875rem; min-height: 2.5rem; padding-inline: 0.5rem;
  }
  /* So does the line that says what the app is, where there is room beside the navigation. Below
     each other they stand only until it is known; its place is kept from the first moment on. */
  div:has(> .st-key-here) { min-height: 1.75rem; margin-bottom: -0.5rem; }
  [data-tour="known"] div:has(> .st-key-here) {
    position: fixed; top: 0.95rem; right: var(--beside-checked); z-index: 999991;
    width: auto; min-height: 0;
  }
  @media (min-width: 1400px) {
    div:has(> .st-key-here) {
      position: fixed; top: 0.95rem; right: var(--beside-checked); z-index: 999991;
      width: auto; max-width: calc(100vw - var(--beside-checked) - 36rem); min-height: 0;
    }
  }
  /* Once the header is scrolled away, what is typed and the checkpoint stand in that line as well,
     in front of the one that says what the app is; their places stay as high as they were. */
  :is(.st-key-typed [class*="st-key-text"], .st-key-chosen [class*="st-key-checkpoint"]) {
    min-height: 2.5rem;
  }
  [data-header="line"] :is(
    .st-key-typed [class*="st-key-text"], .st-key-chosen [class*="st-key-checkpoint"]
  ) > * {
    position: fixed; top: 0.6rem; z-index: 999991; margin: 0;
    --line-width: calc(var(--line-right) - var(--line-left));
    /* Where the line is short, the name of a checkpoint can still be told from the next. */
    --checkpoint-width: min(var(--line-width) * 0.52, max(var(--line-width) * 0.36, 9.5rem));
    width: calc(var(--checkpoint-width) - 0.25rem) !important;
    inset-inline-start: calc(var(--line-right) - var(--checkpoint-width) + 0.25rem);
  }
  [data-header="line"] .st-key-typed [class*="st-key-text"] > * {
    width: calc(var(--line-width) - var(--checkpoint-width) - 0.25rem) !important;
    inset-inline-start: var(--line-left);
  }
  [data-header="line"] [data-testid="stHeader"]:not(:has([data-testid="stTopNav"])) {
    & :is([data-testid="stLogoLink"], [data-testid="stHeaderLogo"]) { visibility: hidden; }
    & [data-testid="stExpandSidebarButton"] { transform: translateX(var(--line-moved)); }
    & [data-testid="stExpandSidebarButton"]::after { display: none; }
  }
  [data-header="line"]:has(.st-key-typed) div:has(> .st-key-here):not(:focus-within) {
    opacity: 0; pointer-events: none;
  }
  /* What is said of work that goes on is so at once: a bar would come to it half a second later. */
  [data-testid="stProgressBarTrack"] > * { transition: none !important; }
  /* It draws nothing, and takes no place. */
  .st-key-address, [data-empty],
  [data-testid="stLayoutWrapper"]:has(> .st-key-settled > :only-child > [data-testid="stEmpty"]),
  [data-testid="stLayoutWrapper"]:has(> * > [data-empty]:only-child) { position: absolute; }
  /* What has the focus is above what stands beside it, and what a pointer shows is shown then. */
  [role="radio"]:focus-visible { position: relative; z-index: 1; }
  [data-testid="stElementToolbar"]:has(:focus-visible),
  .modebar-container:has(:focus-visible) > .modebar { opacity: 1 !important; }
  /* No finger hovers: a chart's buttons are always there, so they have a line above its title. */
  @media (hover: none) {
    [data-testid="stElementContainer"]:has(.modebar-btn) {
      box-sizing: content-box; padding-top: 2rem;
    }
    .st-key-parameters { gap: 2.5rem; } /* a table's are above it */
    .js-plotly-plot { overflow: visible !important; }
    .modebar-container > .modebar { transform: translateY(-2rem); }
  }
  .st-key-proofs button { min-width: max-content; }
  /* In forced colours a ground says nothing: what is chosen has a frame, shades keep theirs. */
  @media (forced-colors: active) {
    [role="radio"][aria-checked="true"] { outline: 2px solid Highlight; outline-offset: -2px; }
    .stCheckbox label > span { border: 1px solid ButtonText; }
    :is(.tables .ramp, .data td) { forced-color-adjust: none; }
  }
  /* What stands above what a click changes is as high after the click as before: a line of tools,
     one of edits, each of which scrolls, and room for outputs as long as those without edits. */
  .st-key-page .st-key-experiment > * > [data-testid="stHorizontalBlock"] {
    flex: none; flex-wrap: nowrap; height: 2.75rem; padding: 2px;
    overflow: auto hidden; scrollbar-width: thin; white-space: nowrap;
  }
  .st-key-page .st-key-experiment > * > .st-key-edits { height: 2rem; }
  .st-key-edits button { min-height: 1.7rem; padding-block: 0; }
  .st-key-page .st-key-experiment [data-testid="stHorizontalBlock"] > * { flex: none; }
  .st-key-page .st-key-experiment .stButtonGroup [role="radiogroup"] { flex-wrap: nowrap; }
  .st-key-outcome { position: relative; min-height: 2.8rem; }
  .st-key-outcome > * + *, .st-key-outcome > :only-child {
    position: absolute; inset: 0; overflow: auto; scrollbar-width: thin;
  }
  .st-key-outcome .unseen { visibility: hidden; max-height: 11rem; overflow: hidden; }
  /* The card of a pinned word is in sight, whatever the page is scrolled to. */
  [data-testid="stLayoutWrapper"]:has(> .st-key-drawer) {
    position: sticky; bottom: 0; z-index: 3; background: var(--background);
    max-height: var(--drawer, 36vh); overflow: auto; scrollbar-width: thin;
  }
  /* Above the strip of what was decided, where there is one (viz/components/address/told.js). */
  .st-key-page [data-testid="stLayoutWrapper"]:has(> .st-key-drawer) { bottom: var(--strip, 0); }
  [data-still] [data-testid="stLayoutWrapper"]:has(> :is(.st-key-drawer, .st-key-decided)),
  [data-still] .st-key-drawer * { pointer-events: none !important; }
  [data-still] .st-key-decided > :not(:has(> .st-key-drawer)) { pointer-events: auto; }
  [data-drawer="known"] { --drawer: 80vh !important; --drawer-large: 80vh; }
  [data-testid="stLayoutWrapper"]:has(> .st-key-drawer .drawer-tools) {
    border-top: 1px solid var(--grid); padding-block: 0.4rem;
    box-shadow: -0.5rem 0 var(--background), 0.5rem 0 var(--background);
  }
  .st-key-drawer > :has(.drawer-tools) {
    position: sticky; top: 0; z-index: 4; order: -1; height: 0; pointer-events: none;
  }
  .st-key-drawer { --beside-title: 7.5rem; }
  /* What is scrolled goes below them, and not through between their letters. */
  @supports (animation-timeline: scroll()) {
    .drawer-tools { animation: scrolled linear both; animation-timeline: scroll();
                    animation-range: 0 0.5rem; }
    @keyframes scrolled { to { background: var(--background); } }
  }
  .drawer-tools { display: flex; justify-content: end; gap: 0.5rem; height: 1.75rem; }
  .drawer-tools > * {
    pointer-events: auto; padding: 0 0.6rem; border: 1px solid var(--grid); border-radius: 0.4rem;
    background: var(--background); color: var(--dim) !important; font: inherit;
    font-size: 0.875rem; line-height: 1.7rem; text-decoration: none; cursor: pointer;
  }
  .drawer-tools > :hover { border-color: var(--dim); }
  html:not([data-drawer="known"]) .drawer-tools .close, [data-drawer="known"] .drawer-tools .open {
    display: none;
  }
  @media (max-width: 1000px) {
    .st-key-page [data-testid="stLayoutWrapper"]:has(> .st-key-drawer .drawer-tools) {
      position: fixed; inset-inline: 0; z-index: 5; padding-inline: 1rem;
    }
    [data-testid="stMainBlockContainer"]:has(.st-key-page .drawer-tools) { padding-bottom: 40vh; }
  }
  @media print {
    [data-testid="stLayoutWrapper"]:has(> .st-key-drawer) { position: static; max-height: none; }
    .drawer-tools { display: none; }
  }
  /* What was decided stands at the foot of the window: nothing moves when it comes or grows. */
  [data-testid="stLayoutWrapper"]:has(> .st-key-decided) {
    position: sticky; bottom: 0; z-index: 4; background: var(--background);
    max-height: min(60vh, 30rem); overflow: auto; scrollbar-width: thin;
  }
  [data-testid="stLayoutWrapper"]:has(
    > .st-key-decided :is(.st-key-experiment, .st-key-branches)
  ) {
    border-top: 1px solid var(--grid); padding-block: 0.4rem;
    /* Rings of what is below it reach beyond its sides. */
    box-shadow: -0.5rem 0 var(--background), 0.5rem 0 var(--background);
    animation: arrival 0.6s; /* the second half of a double click is not for what has just come */
  }
  @keyframes arrival { from, to { pointer-events: none; } }
  [data-testid="stMain"]:has(.st-key-decided :is(.st-key-experiment, .st-key-branches)) {
    scroll-padding-bottom: min(45vh, 21rem);
  }
  .st-key-decided * { scroll-margin-bottom: -21rem; } /* it is in sight already */
  .st-key-proof { min-height: 13rem; }
  /* Over what follows: nothing moves below a press when the field has the focus no more. */
  .st-key-under-branching { position: relative; }
  .st-key-under-branching input { scroll-margin-bottom: 4rem; }
  .st-key-under-branching > :has(.force-hint) {
    position: absolute; top: 100%; z-index: 2; width: auto; pointer-events: none;
  }
  .force-hint { margin: 0.2rem 0 !important; padding: 0.2rem 0.6rem !important;
                border: 1px solid var(--grid); border-radius: 0.4rem;
                background: var(--background); font-size: 0.875rem !important; }
  .st-key-under-branching:not(:has([class*="st-key-branch-force"] input:focus))
  > :has(.force-hint) { display: none; }
  .more-button {
    min-height: 2.5rem; padding: 0 0.9rem; border: 1px solid var(--grid); border-radius: 0.5rem;
    background: var(--background); color: var(--text); font: inherit; cursor: pointer;
  }
  .more-button:hover { border-color: var(--dim); }
  [data-more="known"] .more-button .open, html:not([data-more="known"]) .more-button .close {
    display: none;
  }
  @media print {
    [data-testid="stLayoutWrapper"]:has(> .st-key-decided) { position: static; max-height: none; }
  }
  /* So does what a page waits for, which takes no place. */
  [data-testid="stLayoutWrapper"]:has(> .st-key-working) {
    position: fixed; bottom: 0.75rem; inset-inline: 0; z-index: 5; pointer-events: none;
  }
  .st-key-working { align-items: center; }
  .st-key-working [data-testid="stSpinner"] {
    width: fit-content; padding: 0.4rem 0.9rem; border-radius: 0.5rem;
    background: var(--surface); border: 1px solid var(--grid);
  }
  /* The picture above it is as high as it leaves room: what pins bring is as high as a sentence. */
  .st-key-foot { min-height: 1.75rem; row-gap: 0.25rem; }
  .st-key-change-offer { margin-bottom: -0.4rem; } /* its place is kept: nothing moves */
  .st-key-foot button { min-height: 1.75rem; padding-block: 0; }
  .st-key-foot button p { line-height: 1.2; }
  /* A table of Streamlit's fades where it is cut, as ours do (viz/painters/table_html.py). */
  @supports (animation-timeline: scroll()) {
    [data-testid="stDataFrame"] {
      timeline-scope: --columns; animation: more-columns linear both;
      animation-timeline: --columns;
    }
    [data-testid="stDataFrame"] .dvn-scroller { scroll-timeline: --columns inline; }
  }
  /* On a large screen, which is far away, all of it is larger. */
  @media (min-width: 1800px) {
    html { font-size: 20px !important; }
    :is([class*="st-key-layer"], [class*="st-key-head"]):not([class*="st-key-heads"]),
    :is([class*="st-key-layer"], [class*="st-key-head"]):not([class*="st-key-heads"]) .stSelectbox {
      width: 5.2rem !important; flex: none;
    }
    [class*="st-key-kind"], [class*="st-key-decoding"] { min-width: 8.6rem; }
  }
  /* Streamlit's own colours, or the browser's, are under 4.5:1 here. */
  a[data-typed] { font-size: 0.875rem; }
  a:is([data-state], [data-typed]) { color: var(--accent); text-underline-offset: 3px; }
  .stMarkdown [data-testid="stCaptionContainer"] { color: var(--dim); opacity: 1; }
  .remark { color: var(--dim); font-size: 0.875rem; margin: 0; }
  .stMultiSelect [data-tag] { color: var(--background); }
  /* Columns stand below each other as soon as controls would be cut: 200 % zoom, a tablet. */
  /* Of these the icon is enough, too, where buttons would take another line. */
  @media (max-width: 1400px) {
    .st-key-experiment-on button [data-testid="stMarkdownContainer"],
    .st-key-reading button [data-testid="stMarkdownContainer"] {
      position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
    }
  }
  @media (max-width: 1439px) { /* the tour's line stands beside it */
    html { --beside-save: 4.6rem; --beside-checked: 14.6rem; }
    .st-key-save button [data-testid="stMarkdownContainer"] {
      position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
    }
  }
  @media (max-width: 1100px) {
    html { --beside-checked: 8.6rem; }
    .st-key-checked button [data-testid="stMarkdownContainer"] {
      position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
    }
  }
  @media (max-width: 1000px) {
    [data-testid="stMain"] [data-testid="stHorizontalBlock"] { flex-wrap: wrap; }
    [data-testid="stMain"] [data-testid="stColumn"] { min-width: calc(100% - 1.5rem); }
    [data-testid="stMain"] [data-testid="stColumn"] [data-testid="stColumn"] { min-width: 9rem; }
    /* Buttons that would scroll out of sight have another line. */
    .stButtonGroup [role="radiogroup"] { flex-wrap: wrap; overflow: visible; }
    /* What is looked at comes first: what a tap on a token or a head changes is in sight. */
    [data-testid="stColumn"]:has(.st-key-grid, .st-key-sizes) { order: 1; }
  }
  /* A phone, or a low window as at 200 % zoom: the picture comes before what is chosen for it. */
  @media (max-width: 640px), (max-height: 560px) {
    /* What stands above the picture leaves it the first screen. */
    [data-testid="stMain"] [data-testid="stVerticalBlock"]:has(> * > .st-key-page, .st-key-tokens),
    [data-testid="stMain"] [data-testid="stHorizontalBlock"]:has(.st-key-typed) {
      gap: 0.5rem;
    }
    /* Few lines of buttons, and each as long as the others. */
    .stButtonGroup [role="radio"] { flex-grow: 1; padding-inline: 0.6rem; }
    /* What is chosen for a picture, and what else is said of it, comes below it. */
    [data-testid="stVerticalBlock"] > :has(> [class*="st-key-under"]) { order: 1; }
    [data-testid="stMain"] [data-testid="stHorizontalBlock"][class*="st-key-far"] {
      flex-wrap: nowrap;
    }
    .st-key-second .stSelectbox, .st-key-second > :has(.stSelectbox),
    [class*="st-key-far"] > :has(.stProgress) {
      width: auto !important; min-width: 0; flex: 1 1 0;
    }
    /* The texts of both models come before the choice of B. */
    [data-testid="stVerticalBlock"] > :has(> .st-key-second) { order: 1; }
    .st-key-second > :has(.stSelectbox) { flex-basis: 10rem; } /* its name, and switches below */
    .st-key-compared [data-testid="stColumn"] > * { gap: 0.25rem; }
    .st-key-compared [data-testid="stHorizontalBlock"]:has(> [data-testid="stColumn"]) { gap: 0; }
    [data-testid="stMain"] :is(
      .st-key-sweep-choices, .st-key-experiments, .st-key-topics, .st-key-compared
    ) { gap: 0.5rem; }
    /* Beside the buttons, a list is as wide as they leave it. */
    :is(.st-key-sweep-choices, .st-key-topics) > :has(.stSelectbox) {
      flex: 1 1 6.5rem; width: auto !important; min-width: 0;
    }
    /* The card behind its question mark says it as well. */
    .st-key-experiments [data-testid="stCaptionContainer"] p {
      position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
    }
    :is([class*="st-key-topic"], [class*="st-key-metric"]) [data-testid="stWidgetLabel"] {
      display: none;
    }
  }
  /* In a low window the picture keeps the larger part of it. */
  @media (max-height: 560px) {
    [data-testid="stLayoutWrapper"]:has(> .st-key-drawer) { max-height: var(--drawer-large, 26vh); }
  }
  /* A low window has the line of the model beside the sentence. */
  @media (max-height: 560px) and (min-width: 600px) {
    div:has(> .st-key-here) {
      position: fixed; top: 0.95rem; right: var(--beside-checked); z-index: 999991;
      width: auto; min-height: 0;
    }
    [data-testid="stMain"] [data-testid="stHorizontalBlock"]:has(
      > [data-testid="stColumn"] > * > * > * > [class*="st-key-text"]
    ) { flex-wrap: nowrap; }
    [data-testid="stMain"] [data-testid="stColumn"]:has([class*="st-key-text"]),
    [data-testid="stMain"] [data-testid="stColumn"]:has([class*="st-key-text"]) + * {
      min-width: 0;
    }
    [data-testid="stColumn"]:has([class*="st-key-text"]) + * { flex: 0 0 21.5rem !important; }
    [data-testid="stMain"] [data-testid="stColumn"]:has([class*="st-key-text"]) + *
    [data-testid="stHorizontalBlock"] { flex-wrap: nowrap; gap: 0.5rem; }
    [data-testid="stHorizontalBlock"] > [class*="st-key-checkpoint"] {
      flex: 1 1 6rem; min-width: 6rem;
    }
    [class*="st-key-decoding"], [class*="st-key-decoding"] .stSelectbox {
      width: 8.4rem !important;
    }
    :is(.st-key-page [data-testid="stColumn"] > *, .st-key-compared)
    > :is(:has(> * > [class*="st-key-picture"]), :has(.st-key-experiment)) { order: 1; }
    /* The heads of Compare stand in one line. */
    [data-testid="stColumn"]:has(.st-key-tokens) + * > [data-testid="stVerticalBlock"] {
      flex-direction: row; flex-wrap: wrap; gap: 0.5rem 1.5rem;
    }
  }
  .st-key-page .text-lines > p:not(.foot) { font-size: 1.25rem; }
  @media (max-width: 640px) {
    [data-testid="stLayoutWrapper"]:has(> .st-key-drawer) {
      max-height: var(--drawer-large, min(36vh, 54vh - var(--strip, 0px)));
    }
    html { --beside-save: 2.25rem; --beside-checked: 4.3rem; }
    .st-key-save { right: 0.25rem; }
    /* What a page shows has two lines there; Explore's line is one. */
    html:not([data-tour="known"]) [data-testid="stMain"]:not(:has(.more-button))
    div:has(> .st-key-here) { min-height: 3.2rem; }
    :is(.st-key-save, .st-key-checked) button > div > [aria-hidden] { display: none; } /* arrows */
    [data-testid="stMainBlockContainer"] { padding: 4.2rem 0.75rem 2rem; }
    /* The page's name has room beside the tour and the line of the model. */
    [data-testid="stHeaderLogo"] { height: clamp(1rem, (100vw - 14.9rem) / 6, 2rem) !important; }
    /* An experiment takes a line of controls, and a line for each of its outputs. */
    :is(.st-key-experiment, .st-key-branches) :is([data-testid="stHorizontalBlock"], .text-lines) {
      overflow-x: auto; scrollbar-width: none;
    }
    [data-testid="stMain"] :is(.st-key-experiment, .st-key-branches)
    [data-testid="stHorizontalBlock"] { flex-wrap: nowrap; padding: 3px; }
    .st-key-under-branching [data-testid="stHorizontalBlock"] { gap: 0.5rem; }
    .st-key-under-branching [data-testid="stHorizontalBlock"] > * { flex: 1 1 40%; width: auto; }
    :is(.st-key-experiment, .st-key-branches) [data-testid="stHorizontalBlock"] > *,
    .st-key-experiment .stButtonGroup [role="radiogroup"] > * { flex: none; }
    .st-key-experiment .stButtonGroup [role="radiogroup"] { flex-wrap: nowrap; }
    :is(.st-key-experiment, .st-key-branches) :is(.text-lines, .text-room) :is(dt, dd) {
      white-space: nowrap;
    }
  }
</style>
"""
_FIELDS = (
    '[data-testid="stTextInputRootElement"], [data-testid="stNumberInputContainer"], '
    '.stSelectbox [role="group"], .stMultiSelect [role="group"]'
)
_FRAMES = f":is({_FIELDS}):has(input:focus-visible)"
_INSIDE = '[data-testid="stDataFrame"] canvas, [role="menuitem"], [role="option"]'
# What has the focus has one ring, wherever it is; of a field, its frame has it.
_RING = f"""
<style>
  :focus-visible, {_FRAMES}, .stCheckbox label:has(:focus-visible) {{
    outline: 2px solid var(--accent) !important;
    outline-offset: 2px !important;
    box-shadow: none !important;
  }}
  :is({_FIELDS}) input:focus-visible {{ outline: none !important; }}
  [data-testid="stMain"]:focus-visible {{ outline: none !important; }}
  [data-testid="stMain"]:focus-visible::before {{ content: none !important; }}
  {_FRAMES} {{ outline-offset: -1px !important; }}
  [data-testid="stMain"] button:focus-visible {{ outline-offset: 0 !important; }}
  :is({_INSIDE}):focus-visible {{ outline-offset: -2px !important; }}
</style>
"""
_EXPAND = '[data-testid="stExpandSidebarButton"]'


def style(page: Page, pages: Iterable[Page]) -> None:
    """Less padding than Streamlit's own, digits of one width, text that can be read, a ring around
    what has the focus; and the navigation says which of the pages is open.

    The looks of tables, words, bars and parts stand here too, once: with each of them a browser
    would clean them, and compute the style of the whole page anew.
    """
    theme = current_theme()
    words = WORDS.replace(".text-lines", ":is(.text-lines, .text-room)")
    looks = style_of(SCALES, theme) + words + BARS + PARTS
    st.html(_variables(theme) + _CSS + _RING + looks + _named(page, pages))


def _variables(theme: Theme) -> str:
    return f"<style>:root {{ {theme.variables}; }}</style>"


def _named(page: Page, pages: Iterable[Page]) -> str:
    """The name of the open page on its menu; where the menus are in the sidebar, beside the button
    that opens it.
    """
    groups = list(dict.fromkeys(each.group for each in sorted(pages, key=lambda each: each.order)))
    menu = f'[data-testid="stTopNav"] > :nth-child({groups.index(page.group) + 1})'
    return f"""
<style>
  {menu} [data-testid="stTopNavSection"] p::after {{
    content: " · {page.title}"; font-weight: 600;
  }}
  [data-testid="stHeader"]:not(:has([data-testid="stTopNav"])) {_EXPAND} {{ width: auto; }}
  [data-testid="stHeader"]:not(:has([data-testid="stTopNav"])) {_EXPAND}::after {{
    content: "{page.title}"; padding: 0 0.5rem; font-weight: 600;
  }}
</style>
"""
