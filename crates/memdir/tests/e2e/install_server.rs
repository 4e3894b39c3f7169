//! `memdir install HOST --server URL`: every host is connected to a real server, checked, and disconnected without a trace.

use crate::{
    home::{Home, feed, files_below},
    mcp_callers::token,
    provider::{IdentityProvider, RESOURCE},
    web::Web,
};
use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader},
    net::TcpListener,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Stdio},
};

/// The hosts whose settings have servers over HTTP.
const HOSTS: [&str; 9] = ["claude-code", "codex", "gemini", "cursor", "vscode", "opencode", "zed", "windsurf", "copilot-cli"];

/// A server with a token, which is in a file of another machine.
fn connected() -> (Home, Web, Home) {
    let server = Home::new();
    let (ada, _) = token(&server, &["ada", "shop", "bank"]);
    let web = Web::start_bare(&server, &[]);
    let home = Home::new();
    fs::write(home.path("token"), format!("{ada}\n")).unwrap();
    (server, web, home)
}

fn url(web: &Web) -> String {
    format!("http://{}", web.address)
}

/// All files of the user except memdir's own.
fn files(home: &Home) -> BTreeMap<String, String> {
    let own = |name: &String| !name.starts_with("home/") && !name.starts_with(".cache/") && name != "token";
    let names = files_below(&home.path("")).into_iter().filter(own);
    names.map(|name| (name.clone(), fs::read_to_string(home.path(&name)).unwrap())).collect()
}

fn succeed(home: &Home, args: &[&str]) {
    let output = home.bare(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
}

/// What the doctor prints about the team server.
fn doctor(home: &Home) -> Vec<(String, String)> {
    let output = home.bare(&["doctor", "--json"]).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report["hosts"].as_array().unwrap().iter().flat_map(|host| host["findings"].as_array().unwrap());
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let team = findings.filter(|finding| text(&finding["what"]).ends_with("team server"));
    team.map(|finding| (text(&finding["level"]), text(&finding["seen"]))).collect()
}

#[test]
fn every_host_is_connected_checked_and_disconnected_without_a_trace() {
    let (_server, web, home) = connected();
    let (url, file) = (url(&web), home.path("token"));
    let accepted = ("ok".to_owned(), format!("{url} runs memdir {} and accepts the token", env!("CARGO_PKG_VERSION")));
    let before = files(&home);
    for host in HOSTS {
        succeed(&home, &["install", host]);
        let with_own = files(&home);
        succeed(&home, &["install", host, "--server", &url, "--token-file", file.to_str().unwrap(), "--project", "shop"]);
        assert_eq!(doctor(&home), std::slice::from_ref(&accepted), "{host}");
        let receipts = fs::read_to_string(home.path("home/installed.json")).unwrap();
        assert!(!receipts.contains("mdt_"), "{host}: a receipt has no token");
        for name in files(&home).keys().filter(|name| !with_own.contains_key(*name)) {
            assert_eq!(fs::metadata(home.path(name)).unwrap().permissions().mode() & 0o077, 0, "{host}: {name}");
        }
        succeed(&home, &["uninstall", host, "--server"]);
        assert_eq!(files(&home), with_own, "{host}");
        succeed(&home, &["install", host, "--server", &format!("{url}/mcp"), "--token-file", file.to_str().unwrap()]);
        succeed(&home, &["uninstall", host]);
        assert_eq!(files(&home), before, "{host}");
        succeed(&home, &["install", host, "--server", &url]);
        let missing = ("bad".to_owned(), format!("{url} requires a token, and the host has none"));
        assert_eq!(doctor(&home), [missing], "{host}");
        succeed(&home, &["uninstall", "--all"]);
        assert_eq!(files(&home), before, "{host}");
    }
}

#[test]
fn a_host_signs_in_where_the_server_has_an_identity_provider() {
    let next_step = |home: &Home, url: &str| {
        let output = home.run_bare(&["install", "claude-code", "--server", url]);
        output.lines().last().unwrap().trim().to_owned()
    };
    let (_server, web, home) = connected();
    let url_without = url(&web);
    assert_eq!(
        next_step(&home, &url_without),
        "The server requires a token and has no sign-in: get a token, then install again with --token-file FILE."
    );
    let (served, provider, home) = (Home::new(), IdentityProvider::start(), Home::new());
    provider.configure(&served, RESOURCE, "");
    let web = Web::start_bare(&served, &[]);
    let url = url(&web);
    assert_eq!(next_step(&home, &url), "Start a new session and sign in with `/mcp`.");
    let unchecked = format!("{url} can be reached; whether Claude Code is signed in was not checked");
    assert_eq!(doctor(&home), [("note".to_owned(), unchecked)]);
    let (open, home) = (Home::new(), Home::new());
    let web = Web::start_bare(&open, &[]);
    assert_eq!(next_step(&home, &self::url(&web)), "Start a new session; `/mcp` lists memdir-team.");
}

#[test]
fn a_project_gets_no_token_and_a_preview_shows_none() {
    let (_server, web, home) = connected();
    let (url, file) = (url(&web), home.path("token"));
    let install = |args: &[&str]| home.run_bare(&[&["install", "claude-code", "--server", &url][..], args].concat()).replace(&url, "[URL]");
    let before = files(&home);
    insta::assert_snapshot!(install(&["--scope", "project", "--token-file", file.to_str().unwrap()]), @"
    -- stderr
    error: --token-file cannot be used with --scope project, because project settings may be committed
    hint: use --token-env NAME, omit --token-file and sign in from the host, or omit --scope project
    -- exit 2
    ");
    // Zed reads no token from a variable.
    let zed = ["install", "zed", "--server", &url, "--scope", "project", "--token-file", file.to_str().unwrap()];
    assert!(home.run_bare(&zed).contains("hint: omit --token-file and sign in from the host, or omit --scope project\n"));
    let shown = install(&["--token-file", file.to_str().unwrap(), "--dry-run"]);
    assert!(shown.contains("Bearer TOKEN") && !shown.contains("mdt_"), "{shown}");
    assert_eq!(files(&home), before);
    insta::assert_snapshot!(install(&["--scope", "project", "--token-env", "TEAM_TOKEN"]), @"
    Claude Code (project): done
      [HOME]/work/.mcp.json created
      Set TEAM_TOKEN to your token in Claude Code's environment. Start a new session; `/mcp` lists memdir-team.
    ");
    insta::assert_snapshot!(fs::read_to_string(home.path("work/.mcp.json")).unwrap().replace(&url, "[URL]"), @r#"
    {
      "mcpServers": {
        "memdir-team": {
          "type": "http",
          "url": "[URL]/mcp",
          "headers": {
            "Authorization": "Bearer ${TEAM_TOKEN}"
          }
        }
      }
    }
    "#);
    let unset = format!("{url} can be reached; TEAM_TOKEN is not set in this environment, so the token was not checked");
    assert_eq!(doctor(&home), [("note".to_owned(), unset)]);
}

#[test]
fn what_cannot_work_is_an_error_and_changes_nothing() {
    let (_server, web, home) = connected();
    let (url, file) = (url(&web), home.path("token"));
    let before = files(&home);
    let install = |args: &[&str]| home.run_bare(&[&["install"][..], args].concat()).replace(&url, "[URL]");
    insta::assert_snapshot!(install(&["claude-desktop", "--server", &url]), @"
    -- stderr
    error: Claude Desktop does not support HTTP servers in its settings
    hint: add the URL in Claude Desktop under Settings > Connectors > Add custom connector; no file was changed
    -- exit 2
    ");
    insta::assert_snapshot!(install(&["zed", "--server", &url, "--token-env", "TEAM_TOKEN"]), @"
    -- stderr
    error: Zed cannot read a token from an environment variable
    hint: use --token-file FILE, or omit --token-env and sign in from the host; no file was changed
    -- exit 2
    ");
    insta::assert_snapshot!(install(&["codex", "--server", "http://memory.example.org"]), @r#"
    -- stderr
    error: "http://memory.example.org" is not a valid server URL
    hint: use an https URL such as https://memory.example.org; http is allowed only for loopback
    -- exit 2
    "#);
    insta::assert_snapshot!(install(&["codex", "--server", &url, "--token-env", "a b"]), @r#"
    -- stderr
    error: "a b" is not a valid environment variable name
    hint: use a name such as MEMDIR_TEAM_TOKEN
    -- exit 2
    "#);
    insta::assert_snapshot!(install(&["windsurf", "--server", &url, "--scope", "project"]), @"
    -- stderr
    error: Windsurf does not have project settings
    hint: omit --scope project; no file was changed
    -- exit 2
    ");
    fs::write(&file, "mdt_0000000000000000000000").unwrap();
    insta::assert_snapshot!(install(&["codex", "--server", &url, "--token-file", file.to_str().unwrap()]), @"
    -- stderr
    error: the server refuses access: missing or unknown bearer token
    hint: ask the server's operator for another token; no file was changed
    -- exit 1
    ");
    let typed = feed(&mut home.bare(&["install", "codex", "--server", &url, "--token-file", "-"]), b"short\n");
    insta::assert_snapshot!(home.transcript(&[], typed), @"
    -- stderr
    error: invalid token: expected at least 16 printable ASCII characters, without spaces
    hint: check that the token is complete, or ask the server's operator for another one
    -- exit 2
    ");
    assert_eq!(files(&home), before);
}

#[test]
fn a_server_that_is_gone_or_refuses_is_reported() {
    let (server, web, home) = connected();
    let (url, file) = (url(&web), home.path("token"));
    succeed(&home, &["install", "codex", "--server", &url, "--token-file", file.to_str().unwrap()]);
    let listed = server.json(&["token", "list"]);
    server.ok(&["token", "revoke", listed["tokens"][0]["id"].as_str().unwrap()]);
    let refused = format!("{url} refuses access: missing or unknown bearer token");
    assert_eq!(doctor(&home), [("bad".to_owned(), refused)]);
    drop(web);
    let [(level, seen)] = &doctor(&home)[..] else { panic!() };
    assert!(level == "bad" && seen.starts_with(&format!("cannot be reached: {url}: ")), "{seen}");
    let again = home.run_bare(&["install", "gemini", "--server", &url, "--token-file", file.to_str().unwrap()]);
    assert!(again.contains("note: cannot reach the server: ") && again.contains("memdir doctor"), "{again}");
}

#[test]
fn the_doctor_advises_by_how_the_token_was_installed() {
    let (server, web, home) = connected();
    let (url, file) = (url(&web), home.path("token"));
    succeed(&home, &["install", "codex", "--server", &url, "--token-file", file.to_str().unwrap(), "--project", "shop"]);
    fs::create_dir(home.path("shop")).unwrap();
    let mut install = home.bare(&["install", "claude-code", "--server", &url, "--token-env", "TEAM_TOKEN", "--scope", "project"]);
    assert!(install.current_dir(home.path("shop")).output().unwrap().status.success());
    let fix = |host: &str| {
        let output = home.bare(&["doctor", host, "--json"]).env("TEAM_TOKEN", "mdt_0000000000000000000000").output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let findings = report["hosts"].as_array().unwrap().iter().flat_map(|host| host["findings"].as_array().unwrap());
        let team = findings.filter(|finding| finding["what"].as_str().unwrap().ends_with("team server"));
        team.map(|finding| finding["fix"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join("\n")
    };
    let listed = server.json(&["token", "list"]);
    server.ok(&["token", "revoke", listed["tokens"][0]["id"].as_str().unwrap()]);
    assert_eq!(fix("codex"), format!("get another token, then run: memdir install codex --server {url} --project shop --token-file FILE"));
    assert_eq!(fix("claude-code"), "get another token, then set TEAM_TOKEN to that token in the environment of Claude Code");
    // A project's settings come from others, and none of them is a part of a command that a shell would run.
    let settings = fs::read_to_string(home.path("shop/.mcp.json")).unwrap();
    fs::write(home.path("shop/.mcp.json"), settings.replace("${TEAM_TOKEN}", "${X; touch owned}")).unwrap();
    let hostile = fix("claude-code");
    assert!(hostile.ends_with("--token-env NAME --scope project") && !hostile.contains("touch"), "{hostile}");
    fs::write(home.path("shop/.mcp.json"), settings.replace("/mcp\"", "/$(id)/mcp\"")).unwrap();
    assert!(!fix("claude-code").contains(&format!(" {url}/$(id)")), "{}", fix("claude-code"));
    fs::remove_file(home.path("shop/.mcp.json")).unwrap();
    let missing = fix("claude-code");
    let command = format!("/shop && memdir install claude-code --server {url} --token-env TEAM_TOKEN --scope project");
    assert!(missing.starts_with("run: cd ") && missing.ends_with(&command), "{missing}");
    fs::remove_dir(home.path("shop")).unwrap();
    let gone = fix("claude-code");
    assert!(
        gone.starts_with("remove memdir's record of this installation with: mkdir -p ") && gone.ends_with("--server --scope project"),
        "{gone}"
    );
}

/// A server with TLS, which is killed when this is dropped.
struct TlsServer(std::process::Child);

impl Drop for TlsServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn openssl(dir: &Path, args: &str) -> Command {
    let mut command = Command::new("openssl");
    command.args(args.split(' ')).current_dir(dir);
    command
}

#[test]
fn a_private_certificate_authority_is_trusted_if_it_is_named() {
    let home = Home::new();
    let dir = home.path("tls");
    fs::create_dir(&dir).unwrap();
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2";
    fs::write(dir.join("names"), "subjectAltName=DNS:localhost").unwrap();
    for args in [
        format!("req -x509 {key} -subj /CN=own -keyout own-key.pem -out own.pem"),
        format!("req {key} -subj /CN=localhost -keyout server-key.pem -out server.csr"),
        "x509 -req -in server.csr -CA own.pem -CAkey own-key.pem -CAcreateserial -days 2 -extfile names -out server.pem".to_owned(),
    ] {
        let output = openssl(&dir, &args).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let serve = format!("s_server -accept 127.0.0.1:{port} -cert server.pem -key server-key.pem -www");
    let mut server = TlsServer(openssl(&dir, &serve).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let printed = BufReader::new(server.0.stdout.take().unwrap());
    assert!(printed.lines().any(|line| line.unwrap().starts_with("ACCEPT")));
    let review = |file: Option<&str>| {
        let url = format!("https://localhost:{port}");
        let mut command = home.bare(&["review", "list", "--server", &url]);
        file.map(|file| command.env("SSL_CERT_FILE", dir.join(file)));
        String::from_utf8(command.output().unwrap().stderr).unwrap()
    };
    let refused = review(None);
    assert!(
        refused.contains("UnknownIssuer\nhint: set SSL_CERT_FILE to a PEM file with the certificate authorities to trust\n"),
        "{refused}"
    );
    // The connection is made; what answers is not memdir.
    let answered = review(Some("own.pem"));
    assert!(!answered.to_lowercase().contains("cert") && answered.contains("error: cannot list the proposals"), "{answered}");
    assert!(review(Some("none.pem")).contains("none.pem\" (SSL_CERT_FILE): No such file or directory"));
    assert!(review(Some("names")).contains("names\" (SSL_CERT_FILE) contains no certificates"));
}
