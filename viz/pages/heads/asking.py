"""A question about heads: in words, as who links “it” to “animal”?, or by cells that are drawn."""

from dataclasses import replace

from transformer.corpus.questions import GRAMMAR, ask
from viz.app_packages import st
from viz.fields.heads import HeadsFields
from viz.labels import literal
from viz.pages.heads.answers import NAME, answers_to
from viz.pages.heads.drawing import draw_cells, say_understood
from viz.run.request import answer
from viz.state.page import Exhibits, Pane
from viz.state.requests import first_example
from viz.state.state import bound
from viz.ui.columns import below, columns
from viz.ui.progress import paid
from viz.ui.showing import show_declared

EXAMPLE = "who looks at the previous word?"


def ask_heads(pane: Pane) -> None:
    """Draw the question and the sentence, and the heads that answer it."""
    question = pane.screen.of(HeadsFields).heads_ask
    text, first = pane.request.text, first_example(pane.request.checkpoint)
    left, right = st.columns(2)
    with left:
        st.text_input("Question", question, placeholder=EXAMPLE, **bound("heads_ask", question))
    with right:
        st.text_input("Sentence", text, **bound("text", text, first))
    result = paid(pane.request, st.empty())  # a page of a checkpoint comes with a token only
    if result is None:
        return
    pane = replace(pane, result=result)
    map, answers = columns([4, 8], wall=[0.01, 1], gap="large")  # nobody draws on a wall
    with map:
        below(draw_cells, pane)
    with answers:
        if not question.strip():
            st.caption(literal(f"Draw cells on the map, or ask in words: {GRAMMAR}."))
        below(say_understood, pane)
        show_declared(pane, exhibits_of_question)


def exhibits_of_question(pane: Pane) -> Exhibits:
    """The heads that do it on the sentence, with how often they do on others. Raises Refusal."""
    question = pane.screen.of(HeadsFields).heads_ask
    if not question.strip():
        return {}
    pane = replace(pane, result=answer(pane.request))
    return {NAME: answers_to(pane, ask(question))}
