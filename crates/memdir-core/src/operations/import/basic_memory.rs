//! Converts the notes of basic-memory: each note becomes a memory with its text. Observations stay list items, relations stay wikilinks
//! whose names are those of the imported memories, and `permalink` stays in the frontmatter. Pure.

use super::{
    ImportFile, Incoming,
    names::{self, slug},
};
use crate::{
    base::{error::Problem, limits, path::MemoryPath, steps, text},
    memory::{
        Kind, Memory,
        lines::FenceScanner,
        links::{rewrite_wikilinks, wiki_names},
    },
};
use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap, HashSet},
};
use unicode_normalization::UnicodeNormalization as _;

/// The maximum number of targets of dead links that a problem names.
const NAMED_TARGETS: usize = 5;

/// Converts notes, given by their path in the directory and their text, in this order.
pub fn convert(notes: Vec<Incoming>) -> ImportFile {
    let parsed: Vec<Note> = notes.iter().map(Note::new).collect();
    let targets = Targets::new(&parsed);
    let dead = RefCell::new(BTreeSet::new());
    let memories = parsed.iter().map(|note| note.memory(&targets, &dead)).collect();
    let dead = dead.into_inner();
    let problems = (!dead.is_empty()).then(|| dead_links(&dead)).into_iter().collect();
    ImportFile { from: "basic-memory", memories, problems }
}

fn dead_links(dead: &BTreeSet<String>) -> Problem {
    let named: Vec<String> = dead.iter().take(NAMED_TARGETS).map(|name| format!("[[{name}]]")).collect();
    let more = if dead.len() > named.len() { format!(" and {} more", dead.len() - named.len()) } else { String::new() };
    let notes = text::counted(dead.len() as u64, "linked note was", "linked notes were");
    let them = if dead.len() == 1 { "it" } else { "them" };
    Problem { line: None, what: format!("{notes} not found: {}{more}; links to {them} are kept unchanged", named.join(", ")) }
}

/// One note.
struct Note<'a> {
    incoming: &'a Incoming,
    memory: Memory,
    title: String,
    /// The path of the memory that it becomes; `None` if no name can be made of it, and then the import reports it.
    path: Option<MemoryPath>,
}

impl<'a> Note<'a> {
    fn new(incoming: &'a Incoming) -> Note<'a> {
        let memory = Memory::parse(&incoming.text).0;
        let stem = stem(&incoming.name);
        let title = memory.field("title").unwrap_or(stem.rsplit('/').next().unwrap_or(stem)).trim().to_owned();
        Note { incoming, title, path: names::path("", &incoming.name).ok(), memory }
    }

    /// The memory that the note becomes. Targets of links that are not notes are added to `dead`.
    fn memory(&self, targets: &Targets<'_>, dead: &RefCell<BTreeSet<String>>) -> Incoming {
        let linked = self.path.as_ref().and_then(|holder| {
            rewrite_wikilinks(&self.incoming.text, &|written| {
                let name = targets.name(written, holder);
                if name.is_none() {
                    dead.borrow_mut().insert(written.to_owned());
                }
                // A link that already leads to the memory stays as the person wrote it.
                name.filter(|name| targets.wiki_target(written, holder).as_deref() != Some(name.as_str()))
            })
        });
        let mut text = linked.unwrap_or_else(|| self.incoming.text.clone());
        for (key, value) in self.fields() {
            text = Memory::parse(&text).0.with_field(key, Some(&value));
        }
        Incoming { name: self.incoming.name.clone(), text }
    }

    /// The frontmatter fields that memdir reads and the note lacks.
    fn fields(&self) -> Vec<(&'static str, String)> {
        let memory = &self.memory;
        let mut fields = Vec::new();
        if memory.name().is_none() {
            fields.push(("name", self.title.clone()));
        }
        if memory.description().is_none()
            && let Some(description) = first_observation(memory.body())
        {
            fields.push(("description", description));
        }
        match memory.field("type") {
            Some(kind) if kind.parse::<Kind>().is_ok() => {}
            Some("note") | None => fields.push(("type", "reference".to_owned())),
            Some(kind) => fields.extend([("note_type", kind.to_owned()), ("type", "reference".to_owned())]),
        }
        if memory.source().is_none() {
            fields.push(("source", "basic-memory".to_owned()));
        }
        fields
    }
}

/// The notes with one name, of the best rank that any of them has.
struct Candidates<'a> {
    rank: u8,
    shortest: &'a MemoryPath,
    by_folder: HashMap<&'a str, &'a MemoryPath>,
}

/// The names by which notes are linked.
struct Targets<'a> {
    by_key: HashMap<String, Candidates<'a>>,
    names: HashSet<&'a str>,
}

impl<'a> Targets<'a> {
    fn new(notes: &'a [Note<'a>]) -> Targets<'a> {
        let mut targets = Targets { by_key: HashMap::new(), names: HashSet::new() };
        for note in notes {
            let Some(path) = &note.path else { continue };
            targets.names.insert(path.name());
            let stem = stem(&note.incoming.name);
            let slugs: Vec<String> = stem.split('/').map(slug).collect();
            let permalink = note.memory.field("permalink");
            // A permalink is unique, a title need not be, and the rest is what the other program tries too.
            let keys = [
                (0, permalink.map(str::to_owned)),
                (1, Some(note.title.clone())),
                (2, Some(stem.to_owned())),
                (3, Some(slugs.join("/"))),
                (4, permalink.and_then(|permalink| permalink.split_once('/')).map(|(_, rest)| rest.to_owned())),
                (5, stem.rsplit('/').next().map(str::to_owned)),
            ];
            for (rank, key) in keys {
                if let Some(key) = key.map(|key| normal(&key)).filter(|key| !key.is_empty()) {
                    targets.add(key, rank, path);
                }
            }
        }
        targets
    }

    fn add(&mut self, key: String, rank: u8, path: &'a MemoryPath) {
        let first = || Candidates { rank, shortest: path, by_folder: HashMap::new() };
        let found = self.by_key.entry(key).or_insert_with(first);
        if rank < found.rank {
            *found = first();
        }
        if rank == found.rank {
            found.shortest = std::cmp::min_by_key(found.shortest, path, |path| (path.name().len(), path.name().to_owned()));
            found.by_folder.entry(path.parent().unwrap_or_default()).or_insert(path);
        }
    }

    /// The name of the memory that a link in `holder` leads to: of several, one in the same folder, else the one with the shortest name.
    fn name(&self, written: &str, holder: &MemoryPath) -> Option<String> {
        let key = normal(written);
        // A link into a project begins with the project's name, which older permalinks do not have.
        let inside = key.split_once('/').map(|(_, rest)| rest.to_owned());
        let found = self.by_key.get(&key).or_else(|| self.by_key.get(&inside?))?;
        let best = found.by_folder.get(holder.parent().unwrap_or_default()).unwrap_or(&found.shortest);
        Some(best.name().to_owned())
    }

    /// The name of the imported memory that a wikilink leads to as it is.
    fn wiki_target(&self, written: &str, holder: &MemoryPath) -> Option<String> {
        wiki_names(written, holder).find(|name| self.names.contains(name.as_str()))
    }
}

/// A name in the form in which names are compared.
fn normal(name: &str) -> String {
    let name = name.trim().trim_start_matches("memory://").replace("::", "/");
    let name = name.trim_matches('/');
    let name: String = stem(name).nfc().flat_map(char::to_lowercase).collect();
    steps::count(name.len());
    name
}

fn stem(name: &str) -> &str {
    name.strip_suffix(".md").or_else(|| name.strip_suffix(".MD")).unwrap_or(name)
}

/// The text of the first observation, without category, tags and context, if nothing but headings comes before it.
fn first_observation(body: &str) -> Option<String> {
    let mut fences = FenceScanner::default();
    for line in body.lines() {
        steps::count(line.len());
        let is_code = fences.is_code(line);
        let line = line.trim();
        if line.is_empty() || (!is_code && line.starts_with('#')) {
            continue;
        }
        let text = observation_text(line).filter(|_| !is_code)?;
        let text = text.split_whitespace().filter(|word| !is_tag(word)).collect::<Vec<_>>().join(" ");
        return Some(text::ellipsis(&text, limits::IMPORT_DESCRIPTION_CHARS).into_owned()).filter(|text| !text.is_empty());
    }
    None
}

/// The text of a list item `- [category] text (context)`, or `None` if it is not one.
fn observation_text(line: &str) -> Option<&str> {
    let item = line.strip_prefix(['-', '*', '+'])?.trim_start();
    let (category, text) = item.strip_prefix('[')?.split_once(']')?;
    let is_task = category.trim().is_empty() || matches!(category, "x" | "X" | "-") || category.contains('[');
    let text = text.strip_prefix(' ').filter(|_| !is_task)?.trim();
    let without_context = text.strip_suffix(')').and_then(|text| text.rfind(" (").map(|at| &text[..at]));
    Some(without_context.unwrap_or(text).trim())
}

fn is_tag(word: &str) -> bool {
    word.len() > 1 && word.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(notes: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
        let notes = notes.iter().map(|(name, text)| Incoming { name: (*name).to_owned(), text: (*text).to_owned() }).collect();
        let file = convert(notes);
        (file.memories.into_iter().map(|memory| memory.text).collect(), file.problems.into_iter().map(|problem| problem.what).collect())
    }

    #[test]
    fn links_lead_to_the_imported_names() {
        let notes = [
            ("a/Coffee Notes.md", "---\ntitle: Coffee Notes\npermalink: main/a/coffee-notes\n---\nx\n"),
            ("b/Brewing.md", "---\ntitle: Brewing Methods\n---\nx\n"),
            ("b/Tea.md", "x\n"),
            (
                "b/links.md",
                "- relates_to [[Coffee Notes]]\n- uses [[a/coffee-notes]] and [[main::a/coffee-notes|this]]\n- see [[brewing methods]], [[Tea]], \
                 [[memory://b/tea]]\n- [[Nobody]] `[[Coffee Notes]]`\n```\n[[Coffee Notes]]\n```\n",
            ),
        ];
        let (texts, problems) = converted(&notes);
        insta::assert_snapshot!(texts[3], @"
        ---
        name: links
        type: reference
        source: basic-memory
        ---

        - relates_to [[a/Coffee Notes]]
        - uses [[a/Coffee Notes]] and [[a/Coffee Notes|this]]
        - see [[b/Brewing]], [[Tea]], [[b/Tea]]
        - [[Nobody]] `[[Coffee Notes]]`
        ```
        [[Coffee Notes]]
        ```
        ");
        assert_eq!(problems, ["1 linked note was not found: [[Nobody]]; links to it are kept unchanged"]);
    }

    #[test]
    fn of_two_notes_with_one_title_the_one_in_the_same_folder_is_linked() {
        let notes = [("a/Log.md", "x\n"), ("b/Log.md", "x\n"), ("b/n.md", "[[Log]]\n"), ("c/n.md", "[[log]]\n")];
        let (texts, _) = converted(&notes);
        assert!(texts[2].ends_with("[[Log]]\n") && texts[3].ends_with("[[a/Log]]\n"), "{texts:?}");
    }

    #[test]
    fn the_first_observation_describes_a_note() {
        for (body, expected) in [
            ("# T\n\n## Observations\n- [decision] Use *Postgres* #db #core (since 2024)\n", Some("Use *Postgres*")),
            ("Text first.\n- [fact] x\n", None),
            ("- [ ] a task\n", None),
            ("- [link](x.md) y\n", None),
            ("- relates_to [[X]]\n", None),
            ("", None),
        ] {
            assert_eq!(first_observation(body).as_deref(), expected, "{body}");
        }
    }

    #[test]
    fn what_a_note_has_is_kept() {
        let note = "---\r\ntitle: A\r\ntype: person\r\ntags:\r\n- x\r\npermalink: a\r\ncreated: 2024-05-01\r\n---\r\n\r\nText.\r\n";
        let (texts, _) = converted(&[("a.md", note), ("b.md", "---\nname: B\ndescription: d\ntype: user\nsource: me\n---\nx\n")]);
        assert_eq!(
            texts[0],
            "---\r\ntitle: A\r\ntype: reference\r\ntags:\r\n- x\r\npermalink: a\r\ncreated: 2024-05-01\r\nname: A\r\nnote_type: person\r\nsource: basic-memory\r\n---\r\n\r\nText.\r\n"
        );
        assert_eq!(texts[1], "---\nname: B\ndescription: d\ntype: user\nsource: me\n---\nx\n");
    }
}
