//! `memdir ui` and the pages of a server in a real browser: the stories in `tests/page` drive Chromium. `scripts/test-page-setup`
//! installs what they need.

use crate::{
    chats,
    home::Home,
    inbox, left_off,
    mcp_callers::token,
    oauth::free_port,
    provider::IdentityProvider,
    team_server::{TENANT, TeamDatabase},
    web::{HttpClient, Web},
};
use memdir_postgres::MemberRole;
use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
};

/// A running server and the URL that opens it.
struct PageServer {
    child: Child,
    url: String,
}

impl PageServer {
    fn start(home: &Home, args: &[&str]) -> PageServer {
        let mut command = home.bare(&[&["ui", "--no-open", "--json"], args].concat());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let json: serde_json::Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"));
        PageServer { url: json["url"].as_str().unwrap().to_owned(), child }
    }

    /// The address without `http://`, and the path of the first request.
    fn parts(&self) -> (&str, &str) {
        let rest = self.url.strip_prefix("http://").unwrap();
        rest.split_at(rest.find('/').unwrap())
    }

    fn connect(&self) -> HttpClient {
        HttpClient::connect(self.parts().0.parse().unwrap())
    }
}

impl Drop for PageServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The directory of the browser's driver; `None` without a browser, which is a failure in CI.
fn installed() -> Option<&'static Path> {
    static WHERE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || {
        let output = Command::new(root().join("scripts/test-page-setup")).output().unwrap();
        let is_ci = std::env::var_os("CI").is_some();
        assert!(output.status.success() || !is_ci, "no browser: {}", String::from_utf8_lossy(&output.stderr));
        output.status.success().then(|| PathBuf::from(String::from_utf8(output.stdout).unwrap().trim()))
    };
    WHERE.get_or_init(find).as_deref()
}

/// Runs a story against a server on this home.
fn play(home: &Home, story: &str) {
    let Some(installed) = installed() else { return };
    let server = PageServer::start(home, &[]);
    check(story_command(home, story, installed, &server.url));
}

/// The command that runs a story in a browser.
fn story_command(home: &Home, story: &str, installed: &Path, url: &str) -> Command {
    let mut command = Command::new("node");
    command.arg(root().join("tests/page").join(story)).env_clear().current_dir(home.path("work"));
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("MEMDIR_TEST_PAGE", installed);
    command.env("HOME", home.path("")).env("MEMDIR_HOME", home.path("home")).env("USER", "ada").env("TZ", "UTC");
    command.env("MEMDIR_BIN", env!("CARGO_BIN_EXE_memdir")).env("PAGE_URL", url);
    command
}

fn check(mut command: Command) {
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.ends_with("ok\n"), "{out}{err}");
}

fn run(home: &Home, args: &[&str]) {
    let output = home.bare(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A home with memories that refer to each other, rules, conversations, and texts that try to run scripts.
fn seeded() -> Home {
    let home = chats::home();
    let deploy = "---\ndescription: When to deploy\ntype: project\nsupersedes: [notes/old-deploy]\ncues: [ship it]\nwhen:\n  command: [\"kubectl apply*\"]\n---\n\n\
                  # Deploys\n\nNever deploy on a Friday. See [tea](tea.md) and [[people]].\n\n| day | ok |\n|---|---|\n| Monday | yes |\n\n```sh\nmake deploy\n```\n";
    run(&home, &["write", "notes/tea", "Ada drinks green tea. Ask before you buy another.\n"]);
    run(&home, &["write", "notes/deploy", deploy]);
    run(&home, &["write", "people", "Ada knows [the deploys](notes/deploy.md). Bob knows `src/gone.rs`.\n"]);
    run(&home, &["write", "hostile", &hostile()]);
    run(&home, &["write", "user/style", "Short answers, please.\n"]);
    run(&home, &["write", "notes/old-deploy", "Deploy on Fridays, when the office is quiet.\n"]);
    run(&home, &["write", "notes/oven", &validity()]);
    run(&home, &["write", "notes/deploy", "--append", "Not in December either.\n"]);
    let dir = home.path(".claude/projects/-home-ada-app");
    fs::create_dir_all(&dir).unwrap();
    let record = serde_json::json!({ "type": "user", "cwd": home.path("work"), "uuid": "u9", "timestamp": "2026-03-01T10:00:00Z",
        "message": { "role": "user", "content": format!("{} what about this?", script()) } });
    fs::write(dir.join("77777777-8455.jsonl"), format!("{record}\n")).unwrap();
    inbox::plant(&home, &inbox::DENIED);
    inbox::plant(&home, &inbox::Planted { name: "notes/release-day", ..inbox::REMEMBERED });
    left_off::converse(&home, "99999999", &home.path("work").display().to_string(), 30, &format!("Now {} please.", script()));
    run(&home, &["chats", "on"]);
    run(&home, &["chats", "sync"]);
    home
}

/// The directory of the project's memories.
fn memory_dir(home: &Home) -> PathBuf {
    fs::read_dir(home.path("home/projects")).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap()
}

fn script() -> &'static str {
    "\"><script>globalThis.ran = 1</script><img src=\"http://evil.invalid/x.png\" onerror=\"globalThis.ran = 1\">"
}

/// A memory with every field of validity.
fn validity() -> String {
    "---\nstatus: draft\nstale_after: 2026-01-31\nsources:\n  - src/oven.rs@0123abcd:3-5\n  - https://example.org/oven\n\
     \x20 - chats/claude-code/s.md:12-14\nverified:\n  - by: ada\n    at: 2026-01-02\n---\n\nThe oven needs two hours.\n"
        .to_owned()
}

/// A memory that tries to run a script in every place, and that holds a secret which an editor put there.
fn hostile() -> String {
    let script = script();
    format!(
        "---\nname: '{script}'\ndescription: '{script}'\n'<b>{{}}</b>': '{script}'\ncues: ['{script}']\n\
         supersedes: ['{script}']\nsources: ['{script}', 'javascript://x%0aglobalThis.ran=1']\nverified: [{{by: '{script}', at: 2026-01-01}}]\n---\n\n# {script}\n\n{script}\n\n\
         [a](javascript:globalThis.ran=1) [b](data:text/html,x) [c](//evil.invalid/) ![d](http://evil.invalid/d.png)\n\n\
         <iframe src=\"http://evil.invalid/\"></iframe>\n\n[[{script}]]\n\n```\n</code></pre>{script}\n```\n"
    )
}

#[test]
fn every_view_is_accessible_and_runs_nothing_of_a_memory() {
    let home = seeded();
    // Names with markup are valid file names.
    fs::write(memory_dir(&home).join("notes/<img src=x onerror=alert(1)>.md"), format!("A strange name. {}\n", chats::token())).unwrap();
    play(&home, "views.mjs");
}

#[test]
fn a_person_searches_edits_undoes_and_reviews() {
    play(&seeded(), "work.mjs");
}

#[test]
fn many_tabs_a_double_click_and_a_forgotten_version_lose_nothing() {
    play(&seeded(), "tabs.mjs");
}

#[test]
fn an_exported_file_is_accessible_and_runs_nothing_of_a_memory() {
    let home = seeded();
    fs::write(memory_dir(&home).join("notes/key.md"), format!("The key is {}.\n", chats::token())).unwrap();
    play(&home, "export.mjs");
}

#[test]
fn late_answers_take_nothing_away_and_keys_decide_once() {
    play(&seeded(), "races.mjs");
}

#[test]
fn everything_can_be_done_with_the_keyboard_alone() {
    play(&seeded(), "keyboard.mjs");
}

#[test]
fn a_person_reviews_applies_and_undoes_a_dream_plan() {
    let home = Home::new();
    let same = "The rota of the shop is decided on the first Monday of a month.\n";
    run(&home, &["write", "notes/kept", "Backups leave the data center at four.\n"]);
    run(&home, &["write", "notes/rota", &format!("---\nname: Rota\nmodified: 2026-01-05\n---\n\n{same}")]);
    run(&home, &["write", "notes/rota-copy", &format!("---\nname: Rota\nmodified: 2026-02-05\n---\n\n{same}")]);
    run(&home, &["write", "notes/empty", "# Ideas\n"]);
    run(&home, &["write", "notes/blank", "# Plans\n"]);
    run(&home, &["write", "notes/<img src=x onerror=alert(1)>", "A strange name.\n"]);
    // An editor put a secret there.
    let text = format!("Backups leave the data center at four.\nThe key is {}.\n", chats::token());
    fs::write(memory_dir(&home).join("notes/kept.md"), text).unwrap();
    play(&home, "dream.mjs");
}

#[test]
fn only_the_browser_with_the_token_gets_in_and_nothing_needs_a_script() {
    play(&seeded(), "access.mjs");
}

#[test]
fn ten_thousand_memories_stay_small_pages() {
    let home = Home::new();
    run(&home, &["write", "notes/first", "The first memory.\n"]);
    let bulk = memory_dir(&home).join("bulk");
    fs::create_dir_all(&bulk).unwrap();
    for n in 0..10_000 {
        fs::write(bulk.join(format!("m{n:04}.md")), format!("---\ndescription: Note number {n}\n---\nThe animal is zebra{n:04}.\n"))
            .unwrap();
    }
    play(&home, "many.mjs");
}

#[test]
fn the_url_works_once_and_only_for_this_host() {
    let home = seeded();
    let server = PageServer::start(&home, &["--port", "0"]);
    let (address, path) = server.parts();
    let get = |path: &str, headers: &[(&str, &str)]| server.connect().request("GET", path, headers, b"");
    assert_eq!(get(path, &[("Host", "evil.example")]).status, 403);
    assert_eq!(get(path, &[("Origin", "https://evil.example")]).status, 403);
    assert_eq!(get(&path.replace("token=", "token=0"), &[]).status, 401);
    let started = get(path, &[]);
    let base = path.split("/start").next().unwrap();
    assert_eq!((started.status, started.header("location")), (303, Some(format!("{base}/").as_str())));
    let cookie = started.header("set-cookie").unwrap();
    assert!(cookie.ends_with(&format!("; Path={base}; HttpOnly; SameSite=Strict")), "{cookie}");
    assert_eq!(get(path, &[]).status, 401);
    let cookie = cookie.split(';').next().unwrap();
    let page = get(&format!("{base}/"), &[("Cookie", cookie)]);
    assert_eq!((page.status, page.header("x-frame-options")), (200, Some("DENY")));
    assert!(page.body.contains("Recent changes"), "{}", page.body);
    // A port is not a host: the browser sends one cookie to all ports, so the path must be right too.
    assert_eq!(get("/", &[("Cookie", cookie)]).status, 404);
    let post =
        |headers: &[(&str, &str)], body: &str| server.connect().request("POST", &format!("{base}/undo"), headers, body.as_bytes()).status;
    let form = ("Content-Type", "application/x-www-form-urlencoded");
    let origin = format!("http://{address}");
    assert_eq!(post(&[("Cookie", cookie), form], "id=x"), 403, "no origin");
    assert_eq!(post(&[("Cookie", cookie), ("Origin", &origin), form], "id=x"), 403, "no form token");
    assert_eq!(post(&[("Cookie", cookie), ("Origin", &origin), ("Content-Type", "text/plain")], "id=x"), 415);
    assert_eq!(post(&[("Origin", &origin), form], "id=x"), 401, "no cookie");
    for method in ["PUT", "DELETE", "OPTIONS"] {
        assert_eq!(server.connect().request(method, &format!("{base}/"), &[("Cookie", cookie)], b"").status, 405, "{method}");
    }
}

#[test]
fn a_taken_port_is_an_error_with_a_next_step() {
    let home = Home::new();
    let server = PageServer::start(&home, &[]);
    let port = server.parts().0.rsplit(':').next().unwrap().to_owned();
    let printed = home.run_bare(&["ui", "--no-open", "--port", &port]).replace(&port, "[PORT]");
    insta::assert_snapshot!(printed, @r"
    -- stderr
    error: cannot listen on 127.0.0.1:[PORT]: Address already in use (os error 98)
    hint: choose another port with --port, or omit --port to use a free port
    -- exit 3
    ");
}

#[test]
fn view_exports_one_file_without_secrets_and_private_memories() {
    let home = seeded();
    let file = home.path("view.html");
    let path = file.to_str().unwrap();
    run(&home, &["view", "-o", path]);
    let html = fs::read_to_string(&file).unwrap();
    let printed = home.bare(&["view", "-o", "-"]).output().unwrap();
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), html, "- is standard output");
    assert!(!home.path("work/-").exists());
    assert!(html.contains("Never deploy on a Friday") && html.contains("<a href=\"#m"), "{html}");
    assert!(!html.contains("Short answers, please"), "user/ is private");
    assert!(!html.contains("<script>globalThis") && !html.contains("<img"), "{html}");
    insta::assert_snapshot!(home.run_bare(&["view", "-o", "no/such dir/view.html"]), @r"
    -- stderr
    error: directory no/such dir does not exist
    hint: create it with: mkdir -p 'no/such dir'
    -- exit 2
    ");
    let again = home.run_bare(&["view", "-o", path]);
    assert!(again.contains("already exists"), "{again}");
    run(&home, &["view", "-o", path, "--force", "--include", "user"]);
    assert!(fs::read_to_string(&file).unwrap().contains("Short answers, please"));
    assert!(home.run_bare(&["view", "-o", path, "--include", "nobody"]).contains("cannot include \"nobody\": not found"));
    fs::write(memory_dir(&home).join("notes/key.md"), format!("The key is {}.\n", chats::token())).unwrap();
    run(&home, &["view", "-o", path, "--force"]);
    let html = fs::read_to_string(&file).unwrap();
    assert!(html.contains("The key is [secret: ") && !html.contains(&chats::token()), "{html}");
}

/// Two people with tokens, an identity provider that is another site, and the pages of a server.
#[test]
fn people_sign_in_to_the_pages_of_a_server_and_see_their_own_memory() {
    let Some(installed) = installed() else { return };
    let (home, port) = (Home::new(), free_port());
    let url = format!("http://127.0.0.1:{port}");
    let provider = IdentityProvider::start_with("localhost", &[&format!("{url}/ui/callback")]);
    fs::create_dir_all(home.path("home")).unwrap();
    fs::write(home.path("home/secret"), "secret-of-page-0123456789\n").unwrap();
    provider.configure(&home, &url, "client_id = \"page\"\nclient_secret_file = \"secret\"\n");
    let (ada, _) = token(&home, &["ada"]);
    let (bob, bob_id) = token(&home, &["bob", "shop", "garden"]);
    let _web = Web::spawn(home.bare(&["mcp", "--http", &format!("127.0.0.1:{port}"), "--page"]));
    let mut command = story_command(&home, "server.mjs", installed, &format!("{url}/ui"));
    command.env("ADA", ada).env("BOB", bob).env("BOB_ID", bob_id).env("ISSUER", &provider.issuer);
    check(command);
}

/// A writer proposes on the pages of a team server, and a reviewer decides.
#[test]
fn a_reviewer_decides_about_proposals_in_the_browser() {
    let Some(installed) = installed() else { return };
    let Some(team) = TeamDatabase::new() else { return };
    let (ada, rita) = (team.token("ada", MemberRole::Writer), team.token("rita", MemberRole::Reviewer));
    team.database().set_review(TENANT, "projects/shop", true).unwrap();
    let home = Home::new();
    fs::create_dir_all(home.path("work")).unwrap();
    let web = team.replica(&home, &[]);
    let mut command = story_command(&home, "review.mjs", installed, &format!("http://{}/ui", web.address));
    command.env("ADA", ada).env("RITA", rita);
    check(command);
}

/// A reviewer can see all of a proposal, and no part of it is shown as something else.
#[test]
fn a_reviewer_sees_all_of_every_proposal_in_the_browser() {
    let Some(installed) = installed() else { return };
    let Some(team) = TeamDatabase::new() else { return };
    let [ada, ben] = ["ada", "ben"].map(|person| team.token(person, MemberRole::Writer));
    let rita = team.token("rita", MemberRole::Reviewer);
    let home = Home::new();
    fs::create_dir_all(home.path("work")).unwrap();
    let web = team.replica(&home, &[]);
    let put = |token: &str, name: &str, body: serde_json::Value| {
        let bearer = format!("Bearer {token}");
        let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        let reply = web.connect().request("PUT", &format!("/v1/memories/{name}"), &headers, body.to_string().as_bytes());
        assert!(matches!(reply.status, 201 | 202), "{name}: {}", reply.body);
    };
    let text = |content: &str| serde_json::json!({ "content": content });
    let raw = |base64: &str| serde_json::json!({ "content": base64, "content_encoding": "base64" });
    // "caf" and one byte that is not valid UTF-8, E9 and then E8.
    put(&rita, "raw", raw("Y2Fm6Qo="));
    team.database().set_review(TENANT, "projects/shop", true).unwrap();
    for n in 0..30 {
        put(&ben, &format!("many/{n:03}"), text("One of many.\n"));
    }
    for n in 30..127 {
        put(&ada, &format!("many/{n:03}"), text("One of many.\n"));
    }
    put(&ada, "raw", raw("Y2Fm6Ao="));
    put(&ada, "trick", text("if is_admin \u{202e}{ begin\u{2066} \u{1b}[8m hidden\n"));
    put(&ada, "long", text(&(0..5_000).map(|line| format!("Line {line}.\n")).collect::<String>()));
    let mut command = story_command(&home, "review_all.mjs", installed, &format!("http://{}/ui", web.address));
    command.env("RITA", rita);
    check(command);
}

#[test]
fn pages_of_a_server_need_a_token() {
    let home = Home::new();
    insta::assert_snapshot!(home.run(&["mcp", "--http", "127.0.0.1:0", "--page"]), @r"
    -- stderr
    error: --page requires a token: without one, anyone who can reach this address could access the memories
    hint: for yourself, pass --token-file FILE or set MEMDIR_TOKEN; for several people, create tokens with: memdir token add PERSON
    -- exit 3
    ");
}
