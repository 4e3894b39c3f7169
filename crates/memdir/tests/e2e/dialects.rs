//! The dialects as the binary opens them: narrowed to a part, with the settings of a mount, and in the directory of the other system.

use crate::{
    home::{Home, files_below},
    mcp_callers::ask,
    talk::Talk,
    web::Web,
};
use insta::assert_snapshot;
use regex::Regex;
use serde_json::{Value, json};
use std::{fs, os::unix::fs::symlink};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
/// A word of every memory outside of the part, and of no request.
const PRIVATE: &str = "quetzal";

/// A dialect with memories inside and outside of a part, and calls of all its tools.
struct Narrowed {
    dialect: &'static str,
    only: &'static str,
    /// The folders inside and outside of the part.
    folders: [&'static str; 2],
    calls: Vec<(&'static str, Value)>,
}

fn memory(command: &str, mut arguments: Value) -> (&'static str, Value) {
    arguments["command"] = json!(command);
    ("memory", arguments)
}

fn narrowed_dialects() -> Vec<Narrowed> {
    let search = json!({ "query": "when does the ferry leave", "minScore": 0.1 });
    let get = |path: &str| ("memory_get", json!({ "path": path }));
    let edit = |name: &str| json!({ "memory_name": name, "needle": "noon", "repl": "one", "mode": "literal" });
    vec![
        Narrowed {
            dialect: "koding",
            only: "pub",
            folders: ["pub", "priv"],
            calls: vec![
                ("MemoryRead", json!({})),
                ("MemoryRead", json!({ "file_path": "pub/a.md" })),
                ("MemoryRead", json!({ "file_path": "priv/b.md" })),
                ("MemoryRead", json!({ "file_path": "priv" })),
                ("MemoryRead", json!({ "file_path": "index.md" })),
                ("MemoryWrite", json!({ "file_path": "pub/new.md", "content": "x" })),
                ("MemoryWrite", json!({ "file_path": "priv/new.md", "content": "x" })),
                ("MemoryWrite", json!({ "file_path": "priv/b.md", "content": "x" })),
            ],
        },
        Narrowed {
            dialect: "agent-memory",
            only: "pub",
            folders: ["pub", "priv"],
            calls: vec![
                ("memory_read", json!({})),
                ("memory_read", json!({ "topics": ["pub/a", "priv/b", "sessions/s"] })),
                ("memory_search", json!({ "query": "ferry" })),
                ("memory_append_session", json!({ "content": "x" })),
                ("memory_daemon_status", json!({})),
            ],
        },
        Narrowed {
            dialect: "serena",
            only: "pub",
            folders: ["pub", "priv"],
            calls: vec![
                ("list_memories", json!({})),
                ("list_memories", json!({ "topic": "priv" })),
                ("read_memory", json!({ "memory_name": "pub/a" })),
                ("read_memory", json!({ "memory_name": "priv/b" })),
                ("read_memory", json!({ "memory_name": "global/g" })),
                ("write_memory", json!({ "memory_name": "pub/new", "content": "x" })),
                ("write_memory", json!({ "memory_name": "priv/new", "content": "x" })),
                ("write_memory", json!({ "memory_name": "priv/b", "content": "x" })),
                ("write_memory", json!({ "memory_name": "global/new", "content": "x" })),
                ("edit_memory", edit("pub/a")),
                ("edit_memory", edit("priv/b")),
                ("rename_memory", json!({ "old_name": "pub/a", "new_name": "priv/a" })),
                ("rename_memory", json!({ "old_name": "priv/b", "new_name": "pub/b" })),
                ("rename_memory", json!({ "old_name": "pub/a", "new_name": "pub/c" })),
                ("delete_memory", json!({ "memory_name": "priv/b" })),
                ("delete_memory", json!({ "memory_name": "pub/c" })),
                ("onboarding", json!({ "x": 1 })),
            ],
        },
        Narrowed {
            dialect: "profclaw",
            only: "memory/pub",
            folders: ["memory/pub", "memory/priv"],
            calls: vec![
                ("memory_search", search.clone()),
                get("memory/pub/a.md"),
                get("memory/priv/b.md"),
                get("MEMORY.md"),
                ("memory_stats", json!({})),
            ],
        },
        Narrowed {
            dialect: "openclaw",
            only: "memory/pub",
            folders: ["memory/pub", "memory/priv"],
            calls: vec![("memory_search", search), get("memory/pub/a.md"), get("memory/priv/b.md"), get("MEMORY.md")],
        },
        Narrowed {
            dialect: "anthropic",
            only: "pub",
            folders: ["pub", "priv"],
            calls: vec![
                memory("view", json!({ "path": "/memories" })),
                memory("view", json!({ "path": "/memories/pub" })),
                memory("view", json!({ "path": "/memories/pub/a.md" })),
                memory("view", json!({ "path": "/memories/priv" })),
                memory("view", json!({ "path": "/memories/priv/b.md" })),
                memory("create", json!({ "path": "/memories/pub/new.md", "file_text": "x" })),
                memory("create", json!({ "path": "/memories/priv/new.md", "file_text": "x" })),
                memory("create", json!({ "path": "/memories/priv/b.md", "file_text": "x" })),
                memory("str_replace", json!({ "path": "/memories/pub/a.md", "old_str": "noon", "new_str": "one" })),
                memory("str_replace", json!({ "path": "/memories/priv/b.md", "old_str": "noon", "new_str": "one" })),
                memory("insert", json!({ "path": "/memories/priv/b.md", "insert_line": 0, "insert_text": "x" })),
                memory("rename", json!({ "old_path": "/memories/pub/a.md", "new_path": "/memories/priv/a.md" })),
                memory("rename", json!({ "old_path": "/memories/priv/b.md", "new_path": "/memories/pub/b.md" })),
                memory("rename", json!({ "old_path": "/memories/pub/a.md", "new_path": "/memories/pub/c.md" })),
                memory("delete", json!({ "path": "/memories/priv/b.md" })),
                memory("delete", json!({ "path": "/memories/priv" })),
                memory("delete", json!({ "path": "/memories/pub/c.md" })),
            ],
        },
    ]
}

fn home_for(case: &Narrowed) -> Home {
    let home = Home::new();
    let [inside, outside] = case.folders;
    home.put(&format!("{inside}/a.md"), "The heron ferry leaves at noon.\n");
    home.put(&format!("{outside}/b.md"), format!("The {PRIVATE} ferry leaves at noon. See `mem:pub/a`.\n"));
    for name in ["MEMORY.md", "index.md", "sessions/s.md"] {
        home.put(name, format!("The {PRIVATE} ferry leaves at noon.\n"));
    }
    fs::create_dir_all(home.path(".serena/memories/global")).unwrap();
    fs::write(home.path(".serena/memories/global/g.md"), PRIVATE).unwrap();
    home
}

/// The text of a result, without what differs from run to run.
fn shown(home: &Home, result: &Value) -> String {
    let text = result["content"][0]["text"].as_str().unwrap();
    let rules = [
        (r"\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d([.-]\d{3})?Z", "[TIME]"),
        (r"(?m)^[0-9.]+[BKMG]\t(/memories(/[^\n]*/)?|/memories/pub)$", "[SIZE]\t$1"),
        (r#""score":[0-9.]+"#, r#""score":[SCORE]"#),
        (r#""(text|vector)Score":[0-9.]+"#, r#""${1}Score":[SCORE]"#),
        (r#""static-[0-9a-z@-]+""#, r#""[MODEL]""#),
    ];
    let text = rules.iter().fold(text.to_owned(), |text, (rule, with)| Regex::new(rule).unwrap().replace_all(&text, *with).into_owned());
    let failed = if result["isError"] == true { "failed: " } else { "" };
    format!("{failed}{}", home.with_placeholders(&text))
}

/// Everything that the calls answer, and the files that are there afterwards.
fn transcript(home: &Home, case: &Narrowed, call: &mut dyn FnMut(&str, Value) -> Value) -> String {
    let mut out = String::new();
    for (tool, arguments) in &case.calls {
        let text = shown(home, &call(tool, arguments.clone()));
        assert!(!text.contains(PRIVATE), "{} {tool} {arguments}: {text}", case.dialect);
        out += &format!("> {tool} {arguments}\n{text}\n\n");
    }
    let outside = home.text(&format!("{}/b.md", case.folders[1]));
    assert_eq!(outside, format!("The {PRIVATE} ferry leaves at noon. See `mem:pub/a`.\n"), "{}", case.dialect);
    out + &home.files().join("\n")
}

#[test]
fn narrowing_holds_in_every_tool_of_every_dialect() {
    let cases = narrowed_dialects();
    let served: Vec<String> = Home::new().json(&["dialects"]).as_array().unwrap().iter().map(|row| row["name"].to_string()).collect();
    assert_eq!(served, cases.iter().map(|case| json!(case.dialect).to_string()).collect::<Vec<_>>());
    for case in cases {
        let home = home_for(&case);
        let mut talk = Talk::begin(&home, &["--dialect", case.dialect, "--only", case.only], "2025-06-18");
        let mut tools = talk.tools();
        tools.retain(|tool| !case.calls.iter().any(|(called, _)| called == tool));
        assert!(tools.is_empty(), "{}: {tools:?} are not called", case.dialect);
        let by_option = transcript(&home, &case, &mut |tool, arguments| talk.call(tool, arguments));
        assert_snapshot!(format!("narrowed_{}", case.dialect), by_option);

        let home = home_for(&case);
        let web = Web::start_with(&home, &["--dialect", case.dialect], &[("MEMDIR_TOKEN", TOKEN)]);
        let by_header = transcript(&home, &case, &mut |tool, arguments| {
            let reply = ask(&web, TOKEN, &[("Memdir-Only", case.only)], tool, arguments);
            assert_eq!(reply.status, 200, "{reply:?}");
            reply.message()["result"].clone()
        });
        assert_eq!(by_header, by_option);
    }
}

#[test]
fn a_session_cannot_widen_what_a_dialect_is_narrowed_to() {
    let home = Home::new();
    home.put("memory/pub/a.md", "heron");
    home.put("memory/pub/in/b.md", "egret");
    home.put("memory/priv/c.md", PRIVATE);
    let web = Web::start_with(&home, &["--dialect", "profclaw", "--only", "memory/pub"], &[("MEMDIR_TOKEN", TOKEN)]);
    let get = |only: &[(&str, &str)], path: &str| {
        let reply = ask(&web, TOKEN, only, "memory_get", json!({ "path": path }));
        if reply.status == 200 { reply.message()["result"]["content"][0]["text"].as_str().unwrap().to_owned() } else { reply.body }
    };
    let found = |content: &str, path: &str| format!(r#"{{"path":"{path}","content":"{content}","fromLine":1,"toLine":1,"found":true}}"#);
    let missing = |path: &str| format!(r#"{{"path":"{path}","content":"","fromLine":0,"toLine":0,"found":false}}"#);
    assert_eq!(get(&[], "memory/pub/a.md"), found("heron", "memory/pub/a.md"));
    assert_eq!(get(&[], "memory/priv/c.md"), missing("memory/priv/c.md"));
    let inner = [("Memdir-Only", "memory/pub/in")];
    assert_eq!(get(&inner, "memory/pub/in/b.md"), found("egret", "memory/pub/in/b.md"));
    assert_eq!(get(&inner, "memory/pub/a.md"), missing("memory/pub/a.md"));
    let outer = [("Memdir-Only", "memory")];
    assert_eq!(get(&outer, "memory/pub/a.md"), found("heron", "memory/pub/a.md"));
    assert_eq!(get(&outer, "memory/priv/c.md"), missing("memory/priv/c.md"));
    assert_eq!(
        get(&[("Memdir-Only", "memory/priv")], "memory/priv/c.md"),
        "invalid Memdir-Only header: this server serves none of the requested prefixes"
    );
    assert_eq!(get(&[("Memdir-Only", "docs")], "memory/pub/a.md"), "invalid Memdir-Only header: no memories can exist under \"docs\"");
    assert_eq!(
        get(&[("Memdir-Project", "shop")], "memory/pub/a.md"),
        "this server serves a directory, not a project; omit the Memdir-Project header"
    );
}

#[test]
fn a_name_in_no_mount_is_refused_and_a_new_one_is_empty_and_writable() {
    let home = Home::new();
    assert_snapshot!(home.run(&["--only", "docs", "mcp", "--dialect", "profclaw"]), @r#"
    -- stderr
    error: invalid --only: no memories can exist under "docs"
    -- exit 2
    "#);
    let mut koding = Talk::begin(&home, &["--dialect", "koding", "--only", "fresh"], "2025-06-18");
    assert!(koding.call_text("MemoryRead", json!({})).ends_with("Files in the memory directory:\n"));
    assert_eq!(koding.call_text("MemoryWrite", json!({ "file_path": "fresh/a.md", "content": "x" })), "Saved");
    assert_eq!(koding.call_text("MemoryRead", json!({ "file_path": "fresh/a.md" })), "x");
    let mut serena = Talk::begin(&home, &["--dialect", "serena", "--only", "global/style"], "2025-06-18");
    assert_eq!(serena.call_text("list_memories", json!({})), "{}");
    assert_eq!(serena.call_text("write_memory", json!({ "memory_name": "global/style", "content": "x" })), "Memory global/style written.");
    assert_eq!(serena.call_text("list_memories", json!({})), r#"{"memories": ["global/style"]}"#);
    assert_eq!(files_below(&home.path(".serena/memories/global")), ["style.md"]);
}

#[test]
fn options_that_a_dialect_does_not_have_are_refused() {
    let home = Home::new();
    assert_snapshot!(home.run(&["--agent", "reviewer", "mcp", "--dialect", "serena,koding"]), @"
    -- stderr
    error: --agent has no effect with --dialect serena, which serves another memory system's directory
    hint: omit --agent; select a directory with --dir, or a part of it with --only
    -- exit 2
    ");
}

/// The settings of a mount hold in a dialect that serves its directory.
#[test]
fn the_settings_of_a_mount_reach_every_dialect_on_its_directory() {
    for with_dir in [true, false] {
        let home = Home::new();
        let koding = if with_dir { home.path("memory") } else { home.path(".koding/memory") };
        fs::create_dir_all(koding.join("private")).unwrap();
        fs::create_dir_all(home.path("shared")).unwrap();
        fs::write(koding.join("private/p.md"), PRIVATE).unwrap();
        fs::write(koding.join("fixed.md"), "fixed").unwrap();
        fs::write(home.path("shared/s.md"), "shared").unwrap();
        symlink(home.path("shared"), koding.join("link")).unwrap();
        home.configure(&format!(
            "[[mounts]]\nname = \"kode\"\npath = {:?}\naccess = \"read-only\"\nread_only = [\"fixed\"]\nignored = [\"private/.*\"]\n\
             link_roots = [{:?}]\njournal = {:?}\n",
            koding,
            home.path("shared"),
            home.path("elsewhere/journal"),
        ));
        let command = if with_dir { home.command(&["mcp", "--dialect", "koding"]) } else { home.bare(&["mcp", "--dialect", "koding"]) };
        let mut talk = Talk::over(command);
        talk.hello("2025-06-18");
        let all = talk.call_text("MemoryRead", json!({}));
        let root = koding.display();
        assert!(all.ends_with(&format!("Files in the memory directory:\n- {root}/fixed.md\n- {root}/link/s.md")), "{all}");
        assert_eq!(talk.call_text("MemoryRead", json!({ "file_path": "link/s.md" })), "shared");
        let refused = talk.call("MemoryRead", json!({ "file_path": "private/p.md" }));
        assert_eq!(refused["content"][0]["text"], "Memory file does not exist");
        let refused = talk.call("MemoryWrite", json!({ "file_path": "fixed.md", "content": "x" }));
        assert_eq!(refused["isError"], true);
        assert_eq!(fs::read_to_string(koding.join("fixed.md")).unwrap(), "fixed");
        assert_eq!(talk.call_text("MemoryWrite", json!({ "file_path": "link/new.md", "content": "x" })), "Saved");
        assert_eq!(fs::read_to_string(home.path("shared/new.md")).unwrap(), "x");
        assert!(!files_below(&home.path("elsewhere/journal")).is_empty(), "the journal is where the mount has it");
        assert!(!home.path("home/journal").exists());
    }
}

#[test]
fn links_inside_the_directory_are_followed_in_every_dialect() {
    let cases: [(&str, &str, &str, Value); 6] = [
        ("koding", "a.md", "MemoryRead", json!({ "file_path": "link.md" })),
        ("agent-memory", "a.md", "memory_read", json!({ "topics": ["link"] })),
        ("serena", "a.md", "read_memory", json!({ "memory_name": "link" })),
        ("profclaw", "memory/a.md", "memory_get", json!({ "path": "memory/link.md" })),
        ("openclaw", "memory/a.md", "memory_get", json!({ "path": "memory/link.md" })),
        ("anthropic", "a.md", "memory", json!({ "command": "view", "path": "/memories/link.md" })),
    ];
    for (dialect, file, tool, arguments) in cases {
        let home = Home::new();
        home.put(file, "The heron ferry.");
        symlink("a.md", home.memory(file).with_file_name("link.md")).unwrap();
        let mut talk = Talk::begin(&home, &["--dialect", dialect], "2025-06-18");
        assert!(talk.call_text(tool, arguments).contains("The heron ferry."), "{dialect}");
    }
}

/// Serena's way to share memories: a link to a directory elsewhere.
#[test]
fn linked_directories_are_listed_by_serena_after_one_setting_that_the_note_names() {
    let home = Home::new();
    let memories = home.path("work/.serena/memories");
    fs::create_dir_all(&memories).unwrap();
    fs::create_dir_all(home.path("shared/team")).unwrap();
    fs::write(memories.join("own.md"), "own").unwrap();
    fs::write(home.path("shared/team/style.md"), "short").unwrap();
    symlink(home.path("shared/team"), memories.join("team")).unwrap();
    let begin = || {
        let mut talk = Talk::over(home.bare(&["mcp", "--dialect", "serena"]));
        talk.hello("2025-06-18");
        talk
    };
    let list = begin().call_text("list_memories", json!({}));
    let note = format!(
        "is a symbolic link that points outside the directory; to allow it, add `link_roots = [{:?}]` to the `[[mounts]]` entry with `path = {:?}` in memdir's config.toml",
        home.path("shared/team"),
        memories
    );
    assert_eq!(list, format!(r#"{{"memories": ["own"], "notes": [{}]}}"#, json!(format!("\"team\" {note}"))));
    let refused = begin().call("read_memory", json!({ "memory_name": "team/style" }));
    assert_eq!(
        refused["content"][0]["text"],
        format!("invalid memory name \"team/style.md\": team {note}. Use another name, or ask the user to make this change.")
    );
    home.configure(&format!("[[mounts]]\nname = \"serena\"\npath = {memories:?}\nlink_roots = [{:?}]\n", home.path("shared/team")));
    let mut talk = begin();
    assert_eq!(talk.call_text("list_memories", json!({})), r#"{"memories": ["own", "team/style"]}"#);
    assert_eq!(talk.call_text("read_memory", json!({ "memory_name": "team/style" })), "short");
    assert_eq!(talk.call_text("write_memory", json!({ "memory_name": "team/new", "content": "x" })), "Memory team/new written.");
    assert_eq!(fs::read_to_string(home.path("shared/team/new.md")).unwrap(), "x");
}

#[test]
fn serena_uses_the_folder_of_the_project_above() {
    let home = Home::new();
    let list = |at: &str| {
        fs::create_dir_all(home.path(at)).unwrap();
        let mut command = home.bare(&["mcp", "--dialect", "serena"]);
        command.current_dir(home.path(at));
        let mut talk = Talk::over(command);
        talk.hello("2025-06-18");
        talk.call_text("list_memories", json!({}))
    };
    let put = |name: &str| {
        fs::create_dir_all(home.path(name).parent().unwrap()).unwrap();
        fs::write(home.path(name), "x").unwrap();
    };
    // A repository: its root has the folder.
    put("shop/.git/HEAD");
    fs::create_dir_all(home.path("shop/.git/objects")).unwrap();
    fs::create_dir_all(home.path("shop/.git/refs")).unwrap();
    put("shop/.serena/memories/root.md");
    assert_eq!(list("shop/src/deep"), r#"{"memories": ["root"]}"#);
    // A part of a repository with a project of its own.
    fs::create_dir_all(home.path("shop/part/.serena")).unwrap();
    fs::write(home.path("shop/part/.serena/project.yml"), "name: part\n").unwrap();
    put("shop/part/.serena/memories/part.md");
    assert_eq!(list("shop/part/src"), r#"{"memories": ["part"]}"#);
    // No repository: the nearest parent below the home directory with a project file.
    fs::create_dir_all(home.path("plain/.serena")).unwrap();
    fs::write(home.path("plain/.serena/project.yml"), "name: plain\n").unwrap();
    put("plain/.serena/memories/plain.md");
    assert_eq!(list("plain/a/b"), r#"{"memories": ["plain"]}"#);
    // A folder without a project file is not a project, and nothing is made above.
    put("loose/.serena/memories/loose.md");
    assert_eq!(list("loose/a"), "{}");
    assert!(home.path("loose/a/.serena/memories").is_dir());
}
