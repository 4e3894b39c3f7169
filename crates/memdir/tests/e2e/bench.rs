//! `memdir bench`: concurrent processes on one directory, with and without kills; times of recalls.

use crate::home::{Home, files_below};
use insta::assert_snapshot;

/// 20 processes × 100 saves and 100 appends to one memory: no change is lost, and every memory is listed exactly once.
#[test]
fn concurrent_sessions_lose_neither_files_nor_lines() {
    let home = Home::new();
    let args = ["bench", "torture", "--processes", "20", "--changes", "200", "--mix", "save,append", "--dir", "../torture"];
    assert_snapshot!(home.run_bare(&args), @"
                                 count
    processes                    20
    kills                        0
    acknowledged changes         4000
      append                     2000
      save                       2000
    expected memories and lines  4020
      present                    4020
      lost                       0
      torn                       0
    interrupted, consistent      0
    wrong entrypoint lines       0
    journal damage               0
    leftover files               0
    errors                       0
    no change lost ([SECONDS], seed [SEED])
    -- stderr
    note: files kept in [HOME]/torture
    ");
    let memories = files_below(&home.path("torture/memory"));
    assert_eq!(memories.iter().filter(|name| name.starts_with("process-")).count(), 2_000);
    let log = std::fs::read_to_string(home.path("torture/memory/shared/log.md")).unwrap();
    assert_eq!(log.lines().count(), 2_000);
}

#[test]
fn kills_at_random_moments_leave_no_torn_files() {
    let home = Home::new();
    let output = home.bare(&["bench", "torture", "--processes", "6", "--changes", "30", "--kill", "30", "--json"]).output().unwrap();
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(output.status.success(), "{printed:#}");
    assert_eq!(printed["kills"].as_u64(), Some(30));
    let empty = |key: &str| printed[key].as_array().unwrap().is_empty();
    assert!(["lost", "torn", "entrypoint", "journal", "litter", "errors"].into_iter().all(empty), "{printed:#}");
    assert_eq!(printed["kept"], printed["expected"]);
    assert!(printed["changes"].as_u64().unwrap() >= 100, "{printed:#}");
}

#[test]
fn a_directory_that_is_not_empty_is_rejected() {
    let home = Home::new();
    home.put("precious.md", "mine");
    assert_snapshot!(home.run(&["bench", "torture", "--dir", "../memory"]), @"
    -- stderr
    error: directory ../memory is not empty
    hint: use an empty directory, or omit --dir
    -- exit 2
    ");
    assert_eq!(home.text("precious.md"), "mine");
}

#[test]
fn recalls_are_measured_in_a_process_that_stays_and_as_a_hook() {
    let home = Home::new();
    let output = home.bare(&["bench", "recall", "--files", "10", "--messages", "10", "--json"]).output().unwrap();
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(output.status.success(), "{printed:#}");
    let times = printed["times"].as_array().unwrap();
    let what: Vec<&str> = times.iter().map(|one| one["what"].as_str().unwrap()).collect();
    let expected =
        ["recall for 20 words", "recall for 60 words", "recall for 300 words", "/bin/true", "hook of a message in a new process"];
    assert_eq!(what, expected);
    assert!(times.iter().all(|one| one["p50"].as_f64().unwrap() > 0.0), "{printed:#}");
    assert_eq!(times[4]["ratio"]["of"], "/bin/true");
}

/// The cost of a plan is reported beside that of the index, for two numbers of memories.
#[test]
fn plans_are_measured_against_the_index() {
    let home = Home::new();
    let output = home.bare(&["bench", "dream", "--files", "200", "--json"]).output().unwrap();
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(output.status.success(), "{printed:#}");
    let sizes = printed["sizes"].as_array().unwrap();
    let column = |key: &str| sizes.iter().map(|size| size[key].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!(column("files"), [20, 200]);
    // A merge for each copy, a date for each tenth memory, and two empty ones.
    assert_eq!(column("operations"), [5, 42], "{printed:#}");
    assert!(sizes.iter().all(|size| size["ratio"].as_f64().unwrap() > 0.0 && size["progress_reports"].as_u64() > size["files"].as_u64()));
}

/// The library, a server on files and another server get the same requests; nothing is left on the other server.
#[test]
fn a_server_is_measured_beside_the_library() {
    let home = Home::new();
    let (token, _) = crate::mcp_callers::token(&home, &["ada", "shop"]);
    std::fs::write(home.path("token"), token).unwrap();
    let web = crate::web::Web::start(&home, &[]);
    let (url, token) = (format!("http://{}", web.address), home.path("token").display().to_string());
    let args = ["bench", "serve", "--files", "10", "--requests", "12", "--clients", "1,3"];
    let output = home.bare(&[&args[..], &["--server", &url, "--token-file", &token, "--json"]].concat()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = printed["rows"].as_array().unwrap();
    let row = |row: &serde_json::Value| format!("{} {} {}", row["what"].as_str().unwrap(), row["target"].as_str().unwrap(), row["clients"]);
    let mut expected = Vec::new();
    for what in ["read", "write", "search"] {
        for clients in [1, 3] {
            expected.extend(["library", "http", "server"].map(|target| format!("{what} {target} {clients}")));
        }
    }
    assert_eq!(rows.iter().map(row).collect::<Vec<_>>(), expected);
    assert!(rows.iter().all(|row| row["per_second"].as_f64().unwrap() > 0.0 && row["p50_ms"].as_f64().unwrap() > 0.0), "{printed:#}");
    let compared = |row: &serde_json::Value| row["http_ratio"].as_f64().is_some_and(|ratio| ratio > 0.0);
    assert!(rows.iter().all(|row| compared(row) == (row["target"] == "server")), "{printed:#}");
    assert_eq!(files_below(&home.path("home")).iter().filter(|name| name.contains("topic-") || name.contains("bench/")).count(), 0);
}

#[test]
fn the_hint_of_a_failed_request_depends_on_the_answer() {
    let home = Home::new();
    let bench = |status: &'static str| {
        let url = crate::web::answer_once(status, "application/problem+json", r#"{ "detail": "no" }"#.to_owned());
        home.run_bare(&["bench", "serve", "--files", "10", "--requests", "12", "--server", &url]).replace(&url, "[URL]")
    };
    assert_snapshot!([bench("503 Service Unavailable"), bench("429 Too Many Requests"), bench("401 Unauthorized")].join("\n"), @"
    -- stderr
    error: PUT [URL]/v1/memories/topic-00/note-00000: 503 Service Unavailable: no
    hint: try again later, or check that the server is running
    -- exit 3

    -- stderr
    error: PUT [URL]/v1/memories/topic-00/note-00000: 429 Too Many Requests: no
    hint: try again later, or check that the server is running
    -- exit 3

    -- stderr
    error: PUT [URL]/v1/memories/topic-00/note-00000: 401 Unauthorized: no
    hint: check --server and --token-file
    -- exit 3
    ");
}
