# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Types lines into a shell on a terminal, one after each of its prompts.

    python3 shell.py SHELL [ARGUMENT...] <LINES

A tab in a line is the key that completes. Before each prompt the shell must print
"READY>": a prompt itself may be drawn again.
"""

import os
import pty
import signal
import sys

signal.alarm(60)
lines = sys.stdin.read().splitlines()
child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
seen = b""
while True:
    try:
        text = os.read(terminal, 65536)
    except OSError:
        break
    if not text:
        break
    seen += text
    if b"READY>" in seen:
        seen = b""
        line = lines.pop(0) if lines else "exit"
        os.write(terminal, line.encode() + b"\n")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
