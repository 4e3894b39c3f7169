//! Settings, receipts, project records and state files that several processes change at the same time: every change that was
//! acknowledged is in the file.

use crate::{
    home::{Home, files_below},
    scope::repository,
};
use serde_json::{Value, json};
use std::{
    fs,
    io::Write as _,
    process::{Child, Command, Output, Stdio},
};

/// Starts all commands before it waits for the first.
fn at_once(commands: Vec<Command>) -> Vec<Output> {
    let start = |mut command: Command| command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let children: Vec<Child> = commands.into_iter().map(start).collect();
    children.into_iter().map(|child| child.wait_with_output().unwrap()).collect()
}

fn all_succeed(outputs: &[Output]) {
    for output in outputs {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

fn json_of(home: &Home, args: &[&str]) -> Value {
    serde_json::from_slice(&home.bare(&[args, &["--json"]].concat()).output().unwrap().stdout).unwrap()
}

fn token_ids(home: &Home) -> Vec<String> {
    let listed = json_of(home, &["token", "list"]);
    listed["tokens"].as_array().unwrap().iter().map(|token| token["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_acknowledged_token_is_added_and_revoked() {
    let home = Home::new();
    home.configure("# mine\nteam = false\n");
    all_succeed(&at_once((0..16).map(|n| home.bare(&["token", "add", &format!("person{n}")])).collect()));
    let ids = token_ids(&home);
    assert_eq!(ids.len(), 16);
    let (kept, revoked) = ids.split_at(2);
    all_succeed(&at_once(revoked.iter().map(|id| home.bare(&["token", "revoke", id])).collect()));
    assert_eq!(token_ids(&home), kept);
    assert!(fs::read_to_string(home.path("home/config.toml")).unwrap().starts_with("# mine\nteam = false\n"));
}

#[test]
fn a_token_is_revoked_once() {
    let home = Home::new();
    home.bare(&["token", "add", "ada"]).output().unwrap();
    let ids = token_ids(&home);
    let outputs = at_once((0..8).map(|_| home.bare(&["token", "revoke", &ids[0]])).collect());
    let codes: Vec<i32> = outputs.iter().map(|output| output.status.code().unwrap()).collect();
    assert_eq!(codes.iter().filter(|code| **code == 0).count(), 1, "{codes:?}");
    assert!(codes.iter().all(|code| [0, 2].contains(code)), "{codes:?}");
    assert_eq!(token_ids(&home), [""; 0]);
}

/// `tokens = [{ … }]` is valid in the settings too.
#[test]
fn tokens_in_an_inline_array_are_added_and_revoked() {
    let home = Home::new();
    let hash = "ab".repeat(32);
    home.configure(&format!("tokens = [{{ person = \"ada\", hash = \"{hash}\" }}] # mine\n"));
    home.bare(&["token", "add", "bob"]).output().unwrap();
    assert_eq!(token_ids(&home).len(), 2);
    assert_eq!(home.run_bare(&["token", "revoke", "abababab"]), "revoked ada's token abababab\n");
    let listed = json_of(&home, &["token", "list"]);
    assert_eq!((listed["tokens"].as_array().unwrap().len(), &listed["tokens"][0]["person"]), (1, &json!("bob")));
}

#[test]
fn a_token_is_not_revoked_by_an_id_that_is_too_short() {
    let home = Home::new();
    home.bare(&["token", "add", "ada"]).output().unwrap();
    let ids = token_ids(&home);
    for id in ["", &ids[0][..2]] {
        let expected = format!(
            "-- stderr\nerror: token id {id:?} is too short: use at least 3 characters\nhint: list the tokens with: memdir token list\n-- exit 2\n"
        );
        assert_eq!(home.run_bare(&["token", "revoke", id]), expected);
    }
    assert_eq!(token_ids(&home), ids);
    assert_eq!(home.run_bare(&["token", "revoke", &ids[0][..3]]), format!("revoked ada's token {}\n", ids[0]));
}

#[test]
fn every_switch_of_chats_is_kept() {
    let home = Home::new();
    home.bare(&["chats", "on"]).output().unwrap();
    let hosts = ["claude-code", "codex", "gemini", "openclaw", "opencode", "cursor"];
    let mut commands: Vec<Command> = hosts.iter().map(|host| home.bare(&["chats", "off", "--host", host])).collect();
    for n in 0..6 {
        fs::create_dir_all(home.path(&format!("private{n}"))).unwrap();
        commands.push(home.bare(&["chats", "off", "--project", home.path(&format!("private{n}")).to_str().unwrap()]));
    }
    all_succeed(&at_once(commands));
    let settings: toml_edit::DocumentMut = fs::read_to_string(home.path("home/config.toml")).unwrap().parse().unwrap();
    let count = |key: &str| settings["chats"][key].as_array().unwrap().len();
    assert_eq!((count("hosts_off"), count("projects_off")), (hosts.len(), 6));
    assert_eq!(settings["chats"]["on"].as_bool(), Some(true));
}

#[test]
fn a_memory_is_adopted_once() {
    let home = Home::new();
    for name in [".koding/memory/style.md", "work/.serena/memories/arch.md", ".agent-memory/memory/a.md"] {
        fs::create_dir_all(home.path(name).parent().unwrap()).unwrap();
        fs::write(home.path(name), "x\n").unwrap();
    }
    let adopt = |n: usize| home.bare(&["adopt", ["koding", "serena", "agent-memory"][n % 3]]);
    all_succeed(&at_once((0..9).map(adopt).collect()));
    let text = fs::read_to_string(home.path("home/config.toml")).unwrap();
    let mut names: Vec<&str> = text.lines().filter(|line| line.starts_with("name = ")).collect();
    names.sort_unstable();
    assert_eq!(names, ["name = \"agent-memory\"", "name = \"koding\"", "name = \"serena\""], "{text}");
    assert_eq!(home.run_bare(&["list"]), "agent-memory/a\nkoding/style\nserena/arch\n");
}

#[test]
fn every_installation_has_its_receipt_and_is_removed_completely() {
    let home = Home::new();
    let hosts = ["claude-code", "codex", "gemini", "cursor", "vscode", "zed", "windsurf", "opencode"];
    let before = files_below(&home.path(""));
    all_succeed(&at_once(hosts.iter().map(|host| home.bare(&["install", host])).collect()));
    let receipts: Value = serde_json::from_str(&fs::read_to_string(home.path("home/installed.json")).unwrap()).unwrap();
    let mut installed: Vec<&str> = receipts["installed"].as_array().unwrap().iter().map(|one| one["host"].as_str().unwrap()).collect();
    installed.sort_unstable();
    let mut expected = hosts.to_vec();
    expected.sort_unstable();
    assert_eq!(installed, expected);
    all_succeed(&at_once(hosts.iter().map(|host| home.bare(&["uninstall", host])).collect()));
    let left: Vec<String> = files_below(&home.path("")).into_iter().filter(|file| !file.starts_with("home/")).collect();
    assert_eq!(left, before);
}

/// Every command records its project, and must not write an older record over the link to an adopted memory.
#[test]
fn an_adopted_project_stays_adopted_while_other_commands_record_the_project() {
    let home = Home::new();
    repository(&home, "shop");
    repository(&home, "other");
    let in_dir = |dir: &str, args: &[&str]| {
        let mut command = home.bare(args);
        command.current_dir(home.path(dir));
        command
    };
    in_dir("other", &["write", "theirs", "x"]).output().unwrap();
    in_dir("shop", &["write", "mine", "x"]).output().unwrap();
    let id = |dir: &str| -> String {
        let output = in_dir(dir, &["where", "--json"]).output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["project"].as_str().unwrap().to_owned()
    };
    let (own, other) = (id("shop"), id("other"));
    for round in 0..6 {
        let (wanted, args) = if round % 2 == 0 { (&other, vec!["projects", "adopt", &other]) } else { (&own, vec!["projects", "adopt"]) };
        // A newer git configuration makes every command write the record again.
        let mut config = fs::OpenOptions::new().append(true).open(home.path("shop/.git/config")).unwrap();
        config.write_all(format!("[remote \"r{round}\"]\n\turl = https://example.com/{round}.git\n").as_bytes()).unwrap();
        let mut commands: Vec<Command> = (0..6).map(|_| in_dir("shop", &["list"])).collect();
        commands.insert(3, in_dir("shop", &args));
        all_succeed(&at_once(commands));
        assert_eq!(&id("shop"), wanted, "round {round}");
    }
}

#[test]
fn every_load_of_the_prompt_is_counted_while_old_ones_are_dropped() {
    let home = Home::new();
    home.ok(&["write", "a", "x"]);
    let line = format!("{}\n", json!({ "space": "other", "mode": "individual", "filler": "x".repeat(900) }));
    fs::write(home.path("home/loads.jsonl"), line.repeat((2 << 20) / line.len() + 2)).unwrap();
    all_succeed(&at_once((0..12).map(|_| home.command(&["prompt"])).collect()));
    let counted = home.json(&["stats", "--loads"]);
    assert_eq!(counted["modes"]["individual"]["loads"], 12, "{counted}");
}

/// Whether a process waits for a lock; `false` if it ends without waiting.
#[cfg(target_os = "linux")]
fn waits_for_a_lock(child: &mut Child) -> bool {
    let waiter = regex::Regex::new(&format!(r"-> FLOCK +\w+ +\w+ {} ", child.id())).unwrap();
    loop {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        if waiter.is_match(&fs::read_to_string("/proc/locks").unwrap()) {
            return true;
        }
        std::thread::yield_now();
    }
}

/// A command that changes a file waits until no other process does, and then decides by what the file contains.
#[cfg(target_os = "linux")]
#[test]
fn a_command_waits_for_the_lock_of_the_file_it_changes() {
    let home = Home::new();
    fs::create_dir_all(home.path(".koding/memory")).unwrap();
    fs::write(home.path(".koding/memory/style.md"), "x\n").unwrap();
    home.bare(&["write", "a", "x"]).output().unwrap();
    home.bare(&["token", "add", "ada"]).output().unwrap();
    home.bare(&["install", "cursor"]).output().unwrap();
    let (token, project) = (token_ids(&home).remove(0), json_of(&home, &["where"])["project"].as_str().unwrap().to_owned());
    for (lock, args) in [
        ("config", &["token", "add", "bob"][..]),
        ("config", &["token", "revoke", &token]),
        ("config", &["chats", "on"]),
        ("config", &["chats", "off", "--host", "codex"]),
        ("config", &["adopt", "koding"]),
        ("config", &["config", "set", "log", "true"]),
        ("config", &["config", "unset", "log"]),
        ("installed", &["install", "codex"]),
        ("installed", &["uninstall", "cursor"]),
        ("installed", &["adopt", "--as-auto-memory"]),
        ("installed", &["adopt", "--to-codex"]),
        ("projects", &["projects", "adopt"]),
        ("projects", &["projects", "rename", &project, "shop"]),
    ] {
        let held = fs::File::create(home.path(&format!("home/{lock}.lock"))).unwrap();
        held.lock().unwrap();
        let mut command = home.bare(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        assert!(waits_for_a_lock(&mut child), "{args:?}: {:?}", child.wait_with_output());
        drop(held);
        all_succeed(&[child.wait_with_output().unwrap()]);
    }
    let mut config: toml_edit::DocumentMut = fs::read_to_string(home.path("home/config.toml")).unwrap().parse().unwrap();
    assert_eq!(config["tokens"].as_array_of_tables().unwrap().len(), 1);

    // What changed while a command waited counts: the other process adopts the same memory, and revokes the same token.
    let held = fs::File::create(home.path("home/config.lock")).unwrap();
    held.lock().unwrap();
    config.remove("mounts");
    fs::write(home.path("home/config.toml"), config.to_string()).unwrap();
    let spawn = |args: &[&str]| home.bare(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut children = [spawn(&["adopt", "koding"]), spawn(&["token", "revoke", &token_ids(&home)[0]])];
    assert!(children.iter_mut().all(waits_for_a_lock));
    fs::write(home.path("home/config.toml"), "[[mounts]]\nname = \"koding\"\npath = \"~/.koding/memory\"\naccess = \"read-only\"\n")
        .unwrap();
    drop(held);
    let [adopted, revoked] = children.map(|child| child.wait_with_output().unwrap());
    assert!(String::from_utf8_lossy(&adopted.stdout).contains("already mounted"), "{adopted:?}");
    assert_eq!(revoked.status.code(), Some(2), "{revoked:?}");
    assert!(String::from_utf8_lossy(&revoked.stderr).contains("not found"), "{revoked:?}");
    assert_eq!(home.run_bare(&["list", "koding"]), "koding/style\n");
}
