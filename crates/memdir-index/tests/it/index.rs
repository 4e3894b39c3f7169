//! The index gives the same results as the brute-force index, in whatever steps its files were indexed.

use memdir_core::{
    Embedder, Index, MemoryPath, Stamp, Stored, Version,
    internal::search::{
        embed::{EmbedRole, testing::RamEmbedder},
        index::{Counts, IndexChange, IndexFile, IndexQuery, IndexView, UnitCandidate, Wait},
        indexing::Preparer,
        query::Query,
        ranking,
    },
    testing::RamIndex,
};
use memdir_index::TantivyIndex;
use proptest::prelude::*;
use std::{collections::BTreeMap, path::Path, sync::Arc};

fn stored(path: &str, text: &str) -> Stored {
    let bytes = text.as_bytes().to_vec();
    let stamp = Stamp { size: bytes.len() as u64, mtime_ns: 1, ctime_ns: 1, inode: 1 };
    Stored { path: MemoryPath::parse(path).unwrap(), version: Version::from_content(&bytes), bytes, stamp }
}

fn prepared(embedder: &dyn Embedder, path: &str, text: &str) -> Arc<IndexFile> {
    Arc::new(Preparer::new(Some(embedder)).prepare(path, &stored(path, text), 0))
}

fn disk(root: &Path, embedder: &dyn Embedder) -> TantivyIndex {
    TantivyIndex::new(root.to_owned(), Some((embedder.id().clone(), embedder.dim())))
}

fn apply(index: &dyn Index, changes: &[IndexChange]) {
    let mut batch = index.begin(Wait::Yes, &|| false).unwrap().unwrap();
    let mut writer = batch.writer(changes.len()).unwrap();
    for change in changes {
        match change {
            IndexChange::Put(file) => writer.put(file.clone()).unwrap(),
            IndexChange::Remove(path) => batch.remove(path),
        }
    }
    batch.commit(vec![writer]).unwrap();
}

/// The results of a query: counts, and every candidate by its place.
fn answers(view: &dyn IndexView, embedder: &dyn Embedder, text: &str) -> (Counts, BTreeMap<(String, u32), UnitCandidate>) {
    let query = Query::parse(text, &mut Default::default());
    let vector = embedder.embed(EmbedRole::Query, &[&query.text]).unwrap().remove(0);
    let ask = IndexQuery {
        terms: &query.terms,
        codes: &query.codes,
        pairs: &query.pairs,
        without: &query.without,
        must: &[],
        time: query.time,
        vector: Some(&vector),
        files: None,
        since: None,
    };
    let asked = view.ask(&ask).unwrap();
    let counts = asked.counts().clone();
    let candidates = asked.candidates(&counts).unwrap();
    (counts, candidates.into_iter().map(|c| ((c.path.clone(), c.first), c)).collect())
}

fn assert_same(found: &dyn IndexView, expected: &dyn IndexView, embedder: &dyn Embedder, text: &str) {
    let (found_counts, found) = answers(found, embedder, text);
    let (expected_counts, expected) = answers(expected, embedder, text);
    assert_eq!(found_counts, expected_counts, "{text}");
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{text}");
    for (place, candidate) in &found {
        let other = &expected[place];
        let near = |a: f32, b: f32| (a - b).abs() <= 1e-4 * a.abs().max(1.0);
        let mass = ranking::perfect_score(&found_counts);
        let score = |c: &UnitCandidate| ranking::score(&c.parts, c.assistant, mass, c.cosine, ranking::Scale::STATIC);
        assert!(near(score(candidate), score(other)), "{text}: {candidate:?} is not {other:?}");
        assert!(near(candidate.cosine.unwrap_or(0.0), other.cosine.unwrap_or(0.0)), "{text}: {candidate:?} is not {other:?}");
        assert_eq!((candidate.last, candidate.day, candidate.version), (other.last, other.day, other.version));
    }
}

#[derive(Debug, Clone)]
enum Step {
    Put(usize, String),
    Remove(usize),
    Commit,
}

const NAMES: [&str; 6] = ["MEMORY.md", "a.md", "b.md", "logs/2024-05-01.md", "team/c.md", "d.md"];

fn memory() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "deploy", "deploys", "the", "server", "of", "getUserName", "src/db/pool.rs", "not", "May", "2024", "茶を飲む", "🚀", "backup",
        "on", "friday",
    ]);
    let words = || prop::collection::vec(word.clone(), 1..8).prop_map(|words| words.join(" "));
    let line = prop_oneof![
        4 => words(),
        1 => Just(String::new()),
        1 => words().prop_map(|w| format!("# {w}")),
        2 => words().prop_map(|w| format!("- {w}")),
        1 => words().prop_map(|w| format!("\n**User:** {w}\n")),
        1 => words().prop_map(|w| format!("\n**Assistant:** {w}\n")),
        1 => (0..NAMES.len(), words()).prop_map(|(n, w)| format!("- [{w}]({}) — {w}", NAMES[n])),
    ];
    let text = prop::collection::vec(line, 0..9).prop_map(|lines| lines.join("\n"));
    let head = prop_oneof![
        3 => Just(String::new()),
        1 => words().prop_map(|w| format!("---\ncues: [{w:?}, getUserName]\n---\n\n")),
    ];
    (head, text).prop_map(|(head, text)| head + &text)
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        5 => (0..NAMES.len(), memory()).prop_map(|(name, text)| Step::Put(name, text)),
        1 => (0..NAMES.len()).prop_map(Step::Remove),
        2 => Just(Step::Commit),
    ];
    prop::collection::vec(step, 1..14)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_steps_in_which_files_are_indexed_do_not_change_the_results(steps in steps()) {
        let folder = tempfile::tempdir().unwrap();
        let embedder = RamEmbedder::new();
        let (plain, updated) = (RamIndex::default(), disk(&folder.path().join("updated"), &embedder));
        let mut files: BTreeMap<&str, Arc<IndexFile>> = BTreeMap::new();
        let mut waiting: BTreeMap<&str, IndexChange> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Put(name, text) => {
                    let file = prepared(&embedder, NAMES[name], &text);
                    files.insert(NAMES[name], file.clone());
                    waiting.insert(NAMES[name], IndexChange::Put(file));
                }
                Step::Remove(name) => {
                    files.remove(NAMES[name]);
                    waiting.insert(NAMES[name], IndexChange::Remove(NAMES[name].to_owned()));
                }
                Step::Commit => apply(&updated, &std::mem::take(&mut waiting).into_values().collect::<Vec<_>>()),
            }
        }
        let changes: Vec<IndexChange> = waiting.into_values().collect();
        let all: Vec<IndexChange> = files.into_values().map(IndexChange::Put).collect();
        apply(&plain, &all);
        let anew = disk(&folder.path().join("anew"), &embedder);
        apply(&anew, &all);
        let overlaid = updated.overlay(&updated.view().unwrap(), &changes).unwrap();
        let expected = plain.view().unwrap();
        for query in ["deploy the server", "user name", "backup friday -server", "May 2024 deploys", "飲む 🚀", "pool.rs not", "the of", "nothing like it"] {
            assert_same(&*overlaid, &*expected, &embedder, query);
            assert_same(&*anew.view().unwrap(), &*expected, &embedder, query);
        }
        apply(&updated, &changes);
        let opened = disk(&folder.path().join("updated"), &embedder);
        for query in ["deploy the server", "friday backup"] {
            assert_same(&*opened.view().unwrap(), &*expected, &embedder, query);
        }
        opened.verify().unwrap();
    }
}

#[test]
fn many_small_updates_stay_small() {
    let folder = tempfile::tempdir().unwrap();
    let embedder = RamEmbedder::new();
    let index = disk(folder.path(), &embedder);
    for round in 0..500 {
        let put = |n: usize| {
            let name = format!("note-{}.md", (round * 4 + n) % 200);
            IndexChange::Put(prepared(
                &embedder,
                &name,
                &format!("# Note\n\nround {round} of part {n}\n\n- deploy on day {}\n", round % 31),
            ))
        };
        apply(&index, &(0..4).map(put).collect::<Vec<_>>());
    }
    let size = index.size();
    assert!(size.segments <= 6, "{size:?}");
    assert!(size.files <= 80, "{size:?}");
    assert!(size.bytes <= 4 << 20, "{size:?}");
    assert_eq!(index.view().unwrap().totals().files, 200);
}

#[test]
fn any_damage_to_a_file_of_an_index_costs_no_more_than_a_rebuild() {
    let embedder = RamEmbedder::new();
    let fill = |root: &Path| {
        let index = disk(root, &embedder);
        let note = |n: usize| IndexChange::Put(prepared(&embedder, &format!("n{n}.md"), &format!("deploy number {n} on friday\n")));
        apply(&index, &(0..30).map(note).collect::<Vec<_>>());
        apply(&index, &[note(3), note(40)]);
    };
    let names: Vec<String> = {
        let folder = tempfile::tempdir().unwrap();
        fill(folder.path());
        let mut names: Vec<String> = walk(folder.path());
        names.retain(|name| !name.ends_with("lock"));
        names
    };
    assert!(names.len() > 8, "{names:?}");
    for (n, how) in names.iter().enumerate().flat_map(|(n, _)| ["gone", "cut", "garbled", "empty"].map(|how| (n, how))) {
        let folder = tempfile::tempdir().unwrap();
        fill(folder.path());
        // Segments have random names; the order of the files by kind is the same.
        let mut files = walk(folder.path());
        files.retain(|name| !name.ends_with("lock"));
        let path = folder.path().join(&files[n]);
        let mut bytes = std::fs::read(&path).unwrap();
        match how {
            "gone" => std::fs::remove_file(&path).unwrap(),
            "cut" => std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap(),
            "garbled" => {
                bytes.iter_mut().for_each(|byte| *byte ^= 0x5a);
                std::fs::write(&path, &bytes).unwrap();
            }
            _ => std::fs::write(&path, b"").unwrap(),
        }
        let index = disk(folder.path(), &embedder);
        let view = index.view().unwrap();
        let files = view.totals().files;
        assert!(files == 0 || files == 31, "{how} {}: {files} files", path.display());
        // A missing state is an empty index; any other damage that was noticed at open is reported, once.
        let is_missing_state = how == "gone" && path.ends_with("state");
        assert_eq!(index.damage_report().is_some(), files == 0 && !is_missing_state, "{how} {}", path.display());
        assert_eq!(index.damage_report(), None);
        let _ = answers(&*view, &embedder, "deploy friday");
        // A rebuild restores it.
        let all: Vec<IndexChange> = (0..30)
            .chain([40])
            .map(|n| IndexChange::Put(prepared(&embedder, &format!("n{n}.md"), &format!("deploy number {n} on friday\n"))))
            .collect();
        apply(&index, &all);
        let opened = disk(folder.path(), &embedder);
        assert_eq!(opened.view().unwrap().totals().files, 31, "{how} {}", path.display());
        opened.verify().unwrap();
        assert_eq!(answers(&*opened.view().unwrap(), &embedder, "deploy friday").0.terms[0].body, 31);
    }
}

#[test]
fn an_index_of_another_version_is_replaced_without_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let embedder = RamEmbedder::new();
    apply(&disk(folder.path(), &embedder), &[IndexChange::Put(prepared(&embedder, "a.md", "deploy on friday\n"))]);
    let path = folder.path().join("state");
    let mut bytes = std::fs::read(&path).unwrap();
    // The fingerprint of the format follows the magic number and the checksum.
    bytes[16] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let index = disk(folder.path(), &embedder);
    assert_eq!((index.view().unwrap().totals().files, index.damage_report()), (0, None));
}

fn walk(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
            match entry.is_dir() {
                true => folders.push(entry),
                false => found.push(entry.strip_prefix(root).unwrap().display().to_string()),
            }
        }
    }
    found.sort();
    found
}
