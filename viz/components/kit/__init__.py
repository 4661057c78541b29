"""Shared parts of the components: packing, colours, scripts, thumbnails.

Browser files import what they use, as anywhere. Streamlit takes one text per component, so
`browser.py` follows the imports of `index.js` and puts all files into one script, each as a
function of its own; the `.css` beside a file comes with it. The components of the first screen are
sent as one file, all others as another.

A component draws what a person does at once, and the server hears of it later: which of the two is
right is settled by a number. Each change in the browser has the next number of its window
(`sync.js`); the session keeps the largest one that each component has told (`sync.py`), and the
component's data carries it. While a component's last change has a larger number, it keeps its own
state; otherwise the server's word is taken.

What is shown is one frozen `Picture`: `payload(recording, decoding)` packs the numbers,
`data(payload, theme, ...)` adds colours and what moves over them, `says(...)` is a sentence for
those who do not see it. Pages, previews, the notebook and files make the same value. Components
tell each other of a token that is pointed at by one event, without the server.
"""
