"""A program on a pseudo-terminal: types into it and waits for what it shows or does."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

CONTROL = re.compile(rb"\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b\][^\x07]*\x07|\x1b[()=>].?")
KEYS_SECONDS = 1
"""Between a text and the key that sends it: programs take both at once for a paste."""


class Terminal:
    def __init__(self, command, directory, environment):
        self.shown = b""
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.chdir(directory)
            os.execvpe(command[0], command, {**environment, "TERM": "xterm-256color"})
        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.file)

    def read(self, seconds):
        """Takes in what is shown within this time."""
        if select.select([self.file], [], [], seconds)[0]:
            try:
                self.shown += os.read(self.file, 65536)
            except OSError:
                time.sleep(seconds)

    def text(self):
        return CONTROL.sub(b"", self.shown).decode(errors="replace")

    def wait_for(self, is_done, seconds):
        """Waits until a condition holds; returns whether it does."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read(2)
            if is_done():
                return True
        return False

    def type(self, line, when, seconds):
        """Types a line and sends it, once the screen shows a pattern."""
        self.wait_for(lambda: re.search(when, self.text().replace(" ", "")) or re.search(when, self.text()), seconds)
        self.wait_for(lambda: False, 3)
        os.write(self.file, line.encode())
        self.wait_for(lambda: False, KEYS_SECONDS)
        os.write(self.file, b"\r")
