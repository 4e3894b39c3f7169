"""Drives agent programs with memdir installed in them, and checks what reached the model.

Usage: drive.py MEMDIR PROGRAMS_DIRECTORY [HOST...]

Each program runs headless in a home directory of its own, against a model server on loopback. A request that the server was sent is what
the model reads. Prints a table; exits with 1 if a check failed. With KEEP=1 the directories stay, with the requests in requests.jsonl.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fake_model import FakeModel
from terminal import Terminal

SESSION_SECONDS = 240
"""The longest that one conversation may take: the programs start slowly on a busy machine."""

SHELL_TOOLS = ["Bash", "exec_command", "shell_command", "run_shell_command", "bash", "shell"]
PUSH = "git push --dry-run origin main; echo ran >> pushed.log"
SCRIPTS = {
    "save": [
        (
            ["memory_write"],
            {
                "path": "decisions/queue",
                "content": "We chose NATS over Kafka for the event queue, because operations has two people.",
                "type": "project",
                "description": "Why the event queue is NATS and not Kafka",
            },
        ),
    ],
    "push": [(SHELL_TOOLS, {"command": PUSH, "cmd": PUSH, "description": "Push a dry run"})] * 2,
}

PERSON = "Answers of at most three sentences, please"
DEPLOY = "Deploys of the shop go out on Tuesday mornings"
RULE = "Run the smoke tests before every push"
SAVED = "We chose NATS over Kafka"
REQUESTED = "invoices of the shop are rounded per line"


class Host:
    """How one program is run."""

    def __init__(self, name, command, environment, files=lambda url: {}, install=()):
        self.name, self.command, self.environment, self.files, self.install = name, command, environment, files, install


def codex_config(url):
    return {
        ".codex/config.toml": f'model = "fake-model"\nmodel_provider = "fake"\n\n[model_providers.fake]\nname = "fake"\n'
        f'base_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "FAKE_KEY"\n'
    }


def opencode_config(url):
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "fake",
        "options": {"baseURL": f"{url}/v1", "apiKey": "x"},
        "models": {"fake-model": {"name": "fake-model", "tool_call": True}},
    }
    config = {"provider": {"fake": provider}, "model": "fake/fake-model", "autoupdate": False}
    return {".config/opencode/opencode.json": json.dumps(config, indent=2) + "\n"}


HOSTS = [
    Host(
        "claude-code",
        ["claude", "--dangerously-skip-permissions", "-p"],
        lambda url: {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "fake",
            "IS_SANDBOX": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
        install=["--auto-memory", "replace"],
    ),
    Host(
        "codex",
        ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"],
        lambda url: {"FAKE_KEY": "fake"},
        codex_config,
    ),
    Host(
        "gemini",
        ["gemini", "--yolo", "--skip-trust", "-p"],
        lambda url: {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "fake", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        lambda url: {".gemini/settings.json": '{\n  "security": { "auth": { "selectedType": "gemini-api-key" } }\n}\n'},
    ),
    Host("opencode", ["opencode", "run"], lambda url: {}, opencode_config),
    Host(
        "copilot-cli",
        ["copilot", "--allow-all-tools", "--allow-all-paths", "-p"],
        lambda url: {"COPILOT_PROVIDER_BASE_URL": f"{url}/v1", "COPILOT_PROVIDER_API_KEY": "fake", "COPILOT_MODEL": "fake-model"},
    ),
]


class Machine:
    """A home directory with a repository, a program and memdir."""

    def __init__(self, host, memdir, programs, root):
        self.host, self.fake = host, FakeModel(SCRIPTS)
        self.home, self.work = root / "home", root / "home/shop"
        self.work.mkdir(parents=True)
        path = f"{Path(memdir).parent}:{programs}:{os.environ['PATH']}"
        self.environment = {"HOME": str(self.home), "PATH": path, "LANG": "C.UTF-8", "TMPDIR": str(root), "NO_COLOR": "1"}
        self.environment |= host.environment(self.fake.url)
        for name, text in host.files(self.fake.url).items():
            (self.home / name).parent.mkdir(parents=True, exist_ok=True)
            (self.home / name).write_text(text)
        self.run(["git", "init", "--quiet", "--initial-branch=main"])
        self.run(["git", "remote", "add", "origin", "https://example.invalid/ada/shop.git"])

    def run(self, command, check=True):
        done = subprocess.run(
            command, cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SESSION_SECONDS
        )
        if check and done.returncode:
            raise RuntimeError(f"{command} exited with {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def converse(self, prompt):
        """Runs one conversation, and returns the requests that its model was sent."""
        done = self.run([*self.host.command, prompt], check=False)
        requests = self.fake.take_requests()
        with (self.home.parent / "requests.jsonl").open("a") as kept:
            kept.writelines(json.dumps(body) + "\n" for _, body in requests)
        if done.returncode or not requests:
            print(f"{self.host.name}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}", file=sys.stderr)
        return [json.dumps(body, ensure_ascii=False) for _, body in requests]

    def configuration(self):
        """The files below the home directory that do not belong to memdir, with their contents."""
        files = [path for path in self.home.rglob("*") if path.is_file() and ".git" not in path.parts and ".memdir" not in path.parts]
        skipped = (self.home / ".cache", self.home / ".local/share/memdir")
        return {str(path.relative_to(self.home)): path.read_bytes() for path in files if not any(path.is_relative_to(s) for s in skipped)}


def checks(machine):
    """Runs the conversations of one program; yields the name and the result of each check."""
    host, install = machine.host, ["memdir", "install", machine.host.name, "--yes", "--chats", *machine.host.install]
    before = machine.configuration()
    machine.run(install)
    machine.run(["memdir", "uninstall", host.name])
    yield "uninstall byte-exact", machine.configuration() == before
    machine.run(install)
    rule = f"---\ndescription: {RULE}\nwhen:\n  command: ['git push*']\n---\n\n{RULE}: ./smoke must pass.\n"
    machine.run(["memdir", "write", "user/style", PERSON + ".", "--type", "user", "--description", PERSON])
    machine.run(["memdir", "write", "notes/deploy", DEPLOY + ".", "--description", "When deploys go out"])
    machine.run(["memdir", "write", "rules/push", rule])

    requests = machine.converse("On which day do deploys of the shop go out? SCRIPT:save")
    asked = [request for request in requests if "SCRIPT:save" in request]
    first = next((request for request in asked if "memory_write" in request), "")
    yield "session text once", first.count("- rules/push — ") == 1
    yield "user memory", PERSON in first
    yield "recall", DEPLOY in first
    titles = [request for request in asked if "memory_write" not in request]
    yield "titles without memory", not any(DEPLOY in request or PERSON in request for request in titles)
    yield "memory saved", SAVED in machine.run(["memdir", "read", "decisions/queue"], check=False).stdout

    requests = machine.converse("Push the branch. SCRIPT:push")
    pushed = machine.work / "pushed.log"
    ran = pushed.read_text().count("ran") if pushed.exists() else 0
    told = [RULE in result for result in tool_results(requests)]
    yield "hold stops the first", told[:1] == [True] and ran < 2
    yield "and passes the second", ran == 1

    requests = machine.converse("Which event queue did we choose, NATS or Kafka?")
    yield "second session recalls", any(SAVED in request for request in requests)

    machine.run(["memdir", "chats", "sync"], check=False)
    chats = json.loads(machine.run(["memdir", "chats", "--json"]).stdout)["chats"]
    yield "chats taken in", sum(chat["turns"] > 0 for chat in chats) == 3
    if host.name == "claude-code":
        yield from interactive_checks(machine)
    machine.run(["memdir", "uninstall", host.name])
    left = [name for name, text in machine.configuration().items() if is_setting(name) and b"memdir hook" in text]
    yield "nothing left behind", not left


def interactive_checks(machine):
    """A conversation on a terminal: the person asks to remember something, the agent is asked about it and accepts, a later one recalls it."""
    settings = machine.home / ".claude.json"
    known = json.loads(settings.read_text()) if settings.exists() else {}
    known |= {"hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": {"approved": ["fake"], "rejected": []}}
    known.setdefault("projects", {}).setdefault(str(machine.work), {}).update(hasTrustDialogAccepted=True, hasCompletedProjectOnboarding=True)
    settings.write_text(json.dumps(known))
    machine.fake.take_requests()
    machine.fake.before_answer = lambda body: wait_until_written(machine, body)
    # Permission for memdir's tools alone: the flag that skips all permissions asks for a confirmation first.
    with Terminal(["claude", "--allowedTools", "mcp__memdir"], machine.work, machine.environment) as terminal:
        is_ready = terminal.wait_for(terminal.shows("? for shortcuts"), SESSION_SECONDS)
        # It connects to memdir's server in the background, and the model can only accept with its tools.
        hellos = (f"Hello {number}." for number in range(SESSION_SECONDS))
        while is_ready and not machine.fake.has_request("memory_move") and (hello := next(hellos, None)):
            terminal.send(hello, lambda: machine.fake.has_request(hello), SESSION_SECONDS)
        terminal.send(f"Remember that {REQUESTED}.", lambda: machine.fake.has_request(REQUESTED), SESSION_SECONDS)
        # The only call of this conversation is the one that the question asks for.
        terminal.wait_for(lambda: machine.fake.has_request("tool_result"), SESSION_SECONDS)
        shown = terminal.text()[-2000:]
    requests = [json.dumps(body, ensure_ascii=False) for _, body in machine.fake.take_requests()]
    is_asked = any("accept: memory_move" in request for request in requests)
    if not (is_ready and is_asked):
        print(f"claude-code on a terminal: {len(requests)} requests; the end of the screen:\n{shown}", file=sys.stderr)
    yield "terminal: asked", is_asked
    yield "terminal: accepted", REQUESTED in machine.run(["memdir", "search", REQUESTED, "--source", "memory"], check=False).stdout
    yield "terminal: inbox empty", not json.loads(machine.run(["memdir", "inbox", "--json"]).stdout)["open"]
    requests = machine.converse("How are invoices of the shop rounded, per line or per invoice?")
    yield "terminal: recalled", any(REQUESTED in request for request in requests)


def wait_until_written(machine, body):
    """Waits until the transcript has the message that a request answers: programs write it a moment after they sent the request."""
    if REQUESTED not in json.dumps(body, ensure_ascii=False):
        return
    end = time.monotonic() + SESSION_SECONDS
    is_written = lambda: any(REQUESTED in path.read_text() for path in machine.home.glob(".claude/projects/*/*.jsonl"))
    while not is_written() and time.monotonic() < end:
        time.sleep(0.05)


def is_setting(name):
    return Path(name).suffix in (".json", ".toml", ".js") and not any(part in name for part in ("sessions", "session-state", "projects/", "tmp/"))


def tool_results(requests):
    """The texts of tool results in the last request, in their order."""
    results = []

    def walk(value):
        if isinstance(value, list):
            for one in value:
                walk(one)
        elif isinstance(value, dict):
            is_result = value.get("type") in ("tool_result", "function_call_output") or value.get("role") == "tool" or "functionResponse" in value
            if is_result:
                results.append(json.dumps(value, ensure_ascii=False))
            else:
                for one in value.values():
                    walk(one)

    with_results = [request for request in requests if "SCRIPT:push" in request]
    if with_results:
        walk(json.loads(max(with_results, key=len)))
    return results


def main():
    memdir, programs, *names = sys.argv[1:]
    memdir, programs = str(Path(memdir).resolve()), str(Path(programs).resolve())
    unknown = set(names) - {host.name for host in HOSTS}
    if unknown:
        sys.exit(f"unknown host: {', '.join(sorted(unknown))}\nhint: use {', '.join(host.name for host in HOSTS)}")
    table = {}
    for host in [host for host in HOSTS if not names or host.name in names]:
        root = Path(tempfile.mkdtemp(prefix=f"memdir-{host.name}-"))
        try:
            table[host.name] = dict(checks(Machine(host, memdir, programs, root)))
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(f"{host.name}: {error}", file=sys.stderr)
            table.setdefault(host.name, {})
        finally:
            if not os.environ.get("KEEP"):
                shutil.rmtree(root, ignore_errors=True)
    rows = list(dict.fromkeys(name for results in table.values() for name in results))
    print(f"{'':24}" + "".join(f"{name:14}" for name in table))
    for row in rows:
        print(f"{row:24}" + "".join(f"{'yes' if results.get(row) else 'NO':14}" for results in table.values()))
    sys.exit(0 if rows and all(results.get(row) for results in table.values() for row in rows) else 1)


if __name__ == "__main__":
    main()
