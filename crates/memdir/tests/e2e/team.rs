//! `memdir serve` on two replicas: any replica answers any request, and both see every acknowledged change at once.

use crate::{
    home::Home,
    mcp_clients,
    rest::Api,
    talk::HANDSHAKES,
    team_server::{TENANT, TeamDatabase, call, query, refused},
    web::Web,
};
use insta::assert_snapshot;
use memdir_core::{FileEdit, Intent, MemoryPath, Role, Store as _, Verb};
use memdir_postgres::MemberRole;
use serde_json::{Value, json};
use std::{
    io::Write as _,
    net::{SocketAddr, TcpListener, TcpStream},
    process::Stdio,
};

#[test]
fn what_one_replica_saves_the_other_finds_reads_and_undoes_at_once() {
    let Some(team) = TeamDatabase::new() else { return };
    let token = team.token("ada", MemberRole::Writer);
    let homes = [Home::new(), Home::new()];
    let replicas = homes.each_ref().map(|home| team.replica(home, &[]));
    for round in 0..4 {
        let (here, there) = (&replicas[round % 2], &replicas[(round + 1) % 2]);
        let (name, word) = (format!("notes/pump-{round}"), format!("turbine{round}"));
        let saved = call(here, &token, "memory_write", json!({ "path": name, "content": format!("The {word} pumps water uphill.") }));
        assert!(saved.starts_with("Saved"), "{saved}");
        let found = call(there, &token, "memory_search", json!({ "query": word }));
        assert!(found.contains(&format!("{name}.md")), "{found}");
        let read = call(there, &token, "memory_read", json!({ "path": name }));
        assert!(read.contains(&word), "{read}");
        call(there, &token, "memory_edit", json!({ "path": name, "old": "uphill", "new": "sideways" }));
        let undone = call(here, &token, "memory_undo", json!({}));
        assert_eq!(undone, format!("Undid: edited {name}."), "the last change of the caller, made on the other replica");
        let read = call(there, &token, "memory_read", json!({ "path": name }));
        assert!(read.contains("uphill"), "{read}");
        call(here, &token, "memory_delete", json!({ "path": name }));
        let found = call(there, &token, "memory_search", json!({ "query": word }));
        assert!(!found.contains(&name), "{found}");
    }
    team.check_sequences();
}

#[test]
fn undo_means_the_last_change_of_the_caller_and_of_no_other() {
    let Some(team) = TeamDatabase::new() else { return };
    let [ada, ben] = ["ada", "ben"].map(|person| team.token(person, MemberRole::Writer));
    let agent = team.database().add_token(TENANT, "ada", Some("reviewer")).unwrap().1;
    let home = Home::new();
    let web = team.replica(&home, &[]);
    call(&web, &ada, "memory_write", json!({ "path": "first", "content": "By Ada." }));
    call(&web, &agent, "memory_write", json!({ "path": "second", "content": "By Ada's agent." }));
    call(&web, &ben, "memory_write", json!({ "path": "third", "content": "By Ben." }));
    assert_eq!(call(&web, &ada, "memory_undo", json!({})), "Undid: wrote first.");
    assert_eq!(call(&web, &agent, "memory_undo", json!({})), "Undid: wrote second.");
    assert_snapshot!(refused(&web, &agent, "memory_undo", json!({})), @"you have no changes to undo. Nothing was changed.");
    let unknown = refused(&web, &agent, "memory_undo", json!({ "change": "zzzzzzzz" }));
    assert_snapshot!(unknown, @r#"change "zzzzzzzz" not found. Use an id from the history, or one that a change returned."#);
    assert_eq!(call(&web, &ben, "memory_undo", json!({})), "Undid: wrote third.");
}

#[test]
fn a_reader_reads_and_a_revoked_token_ends_at_once_on_all_replicas() {
    let Some(team) = TeamDatabase::new() else { return };
    let writer = team.token("ada", MemberRole::Writer);
    let reader = team.token("ben", MemberRole::Reader);
    let homes = [Home::new(), Home::new()];
    let replicas = homes.each_ref().map(|home| team.replica(home, &[]));
    call(&replicas[0], &writer, "memory_write", json!({ "path": "plan", "content": "The canal opens in May." }));
    call(&replicas[0], &writer, "memory_write", json!({ "path": "team/rule", "content": "Locks are closed at night." }));
    for web in &replicas {
        assert!(call(web, &reader, "memory_read", json!({ "paths": ["plan", "team/rule"] })).contains("Locks are closed"));
        for path in ["plan", "team/new"] {
            let why = refused(web, &reader, "memory_write", json!({ "path": path, "content": "no", "mode": "replace" }));
            assert!(why.contains("read-only"), "{why}");
        }
        call(web, &reader, "memory_write", json!({ "path": "user/own", "content": "Ben's own.", "mode": "append" }));
    }
    // A role that changes counts for the next request.
    team.database().set_member(TENANT, "backend", "ben", MemberRole::Writer).unwrap();
    call(&replicas[1], &reader, "memory_write", json!({ "path": "bens", "content": "Ben writes." }));
    team.database().remove_member(TENANT, "backend", "ben").unwrap();
    for web in &replicas {
        let gone = call(web, &reader, "memory_read", json!({}));
        assert!(!gone.contains("plan") && gone.contains("user/own"), "{gone}");
    }
    let id = team.database().tokens(TENANT).unwrap().into_iter().find(|row| row.person == "ben").unwrap().id;
    team.database().remove_token(TENANT, &id).unwrap();
    for web in &replicas {
        let reply = post(web, &reader, "tools/list", json!({}));
        assert_eq!((reply.0, reply.1.as_str()), (401, "missing or unknown bearer token"));
        assert!(call(web, &writer, "memory_read", json!({})).contains("plan"), "others are not affected");
    }
}

/// A known token is checked by the read itself: nothing is read with permissions that are no longer valid.
#[test]
fn reads_over_rest_check_the_token_in_their_own_transaction() {
    let Some(team) = TeamDatabase::new() else { return };
    let writer = team.token("ada", MemberRole::Writer);
    let homes = [Home::new(), Home::new()];
    let replicas = homes.each_ref().map(|home| team.replica(home, &[]));
    let mut ada = Api::with_token(&replicas[0], &writer);
    assert_eq!(ada.ask("PUT", "/v1/memories/plan", Some(&json!({ "content": "The canal opens in May." }))).0, 201);
    let (_, versions) = ada.ask("GET", "/v1/memory_versions?path=plan", None);
    let version = format!("/v1/memory_versions/{}?path=plan", versions["data"][0]["memory_version_id"].as_str().unwrap());
    team.token("ben", MemberRole::Reader);
    let routes =
        ["/v1/memories/plan", "/v1/memories", "/v1/memory_versions?path=plan", &version, "/v1/prompt", "/v1/changes", "/v1/proposals"];
    for route in routes {
        let (row, token) = team.database().add_token(TENANT, "ben", None).unwrap();
        let mut readers = replicas.each_ref().map(|web| Api::with_token(web, &token));
        for reader in &mut readers {
            let [first, second] = [(); 2].map(|()| reader.ask("GET", route, None));
            assert_eq!(first.0, 200, "{route}: {first:?}");
            assert_eq!(first, second, "{route}");
            // Reads nothing, so that no read can check the token.
            assert_eq!(reader.ask("GET", "/v1/memories/..", None).0, 422);
            assert_eq!(reader.ask("GET", "/v1/memories/none", None).0, 404);
        }
        // A change of other people counts for all, and changes nothing for this one.
        team.database().add_person(TENANT, &format!("guest-{}", route.len())).unwrap();
        readers.iter_mut().for_each(|reader| assert_eq!(reader.ask("GET", route, None).0, 200, "{route}"));
        team.database().remove_member(TENANT, "backend", "ben").unwrap();
        for reader in &mut readers {
            let seen = reader.ask("GET", route, None);
            assert!(!seen.1.to_string().contains("canal") && !seen.1.to_string().contains("plan.md"), "{route}: {seen:?}");
        }
        team.database().set_member(TENANT, "backend", "ben", MemberRole::Reader).unwrap();
        readers.iter_mut().for_each(|reader| assert_eq!(reader.ask("GET", route, None).0, 200, "{route}"));
        team.database().remove_token(TENANT, &row.id).unwrap();
        readers.iter_mut().for_each(|reader| assert_eq!(reader.ask("GET", route, None).0, 401, "{route}"));
    }
}

#[test]
fn a_stream_ends_with_its_token_before_the_next_change() {
    let Some(team) = TeamDatabase::new() else { return };
    let writer = team.token("ada", MemberRole::Writer);
    team.token("ben", MemberRole::Reader);
    let home = Home::new();
    let web = team.replica(&home, &[]);
    let mut ada = Api::with_token(&web, &writer);
    let mut put = |name: &str| assert_eq!(ada.ask("PUT", &format!("/v1/memories/{name}"), Some(&json!({ "content": "Text." }))).0, 201);
    for round in 0..5 {
        let (row, token) = team.database().add_token(TENANT, "ben", None).unwrap();
        let mut stream = web.connect();
        stream.head("GET", "/v1/changes/stream", &[("Authorization", &format!("Bearer {token}"))], None);
        assert_eq!(stream.reply_head().status, 200);
        put(&format!("before-{round}"));
        while !stream.chunk().contains(&format!("before-{round}")) {}
        team.database().remove_token(TENANT, &row.id).unwrap();
        put(&format!("after-{round}"));
        // Returns only when the stream has ended.
        let rest = String::from_utf8(stream.chunks()).unwrap();
        assert!(!rest.contains("after-"), "{rest}");
    }
}

/// Sends a request of the newer lifecycle, and returns its status and body.
fn post(web: &Web, token: &str, method: &str, mut params: Value) -> (u16, String) {
    params["_meta"] = crate::talk::meta();
    let bearer = format!("Bearer {token}");
    let headers = [("Authorization", bearer.as_str()), ("Mcp-Method", method), ("Mcp-Protocol-Version", crate::talk::SESSIONLESS)];
    let reply = web.connect().post(&headers, &json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
    (reply.status, reply.body)
}

#[test]
fn every_revision_is_spoken_without_sessions() {
    let Some(team) = TeamDatabase::new() else { return };
    let token = team.token("ada", MemberRole::Writer);
    let homes = [Home::new(), Home::new()];
    let replicas = homes.each_ref().map(|home| team.replica(home, &[]));
    let bearer = format!("Bearer {token}");
    for revision in HANDSHAKES {
        let auth = [("Authorization", bearer.as_str()), ("Mcp-Protocol-Version", revision)];
        let mut client = replicas[0].connect();
        client.hello(revision, &auth);
        assert_eq!(client.session, None);
        // The next request goes to a replica that has never seen the client.
        let call = json!({ "name": "memory_write", "arguments": { "path": revision, "content": "x" } });
        let message = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call });
        let reply = replicas[1].connect().post(&auth, &message);
        assert!(reply.message()["result"]["content"][0]["text"].as_str().unwrap().starts_with("Saved"), "{reply:?}");
        // It is not offered what needs a session.
        let params = json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
        let initialize = json!({ "jsonrpc": "2.0", "id": 2, "method": "initialize", "params": params });
        let reply = replicas[1].connect().post(&auth, &initialize);
        assert_eq!(reply.message()["result"]["capabilities"]["resources"], json!({}), "{reply:?}");
        let subscribe = json!({ "jsonrpc": "2.0", "id": 4, "method": "resources/subscribe", "params": { "uri": "memory:///plan" } });
        let reply = replicas[1].connect().post(&auth, &subscribe);
        assert!(reply.message()["error"]["message"].as_str().unwrap().contains("require a session"), "{reply:?}");
    }
}

#[test]
fn readiness_follows_the_database_and_a_replica_drains_on_a_signal() {
    let Some(team) = TeamDatabase::new() else { return };
    let token = team.token("ada", MemberRole::Writer);
    let home = Home::new();
    let web = team.replica(&home, &[]);
    let ready = |web: &Web| {
        let reply = web.connect().request("GET", "/readyz", &[], b"");
        (reply.status, reply.body)
    };
    // An answer is kept for a moment.
    let becomes = |web: &Web, status: u16| std::iter::repeat_with(|| ready(web)).find(|(now, _)| *now == status).unwrap().1;
    assert_eq!(ready(&web), (200, "ready".into()));
    query(&team.url, "insert into memdir.migrations (version, works_since) values (1000, 1000)");
    let why = becomes(&web, 503);
    assert!(why.contains("upgrade memdir"), "{why}");
    query(&team.url, "delete from memdir.migrations where version = 1000");
    assert_eq!(becomes(&web, 200), "ready");

    // A call that waits for a lock is answered although the replica was asked to end.
    let lock = crate::team_server::HeldLock::acquire(&team.url, "lock table memdir.change_files in access exclusive mode");
    let address = web.address;
    let writing = std::thread::spawn(move || {
        crate::team_server::try_call(address, &token, "memory_write", &json!({ "path": "late", "content": "Saved in time." }))
    });
    crate::team_server::wait_for_waiting(&team.url);
    let ending = std::thread::spawn(move || web.end());
    while TcpStream::connect(address).is_ok() {
        std::thread::yield_now();
    }
    drop(lock);
    let answer = writing.join().unwrap().unwrap();
    assert!(answer["content"][0]["text"].as_str().unwrap().starts_with("Saved"), "{answer}");
    assert!(ending.join().unwrap().success());
    team.check_sequences();
}

#[test]
fn the_official_clients_get_the_same_results_from_two_replicas_in_turns() {
    let Some(team) = TeamDatabase::new() else { return };
    let homes = [Home::new(), Home::new()];
    let replicas = homes.each_ref().map(|home| team.replica(home, &[]));
    let proxy = in_turns(replicas.each_ref().map(|web| web.address));
    mcp_clients::check_team(|number| {
        // A person and a project of their own for each client, so that all of them begin with nothing.
        let (person, group) = ("ada", format!("group{number}"));
        let tenant = format!("tenant{number}");
        let database = team.database();
        database.create_tenant(&tenant).unwrap();
        database.add_person(&tenant, person).unwrap();
        database.add_group(&tenant, &group).unwrap();
        database.add_project(&tenant, "shop", &group).unwrap();
        database.set_member(&tenant, &group, person, MemberRole::Writer).unwrap();
        (format!("http://{proxy}/mcp"), database.add_token(&tenant, person, None).unwrap().1)
    });
}

/// Starts a proxy that gives each connection to the next server.
fn in_turns(servers: [SocketAddr; 2]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for (number, client) in listener.incoming().flatten().enumerate() {
            let Ok(server) = TcpStream::connect(servers[number % 2]) else { continue };
            for (mut from, mut to) in
                [(client.try_clone().unwrap(), server.try_clone().unwrap()), (server.try_clone().unwrap(), client.try_clone().unwrap())]
            {
                std::thread::spawn(move || {
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = to.shutdown(std::net::Shutdown::Write);
                });
            }
        }
    });
    address
}

#[test]
fn a_cold_namespace_of_a_thousand_memories_answers_its_first_search_and_reports_it() {
    let Some(team) = TeamDatabase::new() else { return };
    let token = team.token("ada", MemberRole::Writer);
    let store = team.store("projects/shop");
    let path = |n: usize| MemoryPath::parse(&format!("notes/valve-{n}.md")).unwrap();
    let intent = Intent {
        verb: Verb::Import,
        actor: memdir_core::Actor { name: "ada".into(), session: None },
        at: jiff::Timestamp::from_second(1_700_000_000).unwrap(),
        undoes: None,
        key: None,
    };
    let text = |n: usize| format!("---\ndescription: the valve of basin {n}\n---\n{}", "Valve and basin text, line by line.\n".repeat(20));
    let paths: Vec<MemoryPath> = (0..1_000).map(path).collect();
    let edit = |n: usize| FileEdit { path: path(n), bytes: Some(format!("{}Marker{n}.\n", text(n)).into()), role: Role::Memory };
    store.change(&intent, &paths, &mut |_| Ok((0..1_000).map(edit).collect())).unwrap();

    let home = Home::new();
    let log = std::fs::OpenOptions::new().read(true).append(true).create(true).open(home.path("log")).unwrap();
    let mut command = home.bare(&["serve", "--http", "127.0.0.1:0"]);
    command.env("DATABASE_URL", &team.url);
    let web = Web::spawn_with_log(command, log);
    call(&web, &token, "memory_read", json!({ "path": "notes/valve-1" }));
    let begun = std::time::Instant::now();
    let found = call(&web, &token, "memory_search", json!({ "query": "Marker731" }));
    let _ = writeln!(std::io::stderr(), "the first search of 1,000 cold memories took {:?}", begun.elapsed());
    assert!(found.contains("notes/valve-731.md"), "{found}");
    let log = std::fs::read_to_string(home.path("log")).unwrap();
    assert!(log.contains("memdir: indexed 1000 of 1000 memories in postgres:acme/projects/shop"), "{log}");
}

#[test]
fn the_memory_of_a_replica_is_bounded_while_many_namespaces_are_touched() {
    let Some(team) = TeamDatabase::new() else { return };
    let home = Home::new();
    let web = team.replica(&home, &["--index-memory", "2"]);
    let people = 240;
    let tokens: Vec<String> = (0..people).map(|number| team.token(&format!("person{number}"), MemberRole::Reader)).collect();
    let store = |number: usize| team.store(&format!("people/person{number}"));
    let anonymous = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", web.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    let mut early = 0;
    for (number, token) in tokens.iter().enumerate() {
        let intent = Intent {
            verb: Verb::Import,
            actor: memdir_core::Actor { name: "ada".into(), session: None },
            at: jiff::Timestamp::from_second(1_700_000_000).unwrap(),
            undoes: None,
            key: None,
        };
        let path = |n: usize| MemoryPath::parse(&format!("notes/m{n}.md")).unwrap();
        let text = |n: usize| format!("{}Shelf {number} has box{number}x{n}.\n", "Some words of a memory that take room.\n".repeat(40));
        let edit = |n: usize| FileEdit { path: path(n), bytes: Some(text(n).into()), role: Role::Memory };
        let paths: Vec<MemoryPath> = (0..20).map(path).collect();
        store(number).change(&intent, &paths, &mut |_| Ok((0..20).map(edit).collect())).unwrap();
        let found = call(&web, token, "memory_search", json!({ "query": format!("box{number}x7") }));
        assert!(found.contains("user/notes/m7.md"), "{found}");
        if number == people / 3 {
            early = anonymous();
        }
    }
    let late = anonymous();
    assert!(late < early + 24 * 1024, "{early} KiB after a third of the namespaces, {late} KiB after all of them");
    let found = call(&web, &tokens[0], "memory_search", json!({ "query": "box0x19" }));
    assert!(found.contains("user/notes/m19.md"), "closed and opened again: {found}");
}

#[test]
fn a_server_without_a_database_or_a_schema_fails_with_a_hint() {
    let home = Home::new();
    assert_snapshot!(home.run_bare(&["serve"]), @"
    -- stderr
    error: no database is configured
    hint: pass --database postgres://USER@HOST/NAME, or set DATABASE_URL; `memdir mcp --http` serves files without a database
    -- exit 2
    ");
    assert_snapshot!(home.run_bare(&["admin", "tenant", "list"]), @"
    -- stderr
    error: no database is configured
    hint: pass --database postgres://USER@HOST/NAME, or set DATABASE_URL
    -- exit 2
    ");
    assert_snapshot!(home.run_bare(&["serve", "--database", "postgres://x:y@localhost:notaport/z"]), @"
    -- stderr
    error: invalid database URL: invalid connection string: invalid value for option `port`
    -- exit 2
    ");
    assert_snapshot!(home.run_bare(&["serve", "--database", "postgres:///x", "--tools", "memory_fly"]), @r#"
    -- stderr
    error: unknown tool "memory_fly"; available: memory_read, memory_search, memory_get, memory_write, memory_edit, memory_move, memory_delete, memory_undo, memory_stats, memory_log
    hint: see the options with: memdir serve --help
    -- exit 2
    "#);
    assert_snapshot!(home.run_bare(&["serve", "--database", "postgres:///x", "--read-only", "--tools", "memory_write"]), @"
    -- stderr
    error: no tools left to serve; check --tools, --without and --read-only
    hint: see the options with: memdir serve --help
    -- exit 2
    ");
    let Some(team) = TeamDatabase::empty() else { return };
    assert_snapshot!(home.run_bare(&["admin", "tenant", "list", "--database", &team.url]), @"
    -- stderr
    error: the database: the memdir schema is missing; create it with: memdir admin migrate
    -- exit 3
    ");
    assert_snapshot!(home.run_bare(&["serve", "--database", &team.url]), @"
    -- stderr
    error: the database: the memdir schema is missing; create it with: memdir admin migrate
    -- exit 3
    ");
    let output = home.bare(&["serve", "--database", &team.url, "--http", "0.0.0.0:0"]).stdin(Stdio::null()).output().unwrap();
    assert!(!output.status.success());
}
