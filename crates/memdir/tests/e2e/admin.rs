//! `memdir admin`: the schema, tenants, people, groups, projects and tokens of a team server.

use crate::{
    home::Home,
    team_server::{TeamDatabase, call},
};
use insta::assert_snapshot;
use memdir_core::{Actor, FileEdit, Intent, MemoryPath, Role, Store as _, Verb};
use memdir_postgres::MemberRole;
use serde_json::json;

#[test]
fn a_team_is_set_up_from_nothing() {
    let Some(team) = TeamDatabase::empty() else { return };
    let home = Home::new();
    let run = |args: &[&str]| {
        let mut command = home.bare(&[&["admin"], args].concat());
        let printed = home.transcript(args, command.env("DATABASE_URL", &team.url).output().unwrap());
        let printed = regex::Regex::new(r"mdt_[0-9a-f]{64}-[0-9a-f]+").unwrap().replace_all(&printed, "[TOKEN]").into_owned();
        regex::Regex::new(r"\b[0-9a-f]{12}\b").unwrap().replace_all(&printed, "[TOKENID]   ").into_owned()
    };
    assert_snapshot!(run(&["tenant", "add", "acme"]), @"
    -- stderr
    error: the database: the memdir schema is missing; create it with: memdir admin migrate
    -- exit 3
    ");
    assert_snapshot!(run(&["migrate"]), @"applied 5 migrations");
    assert_snapshot!(run(&["migrate"]), @"unchanged: the schema is up to date");
    assert_snapshot!(run(&["tenant", "list"]), @"no tenants");
    assert_snapshot!(run(&["tenant", "add", "acme"]), @"added tenant acme");
    assert_snapshot!(run(&["tenant", "add", "acme"]), @"unchanged: tenant acme");
    assert_snapshot!(run(&["tenant", "list"]), @"acme");
    assert_snapshot!(run(&["person", "add", "ada"]), @"
    -- stderr
    error: missing option --tenant
    hint: pass --tenant NAME; list the tenants with: memdir admin tenant list
    -- exit 2
    ");
    assert_snapshot!(run(&["person", "add", "ada", "--tenant", "acm"]), @r#"
    -- stderr
    error: tenant "acm" not found
    hint: list the tenants with: memdir admin tenant list
    -- exit 1
    "#);
    assert_snapshot!(run(&["person", "add", "ada", "--tenant", "acme"]), @"added person ada");
    assert_snapshot!(run(&["person", "add", "ben", "--tenant", "acme", "--json"]), @r#"
    {
      "kind": "person",
      "name": "ben",
      "outcome": "added"
    }
    "#);
    assert_snapshot!(run(&["person", "add", "a/b", "--tenant", "acme"]), @r#"
    -- stderr
    error: invalid person: "a/b" is not a valid directory name; use letters, digits, `-` and `_`
    -- exit 2
    "#);
    assert_snapshot!(run(&["group", "add", "backend", "ada", "--role", "owner", "--tenant", "acme"]), @r#"
    -- stderr
    error: invalid role: "owner" is not one of reader, writer, reviewer, admin
    -- exit 2
    "#);
    assert_snapshot!(run(&["group", "add", "backend", "ada", "--tenant", "acme"]), @"added group backend");
    assert_snapshot!(run(&["group", "add", "backend", "ben", "--role", "reader", "--tenant", "acme"]), @"updated group backend");
    assert_snapshot!(run(&["group", "add", "backend", "cleo", "--tenant", "acme"]), @r#"
    -- stderr
    error: person "cleo" not found
    hint: add the person with: memdir admin person add cleo --tenant acme
    -- exit 1
    "#);
    assert_snapshot!(run(&["project", "add", "shop", "--group", "frontend", "--tenant", "acme"]), @r#"
    -- stderr
    error: group "frontend" not found
    hint: add the group with: memdir admin group add frontend --tenant acme
    -- exit 1
    "#);
    assert_snapshot!(run(&["project", "add", "shop", "--group", "backend", "--tenant", "acme"]), @"added project shop");
    assert_snapshot!(run(&["token", "add", "ada", "--tenant", "acme"]), @"
    [TOKEN]
    -- stderr
    note: ada's token is printed only once; to revoke it, run: memdir admin token remove [TOKENID]    --tenant acme
    ");
    assert_snapshot!(run(&["token", "add", "ada", "--agent", "reviewer", "--tenant", "acme", "--json"]), @r#"
    {
      "id": "[TOKENID]   ",
      "person": "ada",
      "agent": "reviewer",
      "tenant": "acme",
      "token": "[TOKEN]"
    }
    "#);
    assert_snapshot!(run(&["person", "list", "--tenant", "acme"]), @"
    person  groups
    ada     backend (writer)
    ben     backend (reader)
    ");
    assert_snapshot!(run(&["group", "list", "--tenant", "acme"]), @"
    group    members                     projects
    backend  ada (writer), ben (reader)  shop
    ");
    assert_snapshot!(run(&["group", "list", "--tenant", "acme", "--json"]), @r#"
    [
      {
        "group": "backend",
        "members": {
          "ada": "writer",
          "ben": "reader"
        },
        "projects": [
          "shop"
        ]
      }
    ]
    "#);
    assert_snapshot!(run(&["project", "list", "--tenant", "acme"]), @"
    project  group
    shop     backend
    ");
    assert_snapshot!(run(&["token", "list", "--tenant", "acme"]), @"
    id            person  agent
    [TOKENID]     ada     -
    [TOKENID]     ada     reviewer
    ");
    assert_snapshot!(run(&["token", "remove", "nosuchtoken", "--tenant", "acme"]), @r#"
    -- stderr
    error: token "nosuchtoken" not found
    hint: list the tokens with: memdir admin token list --tenant acme
    -- exit 1
    "#);
    assert_snapshot!(run(&["group", "remove", "backend", "--tenant", "acme"]), @r#"
    -- stderr
    error: group "backend" has projects: shop
    hint: remove or move the projects first, for example: memdir admin project remove shop --tenant acme
    -- exit 1
    "#);
    assert_snapshot!(run(&["group", "remove", "backend", "ben", "--tenant", "acme"]), @"removed member ben from group backend");
    assert_snapshot!(run(&["project", "remove", "shop", "--tenant", "acme"]), @"removed project shop");
    assert_snapshot!(run(&["tenant", "add", "two words"]), @"added tenant two words");
    assert_snapshot!(run(&["group", "add", "backend", "cleo", "--tenant", "two words"]), @r#"
    -- stderr
    error: person "cleo" not found
    hint: add the person with: memdir admin person add cleo --tenant 'two words'
    -- exit 1
    "#);
    assert_snapshot!(run(&["person", "remove", "ada", "--tenant", "acme"]), @"removed person ada");
    assert_snapshot!(run(&["token", "list", "--tenant", "acme"]), @"no tokens");
    assert_snapshot!(run(&["tenant", "remove", "acme"]), @"removed tenant acme");
    assert_snapshot!(run(&["tenant", "remove", "acme"]), @r#"
    -- stderr
    error: tenant "acme" not found
    hint: list the tenants with: memdir admin tenant list
    -- exit 1
    "#);
}

#[test]
fn the_memories_of_a_tenant_are_removed_only_on_request() {
    let Some(team) = TeamDatabase::new() else { return };
    let home = Home::new();
    let token = team.token("ada", MemberRole::Writer);
    let web = team.replica(&home, &[]);
    call(&web, &token, "memory_write", json!({ "path": "plan", "content": "x" }));
    let run =
        |args: &[&str]| home.transcript(args, home.bare(&[&["admin"], args].concat()).env("DATABASE_URL", &team.url).output().unwrap());
    assert_snapshot!(run(&["tenant", "remove", "acme"]), @r#"
    -- stderr
    error: tenant "acme" has memories
    hint: nothing was removed; to remove the tenant and its memories permanently, add --with-memories
    -- exit 1
    "#);
    assert_snapshot!(run(&["tenant", "remove", "acme", "--with-memories"]), @"removed tenant acme");
    let gone = crate::team_server::try_call(web.address, &token, "memory_read", &json!({}));
    assert_eq!(gone, None);
}

/// The names of the index directories on a machine.
fn indexes(home: &Home) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(home.path(".cache/memdir/index")) else { return Vec::new() };
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn indexes_are_built_again_and_removed_with_their_namespaces() {
    let Some(team) = TeamDatabase::new() else { return };
    let home = Home::new();
    let people = ["ada", "ben"].map(|person| (person, team.token(person, MemberRole::Writer)));
    let run =
        |args: &[&str]| home.transcript(args, home.bare(&[&["admin"], args].concat()).env("DATABASE_URL", &team.url).output().unwrap());
    assert_snapshot!(run(&["reindex", "--tenant", "acme"]), @"indexed 0 memories in 0 namespaces of tenant acme");
    // An index of files on the same machine, which does not belong to a namespace.
    home.put("own.md", "about harbours\n");
    home.ok(&["index"]);
    let own = indexes(&home);
    assert_eq!(own.len(), 1);

    let web = team.replica(&home, &[]);
    let search = |token: &str| call(&web, token, "memory_search", json!({ "query": "lighthouse" }));
    for (person, token) in &people {
        // Enough memories that a search writes an index.
        let path = |n: usize| MemoryPath::parse(&format!("notes/m{n}.md")).unwrap();
        let text = |n: usize| format!("{}\n", if n == 7 { format!("The lighthouse of {person}.") } else { format!("Shelf {n}.") });
        let edit = |n: usize| FileEdit { path: path(n), bytes: Some(text(n).into()), role: Role::Memory };
        let intent = Intent {
            verb: Verb::Import,
            actor: Actor { name: (*person).into(), session: None },
            at: jiff::Timestamp::from_second(1_700_000_000).unwrap(),
            undoes: None,
            key: None,
        };
        let paths: Vec<MemoryPath> = (0..100).map(path).collect();
        let store = team.store(&format!("people/{person}"));
        store.change(&intent, &paths, &mut |_| Ok((0..100).map(edit).collect())).unwrap();
        assert!(search(token).contains(&format!("The lighthouse of {person}.")));
    }
    let before = indexes(&home);
    assert_eq!(before.len(), 3);
    assert_snapshot!(run(&["reindex", "--tenant", "acme"]), @"indexed 200 memories in 2 namespaces of tenant acme");
    assert_eq!(indexes(&home), before, "the indexes of the replica were built again, and no others");
    for (person, token) in &people {
        assert!(search(token).contains(&format!("The lighthouse of {person}.")), "a running replica goes on with them");
    }
    // Without any index, as after the loss of a disk.
    std::fs::remove_dir_all(home.path(".cache/memdir/index")).unwrap();
    assert_snapshot!(run(&["reindex", "--namespace", "people/ada", "--tenant", "acme"]), @"indexed 100 memories in 1 namespace of tenant acme");
    assert_eq!(indexes(&home).len(), 1);
    assert_snapshot!(run(&["reindex", "--namespace", "people/cleo", "--tenant", "acme"]), @r#"
    -- stderr
    error: namespace "people/cleo" not found
    hint: available namespaces: people/ada, people/ben
    -- exit 1
    "#);
    assert_snapshot!(run(&["reindex", "--tenant", "acme"]), @"indexed 200 memories in 2 namespaces of tenant acme");

    // Erased people leave no index behind.
    assert!(run(&["erase-person", "ada", "--yes", "--tenant", "acme"]).contains("erased the person"));
    assert_snapshot!(run(&["reindex", "--tenant", "acme"]), @"
    indexed 100 memories in 1 namespace of tenant acme
    removed 1 index whose namespace no longer exists
    ");
    assert_eq!(indexes(&home).len(), 1);
    // A replica removes them by itself.
    assert_snapshot!(run(&["tenant", "remove", "acme", "--with-memories"]), @"removed tenant acme");
    drop(web);
    home.ok(&["index"]);
    let _web = team.replica(&home, &[]);
    while indexes(&home) != own {
        std::thread::yield_now();
    }
}

#[test]
fn the_hint_of_an_unusable_database_depends_on_its_cause() {
    let home = Home::new();
    let hint = |url: &str| {
        let args = ["admin", "tenant", "list"];
        let printed = home.transcript(&args, home.bare(&args).env("DATABASE_URL", url).output().unwrap());
        printed.lines().find_map(|line| line.strip_prefix("hint: ")).unwrap_or(&printed).to_owned()
    };
    let unreachable = "check DATABASE_URL or --database, and make sure that PostgreSQL is running";
    assert_eq!(hint("postgres://ada@127.0.0.1:1/x"), unreachable);
    let Some(team) = TeamDatabase::empty() else { return };
    let refused = "check DATABASE_URL or --database, and the privileges of the database role";
    assert_eq!(hint(&regex::Regex::new(r"dbname=\S+").unwrap().replace(&team.url, "dbname=nosuch")), refused);
}
