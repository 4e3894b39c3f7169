"""A program on a pseudo-terminal: types into it and waits for what it shows or does. Every wait is for a state, with a limit."""

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
POLL_SECONDS = 0.5
"""How often a condition is looked at while the program shows nothing."""
ENTER_SECONDS = 5
"""After this time without effect the key is pressed again: a program that has just started may have missed it."""


class Terminal:
    def __init__(self, command, directory, environment):
        self.shown = b""
        self.is_open = True
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

    def read(self):
        """Takes in what is shown next."""
        if not self.is_open:
            time.sleep(POLL_SECONDS)
        elif select.select([self.file], [], [], POLL_SECONDS)[0]:
            try:
                self.shown += os.read(self.file, 65536)
            except OSError:
                self.is_open = False

    def text(self):
        """Everything that was shown so far, without spaces: programs move the cursor over them instead of printing them."""
        return re.sub(r"\s", "", CONTROL.sub(b"", self.shown).decode(errors="replace"))

    def wait_for(self, is_done, seconds):
        """Waits until a condition holds; returns whether it does."""
        end = time.monotonic() + seconds
        while not is_done():
            if time.monotonic() > end:
                return False
            self.read()
        return True

    def shows(self, text):
        return lambda: re.sub(r"\s", "", text) in self.text()

    def send(self, line, is_sent, seconds):
        """Types a line, and presses Enter once the program shows it, until `is_sent`. Programs take both at once for a paste."""
        end = time.monotonic() + seconds
        os.write(self.file, line.encode())
        self.wait_for(self.shows(line), seconds)
        while not is_sent() and time.monotonic() < end:
            os.write(self.file, b"\r")
            self.wait_for(is_sent, ENTER_SECONDS)
        return is_sent()
