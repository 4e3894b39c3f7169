//! `memdir forget`: after it no byte of the words is left under memdir's home, the memories and the cache.

use crate::{
    chats,
    home::{Home, feed, files_below},
    scope::{git, repository, run_in},
    terminal::answered,
};
use insta::assert_snapshot;
use memdir_core::Phrase;
use std::{fs, path::Path};

const WORDS: &str = "Maple Street 12";

/// The files below a directory that have the words, as written or in JSON.
fn files_with(dir: &Path, phrase: &Phrase) -> Vec<String> {
    let has = |name: &String| {
        let bytes = fs::read(dir.join(name)).unwrap();
        let text = String::from_utf8_lossy(&bytes).replace("\\n", " ").replace("\\u0020", " ");
        phrase.is_in(&bytes) || phrase.is_in(text) || phrase.is_in(name)
    };
    files_below(dir).into_iter().filter(has).collect()
}

/// A machine on which the words are everywhere: two projects, the user's memory, a team memory, conversations, an index, and the state
/// of hooks and commands.
fn full() -> Home {
    let home = chats::on();
    let transcript = home.path(".claude/projects/-home-ada-app/1af7fc5e-8455.jsonl");
    let turn = r#"{"type":"user","cwd":"/home/ada/app","uuid":"u2","timestamp":"2026-01-15T10:00:09Z","message":{"role":"user","content":"I live in maple street 12."}}"#;
    let text = fs::read_to_string(&transcript).unwrap();
    fs::write(&transcript, format!("{text}{turn}\n")).unwrap();
    repository(&home, "shop");
    repository(&home, "other");
    let write = |dir: &str, name: &str, text: &str| run_in(&home, dir, &["write", name, text]);
    write("shop", "notes/address", "Send parcels to Maple Street 12.\nTea at four.");
    write("shop", "notes/tea", "Tea at four.");
    write("shop", "notes/gone", "MAPLE   STREET 12 was sold.");
    run_in(&home, "shop", &["delete", "notes/gone"]);
    write("shop", "user/ada", "Ada: maple street 12.");
    write("other", "visit", "On the way to Maple Street 12 there is a bakery.");
    fs::create_dir_all(home.path("shop/.memdir")).unwrap();
    write("shop", "team/door", "The door of Maple Street 12 is green.");
    run_in(&home, "shop", &["chats", "sync"]);
    run_in(&home, "shop", &["search", "maple street"]);
    run_in(&home, "other", &["search", "maple street"]);
    run_in(&home, "shop", &["recall", "Where is Maple Street 12?"]);
    let input = serde_json::json!({ "session_id": "s", "cwd": home.path("shop"), "prompt": "parcels to Maple Street 12?" }).to_string();
    feed(home.bare(&["hook", "claude-code", "user-prompt"]).current_dir(home.path("shop")), input.as_bytes());
    for (name, text) in [
        ("home/cues/x.jsonl", "{\"path\":\"a\",\"cue\":\"maple\\nstreet 12\"}\n{\"path\":\"b\",\"cue\":\"tea\"}\n"),
        ("home/edits/draft.md", "A draft about Maple Street 12 and more.\n"),
        ("home/plans/plan.md", "# Plan\n\n- merge Maple Street 12\n"),
        ("home/inbox/a.json", "{\"text\": \"Maple Street 12\", \"n\": 1}"),
    ] {
        fs::create_dir_all(home.path(name).parent().unwrap()).unwrap();
        fs::write(home.path(name), text).unwrap();
    }
    home
}

#[test]
fn no_byte_is_left_under_the_home_the_memories_and_the_cache() {
    let home = full();
    let phrase = Phrase::parse(WORDS).unwrap();
    for dir in ["home", "shop/.memdir", ".cache/memdir"] {
        assert!(dir == ".cache/memdir" || !files_with(&home.path(dir), &phrase).is_empty(), "{dir} has the words before");
    }
    assert_snapshot!(run_in(&home, "shop", &["forget", "--dry-run", WORDS]), @"
    MEMORY.md  1 line
      4: - [notes/address](notes/address.md) — Send parcels to Maple Street 12.
    notes/address.md  1 line
      1: Send parcels to Maple Street 12.
    team/MEMORY.md  1 line
      4: - [door](door.md) — The door of Maple Street 12 is green.
    team/door.md  1 line
      1: The door of Maple Street 12 is green.
    user/MEMORY.md  1 line
      4: - [ada](ada.md) — Ada: maple street 12.
    user/ada.md  1 line
      1: Ada: maple street 12.
    [HOME]/home/projects/other-[HASH]/MEMORY.md  1 line
      4: - [visit](visit.md) — On the way to Maple Street 12 there is a bakery.
    [HOME]/home/projects/other-[HASH]/visit.md  1 line
      1: On the way to Maple Street 12 there is a bakery.
    history  13 recorded texts and names
    conversation claude-code/1af7fc5e-8455  1 turn
      I live in maple street 12.
    [HOME]/home/cues/x.jsonl
    [HOME]/home/edits/draft.md
    [HOME]/home/inbox/a.json
    [HOME]/home/plans/plan.md
    search indexes, vectors and caches  removed and built again
    -- stderr
    note: nothing was removed; remove all of this with: memdir forget --yes WORDS
    note: not reached: the git history of [HOME]/shop/.memdir
    note: not reached: the hosts' own transcripts, memories and caches
    note: not reached: other machines, backups, exports, and the history of your shell
    ");
    assert!(!files_with(&home.path("home"), &phrase).is_empty(), "a dry run removes nothing");
    assert_snapshot!(run_in(&home, "shop", &["forget", WORDS]), @"
    -- stderr
    error: forgetting needs confirmation, but standard input is not a terminal
    hint: list the places with --dry-run, then add --yes; nothing was removed
    -- exit 2
    ");
    let forgot = run_in(&home, "shop", &["forget", "--yes", WORDS]);
    let forgot = regex::Regex::new(r"forgotten/[0-9TZ-]+\.json").unwrap().replace(&forgot, "forgotten/[TIME].json");
    assert_snapshot!(forgot, @"
    MEMORY.md  1 line
      4: - [notes/address](notes/address.md) — Send parcels to Maple Street 12.
    notes/address.md  1 line
      1: Send parcels to Maple Street 12.
    team/MEMORY.md  1 line
      4: - [door](door.md) — The door of Maple Street 12 is green.
    team/door.md  1 line
      1: The door of Maple Street 12 is green.
    user/MEMORY.md  1 line
      4: - [ada](ada.md) — Ada: maple street 12.
    user/ada.md  1 line
      1: Ada: maple street 12.
    [HOME]/home/projects/other-[HASH]/MEMORY.md  1 line
      4: - [visit](visit.md) — On the way to Maple Street 12 there is a bakery.
    [HOME]/home/projects/other-[HASH]/visit.md  1 line
      1: On the way to Maple Street 12 there is a bakery.
    history  13 recorded texts and names
    conversation claude-code/1af7fc5e-8455  1 turn
      I live in maple street 12.
    [HOME]/home/cues/x.jsonl
    [HOME]/home/edits/draft.md
    [HOME]/home/inbox/a.json
    [HOME]/home/plans/plan.md
    search indexes, vectors and caches  removed and built again
    forgot: redacted 12 files, removed 0 memories, 13 recorded texts, 1 turn and 0 conversations
    verified: 2 searches by words and meaning did not find it
    receipt: [HOME]/home/forgotten/[TIME].json
    -- stderr
    note: not reached: the git history of [HOME]/shop/.memdir
    note: not reached: the hosts' own transcripts, memories and caches
    note: not reached: other machines, backups, exports, and the history of your shell
    ");
    for dir in ["home", "shop/.memdir", "other", ".cache/memdir"] {
        assert_eq!(files_with(&home.path(dir), &phrase), [""; 0], "{dir}");
    }
    // The rest of every text is left.
    assert_eq!(run_in(&home, "shop", &["read", "notes/address"]), "Send parcels to (forgotten).\nTea at four.\n");
    assert_eq!(run_in(&home, "other", &["read", "visit"]), "On the way to (forgotten) there is a bakery.\n");
    assert_eq!(fs::read_to_string(home.path("home/cues/x.jsonl")).unwrap(), "{\"path\":\"b\",\"cue\":\"tea\"}\n");
    assert_eq!(fs::read_to_string(home.path("home/edits/draft.md")).unwrap(), "A draft about (forgotten) and more.\n");
    assert!(run_in(&home, "shop", &["chats", "show", "1af7"]).contains("It hashes twice."));
    // The turn stays forgotten although the host still has it.
    fs::remove_file(home.path("home/chats/state.json")).ok();
    run_in(&home, "shop", &["chats", "sync"]);
    assert_eq!(files_with(&home.path("home"), &phrase), [""; 0]);
    // Search works again, undo says why it cannot, and forgetting again finds nothing.
    assert!(run_in(&home, "shop", &["search", "tea at four"]).starts_with("notes/"));
    assert!(run_in(&home, "shop", &["undo"]).contains("was forgotten"), "{}", run_in(&home, "shop", &["undo"]));
    assert_snapshot!(run_in(&home, "shop", &["forget", "--yes", WORDS]), @"
    -- stderr
    error: no place has these words
    hint: try fewer words; memdir search finds memories by meaning
    -- exit 1
    ");
}

#[test]
fn it_asks_before_it_forgets() {
    let home = Home::new();
    home.ok(&["write", "a", "A secret garden is here."]);
    let (printed, code) = answered(&mut home.command(&["forget", "secret garden"]), "n\n");
    assert!(printed.contains("1: A secret garden is here.") && printed.contains("It cannot be undone. [y/N]"), "{printed}");
    assert_eq!(code, 1);
    assert_eq!(home.text("a.md"), "A secret garden is here.\n");
    let (_, code) = answered(&mut home.command(&["forget", "secret garden"]), "y\n");
    assert_eq!((home.text("a.md"), code), ("A (forgotten) is here.\n".to_owned(), 0));
}

#[test]
fn a_directory_alone_is_forgotten_without_the_rest_of_the_home() {
    let home = Home::new();
    home.ok(&["write", "a", "A secret garden is here."]);
    repository(&home, "shop");
    run_in(&home, "shop", &["write", "b", "A secret garden there."]);
    let value = home.json(&["forget", "--yes", "secret garden"]);
    assert_eq!(value["receipt"]["redacted"], 2, "{value:#}");
    assert!(value["receipt"]["not_reached"].to_string().contains("--dir or MEMDIR_DIR"));
    assert_eq!(run_in(&home, "shop", &["read", "b"]), "A secret garden there.\n");
    let receipt = fs::read_to_string(value["receipt_file"].as_str().unwrap()).unwrap();
    assert!(!receipt.contains("garden") && receipt.contains("\"redacted\": 2"), "{receipt}");
}

#[test]
fn too_few_letters_and_read_only_memories_are_explained() {
    let home = Home::new();
    home.ok(&["write", "a", "A secret garden is here."]);
    assert_snapshot!(home.run(&["forget", "--yes", "a"]), @"
    -- stderr
    error: invalid words: at least 3 letters or digits are needed; fewer are in nearly every text
    -- exit 2
    ");
    assert_snapshot!(home.run(&["forget", "--yes", "nowhere to be found"]), @"
    -- stderr
    error: no place has these words
    hint: try fewer words; memdir search finds memories by meaning
    -- exit 1
    ");
    git(&home, "docs", &["init", "-q"]);
    fs::write(home.path("docs/x.md"), "The secret garden.\n").unwrap();
    home.configure(&format!("[[mounts]]\nname = \"docs\"\npath = {:?}\naccess = \"read-only\"\n", home.path("docs")));
    let output = run_in(&home, "work", &["forget", "--yes", "secret garden"]);
    assert!(output.contains("docs/x.md") && output.contains("stays: ") && output.ends_with("-- exit 1\n"), "{output}");
}
