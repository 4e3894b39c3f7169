//! Imports of memories from other programs.

use memdir_core::{
    Actor, FileStore, Import, ImportOutcome, Imported, Incoming, List, Memdir, MemoryPath, Mount, OnConflict, UndoTarget, Write,
    internal::operations::import::{self, bundle},
};
use std::{fs, sync::Arc};

struct World {
    dir: tempfile::TempDir,
    memdir: Memdir,
}

fn world() -> World {
    let dir = tempfile::tempdir().unwrap();
    let mount = Mount::new("", dir.path().join("memory"), dir.path().join("journal"));
    let vault = FileStore::open(&[mount]).unwrap();
    let memdir = Memdir::new(Arc::new(vault), Actor { name: "ada".into(), session: None });
    World { dir, memdir }
}

impl World {
    fn write(&self, name: &str, text: &str) {
        self.memdir.write(&Write::create(MemoryPath::parse(name).unwrap(), text)).unwrap();
    }

    fn names(&self) -> Vec<String> {
        self.memdir.list(&List::default()).unwrap().memories.into_iter().map(|memory| memory.name).collect()
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.dir.path().join("memory").join(name)).unwrap()
    }

    fn import(&self, request: &Import) -> Imported {
        let preview = self.memdir.preview_import(request).unwrap();
        let imported = self.memdir.import(request).unwrap();
        assert_eq!(preview.memories, imported.memories, "a preview equals the import");
        imported
    }
}

fn incoming(name: &str, text: &str) -> Incoming {
    Incoming { name: name.into(), text: text.into() }
}

fn taken(name: &str, text: &str) -> Vec<Incoming> {
    import::parse(name, text).unwrap().memories
}

#[test]
fn an_import_with_its_entrypoint_lines_is_one_change_and_undo_reverts_all_of_it() {
    let world = world();
    world.write("here", "I was here.\n");
    let before = (world.names(), world.text("MEMORY.md"));
    let imported = world.import(&Import { memories: vec![incoming("a", "One.\n"), incoming("b/c.md", "Two.\n")], ..Import::default() });
    assert_eq!(world.names(), ["a", "b/c", "here"]);
    assert!(world.text("MEMORY.md").contains("(b/c.md)"), "{}", world.text("MEMORY.md"));
    world.memdir.undo(&UndoTarget::Id(imported.change.unwrap().0)).unwrap();
    assert_eq!((world.names(), world.text("MEMORY.md")), before);
}

#[test]
fn existing_memories_are_recognized_and_not_changed() {
    let world = world();
    world.write("notes/deploy", "---\nname: Deploying\n---\n\nDeploy on Tuesdays.\n");
    let memories = vec![
        incoming("notes/deploy.md", "Deploy on Tuesdays.\r\n"),
        incoming("notes/deploy", "Deploy on Fridays.\n"),
        incoming("other/name", "Deploy on Tuesdays.\n"),
        incoming("twice", "Said twice.\n"),
        incoming("twice", "Said twice.\n"),
        incoming("twice-again", "---\nname: X\n---\nSaid twice.\n"),
        incoming("empty", " \n"),
    ];
    let imported = world.import(&Import { memories: memories.clone(), ..Import::default() });
    let did: Vec<(ImportOutcome, Option<String>)> = imported.memories.into_iter().map(|item| (item.outcome, item.same_text_as)).collect();
    assert_eq!(
        did,
        [
            (ImportOutcome::Duplicate { of: "notes/deploy".into() }, None),
            (ImportOutcome::Added { name: "notes/deploy-2".into() }, None),
            (ImportOutcome::Added { name: "other/name".into() }, Some("notes/deploy".into())),
            (ImportOutcome::Added { name: "twice".into() }, None),
            (ImportOutcome::Duplicate { of: "twice".into() }, None),
            (ImportOutcome::Added { name: "twice-again".into() }, Some("twice".into())),
            (ImportOutcome::Skipped { why: "it is empty".into() }, None),
        ]
    );
    assert_eq!(world.text("notes/deploy.md"), "---\nname: Deploying\n---\n\nDeploy on Tuesdays.\n");
    let again = world.import(&Import { memories, ..Import::default() });
    assert_eq!(again.change, None);
}

#[test]
fn a_name_in_use_is_numbered_skipped_or_replaced_as_requested() {
    for (clash, expected, names) in [
        (OnConflict::Number, ImportOutcome::Added { name: "a-2".into() }, vec!["a", "a-2"]),
        (OnConflict::Skip, ImportOutcome::Skipped { why: "a already exists with different text".into() }, vec!["a"]),
        (OnConflict::Replace, ImportOutcome::Replaced { name: "a".into() }, vec!["a"]),
    ] {
        let world = world();
        world.write("a", "Old.\n");
        let imported = world.import(&Import { memories: vec![incoming("a", "New.\n")], clash, ..Import::default() });
        assert_eq!(imported.memories[0].outcome, expected);
        assert_eq!(world.names(), names);
    }
}

#[test]
fn secrets_and_impossible_names_do_not_stop_the_rest() {
    let world = world();
    let key = format!("AKIA{}", "Z7QXM4KWP2VJTRNB");
    let memories = vec![incoming("aws", &format!("The key is {key}\n")), incoming("../../x\0y", "Fine.\n")];
    let imported = world.import(&Import { memories, under: "old".into(), ..Import::default() });
    let ImportOutcome::Skipped { why } = &imported.memories[0].outcome else { panic!("{imported:?}") };
    assert!(!why.contains(&key), "{why}");
    assert_eq!(world.names(), ["old/x-y"]);
}

#[test]
fn a_bundle_carries_everything_over() {
    let from = world();
    from.write("a", "---\nname: A\nodd: [1, 2]\n---\n\nText <!-- memory 3 x -->\n");
    from.write("b/ü", "no newline at the end");
    let texts: Vec<(String, String)> =
        from.names().into_iter().map(|name| (format!("{name}.md"), from.text(&format!("{name}.md")))).collect();
    let given: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    for text in [bundle::markdown(&given), bundle::json(&given)] {
        let to = world();
        to.import(&Import { memories: taken("x", &text), ..Import::default() });
        assert_eq!(to.names(), from.names());
        assert!(to.names().iter().all(|name| to.text(&format!("{name}.md")) == from.text(&format!("{name}.md"))));
    }
}

#[test]
fn a_knowledge_graph_becomes_memories_that_point_to_each_other() {
    let graph = r#"{"type":"entity","name":"Ada Lovelace","entityType":"person","observations":["Likes engines","Writes notes\nin two lines"]}
{"type":"relation","from":"Ada Lovelace","to":"Analytical Engine","relationType":"programs"}
{"type":"entity","name":"Analytical Engine","entityType":"machine","observations":[]}
not json
"#;
    let taken = import::parse("memory.jsonl", graph).unwrap();
    assert_eq!(taken.problems.len(), 1);
    insta::assert_snapshot!(shown(&taken.memories), @r#"
    ── graph/ada-lovelace
    ---
    name: Ada Lovelace
    description: Likes engines
    type: reference
    source: server-memory
    ---

    - Likes engines
    - Writes notes
      in two lines

    ## Relations

    - programs [Analytical Engine](analytical-engine.md)
    ── graph/analytical-engine
    ---
    name: Analytical Engine
    description: Analytical Engine (machine)
    type: reference
    source: server-memory
    ---
    "#);
}

#[test]
fn single_facts_become_memories() {
    let export = r#"{"results":[{"id":"1","memory":"Likes dark roast coffee","categories":["food"],"created_at":"2025-03-01T10:00:00Z"},{"id":"2","memory":"Lives in Bern"},{"id":"3"}]}"#;
    insta::assert_snapshot!(shown(&taken("export.json", export)), @r#"
    ── mem0/food/likes-dark-roast-coffee
    ---
    name: Likes dark roast coffee
    description: Likes dark roast coffee
    type: user
    source: mem0
    created: 2025-03-01T10:00:00Z
    ---

    Likes dark roast coffee
    ── mem0/facts/lives-in-bern
    ---
    name: Lives in Bern
    description: Lives in Bern
    type: user
    source: mem0
    ---

    Lives in Bern
    "#);
}

#[test]
fn conversations_become_logs_outside_the_entrypoint() {
    let chatgpt = r#"[{"title":"Sourdough","create_time":1740823200.5,"current_node":"c","mapping":{
        "a":{"parent":null,"message":{"author":{"role":"system"},"content":{"parts":[""]}}},
        "b":{"parent":"a","message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["How long?"]}}},
        "x":{"parent":"b","message":{"author":{"role":"assistant"},"content":{"parts":["A branch that was left"]}}},
        "c":{"parent":"b","message":{"author":{"role":"assistant"},"content":{"parts":["Twelve hours."]}}}}}]"#;
    let claude = r#"[{"uuid":"u","name":"","created_at":"2025-04-02T08:00:00.000000Z","chat_messages":[
        {"sender":"human","text":"Hi","content":[{"type":"text","text":"Hi"}]},{"sender":"assistant","text":"Hello","content":[]}]}]"#;
    let memories = [taken("conversations.json", chatgpt), taken("conversations.json", claude)].concat();
    insta::assert_snapshot!(shown(&memories), @r#"
    ── logs/imported/chatgpt/2025/03/2025-03-01-sourdough
    ---
    name: Sourdough
    description: A conversation with ChatGPT on 2025-03-01
    type: reference
    source: chatgpt
    created: 2025-03-01T10:00:00Z
    ---

    ## User

    How long?

    ## Assistant

    Twelve hours.
    ── logs/imported/claude/2025/04/2025-04-02-untitled
    ---
    name: Untitled
    description: A conversation with Claude on 2025-04-02
    type: reference
    source: claude
    created: 2025-04-02T08:00:00Z
    ---

    ## User

    Hi

    ## Assistant

    Hello
    "#);
    let world = world();
    world.import(&Import { memories, ..Import::default() });
    assert_eq!(world.names().len(), 2);
    assert!(!world.dir.path().join("memory/MEMORY.md").exists() || !world.text("MEMORY.md").contains("logs/"));
}

#[test]
fn memories_of_claude_are_imported() {
    let text = r#"[{"conversations_memory":"**Work** Ada builds engines.","project_memories":{"P 1":"Engine notes"},"account_uuid":"x"}]"#;
    let names: Vec<String> = taken("memories.json", text).into_iter().map(|memory| memory.name).collect();
    assert_eq!(names, ["claude/memory", "claude/projects/p-1"]);
}

#[test]
fn an_unknown_format_is_refused_with_a_reason() {
    for text in ["", "{}", "[]", "[1]", "hello", "{\"results\":[]}", "[{\"role\":\"user\",\"content\":\"x\"}]"] {
        let error = import::parse("x.json", text).unwrap_err().to_string();
        assert!(error.contains("supported formats: a memdir bundle"), "{text}: {error}");
    }
    assert_eq!(taken("Note.md", "hello"), [incoming("Note.md", "hello")]);
}

fn shown(memories: &[Incoming]) -> String {
    memories.iter().map(|memory| format!("── {}\n{}", memory.name, memory.text)).collect()
}
