//! What is published beside the program: the Claude Code plugin with its marketplace, the Gemini extension, the MCP registry's
//! entry and the page on hosts. Made from the table of hosts, and a test fails if the committed files differ;
//! `UPDATE_DOCS=1 cargo test -p memdir distribution` writes them anew. Compiled for tests only.

use crate::hosts::{HOSTS, Host, Machine, Os, Part, Scope, Wish, jsonc};
use serde_json::{Value, json};
use std::{fmt::Write as _, path::Path};

const ABOUT: &str = env!("CARGO_PKG_DESCRIPTION");
const VERSION: &str = env!("CARGO_PKG_VERSION");

#[test]
fn what_is_published_is_current() {
    let claude = parts("claude-code");
    let gemini = parts("gemini");
    check("plugins/claude-code/.claude-plugin/plugin.json", &pretty(&plugin()));
    check("plugins/claude-code/.mcp.json", &written(&claude[0].wishes));
    check("plugins/claude-code/hooks/hooks.json", &written(&claude[1].wishes));
    check(".claude-plugin/marketplace.json", &pretty(&marketplace()));
    let (hooks, servers): (Vec<Wish>, Vec<Wish>) = gemini[0].wishes.iter().cloned().partition(|wish| matches!(wish, Wish::Hook { .. }));
    check("plugins/gemini/gemini-extension.json", &pretty(&extension(&servers)));
    check("plugins/gemini/hooks/hooks.json", &written(&hooks));
    check("server.json", &pretty(&registry()));
    check("docs/reference/hosts.md", &page());
}

/// A program that is found in `PATH`: what is published cannot know where it lies.
fn machine() -> Machine {
    let (home, project) = ("~".into(), std::path::PathBuf::new());
    Machine { os: Os::Linux, home, main: project.clone(), project, exe: "memdir".into(), before: Vec::new(), variables: Default::default() }
}

fn parts(host: &str) -> Vec<Part> {
    (crate::hosts::named(host).unwrap().parts)(&machine(), Scope::User).unwrap()
}

fn written(wishes: &[Wish]) -> String {
    wishes.iter().fold(String::new(), |text, wish| crate::hosts::wish::grant(crate::hosts::Format::Json, &text, wish, &[]).unwrap().text)
}

fn plugin() -> Value {
    json!({ "name": "memdir", "description": ABOUT, "version": VERSION, "author": { "name": "memdir" }, "license": "MIT OR Apache-2.0" })
}

fn marketplace() -> Value {
    let plugin = json!({ "name": "memdir", "source": "./plugins/claude-code", "description": ABOUT });
    json!({ "name": "memdir", "owner": { "name": "memdir" }, "plugins": [plugin] })
}

fn extension(servers: &[Wish]) -> Value {
    let servers = jsonc::get(&written(servers), &["mcpServers".into()]).unwrap().unwrap();
    json!({ "name": "memdir", "version": VERSION, "description": ABOUT, "mcpServers": servers })
}

/// The registry takes at most 100 characters of description.
fn registry() -> Value {
    let package = json!({
        "registryType": "cargo",
        "identifier": "memdir",
        "version": VERSION,
        "transport": { "type": "stdio" },
        "packageArguments": [{ "type": "positional", "value": "mcp" }],
        "environmentVariables": [
            { "name": "MEMDIR_DIR", "description": "One directory that is the whole memory", "isRequired": false },
            { "name": "MEMDIR_HOME", "description": "Where memories are kept; ~/.memdir without it", "isRequired": false },
        ],
    });
    json!({
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": "io.github.memdir/memdir",
        "title": "memdir",
        "description": "A memory that lasts: plain Markdown files, safe for any number of processes, found in milliseconds",
        "version": VERSION,
        "packages": [package],
    })
}

fn page() -> String {
    let mut page = String::from(
        "# Hosts\n\nWritten by a test from the table of hosts.\n\n`memdir install HOST` puts memdir's tools and hooks into a host's own files, in place: comments, order, indentation, other\nentries and unknown keys stay, a dated copy of each file is kept beside it, and a file that cannot be parsed is refused.\n`--dry-run` shows the difference first. Without a name it shows what is on this machine and asks; `--yes` installs into all of\nit. `memdir uninstall HOST` takes out exactly what was put in, and gives back what you had of memdir there before;\n`memdir doctor` starts and calls what stands there as the host would, and `--fix` puts it right, as it was installed.\n\nThe memory that is chosen at the installation goes with it: `--dir`, `--project`, `--agent`, `--only`, and `MEMDIR_DIR` and\n`MEMDIR_HOME` (as `--home`), for the tools and the hooks alike. Hooks call nobody: where an endpoint understands meaning, a\nprompt's memories are found by words. `--chats`, or `memdir chats on`, makes past conversations searchable too.\n\n| host | type | called at |\n|---|---|---|\n",
    );
    for host in HOSTS {
        let events: Vec<&str> = host.hooks.iter().map(|hook| hook.name).collect();
        let events = if events.is_empty() {
            "no hooks".to_owned()
        } else {
            events.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        };
        let _ = writeln!(
            page,
            "| [{}](#{}) | `memdir install {}` | {events} |",
            host.title,
            host.title.to_lowercase().replace(' ', "-"),
            host.name
        );
    }
    for host in HOSTS {
        section(&mut page, host);
    }
    page
}

fn section(page: &mut String, host: &Host) {
    let _ = writeln!(page, "\n## {}\n\n```sh\nmemdir install {}\n```\n\n{}\n", host.title, host.name, host.then);
    for (scope, said) in [(Scope::User, "for you"), (Scope::Project, "with `--scope project`")] {
        for part in (host.parts)(&machine(), scope).unwrap_or_default() {
            let what: Vec<&str> = part.wishes.iter().filter_map(kind).collect();
            let mut what = what;
            what.dedup();
            let _ = writeln!(page, "- {said}: `{}`, {}", part.file.display(), what.join(" and "));
        }
    }
    let _ = writeln!(page, "- it hears {}", host.hears);
    let _ = writeln!(page, "- a project instructs it in: {}", host.instructions);
}

fn kind(wish: &Wish) -> Option<&'static str> {
    match wish {
        Wish::Entry { .. } => Some("the tools"),
        Wish::Hook { .. } => Some("the hooks"),
        Wish::Whole { .. } => Some("the hooks, as a plugin"),
        Wish::Default { .. } | Wish::Setting { .. } => None,
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap() + "\n"
}

#[expect(clippy::disallowed_methods, reason = "a file is written on demand, by whoever changes what it is made from")]
fn check(name: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, wanted).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(there == wanted, "{name} is not current; UPDATE_DOCS=1 cargo test -p memdir distribution writes it");
}
