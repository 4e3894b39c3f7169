//! Splits memories that are too long to be recalled as a whole at their headings. The memory keeps its beginning and a link to each part.

use super::{
    DreamAction, DreamChange, DreamOperation, DreamReason,
    material::{Material, MaterialFile},
};
use crate::{
    base::{limits, path::MemoryPath, text::lower_case_words},
    memory::{
        compose,
        lines::{FenceScanner, LineKind, heading},
        links,
    },
};
use std::collections::HashSet;

/// Bytes of a memory's body above which a dream proposes to split it: twice what a recall shows.
const DREAM_LONG_BYTES: usize = 2 * limits::RECALL_BYTES;

/// A section that is shorter than this stays where it is.
const MIN_SECTION: usize = 400;

/// Files that people and programs read whole, by these names.
const DOCUMENTS: [&str; 7] = ["README.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md", "CONTRIBUTING.md", "CHANGELOG.md", "MEMORY.md"];

/// Returns the proposed splits.
pub(super) fn find(material: &Material) -> Vec<DreamOperation> {
    let is_document = |file: &MaterialFile| DOCUMENTS.iter().any(|name| name.eq_ignore_ascii_case(file.path.file_name()));
    let names: HashSet<&str> = material.files.iter().map(|file| file.path.as_str()).collect();
    material
        .files
        .iter()
        .filter(|file| file.memory.body().len() > DREAM_LONG_BYTES && !is_document(file))
        .filter_map(|file| split(file, &names))
        .collect()
}

/// A part of a body: its heading and its text with the heading.
struct Section<'a> {
    title: &'a str,
    text: &'a str,
}

fn split(file: &MaterialFile, names: &HashSet<&str>) -> Option<DreamOperation> {
    let body = file.memory.body();
    let (intro, sections) = sections(body)?;
    let (mut kept, mut links_text, mut new) = (intro.trim_end().to_owned(), String::new(), Vec::new());
    let mut taken = HashSet::new();
    for section in &sections {
        let slug = slug(section.title);
        let path = MemoryPath::parse(&format!("{}/{slug}.md", file.name())).ok();
        match path.filter(|path| {
            section.text.len() >= MIN_SECTION && !slug.is_empty() && !names.contains(path.as_str()) && taken.insert(path.clone())
        }) {
            Some(path) => {
                let stem = file.path.file_name().trim_end_matches(".md");
                links_text.push_str(&format!("- [{}]({})\n", section.title, links::link_destination(&format!("{stem}/{slug}.md"))));
                new.push(DreamChange::New { text: part(file, section, &path), path });
            }
            None => kept.push_str(&format!("\n\n{}", section.text.trim())),
        }
    }
    if new.len() < 2 {
        return None;
    }
    let text = file.memory.with_body(format!("{}\n\n{links_text}", kept.trim()).trim_start());
    let count = new.len();
    let mut changes = vec![DreamChange::Write { path: file.path.clone(), version: file.version, text }];
    changes.extend(new);
    Some(DreamOperation {
        action: DreamAction::Update,
        reason: DreamReason::TooLong,
        why: format!("the body of {} is {} bytes long; {count} of its sections become separate memories", file.name(), body.len()),
        confidence: 75,
        sources: Vec::new(),
        changes,
        diff: String::new(),
    })
}

fn part(file: &MaterialFile, section: &Section<'_>, path: &MemoryPath) -> String {
    let title = format!("{}: {}", file.memory.title(file.name()), section.title);
    let day = file.day().to_string();
    let mut fields = vec![("name", title.as_str())];
    let kind = file.memory.kind().map(|kind| kind.as_str());
    fields.extend(kind.map(|kind| ("type", kind)));
    fields.push(("modified", &day));
    let text = links::rebase_links(section.text, &file.path, path).unwrap_or_else(|| section.text.to_owned());
    compose(&fields, &format!("{}\n", text.trim()))
}

/// The text before the first section, and the sections of the highest level that occurs at least twice.
fn sections(body: &str) -> Option<(&str, Vec<Section<'_>>)> {
    let mut found: Vec<(u8, usize, &str)> = Vec::new();
    let (mut fences, mut at) = (FenceScanner::default(), 0);
    for line in body.split_inclusive('\n') {
        if fences.classify(line.trim_end()) == LineKind::Text
            && let Some(heading) = heading(line.trim_end())
        {
            found.push((heading.level, at, heading.text));
        }
        at += line.len();
    }
    let level = (1..=3).find(|level| found.iter().filter(|(other, ..)| other == level).count() >= 2)?;
    let starts: Vec<(usize, &str)> = found.iter().filter(|(other, ..)| *other == level).map(|(_, at, title)| (*at, *title)).collect();
    let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([body.len()]);
    let sections = starts.iter().zip(ends).map(|((start, title), end)| Section { title, text: &body[*start..end] }).collect();
    Some((&body[..starts[0].0], sections))
}

/// A file name from a heading: its words in lower case.
fn slug(title: &str) -> String {
    lower_case_words(title).take(6).collect::<Vec<_>>().join("-")
}
