"""The talks that are shipped: what each is about, its scenes, and what gives it."""

from viz.app_packages import st
from viz.labels import literal
from viz.pages.stories.links import anchor, draw_links, save_page
from viz.stories.markdown import as_html
from viz.stories.shipped import stories_of
from viz.stories.story import Story
from viz.talks.story_words import draw_words

_STYLE = """
<style>
  .contents { columns: 17rem 3; gap: 2rem; margin: 0; padding: 0 0 0 1.6rem; }
  .contents li { margin: 0; padding: 0.2rem 0; break-inside: avoid; }
  .contents li::marker { color: var(--dim); }
  .contents a:not(:hover, :focus-visible) { color: inherit; text-decoration: none; }
</style>
"""


def draw_talks() -> None:
    """A card for each of them."""
    for story in stories_of("talk"):
        with st.container(border=True):
            st.subheader(literal(story.title), anchor=False)
            draw_words(as_html(story.introduction))
            with st.container(horizontal=True, vertical_alignment="center"):
                draw_links(story)
                save_page(story)
            st.html(_contents(story))


def _contents(story: Story) -> str:
    """All headings, each a link that reads it."""
    links = (
        anchor(story.screen_of(number), scene.heading)
        for number, scene in enumerate(story.scenes, 1)
    )
    items = "".join(f"<li>{link}</li>" for link in links)
    return f'{_STYLE}<nav aria-label="Contents"><ol class="contents">{items}</ol></nav>'
