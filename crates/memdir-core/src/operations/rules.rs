//! Rules: memories with tripwires. Lists them, matches them with an action, and reports where their text came from. Decides nothing
//! about the action.

use crate::{
    base::{error::Result, path::MemoryPath, text, version::Version},
    memory::Memory,
    operations::{context::Context, history, read},
    recall::when::{self, Action, Strength, Tripwire, When},
    store::{ChangeFilter, Store, Verb, mounts},
};
use serde::Serialize;
use std::path::Path;

/// A memory with tripwires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// Its path.
    pub path: MemoryPath,
    /// Its tripwires and their strength.
    pub when: When,
    /// The whole memory, of which [`Rule::text`] is the hash.
    pub content: String,
    /// The hash of its conditions and its body. Other fields of the frontmatter, such as the date of a verification, do not change it.
    pub text: Version,
}

/// A rule whose tripwire an action touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchedRule {
    /// Its name.
    pub name: String,
    /// Its path.
    pub path: MemoryPath,
    /// The tripwire that matches.
    pub tripwire: Tripwire,
    /// The strength of that tripwire.
    pub strength: Strength,
    /// The hash of the rule's conditions and body, as in [`Rule::text`].
    pub text: Version,
}

impl MatchedRule {
    /// Why it matches, with the line of the tripwire.
    pub fn reason(&self) -> String {
        format!("{} ({}:{})", self.tripwire.reason(), self.path, self.tripwire.line)
    }
}

/// Where the text of a rule came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleOrigin {
    /// It was written here: with memdir, or by another program outside of any repository.
    Own,
    /// It is in a memory that other people write too, such as a team's.
    Repository,
    /// It was imported.
    Import,
    /// It is in a git work tree, and memdir did not write this version: it may have been pulled.
    Pull,
}

/// Lists all rules, in the order of their names.
pub(crate) fn rules(store: &dyn Store, context: &Context, cache: Option<&Path>) -> Result<Vec<Rule>> {
    let table = context.recall_table(store, cache)?;
    let mut rules = Vec::new();
    for path in table.with_tripwires() {
        if let Some(stored) = read::if_readable(store.get(path))? {
            let content = text::decode(&stored.bytes).0.into_owned();
            let (when, text) = parse(&content);
            rules.push(Rule { name: stored.path.name().to_owned(), path: stored.path, when, content, text });
        }
    }
    Ok(rules)
}

/// Lists the rules that an action touches, in the order of their names.
pub(crate) fn matched_rules(store: &dyn Store, context: &Context, action: &Action<'_>, cache: Option<&Path>) -> Result<Vec<MatchedRule>> {
    let table = context.recall_table(store, cache)?;
    let mut matched = Vec::new();
    for (path, tripwire, strength) in table.tripped(action) {
        if let Some(stored) = read::if_readable(store.get(path))? {
            let (name, text) = (stored.path.name().to_owned(), parse(&text::decode(&stored.bytes).0).1);
            matched.push(MatchedRule { name, path: stored.path, tripwire: tripwire.clone(), strength, text });
        }
    }
    Ok(matched)
}

/// Returns where the text of a rule came from. A memory that was ever imported stays imported, under every later name.
pub(crate) fn rule_origin(store: &dyn Store, path: &MemoryPath) -> Result<RuleOrigin> {
    let mount = mounts::mount_of(store, path);
    if mount.is_some_and(|mount| mount.is_foreign) {
        return Ok(RuleOrigin::Repository);
    }
    let changes = history::history(store, &ChangeFilter { path: Some(path.clone()), ..ChangeFilter::default() })?;
    if changes.iter().any(|change| change.verb == Verb::Import) {
        return Ok(RuleOrigin::Import);
    }
    if !mount.is_some_and(|mount| mount.root.ancestors().any(|dir| dir.join(".git").exists())) {
        return Ok(RuleOrigin::Own);
    }
    let version = read::if_readable(store.get(path))?.map(|stored| stored.version);
    let wrote = |change: &crate::store::Change| {
        change.verb != Verb::Found && change.files.iter().any(|file| file.after.is_some() && file.after == version)
    };
    Ok(if changes.iter().any(wrote) { RuleOrigin::Own } else { RuleOrigin::Pull })
}

/// The conditions of a rule, and the hash of its conditions and body.
fn parse(content: &str) -> (When, Version) {
    let (memory, _) = Memory::parse(content);
    let rule = format!("{}\0{}", memory.when().unwrap_or_default().trim(), memory.body().trim());
    (when::parse_field(&memory).0, Version::from_content(rule.as_bytes()))
}
