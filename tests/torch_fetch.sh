#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# torch_fetch.sh FOLDER VERSION...: PyTorch's headers for torch_headers.sh, into
# FOLDER/VERSION/include, and its version.py, by `pip download`; what is there
# already stays. From the wheels for macOS: these are a fourth of those for CUDA,
# and have the same headers. Prints what GPUMEM_TORCH_HEADERS is to be.

set -e
if [ $# -lt 2 ]; then
	echo "usage: $0 FOLDER VERSION..." >&2
	exit 2
fi
folder=$1
shift
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
wheels=$(mktemp -d)
trap 'rm -rf "$wheels"' EXIT
trap 'exit 1' HUP INT TERM
python=${PYTHON:-python3}

# download VERSION
download()
{
	for platform in macosx_14_0_arm64 macosx_11_0_arm64; do
		! "$python" -m pip download -q --no-deps --only-binary=:all: \
			--python-version 312 --platform "$platform" \
			-d "$wheels" "torch==$1" || return 0
	done
	return 1
}

all=
for version; do
	if [ ! -f "$folder/$version/version.py" ]; then
		download "$version"
		"$python" - "$wheels" "$folder/$version.part" <<'END'
import sys, zipfile
from pathlib import Path

(wheel,) = Path(sys.argv[1]).glob("*.whl")
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        wanted = name.startswith("torch/include/") or name == "torch/version.py"
        if wanted and ".." not in name:
            path = Path(sys.argv[2], name[len("torch/") :])
            path.parent.mkdir(parents=True, exist_ok=True)
            if not name.endswith("/"):
                path.write_bytes(archive.read(name))
wheel.unlink()
END
		rm -rf "${folder:?}/$version"
		mv "$folder/$version.part" "$folder/$version"
	fi
	all=$all${all:+:}$folder/$version/include
done
echo "GPUMEM_TORCH_HEADERS=$all"
