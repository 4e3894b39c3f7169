//! `memdir export --to-server` and `--from-server`: whole mounts move both ways between a machine and a real server.

use crate::{
    chats,
    home::Home,
    mcp_callers::{call_text, token},
    web::{Web, answer_once},
};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::fs;

/// A server, a token for it in a file, and two machines.
struct Team {
    server: Home,
    web: Web,
    ada: String,
    laptop: Home,
    desktop: Home,
}

impl Team {
    fn new() -> Team {
        let server = Home::new();
        let (ada, _) = token(&server, &["ada", "shop"]);
        let web = Web::start_bare(&server, &[]);
        let (laptop, desktop) = (Home::new(), Home::new());
        for home in [&laptop, &desktop] {
            fs::write(home.path("token"), &ada).unwrap();
        }
        Team { server, web, ada, laptop, desktop }
    }

    fn url(&self) -> String {
        format!("http://{}", self.web.address)
    }

    /// Runs an export, and returns its transcript.
    fn export(&self, home: &Home, args: &[&str]) -> String {
        let (url, file) = (self.url(), home.path("token"));
        let args: Vec<&str> = args.iter().map(|arg| if *arg == "URL" { url.as_str() } else { arg }).collect();
        let all = [&["export"], &args[..], &["--token-file", file.to_str().unwrap()]].concat();
        home.run_bare(&all).replace(&url, "[URL]")
    }

    fn json(&self, home: &Home, args: &[&str]) -> Value {
        serde_json::from_str(&self.export(home, &[args, &["--json"]].concat()).split("-- ").next().unwrap().replace("[URL]", "URL"))
            .unwrap()
    }

    fn on_server(&self, name: &str) -> String {
        call_text(&self.web, &self.ada, &[], "memory_read", json!({ "path": name }))
    }
}

fn write(home: &Home, name: &str, text: &str) {
    let output = home.bare(&["write", name, text]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn read(home: &Home, name: &str) -> String {
    String::from_utf8(home.bare(&["read", name]).output().unwrap().stdout).unwrap()
}

#[test]
fn memories_move_to_the_server_and_on_to_another_machine() {
    let team = Team::new();
    for (name, text) in [
        ("notes/deploy", "Never deploy on a Friday.\n"),
        ("user/style", "---\ndescription: Style\n---\n\nShort answers.\n"),
        ("notes/früh & spät?", "Ümläute, 100% #1.\n"),
    ] {
        write(&team.laptop, name, text);
    }
    insta::assert_snapshot!(team.export(&team.laptop, &["--to-server", "URL", "--dry-run"]), @"would copy 3 memories from this machine to [URL] (0 unchanged, 0 conflicts)");
    assert!(!team.on_server("user/style").contains("Short answers"));
    insta::assert_snapshot!(team.export(&team.laptop, &["--to-server", "URL"]), @"copied 3 memories from this machine to [URL] (0 unchanged, 0 conflicts)");
    assert!(team.on_server("user/style").contains("Short answers"));
    let changes = || team.server.path("home/journal").metadata().unwrap().modified().unwrap();
    let before = changes();
    insta::assert_snapshot!(team.export(&team.laptop, &["--to-server", "URL/mcp".replace("URL", &team.url()).as_str()]), @"copied 0 memories from this machine to [URL] (3 unchanged, 0 conflicts)");
    assert_eq!(changes(), before);
    insta::assert_snapshot!(team.export(&team.desktop, &["notes", "--from-server", "URL"]), @"copied 2 memories from [URL] to this machine (0 unchanged, 0 conflicts)");
    insta::assert_snapshot!(team.export(&team.desktop, &["--from-server", "URL"]), @"copied 1 memory from [URL] to this machine (2 unchanged, 0 conflicts)");
    for name in ["notes/deploy", "user/style", "notes/früh & spät?"] {
        assert_eq!(read(&team.desktop, name), read(&team.laptop, name), "{name}");
    }
}

#[test]
fn what_differs_is_reported_and_kept_on_both_sides() {
    let team = Team::new();
    write(&team.laptop, "notes/deploy", "Never on a Friday.\n");
    team.export(&team.laptop, &["--to-server", "URL"]);
    write(&team.desktop, "notes/deploy", "Always on a Friday.\n");
    write(&team.desktop, "notes/new", "Something else.\n");
    insta::assert_snapshot!(team.export(&team.desktop, &["--to-server", "URL"]), @"
    conflict: notes/deploy differs on the server; neither copy was changed
    copied 1 memory from this machine to [URL] (0 unchanged, 1 conflict)
    -- exit 1
    ");
    assert_eq!(
        team.json(&team.desktop, &["--from-server", "URL"]),
        json!({ "dry_run": false, "from": "URL", "to": "this machine", "copied": [], "unchanged": 1, "conflicts": ["notes/deploy"], "failed": [] })
    );
    assert!(team.on_server("notes/deploy").contains("Never on a Friday."));
    assert_eq!(read(&team.desktop, "notes/deploy"), "Always on a Friday.\n");
}

#[test]
fn nothing_is_sent_if_one_memory_has_a_secret() {
    let team = Team::new();
    write(&team.laptop, "notes/a", "Harmless.\n");
    write(&team.laptop, "notes/key", "The key is in the safe.\n");
    // An editor put a secret there.
    let project = fs::read_dir(team.laptop.path("home/projects")).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir());
    fs::write(project.unwrap().join("notes/key.md"), format!("Note.\nThe key is {}.\n", chats::token())).unwrap();
    let shown = team.export(&team.laptop, &["--to-server", "URL"]);
    assert!(!shown.contains(&chats::token()), "{shown}");
    insta::assert_snapshot!(shown, @"
    -- stderr
    error: nothing was sent: found 1 secret: notes/key:2 (github-token)
    hint: remove the secrets from the memories, or allow them with the setting `secrets.allow` or `secrets.allow_rules`
    -- exit 3
    ");
    assert!(!team.on_server("notes/a").contains("Harmless"));
}

#[test]
fn a_wrong_token_a_missing_server_and_a_missing_mount_are_errors() {
    let team = Team::new();
    write(&team.laptop, "notes/a", "Harmless.\n");
    assert!(team.on_server("team/rule").contains("not found"));
    call_text(&team.web, &team.ada, &[], "memory_write", json!({ "path": "team/rule", "content": "Be kind." }));
    insta::assert_snapshot!(team.export(&team.laptop, &["--from-server", "URL"]), @"
    failed: team/rule: no directory is mounted as team/ on this machine
    copied 0 memories from [URL] to this machine (0 unchanged, 0 conflicts, 1 failed)
    -- exit 3
    ");
    fs::write(team.laptop.path("token"), "mdt_0000000000000000").unwrap();
    insta::assert_snapshot!(team.export(&team.laptop, &["--to-server", "URL"]), @"
    -- stderr
    error: the server refused the request: missing or unknown bearer token (status 401); 0 memories were copied
    hint: pass a valid token for the server with --token-file FILE, or set MEMDIR_TEAM_TOKEN to it
    -- exit 3
    ");
    insta::assert_snapshot!(team.export(&team.laptop, &["--to-server", "http://memory.example.org"]), @r#"
    -- stderr
    error: "http://memory.example.org" is not a valid server URL
    hint: use an https URL such as https://memory.example.org; http is allowed only for loopback
    -- exit 2
    "#);
    let url = team.url();
    drop(team.web);
    let gone = team.laptop.run_bare(&["export", "--to-server", &url]);
    let hint = "; 0 memories were copied\nhint: check the URL and that the server is running, then run the command again; ";
    assert!(gone.contains("error: the server is not available: ") && gone.contains(hint) && gone.ends_with("-- exit 3\n"), "{gone}");
}

/// A proxy answers with a page of its own, which is not the reason of a memdir server.
#[test]
fn the_page_of_a_proxy_is_cut_and_named() {
    let home = Home::new();
    fs::write(home.path("token"), "mdt_0123456789abcdef").unwrap();
    write(&home, "a", "A");
    let page = format!("<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>{}</body>\r\n</html>", "padding ".repeat(500));
    let export = |media_type: &'static str, body: String| {
        let url = answer_once("502 Bad Gateway", media_type, body);
        let file = home.path("token").display().to_string();
        home.run_bare(&["export", "--to-server", &url, "--token-file", &file]).replace(&url, "[URL]")
    };
    assert_snapshot!(export("text/html; charset=utf-8", page), @"
    -- stderr
    error: the server is not available: the response is a web page, not a response of the API: <html> <head><title>502 Bad Gateway</title></head> <body>padding padding padding padding padding padding padding padding padding padding padding padding padding padding padding padding padding paddin… (status 502); 0 memories were copied
    hint: run the command again; it copies only the missing memories
    -- exit 3
    ");
    assert_snapshot!(export("application/problem+json", json!({ "detail": "the database is not available" }).to_string()), @"
    -- stderr
    error: the server is not available: the database is not available (status 502); 0 memories were copied
    hint: run the command again; it copies only the missing memories
    -- exit 3
    ");
}
