//! Every host, in both scopes, over settings files as people have them.

#![expect(clippy::disallowed_methods, reason = "the files of other programs, made by hand")]

use super::*;
use crate::hosts::{Event, Format, HOSTS, Os, Wish, is_our_hook, is_our_server, wish};
use std::fs;

/// A machine with a home, a project and nothing on it.
struct World {
    root: tempfile::TempDir,
    machine: Machine,
}

impl World {
    fn new() -> World {
        let root = tempfile::tempdir().unwrap();
        let [home, project] = ["home", "project"].map(|name| root.path().join(name));
        fs::create_dir_all(&home).unwrap();
        fs::create_dir_all(&project).unwrap();
        let machine = Machine {
            os: Os::Linux,
            home,
            main: project.clone(),
            project,
            exe: "/opt/my tools/memdir".into(),
            before: Vec::new(),
            variables: Default::default(),
        };
        World { root, machine }
    }

    fn order<'a>(&'a self, host: &'a Host, scope: Scope, home: &'a Path) -> Order<'a> {
        Order { host, scope, machine: &self.machine, home, now: "2026-11-15T12:00:00Z".parse().unwrap() }
    }

    fn memdir_home(&self) -> PathBuf {
        self.root.path().join("memdir")
    }

    /// Every file but memdir's own, with its text.
    fn files(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut dirs = vec![self.machine.home.clone(), self.machine.project.clone()];
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.is_symlink() {
                    dirs.push(path);
                } else {
                    let name = path.strip_prefix(self.root.path()).unwrap().display().to_string();
                    found.push((name, fs::read_to_string(&path).unwrap()));
                }
            }
        }
        found.sort();
        found
    }

    fn dirs(&self) -> usize {
        fn count(dir: &Path) -> usize {
            fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).map(|path| 1 + count(&path)).sum()
        }
        count(&self.machine.home) + count(&self.machine.project)
    }

    fn parts(&self, host: &Host, scope: Scope) -> Vec<Part> {
        (host.parts)(&self.machine, scope).unwrap_or_default()
    }
}

/// Every host and scope there is.
fn everywhere() -> Vec<(&'static Host, Scope)> {
    let both = HOSTS.iter().flat_map(|host| [(*host, Scope::User), (*host, Scope::Project)]);
    let world = World::new();
    both.filter(|(host, scope)| !world.parts(host, *scope).is_empty()).collect()
}

/// Settings files as people have them, for a part.
fn written(part: &Part) -> Vec<&'static str> {
    match part.format {
        Format::Whole => vec![],
        Format::Toml => vec![
            "",
            "# my settings\r\nmodel = \"gpt\"\r\n\r\n[mcp_servers.other]\r\ncommand = \"npx\" # keep\r\nargs = [\"-y\", \"x\"]\r\n",
            "model = \"gpt\"\n[tui]\nnotifications = true",
            "\u{feff}[mcp_servers]\n\n[profiles.a]\nx = 1\n",
        ],
        Format::Json => vec![
            "",
            "{}",
            "{\n}\n",
            "{\"mcpServers\":{},\"hooks\":{}}",
            "{\n  \"theme\": \"dark\",\n  \"big\": 12345678901234567890,\n  \"float\": 1.10\n}\n",
            "{\r\n\t// the servers I use\r\n\t\"mcpServers\": {\r\n\t\t\"github\": { \"command\": \"docker\", \"args\": [\"run\"], }, // work\r\n\t},\r\n\t\"servers\": {},\r\n\t\"context_servers\": { /* none yet */ },\r\n\t\"mcp\": {\"x\": {\"type\": \"remote\", \"url\": \"https://x\"}},\r\n}\r\n",
            "{\n    \"version\": 1,\n    \"hooks\": {\n        \"SessionStart\": [ { \"matcher\": \"startup\", \"hooks\": [ { \"type\": \"command\", \"command\": \"./mine.sh\" } ] } ],\n        \"stop\": [],\n        \"sessionStart\": [{\"command\": \"./mine.sh\"}]\n    }\n}",
            "\u{feff}/* top */\n{\n  \"a\": null\n}\n// bottom\n",
        ],
    }
}

/// Runs `check` for each host, scope and way its files may be written.
fn for_each(check: impl Fn(&World, &'static Host, Scope, &str)) {
    for (host, scope) in everywhere() {
        let world = World::new();
        check(&world, host, scope, "absent");
        let ways = world.parts(host, scope).iter().map(|part| written(part).len()).max().unwrap_or(0);
        for way in 0..ways {
            let world = World::new();
            for part in world.parts(host, scope) {
                if let Some(text) = written(&part).get(way) {
                    fs::create_dir_all(part.file.parent().unwrap()).unwrap();
                    fs::write(&part.file, text).unwrap();
                }
            }
            check(&world, host, scope, &format!("way {way}"));
        }
    }
}

#[test]
fn install_and_uninstall_give_back_every_byte() {
    for_each(|world, host, scope, way| {
        let (before, dirs, home) = (world.files(), world.dirs(), world.memdir_home());
        let order = world.order(host, scope, &home);
        let parts = world.parts(host, scope);
        let touched = put(&order, &parts).unwrap_or_else(|e| panic!("{} {scope:?} {way}: {} {}", host.name, e.path.display(), e.why));
        assert!(touched.iter().all(|one| one.did != Did::Nothing), "{} {scope:?} {way}", host.name);
        check_stands(&parts, host, way);
        take(&order).unwrap();
        assert_eq!(world.files(), before, "{} {scope:?} {way}", host.name);
        assert_eq!(world.dirs(), dirs, "{} {scope:?} {way}", host.name);
    });
}

fn check_stands(parts: &[Part], host: &Host, way: &str) {
    for part in parts {
        let text = fs::read_to_string(&part.file).unwrap();
        for wish in &part.wishes {
            assert_eq!(wish::stands(part.format, &text, wish, &[]), Ok(true), "{} {way}\n{text}", host.name);
        }
    }
}

#[test]
fn a_second_installation_changes_nothing_and_a_newer_one_replaces() {
    for_each(|world, host, scope, way| {
        let (before, home) = (world.files(), world.memdir_home());
        let order = world.order(host, scope, &home);
        put(&order, &world.parts(host, scope)).unwrap();
        let once = world.files();
        let again = put(&order, &world.parts(host, scope)).unwrap();
        assert!(again.iter().all(|one| one.did == Did::Nothing), "{} {way}", host.name);
        assert_eq!(world.files(), once);
        let moved = Machine { exe: "/new/memdir".into(), ..world.machine.clone() };
        let parts = (host.parts)(&moved, scope).unwrap();
        put(&Order { machine: &moved, ..order.clone() }, &parts).unwrap();
        check_stands(&parts, host, way);
        let texts: String = parts.iter().map(|part| fs::read_to_string(&part.file).unwrap()).collect();
        assert!(!texts.contains("/opt/my tools"), "{} {way}\n{texts}", host.name);
        take(&order).unwrap();
        assert_eq!(world.files(), before, "{} {scope:?} {way}", host.name);
    });
}

/// The value of a file, without what is memdir's.
fn value_of(format: Format, text: &str) -> serde_json::Value {
    match format {
        Format::Json => wish::get(format, text, &[]).unwrap().unwrap_or(serde_json::json!({})),
        _ => toml::from_str::<serde_json::Value>(text.trim_start_matches('\u{feff}')).unwrap(),
    }
}

#[test]
fn after_an_edit_in_between_everything_but_ours_stays() {
    for_each(|world, host, scope, way| {
        let home = world.memdir_home();
        let order = world.order(host, scope, &home);
        let parts = world.parts(host, scope);
        let shared: Vec<&Part> = parts.iter().filter(|part| part.format != Format::Whole).collect();
        let before: Vec<_> = shared.iter().map(|part| fs::read_to_string(&part.file).unwrap_or_default()).collect();
        put(&order, &parts).unwrap();
        for part in &shared {
            let text = fs::read_to_string(&part.file).unwrap();
            let key = |name: &str| vec![name.to_owned()];
            let edited = match part.format {
                Format::Json => crate::hosts::jsonc::set(&text, &key("since"), &serde_json::json!({ "then": [1] })).unwrap().text,
                _ => crate::hosts::toml::set(&text, &key("since"), &serde_json::json!({ "then": [1] })).unwrap().text,
            };
            fs::write(&part.file, edited).unwrap();
        }
        take(&order).unwrap();
        for (part, before) in shared.iter().zip(before) {
            let after = fs::read_to_string(&part.file).unwrap();
            let mut expected = value_of(part.format, &before);
            expected["since"] = serde_json::json!({ "then": [1] });
            assert_eq!(value_of(part.format, &after), expected, "{} {scope:?} {way}\n{after}", host.name);
            for comment in ["// the servers I use", "// work", "/* none yet */", "/* top */", "// bottom", "# my settings", "# keep"] {
                assert_eq!(after.contains(comment), before.contains(comment), "{} {way}: {comment}\n{after}", host.name);
            }
        }
    });
}

#[test]
fn a_host_that_rewrites_its_file_loses_nothing_but_ours() {
    for_each(|world, host, scope, way| {
        let home = world.memdir_home();
        let order = world.order(host, scope, &home);
        let parts = world.parts(host, scope);
        let json: Vec<&Part> = parts.iter().filter(|part| part.format == Format::Json).collect();
        let before: Vec<_> = json.iter().map(|part| value_of(Format::Json, &fs::read_to_string(&part.file).unwrap_or_default())).collect();
        put(&order, &parts).unwrap();
        for part in &json {
            let value = value_of(Format::Json, &fs::read_to_string(&part.file).unwrap());
            fs::write(&part.file, serde_json::to_string(&value).unwrap()).unwrap();
        }
        take(&order).unwrap();
        for (part, before) in json.iter().zip(before) {
            let after = fs::read_to_string(&part.file).map(|text| value_of(Format::Json, &text)).unwrap_or(serde_json::json!({}));
            assert_eq!(after, before, "{} {scope:?} {way}", host.name);
        }
    });
}

#[test]
fn a_lost_receipt_still_lets_go_of_what_is_recognised() {
    for_each(|world, host, scope, way| {
        let home = world.memdir_home();
        let order = world.order(host, scope, &home);
        let parts = world.parts(host, scope);
        put(&order, &parts).unwrap();
        fs::remove_file(home.join("installed.json")).unwrap();
        take(&order).unwrap();
        for part in &parts {
            let text = fs::read_to_string(&part.file).unwrap_or_default();
            for wish in &part.wishes {
                let left = match wish {
                    Wish::Entry { path, .. } => {
                        wish::get(part.format, &text, path).unwrap().is_some_and(|value| is_our_server(&value, &[]))
                    }
                    Wish::Hook { path, host, event, .. } => {
                        wish::get(part.format, &text, path).unwrap().is_some_and(|value| is_our_hook(&value, host, *event, &[]))
                    }
                    Wish::Whole { .. } => !text.is_empty(),
                    Wish::Default { .. } | Wish::Setting { .. } => false,
                };
                assert!(!left, "{} {scope:?} {way}\n{text}", host.name);
            }
            if way == "absent" && part.format == Format::Json && !text.is_empty() {
                let default = |wish: &Wish| matches!(wish, Wish::Default { .. });
                let rest = if part.wishes.iter().any(default) { serde_json::json!({ "version": 1 }) } else { serde_json::json!({}) };
                assert_eq!(value_of(part.format, &text), rest, "{} {scope:?}: no empty lists and objects", host.name);
            }
        }
    });
}

#[test]
fn a_malformed_file_is_refused_and_no_file_of_the_host_is_touched() {
    for (host, scope) in everywhere() {
        for broken in 0..World::new().parts(host, scope).len() {
            let world = World::new();
            let parts = world.parts(host, scope);
            let part = &parts[broken];
            fs::create_dir_all(part.file.parent().unwrap()).unwrap();
            fs::write(&part.file, "{ \"a\": \n <<<<<<< HEAD").unwrap();
            let (before, home) = (world.files(), world.memdir_home());
            let trouble = put(&world.order(host, scope, &home), &parts).unwrap_err();
            assert_eq!(trouble.path, part.file, "{}", host.name);
            assert_eq!(world.files(), before, "{}", host.name);
            assert!(Receipts::load(&home).unwrap().installed.is_empty());
        }
    }
}

#[test]
#[cfg(unix)]
fn a_read_only_file_is_refused_with_words() {
    use std::os::unix::fs::PermissionsExt as _;
    for (host, scope) in everywhere() {
        let world = World::new();
        let parts = world.parts(host, scope);
        let part = parts.iter().find(|part| part.format != Format::Whole).unwrap();
        fs::create_dir_all(part.file.parent().unwrap()).unwrap();
        fs::write(&part.file, "").unwrap();
        fs::set_permissions(&part.file, fs::Permissions::from_mode(0o444)).unwrap();
        let (before, home) = (world.files(), world.memdir_home());
        let trouble = put(&world.order(host, scope, &home), &parts).unwrap_err();
        assert_eq!((trouble.why.as_str(), &trouble.path), ("it is read-only", &part.file), "{}", host.name);
        assert_eq!(world.files(), before, "{}", host.name);
    }
}

#[test]
#[cfg(unix)]
fn a_linked_file_is_edited_where_it_is_and_stays_linked() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    for (host, scope) in everywhere() {
        let world = World::new();
        let parts = world.parts(host, scope);
        let dotfiles = world.root.path().join("dotfiles");
        fs::create_dir_all(&dotfiles).unwrap();
        for (n, part) in parts.iter().enumerate().filter(|(_, part)| part.format != Format::Whole) {
            let target = dotfiles.join(format!("file-{n}"));
            fs::write(&target, written(part)[1]).unwrap();
            fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
            fs::create_dir_all(part.file.parent().unwrap()).unwrap();
            symlink(&target, &part.file).unwrap();
        }
        let (before, home) = (world.files(), world.memdir_home());
        let order = world.order(host, scope, &home);
        put(&order, &parts).unwrap();
        check_stands(&parts, host, "linked");
        for part in parts.iter().filter(|part| part.format != Format::Whole) {
            assert!(part.file.is_symlink(), "{}", host.name);
            assert_eq!(part.file.metadata().unwrap().permissions().mode() & 0o777, 0o640, "{}", host.name);
        }
        take(&order).unwrap();
        assert_eq!(world.files(), before, "{}", host.name);
        assert_eq!(fs::read_dir(&dotfiles).unwrap().count(), parts.iter().filter(|part| part.format != Format::Whole).count());
    }
}

#[test]
fn a_link_that_leads_nowhere_is_refused() {
    let world = World::new();
    let host = crate::hosts::named("claude-code").unwrap();
    std::os::unix::fs::symlink("/nowhere/at/all", world.machine.home.join(".claude.json")).unwrap();
    let home = world.memdir_home();
    let trouble = put(&world.order(host, Scope::User, &home), &world.parts(host, Scope::User)).unwrap_err();
    assert_eq!(trouble.why, "it is a link that leads nowhere (to /nowhere/at/all)");
}

#[test]
fn two_hosts_that_share_a_file_both_have_it_until_the_last_goes() {
    let hosts = ["vscode", "copilot-cli"].map(|name| crate::hosts::named(name).unwrap());
    for [first, second] in [[hosts[0], hosts[1]], [hosts[1], hosts[0]]] {
        for [out, stays] in [[first, second], [second, first]] {
            let world = World::new();
            let (before, dirs, home) = (world.files(), world.dirs(), world.memdir_home());
            for host in [first, second] {
                put(&world.order(host, Scope::User, &home), &world.parts(host, Scope::User)).unwrap();
            }
            take(&world.order(out, Scope::User, &home)).unwrap();
            check_stands(&world.parts(stays, Scope::User), stays, "the other is gone");
            take(&world.order(stays, Scope::User, &home)).unwrap();
            assert_eq!((world.files(), world.dirs()), (before, dirs), "{} then {}", first.name, second.name);
        }
    }
}

/// As after an update that moved the program: whoever goes first leaves the other whole, and nothing is left at the end.
#[test]
fn two_hosts_that_share_a_file_need_not_have_put_in_the_same_program() {
    let hosts = ["vscode", "copilot-cli"].map(|name| crate::hosts::named(name).unwrap());
    for edited in [false, true] {
        for [out, stays] in [[hosts[0], hosts[1]], [hosts[1], hosts[0]]] {
            let world = World::new();
            let (before, dirs, home) = (world.files(), world.dirs(), world.memdir_home());
            put(&world.order(hosts[0], Scope::User, &home), &world.parts(hosts[0], Scope::User)).unwrap();
            let shared = world.machine.home.join(".copilot/hooks/memdir.json");
            if edited {
                let text = fs::read_to_string(&shared).unwrap();
                fs::write(&shared, text.replace('\n', "\n ")).unwrap();
            }
            let moved = Machine { exe: "/new/memdir".into(), ..world.machine.clone() };
            let parts = (hosts[1].parts)(&moved, Scope::User).unwrap();
            put(&Order { machine: &moved, ..world.order(hosts[1], Scope::User, &home) }, &parts).unwrap();
            take(&world.order(out, Scope::User, &home)).unwrap();
            let text = fs::read_to_string(&shared).unwrap();
            assert_eq!(text.matches("/new/memdir hook copilot-cli").count(), 6, "without {} edited {edited}: {text}", out.name);
            take(&world.order(stays, Scope::User, &home)).unwrap();
            assert_eq!((world.files(), world.dirs()), (before, dirs), "{} then {} edited {edited}", out.name, stays.name);
        }
    }
}

#[test]
#[cfg(unix)]
fn a_link_to_something_that_is_no_file_is_refused() {
    let world = World::new();
    let host = crate::hosts::named("claude-code").unwrap();
    let (link, home) = (world.machine.home.join(".claude.json"), world.memdir_home());
    let pipe = world.root.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let dir = world.root.path().join("dir");
    fs::create_dir(&dir).unwrap();
    for target in [pipe, dir] {
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let trouble = put(&world.order(host, Scope::User, &home), &world.parts(host, Scope::User)).unwrap_err();
        assert_eq!(trouble.why, format!("it is a link to something that is no file (to {})", target.display()));
        assert!(target.symlink_metadata().is_ok_and(|meta| !meta.is_file()) && link.is_symlink());
        fs::remove_file(&link).unwrap();
    }
}

#[test]
fn keys_a_person_added_to_our_entry_stay() {
    let world = World::new();
    let host = crate::hosts::named("codex").unwrap();
    let file = world.machine.home.join(".codex/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "[mcp_servers.memdir]\ncommand = \"/old/memdir\"\nargs = [\"mcp\"]\ntool_timeout_sec = 90\n").unwrap();
    let home = world.memdir_home();
    put(&world.order(host, Scope::User, &home), &world.parts(host, Scope::User)).unwrap();
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "[mcp_servers.memdir]\ncommand = \"/opt/my tools/memdir\"\nargs = [\"mcp\"]\ntool_timeout_sec = 90\n"
    );
    // What the person had is there again, whatever they wrote since.
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}\n[tui]\ntheme = \"dark\"\n")).unwrap();
    take(&world.order(host, Scope::User, &home)).unwrap();
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "[mcp_servers.memdir]\ncommand = \"/old/memdir\"\nargs = [\"mcp\"]\ntool_timeout_sec = 90\n\n[tui]\ntheme = \"dark\"\n"
    );
}

#[test]
fn an_entry_in_one_line_is_ours_too_and_comments_stay() {
    for text in [
        "[mcp_servers]\nmemdir = { command = \"/old/memdir\", args = [\"mcp\"] } # mine\n",
        "[mcp_servers.memdir] # mine\n# where it is\ncommand = \"/old/memdir\" # old\nargs = [\"mcp\"]\n",
    ] {
        let world = World::new();
        let host = crate::hosts::named("codex").unwrap();
        let (file, home) = (world.machine.home.join(".codex/config.toml"), world.memdir_home());
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        put(&world.order(host, Scope::User, &home), &world.parts(host, Scope::User)).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), text.replace("/old/memdir", "/opt/my tools/memdir"));
        fs::write(&file, fs::read_to_string(&file).unwrap() + "\n[since]\n").unwrap();
        take(&world.order(host, Scope::User, &home)).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), format!("{text}\n[since]\n"));
    }
}

#[test]
fn somebody_elses_entry_of_our_name_is_not_overruled() {
    let world = World::new();
    let host = crate::hosts::named("cursor").unwrap();
    let file = world.machine.home.join(".cursor/mcp.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "{\"mcpServers\":{\"memdir\":{\"url\":\"https://memory.example\"}}}").unwrap();
    let home = world.memdir_home();
    let trouble = put(&world.order(host, Scope::User, &home), &world.parts(host, Scope::User)).unwrap_err();
    assert_eq!(trouble.why, "mcpServers.memdir stands in it and does not start memdir; rename or remove that entry first");
}

/// What is put into each host's files, word for word: a changed shape is a reviewed change.
#[test]
fn what_goes_into_each_host() {
    let mut shown = String::new();
    for (host, scope) in everywhere() {
        let world = World::new();
        for part in world.parts(host, scope).iter().filter(|part| part.format != Format::Whole) {
            let edit = &plan(std::slice::from_ref(part), &[]).unwrap()[0];
            let file = part.file.strip_prefix(world.root.path()).unwrap();
            shown += &format!("── {} {scope:?}: {}\n{}", host.name, file.display(), edit.after);
        }
    }
    insta::assert_snapshot!(shown);
}

/// The same on Windows, for a program in a directory with spaces.
#[test]
fn on_windows_a_path_with_spaces_is_one_word() {
    let world = World::new();
    let machine = Machine { os: Os::Windows, exe: r"C:\Program Files\memdir\memdir.exe".into(), ..world.machine.clone() };
    let mut shown = String::new();
    for host in HOSTS {
        for part in (host.parts)(&machine, Scope::User).unwrap() {
            let first = part.wishes.iter().find(|wish| matches!(wish, Wish::Hook { event: Event::SessionStart, .. }));
            let server = part.wishes.iter().find(|wish| matches!(wish, Wish::Entry { .. }));
            for wish in first.into_iter().chain(server) {
                let (Wish::Hook { value, .. } | Wish::Entry { value, .. }) = wish else { continue };
                let file = part.file.strip_prefix(world.root.path()).unwrap();
                shown += &format!("{} {}\n  {value}\n", host.name, file.display());
            }
        }
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn a_file_changed_since_it_was_planned_is_not_written() {
    let world = World::new();
    let path = world.machine.home.join("x.json");
    fs::write(&path, "{ \"new\": 1 }").unwrap();
    let trouble = files::write(&path, "{}", Some("{ \"old\": 1 }"), Scope::User).unwrap_err();
    assert_eq!(trouble.why, "another program changed it just now");
    assert_eq!(fs::read_to_string(&path).unwrap(), "{ \"new\": 1 }");
    assert_eq!(fs::read_dir(&world.machine.home).unwrap().count(), 1);
}

#[test]
fn a_later_file_that_cannot_be_written_puts_the_earlier_back() {
    let world = World::new();
    let host = crate::hosts::named("cursor").unwrap();
    let parts = world.parts(host, Scope::User);
    let (before, home) = (world.files(), world.memdir_home());
    let mut edits = plan(&parts, &[]).unwrap();
    // As if somebody wrote the second file between the plan and its turn.
    edits[1].before = Some("{}".into());
    files::apply_all(&edits, Scope::User, "2026-11-15T12:00:00Z".parse().unwrap()).unwrap_err();
    assert_eq!(world.files(), before);
    assert!(Receipts::load(&home).unwrap().installed.is_empty());
}
