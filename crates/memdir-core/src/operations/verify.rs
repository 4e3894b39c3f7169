//! Verifies a memory: looks up what it mentions in the project and, if everything exists, records the date.

mod anchors;
mod git;
mod lookup;
mod mentions;
mod project_symbols;

pub use anchors::{AnchorOutcome, AnchorState, FileHistory};
pub use lookup::ProjectLookup;
pub use mentions::{Mention, MentionKind, mentions};

use crate::{
    base::{
        error::{Error, Result},
        limits,
        path::MemoryPath,
    },
    memory::{
        Memory,
        links::{self, ReferenceKind},
    },
    operations::{context::Context, read, write},
    project::Project,
    store::{ChangeId, FileEdit, Store, Verb, mounts},
};
use lookup::SourceLimit;
use mentions::bare_file_mentions;
use serde::Serialize;
use std::collections::HashSet;

/// The memory to verify.
#[derive(Clone)]
pub struct Verify<'a> {
    /// The memory.
    pub path: MemoryPath,
    /// The project that the memory is about, if known.
    pub project: Option<&'a Project>,
    /// Records the date even if something no longer exists, because a user has checked it.
    pub anyway: bool,
    /// The versions of the project's files, for the anchored sources. Without it they are unknown.
    pub history: Option<&'a dyn FileHistory>,
}

impl std::fmt::Debug for Verify<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Verify")
            .field("path", &self.path)
            .field("project", &self.project)
            .field("anyway", &self.anyway)
            .finish_non_exhaustive()
    }
}

/// The result of a verification.
#[derive(Debug, Clone, Serialize)]
pub struct Verified {
    /// The memory.
    pub name: String,
    /// What exists.
    pub found: Vec<Mention>,
    /// What no longer exists.
    pub gone: Vec<Mention>,
    /// What could not be looked up.
    pub unknown: Vec<Mention>,
    /// What became of its anchored sources.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<AnchorState>,
    /// Whether the date was recorded.
    pub stamped: bool,
    /// The change, for undo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeId>,
}

/// Looks up what a memory mentions and, if everything exists or the caller says so, sets its `last_verified` to today and its anchored
/// sources to the files as they are now.
pub fn verify(store: &dyn Store, context: &Context, request: &Verify<'_>) -> Result<Verified> {
    let stored = store.get(&request.path)?.ok_or_else(|| read::not_found(store, &request.path))?;
    let text = write::utf8(&stored.path, &stored.bytes)?;
    let mut out = Verified {
        name: stored.path.name().into(),
        found: vec![],
        gone: vec![],
        unknown: vec![],
        anchors: anchors::anchor_states(&Memory::parse(text).0.validity(), request.history),
        stamped: false,
        change: None,
    };
    let referred = references(store, request.project, &stored.path, text)?;
    // References to memories are not looked up in the project as well.
    let referred_names: HashSet<&str> = referred.iter().map(|(other, _)| other.text.as_str()).collect();
    let is_new = |named: &Mention| !referred_names.contains(named.text.as_str());
    let named: Vec<Mention> = mentions(text).into_iter().chain(bare_file_mentions(text)).filter(is_new).collect();
    let looked_up = look_up(request.project, named, text);
    for (named, there) in looked_up.into_iter().chain(referred) {
        match there {
            Some(true) => out.found.push(named),
            Some(false) => out.gone.push(named),
            None => out.unknown.push(named),
        }
    }
    let is_true = out.gone.is_empty() && !out.anchors.iter().any(AnchorState::is_broken);
    if is_true || request.anyway {
        out.change = stamp(store, context, &stored.path, &|text| match request.history {
            Some(history) => anchors::with_current_anchors(text, &out.anchors, history),
            None => text.to_owned(),
        })?;
        out.stamped = true;
    }
    Ok(out)
}

/// Returns what a text mentions and no longer exists, as far as that is cheap to look up.
pub fn missing_mentions(look: &ProjectLookup<'_>, text: &str) -> Vec<Mention> {
    mentions(text).into_iter().filter(|named| look.is_there(named) == Some(false)).collect()
}

/// Describes what a text mentions and does not exist, besides what [`missing_mentions`] returns: links and references to memories and, if the
/// project's sources are few enough to be read now, symbols of the project that no tracked file contains.
pub fn missing(store: &dyn Store, look: Option<&ProjectLookup<'_>>, holder: &MemoryPath, text: &str) -> Result<Vec<String>> {
    let mut out = Vec::new();
    for (named, there) in references(store, look.map(ProjectLookup::project), holder, text)? {
        match (named.what, there) {
            (MentionKind::Memory, Some(false)) => out.push(format!("[[{}]], which is not a memory", named.text)),
            (_, Some(false)) => out.push(format!("{}, which does not exist", named.text)),
            _ => {}
        }
    }
    // A user's memories are not about this project, so their symbols are not the project's.
    let of_project = mounts::mount_of(store, holder).is_some_and(|mount| matches!(mount.prefix.as_str(), "" | "team"));
    let Some(look) = look.filter(|_| of_project) else { return Ok(out) };
    let symbols = of_the_project(look, text);
    let wanted: Vec<&str> = symbols.iter().map(String::as_str).collect();
    if wanted.is_empty() {
        return Ok(out);
    }
    if let Some(found) = look.symbols(&wanted, SourceLimit::Few) {
        out.extend(
            wanted.iter().filter(|name| !found.contains(name)).map(|name| format!("{name}, which does not occur in any tracked file")),
        );
    }
    Ok(out)
}

/// The symbols that are the project's because the text has them next to one of its paths. The owner of other symbols is unknown.
fn of_the_project(look: &ProjectLookup<'_>, text: &str) -> Vec<String> {
    let mut symbols: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    for (symbol, path) in project_symbols::beside_paths(text).into_iter().take(limits::MENTIONS) {
        if seen.insert((symbol.clone(), path.clone()))
            && !symbols.contains(&symbol)
            && !is_foreign(look, &symbol)
            && look.path(&path).is_some()
        {
            symbols.push(symbol);
        }
    }
    symbols
}

/// Whether a symbol is in a module that no file or folder of the project is named after, such as `tokio::spawn`.
fn is_foreign(look: &ProjectLookup<'_>, symbol: &str) -> bool {
    let Some((module, _)) = symbol.split_once("::") else { return false };
    let is_module = module.starts_with(|c: char| c.is_ascii_lowercase()) && !matches!(module, "crate" | "self" | "super");
    let is_ours = |file: &String| file.split('/').any(|part| part.split('.').next().is_some_and(|stem| stem.replace('-', "_") == module));
    is_module && !look.tracked().is_some_and(|files| files.iter().any(is_ours))
}

/// The targets of the links, wikilinks and `mem:` references of a text, and whether they exist: memories, or files of the project.
fn references(store: &dyn Store, project: Option<&Project>, holder: &MemoryPath, text: &str) -> Result<Vec<(Mention, Option<bool>)>> {
    let mut out: Vec<(Mention, Option<bool>)> = Vec::new();
    let mut seen = HashSet::new();
    for reference in links::references(text, holder) {
        if out.len() == limits::MENTIONS || !seen.insert(reference.target.clone()) {
            continue;
        }
        let is_link = matches!(reference.kind, ReferenceKind::Link | ReferenceKind::Definition);
        let targets: Vec<String> = match reference.kind {
            ReferenceKind::Wiki | ReferenceKind::Field => links::wiki_names(&reference.target, holder).collect(),
            _ => vec![reference.target.clone()],
        };
        let mut there = false;
        for target in targets.iter().filter_map(|target| MemoryPath::parse(target).ok()) {
            let target = mounts::resolve_alias(store, &target).unwrap_or(target);
            there = there || store.get(&target).is_ok_and(|found| found.is_some());
        }
        let what = if is_link { MentionKind::Path } else { MentionKind::Memory };
        let named = Mention { what, text: reference.target, line: reference.line };
        // A link may be relative to the root of the project; without a project its target is unknown.
        let there = match (there, is_link, project) {
            (true, ..) => Some(true),
            (false, true, Some(project)) => Some(project.checkout.join(&named.text).exists()),
            (false, true, None) => None,
            (false, false, _) => Some(false),
        };
        out.push((named, there));
    }
    Ok(out)
}

fn look_up(project: Option<&Project>, named: Vec<Mention>, text: &str) -> Vec<(Mention, Option<bool>)> {
    let Some(project) = project else { return named.into_iter().map(|named| (named, None)).collect() };
    let look = ProjectLookup::new(project);
    let wanted: Vec<&str> = named.iter().filter(|named| named.what == MentionKind::Symbol).map(|named| named.text.as_str()).collect();
    let symbols = if wanted.is_empty() { None } else { look.symbols(&wanted, SourceLimit::All) };
    let own = of_the_project(&look, text);
    let there: Vec<Option<bool>> = named
        .iter()
        .map(|named| match named.what {
            MentionKind::Symbol => match symbols.as_ref().map(|found| found.contains(&named.text.as_str())) {
                Some(false) if !own.contains(&named.text) => None,
                there => there,
            },
            _ => look.is_there(named),
        })
        .collect();
    named.into_iter().zip(there).collect()
}

/// Records the date, in the text that `renew` returns.
fn stamp(store: &dyn Store, context: &Context, path: &MemoryPath, renew: &dyn Fn(&str) -> String) -> Result<Option<ChangeId>> {
    let today = context.clock.today().to_string();
    let change = store.change(&context.intent(Verb::Edit), std::slice::from_ref(path), &mut |view| {
        let stored = view.get(path)?.ok_or_else(|| Error::NotFound { path: path.to_string(), near: Vec::new() })?;
        let (memory, _) = Memory::parse(&renew(write::utf8(&stored.path, &stored.bytes)?));
        let text = memory.with_field("last_verified", Some(&today));
        Ok(vec![FileEdit::save(stored.path, text.into_bytes())])
    })?;
    Ok((!change.files.is_empty()).then_some(change.id))
}
