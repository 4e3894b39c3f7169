//! Settings: options, the environment, `config.toml`.

use crate::home::{Home, files_below};
use insta::assert_snapshot;
use std::fs;

#[test]
fn the_settings_in_effect_are_shown_with_their_origin() {
    let home = Home::new();
    assert_snapshot!(home.run_narrow(&["config"]), @"
    setting  value  from
    home  [HOME]/home  MEMDIR_HOME
    dir  [HOME]/memory  MEMDIR_DIR
    project  none  default
    agent  none  default
    only  none  default
    actor  ada  USER
    config  [HOME]/home/config.toml  not found
    enabled  true  default
    worktrees  shared  default
    team  false  default
    log  false  default
    guidelines  none  default
    count_use  true  default
    secrets.allow  none  default
    secrets.allow_rules  none  default
    tokens  none  default
    oauth.issuer  none  default
    oauth.resource  none  default
    oauth.audiences  none  default
    oauth.read_scope  memdir:read  default
    oauth.write_scope  memdir:write  default
    oauth.person_claim  sub  default
    oauth.groups_claim  groups  default
    oauth.projects_claim  none  default
    oauth.tenant_claim  none  default
    oauth.tenant  none  default
    oauth.client_id  none  default
    oauth.client_secret_file  none  default
    oauth.groups  none  default
    [ID]  none  default
    mounts  none  default
    chats.on  false  default
    chats.hosts_off  none  default
    chats.projects_off  none  default
    chats.folders  none  default
    chats.keep_days  365  default
    chats.keep_bytes  1073741824  default
    hooks.left_off  true  default
    hooks.remind  false  default
    inbox.on  true  default
    inbox.ask  true  default
    inbox.without_chats  true  default
    inbox.remember  ask  default
    inbox.denied  ask  default
    inbox.repeat  ask  default
    inbox.scar  list  default
    inbox.reverted  list  default
    inbox.violated  list  default
    inbox.unused  list  default
    search.embedder  builtin  default
    search.url  none  default
    search.model  none  default
    search.dimensions  none  default
    search.key_file  none  default
    search.query_prefix  none  default
    search.passage_prefix  none  default
    dream.auto  false  default
    dream.hours  24  default
    dream.sessions  5  default
    dream.minutes  10  default
    dream.log_hours  48  default
    dream.log_sessions  8  default
    dream.model_seconds  300  default
    dream.model_cost  1.0  default
    memory.extraPaths  none  default

    mount  access  directory
    (root)  read-write  [HOME]/memory
    ");
    assert_snapshot!(home.run_narrow(&["config", "--dir", "../other", "--actor", "bob"]), @"
    setting  value  from
    home  [HOME]/home  MEMDIR_HOME
    dir  [HOME]/other  --dir
    project  none  default
    agent  none  default
    only  none  default
    actor  bob  --actor
    config  [HOME]/home/config.toml  not found
    enabled  true  default
    worktrees  shared  default
    team  false  default
    log  false  default
    guidelines  none  default
    count_use  true  default
    secrets.allow  none  default
    secrets.allow_rules  none  default
    tokens  none  default
    oauth.issuer  none  default
    oauth.resource  none  default
    oauth.audiences  none  default
    oauth.read_scope  memdir:read  default
    oauth.write_scope  memdir:write  default
    oauth.person_claim  sub  default
    oauth.groups_claim  groups  default
    oauth.projects_claim  none  default
    oauth.tenant_claim  none  default
    oauth.tenant  none  default
    oauth.client_id  none  default
    oauth.client_secret_file  none  default
    oauth.groups  none  default
    [ID]  none  default
    mounts  none  default
    chats.on  false  default
    chats.hosts_off  none  default
    chats.projects_off  none  default
    chats.folders  none  default
    chats.keep_days  365  default
    chats.keep_bytes  1073741824  default
    hooks.left_off  true  default
    hooks.remind  false  default
    inbox.on  true  default
    inbox.ask  true  default
    inbox.without_chats  true  default
    inbox.remember  ask  default
    inbox.denied  ask  default
    inbox.repeat  ask  default
    inbox.scar  list  default
    inbox.reverted  list  default
    inbox.violated  list  default
    inbox.unused  list  default
    search.embedder  builtin  default
    search.url  none  default
    search.model  none  default
    search.dimensions  none  default
    search.key_file  none  default
    search.query_prefix  none  default
    search.passage_prefix  none  default
    dream.auto  false  default
    dream.hours  24  default
    dream.sessions  5  default
    dream.minutes  10  default
    dream.log_hours  48  default
    dream.log_sessions  8  default
    dream.model_seconds  300  default
    dream.model_cost  1.0  default
    memory.extraPaths  none  default

    mount  access  directory
    (root)  read-write  [HOME]/other
    ");
    assert_snapshot!(home.run(&["config", "--json"]), @r#"
    {
      "settings": [
        {
          "name": "home",
          "value": "[HOME]/home",
          "from": "MEMDIR_HOME"
        },
        {
          "name": "dir",
          "value": "[HOME]/memory",
          "from": "MEMDIR_DIR"
        },
        {
          "name": "project",
          "value": "none",
          "from": "default"
        },
        {
          "name": "agent",
          "value": "none",
          "from": "default"
        },
        {
          "name": "only",
          "value": "none",
          "from": "default"
        },
        {
          "name": "actor",
          "value": "ada",
          "from": "USER"
        },
        {
          "name": "config",
          "value": "[HOME]/home/config.toml",
          "from": "not found"
        },
        {
          "name": "enabled",
          "value": "true",
          "from": "default"
        },
        {
          "name": "worktrees",
          "value": "shared",
          "from": "default"
        },
        {
          "name": "team",
          "value": "false",
          "from": "default"
        },
        {
          "name": "log",
          "value": "false",
          "from": "default"
        },
        {
          "name": "guidelines",
          "value": "none",
          "from": "default"
        },
        {
          "name": "count_use",
          "value": "true",
          "from": "default"
        },
        {
          "name": "secrets.allow",
          "value": "none",
          "from": "default"
        },
        {
          "name": "secrets.allow_rules",
          "value": "none",
          "from": "default"
        },
        {
          "name": "tokens",
          "value": "none",
          "from": "default"
        },
        {
          "name": "oauth.issuer",
          "value": "none",
          "from": "default"
        },
        {
          "name": "oauth.resource",
          "value": "none",
          "from": "default"
        },
        {
          "name": "oauth.audiences",
          "value": "none",
          "from": "default"
        },
        {
          "name": "oauth.read_scope",
          "value": "memdir:read",
          "from": "default"
        },
        {
          "name": "oauth.write_scope",
          "value": "memdir:write",
          "from": "default"
        },
        {
          "name": "oauth.person_claim",
          "value": "sub",
          "from": "default"
        },
        {
          "name": "oauth.groups_claim",
          "value": "groups",
          "from": "default"
        },
        {
          "name": "oauth.projects_claim",
          "value": "none",
          "from": "default"
        },
        {
          "name": "oauth.tenant_claim",
          "value": "none",
          "from": "default"
        },
        {
          "name": "oauth.tenant",
          "value": "none",
          "from": "default"
        },
        {
          "name": "oauth.client_id",
          "value": "none",
          "from": "default"
        },
        {
          "name": "oauth.client_secret_file",
          "value": "none",
          "from": "default"
        },
        {
          "name": "oauth.groups",
          "value": "none",
          "from": "default"
        },
        {
          "name": "projects",
          "value": "none",
          "from": "default"
        },
        {
          "name": "mounts",
          "value": "none",
          "from": "default"
        },
        {
          "name": "chats.on",
          "value": "false",
          "from": "default"
        },
        {
          "name": "chats.hosts_off",
          "value": "none",
          "from": "default"
        },
        {
          "name": "chats.projects_off",
          "value": "none",
          "from": "default"
        },
        {
          "name": "chats.folders",
          "value": "none",
          "from": "default"
        },
        {
          "name": "chats.keep_days",
          "value": "365",
          "from": "default"
        },
        {
          "name": "chats.keep_bytes",
          "value": "1073741824",
          "from": "default"
        },
        {
          "name": "hooks.left_off",
          "value": "true",
          "from": "default"
        },
        {
          "name": "hooks.remind",
          "value": "false",
          "from": "default"
        },
        {
          "name": "inbox.on",
          "value": "true",
          "from": "default"
        },
        {
          "name": "inbox.ask",
          "value": "true",
          "from": "default"
        },
        {
          "name": "inbox.without_chats",
          "value": "true",
          "from": "default"
        },
        {
          "name": "inbox.remember",
          "value": "ask",
          "from": "default"
        },
        {
          "name": "inbox.denied",
          "value": "ask",
          "from": "default"
        },
        {
          "name": "inbox.repeat",
          "value": "ask",
          "from": "default"
        },
        {
          "name": "inbox.scar",
          "value": "list",
          "from": "default"
        },
        {
          "name": "inbox.reverted",
          "value": "list",
          "from": "default"
        },
        {
          "name": "inbox.violated",
          "value": "list",
          "from": "default"
        },
        {
          "name": "inbox.unused",
          "value": "list",
          "from": "default"
        },
        {
          "name": "search.embedder",
          "value": "builtin",
          "from": "default"
        },
        {
          "name": "search.url",
          "value": "none",
          "from": "default"
        },
        {
          "name": "search.model",
          "value": "none",
          "from": "default"
        },
        {
          "name": "search.dimensions",
          "value": "none",
          "from": "default"
        },
        {
          "name": "search.key_file",
          "value": "none",
          "from": "default"
        },
        {
          "name": "search.query_prefix",
          "value": "none",
          "from": "default"
        },
        {
          "name": "search.passage_prefix",
          "value": "none",
          "from": "default"
        },
        {
          "name": "dream.auto",
          "value": "false",
          "from": "default"
        },
        {
          "name": "dream.hours",
          "value": "24",
          "from": "default"
        },
        {
          "name": "dream.sessions",
          "value": "5",
          "from": "default"
        },
        {
          "name": "dream.minutes",
          "value": "10",
          "from": "default"
        },
        {
          "name": "dream.log_hours",
          "value": "48",
          "from": "default"
        },
        {
          "name": "dream.log_sessions",
          "value": "8",
          "from": "default"
        },
        {
          "name": "dream.model_seconds",
          "value": "300",
          "from": "default"
        },
        {
          "name": "dream.model_cost",
          "value": "1.0",
          "from": "default"
        },
        {
          "name": "memory.extraPaths",
          "value": "none",
          "from": "default"
        }
      ],
      "mounts": [
        {
          "name": "",
          "path": "[HOME]/memory",
          "access": "read-write",
          "source": "memory",
          "entrypoint": "kept",
          "journal": "[HOME]/home/journal/memory-[HASH]"
        }
      ]
    }
    "#);
}

#[test]
fn tilde_and_variables_are_expanded_in_every_path() {
    let home = Home::new();
    home.configure(
        "[[mounts]]\nname = \"notes\"\npath = \"~/notes\"\n[[mounts]]\nname = \"work\"\npath = \"${WORK}/w\"\njournal = \"~/j\"\n",
    );
    let write = |name: &str| home.bare(&["write", name, "x"]).env("WORK", home.path("srv")).output().unwrap();
    assert!(write("notes/a").status.success());
    assert!(write("work/b").status.success());
    assert_eq!(files_below(&home.path("notes")), ["MEMORY.md", "a.md"]);
    assert_eq!(files_below(&home.path("srv")), ["w/MEMORY.md", "w/b.md"]);
    assert!(home.path("j/changes.log").is_file());
    fs::create_dir(home.path("named")).unwrap();
    let output = home.bare(&["write", "c", "x", "--dir", "~/${WORK}"]).env("WORK", "named").output().unwrap();
    assert!(output.status.success());
    assert_eq!(files_below(&home.path("named")), ["MEMORY.md", "c.md"]);
    assert_snapshot!(home.run_bare(&["list"]), @r#"
    -- stderr
    error: [HOME]/home/config.toml:6:8: "${WORK}/w": environment variable WORK is unset or empty
    hint: fix the line with: memdir config edit
    -- exit 3
    "#);
}

#[test]
fn an_invalid_file_is_an_error_with_line_and_hint() {
    let home = Home::new();
    home.configure("[[mounts]]\nname = \"a\"\npath = 7\n");
    assert_snapshot!(home.run(&["list"]), @"
    -- stderr
    error: [HOME]/home/config.toml:3:8: invalid type: integer `7`, expected a string
    hint: fix the line with: memdir config edit
    -- exit 3
    ");
    assert_snapshot!(home.run(&["list", "--json"]), @r#"
    {
      "error": {
        "code": "settings",
        "message": "[HOME]/home/config.toml:3:8: invalid type: integer `7`, expected a string",
        "hint": "fix the line with: memdir config edit"
      }
    }
    -- exit 3
    "#);
    home.configure("[[mounts]]\nname = \"a\"\npath = \"../a\"\nacess = \"read-only\"\n");
    assert_snapshot!(home.run(&["list"]), @"
    -- stderr
    note: [HOME]/home/config.toml:4:1: unknown setting `mounts.acess`; did you mean `mounts.access`?
    ");
    home.configure("[[mounts]]\nname = \"a\"\npath = \"../a\"\nignored = [\"(\"]\n");
    assert_snapshot!(home.run_bare(&["list"]), @r#"
    -- stderr
    error: invalid ignored pattern: "(": Parsing error at position 7: Opening parenthesis without closing parenthesis
    hint: edit [HOME]/home/config.toml; `memdir config` shows the settings in effect
    -- exit 3
    "#);
    home.configure("[[mounts]]\nname = \"a\"\npath = \"../a\"\n[[mounts]]\nname = \"b\"\npath = \"../a/b\"\n");
    assert_snapshot!(home.run_bare(&["list"]), @"
    -- stderr
    error: invalid mounts: [HOME]/a/b is inside [HOME]/a; mount only one of them
    hint: edit [HOME]/home/config.toml; `memdir config` shows the settings in effect
    -- exit 3
    ");
}

#[test]
fn extra_paths_are_read_and_never_written() {
    let home = Home::new();
    fs::create_dir_all(home.path("docs/deep")).unwrap();
    fs::write(home.path("docs/one.md"), "One.\n").unwrap();
    fs::write(home.path("docs/deep/two.md"), "Two.\n").unwrap();
    fs::write(home.path("docs/deep/code.rs"), "fn main() {}\n").unwrap();
    fs::write(home.path("CLAUDE.md"), "Instructions.\n").unwrap();
    home.configure("memory.extraPaths = [\"~/docs\", \"~/CLAUDE.md\", \"~/docs/**/*.md\", \"~/none\"]\n");
    assert_snapshot!(home.run_bare(&["list"]), @"
    CLAUDE/CLAUDE
    docs-2/deep/two
    docs-2/one
    docs/deep/code.rs
    docs/deep/two
    docs/one
    -- stderr
    note: memory.extraPaths: [HOME]/none does not exist; correct the setting with: memdir config edit
    ");
    assert_snapshot!(home.run_bare(&["read", "CLAUDE/CLAUDE"]), @"
    Instructions.
    -- stderr
    note: memory.extraPaths: [HOME]/none does not exist; correct the setting with: memdir config edit
    ");
    assert_snapshot!(home.run_bare(&["write", "docs/three", "x"]), @r#"
    -- stderr
    error: cannot write "docs/three": its mount "[HOME]/docs" is read-only
    hint: use a name in a writable mount; list the mounts with: memdir where
    -- exit 3
    "#);
    assert_eq!(files_below(&home.path("docs")), ["deep/code.rs", "deep/two.md", "one.md"]);
}

#[test]
fn a_directory_inside_a_mount_is_guarded_by_the_mounts_lock() {
    let home = Home::new();
    home.configure("[[mounts]]\nname = \"notes\"\npath = \"../notes\"\nread_only = [\"fixed\"]\n");
    fs::create_dir_all(home.path("notes/deep")).unwrap();
    fs::write(home.path("notes/fixed.md"), "x").unwrap();
    let inside: serde_json::Value =
        serde_json::from_slice(&home.bare(&["config", "--json", "--dir", "../notes/deep"]).output().unwrap().stdout).unwrap();
    assert_eq!(inside["mounts"][0]["lock"].as_str(), home.path("notes").to_str());
    // While another process holds the lock of the mount, a write to the directory inside waits.
    let lock = fs::File::open(home.path("notes")).unwrap();
    lock.lock().unwrap();
    let mut child = home.bare(&["write", "a", "x", "--dir", "../notes/deep"]).stdout(std::process::Stdio::null()).spawn().unwrap();
    let waiting = format!(" {} ", child.id());
    while !fs::read_to_string("/proc/locks").unwrap().lines().any(|line| line.contains("->") && line.contains(&waiting)) {
        assert!(child.try_wait().unwrap().is_none(), "it did not wait for the lock");
        std::thread::yield_now();
    }
    assert!(!home.path("notes/deep/a.md").exists());
    drop(lock);
    assert!(child.wait().unwrap().success());
    assert!(home.path("notes/deep/a.md").exists());
    // The mount keeps its rules when it is used with --dir.
    assert_snapshot!(home.run_bare(&["write", "fixed", "y", "--replace", "--dir", "../notes"]), @r#"
    -- stderr
    error: cannot write "fixed": a read-only pattern matches its name
    hint: use another name, or change `read_only` in the settings of the mount: see `memdir where`
    -- exit 3
    "#);
}

#[test]
fn one_file_as_extra_path_does_not_mount_its_directory() {
    let home = Home::new();
    fs::create_dir_all(home.path("large/deep")).unwrap();
    fs::write(home.path("large/CLAUDE.md"), "Instructions.\n").unwrap();
    fs::write(home.path("large/deep/CLAUDE.md"), "Not these.\n").unwrap();
    std::os::unix::fs::symlink("/etc", home.path("large/link")).unwrap();
    home.configure("memory.extraPaths = [\"~/large/CLAUDE.md\"]\n");
    assert_eq!(home.run_bare(&["list"]), "CLAUDE/CLAUDE\n");
    assert_snapshot!(home.run_bare(&["read", "CLAUDE/deep/CLAUDE"]), @r#"
    -- stderr
    error: memory "CLAUDE/deep/CLAUDE" not found
    hint: did you mean "CLAUDE/CLAUDE"?
    -- exit 1
    "#);
}

#[test]
fn a_home_must_be_separate_and_reading_does_not_create_it() {
    let home = Home::new();
    let printed = |value: &std::path::Path, args: &[&str]| {
        let output = home.bare(args).env("MEMDIR_HOME", value).output().unwrap();
        home.transcript(args, output)
    };
    assert_snapshot!(printed(&home.path(""), &["list"]), @"
    -- stderr
    error: MEMDIR_HOME: [HOME] is your home directory
    hint: use a separate directory such as ~/.memdir
    -- exit 3
    ");
    assert_snapshot!(printed(std::path::Path::new("/"), &["list"]), @"
    -- stderr
    error: MEMDIR_HOME: / is the root of the file system
    hint: use a separate directory such as ~/.memdir
    -- exit 3
    ");
    assert_snapshot!(home.run_bare(&["--home", "/", "where"]), @"
    -- stderr
    error: --home: / is the root of the file system
    hint: use a separate directory such as ~/.memdir
    -- exit 3
    ");
    for args in [&["list"][..], &["where"], &["search", "x"], &["recall", "x y z"], &["stats"], &["check"], &["history"]] {
        printed(&home.path("none/yet"), args);
        assert!(!home.path("none").exists(), "{args:?} made a home");
    }
    printed(&home.path("none/yet"), &["write", "a", "A."]);
    printed(&home.path("none/yet"), &["list"]);
    assert!(home.path("none/yet/projects").is_dir());
}

#[test]
fn every_setting_is_shown_with_its_value_and_origin() {
    let home = Home::new();
    home.configure(
        "team = true\nguidelines = \"Write French.\"\nchats.hosts_off = [\"cursor\"]\n[[mounts]]\nname = \"notes\"\npath = \"~/notes\"\n",
    );
    let args = ["config", "--actor", "bob", "--only", "notes"];
    let mut command = home.bare(&args);
    command
        .env("MEMDIR_DISABLE", "0")
        .env("MEMDIR_EXTRA_GUIDELINES", "Be brief.")
        .env("MEMDIR_PROJECT", "shop")
        .env("MEMDIR_AGENT", "scout");
    let printed = home.transcript(&args, command.output().unwrap());
    let printed = regex::Regex::new(" {2,}").unwrap().replace_all(&printed, "  ").into_owned();
    assert_snapshot!(printed, @r#"
    setting  value  from
    home  [HOME]/home  MEMDIR_HOME
    dir  none  default
    project  shop  MEMDIR_PROJECT
    agent  scout  MEMDIR_AGENT
    only  notes  --only
    actor  bob  --actor
    config  [HOME]/home/config.toml  read
    enabled  true  MEMDIR_DISABLE
    worktrees  shared  default
    team  true  [HOME]/home/config.toml
    log  false  default
    guidelines  Write French. Be brief.  [HOME]/home/config.toml and environment variables
    count_use  true  default
    secrets.allow  none  default
    secrets.allow_rules  none  default
    tokens  none  default
    oauth.issuer  none  default
    oauth.resource  none  default
    oauth.audiences  none  default
    oauth.read_scope  memdir:read  default
    oauth.write_scope  memdir:write  default
    oauth.person_claim  sub  default
    oauth.groups_claim  groups  default
    oauth.projects_claim  none  default
    oauth.tenant_claim  none  default
    oauth.tenant  none  default
    oauth.client_id  none  default
    oauth.client_secret_file  none  default
    oauth.groups  none  default
    [ID]  none  default
    mounts  1 entry  [HOME]/home/config.toml
    chats.on  false  default
    chats.hosts_off  ["cursor"]  [HOME]/home/config.toml
    chats.projects_off  none  default
    chats.folders  none  default
    chats.keep_days  365  default
    chats.keep_bytes  1073741824  default
    hooks.left_off  true  default
    hooks.remind  false  default
    inbox.on  true  default
    inbox.ask  true  default
    inbox.without_chats  true  default
    inbox.remember  ask  default
    inbox.denied  ask  default
    inbox.repeat  ask  default
    inbox.scar  list  default
    inbox.reverted  list  default
    inbox.violated  list  default
    inbox.unused  list  default
    search.embedder  builtin  default
    search.url  none  default
    search.model  none  default
    search.dimensions  none  default
    search.key_file  none  default
    search.query_prefix  none  default
    search.passage_prefix  none  default
    dream.auto  false  default
    dream.hours  24  default
    dream.sessions  5  default
    dream.minutes  10  default
    dream.log_hours  48  default
    dream.log_sessions  8  default
    dream.model_seconds  300  default
    dream.model_cost  1.0  default
    memory.extraPaths  none  default

    mount  access  directory
    notes/  read-write  [HOME]/notes
    "#);
}

#[test]
fn keys_are_set_and_removed_and_the_rest_of_the_file_stays() {
    let home = Home::new();
    assert_snapshot!(home.run(&["config", "set", "chats.keep_days", "90"]), @"set chats.keep_days = 90 in [HOME]/home/config.toml");
    home.configure("# mine\r\nteam = false # not yet\r\n\r\n[chats] # here\r\nkeep_days = 30 # a month\r\n");
    let text = || fs::read_to_string(home.path("home/config.toml")).unwrap();
    assert_snapshot!(home.run(&["config", "set", "chats.keep_days", "90"]), @"set chats.keep_days = 90 in [HOME]/home/config.toml");
    assert_snapshot!(home.run(&["config", "set", "team", "true"]), @"set team = true in [HOME]/home/config.toml");
    assert_snapshot!(home.run(&["config", "set", "team", "true"]), @"unchanged: team");
    assert_snapshot!(home.run(&["config", "set", "chats.hosts_off", "cursor", "codex"]), @r#"set chats.hosts_off = ["cursor", "codex"] in [HOME]/home/config.toml"#);
    assert_snapshot!(home.run(&["config", "set", "guidelines", "Write \"French\"."]), @r#"set guidelines = 'Write "French".' in [HOME]/home/config.toml"#);
    assert_snapshot!(home.run(&["config", "set", "search.embedder", "none", "--json"]), @r#"
    {
      "file": "[HOME]/home/config.toml",
      "key": "search.embedder",
      "value": "\"none\"",
      "changed": true
    }
    "#);
    assert_eq!(
        text(),
        "# mine\r\nteam = true # not yet\r\nguidelines = 'Write \"French\".'\r\n\r\n[chats] # here\r\nkeep_days = 90 # a month\r\n\
         hosts_off = [\"cursor\", \"codex\"]\r\n\r\n[search]\r\nembedder = \"none\"\r\n"
    );
    assert_snapshot!(home.run(&["config", "unset", "search.embedder"]), @"removed search.embedder from [HOME]/home/config.toml");
    assert_snapshot!(home.run(&["config", "unset", "search.embedder"]), @"unchanged: search.embedder");
    home.ok(&["config", "unset", "guidelines"]);
    home.ok(&["config", "unset", "chats.hosts_off"]);
    home.ok(&["config", "set", "chats.keep_days", "30"]);
    home.ok(&["config", "set", "team", "false"]);
    assert_eq!(text(), "# mine\r\nteam = false # not yet\r\n\r\n[chats] # here\r\nkeep_days = 30 # a month\r\n");
    assert_snapshot!(home.run(&["config", "set", "dream.model_cost", "0.5"]), @"set dream.model_cost = 0.5 in [HOME]/home/config.toml");
}

#[test]
fn an_invalid_key_or_value_changes_nothing() {
    let home = Home::new();
    let before = "[chats]\nkeep_days = 30\n";
    home.configure(before);
    assert_snapshot!(home.run(&["config", "set", "chats.keep_day", "90"]), @r#"
    -- stderr
    error: unknown setting "chats.keep_day"
    hint: did you mean "chats.keep_days"?
    -- exit 2
    "#);
    assert_snapshot!(home.run(&["config", "unset", "xyz"]), @r#"
    -- stderr
    error: unknown setting "xyz"
    hint: list the settings with: memdir config
    -- exit 2
    "#);
    assert_snapshot!(home.run(&["config", "set", "chats.keep_days", "ninety"]), @r#"
    -- stderr
    error: invalid value for chats.keep_days: "ninety"
    hint: chats.keep_days takes: whole number
    -- exit 2
    "#);
    for (key, value) in [
        ("dream.hours", "-1"),
        ("dream.hours", "9223372036854775807"),
        ("dream.sessions", "-1"),
        ("dream.minutes", "-1"),
        ("dream.log_hours", "-1"),
        ("dream.log_sessions", "100001"),
        ("dream.model_seconds", "0"),
        ("dream.model_cost", "-0.5"),
        ("chats.keep_days", "-1"),
        ("search.dimensions", "0"),
    ] {
        let printed = home.run(&["config", "set", key, value]);
        let message = format!("error: invalid value for {key}: {value} is not in the range ");
        assert!(printed.contains(&message) && printed.ends_with("-- exit 2\n"), "{printed}");
    }
    assert!(home.run(&["config", "set", "chats.keep_bytes", "-1"]).contains("invalid value for chats.keep_bytes: "));
    assert_snapshot!(home.run(&["config", "set", "chats.keep_days", "1.5"]), @r#"
    -- stderr
    error: invalid value for chats.keep_days: "1.5"
    hint: chats.keep_days takes: whole number
    -- exit 2
    "#);
    assert_snapshot!(home.run(&["config", "set", "chats.keep_bytes", "12345678901234567890"]), @"
    -- stderr
    error: invalid value for chats.keep_bytes: 12345678901234567890 is out of range
    hint: chats.keep_bytes takes: whole number
    -- exit 2
    ");
    assert_snapshot!(home.run(&["config", "set", "team", "yes"]), @r#"
    -- stderr
    error: invalid value for team: "yes"
    hint: team takes: true or false
    -- exit 2
    "#);
    assert_snapshot!(home.run(&["config", "set", "worktrees", "seperate"]), @"
    -- stderr
    error: invalid value for worktrees: unknown variant `seperate`, expected `shared` or `separate`
    hint: worktrees takes: shared or separate
    -- exit 2
    ");
    assert_snapshot!(home.run(&["config", "set", "chats.hosts_off", "emacs"]), @"
    -- stderr
    error: invalid value for chats.hosts_off: unknown host `emacs`, expected one of `claude-code`, `codex`, `gemini`, `opencode`, `openclaw`, `cursor`, `copilot-cli`, `folder`
    hint: chats.hosts_off takes: list of hosts
    -- exit 2
    ");
    assert_snapshot!(home.run(&["config", "set", "search.embedder", "ollama"]), @"
    -- stderr
    error: invalid value for search.embedder: an endpoint requires `search.url`, `search.model` and `search.dimensions`
    hint: to set it together with other settings, run: memdir config edit
    -- exit 2
    ");
    assert_snapshot!(home.run(&["config", "set", "oauth.issuer", "https://login.example.org"]), @"
    -- stderr
    error: invalid value for oauth.issuer: missing field `resource`
    hint: to set it together with other settings, run: memdir config edit
    -- exit 2
    ");
    assert_snapshot!(home.run(&["config", "set", "oauth.client_secret_file", "secret"]), @"
    -- stderr
    error: invalid value for oauth.client_secret_file: missing field `issuer`
    hint: to set it together with other settings, run: memdir config edit
    -- exit 2
    ");
    assert_snapshot!(home.run(&["config", "set", "secrets.allow", "("]), @r#"
    -- stderr
    error: invalid value for secrets.allow: secrets: "(": regex parse error:
        (
        ^
    error: unclosed group
    hint: secrets.allow takes: list of regular expressions
    -- exit 2
    "#);
    assert_snapshot!(home.run(&["config", "set", "guidelines", "two", "words"]), @"
    -- stderr
    error: invalid value for guidelines: expected one value
    hint: guidelines takes: string
    -- exit 2
    ");
    assert_snapshot!(home.run(&["config", "set", "mounts.path", "x"]), @r#"
    -- stderr
    error: "mounts.path" cannot be changed with `memdir config set` or `unset`
    hint: edit the settings file with: memdir config edit
    -- exit 2
    "#);
    assert_snapshot!(home.run(&["config", "set", "chats", "x"]), @r#"
    -- stderr
    error: "chats" is a group of settings
    hint: use the name of one setting, such as chats.on
    -- exit 2
    "#);
    assert_eq!(fs::read_to_string(home.path("home/config.toml")).unwrap(), before);
    home.configure("team = maybe\n");
    assert_snapshot!(home.run(&["config", "set", "log", "true"]), @"
    -- stderr
    error: [HOME]/home/config.toml: string values must be quoted, expected literal string
    hint: fix the syntax error with: memdir config edit
    -- exit 3
    ");
}

#[test]
fn the_file_is_edited_in_the_editor_and_an_invalid_text_is_kept() {
    let home = Home::new();
    let edit = |editor: &str, args: &[&str]| {
        home.transcript(args, home.command(args).env("EDITOR", editor).env("PATH", "/usr/bin:/bin").output().unwrap())
    };
    let text = || fs::read_to_string(home.path("home/config.toml")).unwrap();
    // An invalid file can be edited.
    home.configure("team = maybe\n");
    assert_snapshot!(edit("sed -i s/maybe/true/", &["config", "edit"]), @"saved [HOME]/home/config.toml");
    assert_eq!(text(), "team = true\n");
    assert_snapshot!(edit("true", &["config", "edit"]), @"unchanged: [HOME]/home/config.toml");
    assert_snapshot!(edit("sed -i s/true/7/", &["config", "edit"]), @"
    -- stderr
    error: [HOME]/home/config.toml:1:8: invalid type: integer `7`, expected a boolean
    hint: your text is in [HOME]/home/edits/config.toml; continue with: memdir config edit --draft [HOME]/home/edits/config.toml
    -- exit 3
    ");
    assert_snapshot!(edit("sed -i s/7/false/", &["config", "edit", "--draft", "../home/edits/config.toml", "--json"]), @r#"
    {
      "file": "[HOME]/home/config.toml",
      "changed": true
    }
    "#);
    assert_eq!((text(), files_below(&home.path("home/edits"))), ("team = false\n".into(), Vec::<String>::new()));
    // The file was changed while the editor was open.
    let changed = "sh -c 'echo log = true >> \"$1\"; echo enabled = true >> \"$MEMDIR_HOME/config.toml\"' x";
    assert_snapshot!(edit(changed, &["config", "edit"]), @"
    -- stderr
    error: cannot write [HOME]/home/config.toml: another program has just changed the file
    hint: your text is in [HOME]/home/edits/config.toml; continue with: memdir config edit --draft [HOME]/home/edits/config.toml
    -- exit 4
    ");
    assert_eq!(text(), "team = false\nenabled = true\n");
    assert_eq!(fs::read_to_string(home.path("home/edits/config.toml")).unwrap(), "team = false\nlog = true\n");
}

#[test]
fn twenty_processes_set_twenty_keys() {
    let home = Home::new();
    home.configure("# mine\n");
    let keys = ["team", "log", "enabled", "hooks.remind", "chats.on"];
    let start = |n: usize| {
        let value = if n.is_multiple_of(2) { "true" } else { "false" };
        home.bare(&["config", "set", keys[n % 5], value]).stdout(std::process::Stdio::null()).spawn().unwrap()
    };
    let children: Vec<_> = (0..20).map(start).collect();
    assert!(children.into_iter().all(|mut child| child.wait().unwrap().success()));
    let text = fs::read_to_string(home.path("home/config.toml")).unwrap();
    assert!(text.starts_with("# mine\n") || text.contains("\n# mine\n"), "{text}");
    assert_eq!(keys.iter().filter(|key| text.contains(&format!("{} = ", key.rsplit('.').next().unwrap()))).count(), 5, "{text}");
}

#[test]
fn a_setting_that_another_one_requires_is_not_removed() {
    let home = Home::new();
    let endpoint = "[search]\nembedder = \"ollama\"\nurl = \"http://localhost:11434\"\nmodel = \"m\"\ndimensions = 8\n";
    home.configure(endpoint);
    assert_snapshot!(home.run(&["config", "unset", "search.url"]), @"
    -- stderr
    error: cannot remove search.url: an endpoint requires `search.url`, `search.model` and `search.dimensions`
    hint: other settings require it; to remove them together, run: memdir config edit
    -- exit 2
    ");
    assert_eq!(fs::read_to_string(home.path("home/config.toml")).unwrap(), endpoint);
    // A file that is invalid is repaired key by key.
    home.configure("team = 1\n[dream]\nhours = -1\n");
    assert_snapshot!(home.run(&["config", "unset", "dream.hours"]), @"removed dream.hours from [HOME]/home/config.toml");
    assert_snapshot!(home.run(&["config", "unset", "team"]), @"removed team from [HOME]/home/config.toml");
}
