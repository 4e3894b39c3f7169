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
}

impl Part<'_> {
    /// What it is called over its entrypoint.
    pub(super) fn label(&self) -> String {
        if self.prefix.is_empty() { "project".into() } else { format!("`{}/`", self.prefix) }
    }
}

/// Whether everybody who works on the project reads what has this prefix.
pub(super) fn is_shared(prefix: &str) -> bool {
    matches!(prefix, "" | "team")
}

/// One line for each scope there is. Memories of one scope stand in one line.
pub(super) fn scopes(parts: &[Part<'_>], remote: bool) -> String {
    let at = |part: &Part<'_>| if remote { String::new() } else { format!(", in `{}`", part.place.dir) };
    let find = |prefix: &str| parts.iter().find(|part| part.prefix == prefix);
    let mut lines = Vec::new();
    if let Some(user) = find("user") {
        lines.push(fill(texts::SCOPE_PRIVATE, &[("in", &at(user))]));
    }
    for part in parts.iter().filter(|part| !is_shared(part.prefix) && part.prefix != "user") {
        let blanks = [("prefix", part.prefix), ("in", &at(part))];
        lines.push(match part.prefix.strip_prefix("agent/") {
            Some(agent) => fill(texts::SCOPE_AGENT, &[&blanks[..], &[("agent", agent)]].concat()),
            None => fill(texts::SCOPE_OTHER, &blanks),
        });
    }
    let own = find("").map(|own| if own.kept { "all other names" } else { "other names, as far as this session may use them" });
    let team = find("team").map(|_| "those that begin with `team/`");
    let names = match (own, team) {
        (Some(own), Some(team)) => format!("{own}, and {team}"),
        (Some(own), None) => own.to_owned(),
        (None, Some(_)) => "names that begin with `team/`".to_owned(),
        (None, None) => return lines.join("\n"),
    };
    let nobodys = lines.is_empty();
    lines.push(fill(texts::SCOPE_TEAM, &[("names", &names), ("in", &find("team").map(at).unwrap_or_default())]));
    if nobodys {
        lines.push(texts::SCOPE_NOBODY.trim_end().to_owned());
    }
    lines.join("\n")
}
