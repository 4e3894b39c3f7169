//! A space by its parts: what its prompt says of each, for spaces that are not simply one person's project.

use super::{
    Place,
    texts::{self, fill},
};

/// One memory of a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part<'a> {
    /// What its names begin with; empty for the project's.
    pub prefix: &'a str,
    /// Where it is.
    pub place: Place<'a>,
    /// Whether it keeps an entrypoint. One of which only some names are open keeps none.
    pub kept: bool,
    /// What of it is open; empty for all of it.
    pub open: &'a [Open],
}

/// What is open of a memory that is narrowed: one memory, or a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// Its name in the space; a folder's ends with `/`.
    pub name: String,
    /// Its path as the model should write it.
    pub path: String,
}

impl<'a> Part<'a> {
    /// What it is called over its entrypoint.
    pub(super) fn label(&self) -> String {
        if self.prefix.is_empty() { "project".into() } else { format!("`{}/`", self.prefix) }
    }

    /// The directories and files that are open.
    pub(super) fn paths(&self) -> Vec<&'a str> {
        if self.open.is_empty() { vec![self.place.dir] } else { self.open.iter().map(|open| open.path.as_str()).collect() }
    }

    /// Which names are meant, and where they are unless the model is on another machine.
    fn names(&self, remote: bool) -> String {
        let at = |path: &str| if remote { String::new() } else { format!(", in `{path}`") };
        if !self.open.is_empty() {
            let named = |open: &Open| {
                let whose = if open.name.ends_with('/') { "names that begin with" } else { "the name" };
                format!("{whose} `{}`{}", open.name, at(&open.path))
            };
            return self.open.iter().map(named).collect::<Vec<_>>().join("; ");
        }
        let names = if self.prefix.is_empty() { "all other names".into() } else { format!("names that begin with `{}/`", self.prefix) };
        names + &at(self.place.dir)
    }
}

/// Whether everybody who works on the project reads what has this prefix. On a server the project is its callers' together.
pub(super) fn is_shared(prefix: &str, remote: bool) -> bool {
    prefix == "team" || (remote && prefix.is_empty())
}

/// Whether nothing of a space is one person's.
pub(super) fn is_nobodys(parts: &[Part<'_>], remote: bool) -> bool {
    parts.iter().all(|part| is_shared(part.prefix, remote))
}

/// One line for each scope there is. Memories of one scope stand in one line.
pub(super) fn scopes(parts: &[Part<'_>], remote: bool) -> String {
    let (shared, own): (Vec<&Part<'_>>, Vec<&Part<'_>>) = parts.iter().partition(|part| is_shared(part.prefix, remote));
    let (persons, others): (Vec<&Part<'_>>, Vec<&Part<'_>>) = own.into_iter().partition(|part| part.prefix == "user");
    let mut lines: Vec<String> = persons.into_iter().chain(others).map(|part| scope(part, remote)).collect();
    let names: Vec<String> = shared.iter().map(|part| part.names(remote)).collect();
    if !names.is_empty() {
        lines.push(fill(texts::SCOPE_TEAM, &[("names", &names.join(", and "))]));
    }
    if is_nobodys(parts, remote) {
        lines.push(texts::SCOPE_NOBODY.trim_end().to_owned());
    }
    lines.join("\n")
}

/// The line of a scope that not everybody reads.
fn scope(part: &Part<'_>, remote: bool) -> String {
    let names = part.names(remote);
    let names = [("names", names.as_str())];
    match (part.prefix, part.prefix.strip_prefix("agent/")) {
        ("", _) => fill(texts::SCOPE_OWN, &names),
        ("user", _) => fill(texts::SCOPE_PRIVATE, &names),
        (_, Some(agent)) => fill(texts::SCOPE_AGENT, &[&names[..], &[("agent", agent)]].concat()),
        (prefix, None) => fill(texts::SCOPE_OTHER, &[&names[..], &[("prefix", prefix)]].concat()),
    }
}
