# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Compiles the tools, and the libraries that gpumem-run preloads, for a wheel.

Which sources each has stands in the local.mk files of the tree, which are read
here. zlib and jansson are linked statically where the system has them so; where
their headers are missing all tools are left out. A folder in which `make` has
been run gives its object files, which are only linked anew, so that they look for
the library where the wheel has it.
"""

import os
import re
import shutil
from pathlib import Path

from gpumem_compile import C, TREE, archive, built, compile_all, compiles
from gpumem_compile import leave_out, left_out, link, link_program, run

FRAGMENTS = ["core", "tools", "tools/run", "tools/preload", "tools/layer"]
NAMES = ["bench", "conform", "keep", "probe", "replay", "report", "resume"]
NAMES += ["run", "suspend", "trace"]
# header: the library that goes with it, and Debian's package of both
NEEDED = {
    "jansson.h": ("jansson", "libjansson-dev"),
    "zlib.h": ("z", "zlib1g-dev"),
    "argp.h": (None, "libc6-dev"),
}
PRELOADED = {
    "libgpumem-preload.so": "tools_libgpumem_preload_la_SOURCES",
    "libgpumem-opencl-layer.so": "tools_libgpumem_opencl_layer_la_SOURCES",
}
LAYER = """#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_layer.h>
cl_icd_dispatch table;
"""


# ---- which sources -------------------------------------------------------------


def lists(true):
    """The variables of the fragments, where automake's conditions in `true` hold."""
    found = {}
    for name in FRAGMENTS:
        text = (TREE / name / "local.mk").read_text().replace("\\\n", " ")
        held = []
        for line in text.splitlines():
            about = re.match(r"(\w+) (\+?=)(.*)", line)
            if line.startswith("if "):
                held.append(line.split()[1] in true)
            elif line.startswith("endif"):
                held.pop()
            elif about and all(held):
                variable, sign, values = about.groups()
                before = found.get(variable, []) if sign == "+=" else []
                found[variable] = before + values.split()
    return found


def expanded(known, variable):
    """Its files."""
    files = []
    for word in known[variable]:
        inner = re.fullmatch(r"\$\((\w+)\)", word)
        files += expanded(known, inner.group(1)) if inner else [word]
    return files


def compiled(known, *variables):
    files = {x for each in variables for x in expanded(known, each)}
    return [TREE / x for x in sorted(files) if x.endswith(".c")]


def write_page(output, known):
    """tools/report/page_text.h, as tools/local.mk makes it."""
    text = ""
    for kind in ("css", "js"):
        text += f"static const char *const page_{kind}[] = {{\n"
        for file in expanded(known, "report_page"):
            if file.endswith(f".{kind}"):
                for line in (TREE / file).read_text().splitlines():
                    line = re.sub(r'([\\"])', r"\\\1", line)
                    text += f'"{line}\\n",\n'
        text += "NULL};\n"
    output.write_text(text)


# ---- what they need ---------------------------------------------------------------


def missing(work):
    """What is not here, in words; "" if all is."""
    absent = [
        f"no {header} ({package} in Debian)"
        for header, (_, package) in NEEDED.items()
        if not compiles(f"#include <stdio.h>\n#include <{header}>\n", [], work)
    ]
    return ", ".join(absent)


def libraries():
    """The linker's flags, and the Debian packages of those linked statically."""
    flags, inside = [], []
    for name, package in NEEDED.values():
        if name:
            static = run([*C, f"-print-file-name=lib{name}.a"]).strip()
            whole = os.path.isabs(static) and os.path.isfile(static)
            flags.append(static if whole else f"-l{name}")
            inside += [package] if whole else []
    return flags + ["-lpthread", "-ldl", "-lm"], inside


def licenses():
    """Of what is linked statically: {name: text}, where Debian keeps them."""
    found = {}
    for package in libraries()[1]:
        path = Path("/usr/share/doc", package, "copyright")
        if path.is_file():
            found[f"LICENSE.{package}"] = path.read_bytes()
    return found


# ---- compiling -----------------------------------------------------------------------


class Compiled:
    """Object files, compiled here. plugins: {name: its headers' flags}."""

    def __init__(self, plugins, work):
        self.work = work / "tools"
        self.work.mkdir()
        self.base = [f"-I{TREE / 'include'}", f"-I{TREE / 'core'}"]
        self.plugins = plugins
        held = {name.upper() for name in plugins}
        layer = self.flags_of("opencl") if "opencl" in plugins else []
        if layer and compiles(LAYER, layer, self.work):
            held.add("OPENCL_LAYER")
        self.held = held
        self.known = lists(held)
        self.absent = missing(self.work)

    def flags_of(self, plugin):
        return self.base + self.plugins[plugin]

    def common(self):
        self.flags = [*self.base, f"-I{TREE / 'tools'}", f"-I{self.work}"]
        write_page(self.work / "page_text.h", self.known)
        files = compiled(self.known, "libcommon_la_SOURCES")
        made = self.work / "libcommon.a"
        archive(made, compile_all(files, self.flags, self.work / "common"))
        return [made]

    def program(self, name):
        parts = [f"tools_gpumem_{name}_SOURCES"]
        flags = list(self.flags)
        if name == "report":
            parts.append("libreport_la_SOURCES")
        if name == "run":
            flags += ['-DPRELOAD_DIR="/usr/local/lib/gpumem"']
            conditions = [("CUDA", "CUDA"), ("HIP", "HIP")]
            conditions += [("OPENCL_LAYER", "OPENCL")]
            flags += [f"-DRUN_{b}" for a, b in conditions if a in self.held]
        files = compiled(self.known, *parts)
        return compile_all(files, flags, self.work / name)

    def preloaded(self, output):
        flags = self.base + ["-fno-semantic-interposition"]
        for name in sorted(self.held & {"CUDA", "HIP"}):
            flags += [*self.plugins[name.lower()], f"-DPRELOAD_{name}"]
        if self.held & {"CUDA", "HIP"}:
            self.library(output, "libgpumem-preload.so", flags)
        if "OPENCL_LAYER" in self.held:
            flags = self.flags_of("opencl") + ["-fno-semantic-interposition"]
            self.library(output, "libgpumem-opencl-layer.so", flags)

    def library(self, output, name, flags):
        files = compiled(self.known, PRELOADED[name])
        made = compile_all(files, flags, self.work / f"of-{name}")
        end = ["-Wl,-z,now", "-Wl,-z,nodelete", "-lpthread", "-ldl"]
        link(output / name, made, *end)


class Built:
    """Those of a folder in which `make` has been run."""

    def __init__(self, folder):
        self.folder = folder
        found = list(self.folder.glob("tools/gpumem_probe-*.o"))
        self.absent = "" if found else f"{folder} was configured without them"

    def common(self):
        return [self.folder / ".libs/libcommon.a"]

    def program(self, name):
        # Other builds may lie in the folder, too.
        found = [
            path
            for part in ("tools", "core")
            for path in (self.folder / part).rglob(f"*gpumem_{name}-*.o")
        ]
        extra = [self.folder / ".libs/libreport.a"] if name == "report" else []
        return sorted(found) + extra

    def preloaded(self, output):
        for path in (self.folder / "tools/.libs").glob("libgpumem-*.so"):
            shutil.copy(path, output)


def make_run(made, preload):
    """Whether there is anything that gpumem-run could follow."""
    try:
        made.preloaded(preload)
    except SystemExit as why:
        leave_out("gpumem-run", f"the vendors' headers are too old for it\n{why}")
        return False
    if not list(preload.glob("*.so")):
        leave_out("gpumem-run", "there are no headers of CUDA, HIP or OpenCL")
    return "gpumem-run" not in left_out


def make_tools(output, library, plugins, work):
    """The tools in the folder; what gpumem-run preloads beside the plugins."""
    folder = built()
    made = Built(folder) if folder else Compiled(plugins, work)
    names = NAMES
    if not made.absent and not make_run(made, library / "gpumem"):
        names = [x for x in NAMES if x != "run"]
    if made.absent:
        for name in NAMES:
            leave_out(f"gpumem-{name}", made.absent)
        return
    output.mkdir()
    flags = [f"-L{library}", "-l:libgpumem.so.0", "-Wl,-rpath,$ORIGIN/../lib"]
    flags += libraries()[0]
    common = None
    for name in names:
        try:
            common = common or made.common()
            objects = made.program(name) + common
            link_program(output / f"gpumem-{name}", objects, *flags)
        except SystemExit as why:
            # The library is of use without it.
            leave_out(f"gpumem-{name}", f"it cannot be compiled here\n{why}")
