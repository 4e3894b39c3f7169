//! Forgetting: no byte of the words is left in memories and journals, everything else stays, and the versions report what happened.

use crate::{
    file_store::path,
    support::{self, Desk},
};
use memdir_core::{ChangeFilter, Phrase, UndoTarget, Version};
use serde_json::json;
use std::{fs, path::Path};

/// The files below a directory that have the words.
pub(crate) fn files_with(dir: &Path, phrase: &Phrase) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(&at).unwrap().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            if phrase.is_in(name.as_encoded_bytes()) {
                found.push(path.display().to_string());
            }
            if entry.file_type().unwrap().is_dir() {
                open.push(path);
            } else if phrase.is_in(fs::read(&path).unwrap()) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

fn written() -> Desk {
    let desk = support::native();
    let write = |name: &str, text: &str| {
        let mode = if desk.file(&format!("{name}.md")).is_some() { "replace" } else { "create" };
        desk.text("memory_write", json!({ "path": name, "content": text, "mode": mode }))
    };
    write(
        "people/ada",
        "---\ndescription: Ada lives in Maple Street 12 since May\ntype: user\n---\n\n# Ada\n\nLikes tea.\nLives in\nMAPLE street 12.\n",
    );
    write(
        "people/ada",
        "---\ndescription: Ada lives in Maple Street 12 since May\ntype: user\n---\n\n# Ada\n\nLikes green tea.\nLives in\nMAPLE street 12.\n",
    );
    write("notes/tea", "Green tea at 80 degrees.\n");
    write("only", "Maple Street 12\n");
    write("gone", "Was in Maple Street 12, moved.\n");
    desk.text("memory_delete", json!({ "path": "gone" }));
    write("maple-street-12", "A house.\n");
    desk
}

fn history(desk: &Desk) -> Vec<String> {
    let all = desk.caller.memdir.history(&ChangeFilter::default()).unwrap();
    all.iter().map(|change| format!("{} {}", change.verb.past_tense(), change.files.len())).collect()
}

#[test]
fn no_byte_is_left_and_everything_else_stays() {
    let desk = written();
    let memdir = &desk.caller.memdir;
    let phrase = Phrase::parse("maple street 12").unwrap();
    let old = Version::from_content(desk.file("people/ada.md").unwrap().as_bytes());
    let tea = desk.file("notes/tea.md");
    let before = history(&desk);
    let found = memdir.find_forgettable(&phrase).unwrap();
    let files: Vec<(&str, bool)> = found.files.iter().map(|file| (file.path.as_str(), file.whole)).collect();
    assert_eq!(files, [("MEMORY.md", false), ("maple-street-12.md", true), ("only.md", true), ("people/ada.md", false)]);
    let lines: Vec<(u64, &str)> = found.files[3].lines.iter().map(|line| (line.line, line.text.as_str())).collect();
    assert_eq!(lines, [(2, "description: Ada lives in Maple Street 12 since May"), (10, "MAPLE street 12.")]);
    assert!(found.versions > 4, "{}", found.versions);
    let forgotten = memdir.forget(&phrase).unwrap();
    assert_eq!(
        (forgotten.removed, forgotten.redacted.iter().map(|path| path.as_str()).collect::<Vec<_>>()),
        (2, vec!["MEMORY.md", "people/ada.md"])
    );
    assert_eq!(files_with(desk.top.path(), &phrase), [""; 0]);
    assert_eq!(
        desk.file("people/ada.md").unwrap(),
        "---\ndescription: Ada lives in (forgotten) since May\ntype: user\n---\n\n# Ada\n\nLikes green tea.\nLives in\n(forgotten).\n"
    );
    assert_eq!((desk.file("only.md"), desk.file("notes/tea.md")), (None, tea));
    let entrypoint = desk.file("MEMORY.md").unwrap();
    assert!(entrypoint.contains("- [people/ada](people/ada.md) — Ada lives in (forgotten) since May\n"), "{entrypoint}");
    assert!(!entrypoint.contains("only.md"), "{entrypoint}");
    // The history has the same changes and the one that forgot; the forgotten versions are marked.
    let after = history(&desk);
    assert_eq!(after[1..], before[..], "{after:?}");
    assert!(after[0].starts_with("forgot words in"), "{after:?}");
    let error = memdir.store().text_at(&path("people/ada.md"), old).unwrap_err();
    assert_eq!(error.to_string(), format!("version {} of people/ada was forgotten and cannot be restored", old.short()));
    let undo = memdir.undo(&UndoTarget::Last).unwrap_err();
    assert!(undo.to_string().contains("was forgotten"), "{undo}");
    // What was not forgotten can still be undone, and a new change follows.
    desk.text("memory_write", json!({ "path": "notes/tea", "content": "Black tea.\n", "mode": "replace" }));
    memdir.undo(&UndoTarget::Last).unwrap();
    assert_eq!(desk.file("notes/tea.md").unwrap(), "Green tea at 80 degrees.\n");
    assert_eq!(memdir.store().damaged_records(), 0);
    // Again there is nothing to do.
    assert_eq!(memdir.find_forgettable(&phrase).unwrap(), Default::default());
    assert_eq!(memdir.forget(&phrase).unwrap(), Default::default());
}

#[test]
fn a_file_that_is_too_large_to_write_stays_and_is_named() {
    let desk = support::native();
    desk.put("a.md", "Ada lives in Maple Street 12.\n");
    desk.put("huge.md", &format!("{}Maple Street 12\n", "a b c\n".repeat(800_000)));
    let phrase = Phrase::parse("maple street 12").unwrap();
    desk.caller.memdir.forget(&phrase).unwrap();
    assert_eq!(desk.file("a.md").unwrap(), "Ada lives in (forgotten).\n");
    let left = desk.caller.memdir.find_forgettable(&phrase).unwrap().files;
    let left: Vec<(&str, Option<&str>)> = left.iter().map(|file| (file.path.as_str(), file.read_only.as_deref())).collect();
    let why = "it is 4800016 bytes, and memdir writes at most 4194304 bytes per file; remove the words with an editor";
    assert_eq!(left, [("huge.md", Some(why))]);
}

/// A writer that writes the words again meanwhile loses nothing but the words. What it writes after the last look is found by the next one.
#[test]
fn a_concurrent_writer_loses_nothing_but_the_words() {
    let desk = support::native();
    let phrase = Phrase::parse("maple street 12").unwrap();
    let write = |n: usize| {
        desk.text(
            "memory_write",
            json!({ "path": "log", "content": format!("line {n} from Maple Street 12\n"), "mode": if n == 0 { "create" } else { "append" } }),
        )
    };
    write(0);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| (1..40).for_each(|n| drop(write(n))));
        while !writer.is_finished() {
            desk.caller.memdir.forget(&phrase).unwrap();
        }
    });
    desk.caller.memdir.forget(&phrase).unwrap();
    assert_eq!(files_with(desk.top.path(), &phrase), [""; 0]);
    let expected: String = (0..40).map(|n| format!("line {n} from (forgotten)\n")).collect();
    assert_eq!(desk.file("log.md").unwrap(), expected);
    assert_eq!(desk.caller.memdir.store().damaged_records(), 0);
}

/// A writer saved the words between the two steps of forgetting: their version is forgotten already, and the change that redacts the
/// memory has them as the text before it.
#[test]
fn what_was_before_a_redaction_is_forgotten_too() {
    let desk = support::native();
    let phrase = Phrase::parse("maple street 12").unwrap();
    desk.text("memory_write", json!({ "path": "log", "content": "Tea at Maple Street 12.\n", "mode": "create" }));
    let store = desk.caller.memdir.store();
    assert_eq!(store.forget_in_history(&phrase).unwrap(), 2, "the memory and its entrypoint line");
    assert_eq!(desk.caller.memdir.forget(&phrase).unwrap().redacted.len(), 2);
    assert_eq!(files_with(desk.top.path(), &phrase), [""; 0]);
    assert_eq!(store.count_in_history(&phrase).unwrap(), 0);
    assert_eq!(desk.file("log.md").unwrap(), "Tea at (forgotten).\n");
}

#[test]
fn a_name_is_forgotten_with_its_memory() {
    let desk = written();
    let phrase = Phrase::parse("maple-street").unwrap();
    let found = desk.caller.memdir.find_forgettable(&phrase).unwrap();
    assert_eq!(
        found.files.iter().map(|file| (file.path.as_str(), file.whole)).collect::<Vec<_>>(),
        [("MEMORY.md", false), ("maple-street-12.md", true)]
    );
    desk.caller.memdir.forget(&phrase).unwrap();
    assert_eq!(files_with(desk.top.path(), &phrase), [""; 0]);
    let names: Vec<String> = desk
        .caller
        .memdir
        .history(&ChangeFilter::default())
        .unwrap()
        .into_iter()
        .flat_map(|change| change.files)
        .map(|file| file.path.to_string())
        .collect();
    assert!(names.iter().any(|name| name.starts_with("forgotten/")), "{names:?}");
}

#[test]
fn texts_of_other_programs_and_bytes_that_are_not_text_are_forgotten_too() {
    let desk = support::native();
    desk.put("latin.md", "x");
    fs::write(desk.root.join("latin.md"), b"\xff Caf\xc3\xa9 Orion \xfe tail\r\n").unwrap();
    desk.put("logs/2026/01/02.md", "- cafe\u{301}  ORION\n- other\n");
    desk.caller.memdir.store().record_outside_changes(support::NOW.parse().unwrap(), true).unwrap();
    let phrase = Phrase::parse("café orion").unwrap();
    desk.caller.memdir.forget(&phrase).unwrap();
    assert_eq!(fs::read(desk.root.join("latin.md")).unwrap(), b"\xff (forgotten) \xfe tail\r\n");
    assert_eq!(desk.file("logs/2026/01/02.md").unwrap(), "- (forgotten)\n- other\n");
    assert_eq!(files_with(desk.top.path(), &phrase), [""; 0]);
}
