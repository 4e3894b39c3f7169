//! The checks of single files, and of pairs of files.

use super::{CheckFinding, CheckRule, INSTRUCTION_FILES, alike, dates, finding};
use crate::{
    base::{
        error::{Problem, did_you_mean},
        limits,
        path::MemoryPath,
        text,
    },
    memory::{
        Kind, Memory,
        lines::FenceScanner,
        links::{self, ReferenceKind},
    },
    operations::verify::{self, ProjectLookup},
    project::Project,
    recall::when,
    secrets,
    store::{
        Store, Stored,
        mounts::{self, FileKind},
    },
};
use std::{
    collections::{BTreeSet, HashSet},
    fs,
};

/// What the files of a space are checked against.
pub(super) struct CheckedSpace<'a> {
    store: &'a dyn Store,
    names: BTreeSet<&'a str>,
    paths: BTreeSet<&'a str>,
    instructions: Vec<(&'static str, HashSet<String>)>,
    look: Option<ProjectLookup<'a>>,
}

impl<'a> CheckedSpace<'a> {
    pub(super) fn new(store: &'a dyn Store, texts: &[(&'a Stored, String)], project: Option<&'a Project>) -> Self {
        let read = |name: &&'static str| Some((*name, alike::normalised_lines(&fs::read_to_string(project?.checkout.join(name)).ok()?)));
        CheckedSpace {
            store,
            names: texts.iter().map(|(stored, _)| stored.path.name()).collect(),
            paths: texts.iter().map(|(stored, _)| stored.path.as_str()).collect(),
            instructions: INSTRUCTION_FILES.iter().filter_map(read).collect(),
            look: project.map(ProjectLookup::new),
        }
    }

    fn exists(&self, name: &str) -> bool {
        let Ok(path) = MemoryPath::parse(name) else { return self.paths.contains(name) || self.names.contains(name) };
        let path = mounts::resolve_alias(self.store, &path).unwrap_or(path);
        self.paths.contains(path.as_str()) || self.names.contains(path.as_str()) || self.names.contains(path.name())
    }

    /// Whether a link leads to a tracked file of the project.
    fn is_project_file(&self, target: &str) -> bool {
        self.look.as_ref().and_then(ProjectLookup::tracked).is_some_and(|files| files.iter().any(|file| file == target))
    }

    /// Entrypoints, their pages, tests files and logs are not checked as memories: they have no type and no entrypoint line.
    fn is_memory(&self, path: &MemoryPath) -> bool {
        path.is_md() && mounts::file_kind(self.store, path) == FileKind::Memory
    }
}

/// Adds the findings of one file.
pub(super) fn file_findings(space: &CheckedSpace<'_>, stored: &Stored, text: &str, out: &mut Vec<CheckFinding>) {
    let path = stored.path.as_str();
    let mut add = |line, rule, what: String| out.push(finding(path, line, rule, what));
    for secret in secrets::scan(text) {
        let sure = if secret.severity == secrets::SecretSeverity::Refuse { "looks like a secret" } else { "may be a secret" };
        add(Some(secret.line), CheckRule::Secret, format!("{sure} ({}); remove and revoke it", secret.rule));
    }
    for (line, marker) in conflict_markers(text) {
        add(
            Some(line),
            CheckRule::ConflictMarker,
            format!("{marker} is a merge conflict marker; resolve the conflict and remove the marker"),
        );
    }
    for reference in links::references(text, &stored.path) {
        reference_finding(space, &stored.path, &reference, &mut add);
    }
    if !space.is_memory(&stored.path) {
        return;
    }
    let (memory, problems) = Memory::parse(text);
    let line_and_text = |problem: &Problem| (problem.line, problem.what.clone());
    let problems = problems.into_iter().chain(memory.validity_problems()).collect::<Vec<_>>();
    problems.iter().map(line_and_text).for_each(|(line, what)| add(line, CheckRule::Frontmatter, what));
    if memory.field("type").is_none() {
        let [first @ .., last] = Kind::NAMES;
        add(None, CheckRule::Type, format!("no type; set it to {} or {last}", first.join(", ")));
    }
    for date in dates::relative_dates(text) {
        add(Some(date.line), CheckRule::RelativeDate, format!("{:?} is a relative date; write an absolute date", date.words));
    }
    for (line, file) in alike::repeats(text, &space.instructions) {
        add(Some(line), CheckRule::RepeatsInstructions, format!("repeats text from {file}; keep it in one place"));
    }
    let (wires, problems) = when::parse_field(&memory);
    problems.iter().chain(&wires.unreachable()).map(line_and_text).for_each(|(line, what)| add(line, CheckRule::Tripwire, what));
    // Paths in the tripwires of the frontmatter are checked with the tripwires.
    let in_body = |named: &verify::Mention| named.line >= memory.body_first_line();
    for gone in space.look.iter().flat_map(|look| verify::missing_mentions(look, text)).filter(in_body) {
        add(Some(gone.line), CheckRule::Gone, format!("mentions {}, which does not exist", gone.text));
    }
}

/// Returns the lines of a text, outside of code blocks, that begin with a conflict marker of git. Seven equals signs alone underline a
/// heading, so they count only beside another marker.
fn conflict_markers(text: &str) -> Vec<(u64, &'static str)> {
    const MARKERS: [&str; 4] = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"];
    let mut fence = FenceScanner::default();
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if fence.is_code(line) {
            continue;
        }
        let is_marker = |marker: &&&str| line.strip_prefix(**marker).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        found.extend(MARKERS.iter().find(is_marker).map(|marker| (number, *marker)));
    }
    if found.iter().all(|(_, marker)| *marker == "=======") { Vec::new() } else { found }
}

fn reference_finding(
    space: &CheckedSpace<'_>,
    holder: &MemoryPath,
    reference: &links::Reference,
    add: &mut impl FnMut(Option<u64>, CheckRule, String),
) {
    let target = &reference.target;
    let line = Some(reference.line);
    match reference.kind {
        // The lines of an entrypoint are checked with the entrypoint.
        ReferenceKind::Link | ReferenceKind::Definition
            if space.exists(target) || !space.is_memory(holder) || space.is_project_file(target) => {}
        ReferenceKind::Link | ReferenceKind::Definition => {
            add(line, CheckRule::DeadLink, format!("links to {target}, which does not exist"));
        }
        ReferenceKind::Wiki => {
            let reachable = links::wiki_names(target, holder).any(|name| space.exists(&name));
            if !reachable {
                add(line, CheckRule::DeadLink, format!("links to [[{target}]], which does not exist{}", candidates(space, target)));
            }
        }
        ReferenceKind::Field => {
            if !links::wiki_names(target, holder).any(|name| space.exists(&name)) {
                let what = format!("the frontmatter refers to {target:?}, which does not exist{}", candidates(space, target));
                add(line, CheckRule::DeadReference, what);
            }
        }
        ReferenceKind::Mem if space.exists(target) => {}
        ReferenceKind::Mem => {
            add(line, CheckRule::DeadReference, format!("links to mem:{target}, which does not exist{}", candidates(space, target)));
        }
    }
}

fn candidates(space: &CheckedSpace<'_>, target: &str) -> String {
    let near = text::near(target, space.names.iter().copied(), limits::NEAR_NAMES);
    if near.is_empty() { String::new() } else { format!("; {}", did_you_mean("did", &near)) }
}

/// Adds the findings that concern two files.
pub(super) fn between_files(space: &CheckedSpace<'_>, texts: &[(&Stored, String)], out: &mut Vec<CheckFinding>) {
    let memories: Vec<&(&Stored, String)> = texts.iter().filter(|(stored, _)| space.is_memory(&stored.path)).collect();
    let bodies: Vec<Memory> = memories.iter().map(|(_, text)| Memory::parse(text).0).collect();
    let bodies: Vec<&str> = bodies.iter().map(Memory::body).collect();
    for (first, second, percent) in alike::near_duplicates(&bodies) {
        let (first, second) = (&memories[first].0.path, &memories[second].0.path);
        out.push(finding(
            first.as_str(),
            None,
            CheckRule::NearDuplicate,
            format!("{percent}% identical to {}; keep only one", second.name()),
        ));
    }
}
