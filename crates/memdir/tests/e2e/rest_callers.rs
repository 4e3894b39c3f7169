//! Callers of the REST API: no route shows one caller what belongs to another, and every limit of a server applies to every route.

use crate::{
    home::Home,
    mcp_callers::token,
    rest::Api,
    team_server::{TENANT, TeamDatabase},
    web::{HttpClient, Web},
};
use memdir_postgres::MemberRole;
use serde_json::{Value, json};
use std::fs;

/// Requests of every route about the memory `user/private` of another person, with a text that only that person knows.
fn every_route(version: &str, change: &str) -> Vec<(&'static str, String, Option<Value>)> {
    vec![
        ("GET", "/v1/memories".into(), None),
        ("GET", "/v1/memories?view=full&path_prefix=user/".into(), None),
        ("GET", "/v1/memories/user/private".into(), None),
        ("GET", "/v1/memories/people/ada/user/private".into(), None),
        ("DELETE", "/v1/memories/user/private".into(), None),
        ("POST", "/v1/move".into(), Some(json!({ "from": "user/private", "to": "stolen" }))),
        ("GET", "/v1/memory_versions?path=user/private".into(), None),
        ("GET", format!("/v1/memory_versions/{version}?path=user/private"), None),
        ("POST", "/v1/search".into(), Some(json!({ "query": "zanzibar" }))),
        ("POST", "/v1/recall".into(), Some(json!({ "message": "where is zanzibar?" }))),
        ("GET", "/v1/prompt".into(), None),
        ("GET", "/v1/changes".into(), None),
        ("POST", "/v1/undo".into(), Some(json!({}))),
        ("POST", "/v1/undo".into(), Some(json!({ "change_id": change }))),
        ("GET", "/v1/proposals".into(), None),
        ("GET", format!("/v1/proposals/{change}"), None),
        ("POST", format!("/v1/proposals/{change}"), Some(json!({ "decision": "withdraw" }))),
    ]
}

#[test]
fn no_route_shows_another_callers_memory() {
    let home = Home::new();
    let (ada, _) = token(&home, &["ada", "shop"]);
    let (bob, _) = token(&home, &["bob", "shop"]);
    let web = Web::start(&home, &[]);
    let (mut ada, mut bob) = (Api::with_token(&web, &ada), Api::with_token(&web, &bob));
    see_nothing(&home, &mut ada, &mut bob, "same");
    share_a_project(&mut ada, &mut bob);
}

#[test]
fn no_route_of_a_team_server_shows_another_persons_or_tenants_memory() {
    let Some(team) = TeamDatabase::new() else { return };
    let (ada, bob) = (team.token("ada", MemberRole::Writer), team.token("bob", MemberRole::Writer));
    // The same names in another tenant.
    let database = team.database();
    database.create_tenant("globex").unwrap();
    for person in ["ada", "eve"] {
        database.add_person("globex", person).unwrap();
    }
    database.add_group("globex", "backend").unwrap();
    database.add_project("globex", "shop", "backend").unwrap();
    database.set_member("globex", "backend", "ada", MemberRole::Admin).unwrap();
    let [other_ada, eve] = ["ada", "eve"].map(|person| database.add_token("globex", person, None).unwrap().1);
    assert_ne!(TENANT, "globex");
    let homes = [Home::new(), Home::new()];
    let replicas = homes.each_ref().map(|home| team.replica(home, &[]));
    // Each of the others asks another replica than the one that was written to.
    for (key, other) in [("1", &bob), ("2", &other_ada), ("3", &eve)] {
        let (mut ada, mut other) = (Api::with_token(&replicas[0], &ada), Api::with_token(&replicas[1], other));
        see_nothing(&homes[0], &mut ada, &mut other, key);
        for name in ["own", "private"] {
            assert_eq!(ada.ask("DELETE", &format!("/v1/memories/user/{name}"), None).0, 200);
        }
    }
    share_a_project(&mut Api::with_token(&replicas[0], &ada), &mut Api::with_token(&replicas[1], &bob));
    let mut other_ada = Api::with_token(&replicas[0], &other_ada);
    assert_eq!(other_ada.ask("GET", "/v1/memories/rule", None).0, 404);
    let (_, found) = other_ada.ask("POST", "/v1/search", Some(&json!({ "query": "for all" })));
    assert_eq!(found["data"], json!([]));
}

/// One person saves something; no request of the other shows it.
fn see_nothing(home: &Home, ada: &mut Api, bob: &mut Api, key: &str) {
    let (status, saved) = ada.ask("PUT", "/v1/memories/user/private", Some(&json!({ "content": "zanzibar is the code\n" })));
    assert_eq!(status, 201, "{saved}");
    let (version, change) = (saved["memory_version_id"].as_str().unwrap(), saved["change_id"].as_str().unwrap());
    for (method, path, body) in every_route(version, change) {
        let reply = bob.send(method, &path, &[], body.as_ref());
        let is_leak = reply.body.contains("zanzibar is") || (reply.body.contains("private.md") && !path.contains("private"));
        assert!(!is_leak && reply.status < 500, "{method} {path}: {reply:?}");
        assert!(!reply.body.contains(home.path("").to_str().unwrap()), "{method} {path}: {reply:?}");
    }
    let (_, still) = ada.ask("GET", "/v1/memories/user/private", None);
    assert_eq!(still["content"], "zanzibar is the code\n");
    // The key of another caller is another key, and a cursor of another caller has no other changes.
    let key = [("Idempotency-Key", key)];
    for api in [&mut *ada, &mut *bob] {
        let reply = api.send("PUT", "/v1/memories/user/own", &key, Some(&json!({ "content": "x" })));
        assert_eq!((reply.status, reply.header("idempotency-replayed")), (201, None), "{reply:?}");
    }
    let (_, changes) = ada.ask("GET", "/v1/changes", None);
    let (_, after) = bob.ask("GET", &format!("/v1/changes?after={}", changes["cursor"].as_str().unwrap()), None);
    assert!(!after.to_string().contains("private"), "{after}");
}

/// What two people share, both see.
fn share_a_project(ada: &mut Api, bob: &mut Api) {
    assert_eq!(ada.ask("PUT", "/v1/memories/rule", Some(&json!({ "content": "for all" }))).0, 201);
    assert_eq!(bob.ask("GET", "/v1/memories/rule", None).1["content"], "for all");
    let (_, versions) = bob.ask("GET", "/v1/memory_versions?path=rule", None);
    assert_eq!(versions["data"][0]["created_by"]["name"], "ada");
    let (status, refused) = bob.ask("POST", "/v1/undo", Some(&json!({ "change_id": versions["data"][0]["change_id"] })));
    assert_eq!(status, 422, "{refused}");
}

#[test]
fn a_token_is_required_for_every_route() {
    let home = Home::new();
    let (ada, id) = token(&home, &["ada", "shop"]);
    let web = Web::start(&home, &[]);
    // A wrong token costs as much as 500 requests, so they take turns.
    for (n, (method, path, body)) in every_route("0", "0").into_iter().enumerate() {
        let mut api = if n % 2 == 0 { Api::new(&web) } else { Api::with_token(&web, "mdt_unknown") };
        let reply = api.send(method, &path, &[], body.as_ref());
        assert_eq!((reply.status, reply.header("www-authenticate")), (401, Some("Bearer")), "{method} {path}");
        let problem: Value = serde_json::from_str(&reply.body).unwrap();
        let expected =
            json!({ "type": "authentication_error", "title": "Unauthorized", "status": 401, "detail": "missing or unknown bearer token" });
        assert_eq!(problem, expected);
    }
    let mut api = Api::with_token(&web, &ada);
    assert_eq!(api.ask("GET", "/v1/memories", None).0, 200);
    let mut stream = web.connect();
    stream.head("GET", "/v1/changes/stream", &[("Authorization", &format!("Bearer {ada}"))], None);
    assert_eq!(stream.reply_head().status, 200);
    home.ok(&["token", "revoke", &id]);
    assert_eq!(api.send("GET", "/v1/memories", &[], None).status, 401);
    // Returns only when the stream has ended.
    stream.chunks();
}

#[test]
fn headers_narrow_the_space_and_options_the_routes() {
    let home = Home::new();
    let (ada, _) = token(&home, &["ada", "shop", "bank"]);
    let web = Web::start(&home, &["--read-only"]);
    let mut api = Api::with_token(&web, &ada);
    let writes = [
        ("PUT", "/v1/memories/a", Some(json!({ "content": "x" }))),
        ("DELETE", "/v1/memories/a", None),
        ("POST", "/v1/append", Some(json!({ "path": "a", "content": "x" }))),
        ("POST", "/v1/move", Some(json!({ "from": "a", "to": "b" }))),
        ("POST", "/v1/undo", Some(json!({}))),
        ("POST", "/v1/proposals/abcdefgh", Some(json!({ "decision": "accept" }))),
    ];
    for (method, path, body) in &writes {
        let (status, problem) = api.ask(method, path, body.as_ref());
        assert_eq!((status, problem["type"].as_str().unwrap()), (403, "permission_error"), "{method} {path}: {problem}");
    }
    assert_eq!(api.ask("GET", "/v1/memories", None).0, 200);

    let web = Web::start(&home, &["--without", "memory_delete"]);
    let mut api = Api::with_token(&web, &ada);
    let shop = [("Memdir-Project", "shop")];
    for path in ["/v1/memories/notes/a", "/v1/memories/user/b"] {
        assert_eq!(api.send("PUT", path, &shop, Some(&json!({ "content": "x" }))).status, 201);
    }
    assert_eq!(api.send("DELETE", "/v1/memories/notes/a", &shop, None).status, 403);
    let names = |api: &mut Api, headers: &[(&str, &str)]| {
        let reply = api.send("GET", "/v1/memories", headers, None);
        let page: Value = serde_json::from_str(&reply.body).unwrap();
        page["data"].as_array().map(|all| all.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(names(&mut api, &shop).as_deref(), Some("notes/a user/b"));
    assert_eq!(names(&mut api, &[("Memdir-Project", "bank")]).as_deref(), Some("user/b"));
    assert_eq!(names(&mut api, &[("Memdir-Project", "shop"), ("Memdir-Only", "notes")]).as_deref(), Some("notes/a"));
    assert_eq!(api.send("GET", "/v1/memories/user/b", &[("Memdir-Only", "notes")], None).status, 403);
    for (headers, status) in [([("Memdir-Project", "other")], 403), ([("Memdir-Only", "")], 400), ([("Memdir-Only", "../x")], 403)] {
        let reply = api.send("GET", "/v1/memories", &headers, None);
        assert_eq!((reply.status, reply.header("content-type")), (status, Some("application/problem+json")), "{headers:?}");
    }
}

/// No other name would be writable.
#[test]
fn a_space_that_is_read_only_has_no_hint_about_names() {
    let home = Home::new();
    let dir = home.memory("");
    fs::create_dir_all(&dir).unwrap();
    home.configure(&format!("[[mounts]]\nname = \"\"\npath = {:?}\naccess = \"read-only\"\n", dir.display().to_string()));
    let web = Web::start(&home, &[]);
    let reply = HttpClient::connect(web.address).request("POST", "/v1/undo", &[("content-type", "application/json")], b"{}");
    let problem: Value = serde_json::from_str(&reply.body).unwrap();
    assert_eq!((reply.status, problem["hint"].as_str()), (403, Some("Nothing was changed; ask an administrator for access.")), "{problem}");
}
