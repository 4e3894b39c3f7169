//! The prompt of every mode, word for word, and its size.

use memdir_core::prompt::{self, Entrypoint, Mode, Open, Part, Place, PromptInput, Search, Tools};
use memdir_core::store::space::AgentScope;
use std::{fs, path::Path};

const DIR: &str = "/home/ada/.memdir/projects/shop-1a2b3c4d5e";
const TEAM: Place<'_> = Place { dir: "/home/ada/shop/.memdir", entrypoint: Some("- [Deploy](deploy.md) — never on Fridays") };
const TOOLS: Tools<'_> = Tools { write: "memory_write", search: "memory_search", log: Some("memory_log") };
const AGENT: Mode<'_> = Mode::Agent { name: "reviewer", scope: AgentScope::Project };

fn private() -> Place<'static> {
    Place { dir: DIR, entrypoint: Some("- [Ada](ada.md) — builds the shop, new to Rust\n") }
}

/// Every combination that is kept as a golden file, by its name.
fn prompts() -> Vec<(String, PromptInput<'static>)> {
    let mut all = Vec::new();
    for mode in [Mode::Individual, Mode::Team(TEAM), Mode::Log, AGENT] {
        for (flag, entrypoint) in [("", Entrypoint::Shown), ("-no-entrypoint", Entrypoint::LeftOut), ("-no-index", Entrypoint::Unused)] {
            for (with, tools) in [("", None), ("-tools", Some(TOOLS))] {
                let input = PromptInput { entrypoint, tools, ..PromptInput::new(mode, private()) };
                all.push((format!("{}{flag}{with}", mode.name()), input));
            }
        }
    }
    let individual = PromptInput::new(Mode::Individual, private());
    let shell = PromptInput { search: Search::Shell, transcripts: Some("/home/ada/.claude/projects/-home-ada-shop"), ..individual.clone() };
    let grep = PromptInput { search: Search::Grep("Grep"), ..PromptInput::new(Mode::Team(TEAM), private()) };
    let guided = PromptInput { title: "auto memory", guidelines: &["  ", "Write memories in French.\n", "\n"], ..individual };
    let mine = Part { prefix: "user", place: private(), kept: true, open: &[] };
    let agents = Part {
        prefix: "agent/reviewer",
        place: Place { dir: "/home/ada/.memdir/agents/reviewer", entrypoint: None },
        kept: true,
        open: &[],
    };
    let project =
        Part { prefix: "", place: Place { entrypoint: Some("- [Plan](plan.md) — what comes next"), ..TEAM }, kept: true, open: &[] };
    let teams = Part { prefix: "team", place: TEAM, kept: true, open: &[] };
    let plan: &[Open] = Box::leak(Box::new([Open { name: "plan/".into(), path: format!("{DIR}/plan") }]));
    let part = Part { kept: false, open: plan, ..project };
    let spaces: [(&str, bool, Vec<Part<'_>>); 6] = [
        ("caller", true, vec![mine, agents, project, teams]),
        ("caller-alone", true, vec![mine]),
        ("caller-narrow", true, vec![part]),
        ("narrow", false, vec![part]),
        ("user-alone", false, vec![mine]),
        ("team-alone", false, vec![teams]),
    ];
    for (name, remote, parts) in spaces {
        let tools = remote.then_some(TOOLS);
        let place = parts[0].place;
        let entrypoint = if parts.iter().any(|part| part.kept) { Entrypoint::Shown } else { Entrypoint::Unused };
        let mode = Mode::Space(Box::leak(parts.into_boxed_slice()));
        all.push((name.into(), PromptInput { remote, tools, entrypoint, ..PromptInput::new(mode, place) }));
    }
    let log = PromptInput { remote: true, prefix: "user", tools: Some(TOOLS), ..PromptInput::new(Mode::Log, private()) };
    let appended = PromptInput { tools: Some(Tools { log: None, ..TOOLS }), ..PromptInput::new(Mode::Log, private()) };
    let shared = PromptInput { prefix: "team", ..log.clone() };
    let beside: &[Part<'_>] = Box::leak(Box::new([mine, project, teams]));
    all.push(("caller-log".into(), PromptInput { beside, ..log }));
    all.push(("caller-log-team".into(), shared));
    all.push(("log-write".into(), appended));
    all.push(("individual-shell".into(), shell));
    all.push(("team-grep".into(), grep));
    all.push(("individual-title-guidelines".into(), guided));
    all
}

fn built(input: &PromptInput<'_>) -> String {
    prompt::build(input).unwrap()
}

#[test]
fn every_prompt_is_as_written_down() {
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
    for search in [Search::Memdir, Search::Grep("Grep"), Search::Shell] {
        for tools in [None, Some(TOOLS)] {
            let transcripts = Some("/home/ada/.claude/projects/-home-ada-shop");
            let input = PromptInput {
                entrypoint: Entrypoint::LeftOut,
                search,
                tools,
                transcripts,
                ..PromptInput::new(Mode::Individual, private())
            };
            assert!(built(&input).len() < 5_000, "{} bytes", built(&input).len());
        }
    }
}

#[test]
fn a_caller_is_told_of_no_directory_and_of_nobody_elses_memory_as_private() {
    for (name, input) in prompts().into_iter().filter(|(_, input)| input.remote) {
        let text = built(&input);
        assert!(!text.contains(DIR) && !text.contains("/home/") && !text.contains("write into it directly"), "{name}: {text}");
        assert!(text.contains("only memdir's tools reach"), "{name}: {text}");
        assert!(!text.contains("source=\"chat\""), "{name}: no conversation is on a server");
    }
}

#[test]
fn off_means_no_prompt() {
    assert_eq!(prompt::build(&PromptInput { enabled: false, ..PromptInput::new(Mode::Individual, private()) }), None);
}

#[test]
fn the_mode_nobody_named_is_the_log_then_the_team_then_the_individual() {
    assert_eq!(Mode::choose(true, Some(TEAM)), Mode::Log);
    assert_eq!(Mode::choose(false, Some(TEAM)), Mode::Team(TEAM));
    assert_eq!(Mode::choose(false, None), Mode::Individual);
}

#[test]
fn only_the_team_prompt_speaks_of_teams_and_scopes() {
    for mode in [Mode::Individual, Mode::Log] {
        let text = built(&PromptInput { tools: Some(TOOLS), ..PromptInput::new(mode, private()) }).to_lowercase();
        assert!(!text.contains("team") && !text.contains("scope"), "{text}");
    }
    let text = built(&PromptInput::new(Mode::Team(TEAM), private()));
    assert!(text.contains(DIR) && text.contains(TEAM.dir) && text.contains("## Scope"), "{text}");
}

#[test]
fn a_missing_or_blank_entrypoint_is_one_line_and_the_rest_stays() {
    let with = built(&PromptInput::new(Mode::Individual, Place { dir: DIR, entrypoint: Some("- [A](a.md) — x") }));
    let (instructions, _) = with.split_once("## MEMORY.md\n").unwrap();
    for entrypoint in [None, Some(""), Some(" \n\t\n")] {
        let text = built(&PromptInput::new(Mode::Individual, Place { dir: DIR, entrypoint }));
        assert_eq!(text, format!("{instructions}## MEMORY.md\n\nMEMORY.md is empty for now. Saved memories will appear here.\n"));
    }
}

#[test]
fn a_directory_with_odd_letters_stays_one_word_of_the_shell() {
    let input =
        PromptInput { search: Search::Shell, ..PromptInput::new(Mode::Individual, Place { dir: "/a b/it's {dir}", entrypoint: None }) };
    assert!(built(&input).contains(r#"grep -rn "narrow term" '/a b/it'\''s {dir}' --include="*.md""#), "{}", built(&input));
}

#[test]
fn a_team_directory_inside_the_memory_is_searched_once() {
    let input = PromptInput {
        search: Search::Shell,
        ..PromptInput::new(Mode::Team(Place { dir: "/m/team", entrypoint: None }), Place { dir: "/m", entrypoint: None })
    };
    assert_eq!(built(&input).matches("grep -rn").count(), 1);
}

/// Reference pages cannot go stale: this test writes the page anew and fails when it was.
#[test]
fn the_size_table_is_true() {
    let mut page = String::from(
        "# Sizes of the memory prompts\n\nWritten by a test; do not edit. Bytes of `memdir prompt` without the entrypoint's own text,\n\
         for a directory of 42 bytes. A token is about four bytes of English.\n\n| prompt | bytes | lines |\n|---|---:|---:|\n",
    );
    for (name, mut input) in prompts() {
        input.memory.entrypoint = None;
        if let Mode::Team(place) = &mut input.mode {
            place.entrypoint = None;
        }
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
