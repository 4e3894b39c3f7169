//! The machine of one test: a temporary home, one directory of memories, and the binary.

use regex::Regex;
use std::{
    ffi::OsStr,
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::OnceLock,
};
use tempfile::TempDir;

/// A temporary machine.
pub(crate) struct Home {
    dir: TempDir,
}

impl Home {
    pub(crate) fn new() -> Home {
        Home { dir: TempDir::new().unwrap() }
    }

    /// A path on this machine.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    /// A file of the memory.
    pub(crate) fn memory(&self, name: &str) -> PathBuf {
        self.path("memory").join(name)
    }

    /// The text of a file of the memory.
    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.memory(name)).unwrap_or_else(|e| format!("({})", e.kind()))
    }

    /// Puts a file into the memory, as an editor would.
    pub(crate) fn put(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.memory(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes `config.toml`.
    pub(crate) fn configure(&self, text: &str) {
        fs::create_dir_all(self.path("home")).unwrap();
        fs::write(self.path("home/config.toml"), text).unwrap();
    }

    /// All files of the memory, including hidden ones, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        files_below(&self.path("memory"))
    }

    /// The binary with only this machine's environment, without `--dir`.
    pub(crate) fn bare(&self, args: &[impl AsRef<OsStr>]) -> Command {
        fs::create_dir_all(self.path("work")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_memdir"));
        command.args(args).env_clear().current_dir(self.path("work")).stdin(Stdio::null());
        command.env("HOME", self.path("")).env("MEMDIR_HOME", self.path("home")).env("USER", "ada").env("TZ", "UTC");
        command
    }

    /// The binary with the directory of memories.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.bare(args);
        command.env("MEMDIR_DIR", self.path("memory"));
        command
    }

    /// Runs it with permissions that apply, even to root, and returns its transcript.
    pub(crate) fn run_unprivileged(&self, args: &[&str]) -> String {
        let command = self.command(args);
        if !is_root() {
            return self.run(args);
        }
        // Root without its capabilities. Another user could not reach a binary below root's home.
        let mut without = Command::new("/usr/bin/setpriv");
        without.args(["--bounding-set", "-all", "--inh-caps", "-all", "--"]).arg(command.get_program()).args(command.get_args());
        without.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        without.current_dir(self.path("work")).stdin(Stdio::null());
        self.transcript(args, without.output().unwrap())
    }

    /// Runs it and returns its transcript: output, errors and exit status.
    pub(crate) fn run(&self, args: &[&str]) -> String {
        self.transcript(args, self.command(args).output().unwrap())
    }

    /// Runs it with standard input and returns its transcript.
    pub(crate) fn run_with(&self, args: &[&str], stdin: impl AsRef<[u8]>) -> String {
        self.transcript(args, feed(&mut self.command(args), stdin.as_ref()))
    }

    /// Runs it without `--dir` and returns its transcript.
    pub(crate) fn run_bare(&self, args: &[&str]) -> String {
        self.transcript(args, self.bare(args).output().unwrap())
    }

    /// Runs it and returns standard output; it must succeed.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let output = self.command(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs it with `--json` and parses the output.
    pub(crate) fn json(&self, args: &[&str]) -> serde_json::Value {
        let output = self.command(&[args, &["--json"]].concat()).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// A transcript with runs of spaces collapsed, since column widths depend on the paths of this machine.
    pub(crate) fn run_narrow(&self, args: &[&str]) -> String {
        Regex::new(" {2,}").unwrap().replace_all(&self.run(args), "  ").into_owned()
    }

    /// The id of the newest change.
    pub(crate) fn last_change(&self) -> String {
        self.json(&["history", "--limit", "1"])["changes"][0]["id"].as_str().unwrap().to_owned()
    }

    /// A transcript with ids, times and paths replaced by placeholders.
    pub(crate) fn transcript(&self, args: &[&str], output: Output) -> String {
        let mut printed = String::new();
        printed.push_str(&String::from_utf8_lossy(&output.stdout));
        if !output.stderr.is_empty() {
            printed.push_str("-- stderr\n");
            printed.push_str(&String::from_utf8_lossy(&output.stderr));
        }
        match output.status.code() {
            Some(0) => {}
            Some(code) => printed.push_str(&format!("-- exit {code}\n")),
            None => panic!("{args:?} was killed: {}", output.status),
        }
        self.with_placeholders(&printed)
    }

    /// Replaces ids, times and paths by placeholders.
    pub(crate) fn with_placeholders(&self, text: &str) -> String {
        let text = text.replace(self.path("").to_string_lossy().trim_end_matches('/'), "[HOME]");
        rules().iter().fold(text, |text, (rule, with)| rule.replace_all(&text, *with).into_owned())
    }
}

/// All files below a directory, including hidden ones, sorted.
pub(crate) fn files_below(dir: &Path) -> Vec<String> {
    let mut out = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(at) = dirs.pop() {
        for entry in fs::read_dir(&at).into_iter().flatten().flatten() {
            if entry.file_type().unwrap().is_dir() {
                dirs.push(entry.path());
            } else {
                out.push(entry.path().strip_prefix(dir).unwrap().display().to_string());
            }
        }
    }
    out.sort();
    out
}

/// Runs a command with standard input.
pub(crate) fn feed(command: &mut Command, stdin: &[u8]) -> Output {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let fed = child.stdin.take().unwrap().write_all(stdin);
    // A command with invalid arguments exits without reading.
    assert!(fed.as_ref().map_or_else(|error| error.kind() == std::io::ErrorKind::BrokenPipe, |()| true), "{fed:?}");
    child.wait_with_output().unwrap()
}

/// The mode of a file or directory.
pub(crate) fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Sets the mode of a file or directory.
pub(crate) fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Whether this process is root, for which permissions do not apply.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn rules() -> &'static [(Regex, &'static str)] {
    static RULES: OnceLock<Vec<(Regex, &'static str)>> = OnceLock::new();
    RULES.get_or_init(|| {
        [
            (r"\b(change|undo|redo|undid|redid|id) [0-9a-z]{8}\b", "$1 [ID]"),
            (r#""(id|change|undoes)": "[0-9a-z]{8}""#, r#""$1": "[ID]""#),
            (r"(?m)^[0-9a-z]{8}  ", "[ID]      "),
            (r"\([0-9a-z]{8}\)", "([ID])"),
            (r"('s:|by \w+:|is) [0-9a-z]{8} \(", "$1 [ID] ("),
            (r"\bor [0-9a-z]{8} to undo\b", "or [ID] to undo"),
            (r"error: [0-9a-z]{8} was", "error: [ID] was"),
            (r"-[0-9a-f]{12}\b", "-[HASH]"),
            // A slow machine may need more than a minute.
            (r"\b1 minute ago", "just now"),
            (r"\d{4}-\d\d-\d\d \d\d:\d\d", "[TIME]          "),
            (r#""at": "[^"]+""#, r#""at": "[TIME]""#),
            (r"\(\d+\.\d s, seed \d+\)", "([SECONDS], seed [SEED])"),
        ]
        .map(|(rule, with)| (Regex::new(rule).unwrap(), with))
        .into()
    })
}
