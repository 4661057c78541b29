#!/bin/sh
# Make .venv-cluster: what is in .venv, and ray beside it, which the project itself does not need.
#   sh tests/cluster/install.sh && .venv-cluster/bin/python -m pytest tests/cluster
set -eu
cd "$(dirname "$0")/../.."
base=$(.venv/bin/python -c 'import sys; print(sys._base_executable)')
own=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
"$base" -m venv --without-pip .venv-cluster
there=$(.venv-cluster/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
echo "$own" > "$there/project.pth"
# --no-deps: all else that they import is in .venv.
.venv/bin/python -m pip --python .venv-cluster/bin/python --disable-pip-version-check install \
    --quiet --no-deps --requirement tests/cluster/requirements.txt
