// Streamlit tells Python of the theme with each run, and asks for none when it changes: pictures
// would stay in the colours of the other one.

// Whether the server is to be told that another theme is shown than the one it draws in. asked: what
// it was told last, so that one that cannot follow is not asked again and again.
export function isNews(known, shown) {
  const { server, asked } = known;
  known.asked = shown === server ? "" : shown;
  return shown !== server && shown !== asked;
}
