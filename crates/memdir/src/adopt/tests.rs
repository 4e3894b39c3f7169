#![expect(clippy::disallowed_methods, reason = "tests make files by hand")]

use super::*;
use crate::hosts::{Host, Os, by_name};
use std::path::PathBuf;

fn machine(root: &Path) -> Machine {
    let [home, project] = ["home", "project"].map(|name| root.join(name));
    for dir in [&home, &project] {
        fs::create_dir_all(dir).unwrap();
    }
    Machine {
        os: Os::Linux,
        home,
        main_checkout: project.clone(),
        project,
        exe: "/bin/memdir".into(),
        global_args: Vec::new(),
        with_hooks: true,
        variables: Default::default(),
    }
}

fn file(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn memories_of_other_programs_are_found() {
    let root = tempfile::tempdir().unwrap();
    let machine = machine(root.path());
    assert_eq!(find(&machine), []);
    let home = &machine.home;
    let slug: String = machine.project.to_str().unwrap().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
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
            format!("{} {}\n", found.memories, mount_settings(found, found.name, &machine, "proj-1", false))
                .replace(root.path().to_str().unwrap(), "ROOT")
                .replace(&slug, "SLUG")
        })
        .collect();
    insta::assert_snapshot!(shown.concat());
}

#[test]
fn a_hostile_registry_of_projects_is_ignored() {
    let root = tempfile::tempdir().unwrap();
    let machine = machine(root.path());
    file(&machine.home.join(".gemini/tmp/x/memory/a.md"), "x");
    for id in ["../../.ssh", "", "/etc", "a/b"] {
        file(&machine.home.join(".gemini/projects.json"), &json!({ "projects": { machine.project.to_str().unwrap(): id } }).to_string());
        assert_eq!(by_name("gemini").unwrap().memory.unwrap()(&machine), None, "{id}");
    }
}

#[test]
fn the_import_directory_follows_the_memories() {
    let root = tempfile::tempdir().unwrap();
    let machine = machine(root.path());
    for host in HOSTS {
        if let Some(import) = &host.memory_import {
            check_import(host, import, &machine);
        }
    }
}

fn check_import(host: &Host, import: &crate::hosts::MemoryImport, machine: &Machine) {
    let memory = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let write = |memories: &[(String, String)]| import_dir::write(import, machine, "p", memories).unwrap();
    assert_eq!(write(&[memory("a.md", "A\n"), memory("b/c.md", "C\n")]), 4, "{}", host.name);
    assert_eq!(write(&[memory("a.md", "A\n"), memory("b/c.md", "C\n")]), 0);
    assert_eq!(write(&[memory("a.md", "A2\n")]), 2);
    let dir: PathBuf = (import.dir)(machine);
    let resources = dir.join("resources/p");
    assert_eq!(fs::read_to_string(resources.join("a.md")).unwrap(), "A2\n");
    assert_eq!(fs::read_to_string(resources.join("scope.json")).unwrap(), format!("{}\n", json!({ "cwd": machine.project })));
    assert!(!resources.join("b").exists());
    assert!(import_dir::remove(import, machine).unwrap());
    assert!(!dir.exists());
    file(&dir.join("instructions.md"), "of another program");
    assert!(!import_dir::remove(import, machine).unwrap());
}
