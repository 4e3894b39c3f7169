//! `memdir forget`: after it no byte of the words is left under memdir's home, the memories and the cache.

use crate::{
    chats,
    home::{Home, feed, files_below},
    inbox::{self, Planted},
    scope::{git, repository, run_in},
    terminal::answered,
};
use insta::assert_snapshot;
use memdir_core::Phrase;
use std::{fs, io::Read as _, path::Path};

const WORDS: &str = "Maple Street 12";

/// The files below a directory that have the words, as written or in JSON, decompressed if they are compressed.
fn files_with(dir: &Path, phrase: &Phrase) -> Vec<String> {
    let has = |name: &String| {
        let mut bytes = Vec::new();
        memdir_chats::decompressed(fs::File::open(dir.join(name)).unwrap()).unwrap().read_to_end(&mut bytes).unwrap();
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
    history  13 entries
    conversation claude-code/1af7fc5e-8455  1 turn
      I live in maple street 12.
    [HOME]/home/cues/x.jsonl
    [HOME]/home/edits/draft.md
    [HOME]/home/inbox/a.json
    [HOME]/home/plans/plan.md
    search indexes, vectors and caches  all files; rebuilt when needed
    -- stderr
    note: nothing was removed; to forget the words, run the same command without --dry-run
    note: not reached: the git history of [HOME]/shop/.memdir
    note: not reached: the hosts' own transcripts, memories and caches
    note: not reached: other machines, backups, exports and your shell history
    ");
    assert!(!files_with(&home.path("home"), &phrase).is_empty(), "a dry run removes nothing");
    assert_snapshot!(run_in(&home, "shop", &["forget", WORDS]), @"
    -- stderr
    error: forgetting needs confirmation, but standard input is not a terminal
    hint: nothing was removed; use --dry-run to list what would be removed, or --yes to remove it without confirmation
    -- exit 2
    ");
    let forgot = run_in(&home, "shop", &["forget", "--yes", WORDS]);
    let forgot = regex::Regex::new(r"forgotten/[0-9TZ-]+\.json").unwrap().replace(&forgot, "forgotten/[TIME].json");
    let forgot = regex::Regex::new(r"read \d+ files").unwrap().replace(&forgot, "read [N] files");
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
    history  13 entries
    conversation claude-code/1af7fc5e-8455  1 turn
      I live in maple street 12.
    [HOME]/home/cues/x.jsonl
    [HOME]/home/edits/draft.md
    [HOME]/home/inbox/a.json
    [HOME]/home/plans/plan.md
    search indexes, vectors and caches  all files; rebuilt when needed
    forgot: 8 memory files redacted, 13 history entries removed, 1 turn removed, 4 other files changed or removed
    verified: the words are gone (read [N] files again, ran 2 searches)
    receipt: [HOME]/home/forgotten/[TIME].json
    -- stderr
    note: not reached: the git history of [HOME]/shop/.memdir
    note: not reached: the hosts' own transcripts, memories and caches
    note: not reached: other machines, backups, exports and your shell history
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
    // Search works again, undo reports why it cannot, and forgetting again finds nothing.
    assert!(run_in(&home, "shop", &["search", "tea at four"]).starts_with("notes/"));
    assert!(run_in(&home, "shop", &["undo"]).contains("was forgotten"), "{}", run_in(&home, "shop", &["undo"]));
    assert_snapshot!(run_in(&home, "shop", &["forget", "--yes", WORDS]), @"
    -- stderr
    error: the words were not found
    hint: try fewer words, or search by meaning with: memdir search WORDS
    -- exit 1
    ");
}

#[test]
fn it_asks_before_it_forgets() {
    let home = Home::new();
    home.ok(&["write", "a", "A secret garden is here."]);
    let (printed, code) = answered(&mut home.command(&["forget", "secret garden"]), "n\n");
    assert!(printed.contains("1: A secret garden is here.") && printed.contains("This cannot be undone. [y/N]"), "{printed}");
    assert_eq!(code, 1);
    assert_eq!(home.text("a.md"), "A secret garden is here.\n");
    let (_, code) = answered(&mut home.command(&["forget", "secret garden"]), "YES\n");
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
    assert!(value["receipt"]["not_reached"].to_string().contains("because MEMDIR_DIR is set"));
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
    error: invalid words: at least 3 letters or digits are required; fewer would match almost everything
    -- exit 2
    ");
    assert_snapshot!(home.run(&["forget", "--yes", "nowhere to be found"]), @"
    -- stderr
    error: the words were not found
    hint: try fewer words, or search by meaning with: memdir search WORDS
    -- exit 1
    ");
    git(&home, "docs", &["init", "-q"]);
    fs::write(home.path("docs/x.md"), "The secret garden.\n").unwrap();
    home.configure(&format!("[[mounts]]\nname = \"docs\"\npath = {:?}\naccess = \"read-only\"\n", home.path("docs")));
    let output = run_in(&home, "work", &["forget", "--yes", "secret garden"]);
    assert!(output.contains("docs/x.md") && output.contains("kept: ") && output.ends_with("-- exit 1\n"), "{output}");
}

/// A turn of a transcript of Claude Code.
fn turn(home: &Home, session: &str, uuid: &str, time: Option<&str>, text: &str) -> String {
    let mut line = serde_json::json!({
        "type": "user", "uuid": uuid, "sessionId": session, "cwd": home.path("shop"), "version": "2.0.0",
        "message": { "role": "user", "content": text },
    });
    if let Some(time) = time {
        line["timestamp"] = time.into();
    }
    format!("{line}\n")
}

/// A tool call in a transcript of Claude Code, and its failure.
fn call(home: &Home, session: &str, id: &str, command: &str) -> String {
    let line = |kind: &str, uuid: String, time: &str, content: serde_json::Value| {
        serde_json::json!({
            "type": kind, "uuid": uuid, "sessionId": session, "cwd": home.path("shop"), "timestamp": time,
            "message": { "role": kind, "id": format!("m-{id}"), "content": [content] },
        })
    };
    let asked = serde_json::json!({ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } });
    let failed = serde_json::json!({ "type": "tool_result", "tool_use_id": id, "is_error": true, "content": "Exit code 1" });
    let asked = line("assistant", format!("a-{id}"), "2026-01-10T10:01:00Z", asked);
    format!("{asked}\n{}\n", line("user", format!("r-{id}"), "2026-01-10T10:02:00Z", failed))
}

/// The inbox of the project, plans and their diffs, names with hyphens, the ledger, backups, and turns without a time.
#[test]
fn nothing_is_left_in_the_inbox_plans_names_and_backups() {
    let home = chats::on();
    let phrase = Phrase::parse(WORDS).unwrap();
    repository(&home, "shop");
    let project = home.path(".claude/projects/-shop");
    fs::create_dir_all(&project).unwrap();
    let dated = "11111111-1111-4111-8111-111111111111";
    let text = turn(&home, dated, "u1", Some("2026-01-10T10:00:00Z"), "Remember that Anna lives at Maple Street 12 in Ulm.")
        + &call(&home, dated, "t1", "./send-parcel --to 'Maple Street 12'")
        + &turn(&home, dated, "u2", Some("2026-01-10T10:03:00Z"), "Thanks, bye now.");
    fs::write(project.join(format!("{dated}.jsonl")), text).unwrap();
    let undated = "33333333-3333-4333-8333-333333333333";
    let mut undated_text =
        turn(&home, undated, "u3", None, "My address is maple street 12.") + &turn(&home, undated, "u4", None, "Tea at four.");
    fs::write(project.join(format!("{undated}.jsonl")), &undated_text).unwrap();
    fs::create_dir_all(home.path(".codex")).unwrap();
    fs::write(home.path(".codex/config.toml"), "# Maple Street 12\nmodel = \"x\"\n").unwrap();
    run_in(&home, "shop", &["install", "codex"]);
    run_in(&home, "shop", &["write", "notes/maple-street-12", "Anna likes tea."]);
    run_in(&home, "shop", &["write", "notes/call", "Yesterday Anna was in Maple\nStreet 12, and in the evening, too."]);
    run_in(&home, "shop", &["write", "notes/code", "list:\n\n    // Maple\n    // Street 12\n"]);
    run_in(&home, "shop", &["chats", "sync"]);
    let plan = run_in(&home, "shop", &["dream"]);
    assert!(plan.contains("update notes/call (relative-date"), "{plan}");
    let input =
        serde_json::json!({ "session_id": "s", "cwd": home.path("shop"), "prompt": "Does Anna like tea, maple-street-12?" }).to_string();
    feed(home.bare(&["hook", "claude-code", "user-prompt"]).current_dir(home.path("shop")), input.as_bytes());
    fs::create_dir_all(home.path("home/uses")).unwrap();
    fs::write(home.path("home/uses/gone-1.log"), "# 1763425000 1\n+ 1763426000 r notes/maple-street-12\n+ 1763426000 r notes/tea\n")
        .unwrap();
    let before = files_with(&home.path("home"), &phrase).join("\n");
    for place in ["inbox/", "dreams/", "journal/", "chats/claude-code/", ".calls", "uses/", "projects/"] {
        assert!(before.contains(place), "{place} has the words before: {before}");
    }
    run_in(&home, "shop", &["search", "maple street"]);
    let cached = files_below(&home.path(".cache/memdir")).join("\n");
    assert!(cached.contains("vectors-") && cached.contains(".term"), "an index and vectors exist before: {cached}");
    let backups = |home: &Home| files_with(&home.path(".codex"), &phrase).into_iter().filter(|name| name.contains("backup")).count();
    assert_eq!(backups(&home), 1);
    let forgot = run_in(&home, "shop", &["forget", "--yes", WORDS]);
    assert!(!forgot.contains("-- exit") && forgot.contains("verified: the words are gone (read "), "{forgot}");
    assert_eq!(files_with(&home.path("home"), &phrase), [""; 0]);
    assert_eq!(files_with(&home.path(".cache/memdir"), &phrase), [""; 0]);
    assert_eq!(backups(&home), 0);
    assert_eq!(fs::read_to_string(home.path("home/uses/gone-1.log")).unwrap(), "# 1763425000 1\n+ 1763426000 r notes/tea\n");
    assert!(!run_in(&home, "shop", &["inbox"]).to_lowercase().contains("maple"));
    assert_eq!(run_in(&home, "shop", &["read", "notes/code"]), "list:\n\n  // (forgotten)\n", "blanks are shortened by the test");
    // The hosts still have the turns; a transcript that grows is read again.
    undated_text += &turn(&home, undated, "u5", None, "And now something else.");
    fs::write(project.join(format!("{undated}.jsonl")), &undated_text).unwrap();
    run_in(&home, "shop", &["chats", "sync"]);
    assert_eq!(files_with(&home.path("home"), &phrase), [""; 0], "it stays forgotten");
}

/// The memory of a project in memdir's home.
fn project_memory(home: &Home) -> std::path::PathBuf {
    let entries = fs::read_dir(home.path("home/projects")).unwrap().flatten();
    entries.map(|entry| entry.path()).find(|path| path.is_dir()).unwrap()
}

/// Runs `memdir forget --yes --json` and returns the exit status and what remains.
fn forget_json(home: &Home, dir: &str, args: &[&str], words: &str) -> (Option<i32>, serde_json::Value) {
    let output = home.bare(&[args, &["forget", "--yes", "--json"], &[words]].concat()).current_dir(home.path(dir)).output().unwrap();
    let printed = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    (output.status.code(), printed)
}

/// Hidden files in memdir's home are redacted. The names of directories that follow from a project are named, and the receipt does not
/// have the words, not even in the name of the actor.
#[test]
fn hidden_files_are_redacted_and_names_of_projects_are_named() {
    let home = Home::new();
    repository(&home, "acmecorp");
    run_in(&home, "acmecorp", &["write", "notes/x", "AcmeCorp pays late."]);
    run_in(&home, "acmecorp", &["write", "user/z", "acmecorp contact is Bob."]);
    let memory = project_memory(&home);
    fs::create_dir_all(memory.join(".trash")).unwrap();
    fs::create_dir_all(memory.join(".obsidian")).unwrap();
    fs::write(memory.join(".trash/old.md"), "acmecorp, and more\n").unwrap();
    fs::write(memory.join(".obsidian/workspace.json"), r#"{"open":"acmecorp.md","acmecorp/x.md":1,"n":2}"#).unwrap();
    fs::write(memory.join("table.csv"), "a,acmecorp\n").unwrap();
    let (code, printed) = forget_json(&home, "acmecorp", &["--actor", "acmecorp"], "acmecorp");
    assert_eq!(code, Some(1));
    assert_eq!(fs::read_to_string(memory.join(".trash/old.md")).unwrap(), "(forgotten), and more\n");
    let workspace: serde_json::Value = serde_json::from_slice(&fs::read(memory.join(".obsidian/workspace.json")).unwrap()).unwrap();
    assert_eq!(workspace, serde_json::json!({ "open": "(forgotten).md", "n": 2 }));
    assert_eq!(fs::read_to_string(memory.join("table.csv")).unwrap(), "a,(forgotten)\n");
    let remaining: Vec<&str> = printed["receipt"]["remaining"].as_array().unwrap().iter().map(|place| place.as_str().unwrap()).collect();
    for place in ["home/projects/(forgotten)-", "home/journal/(forgotten)-", ".toml: ", "/changes.log: "] {
        assert!(remaining.iter().any(|remains| remains.contains(place)), "{place} in {remaining:#?}");
    }
    assert!(home.path("home/projects").join(format!("{}.toml", memory.file_name().unwrap().to_str().unwrap())).exists());
    assert_eq!(printed["receipt"]["by"], "(forgotten)");
    let receipt = fs::read_to_string(printed["receipt_file"].as_str().unwrap()).unwrap();
    assert!(!receipt.to_lowercase().contains("acmecorp"), "{receipt}");
}

/// Words that are names of fields in memdir's own files leave these files readable.
#[test]
fn names_of_fields_are_never_redacted() {
    let home = chats::on();
    repository(&home, "shop");
    run_in(&home, "shop", &["write", "notes/a", "The session lasts an hour. The root of the tree. Accepted in May."]);
    run_in(&home, "shop", &["chats", "sync"]);
    run_in(&home, "shop", &["dream"]);
    home.ok(&["chats", "forget", "1af7"]);
    let rules = fs::read(home.path("home/chats/forgotten.json")).unwrap();
    let record = format!("home/projects/{}.toml", project_memory(&home).file_name().unwrap().to_str().unwrap());
    let recorded = fs::read(home.path(&record)).unwrap();
    for word in ["session", "root", "accepted"] {
        run_in(&home, "shop", &["forget", "--yes", word]);
    }
    assert_eq!(
        run_in(&home, "shop", &["read", "notes/a"]),
        "The (forgotten) lasts an hour. The (forgotten) of the tree. (forgotten) in May.\n"
    );
    assert_eq!(fs::read(home.path("home/chats/forgotten.json")).unwrap(), rules);
    assert_eq!(fs::read(home.path(&record)).unwrap(), recorded);
    for state in files_below(&home.path("home/dreams")).iter().filter(|name| name.ends_with("state.json")) {
        assert!(fs::read_to_string(home.path("home/dreams").join(state)).unwrap().contains("\"last_plan\""));
    }
    // New turns are imported.
    let transcript = home.path(".codex/sessions/2026/01/20/rollout-2026-01-20T11-00-00-0199c5d0-aaaa.jsonl");
    let more = r#"{"timestamp":"2026-01-20T12:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"And now the docs"}]}}"#;
    fs::write(&transcript, format!("{}{more}\n", fs::read_to_string(&transcript).unwrap())).unwrap();
    assert!(run_in(&home, "shop", &["chats", "sync"]).starts_with("synced 1 turn"), "{}", run_in(&home, "shop", &["chats"]));
}

/// With `--dir`, what memdir keeps about that directory is forgotten, too: plans, drafts, counts.
#[test]
fn a_directory_is_forgotten_with_its_plans_and_drafts() {
    let home = Home::new();
    let phrase = Phrase::parse(WORDS).unwrap();
    home.ok(&["write", "notes/x", "Yesterday Anna moved to maple street 12 by the river."]);
    home.ok(&["dream"]);
    fs::create_dir_all(home.path("home/edits")).unwrap();
    fs::write(home.path("home/edits/notes-x.md"), "A draft about Maple Street 12.\n").unwrap();
    assert!(files_with(&home.path("home"), &phrase).iter().any(|name| name.starts_with("dreams/")));
    let forgot = home.run(&["forget", "--yes", WORDS]);
    assert!(forgot.contains("the words are gone") && !forgot.contains("-- exit"), "{forgot}");
    assert_eq!(files_with(&home.path("home"), &phrase), [""; 0]);
}

/// A Zstandard frame of a text with the words.
const COMPRESSED: &str = "28b52ffd0468bd0400220a1d17804f07d0a2ac43b6615de86151a17484348b630bcb140680b0086dd318f4c5412693dca4d3574c15df1c48a9b83113\
    83f7d74dfc9cf078c5d2d89a614129e730e3b769e8a0bdfaf3a25ffbe47ce9235c9e526e811ef6062db37c45bfeb51a09879c6addde3976714a742f1\
    970fad1de7f775480c0009eb0882f10545698470cecd5679ca53a88b8b9acebdffd28c9af2f52a61ae193b51";

/// What memdir cannot change is named, everything else is forgotten, and the command does not claim more.
#[test]
fn large_and_compressed_files_are_named_and_the_rest_is_forgotten() {
    let home = Home::new();
    repository(&home, "shop");
    run_in(&home, "shop", &["write", "notes/addr", "Anna lives at maple street 12"]);
    let memory = project_memory(&home);
    fs::write(memory.join("notes/huge.md"), format!("{}maple street 12\n", "a b c\n".repeat(800_000))).unwrap();
    let bytes: Vec<u8> = (0..COMPRESSED.len()).step_by(2).map(|at| u8::from_str_radix(&COMPRESSED[at..at + 2], 16).unwrap()).collect();
    fs::create_dir_all(home.path("home/later")).unwrap();
    fs::write(home.path("home/later/old.zst"), &bytes).unwrap();
    let (code, printed) = forget_json(&home, "shop", &[], WORDS);
    assert_eq!(code, Some(1));
    assert_eq!(run_in(&home, "shop", &["read", "notes/addr"]), "Anna lives at (forgotten)\n");
    let remaining = printed["receipt"]["remaining"].to_string();
    assert!(
        remaining.contains("notes/huge.md: it is 4800016 bytes") && remaining.contains("later/old.zst: it is compressed"),
        "{remaining}"
    );
    assert_eq!(fs::read(home.path("home/later/old.zst")).unwrap(), bytes, "it is not changed");
    let output = run_in(&home, "shop", &["forget", "--yes", WORDS]);
    assert!(output.contains("not verified: the words remain (see below)") && output.ends_with("-- exit 1\n"), "{output}");
}

/// What changes the name of a directory depends on where it is.
#[test]
fn a_directory_that_keeps_its_name_is_reported() {
    let home = Home::new();
    repository(&home, "shop");
    for dir in ["home/people", "home/kept/by-hand"] {
        fs::create_dir_all(home.path(dir).join(WORDS)).unwrap();
    }
    let shown = run_in(&home, "shop", &["forget", "--dry-run", WORDS]);
    for (dir, step) in
        [("people", "rename the person, team or agent that it is named after"), ("kept/by-hand", "rename the directory yourself")]
    {
        assert!(
            shown.contains(&format!("kept: [HOME]/home/{dir}/{WORDS}: memdir does not rename this directory; {step}\n")),
            "{dir}: {shown}"
        );
    }
}

/// Killed at any step, the next run finishes it.
#[test]
fn a_killed_run_is_finished_by_the_next_one() {
    let home = full();
    let phrase = Phrase::parse(WORDS).unwrap();
    let memory = fs::read_dir(home.path("home/projects")).unwrap().flatten().map(|entry| entry.path());
    let address = memory.map(|dir| dir.join("notes/address.md")).find(|file| file.is_file()).unwrap();
    let quiet = || std::process::Stdio::null();
    let mut child = home.bare(&["forget", "--yes", WORDS]).current_dir(home.path("shop")).stdout(quiet()).stderr(quiet()).spawn().unwrap();
    // The first step is done, and the others are not.
    while phrase.is_in(fs::read(&address).unwrap_or_default()) && child.try_wait().unwrap().is_none() {
        std::hint::spin_loop();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    run_in(&home, "shop", &["forget", "--yes", WORDS]);
    for dir in ["home", "shop/.memdir", "other", ".cache/memdir"] {
        assert_eq!(files_with(&home.path(dir), &phrase), [""; 0], "{dir}");
    }
    assert_eq!(run_in(&home, "shop", &["read", "notes/address"]), "Send parcels to (forgotten).\nTea at four.\n");
}

/// Forgetting a conversation removes the candidates that quote nothing else, with their history.
#[test]
fn candidates_of_a_forgotten_conversation_are_forgotten() {
    let home = chats::on();
    home.run_bare(&["chats", "sync"]);
    let planted = |name, words, conversation| Planted { name, kind: "remember", words, conversation, when: "" };
    inbox::plant(&home, &planted("notes/wombat-attic", "remember: the wombatlemur lives in the attic", "claude-code/1af7fc5e-8455"));
    inbox::plant(&home, &planted("notes/kept", "remember: the port is 5433", "codex/0199c5d0-aaaa"));
    // The journal has both candidates.
    home.run_bare(&["inbox", "reject", "notes/wombat-attic"]);
    let phrase = Phrase::parse("wombatlemur").unwrap();
    assert!(!files_with(&home.path("home"), &phrase).is_empty());
    let forgot = home.run_bare(&["chats", "forget", "1af7"]);
    assert!(forgot.contains("forgot 1 inbox candidate that quoted only these conversations"), "{forgot}");
    assert_eq!(files_with(&home.path("home"), &phrase), [""; 0]);
    // The key of a planted candidate is its name; a real one is a hash.
    let named = files_with(&home.path("home"), &Phrase::parse("wombat-attic").unwrap());
    assert_eq!(named.iter().filter(|name| !name.ends_with("/decided")).count(), 0, "{named:?}");
    assert!(home.run_bare(&["inbox"]).contains("inbox/notes/kept"));
}

/// The name of a project's directory is the person's. After it is renamed, nothing with the words is left, and the history of the
/// memories stays.
#[test]
fn a_renamed_project_leaves_no_name_behind() {
    let home = Home::new();
    let phrase = Phrase::parse("acmecorp").unwrap();
    repository(&home, "acmecorp");
    run_in(&home, "acmecorp", &["write", "notes/x", "AcmeCorp pays late."]);
    run_in(&home, "acmecorp", &["write", "notes/tea", "Tea at four."]);
    let id = project_memory(&home).file_name().unwrap().to_str().unwrap().to_owned();
    let (code, printed) = forget_json(&home, "acmecorp", &[], "acmecorp");
    let remaining = printed["receipt"]["remaining"].to_string();
    // The id has the words, so the hint cannot name it.
    let next =
        "rename the project's working directory and, in that directory, run: memdir projects rename ID NEW && memdir projects adopt NEW";
    assert!(code == Some(1) && remaining.contains(next), "{remaining}");
    fs::rename(home.path("acmecorp"), home.path("client")).unwrap();
    assert_eq!(run_in(&home, "client", &["projects", "rename", &id, "client-1"]), format!("moved 2 memories from {id} to client-1\n"));
    run_in(&home, "client", &["projects", "adopt", "client-1"]);
    let (code, printed) = forget_json(&home, "client", &[], "acmecorp");
    assert_eq!((code, &printed["receipt"]["remaining"]), (Some(0), &serde_json::json!([])), "{printed:#}");
    let is_receipt = |name: &String| name.starts_with("forgotten/");
    assert_eq!(files_with(&home.path("home"), &phrase).into_iter().filter(|name| !is_receipt(name)).collect::<Vec<_>>(), [""; 0]);
    assert!(!files_below(&home.path("home")).iter().any(|name| phrase.is_in(name)));
    assert_eq!(run_in(&home, "client", &["read", "notes/x"]), "(forgotten) pays late.\n");
    assert!(run_in(&home, "client", &["history", "notes/tea"]).contains("notes/tea"));
}

/// Only the entrypoint at the root of what a renamed project left behind is nothing: a memory with a similar name is kept.
#[test]
fn memories_named_like_an_entrypoint_are_not_left_behind() {
    let home = Home::new();
    repository(&home, "acmecorp");
    run_in(&home, "acmecorp", &["write", "notes/x", "AcmeCorp pays late."]);
    let old = project_memory(&home);
    fs::rename(home.path("acmecorp"), home.path("client")).unwrap();
    run_in(&home, "client", &["projects", "rename", old.file_name().unwrap().to_str().unwrap(), "client-1"]);
    run_in(&home, "client", &["projects", "adopt", "client-1"]);
    for name in ["MEMORY.old.md", "topic/MEMORY.md"] {
        fs::create_dir_all(old.join("topic")).unwrap();
        fs::write(old.join(name), "Tea at four.\n").unwrap();
        forget_json(&home, "client", &[], "acmecorp");
        assert_eq!(fs::read_to_string(old.join(name)).unwrap(), "Tea at four.\n", "{name}");
        fs::remove_file(old.join(name)).unwrap();
    }
    let inbox = home.path("home/inbox").join(old.file_name().unwrap());
    fs::create_dir_all(&inbox).unwrap();
    fs::write(inbox.join(".draft.md"), "Tea at four.\n").unwrap();
    forget_json(&home, "client", &[], "acmecorp");
    assert!(!old.exists(), "nothing is in it");
    assert_eq!(fs::read_to_string(inbox.join(".draft.md")).unwrap(), "Tea at four.\n");
}

/// Archives of other programs are not read but reported.
#[test]
fn compressed_files_are_reported_as_not_searched() {
    let home = Home::new();
    repository(&home, "shop");
    run_in(&home, "shop", &["write", "notes/addr", "Anna lives at maple street 12"]);
    fs::create_dir_all(home.path("home/later")).unwrap();
    fs::write(home.path("home/later/old.tar.gz"), b"\x1f\x8b\x08\0\0\0\0\0\0\x03").unwrap();
    let (code, printed) = forget_json(&home, "shop", &[], WORDS);
    assert_eq!(code, Some(0), "{printed:#}");
    let named = printed["receipt"]["not_reached"].to_string();
    assert!(named.contains("home/later/old.tar.gz, which is compressed; check the file yourself"), "{named}");
}

/// Other processes write while memdir forgets: every acknowledged write is kept, without the words.
#[test]
fn processes_that_write_meanwhile_lose_nothing_but_the_words() {
    let home = full();
    let phrase = Phrase::parse(WORDS).unwrap();
    let write = |writer: usize, n: usize| {
        let name = format!("w{writer}/n{n}");
        let mut command = home.bare(&["write", &name, &format!("Writer {writer} noted {n}.")]);
        command.current_dir(home.path("shop")).stdout(std::process::Stdio::null()).status().unwrap()
    };
    std::thread::scope(|scope| {
        for writer in 0..3 {
            scope.spawn(move || (0..6).for_each(|n| assert!(write(writer, n).success(), "{writer} {n}")));
        }
        let forgot = run_in(&home, "shop", &["forget", "--yes", WORDS]);
        assert!(forgot.contains("the words are gone"), "{forgot}");
    });
    for (writer, n) in (0..3).flat_map(|writer| (0..6).map(move |n| (writer, n))) {
        assert_eq!(run_in(&home, "shop", &["read", &format!("w{writer}/n{n}")]), format!("Writer {writer} noted {n}.\n"));
    }
    for dir in ["home", "shop/.memdir", "other"] {
        assert_eq!(files_with(&home.path(dir), &phrase), [""; 0], "{dir}");
    }
    assert!(!run_in(&home, "shop", &["check"]).contains("-- exit"), "{}", run_in(&home, "shop", &["check"]));
}
