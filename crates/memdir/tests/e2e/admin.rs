//! `memdir admin`: the schema, tenants, people, groups, projects and tokens of a team server.

use crate::{home::Home, team_server::TeamDatabase};
use insta::assert_snapshot;

#[test]
fn a_team_is_set_up_from_nothing() {
    let Some(team) = TeamDatabase::empty() else { return };
    let home = Home::new();
    let run = |args: &[&str]| {
        let mut command = home.bare(&[&["admin"], args].concat());
        let printed = home.tell(args, command.env("DATABASE_URL", &team.url).output().unwrap());
        let printed = regex::Regex::new(r"mdt_[0-9a-f]{64}-[0-9a-f]+").unwrap().replace_all(&printed, "[TOKEN]").into_owned();
        regex::Regex::new(r"\b[0-9a-f]{12}\b").unwrap().replace_all(&printed, "[TOKENID]   ").into_owned()
    };
    assert_snapshot!(run(&["tenant", "add", "acme"]), @"");
    assert_snapshot!(run(&["migrate"]), @"");
    assert_snapshot!(run(&["migrate"]), @"");
    assert_snapshot!(run(&["tenant", "list"]), @"");
    assert_snapshot!(run(&["tenant", "add", "acme"]), @"");
    assert_snapshot!(run(&["tenant", "add", "acme"]), @"");
    assert_snapshot!(run(&["tenant", "list"]), @"");
    assert_snapshot!(run(&["person", "add", "ada"]), @"");
    assert_snapshot!(run(&["person", "add", "ada", "--tenant", "acm"]), @"");
    assert_snapshot!(run(&["person", "add", "ada", "--tenant", "acme"]), @"");
    assert_snapshot!(run(&["person", "add", "ben", "--tenant", "acme", "--json"]), @"");
    assert_snapshot!(run(&["person", "add", "a/b", "--tenant", "acme"]), @"");
    assert_snapshot!(run(&["group", "add", "backend", "ada", "--role", "owner", "--tenant", "acme"]), @"");
    assert_snapshot!(run(&["group", "add", "backend", "ada", "--tenant", "acme"]), @"");
    assert_snapshot!(run(&["group", "add", "backend", "ben", "--role", "reader", "--tenant", "acme"]), @"");
    assert_snapshot!(run(&["group", "add", "backend", "cleo", "--tenant", "acme"]), @"");
    assert_snapshot!(run(&["project", "add", "shop", "--group", "frontend", "--tenant", "acme"]), @"");
    assert_snapshot!(run(&["project", "add", "shop", "--group", "backend", "--tenant", "acme"]), @"");
    assert_snapshot!(run(&["token", "add", "ada", "--tenant", "acme"]), @"");
    assert_snapshot!(run(&["token", "add", "ada", "--agent", "reviewer", "--tenant", "acme", "--json"]), @"");
    assert_snapshot!(run(&["person", "list", "--tenant", "acme"]), @"");
    assert_snapshot!(run(&["group", "list", "--tenant", "acme"]), @"");
    assert_snapshot!(run(&["group", "list", "--tenant", "acme", "--json"]), @"");
    assert_snapshot!(run(&["project", "list", "--tenant", "acme"]), @"");
    assert_snapshot!(run(&["token", "list", "--tenant", "acme"]), @"");
    assert_snapshot!(run(&["token", "remove", "nosuchtoken", "--tenant", "acme"]), @"");
    assert_snapshot!(run(&["group", "remove", "backend", "--tenant", "acme"]), @"");
    assert_snapshot!(run(&["group", "remove", "backend", "ben", "--tenant", "acme"]), @"");
    assert_snapshot!(run(&["project", "remove", "shop", "--tenant", "acme"]), @"");
    assert_snapshot!(run(&["person", "remove", "ada", "--tenant", "acme"]), @"");
    assert_snapshot!(run(&["token", "list", "--tenant", "acme"]), @"");
    assert_snapshot!(run(&["tenant", "remove", "acme"]), @"");
    assert_snapshot!(run(&["tenant", "remove", "acme"]), @"");
}

#[test]
fn the_memories_of_a_tenant_are_removed_only_on_request() {
    let Some(team) = TeamDatabase::new() else { return };
    let home = Home::new();
    let token = team.token("ada", memdir_postgres::MemberRole::Writer);
    let web = team.replica(&home, &[]);
    crate::team_server::call(&web, &token, "memory_write", serde_json::json!({ "path": "plan", "content": "x" }));
    let run = |args: &[&str]| home.tell(args, home.bare(&[&["admin"], args].concat()).env("DATABASE_URL", &team.url).output().unwrap());
    assert_snapshot!(run(&["tenant", "remove", "acme"]), @"");
    assert_snapshot!(run(&["tenant", "remove", "acme", "--with-memories"]), @"");
    let gone = crate::team_server::try_call(web.address, &token, "memory_read", &serde_json::json!({}));
    assert_eq!(gone, None);
}
