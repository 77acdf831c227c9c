# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Compiles the subclass of PyTorch's allocator for a wheel, for PyTorchs that need
not be here: only their headers.

A folder for each has include/ and version.py: one of tests/torch_fetch.sh, or an
installed PyTorch's. What is made links empty libraries with the names of PyTorch's,
whose functions are looked for when it is loaded. Of Python's it needs only STABLE,
so one serves all of its versions. gpumem/_torch_prebuilt.py says which is taken.
"""

import json
import os
import re
import shutil
import sysconfig
import types
from pathlib import Path

from gpumem_compile import HERE, TREE, run, words

ABI = 1  # of C++'s library, in all wheels of PyTorch's since 2.7
STUBS = ["c10", "c10_cuda", "torch_cpu", "torch_cuda"]
# Functions of Python's stable ABI, as foreign.cpp declares them.
STABLE = {
    "Py_IsInitialized",
    "PyErr_Clear",
    "PyErr_Fetch",
    "PyErr_Restore",
    "PyGILState_Ensure",
    "PyGILState_Release",
}


def module(name):
    """One of the package's that needs nothing of it. Nothing is written beside it:
    it would be in the wheel."""
    path = HERE / f"gpumem/{name}.py"
    made = types.ModuleType(name)
    exec(compile(path.read_text(), str(path), "exec"), made.__dict__)
    return made


compiling = module("_torch_compile")
prebuilt = module("_torch_prebuilt")


def cuda_headers():
    """The folder, and CUDA's version as "13.0"."""
    for place in ("$CUDA_HOME", "$CUDA_PATH", "/usr/local/cuda"):
        include = Path(os.path.expandvars(place), "include")
        if not (include / "crt/host_config.h").is_file():
            continue
        text = (include / "cuda_runtime_api.h").read_text(errors="replace")
        number = int(re.search(r"define CUDART_VERSION +(\d+)", text).group(1))
        return include, f"{number // 1000}.{number % 1000 // 10}"
    raise SystemExit(
        "gpumem: --torch needs the headers of CUDA's runtime: set CUDA_HOME"
    )


def version_of(folder):
    """PyTorch's version, and the commit that it was built from."""
    path = Path(folder, "version.py")
    try:
        text = path.read_text()
        found = [
            re.search(rf"^{name}\b[^=\n]*= *'([^']+)'", text, re.M).group(1)
            for name in ("__version__", "git_version")
        ]
    except (OSError, AttributeError):
        raise SystemExit(
            f"gpumem: {path} does not say which PyTorch that is: fetch it by "
            "tests/torch_fetch.sh"
        ) from None
    return found


def stage_sources(folder):
    shutil.copytree(HERE / "src/subclass", folder)
    (folder / "gpumem").mkdir()
    shutil.copy(TREE / "include/gpumem/gpumem.h", folder / "gpumem")
    return folder


def used_headers(line, sources, include):
    """Of PyTorch, by their names in its folder."""
    files = [str(x) for x in sorted(sources.glob("*.cpp"))]
    text = run([*line, f"-I{sources}", "-M", *files])
    root = f"{include}/"
    found = {x[len(root) :] for x in text.split() if x.startswith(root)}
    return sorted(found - {prebuilt.GENERATED})


def stubs(folder, compiler):
    folder.mkdir()
    for name in STUBS:
        line = [*compiler, "-shared", "-x", "c", "/dev/null"]
        line += [f"-Wl,-soname,lib{name}.so", "-o", f"{folder}/lib{name}.so"]
        run(line)
    line = [f"-L{folder}", "-Wl,--no-as-needed", *(f"-l{x}" for x in STUBS)]
    return line + ["-Wl,--as-needed", "-Wl,-z,undefs"]


def needs_python(library):
    text = run([os.environ.get("OBJDUMP", "objdump"), "-T", str(library)])
    found = re.findall(r"\*UND\*.* (_?Py\w+)$", text, re.M)
    return sorted(set(found) - STABLE)


def make_one(folder, output, library, work):
    """The library for the PyTorch of that folder, and its record."""
    version, git = version_of(folder)
    include = Path(folder, "include").resolve()
    cuda, cuda_version = cuda_headers()
    compiler = words("CXX", "c++")
    work.mkdir()
    generated = work / "generated" / prebuilt.GENERATED
    generated.parent.mkdir(parents=True)
    generated.write_text("#define C10_CUDA_BUILD_SHARED_LIBS\n")
    places = [include, include / "torch/csrc/api/include", work / "generated"]
    places += [cuda, sysconfig.get_path("include")]
    line = [*compiler, *prebuilt.OPTIONS, f"-D_GLIBCXX_USE_CXX11_ABI={ABI}"]
    line += [x for place in places for x in ("-isystem", str(place))]
    sources = stage_sources(work / "sources")
    names = used_headers(line, sources, include)
    link = stubs(work / "stubs", compiler)
    link += [f"-L{library}", "-l:libgpumem.so.0"]
    (work / "made").mkdir()
    try:
        made = compiling.build(line, link, sources, work / "made")
    except compiling.Failed as why:
        raise SystemExit(f"gpumem: for PyTorch {version}: {why}") from None
    python = needs_python(made)
    if python:
        raise SystemExit(f"gpumem: the subclass needs {', '.join(python)}")
    facts = prebuilt.facts(version, git, ABI, cuda_version)
    facts.update(headers=names, digest=prebuilt.digest(include, names))
    name = f"torch-{facts['torch']}-cu{facts['cuda']}"
    shutil.copy(made, output / f"{name}.so")
    (output / f"{name}.json").write_text(json.dumps(facts) + "\n")
    print(f"gpumem: the subclass for PyTorch {version} is made")


def make_prebuilt(output, folders, library, work):
    """One for each of the folders, into output."""
    if not folders:
        return
    output.mkdir()
    for number, folder in enumerate(folders):
        make_one(folder, output, library, work / f"subclass-{number}")
