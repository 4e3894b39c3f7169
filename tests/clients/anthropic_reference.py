"""Compares the anthropic dialect with the official Python implementation of Anthropic's memory tool.

    anthropic_reference.py SEED COUNT COMMAND [ARGUMENT...]

Runs COUNT random commands against both, memdir over standard input and output, and prints a JSON list of the commands that
were answered differently. The server works on the directory in MEMDIR_DIR. At the end the two directories are compared.

Not compared are the sizes of directories, which depend on the file system, and the words of errors that the reference
does not word itself.
"""

import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from anthropic.tools import BetaLocalFilesystemMemoryTool, ToolError

NAMES = ["a.md", "b.txt", "c", ".hidden", "é.md"]
FOLDERS = ["d", "d/e", "d/e/f", "g", ".h"]
LINES = ["", "one", "two words", "aa", "aaaa", "\tx", "é", "last\r", "\r"]


class Memdir:
    """A server over standard input and output."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.last = 0
        client = {"name": "reference", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params})
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.last:
                return answer["result"]

    def call(self, command):
        result = self.ask("tools/call", {"name": "memory", "arguments": command})
        return result["content"][0]["text"], bool(result.get("isError"))


def reference(tool, command):
    """The answer of the reference; its text is None for an error that it does not word."""
    try:
        return tool.call(command), False
    except ToolError as error:
        return str(error), True
    except Exception:
        return None, True


def text(random):
    lines = [random.choice(LINES) for _ in range(random.randrange(6))]
    return "\n".join(lines) + random.choice(["", "\n", "\n\n", "\r\n"])


def path(random):
    name = random.choice(NAMES + [""])
    folder = random.choice([""] * 3 + FOLDERS)
    parts = [part for part in [folder, name] if part]
    plain = "/".join(["/memories", *parts])
    kind = random.randrange(12)
    if kind == 0:
        return plain + "/"
    if kind == 1:
        return plain.replace("/memories", "/memories/./x/..", 1)
    if kind == 2:
        return plain.replace("/memories", "/memories/", 1)
    if kind == 3:
        return plain.replace("/memories", random.choice(["/memories/..", "memories", "/memories/a/../.."]), 1)
    return plain


def command(random):
    kind = random.choice(["view", "view", "create", "create", "str_replace", "insert", "delete", "rename"])
    made = {"command": kind}
    if kind == "rename":
        return {**made, "old_path": path(random), "new_path": path(random)}
    made["path"] = path(random)
    if kind == "view" and random.randrange(3) == 0:
        made["view_range"] = [random.randrange(-2, 7), random.randrange(-4, 8)]
    if kind == "create":
        made["file_text"] = text(random)
    if kind == "str_replace":
        made["old_str"] = random.choice(["one", "a", "aa", "\n", "two", "\r\n", "é"])
        made["new_str"] = random.choice(["", "new", "two\nlines", "\r\n"])
    if kind == "insert":
        made["insert_line"] = random.randrange(-1, 8)
        made["insert_text"] = random.choice(["", "\n", "in", "in\n", "two\nlines\n\n", "\r\n"])
    return made


def comparable(answer):
    """The answer without the sizes of directories: the first row of a listing, and rows that end with a slash."""
    if not answer.startswith("Here're the files"):
        return answer
    header, own, *rows = answer.split("\n")
    size = re.compile(r"^[0-9.]+[BKMG]\t")
    return "\n".join([header, size.sub("SIZE\t", own), *(size.sub("SIZE\t", row) if row.endswith("/") else row for row in rows)])


def tree(root):
    return {
        str(file.relative_to(root)): file.read_bytes().decode() if file.is_file() else None
        for file in sorted(Path(root).rglob("*"))
    }


def main(seed, count, server):
    numbers = random.Random(seed)
    different = []
    with tempfile.TemporaryDirectory() as base:
        tool = BetaLocalFilesystemMemoryTool(base)
        memdir = Memdir(server)
        for step in range(count):
            made = command(numbers)
            wanted, failed = reference(tool, made)
            answer, refused = memdir.call(made)
            same = failed == refused and (wanted is None or comparable(wanted) == comparable(answer))
            if not same:
                different.append({"step": step, "input": made, "reference": wanted, "memdir": answer})
            if step % 400 == 399 or step == count - 1:
                left, right = tree(Path(base) / "memories"), tree(os.environ["MEMDIR_DIR"])
                if left != right:
                    different.append({"step": step, "reference": left, "memdir": right})
                if different:
                    break
                # A fresh directory, so that names are free again.
                for name in sorted({name.split("/")[0] for name in left}):
                    gone = {"command": "delete", "path": f"/memories/{name}"}
                    reference(tool, gone)
                    memdir.call(gone)
        memdir.process.stdin.close()
        memdir.process.wait()
    print(json.dumps(different, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
