//! Checking a whole space: every rule reports its finding, a clean space has none, and `fix` loses nothing.

use crate::{
    operations::{Home, path},
    project::{git, place, put, repository},
};
use memdir_core::{
    Check, CheckRule, CheckSeverity, Checked, Memdir, Memory, Write, WriteMode,
    internal::project::{self, Worktrees},
};
use std::{fs, path::Path};

const TYPED: &str = "---\nname: A\ndescription: what it says\ntype: project\n---\n\n";

fn save(memdir: &Memdir, name: &str, text: &str) {
    memdir.write(&Write::create(path(name), text).mode(WriteMode::Exact)).unwrap();
}

fn lines(checked: &Checked) -> Vec<String> {
    let line = |line: Option<u64>| line.map_or_else(String::new, |line| format!(":{line}"));
    checked.findings.iter().map(|found| format!("{}{} {:?}: {}", found.path, line(found.line), found.rule, found.what)).collect()
}

#[test]
fn a_clean_space_has_no_findings() {
    let home = Home::new();
    let memdir = home.open();
    save(&memdir, "deploy.md", &format!("{TYPED}Never on Fridays; see [the log](notes/log.md) and `mem:notes/log`, [[log]].\n"));
    save(&memdir, "notes/log.md", &format!("{TYPED}On 2026-03-05 the freeze began.\n"));
    save(&memdir, "notes/list.md", &format!("{TYPED}[[log]]\n"));
    fs::write(
        home.dir.path().join("memory/deploy.md"),
        format!("{TYPED}Never on Fridays; see [the log](notes/log.md), `mem:notes/log`.\n"),
    )
    .unwrap();
    let checked = memdir.check(&Check::default()).unwrap();
    assert_eq!(lines(&checked), Vec::<String>::new());
    assert!(!checked.is_wrong());
}

/// 40,000 keys stopped every search and read for minutes. What is beyond a limit is text, is reported, and loses nothing.
#[test]
fn a_frontmatter_beyond_the_limits_is_text_and_reported() {
    let home = Home::new();
    let memdir = home.open();
    let keys = |count: usize| (0..count).map(|n| format!("key{n}: value\n")).collect::<String>();
    let texts = [
        ("keys.md", format!("---\ntype: project\n{}---\n\nThe okapi.\n", keys(40_000))),
        ("many.md", format!("---\ntype: project\n{}---\n\nThe okapi.\n", keys(1_001))),
        ("line.md", format!("---\ntype: project\na: {}\n---\n\nThe okapi.\n", "b ".repeat(10_000))),
        ("deep.md", format!("---\ntype: project\na: {}{}\n---\n\nThe okapi.\n", "[".repeat(40), "]".repeat(40))),
        ("fine.md", format!("---\ntype: project\na: {}{}\n{}---\n\nThe okapi.\n", "[".repeat(20), "]".repeat(20), keys(900))),
    ];
    memdir.write(&Write::create(path("first"), "x\n")).unwrap();
    for (name, text) in &texts {
        fs::write(home.dir.path().join("memory").join(name), text).unwrap();
    }
    let checked = memdir.check(&Check::default()).unwrap();
    let found: Vec<String> = lines(&checked).into_iter().filter(|line| line.contains(" Frontmatter: ")).collect();
    assert_eq!(
        found,
        [
            "deep.md:3 Frontmatter: the frontmatter is nested more than 32 levels deep, so the whole file is read as the body",
            "keys.md:4445 Frontmatter: the frontmatter is larger than 64 KB, so the whole file is read as the body",
            "line.md:3 Frontmatter: a frontmatter line is larger than 16 KB, so the whole file is read as the body",
            "many.md:1002 Frontmatter: the frontmatter has more than 1000 keys, so the whole file is read as the body",
        ]
    );
    for (name, text) in &texts {
        assert_eq!(Memory::parse(text).0.text(), text, "{name}");
        let patched = Memory::parse(text).0.with_field("last_verified", Some("2026-03-01"));
        let is_body = *name != "fine.md";
        assert_eq!(patched.ends_with(text.as_str()), is_body, "{name}: the block stays, as text");
        assert_eq!(Memory::parse(&patched).0.field("last_verified"), Some("2026-03-01"), "{name}");
    }
}

#[test]
fn every_fault_is_found_with_its_place() {
    let (_temp, top) = place();
    let shop = repository(top.join("shop"));
    put(&shop.join("AGENTS.md"), "Always run the formatter before you commit anything at all.\n");
    put(&shop.join("src/main.rs"), "fn main() {}\n");
    git(&shop, &["add", "."]);
    let project = project::find(&shop, Worktrees::Shared).unwrap();
    let home = Home::new();
    let memdir = home.open();
    let body = "The nightly import reads the supplier feed, drops rows without a price, and mails the rest to the buyers before six.";
    save(&memdir, "import.md", &format!("{TYPED}{body}\n"));
    save(&memdir, "import-again.md", &format!("{TYPED}{body}\n"));
    save(
        &memdir,
        "untyped.md",
        "Shipped yesterday.\n\n- Always run the formatter before you commit anything at all\n\n`src/gone.rs` and [main](src/main.rs)\n",
    );
    save(&memdir, "links.md", &format!("{TYPED}[x](nowhere.md) `mem:improt` [[absent]]\n"));
    save(&memdir, "broken.md", "---\ntype: opinion\nwhen: {path: gone/**, comand: x}\ncreated: soon\n---\n\nx\n");
    save(&memdir, "secret.md", &format!("{TYPED}token\n"));
    let secret = format!("{TYPED}token ghp_{}\n", "a1B2c3D4e5F6g7H8i9J0".repeat(2));
    fs::write(home.dir.path().join("memory/secret.md"), secret).unwrap();
    save(&memdir, "logs/2026/03/2026-03-05.md", "- 12:00 yesterday was fine\n");
    let long = format!("- [Hand](hand.md) — {}\n", "long ".repeat(50));
    let main = home.dir.path().join("memory/MEMORY.md");
    fs::write(&main, format!("{long}{}", fs::read_to_string(&main).unwrap())).unwrap();
    fs::write(home.dir.path().join("memory/found.md"), format!("{TYPED}by hand\n")).unwrap();
    fs::write(home.dir.path().join("memory/Import.md"), format!("{TYPED}other\n")).unwrap();
    let checked = memdir.check(&Check { project: Some(&project), fix: false }).unwrap();
    insta::assert_snapshot!(lines(&checked).join("\n"), @r#"
     CaseCollision: "Import.md" and "import.md" differ only in case or Unicode normalization; rename one of them
    Import.md Unlisted: not listed in the entrypoint; add it with: memdir check --fix
    MEMORY.md:1 DeadLine: links to hand.md, which does not exist
    MEMORY.md:1 LongLine: the line has 270 characters; shorten it to at most 150, and move details into a memory
    broken.md:2 Frontmatter: the type "opinion" is not one of user, feedback, project, reference
    broken.md:3 Tripwire: when: unknown key "comand"; expected command, path, words, tools or strength
    broken.md:4 Frontmatter: `created` is not a date or time such as 2026-03-01 or 2026-03-01T09:30:00Z
    found.md Unlisted: not listed in the entrypoint; add it with: memdir check --fix
    import-again.md NearDuplicate: 100% identical to import; keep only one
    links.md:7 DeadLink: links to [[absent]], which does not exist
    links.md:7 DeadLink: links to nowhere.md, which does not exist
    links.md:7 DeadReference: links to mem:improt, which does not exist; did you mean "Import" or "import"?
    secret.md:7 Secret: looks like a secret (github-token); remove and revoke it
    untyped.md Type: no type; set it to user, feedback, project or reference
    untyped.md:1 RelativeDate: "yesterday" is a relative date; write an absolute date
    untyped.md:3 RepeatsInstructions: repeats text from AGENTS.md; keep it in one place
    untyped.md:5 Gone: mentions src/gone.rs, which does not exist
    "#);
    assert!(checked.is_wrong());
    assert_eq!(checked.files, 10);
}

#[test]
fn fix_adds_missing_lines_and_can_be_undone() {
    let home = Home::new();
    let memdir = home.open();
    save(&memdir, "a.md", &format!("{TYPED}a\n"));
    fs::write(home.dir.path().join("memory/b.md"), format!("{TYPED}b\n")).unwrap();
    let before = home.file("MEMORY.md");
    assert!(memdir.check(&Check::default()).unwrap().is_wrong());
    assert_eq!(home.file("MEMORY.md"), before, "looking changes nothing");
    let checked = memdir.check(&Check { fix: true, ..Check::default() }).unwrap();
    assert_eq!(checked.fixed, [path("b.md")]);
    assert!(!checked.is_wrong() && home.file("MEMORY.md").contains("(b.md)"));
    memdir.undo(&memdir_core::UndoTarget::Id(checked.changes[0].0.clone())).unwrap();
    assert_eq!(home.file("MEMORY.md"), before);
}

#[test]
fn an_entrypoint_near_its_limit_is_reported_before_it_is_cut() {
    let home = Home::new();
    let memdir = home.open();
    save(&memdir, "a.md", &format!("{TYPED}a\n"));
    let main = home.dir.path().join("memory/MEMORY.md");
    let filled = format!("{}{}", "note\n".repeat(170), fs::read_to_string(&main).unwrap());
    fs::write(&main, filled).unwrap();
    let caps: Vec<_> = memdir.check(&Check::default()).unwrap().findings.into_iter().filter(|found| found.rule == CheckRule::Cap).collect();
    assert_eq!(caps.len(), 1);
    assert!(caps[0].what.contains(" lines (limit 200)") && caps[0].severity == CheckSeverity::Advice, "{}", caps[0].what);
}

/// Real memories show how often the rule is wrong: its findings in them were reviewed by hand.
#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn relative_dates_are_rare_in_real_memories() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/memory-files");
    let Ok(projects) = fs::read_dir(&corpus) else {
        eprintln!("skipped: no corpus beside the workspace");
        return;
    };
    let mut found = Vec::new();
    for file in projects.flatten().filter_map(|project| fs::read_dir(project.path()).ok()).flatten().flatten() {
        let text = String::from_utf8_lossy(&fs::read(file.path()).unwrap()).into_owned();
        let (memory, _) = Memory::parse(&text);
        found.extend(
            memdir_core::internal::operations::check::relative_dates(memory.text())
                .into_iter()
                .map(|date| format!("{} {}", file.file_name().to_string_lossy(), date.words)),
        );
    }
    found.sort();
    let reviewed = [
        "agents.md today",
        "feedback_building_for_others.md tomorrow",
        "feedback_building_for_others.md tomorrow",
        "project_maddie_ventures_2026-03-24.md this week",
        "project_maddie_ventures_2026-03-24.md today",
        "project_maddie_ventures_2026-03-24.md tomorrow",
        "project_pillar3_full_network_2026-03-24.md in one week",
        "project_session_2026-03-25.md tomorrow",
        "project_session_2026-03-31-s45.md in 14 days",
    ];
    assert_eq!(found, reviewed);
}

#[test]
fn the_reason_of_invalid_yaml_is_reported() {
    let home = Home::new();
    let memdir = home.open();
    save(&memdir, "broken.md", "---\ntype: project\nwhen: {command: [git push}\n---\n\nx\n");
    let checked = memdir.check(&Check::default()).unwrap();
    assert_eq!(lines(&checked).last().unwrap(), "broken.md:3 Tripwire: when: invalid YAML: mismatched bracket '[' closed by '}'");
}
