"""Browser components (Streamlit components v2): a folder each; kit/ is what they share."""
