//! The prompt of every kind of space, word for word, and its size.

use crate::operations::Home;
use memdir_core::{
    Actor, FileStore, Memdir, ModeName, Mount, PromptEntrypoint, PromptRequest, PromptSearch, ToolNames,
    internal::{
        prompt::{self, OpenPath, PromptAgent, PromptInput, SpacePart},
        store::space::AgentScope,
    },
};
use std::{fs, path::Path, sync::Arc};

const DIR: &str = "/home/ada/.memdir/projects/shop-1a2b3c4d5e";
const TEAM_DIR: &str = "/home/ada/shop/.memdir";
const PRIVATE: &str = "- [Ada](ada.md) — builds the shop, new to Rust\n";
const PROJECT: SpacePart<'_> = SpacePart::new("", DIR, Some(PRIVATE));
const TEAM: SpacePart<'_> = SpacePart::new("team", TEAM_DIR, Some("- [Deploy](deploy.md) — never on Fridays"));
const USER: SpacePart<'_> = SpacePart::new("user", DIR, Some(PRIVATE));
const PERSON: SpacePart<'_> = SpacePart::new("user", "/home/ada/.memdir/user", Some("- [Ada](ada.md) — new to Rust\n"));
const AGENT: SpacePart<'_> = SpacePart::new("agent/reviewer", DIR, Some(PRIVATE));
const TOOLS: ToolNames<'_> = ToolNames { write: "memory_write", search: "memory_search", log: Some("memory_log") };

fn individual() -> PromptInput<'static> {
    PromptInput::new(&[PROJECT])
}

fn team() -> PromptInput<'static> {
    PromptInput::new(&[PROJECT, TEAM])
}

fn log() -> PromptInput<'static> {
    PromptInput { log: Some(""), ..individual() }
}

fn agent() -> PromptInput<'static> {
    PromptInput { agent: Some(PromptAgent { name: "reviewer", scope: AgentScope::Project }), ..PromptInput::new(&[AGENT]) }
}

/// Every combination that is kept as a golden file, by its name.
fn prompts() -> Vec<(String, PromptInput<'static>)> {
    let mut all = Vec::new();
    for (name, input) in [("individual", individual()), ("team", team()), ("log", log()), ("agent", agent())] {
        for (flag, entrypoint) in
            [("", PromptEntrypoint::Shown), ("-no-entrypoint", PromptEntrypoint::LeftOut), ("-no-index", PromptEntrypoint::Unused)]
        {
            for (with, tools) in [("", None), ("-tools", Some(TOOLS))] {
                all.push((format!("{name}{flag}{with}"), PromptInput { entrypoint, tools, ..input.clone() }));
            }
        }
    }
    let with_person: [(&str, &'static [SpacePart<'static>], PromptInput<'static>); 4] = [
        ("individual", &[PERSON, PROJECT], individual()),
        ("team", &[PERSON, PROJECT, TEAM], team()),
        ("log", &[PERSON, PROJECT], log()),
        ("agent", &[PERSON, AGENT], agent()),
    ];
    for (name, parts, input) in with_person {
        for (with, tools) in [("", None), ("-tools", Some(TOOLS))] {
            all.push((format!("{name}-user{with}"), PromptInput { parts, tools, ..input.clone() }));
        }
    }
    let agents = SpacePart::new("agent/reviewer", "/home/ada/.memdir/agents/reviewer", None);
    let own = SpacePart::new("", TEAM_DIR, Some("- [Plan](plan.md) — what comes next"));
    let project = SpacePart { is_foreign: true, ..own };
    let plan: &[OpenPath] = Box::leak(Box::new([OpenPath { name: "plan/".into(), path: format!("{DIR}/plan") }]));
    let part = SpacePart { kept: false, open: plan, ..project };
    let spaces: [(&str, bool, Vec<SpacePart<'_>>); 6] = [
        ("caller", true, vec![USER, agents, project, TEAM]),
        ("caller-alone", true, vec![USER]),
        ("caller-narrow", true, vec![part]),
        ("narrow", false, vec![SpacePart { is_foreign: false, ..part }]),
        ("user-alone", false, vec![USER]),
        ("team-alone", false, vec![TEAM]),
    ];
    for (name, remote, parts) in spaces {
        let tools = remote.then_some(TOOLS);
        let entrypoint = if parts.iter().any(|part| part.kept) { PromptEntrypoint::Shown } else { PromptEntrypoint::Unused };
        all.push((name.into(), PromptInput { remote, tools, entrypoint, ..PromptInput::new(leak(&parts)) }));
    }
    let remote_log = |prefix, parts| PromptInput { remote: true, log: Some(prefix), tools: Some(TOOLS), ..PromptInput::new(parts) };
    all.push(("caller-log".into(), remote_log("user", leak(&[USER, project, TEAM]))));
    all.push(("caller-log-team".into(), remote_log("team", leak(&[SpacePart::new("team", DIR, Some(PRIVATE))]))));
    all.push(("log-write".into(), PromptInput { tools: Some(ToolNames { log: None, ..TOOLS }), ..log() }));
    let transcripts = Some("/home/ada/.claude/projects/-home-ada-shop");
    all.push(("individual-shell".into(), PromptInput { search: PromptSearch::Shell, transcripts, ..individual() }));
    all.push(("team-grep".into(), PromptInput { search: PromptSearch::Grep("Grep"), ..team() }));
    let guidelines: &[&str] = &["  ", "Write memories in French.\n", "\n"];
    all.push(("individual-title-guidelines".into(), PromptInput { title: "auto memory", guidelines, ..individual() }));
    all
}

fn leak(parts: &[SpacePart<'static>]) -> &'static [SpacePart<'static>] {
    Box::leak(parts.to_vec().into_boxed_slice())
}

fn built(input: &PromptInput<'_>) -> String {
    prompt::build(input)
}

#[test]
fn every_prompt_is_the_committed_one() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../golden/prompts");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| prompts().iter().for_each(|(name, input)| insta::assert_snapshot!(name.as_str(), built(input))));
}

#[test]
fn a_prompt_has_no_blank_left_and_no_double_space() {
    for (name, input) in prompts() {
        let text = built(&input);
        assert!(!text.contains(['{', '}']), "{name}");
        assert!(!text.contains("\n\n\n") && !text.contains("  ") && text.ends_with('\n') && !text.ends_with("\n\n"), "{name}");
    }
}

#[test]
fn the_individual_prompt_without_entrypoint_stays_small() {
    for search in [PromptSearch::Memdir, PromptSearch::Grep("Grep"), PromptSearch::Shell] {
        for tools in [None, Some(TOOLS)] {
            let transcripts = Some("/home/ada/.claude/projects/-home-ada-shop");
            let input = PromptInput { entrypoint: PromptEntrypoint::LeftOut, search, tools, transcripts, ..individual() };
            assert!(built(&input).len() < 5_000, "{} bytes", built(&input).len());
        }
    }
}

#[test]
fn a_remote_caller_reads_no_directory_and_of_no_conversation() {
    for (name, input) in prompts().into_iter().filter(|(_, input)| input.remote) {
        let text = built(&input);
        assert!(!text.contains(DIR) && !text.contains("/home/") && !text.contains("write into it directly"), "{name}: {text}");
        assert!(text.contains("only memdir's tools reach"), "{name}: {text}");
        assert!(!text.contains("source=\"chat\""), "{name}: a server has no conversations");
    }
}

/// A model that has tools saves with a tool: it never reads that it should write a file, nor where the files are.
#[test]
fn with_tools_a_prompt_never_asks_for_a_file() {
    for (name, input) in prompts().into_iter().filter(|(_, input)| input.tools.is_some()) {
        let text = built(&input);
        for words in ["/home/", "write into it", "write into them", "directory exists", "file of its own", "```", "Add one line"] {
            assert!(!text.contains(words), "{name} says {words:?}: {text}");
        }
        assert!(text.contains("all `memory_write`") || text.contains("all `memory_log`"), "{name}: {text}");
    }
}

/// The person's memory is a part of every mode: named, with its entrypoint before the others, and the place of what is about them.
#[test]
fn the_persons_memory_is_in_every_mode() {
    let dir = tempfile::TempDir::new().unwrap();
    let mount = |prefix: &str| {
        let root = dir.path().join(format!("m-{}", prefix.replace('/', "-")));
        fs::create_dir_all(&root).unwrap();
        fs::write(root.join("MEMORY.md"), format!("- [Note](note.md) — of {prefix:?}\n")).unwrap();
        Mount::new(prefix, root, dir.path().join(format!("journal-{}", prefix.replace('/', "-"))))
    };
    let store = FileStore::open(&["", "user", "team", "agent/reviewer"].map(mount)).unwrap();
    let memdir = Memdir::new(Arc::new(store), Actor { name: "ada".into(), session: None });
    for (mode, name) in [(ModeName::Individual, "individual"), (ModeName::Team, "team"), (ModeName::Log, "log"), (ModeName::Agent, "agent")]
    {
        for tools in [None, Some(TOOLS)] {
            let request =
                PromptRequest { mode: Some(mode), agent: Some(("reviewer", AgentScope::User)), tools, ..PromptRequest::default() };
            let made = memdir.prompt(&request).unwrap();
            assert_eq!(made.load.mode, name);
            let sources: Vec<&str> = made.text.lines().filter_map(|line| line.strip_prefix("<memory source=\"")).collect();
            assert_eq!(sources.first(), Some(&"user/MEMORY.md\">"), "{name}: {}", made.text);
            assert!(sources.len() > 1, "{name}: {}", made.text);
            let place = if tools.is_some() { "`user/…`".to_owned() } else { format!("{}/m-user", dir.path().display()) };
            assert!(made.text.contains(&place), "{name}: {}", made.text);
        }
    }
}

/// Long entrypoints share the room: the person's is the first and does not push the project's out, and each says what was omitted.
#[test]
fn long_entrypoints_share_the_room() {
    let long: String = (0..300).map(|n| format!("- [Note {n}](notes/n{n}.md) — \"quoted\" text of a note\n")).collect();
    let long: &'static str = Box::leak(long.into_boxed_str());
    let short = SpacePart::new("team", TEAM_DIR, Some("- [Deploy](deploy.md) — never on Fridays"));
    let parts = leak(&[SpacePart { entrypoint: Some(long), ..PERSON }, SpacePart { entrypoint: Some(long), ..PROJECT }, short]);
    let text = built(&PromptInput { tools: Some(TOOLS), max_units: Some(9_700), ..PromptInput::new(parts) });
    assert!(serde_json::to_string(&text).unwrap().encode_utf16().count() <= 9_700, "{}", text.len());
    let count = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
    let (person, project) = (count("- user/notes/"), count("- notes/"));
    assert!(person > 20 && project > 20 && person.abs_diff(project) < 8, "{person} {project}");
    assert_eq!(count("- team/deploy — never on Fridays"), 1);
    let notes: Vec<&str> = text.lines().filter(|line| line.starts_with("[omitted: ")).collect();
    let expected = [("user/MEMORY.md", person), ("MEMORY.md", project)]
        .map(|(path, shown)| format!("[omitted: {} lines; memory_read paths [\"{path}\"], lines \"{}-\"]", 300 - shown, shown + 1));
    assert_eq!(notes, expected);
}

#[test]
fn only_the_team_prompt_mentions_teams_and_scopes() {
    for input in [individual(), log()] {
        let text = built(&PromptInput { tools: Some(TOOLS), ..input }).to_lowercase();
        assert!(!text.contains("team") && !text.contains("scope"), "{text}");
    }
    let text = built(&team());
    assert!(text.contains(DIR) && text.contains(TEAM_DIR) && text.contains("## Scope"), "{text}");
}

#[test]
fn a_missing_or_blank_entrypoint_is_one_line_and_the_rest_stays() {
    let with = built(&PromptInput::new(&[SpacePart::new("", DIR, Some("- [A](a.md) — x"))]));
    let (instructions, _) = with.split_once("## MEMORY.md\n").unwrap();
    for entrypoint in [None, Some(""), Some(" \n\t\n")] {
        let text = built(&PromptInput::new(&[SpacePart::new("", DIR, entrypoint)]));
        assert_eq!(text, format!("{instructions}## MEMORY.md\n\nMEMORY.md is empty for now. Saved memories will appear here.\n"));
    }
}

#[test]
fn a_directory_with_special_characters_stays_one_word_of_the_shell() {
    let input = PromptInput { search: PromptSearch::Shell, ..PromptInput::new(&[const { SpacePart::new("", "/a b/it's {dir}", None) }]) };
    assert!(built(&input).contains(r#"grep -rn "narrow term" '/a b/it'\''s {dir}' --include="*.md""#), "{}", built(&input));
}

#[test]
fn a_team_directory_inside_the_memory_is_searched_once() {
    let parts = [SpacePart::new("", "/m", None), SpacePart::new("team", "/m/team", None)];
    let input = PromptInput { search: PromptSearch::Shell, ..PromptInput::new(&parts) };
    assert_eq!(built(&input).matches("grep -rn").count(), 1);
}

#[test]
fn the_default_mode_is_the_log_then_the_team_then_the_individual() {
    let dir = tempfile::TempDir::new().unwrap();
    let open = |prefixes: &[&str]| {
        let mount = |prefix: &&str| Mount::new(prefix, dir.path().join(format!("m{prefix}")), dir.path().join(format!("journal{prefix}")));
        let vault = FileStore::open(&prefixes.iter().map(mount).collect::<Vec<_>>()).unwrap();
        Memdir::new(Arc::new(vault), Actor { name: "ada".into(), session: None })
    };
    let mode = |prefixes: &[&str], log: bool| open(prefixes).prompt(&PromptRequest { log, ..PromptRequest::default() }).unwrap().load.mode;
    assert_eq!(mode(&["", "team"], true), "log");
    assert_eq!(mode(&["", "team"], false), "team");
    assert_eq!(mode(&[""], false), "individual");
    assert_eq!(mode(&["user"], false), "space");
    let asked = |mode| open(&["", "team"]).prompt(&PromptRequest { mode: Some(mode), ..PromptRequest::default() }).unwrap().load.mode;
    assert_eq!(asked(ModeName::Individual), "individual");
    assert!(open(&[""]).prompt(&PromptRequest { mode: Some(ModeName::Team), ..PromptRequest::default() }).is_err());
}

#[test]
fn secrets_in_an_entrypoint_are_redacted_before_it_is_cut() {
    let home = Home::new();
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2));
    let main = home.dir.path().join("memory/MEMORY.md");
    fs::create_dir_all(main.parent().unwrap()).unwrap();
    fs::write(&main, format!("- [Deploy](deploy.md) — token {token}\n")).unwrap();
    let memdir = home.open();
    let text = memdir.prompt(&PromptRequest::default()).unwrap().text;
    assert!(text.contains("token [secret: github-token]") && !text.contains(&token[..10]), "{text}");
    assert!(memdir.entrypoint("").unwrap().content.contains(&token), "a read is byte for byte");
}

/// Keeps the reference page current: generates it again and fails if it was outdated.
#[test]
fn the_size_table_is_correct() {
    let mut page = String::from(
        "# Sizes of the memory prompts\n\nGenerated; do not edit. Bytes of `memdir prompt` without the entrypoint's own text,\n\
         for a directory of 42 bytes. A token is about four bytes of English.\n\n| prompt | bytes | lines |\n|---|---:|---:|\n",
    );
    for (name, mut input) in prompts() {
        let parts: Vec<SpacePart<'_>> = input.parts.iter().map(|part| SpacePart { entrypoint: None, ..*part }).collect();
        input.parts = leak(&parts);
        let text = built(&input);
        page += &format!("| {name} | {} | {} |\n", text.len(), text.lines().count());
    }
    page += "\n## The texts they are made of\n\n| text | bytes |\n|---|---:|\n";
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("texts/prompts");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap()).collect();
    files.sort_by_key(fs::DirEntry::file_name);
    for file in files {
        page += &format!("| {} | {} |\n", file.file_name().to_string_lossy(), file.metadata().unwrap().len());
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/prompts.md");
    if fs::read_to_string(&path).ok().as_deref() != Some(page.as_str()) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, page).unwrap();
        panic!("docs/reference/prompts.md was out of date and has been written anew: look at the difference and commit it");
    }
}
