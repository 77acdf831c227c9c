# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Runs a command with a terminal for its output and errors.

    python3 terminal.py COLUMNS COMMAND...

Prints what the command wrote there and ends as it ended. With 0 columns the
terminal does not tell how wide it is.
"""

import fcntl
import os
import struct
import subprocess
import sys
import termios

columns = int(sys.argv[1])
ours, theirs = os.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
mode = termios.tcgetattr(theirs)
mode[1] &= ~termios.OPOST  # a line ends as the program ends it
termios.tcsetattr(theirs, termios.TCSANOW, mode)
process = subprocess.Popen(
    sys.argv[2:], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs
)
os.close(theirs)
while True:
    try:
        text = os.read(ours, 65536)
    except OSError:  # the last writer is gone
        break
    if not text:
        break
    os.write(1, text)
sys.exit(process.wait())
