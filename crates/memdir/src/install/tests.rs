//! Installs into every host, in both scopes, over settings files in many forms.

#![expect(clippy::disallowed_methods, reason = "tests make the files of other programs")]

use super::*;
use crate::hosts::{
    ConfigFormat, HOSTS, HookEvent, Os, RemoteServer, RemoteToken, by_name,
    command::{is_our_hook, is_our_server},
    config_edit,
    remote::remote_file,
};
use memdir_core::internal::base::sort::SharedSort as _;
use std::{fs, path::PathBuf};

/// An empty home directory and an empty project.
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
            main_checkout: project.clone(),
            project,
            exe: "/opt/my tools/memdir".into(),
            global_args: Vec::new(),
            with_hooks: true,
            variables: Default::default(),
        };
        World { root, machine }
    }

    fn request<'a>(&'a self, host: &'a Host, scope: InstallScope, home: &'a Path) -> InstallRequest<'a> {
        InstallRequest {
            host,
            scope,
            team: false,
            machine: &self.machine,
            home,
            now: "2026-11-15T12:00:00Z".parse().unwrap(),
            choice: None,
        }
    }

    fn memdir_home(&self) -> PathBuf {
        self.root.path().join("memdir")
    }

    /// All files except memdir's own, with their texts.
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
        found.shared_sort();
        found
    }

    fn dirs(&self) -> usize {
        fn count(dir: &Path) -> usize {
            fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).map(|path| 1 + count(&path)).sum()
        }
        count(&self.machine.home) + count(&self.machine.project)
    }

    fn config(&self, host: &Host, scope: InstallScope) -> Vec<HostConfigFile> {
        (host.config)(&self.machine, scope).unwrap_or_default()
    }
}

/// Every host with each of its scopes.
fn everywhere() -> Vec<(&'static Host, InstallScope)> {
    let both = HOSTS.iter().flat_map(|host| [(*host, InstallScope::User), (*host, InstallScope::Project)]);
    let world = World::new();
    both.filter(|(host, scope)| !world.config(host, *scope).is_empty()).collect()
}

/// Texts that the file may have before the installation.
fn written(file: &HostConfigFile) -> Vec<&'static str> {
    match file.format {
        ConfigFormat::Whole => vec![],
        ConfigFormat::Toml => vec![
            "",
            "# my settings\r\nmodel = \"gpt\"\r\n\r\n[mcp_servers.other]\r\ncommand = \"npx\" # keep\r\nargs = [\"-y\", \"x\"]\r\n",
            "model = \"gpt\"\n[tui]\nnotifications = true",
            "\u{feff}[mcp_servers]\n\n[profiles.a]\nx = 1\n",
            "mcp_servers.other.command = 'y'\r\n# the end",
            "mcp_servers = { other = { command = 'y' }, } # all\n\n[[rules]]\nx = [\n  1, # one\n]\n",
            "a = 1\r\nb = \"\"\"\r\nx\r\ny\"\"\"\n\n\n[mcp_servers.other]\n  command = 'y'\r\n\r\n",
            "[mcp_servers.memdir] # mine\ncommand = 'memdir'\nargs = [ 'mcp' ]\nenv = { A = '1' }\n\n# after\n[tui]\n",
            "\n# only a comment",
        ],
        ConfigFormat::Json => vec![
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

/// Runs `check` for each host, scope and form of its files.
fn for_each(check: impl Fn(&World, &'static Host, InstallScope, &str)) {
    for (host, scope) in everywhere() {
        let world = World::new();
        check(&world, host, scope, "absent");
        let ways = world.config(host, scope).iter().map(|file| written(file).len()).max().unwrap_or(0);
        for way in 0..ways {
            let world = World::new();
            for file in world.config(host, scope) {
                if let Some(text) = written(&file).get(way) {
                    fs::create_dir_all(file.path.parent().unwrap()).unwrap();
                    fs::write(&file.path, text).unwrap();
                }
            }
            check(&world, host, scope, &format!("way {way}"));
        }
    }
}

#[test]
fn install_and_uninstall_restore_every_byte() {
    for_each(|world, host, scope, way| {
        let (before, dirs, home) = (world.files(), world.dirs(), world.memdir_home());
        let request = world.request(host, scope, &home);
        let files = world.config(host, scope);
        let outcomes =
            apply(&request, &files).unwrap_or_else(|e| panic!("{} {scope:?} {way}: {} {}", host.name, e.path.display(), e.reason));
        assert!(outcomes.iter().all(|one| one.change != ConfigChange::Unchanged), "{} {scope:?} {way}", host.name);
        check_applied(&files, host, way);
        revert(&request).unwrap();
        assert_eq!(world.files(), before, "{} {scope:?} {way}", host.name);
        assert_eq!(world.dirs(), dirs, "{} {scope:?} {way}", host.name);
    });
}

fn check_applied(files: &[HostConfigFile], host: &Host, way: &str) {
    for file in files {
        let text = fs::read_to_string(&file.path).unwrap();
        for edit in &file.edits {
            assert_eq!(edit.is_applied(file.format, &text, &[]), Ok(true), "{} {way}\n{text}", host.name);
        }
    }
}

#[test]
fn installing_again_changes_nothing_and_a_newer_program_replaces_the_old() {
    for_each(|world, host, scope, way| {
        let (before, home) = (world.files(), world.memdir_home());
        let request = world.request(host, scope, &home);
        apply(&request, &world.config(host, scope)).unwrap();
        let once = world.files();
        let again = apply(&request, &world.config(host, scope)).unwrap();
        assert!(again.iter().all(|one| one.change == ConfigChange::Unchanged), "{} {way}", host.name);
        assert_eq!(world.files(), once);
        let moved = Machine { exe: "/new/memdir".into(), ..world.machine.clone() };
        let files = (host.config)(&moved, scope).unwrap();
        apply(&InstallRequest { machine: &moved, ..request.clone() }, &files).unwrap();
        check_applied(&files, host, way);
        let texts: String = files.iter().map(|file| fs::read_to_string(&file.path).unwrap()).collect();
        assert!(!texts.contains("/opt/my tools"), "{} {way}\n{texts}", host.name);
        revert(&request).unwrap();
        assert_eq!(world.files(), before, "{} {scope:?} {way}", host.name);
    });
}

/// The value of a whole file.
fn value_of(format: ConfigFormat, text: &str) -> serde_json::Value {
    match format {
        ConfigFormat::Json => config_edit::get(format, text, &[]).unwrap().unwrap_or(serde_json::json!({})),
        _ => toml::from_str::<serde_json::Value>(text.trim_start_matches('\u{feff}')).unwrap(),
    }
}

#[test]
fn uninstall_keeps_edits_made_since() {
    for_each(|world, host, scope, way| {
        let home = world.memdir_home();
        let request = world.request(host, scope, &home);
        let files = world.config(host, scope);
        let shared: Vec<&HostConfigFile> = files.iter().filter(|file| file.format != ConfigFormat::Whole).collect();
        let before: Vec<_> = shared.iter().map(|file| fs::read_to_string(&file.path).unwrap_or_default()).collect();
        apply(&request, &files).unwrap();
        for file in &shared {
            let text = fs::read_to_string(&file.path).unwrap();
            let key = |name: &str| vec![name.to_owned()];
            let edited = match file.format {
                ConfigFormat::Json => crate::hosts::jsonc::set(&text, &key("since"), &serde_json::json!({ "then": [1] })).unwrap().text,
                _ => crate::hosts::toml::set(&text, &key("since"), &serde_json::json!({ "then": [1] })).unwrap().text,
            };
            fs::write(&file.path, edited).unwrap();
        }
        revert(&request).unwrap();
        for (file, before) in shared.iter().zip(before) {
            let after = fs::read_to_string(&file.path).unwrap();
            let mut expected = value_of(file.format, &before);
            expected["since"] = serde_json::json!({ "then": [1] });
            assert_eq!(value_of(file.format, &after), expected, "{} {scope:?} {way}\n{after}", host.name);
            for comment in ["// the servers I use", "// work", "/* none yet */", "/* top */", "// bottom", "# my settings", "# keep"] {
                assert_eq!(after.contains(comment), before.contains(comment), "{} {way}: {comment}\n{after}", host.name);
            }
        }
    });
}

#[test]
fn uninstall_keeps_everything_a_host_has_rewritten() {
    for_each(|world, host, scope, way| {
        let home = world.memdir_home();
        let request = world.request(host, scope, &home);
        let files = world.config(host, scope);
        let json: Vec<&HostConfigFile> = files.iter().filter(|file| file.format == ConfigFormat::Json).collect();
        let before: Vec<_> =
            json.iter().map(|file| value_of(ConfigFormat::Json, &fs::read_to_string(&file.path).unwrap_or_default())).collect();
        apply(&request, &files).unwrap();
        for file in &json {
            let value = value_of(ConfigFormat::Json, &fs::read_to_string(&file.path).unwrap());
            fs::write(&file.path, serde_json::to_string(&value).unwrap()).unwrap();
        }
        revert(&request).unwrap();
        for (file, before) in json.iter().zip(before) {
            let after = fs::read_to_string(&file.path).map(|text| value_of(ConfigFormat::Json, &text)).unwrap_or(serde_json::json!({}));
            assert_eq!(after, before, "{} {scope:?} {way}", host.name);
        }
    });
}

#[test]
fn uninstall_without_a_receipt_removes_what_it_recognizes() {
    for_each(|world, host, scope, way| {
        let home = world.memdir_home();
        let request = world.request(host, scope, &home);
        let files = world.config(host, scope);
        apply(&request, &files).unwrap();
        fs::remove_file(home.join("installed.json")).unwrap();
        revert(&request).unwrap();
        for file in &files {
            let text = fs::read_to_string(&file.path).unwrap_or_default();
            for edit in &file.edits {
                let left = match edit {
                    ConfigEdit::Entry { path, .. } => {
                        config_edit::get(file.format, &text, path).unwrap().is_some_and(|value| is_our_server(&value, &[]))
                    }
                    ConfigEdit::Hook { path, host, event, .. } => {
                        config_edit::get(file.format, &text, path).unwrap().is_some_and(|value| is_our_hook(&value, host, *event, &[]))
                    }
                    ConfigEdit::Whole { .. } => !text.is_empty(),
                    ConfigEdit::Default { .. } | ConfigEdit::Setting { .. } | ConfigEdit::Restore { .. } => false,
                };
                assert!(!left, "{} {scope:?} {way}\n{text}", host.name);
            }
            if way == "absent" && file.format == ConfigFormat::Json && !text.is_empty() {
                let default = |edit: &ConfigEdit| matches!(edit, ConfigEdit::Default { .. });
                let rest = if file.edits.iter().any(default) { serde_json::json!({ "version": 1 }) } else { serde_json::json!({}) };
                assert_eq!(value_of(file.format, &text), rest, "{} {scope:?}: no empty lists and objects", host.name);
            }
        }
    });
}

#[test]
fn an_invalid_file_is_refused_and_no_file_is_changed() {
    for (host, scope) in everywhere() {
        for broken in 0..World::new().config(host, scope).len() {
            let world = World::new();
            let files = world.config(host, scope);
            let file = &files[broken];
            fs::create_dir_all(file.path.parent().unwrap()).unwrap();
            fs::write(&file.path, "{ \"a\": \n <<<<<<< HEAD").unwrap();
            let (before, home) = (world.files(), world.memdir_home());
            let error = apply(&world.request(host, scope, &home), &files).unwrap_err();
            assert_eq!(error.path, file.path, "{}", host.name);
            assert_eq!(world.files(), before, "{}", host.name);
            assert!(Receipts::load(&home).unwrap().installed.is_empty());
        }
    }
}

#[test]
#[cfg(unix)]
fn a_read_only_file_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    for (host, scope) in everywhere() {
        let world = World::new();
        let files = world.config(host, scope);
        let file = files.iter().find(|file| file.format != ConfigFormat::Whole).unwrap();
        fs::create_dir_all(file.path.parent().unwrap()).unwrap();
        fs::write(&file.path, "").unwrap();
        fs::set_permissions(&file.path, fs::Permissions::from_mode(0o444)).unwrap();
        let (before, home) = (world.files(), world.memdir_home());
        let error = apply(&world.request(host, scope, &home), &files).unwrap_err();
        assert_eq!((error.reason.as_str(), &error.path), ("file is read-only", &file.path), "{}", host.name);
        assert_eq!(world.files(), before, "{}", host.name);
    }
}

#[test]
#[cfg(unix)]
fn the_target_of_a_symbolic_link_is_edited() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    for (host, scope) in everywhere() {
        let world = World::new();
        let files = world.config(host, scope);
        let dotfiles = world.root.path().join("dotfiles");
        fs::create_dir_all(&dotfiles).unwrap();
        for (n, file) in files.iter().enumerate().filter(|(_, file)| file.format != ConfigFormat::Whole) {
            let target = dotfiles.join(format!("file-{n}"));
            fs::write(&target, written(file)[1]).unwrap();
            fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
            fs::create_dir_all(file.path.parent().unwrap()).unwrap();
            symlink(&target, &file.path).unwrap();
        }
        let (before, home) = (world.files(), world.memdir_home());
        let request = world.request(host, scope, &home);
        apply(&request, &files).unwrap();
        check_applied(&files, host, "linked");
        for file in files.iter().filter(|file| file.format != ConfigFormat::Whole) {
            assert!(file.path.is_symlink(), "{}", host.name);
            assert_eq!(file.path.metadata().unwrap().permissions().mode() & 0o777, 0o640, "{}", host.name);
        }
        revert(&request).unwrap();
        assert_eq!(world.files(), before, "{}", host.name);
        assert_eq!(fs::read_dir(&dotfiles).unwrap().count(), files.iter().filter(|file| file.format != ConfigFormat::Whole).count());
    }
}

#[test]
fn a_broken_symbolic_link_is_refused() {
    let world = World::new();
    let host = by_name("claude-code").unwrap();
    std::os::unix::fs::symlink("/nowhere/at/all", world.machine.home.join(".claude.json")).unwrap();
    let home = world.memdir_home();
    let error = apply(&world.request(host, InstallScope::User, &home), &world.config(host, InstallScope::User)).unwrap_err();
    assert_eq!(error.reason, "broken symbolic link (to /nowhere/at/all)");
}

#[test]
fn a_shared_file_is_kept_until_the_last_host_is_uninstalled() {
    let hosts = ["vscode", "copilot-cli"].map(|name| by_name(name).unwrap());
    for [first, second] in [[hosts[0], hosts[1]], [hosts[1], hosts[0]]] {
        for [out, stays] in [[first, second], [second, first]] {
            let world = World::new();
            let (before, dirs, home) = (world.files(), world.dirs(), world.memdir_home());
            for host in [first, second] {
                apply(&world.request(host, InstallScope::User, &home), &world.config(host, InstallScope::User)).unwrap();
            }
            revert(&world.request(out, InstallScope::User, &home)).unwrap();
            check_applied(&world.config(stays, InstallScope::User), stays, "after the other was uninstalled");
            revert(&world.request(stays, InstallScope::User, &home)).unwrap();
            assert_eq!((world.files(), world.dirs()), (before, dirs), "{} then {}", first.name, second.name);
        }
    }
}

/// As after an update that moved the program: the first to go leaves the other complete, and nothing is left at the end.
#[test]
fn hosts_that_share_a_file_may_use_different_programs() {
    let hosts = ["vscode", "copilot-cli"].map(|name| by_name(name).unwrap());
    for edited in [false, true] {
        for [out, stays] in [[hosts[0], hosts[1]], [hosts[1], hosts[0]]] {
            let world = World::new();
            let (before, dirs, home) = (world.files(), world.dirs(), world.memdir_home());
            apply(&world.request(hosts[0], InstallScope::User, &home), &world.config(hosts[0], InstallScope::User)).unwrap();
            let shared = world.machine.home.join(".copilot/hooks/memdir.json");
            if edited {
                let text = fs::read_to_string(&shared).unwrap();
                fs::write(&shared, text.replace('\n', "\n ")).unwrap();
            }
            let moved = Machine { exe: "/new/memdir".into(), ..world.machine.clone() };
            let files = (hosts[1].config)(&moved, InstallScope::User).unwrap();
            apply(&InstallRequest { machine: &moved, ..world.request(hosts[1], InstallScope::User, &home) }, &files).unwrap();
            revert(&world.request(out, InstallScope::User, &home)).unwrap();
            let text = fs::read_to_string(&shared).unwrap();
            assert_eq!(text.matches("/new/memdir hook copilot-cli").count(), 6, "without {} edited {edited}: {text}", out.name);
            revert(&world.request(stays, InstallScope::User, &home)).unwrap();
            assert_eq!((world.files(), world.dirs()), (before, dirs), "{} then {} edited {edited}", out.name, stays.name);
        }
    }
}

#[test]
#[cfg(unix)]
fn a_symbolic_link_to_a_special_file_is_refused() {
    let world = World::new();
    let host = by_name("claude-code").unwrap();
    let (link, home) = (world.machine.home.join(".claude.json"), world.memdir_home());
    let pipe = world.root.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let dir = world.root.path().join("dir");
    fs::create_dir(&dir).unwrap();
    for target in [pipe, dir] {
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let error = apply(&world.request(host, InstallScope::User, &home), &world.config(host, InstallScope::User)).unwrap_err();
        assert_eq!(error.reason, format!("symbolic link that does not point to a regular file (to {})", target.display()));
        assert!(target.symlink_metadata().is_ok_and(|meta| !meta.is_file()) && link.is_symlink());
        fs::remove_file(&link).unwrap();
    }
}

#[test]
fn keys_the_user_added_to_our_entry_are_kept() {
    let world = World::new();
    let host = by_name("codex").unwrap();
    let file = world.machine.home.join(".codex/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "[mcp_servers.memdir]\ncommand = \"/old/memdir\"\nargs = [\"mcp\"]\ntool_timeout_sec = 90\n").unwrap();
    let home = world.memdir_home();
    apply(&world.request(host, InstallScope::User, &home), &world.config(host, InstallScope::User)).unwrap();
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "[mcp_servers.memdir]\ncommand = \"/opt/my tools/memdir\"\nargs = [\"mcp\", \"--session-hook\"]\ntool_timeout_sec = 90\n"
    );
    // The user's values are restored, and later edits are kept.
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}\n[tui]\ntheme = \"dark\"\n")).unwrap();
    revert(&world.request(host, InstallScope::User, &home)).unwrap();
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "[mcp_servers.memdir]\ncommand = \"/old/memdir\"\nargs = [\"mcp\"]\ntool_timeout_sec = 90\n\n[tui]\ntheme = \"dark\"\n"
    );
}

#[test]
fn an_inline_entry_is_updated_and_comments_are_kept() {
    for text in [
        "[mcp_servers]\nmemdir = { command = \"/old/memdir\", args = [\"mcp\"] } # mine\n",
        "[mcp_servers.memdir] # mine\n# where it is\ncommand = \"/old/memdir\" # old\nargs = [\"mcp\"]\n",
    ] {
        let world = World::new();
        let host = by_name("codex").unwrap();
        let (file, home) = (world.machine.home.join(".codex/config.toml"), world.memdir_home());
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        apply(&world.request(host, InstallScope::User, &home), &world.config(host, InstallScope::User)).unwrap();
        let installed = text.replace("/old/memdir", "/opt/my tools/memdir").replace("[\"mcp\"]", "[\"mcp\", \"--session-hook\"]");
        assert_eq!(fs::read_to_string(&file).unwrap(), installed);
        fs::write(&file, fs::read_to_string(&file).unwrap() + "\n[since]\n").unwrap();
        revert(&world.request(host, InstallScope::User, &home)).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), format!("{text}\n[since]\n"));
    }
}

#[test]
fn another_servers_entry_with_our_name_is_not_replaced() {
    let world = World::new();
    let host = by_name("cursor").unwrap();
    let file = world.machine.home.join(".cursor/mcp.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "{\"mcpServers\":{\"memdir\":{\"url\":\"https://memory.example\"}}}").unwrap();
    let home = world.memdir_home();
    let error = apply(&world.request(host, InstallScope::User, &home), &world.config(host, InstallScope::User)).unwrap_err();
    assert_eq!(error.reason, "`mcpServers.memdir` exists but does not start memdir");
}

/// The exact content for each host's files, so that every change is reviewed.
#[test]
fn what_goes_into_each_host() {
    let mut shown = String::new();
    for (host, scope) in everywhere() {
        let world = World::new();
        for file in world.config(host, scope).iter().filter(|file| file.format != ConfigFormat::Whole) {
            let edit = &plan(std::slice::from_ref(file), &[]).unwrap()[0];
            let file = file.path.strip_prefix(world.root.path()).unwrap();
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
        for file in (host.config)(&machine, InstallScope::User).unwrap() {
            let first = file.edits.iter().find(|edit| matches!(edit, ConfigEdit::Hook { event: HookEvent::SessionStart, .. }));
            let server = file.edits.iter().find(|edit| matches!(edit, ConfigEdit::Entry { .. }));
            for edit in first.into_iter().chain(server) {
                let (ConfigEdit::Hook { value, .. } | ConfigEdit::Entry { value, .. }) = edit else { continue };
                let file = file.path.strip_prefix(world.root.path()).unwrap();
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
    let error = files::write(&path, "{}", Some("{ \"old\": 1 }"), InstallScope::User).unwrap_err();
    assert_eq!(error.reason, "changed by another process");
    assert_eq!(fs::read_to_string(&path).unwrap(), "{ \"new\": 1 }");
    assert_eq!(fs::read_dir(&world.machine.home).unwrap().count(), 1);
}

#[test]
fn earlier_files_are_restored_if_a_later_one_cannot_be_written() {
    let world = World::new();
    let host = by_name("cursor").unwrap();
    let files = world.config(host, InstallScope::User);
    let (before, home) = (world.files(), world.memdir_home());
    let mut edits = plan(&files, &[]).unwrap();
    // As if another process had written the second file since it was planned.
    edits[1].before = Some("{}".into());
    files::write_all(&edits, InstallScope::User, "2026-11-15T12:00:00Z".parse().unwrap()).unwrap_err();
    assert_eq!(world.files(), before);
    assert!(Receipts::load(&home).unwrap().installed.is_empty());
}

fn team_server(token: RemoteToken) -> RemoteServer {
    RemoteServer { url: "https://memory.example.org/mcp".into(), token, project: Some("shop".into()) }
}

/// A team server comes and goes beside memdir's own tools, in any order, and the files become what they were.
#[test]
fn a_team_server_is_added_and_removed_to_the_byte() {
    for_each(|world, host, scope, way| {
        let home = world.memdir_home();
        let own = world.request(host, scope, &home);
        let team = InstallRequest { team: true, now: "2026-11-15T13:00:00Z".parse().unwrap(), ..own.clone() };
        let Ok(file) = remote_file(host, &world.machine, scope, &team_server(RemoteToken::Text("mdt_0123456789abcdef".into()))) else {
            assert_eq!(host.name, "claude-desktop");
            return;
        };
        let (before, dirs) = (world.files(), world.dirs());
        let local = world.config(host, scope);
        let check = |what: &str| {
            assert_eq!((world.files(), world.dirs()), (before.clone(), dirs), "{} {scope:?} {way}: {what}", host.name);
            assert!(Receipts::load(&home).unwrap().installed.is_empty());
        };
        apply(&team, std::slice::from_ref(&file)).unwrap();
        let receipts = fs::read_to_string(home.join("installed.json")).unwrap();
        assert!(!receipts.contains("mdt_"), "a receipt has no token: {receipts}");
        assert!(apply(&team, std::slice::from_ref(&file)).unwrap().iter().all(|one| one.change == ConfigChange::Unchanged));
        revert(&team).unwrap();
        check("alone");
        apply(&own, &local).unwrap();
        let with_own = world.files();
        apply(&team, std::slice::from_ref(&file)).unwrap();
        revert(&team).unwrap();
        assert_eq!(world.files(), with_own, "{} {scope:?} {way}", host.name);
        apply(&team, std::slice::from_ref(&file)).unwrap();
        revert(&team).unwrap();
        revert(&own).unwrap();
        check("after memdir's own");
    });
}

/// Without receipts, the team server is found by its name.
#[test]
fn a_team_server_is_removed_without_its_receipt() {
    for (host, scope) in everywhere() {
        let world = World::new();
        let home = world.memdir_home();
        let team = InstallRequest { team: true, ..world.request(host, scope, &home) };
        let Ok(file) = remote_file(host, &world.machine, scope, &team_server(RemoteToken::SignIn)) else { continue };
        apply(&team, std::slice::from_ref(&file)).unwrap();
        fs::remove_file(home.join("installed.json")).unwrap();
        revert(&team).unwrap();
        let text = fs::read_to_string(&file.path).unwrap_or_default();
        assert!(!text.contains("memdir-team"), "{} {scope:?}: {text}", host.name);
    }
}

#[test]
fn each_host_names_a_team_server_in_its_own_form() {
    let world = World::new();
    let mut shown = String::new();
    for (host, scope) in everywhere().into_iter().filter(|(_, scope)| *scope == InstallScope::User) {
        for token in [RemoteToken::SignIn, RemoteToken::Env("TEAM_TOKEN".into()), RemoteToken::Text("mdt_token".into())] {
            let text = match remote_file(host, &world.machine, scope, &team_server(token)) {
                Err(why) => format!("{why:?}"),
                Ok(file) => file.edits[0].apply(file.format, "", &[]).unwrap().text,
            };
            shown += &format!("{}\n{}\n", host.name, text.trim());
        }
    }
    insta::assert_snapshot!(shown);
}

/// Another way to sign in replaces the token of the first; what the user added stays.
#[test]
fn a_later_installation_leaves_no_earlier_token() {
    let world = World::new();
    let home = world.memdir_home();
    for (host, scope) in everywhere().into_iter().filter(|(_, scope)| *scope == InstallScope::User) {
        let team = InstallRequest { team: true, ..world.request(host, scope, &home) };
        let Ok(with) = remote_file(host, &world.machine, scope, &team_server(RemoteToken::Text("mdt_token".into()))) else { continue };
        let server = RemoteServer { project: None, ..team_server(RemoteToken::SignIn) };
        let without = remote_file(host, &world.machine, scope, &server).unwrap();
        apply(&team, std::slice::from_ref(&with)).unwrap();
        apply(&team, std::slice::from_ref(&without)).unwrap();
        let text = fs::read_to_string(&without.path).unwrap();
        assert!(
            text.contains("memory.example.org") && !text.contains("mdt_token") && !text.contains("Memdir-Project"),
            "{}: {text}",
            host.name
        );
    }
}
