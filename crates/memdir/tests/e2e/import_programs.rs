//! `memdir import claude-mem` and `memdir import basic-memory`, from databases and notes that the tests make.

use crate::home::{Home, files_below};
use rusqlite::{Connection, params};
use std::fs;

/// The tables of claude-mem, without those that are not read.
const SCHEMA: &str = "
    CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT, memory_session_id TEXT, project TEXT);
    CREATE TABLE observations (
        id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL, text TEXT, type TEXT NOT NULL,
        title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT,
        prompt_number INTEGER, discovery_tokens INTEGER DEFAULT 0, content_hash TEXT, merged_into_project TEXT,
        created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
    CREATE TABLE session_summaries (
        id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL, request TEXT, investigated TEXT,
        learned TEXT, completed TEXT, next_steps TEXT, files_read TEXT, files_edited TEXT, notes TEXT, prompt_number INTEGER,
        created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
    CREATE TABLE directives (
        id INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT, project TEXT, content TEXT NOT NULL, status TEXT NOT NULL,
        created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);";

const DAY: &str = "2026-01-15T10:00:00.000Z";
const EPOCH: i64 = 1_768_471_200_000;

fn database(home: &Home) -> (String, Connection) {
    fs::create_dir_all(home.path(".claude-mem")).unwrap();
    let path = home.path(".claude-mem/claude-mem.db");
    let owner = Connection::open(&path).unwrap();
    owner.pragma_update(None, "journal_mode", "WAL").unwrap();
    owner.execute_batch(SCHEMA).unwrap();
    (path.display().to_string(), owner)
}

fn observe(owner: &Connection, project: &str, kind: &str, title: &str, narrative: &str) {
    owner
        .execute(
            "INSERT INTO observations (memory_session_id, project, type, title, subtitle, facts, narrative, concepts, files_modified, \
             created_at, created_at_epoch) VALUES ('m1', ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                project,
                kind,
                title,
                format!("About {title}"),
                r#"["It has one schema", "It runs on port 5433"]"#,
                narrative,
                r#"["trade-off"]"#,
                r#"["src/db.rs"]"#,
                DAY,
                EPOCH
            ],
        )
        .unwrap();
}

fn summarize(owner: &Connection, project: &str, request: &str) {
    owner
        .execute(
            "INSERT INTO session_summaries (memory_session_id, project, request, learned, completed, next_steps, created_at, \
             created_at_epoch) VALUES ('m1', ?1, ?2, 'Migrations lock the table.', 'Moved to Postgres.', 'Drop the old file.', ?3, ?4)",
            params![project, request, DAY, EPOCH],
        )
        .unwrap();
}

#[test]
fn the_database_of_claude_mem_is_imported_while_it_is_in_use() {
    let home = Home::new();
    let (path, owner) = database(&home);
    observe(&owner, "shop", "decision", "Use Postgres", "SQLite locked under load.");
    observe(&owner, "shop", "bugfix", "Fix the pool size", "It was one.");
    summarize(&owner, "shop", "Move the shop to Postgres");
    owner
        .execute_batch(&format!(
            "INSERT INTO directives VALUES (1, 'global', NULL, 'Answer in German.', 'active', '{DAY}', {EPOCH}), \
             (2, 'global', NULL, 'Old rule.', 'archived', '{DAY}', {EPOCH});"
        ))
        .unwrap();
    let files = files_below(&home.path(".claude-mem"));
    insta::assert_snapshot!(home.run(&["import", "claude-mem", &path, "--dry-run"]), @"
    [HOME]/.claude-mem/claude-mem.db: claude-mem, 4 memories
    action  memory
    add     claude-mem/shop/decision/use-postgres
    add     logs/imported/claude-mem/shop/2026/01/2026-01-15-fix-the-pool-size
    add     logs/imported/claude-mem/shop/2026/01/2026-01-15-move-the-shop-to-postgres
    add     claude-mem/all-projects/directive/answer-in-german
    would import 4 memories; 0 duplicates, 0 skipped
    ");
    assert!(home.files().is_empty(), "{:?}", home.files());
    insta::assert_snapshot!(home.run(&["import", "claude-mem", &path]), @"
    [HOME]/.claude-mem/claude-mem.db: claude-mem, 4 memories
    imported 4 memories; 0 duplicates, 0 skipped (undo: memdir undo [ID])
    ");
    assert_eq!(files_below(&home.path(".claude-mem")), files, "nothing is created beside the database");
    insta::assert_snapshot!(home.text("claude-mem/shop/decision/use-postgres.md"), @"
    ---
    name: Use Postgres
    description: About Use Postgres
    type: project
    source: claude-mem
    created: 2026-01-15T10:00:00Z
    ---

    About Use Postgres

    SQLite locked under load.

    - It has one schema
    - It runs on port 5433

    Files modified: `src/db.rs`

    Concepts: `trade-off`
    ");
    insta::assert_snapshot!(home.text("logs/imported/claude-mem/shop/2026/01/2026-01-15-move-the-shop-to-postgres.md"), @"
    ---
    name: Move the shop to Postgres
    description: claude-mem's summary of a session on 2026-01-15
    type: reference
    source: claude-mem
    created: 2026-01-15T10:00:00Z
    ---

    ## Request

    Move the shop to Postgres

    ## Learned

    Migrations lock the table.

    ## Completed

    Moved to Postgres.

    ## Next steps

    Drop the old file.
    ");
    insta::assert_snapshot!(home.text("MEMORY.md"), @"
    # Memory

    <!-- memdir: one line per memory, sorted; write outside these two marks -->
    - [Answer in German.](claude-mem/all-projects/directive/answer-in-german.md) — Answer in German.
    - [Use Postgres](claude-mem/shop/decision/use-postgres.md) — About Use Postgres
    <!-- /memdir -->
    ");

    // What is new in the database is all that the next import adds.
    assert!(home.run(&["import", "claude-mem", &path]).contains("imported 0 memories; 4 duplicates, 0 skipped"));
    observe(&owner, "shop", "decision", "Use Postgres", "A second thought.");
    observe(&owner, "shop", "discovery", "Port 5433", "The default port is taken.");
    // The directory of the database is enough.
    let dir = home.path(".claude-mem").display().to_string();
    let printed = home.run(&["import", "claude-mem", &dir]);
    assert!(printed.contains("imported 2 memories; 4 duplicates, 0 skipped (undo: memdir undo [ID])"), "{printed}");
    assert!(home.text("claude-mem/shop/decision/use-postgres-2.md").contains("A second thought."));
    assert!(home.run(&["import", "claude-mem", &dir]).contains("imported 0 memories; 6 duplicates, 0 skipped"));
    home.ok(&["undo"]);
    home.ok(&["undo"]);
    assert_eq!(home.ok(&["list"]), "");
}

#[test]
fn one_project_of_claude_mem_can_be_imported() {
    let home = Home::new();
    let (path, owner) = database(&home);
    observe(&owner, "shop", "decision", "Use Postgres", "x");
    observe(&owner, "blog", "decision", "Use Hugo", "x");
    owner.execute("UPDATE observations SET project = 'shop/worktree', merged_into_project = 'shop' WHERE project = 'shop'", []).unwrap();
    let printed = home.run(&["import", "claude-mem", &path, "--dry-run"]);
    assert!(
        printed.contains("found 2 projects: blog (1 memory), shop (1 memory); to import only one of them, add --from-project NAME"),
        "{printed}"
    );
    let whole = home.run(&["import", "claude-mem", &path]);
    assert!(whole.contains("; to import only one of them, undo this import, then repeat it with --from-project NAME"), "{whole}");
    home.ok(&["undo"]);
    let json = home.json(&["import", "claude-mem", &path, "--from-project", "shop"]);
    assert_eq!(json["memories"][0]["name"], "claude-mem/shop/decision/use-postgres", "{json}");
    assert_eq!(home.ok(&["list"]), "claude-mem/shop/decision/use-postgres\n");
    insta::assert_snapshot!(home.run(&["import", "notes.md", "--from-project", "shop"]), @"
    -- stderr
    error: --from-project can only be used with `claude-mem`
    hint: import from claude-mem with: memdir import claude-mem PATH --from-project NAME
    -- exit 2
    ");
}

#[test]
fn conflicts_and_secrets_of_claude_mem() {
    let home = Home::new();
    let (path, owner) = database(&home);
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    observe(&owner, "shop", "discovery", &format!("Token {token}"), &format!("CI uses {token}."));
    observe(&owner, "shop", "decision", "Use Postgres", "x");
    home.ok(&["write", "claude-mem/shop/decision/use-postgres", "Mine."]);
    let printed = home.run(&["import", "claude-mem", &path, "--on-conflict", "skip"]);
    assert!(printed.contains("imported 1 memory; 0 duplicates, 1 skipped"), "{printed}");
    for file in home.files() {
        assert!(!home.text(&file).contains(&token) && !file.contains(&token[4..12]), "{file}: {}", home.text(&file));
    }
    let printed = home.run(&["import", "claude-mem", &path, "--on-conflict", "replace"]);
    assert!(printed.contains("imported 1 memory; 1 duplicate, 0 skipped"), "{printed}");
    home.ok(&["undo"]);
    assert_eq!(home.text("claude-mem/shop/decision/use-postgres.md"), "Mine.\n");
}

#[test]
fn older_and_damaged_databases_of_claude_mem() {
    let home = Home::new();
    // A version with other names of tables and columns, a text where a number belongs, and bytes that are not UTF-8.
    let old = home.path("old.db");
    let owner = Connection::open(&old).unwrap();
    owner
        .execute_batch(
            "CREATE TABLE memories (id INTEGER PRIMARY KEY, session_id TEXT, text TEXT, created_at TEXT, created_at_epoch TEXT, project TEXT);
             CREATE TABLE overviews (id INTEGER PRIMARY KEY, content TEXT, created_at TEXT);
             INSERT INTO memories VALUES (1, 's', 'Deploy on Tuesdays.', 'never', 'later', 'shop'), (2, 's', NULL, NULL, NULL, NULL),
               (3, 's', CAST(x'4aff6b' AS TEXT), NULL, 1768471200, '../../etc');
             INSERT INTO overviews VALUES (1, 'A long day.', '2026-01-15 10:00:00');",
        )
        .unwrap();
    drop(owner);
    insta::assert_snapshot!(home.run(&["import", "claude-mem", old.to_str().unwrap(), "--dry-run"]), @"
    [HOME]/old.db: claude-mem, 3 memories
    action  memory
    add     claude-mem/etc/observation/j-k
    add     claude-mem/shop/observation/deploy-on-tuesdays
    add     logs/imported/claude-mem/all-projects/2026/01/2026-01-15-a-long-day
    would import 3 memories; 0 duplicates, 0 skipped
    -- stderr
    note: [HOME]/old.db: observation 2 has no text and was skipped
    note: found 2 projects: ../../etc (1 memory), shop (1 memory); to import only one of them, add --from-project NAME
    ");
    for (name, bytes) in [
        ("empty.db", &b""[..]),
        ("text.db", b"hello, this is not a database at all, but it is long enough to have a header"),
        ("other.db", b""),
    ] {
        fs::write(home.path(name), bytes).unwrap();
    }
    Connection::open(home.path("other.db")).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    for name in ["empty.db", "text.db", "other.db", "missing.db"] {
        let printed = home.run(&["import", "claude-mem", home.path(name).to_str().unwrap()]);
        assert!(printed.contains("error: ") && printed.contains("hint: ") && printed.contains("-- exit "), "{name}: {printed}");
    }
    // What is locked is not damaged.
    let owner = Connection::open(home.path("other.db")).unwrap();
    owner.execute_batch("BEGIN EXCLUSIVE").unwrap();
    insta::assert_snapshot!(home.run(&["import", "claude-mem", home.path("other.db").to_str().unwrap()]), @r#"
    -- stderr
    error: cannot read "[HOME]/other.db": database is locked
    hint: close claude-mem, then try again
    -- exit 3
    "#);
    drop(owner);
    let text = home.run(&["import", "claude-mem", home.path("text.db").to_str().unwrap()]);
    assert!(text.contains("file is not a database\nhint: check that the file is claude-mem's database, usually "), "{text}");
    insta::assert_snapshot!(home.run(&["import", "claude-mem", home.path("other.db").to_str().unwrap()]), @"
    -- stderr
    error: [HOME]/other.db has none of claude-mem's tables (observations, session_summaries, directives)
    hint: use the path of claude-mem's database, usually ~/.claude-mem/claude-mem.db
    -- exit 2
    ");
    insta::assert_snapshot!(home.run(&["import", "claude-mem"]), @"
    -- stderr
    error: missing path after `claude-mem`: expected the path of the claude-mem database
    hint: for example: memdir import claude-mem ~/.claude-mem/claude-mem.db
    -- exit 2
    ");
    // A file with the name of a program.
    fs::write(
        home.path("work/claude-mem"),
        "{\"type\":\"entity\",\"name\":\"Ada\",\"entityType\":\"person\",\"observations\":[\"Likes tea\"]}\n",
    )
    .unwrap();
    assert!(home.run(&["import", "claude-mem"]).contains("imported 1 memory"));
    assert!(home.run(&["import", "./claude-mem"]).contains("1 duplicate"));
}

#[test]
fn the_notes_of_basic_memory_are_imported_with_their_links() {
    let home = Home::new();
    let notes = home.path("basic-memory");
    let put = |name: &str, text: &str| {
        fs::create_dir_all(notes.join(name).parent().unwrap()).unwrap();
        fs::write(notes.join(name), text).unwrap();
    };
    put(
        "specs/Search Design.md",
        "---\ntitle: Search Design\ntype: note\npermalink: main/specs/search-design\ntags:\n- search\n---\n\n# Search Design\n\n\
         ## Observations\n- [decision] Rank by words and vectors #search #ranking (measured in May)\n- [fact] Chunks have 400 tokens\n\n\
         ## Relations\n- implements [[Ranking]]\n- relates_to [[people/ada]]\n- \"is part of\" [[Nowhere]]\n",
    );
    put(
        "specs/ranking.md",
        "---\ntitle: Ranking\ncreated: 2024-05-01\n---\nSee [[Search Design]] and [[main/specs/search-design|the design]].\n",
    );
    put("people/Ada.md", "---\ntitle: Ada\ntype: person\npermalink: main/people/ada\n---\nAda likes tea.\n");
    put(".obsidian/x.md", "no\n");
    let path = notes.display().to_string();
    insta::assert_snapshot!(home.run(&["import", "basic-memory", &path, "--dry-run"]), @"
    [HOME]/basic-memory: basic-memory, 3 memories
    action  memory
    add     people/Ada
    add     specs/Search Design
    add     specs/ranking
    would import 3 memories; 0 duplicates, 0 skipped
    -- stderr
    note: [HOME]/basic-memory: 1 linked note was not found: [[Nowhere]]; links to it are kept unchanged
    ");
    insta::assert_snapshot!(home.run(&["import", "basic-memory", &path]), @"
    [HOME]/basic-memory: basic-memory, 3 memories
    imported 3 memories; 0 duplicates, 0 skipped (undo: memdir undo [ID])
    -- stderr
    note: [HOME]/basic-memory: 1 linked note was not found: [[Nowhere]]; links to it are kept unchanged
    ");
    insta::assert_snapshot!(home.text("specs/Search Design.md"), @r#"
    ---
    title: Search Design
    type: reference
    permalink: main/specs/search-design
    tags:
    - search
    name: Search Design
    description: Rank by words and vectors
    source: basic-memory
    ---

    # Search Design

    ## Observations
    - [decision] Rank by words and vectors #search #ranking (measured in May)
    - [fact] Chunks have 400 tokens

    ## Relations
    - implements [[specs/ranking]]
    - relates_to [[people/Ada]]
    - "is part of" [[Nowhere]]
    "#);
    insta::assert_snapshot!(home.text("MEMORY.md"), @"
    # Memory

    <!-- memdir: one line per memory, sorted; write outside these two marks -->
    - [Ada](people/Ada.md) — Ada likes tea.
    - [Search Design](<specs/Search Design.md>) — Rank by words and vectors
    - [Ranking](specs/ranking.md) — See Search Design and the design.
    <!-- /memdir -->
    ");
    // The links lead somewhere: only the one that led nowhere before is reported.
    let checked = home.run(&["check"]);
    assert!(checked.contains("Nowhere") && !checked.contains("people/Ada") && !checked.contains("specs/ranking"), "{checked}");
    assert!(home.run(&["import", "basic-memory", &path]).contains("imported 0 memories; 3 duplicates, 0 skipped"));
    // Renaming a memory takes the links along, as with any other memory.
    home.ok(&["rename", "people/Ada", "people/lovelace"]);
    assert!(home.text("specs/Search Design.md").contains("[[people/lovelace]]"));
    home.ok(&["undo"]);
    home.ok(&["undo"]);
    assert_eq!(home.ok(&["list"]), "");
    home.ok(&["import", "basic-memory", &path, "--under", "old"]);
    assert!(!home.run(&["check"]).contains("people/Ada"), "{}", home.run(&["check"]));
    insta::assert_snapshot!(home.run(&["import", "basic-memory", &format!("{path}/people/Ada.md")]), @"
    -- stderr
    error: [HOME]/basic-memory/people/Ada.md is not a directory
    hint: pass the notes directory; find it with: basic-memory project list
    -- exit 2
    ");
}

#[test]
fn a_note_with_a_secret_or_without_text_is_skipped_and_the_rest_is_imported() {
    let home = Home::new();
    let notes = home.path("notes");
    fs::create_dir_all(&notes).unwrap();
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    fs::write(notes.join("secret.md"), format!("{token}\n")).unwrap();
    fs::write(notes.join("binary.md"), b"\xff\xfe").unwrap();
    fs::write(notes.join("日本.md"), "- [事実] 東京 #都市 (首都)\r\n- 関連 [[日本]]\r\n").unwrap();
    fs::write(notes.join("MEMORY.md"), "Obey me.\n").unwrap();
    let printed = home.run(&["import", "basic-memory", notes.to_str().unwrap()]);
    assert!(!printed.contains(&token), "{printed}");
    insta::assert_snapshot!(printed, @"
    [HOME]/notes: basic-memory, 3 memories
    skip  MEMORY.md  it is an entrypoint; memdir maintains its own
    skip  secret.md  line 7 contains what looks like a secret (github-token)
    imported 1 memory; 0 duplicates, 2 skipped (undo: memdir undo [ID])
    -- stderr
    note: skipped [HOME]/notes/binary.md: not valid UTF-8
    ");
    assert_eq!(home.ok(&["list"]), "日本\n");
    assert!(home.text("日本.md").contains("[[日本]]\r\n"), "{}", home.text("日本.md"));
}

#[test]
fn a_path_that_does_not_exist_is_an_invalid_argument_of_every_program() {
    let home = Home::new();
    let imports = [&["import", "../nope"][..], &["import", "claude-mem", "../nope"], &["import", "basic-memory", "../nope"]];
    insta::assert_snapshot!(imports.map(|args| home.run(args)).join("\n"), @"
    -- stderr
    error: cannot read ../nope: No such file or directory (os error 2)
    hint: check the path and its permissions
    -- exit 2

    -- stderr
    error: cannot read ../nope: No such file or directory (os error 2)
    hint: check the path and its permissions
    -- exit 2

    -- stderr
    error: ../nope is not a directory
    hint: pass the notes directory; find it with: basic-memory project list
    -- exit 2
    ");
}
