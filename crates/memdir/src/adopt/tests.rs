#![expect(clippy::disallowed_methods, reason = "tests make files by hand")]

use super::*;
use crate::hosts::Os;

fn machine(root: &Path) -> Machine {
    let [home, project] = ["home", "project"].map(|name| root.join(name));
    for dir in [&home, &project] {
        fs::create_dir_all(dir).unwrap();
    }
    Machine {
        os: Os::Linux,
        home,
        main: project.clone(),
        project,
        exe: "/bin/memdir".into(),
        before: Vec::new(),
        variables: Default::default(),
    }
}

fn file(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn everybodys_memories_are_found_where_they_keep_them() {
    let root = tempfile::tempdir().unwrap();
    let machine = machine(root.path());
    assert_eq!(find(&machine), []);
    let (home, slug) = (&machine.home, claude_slug(&machine.project).unwrap());
    file(&home.join(format!(".claude/projects/{slug}/memory/MEMORY.md")), "- [A](a.md)\n");
    file(&home.join(".claude/projects/-other/memory/MEMORY.md"), "not of this project\n");
    file(&home.join(".codex/memories/MEMORY.md"), "x");
    file(&home.join(".gemini/projects.json"), &json!({ "projects": { machine.project.to_str().unwrap(): "proj" } }).to_string());
    file(&home.join(".gemini/tmp/proj/memory/a.md"), "x");
    file(&machine.project.join(".serena/memories/deep/b.md"), "x");
    file(&home.join(".openclaw/workspace/MEMORY.md"), "x");
    file(&home.join(".koding/memory/a.md"), "x");
    file(&home.join(".agent-memory/memory/a.md"), "x");
    file(&home.join(".agent-memory/memory/.hidden/b.md"), "x");
    let found = find(&machine);
    let shown: Vec<String> = found
        .iter()
        .map(|found| {
            format!("{} {}\n", found.memories, found.mount(found.name, &machine, "proj-1", false))
                .replace(root.path().to_str().unwrap(), "ROOT")
                .replace(&slug, "SLUG")
        })
        .collect();
    insta::assert_snapshot!(shown.concat());
}

#[test]
fn a_hostile_registry_leads_nowhere() {
    let root = tempfile::tempdir().unwrap();
    let machine = machine(root.path());
    file(&machine.home.join(".gemini/tmp/x/memory/a.md"), "x");
    for id in ["../../.ssh", "", "/etc", "a/b"] {
        file(&machine.home.join(".gemini/projects.json"), &json!({ "projects": { machine.project.to_str().unwrap(): id } }).to_string());
        assert_eq!(gemini_memory(&machine), None, "{id}");
    }
}

#[test]
fn codex_gets_what_is_there_and_loses_what_is_gone() {
    let root = tempfile::tempdir().unwrap();
    let machine = machine(root.path());
    let memory = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    assert_eq!(for_codex::write(&machine, "p", &[memory("a.md", "A\n"), memory("b/c.md", "C\n")]).unwrap(), 4);
    assert_eq!(for_codex::write(&machine, "p", &[memory("a.md", "A\n"), memory("b/c.md", "C\n")]).unwrap(), 0);
    assert_eq!(for_codex::write(&machine, "p", &[memory("a.md", "A2\n")]).unwrap(), 2);
    let resources = for_codex::dir(&machine).join("resources/p");
    assert_eq!(fs::read_to_string(resources.join("a.md")).unwrap(), "A2\n");
    assert_eq!(fs::read_to_string(resources.join("scope.json")).unwrap(), format!("{}\n", json!({ "cwd": machine.project })));
    assert!(!resources.join("b").exists());
    assert!(for_codex::remove(&machine).unwrap());
    assert!(!for_codex::dir(&machine).exists());
    file(&for_codex::dir(&machine).join("instructions.md"), "somebody else's");
    assert!(!for_codex::remove(&machine).unwrap());
}
