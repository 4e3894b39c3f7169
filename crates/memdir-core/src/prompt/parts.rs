//! The parts of a space, and the lines of a prompt that describe their scopes.

use super::{
    PromptInput,
    texts::{self, fill},
};

/// The prefix of the person's memory.
pub(super) const USER: &str = "user";

/// One mount of a space, as a prompt describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpacePart<'a> {
    /// The prefix of its names; empty for the project's.
    pub prefix: &'a str,
    /// Its directory as the model should write it.
    pub dir: &'a str,
    /// Its entrypoint as loaded: cut to the limits, neutral. `None` if it does not exist or cannot be read.
    pub entrypoint: Option<&'a str>,
    /// The warning of a cut entrypoint.
    pub warning: Option<&'a str>,
    /// Whether it has an entrypoint. A mount that is narrowed to some names has none.
    pub kept: bool,
    /// The folders and memories that it is narrowed to; empty if all of it is open.
    pub open: &'a [OpenPath],
    /// Whether other people write it: the text of its entrypoint is framed as data.
    pub is_foreign: bool,
}

/// A folder or a memory that a mount is narrowed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenPath {
    /// Its name in the space; a folder's ends with `/`.
    pub name: String,
    /// Its path as the model should write it.
    pub path: String,
}

impl<'a> SpacePart<'a> {
    /// A whole directory with an entrypoint. Other people write it if it is the team's.
    pub const fn new(prefix: &'a str, dir: &'a str, entrypoint: Option<&'a str>) -> Self {
        let is_foreign = matches!(prefix.as_bytes(), b"team");
        SpacePart { prefix, dir, entrypoint, warning: None, kept: true, open: &[], is_foreign }
    }

    /// The directories and files that are open.
    pub(super) fn paths(&self) -> Vec<&'a str> {
        if self.open.is_empty() { vec![self.dir] } else { self.open.iter().map(|open| open.path.as_str()).collect() }
    }

    /// Describes its names, and its directories if the model writes files.
    fn names(&self, with_dirs: bool) -> String {
        let at = |path: &str| if with_dirs { format!(", in `{path}`") } else { String::new() };
        if !self.open.is_empty() {
            let named = |open: &OpenPath| {
                let names = if open.name.ends_with('/') { "names that begin with" } else { "the name" };
                format!("{names} `{}`{}", open.name, at(&open.path))
            };
            return self.open.iter().map(named).collect::<Vec<_>>().join("; ");
        }
        let names = if self.prefix.is_empty() { "all other names".into() } else { format!("names `{}/…`", self.prefix) };
        names + &at(self.dir)
    }
}

/// Whether all people who work on the project read the memories with this prefix. On a server, all callers share the project.
pub(super) fn is_shared(prefix: &str, remote: bool) -> bool {
    prefix == "team" || (remote && prefix.is_empty())
}

/// Whether every part is shared, so that nothing in the space is private.
pub(super) fn is_all_shared(parts: &[SpacePart<'_>], remote: bool) -> bool {
    parts.iter().all(|part| is_shared(part.prefix, remote))
}

/// One line for each scope, the person's first. All shared parts are one scope.
pub(super) fn scopes(input: &PromptInput<'_>) -> String {
    let (parts, remote) = (input.parts, input.remote);
    let (shared, own): (Vec<&SpacePart<'_>>, Vec<&SpacePart<'_>>) = parts.iter().partition(|part| is_shared(part.prefix, remote));
    let mut lines: Vec<String> = own.into_iter().map(|part| scope(part, input.names_dirs())).collect();
    let names: Vec<String> = shared.iter().map(|part| part.names(input.names_dirs())).collect();
    if !names.is_empty() {
        lines.push(fill(texts::SCOPE_TEAM, &[("names", &names.join(", and "))]));
    }
    if is_all_shared(parts, remote) {
        lines.push(texts::NOTHING_PRIVATE.trim_end().to_owned());
    }
    lines.join("\n")
}

/// The line of a scope that is not shared.
fn scope(part: &SpacePart<'_>, with_dirs: bool) -> String {
    let names = part.names(with_dirs);
    let names = [("names", names.as_str())];
    match (part.prefix, part.prefix.strip_prefix("agent/")) {
        ("", _) => fill(texts::SCOPE_OWN, &names),
        (USER, _) => fill(texts::SCOPE_PRIVATE, &names),
        (_, Some(agent)) => fill(texts::SCOPE_AGENT, &[&names[..], &[("agent", agent)]].concat()),
        (prefix, None) => fill(texts::SCOPE_OTHER, &[&names[..], &[("prefix", prefix)]].concat()),
    }
}
