"""Every app of this folder and of the benches, from one server: ?app=cell is cell.py."""

import runpy
from pathlib import Path

import streamlit as st

FOLDERS = Path(__file__).parent, Path(__file__).parents[2] / "bench" / "apps"

files = (folder / f"{st.query_params['app']}.py" for folder in FOLDERS)
runpy.run_path(str(next(file for file in files if file.is_file())), run_name="__main__")
