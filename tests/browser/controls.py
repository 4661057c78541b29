"""python -m tests.browser.controls: how many controls each page shows before any click, for the
first visit of somebody and for whoever has opened all of them.
"""

from itertools import product

from playwright.sync_api import Page, sync_playwright

from tests.browser.server import DESKTOP, FIRST_VISIT, PHONE, SEES_ALL, at_rest, launch, serve

COUNT = """() => {
  const CONTROLS = 'a[href], button, select, input, textarea, summary, [role="radio"], [role="switch"], [role="tab"], [role="slider"], [role="menuitem"]';
  const WORDS = '.token, .word, [data-side], .cell, .candidate, td, th, .modebar, [data-testid="stElementToolbar"]';
  const seen = new Set(), found = [], terms = [];
  const within = (node, selector) => {
    for (let at = node; at; at = at.parentNode ?? at.host) if (at.matches?.(selector)) return at;
    return null;
  };
  const walk = (root) => {
    for (const node of root.querySelectorAll('*')) {
      if (node.shadowRoot) walk(node.shadowRoot);
      const isTerm = node.matches('.term');
      if (!isTerm && !node.matches(CONTROLS)) continue;
      const box = node.getBoundingClientRect();
      if (!box.width || !box.height || box.top >= innerHeight || box.bottom <= 0 || box.left >= innerWidth || box.right <= 0) continue;
      if (!node.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      if (isTerm) { terms.push(node.textContent); continue; }
      if (within(node, WORDS) && !within(node, '.stSelectbox')) continue;
      if (within(node, '[inert]') || node.disabled) continue;
      const whole = within(node, '.stSelectbox, .stNumberInput, .stTextInput, .stCheckbox, label') ?? node;
      if (seen.has(whole)) continue;
      seen.add(whole);
      found.push((node.getAttribute('aria-label') || node.textContent || node.title || node.localName).trim().slice(0, 40));
    }
  };
  walk(document);
  return [found, terms];
}"""


def controls(page: Page) -> tuple[list[str], list[str]]:
    """Return the names of what can be pressed in the first window, and of words with a card.

    Words of the text, squares of heads, cells of tables and tools of charts are left out.
    """
    found, terms = page.evaluate(COUNT)
    return found, terms


PAGES = (
    "", "decode", "compare", "experiment", "heads", "positions", "training", "inspect", "lessons",
    "gallery", "stories", "masks", "why_attention",
)  # fmt: skip
"""Their addresses; the first one is that of Explore."""


def main() -> None:
    """Print a line for each page: its controls and terms on a desktop and on a phone."""
    with serve() as address, sync_playwright() as playwright:
        browser = launch(playwright)
        print("page            desktop  first visit  phone  first visit   (controls + terms)")
        for path in PAGES:
            counts = []
            for size, script in product((DESKTOP, PHONE), (SEES_ALL, FIRST_VISIT)):
                page = browser.new_context(viewport=size).new_page()
                page.add_init_script(script)
                page.goto(f"{address}/{path}")
                at_rest(page)
                found, terms = controls(page)
                counts.append(f"{len(found):3d} + {len(terms):2d}")
                page.close()
            print(f"{path or 'explore':15s} {'    '.join(counts)}")
        browser.close()


if __name__ == "__main__":
    main()
