"""Browser-side components (Streamlit components v2): one Python file, one .js and one .css each."""
