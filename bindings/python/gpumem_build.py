# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Builds the Python package: a backend of PEP 517 that needs nothing.

The distribution is gpumem-pool, its module gpumem.

A wheel carries the library, the plugins whose vendor's headers are there, the
tools if zlib and jansson are, and extension modules for every Python from 3.9 on
(abi3). What was left out, and why, is in its module gpumem._built. A source
distribution carries the C sources too, in tree/, and needs nothing of this one.
With GPUMEM_BUILD=FOLDER, in which `make` has been run, library, plugins and tools
are taken from there, else they are compiled here; a relative one is in the tree.
What is not here: an editable installation.
"""

import base64
import glob
import hashlib
import os
import re
import shutil
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from pathlib import Path

import gpumem_prebuild
import gpumem_tag
import gpumem_tools
from gpumem_compile import C, CXX, HERE, TREE, built, compile_all, leave_out
from gpumem_compile import left_out, link, sources

PACKAGE = sorted([*HERE.glob("gpumem/**/*.py*"), HERE / "gpumem/py.typed"])
EXTENSION = "_core.abi3.so"
TORCH = "_torch.abi3.so"  # left out where there is no C++ compiler
EPOCH = 1767225600  # of files in archives: the same sources, the same archive

# On PyPI `gpumem` is somebody else's tool, which has no module of that name.
NAME = "gpumem-pool"
FILE_NAME = NAME.replace("-", "_")  # in the names of archives and folders

# Of vLLM's, which calls it in each of its processes.
PLUGIN = "\n[vllm.general_plugins]\ngpumem = gpumem.vllm:register\n"

torch_folders = []  # of PyTorchs for which the subclass is compiled now

METADATA = """Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: A fast pool of GPU memory for any vendor, which gives memory back
License: MIT
Requires-Python: >=3.9
Classifier: License :: OSI Approved :: MIT License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C
Classifier: Programming Language :: Python :: 3
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

Devices, pools and buffers of GPU memory on NVIDIA, AMD and OpenCL devices, and
on a simulated one; buffers speak DLPack and `__cuda_array_interface__`.
"""


def header(name):
    path = TREE / "include" / "gpumem" / name
    if not path.is_file():
        raise SystemExit(
            f"gpumem: {path} is missing: pip before 21.3 copies the folder "
            "away from the sources; use a newer pip, or build a wheel first"
        )
    return path.read_text()


def defined(name, pattern):
    return re.search(pattern, header(name), re.M).group(1)


def version():
    return defined("gpumem.h", r'^#define GPUMEM_VERSION_STRING "(.*)"')


def plugin_folder():
    abi = defined("backend.h", r"^#define GPUMEM_BACKEND_ABI (\d+)u")
    return f"gpumem/abi-{abi}"


# ---- compiling ---------------------------------------------------------------


def check_needs():
    """What is missing is told before minutes are spent."""
    folder = built()
    if folder and not (folder / ".libs/libgpumem.so.0").is_file():
        raise SystemExit(
            f"gpumem: {folder}, which GPUMEM_BUILD names, has no library: run "
            "make there before"
        )
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise SystemExit(
            "gpumem: this Python is free-threaded and lacks the stable interface "
            "abi3, which the package needs: use one that is not"
        )
    python = sysconfig.get_path("include")
    if not os.path.isfile(f"{python}/Python.h"):
        raise SystemExit(
            f"gpumem: {python}/Python.h is missing: install the headers of "
            "Python (python3-dev in Debian)"
        )
    if not shutil.which(C[0]):
        raise SystemExit(
            f"gpumem: there is no C compiler {C[0]}: install one (gcc and "
            "libc6-dev in Debian), or name it in CC"
        )


def compile_library(output, work):
    folder = plugin_folder()
    core = TREE / "core"
    parts = ["core", "backends/host"]
    parts += sorted(f"core/{x.name}" for x in core.iterdir() if x.is_dir())
    flags = [f"-I{TREE / 'include'}", f"-I{core}"]
    flags += [f'-DGPUMEM_PLUGIN_SUBDIR="{folder}"']
    flags += [f'-DGPUMEM_PLUGIN_DIR="/usr/local/lib/{folder}"']
    link(
        output / "libgpumem.so.0",
        compile_all(sources(*parts), flags, work / "library"),
        "-Wl,-soname,libgpumem.so.0",
        f"-Wl,--version-script={core / 'gpumem.map'}",
        "-Wl,-z,nodelete",
        "-lpthread",
        "-ldl",
    )


# name: where its headers may be, one of them, further folders of sources, flags,
# a word that it has if it is new enough
PLUGINS = {
    "cuda": (
        ["$CUDA_HOME", "$CUDA_PATH", "/usr/local/cuda", "/usr", "/opt/cuda"]
        + [sysconfig.get_path("purelib") + "/nvidia/*"]
        + ["$CONDA_PREFIX", "$CONDA_PREFIX/targets/*"],
        "cudaTypedefs.h",
        ["backends/common/gpu"],
        [],
        "PFN_cuDeviceGetUuid_v11040",
    ),
    "hip": (
        ["$ROCM_PATH", "$HIP_PATH", "/opt/rocm", "/usr"],
        "hip/hip_runtime_api.h",
        ["backends/common/gpu"],
        ["-D__HIP_PLATFORM_AMD__"],
        "hipMemUnmap",
    ),
    "opencl": (
        ["/usr", "/usr/local", "/usr/local/cuda", "/opt/rocm"],
        "CL/cl_layer.h",
        [],
        [],
        "CL_LAYER_NAME",
    ),
}


def include_flags(name):
    """The vendor's headers, or our own declarations. None: neither is here."""
    places, file, _, flags, word = PLUGINS[name]
    for pattern in map(os.path.expandvars, places):
        for place in sorted(glob.glob(pattern)):
            path = Path(place, "include", file)
            if path.is_file() and word in path.read_text(errors="replace"):
                # What is with the system's headers is found anyway.
                found = ["-isystem", f"{place}/include"]
                return flags + found * (place != "/usr")
    own = TREE / "backends" / "vendor" / name
    if own.is_dir():
        return [*flags, "-isystem", str(own)]
    return None


def compile_plugin(name, output, work):
    flags = include_flags(name)
    if flags is None:
        leave_out(name, f"no {PLUGINS[name][1]}")
        return
    flags += [f"-I{TREE / 'include'}", f"-I{TREE / 'backends' / name}"]
    parts = [f"backends/{name}", *PLUGINS[name][2]]
    try:
        made = compile_all(sources(*parts), flags, work / name)
        link(output / f"{name}.so", made, "-lpthread", "-ldl")
    except SystemExit as why:
        leave_out(name, f"its headers are too old\n{why}")


def make_library(output, work):
    """The library and its plugins in the folder."""
    plugins = output / plugin_folder()
    plugins.mkdir(parents=True)
    folder = built()
    if folder:
        shutil.copy(folder / ".libs/libgpumem.so.0", output)
        for plugin in (folder / ".libs" / plugin_folder()).glob("*.so"):
            shutil.copy(plugin, plugins)
        for name in PLUGINS:
            if not (plugins / f"{name}.so").is_file():
                leave_out(name, f"{folder} was configured without it")
        return
    compile_library(output, work)
    for name in PLUGINS:
        compile_plugin(name, plugins, work)


def made_plugins(library):
    """{name: the flags that find its headers} of those in the folder."""
    made = {x.stem for x in (library / plugin_folder()).glob("*.so")}
    return {name: include_flags(name) or [] for name in PLUGINS if name in made}


def make_extensions(output, library, work):
    """Both modules in the folder; the names of those that were made."""
    python = sysconfig.get_path("include")
    flags = [f"-I{TREE / 'include'}", f"-I{python}", "-Wall", "-Wextra"]
    # The symbols of Python are those of the program.
    beside = ["-Wl,-z,undefs", "-l:libgpumem.so.0", f"-L{library}"]
    beside += ["-Wl,-rpath,$ORIGIN/lib"]
    parts = sorted(HERE.glob("src/*.c"))
    made = compile_all(parts, flags, work / "extension")
    link(output / EXTENSION, made, *beside)
    if not shutil.which(CXX[0]):
        leave_out("gpumem.torch", f"there is no {CXX[0]}")
        return [EXTENSION]
    parts = sorted(HERE.glob("src/torch/*.cpp"))
    made = compile_all(parts, flags, work / "torch", CXX)
    link(output / TORCH, made, *beside, "-ldl", base=CXX)
    return [EXTENSION, TORCH]


# ---- archives ------------------------------------------------------------------


def info_files(tag):
    wheel = "Wheel-Version: 1.0\nGenerator: gpumem_build\n"
    wheel += f"Root-Is-Purelib: false\nTag: {tag}\n"
    return {
        "METADATA": METADATA.format(name=NAME, version=version()).encode(),
        "WHEEL": wheel.encode(),
        "LICENSE": (TREE / "LICENSE").read_bytes(),
    }


class Wheel:
    """A zip file with its RECORD."""

    def __init__(self, path):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.record = []

    def add(self, name, data, mode=0o644):
        entry = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
        entry.external_attr = (0o100000 | mode) << 16
        self.zip.writestr(entry, data, zipfile.ZIP_DEFLATED)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
        text = digest.decode().rstrip("=")
        self.record.append(f"{name},sha256={text},{len(data)}")

    def close(self, info):
        lines = [*self.record, f"{info}/RECORD,,", ""]
        self.zip.writestr(f"{info}/RECORD", "\n".join(lines))
        self.zip.close()


def info_name():
    return f"{FILE_NAME}-{version()}.dist-info"


def prepare_metadata_for_build_wheel(folder, config_settings=None):
    info = Path(folder, info_name())
    info.mkdir()
    # What the wheel will need of the system is not known yet.
    for name, data in info_files(gpumem_tag.tag([])).items():
        (info / name).write_bytes(data)
    return info.name


def made_files(work):
    """{name in the wheel: path} of all that is compiled."""
    check_needs()
    package = work / "gpumem"
    library = package / "lib"
    make_library(library, work)
    for name in make_extensions(package, library, work):
        print(f"gpumem: {name} is made")
    gpumem_tools.make_tools(
        package / "bin", library, made_plugins(library), work
    )
    gpumem_prebuild.make_prebuilt(
        package / "prebuilt", torch_folders, library, work
    )
    found = sorted(x for x in package.rglob("*") if x.is_file())
    return {str(x.relative_to(work)): x for x in found}


def built_text(tag, needs):
    """The module gpumem._built."""
    return (
        '"""How this package was built."""\n'
        f"TAG = {tag!r}\nLEFT_OUT = {left_out!r}\nNEEDS = {needs!r}\n"
    )


def add_plain(wheel):
    """What is not compiled."""
    for path in PACKAGE:
        wheel.add(str(path.relative_to(HERE)), path.read_bytes())
    for path in sorted(HERE.glob("src/subclass/*.*")):
        wheel.add(f"gpumem/subclass/{path.name}", path.read_bytes())
    text = header("gpumem.h").encode()
    wheel.add("gpumem/subclass/gpumem/gpumem.h", text)
    path = TREE / "tools/adopt/sitecustomize.py"
    wheel.add(f"gpumem/lib/gpumem/adopt/{path.name}", path.read_bytes())
    path = HERE / "gpumem_command.py"
    wheel.add(path.name, path.read_bytes())
    commands = [f"gpumem-{x} = {path.stem}:main\n" for x in gpumem_tools.NAMES]
    text = "".join(["[console_scripts]\n", *commands, PLUGIN])
    wheel.add(f"{info_name()}/entry_points.txt", text.encode())


def build_wheel(folder, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory() as temporary:
        files = made_files(Path(temporary))
        code = {k: x for k, x in files.items() if x.suffix != ".json"}
        needs = gpumem_tag.outside(code)
        tag = gpumem_tag.tag(code.values())
        name = f"{FILE_NAME}-{version()}-{tag}.whl"
        wheel = Wheel(Path(folder, name))
        add_plain(wheel)
        wheel.add("gpumem/_built.py", built_text(tag, needs).encode())
        for inside, path in files.items():
            mode = 0o755 if inside in code else 0o644
            wheel.add(inside, path.read_bytes(), mode)
    info = {**info_files(tag), **gpumem_tools.licenses()}
    for file, data in info.items():
        wheel.add(f"{info_name()}/{file}", data)
    wheel.close(info_name())
    for what, whole in needs.items():
        print(f"gpumem: {what} needs {', '.join(whole)} of the system")
    return name


def carried():
    """(path, name in the archive) of all that a source distribution has."""
    own = ["pyproject.toml", "gpumem_*.py", "src/*.[ch]", "src/torch/*"]
    own += ["src/subclass/*"]
    own += ["tests/*.py", "tests/*.cpp"]
    for path in PACKAGE + sorted(x for y in own for x in HERE.glob(y)):
        yield path, path.relative_to(HERE)
    for folder in ("core", "backends", "include", "tools"):
        for path in sorted((TREE / folder).rglob("*")):
            if path.suffix in (".c", ".h", ".map", ".mk", ".css", ".js", ".py"):
                yield path, Path("tree") / path.relative_to(TREE)
    yield TREE / "LICENSE", Path("tree/LICENSE")


def build_sdist(folder, config_settings=None):
    base = f"{FILE_NAME}-{version()}"

    def plain(entry):
        entry.mtime = EPOCH
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        return entry

    path = Path(folder, f"{base}.tar.gz")
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for file, name in carried():
            archive.add(file, f"{base}/{name}", filter=plain)
        with tempfile.TemporaryDirectory() as temporary:
            info = Path(temporary, "PKG-INFO")
            info.write_text(METADATA.format(name=NAME, version=version()))
            archive.add(info, f"{base}/PKG-INFO", filter=plain)
    return path.name


USAGE = """usage: gpumem_build.py wheel [--complete] [--torch=DIR]... FOLDER
       gpumem_build.py sdist FOLDER"""


def main(arguments):
    whole = "--complete" in arguments
    torchs = [x for x in arguments if x.startswith("--torch=")]
    words = [x for x in arguments if x != "--complete" and x not in torchs]
    torch_folders.extend(x.partition("=")[2] for x in torchs)
    if len(words) != 2 or words[0] not in ("wheel", "sdist"):
        sys.exit(USAGE)
    if words[0] == "sdist" and torchs:
        sys.exit(USAGE)
    build = build_wheel if words[0] == "wheel" else build_sdist
    os.makedirs(words[1], exist_ok=True)
    print(build(words[1]))
    if whole and left_out:
        sys.exit(f"gpumem: not complete without {', '.join(left_out)}")


if __name__ == "__main__":
    main(sys.argv[1:])
