"""Every app of this folder, from one server: ?app=cell is cell.py, with the rest of the address."""

import runpy
from pathlib import Path

import streamlit as st

runpy.run_path(str(Path(__file__).with_name(f"{st.query_params['app']}.py")), run_name="__main__")
