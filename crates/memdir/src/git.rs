//! Runs git for commands that a person typed: `check --diff` and `verify`. Hooks, tools and searches never use it.

use crate::exit::Failure;
use memdir_core::{FileHistory, Project, internal::base::shell::quote_posix};
use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// Commits that are looked through for the content of an anchored source.
const MAX_COMMITS: &str = "--max-count=500";

/// The git repository of a checkout.
pub(crate) struct Git {
    checkout: PathBuf,
}

impl Git {
    /// The repository of a project; `None` if it has none that is trusted.
    pub(crate) fn open(project: &Project) -> Option<Git> {
        project.git.as_ref().map(|_| Git { checkout: project.checkout.clone() })
    }

    /// The root of the checkout.
    pub(crate) fn checkout(&self) -> &Path {
        &self.checkout
    }

    /// Returns the differences of a range of commits, without context lines.
    pub(crate) fn diff(&self, range: &str) -> Result<String, Failure> {
        let options = ["diff", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames"];
        let prefixes = ["--src-prefix=a/", "--dst-prefix=b/", "--end-of-options", range, "--"];
        let out = self.run(&[&options[..], &prefixes[..]].concat())?;
        match out.status.success() {
            true => Ok(String::from_utf8_lossy(&out.stdout).into_owned()),
            false => Err(self.diff_failure(range, &out)),
        }
    }

    /// Why git printed no differences: the range is unknown, the repository cannot be read, or something else. git has one exit status
    /// for all, so it is asked about the first two.
    fn diff_failure(&self, range: &str, out: &Output) -> Failure {
        let message = format!("--diff {range}: {}", reason(&out.stderr));
        let dir = quote_posix(&self.checkout.display().to_string());
        if self.output(&["rev-parse", "--git-dir"]).is_none() {
            return Failure::Settings { message, hint: format!("git cannot read this repository; see why with: git -C {dir} status") };
        }
        if self.output(&["rev-parse", "--revs-only", "--end-of-options", range, "--"]).is_none() {
            let hint = "use commits that exist in this clone, for example: memdir check --diff origin/main..HEAD".into();
            return Failure::Usage { message, hint };
        }
        Failure::Settings { message, hint: format!("see the whole error with: git -C {dir} diff {}", quote_posix(range)) }
    }

    /// The standard output of a git command that succeeded.
    fn output(&self, args: &[&str]) -> Option<Vec<u8>> {
        self.run(args).ok().filter(|out| out.status.success()).map(|out| out.stdout)
    }

    #[expect(clippy::disallowed_methods, reason = "the user typed a command that compares commits")]
    fn run(&self, args: &[&str]) -> Result<Output, Failure> {
        let mut command = Command::new("git");
        // A configured file system monitor or pager would be another program.
        command.args(["--no-pager", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false"]).args(args);
        command.current_dir(&self.checkout).env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C");
        command.output().map_err(|error| Failure::Settings {
            message: format!("cannot run git: {error}"),
            hint: "check that git is installed, and that its directory is in PATH".into(),
        })
    }

    /// The text of an object; `None` if it does not exist or is not a text.
    fn blob(&self, id: &str) -> Option<String> {
        String::from_utf8(self.output(&["cat-file", "blob", id])?).ok()
    }

    /// The contents that the commits gave a file, newest first: before and after each.
    fn raw_log(&self, path: &str) -> Vec<(String, String)> {
        let args = ["log", MAX_COMMITS, "--raw", "--no-abbrev", "--no-renames", "--format=", "--end-of-options", "HEAD", "--", path];
        let out = self.output(&args).unwrap_or_default();
        let ids = |line: &str| {
            let mut parts = line.strip_prefix(':')?.split(' ').skip(2);
            Some((parts.next()?.to_owned(), parts.next()?.to_owned()))
        };
        String::from_utf8_lossy(&out).lines().filter_map(ids).collect()
    }
}

/// The first line of an error of git, without the word that git begins it with.
fn reason(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let line = text.lines().next().unwrap_or("git diff failed");
    ["fatal: ", "error: "].iter().find_map(|word| line.strip_prefix(word)).unwrap_or(line).to_owned()
}

impl FileHistory for Git {
    fn versions_since(&self, path: &str, blob: &str) -> Option<Vec<Option<String>>> {
        let mut versions = vec![Some(self.blob(blob)?)];
        let mut newer: Vec<String> = Vec::new();
        for (before, after) in self.raw_log(path) {
            if after.starts_with(blob) {
                break;
            }
            newer.push(after);
            if before.starts_with(blob) {
                break;
            }
        }
        // The id of a removed file is all zeros.
        versions.extend(newer.iter().rev().map(|id| self.blob(id)));
        let file = self.checkout.join(path);
        versions.push(std::fs::read(&file).ok().and_then(|bytes| String::from_utf8(bytes).ok()));
        Some(versions)
    }

    fn current_blob(&self, path: &str) -> Option<String> {
        let out = self.output(&["hash-object", "--no-filters", "--", path])?;
        Some(String::from_utf8_lossy(&out).trim().to_owned()).filter(|id| !id.is_empty())
    }
}
