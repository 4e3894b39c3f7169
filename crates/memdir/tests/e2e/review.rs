//! Review on a team server: what a writer or an agent changes waits for a reviewer, whichever interface is used.

use crate::{
    home::{Home, feed},
    team_server::{HeldLock, TENANT, TeamDatabase, call, query, refused, try_call, wait_for_waiting, wait_for_waiting_change},
    web::{Reply, Web},
};
use insta::assert_snapshot;
use memdir_postgres::MemberRole;
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    thread,
};

/// A server whose project is under review, with one memory, and the tokens of a writer and a reviewer.
struct Reviewed {
    team: TeamDatabase,
    home: Home,
    web: Web,
    ada: String,
    rita: String,
}

impl Reviewed {
    fn new() -> Option<Reviewed> {
        let team = TeamDatabase::new()?;
        let (ada, rita) = (team.token("ada", MemberRole::Writer), team.token("rita", MemberRole::Reviewer));
        let home = Home::new();
        let web = team.replica(&home, &[]);
        call(&web, &rita, "memory_write", json!({ "path": "deploy", "content": "Never on Fridays." }));
        team.database().set_review(TENANT, "projects/shop", true).unwrap();
        Some(Reviewed { team, home, web, ada, rita })
    }

    /// The id of the only open proposal.
    fn open(&self) -> String {
        let (_, page) = rest(&self.web, &self.rita, "GET", "/v1/proposals?state=open", &[], None);
        assert_eq!(page["data"].as_array().unwrap().len(), 1, "{page}");
        page["data"][0]["id"].as_str().unwrap().to_owned()
    }

    fn decide(&self, token: &str, id: &str, body: Value) -> (u16, Value) {
        rest(&self.web, token, "POST", &format!("/v1/proposals/{id}"), &[], Some(body))
    }

    fn accept(&self) -> String {
        let id = self.open();
        let (status, decided) = self.decide(&self.rita, &id, json!({ "decision": "accept" }));
        assert_eq!((status, decided["state"].as_str()), (200, Some("accepted")), "{decided}");
        id
    }

    /// Runs `memdir review` as a person, with the id and the URL replaced.
    fn review(&self, token: &str, args: &[&str]) -> String {
        fs::write(self.home.path("token"), token).unwrap();
        let (url, file) = (format!("http://{}", self.web.address), self.home.path("token"));
        let args = [&["review"], args, &["--server", &url, "--token-file", file.to_str().unwrap()]].concat();
        self.home.run_bare(&args)
    }
}

/// Sends a request of the REST API.
fn rest(web: &Web, token: &str, method: &str, path: &str, headers: &[(&str, &str)], body: Option<Value>) -> (u16, Value) {
    let reply = rest_reply(web, token, method, path, headers, body);
    (reply.status, serde_json::from_str(&reply.body).unwrap_or(Value::Null))
}

fn rest_reply(web: &Web, token: &str, method: &str, path: &str, headers: &[(&str, &str)], body: Option<Value>) -> Reply {
    let bearer = format!("Bearer {token}");
    let headers = [&[("Authorization", bearer.as_str()), ("Content-Type", "application/json")], headers].concat();
    web.connect().request(method, path, &headers, body.map(|body| body.to_string()).unwrap_or_default().as_bytes())
}

#[test]
fn every_tool_of_a_writer_proposes_and_a_reviewer_accepts() {
    let Some(reviewed) = Reviewed::new() else { return };
    let Reviewed { web, ada, rita, .. } = &reviewed;
    let tools: [(&str, Value); 7] = [
        ("memory_write", json!({ "path": "tests", "content": "Run them all." })),
        ("memory_write", json!({ "path": "deploy", "content": "Nor on Mondays.", "mode": "append" })),
        ("memory_write", json!({ "path": "deploy", "content": "Only on Tuesdays.", "mode": "replace" })),
        ("memory_edit", json!({ "path": "deploy", "old": "Tuesdays", "new": "Sundays" })),
        ("memory_move", json!({ "from": "deploy", "to": "howto/deploy" })),
        ("memory_delete", json!({ "path": "tests" })),
        ("memory_undo", json!({})),
    ];
    for (name, arguments) in tools {
        let listed = call(web, rita, "memory_read", json!({}));
        let answer = try_call(web.address, ada, name, &arguments).unwrap();
        let id = reviewed.open();
        let text = answer["content"][0]["text"].as_str().unwrap();
        assert!(answer["isError"] != true && text.starts_with(&format!("the change was proposed as {id} (")), "{name}: {answer}");
        assert_eq!(answer["structuredContent"]["proposed"]["id"], id.as_str(), "{name}: {answer}");
        assert_eq!(call(web, rita, "memory_read", json!({})), listed, "{name} changed something");
        assert_eq!(reviewed.accept(), id);
        assert_ne!((name, call(web, rita, "memory_read", json!({}))), ("memory_move", listed));
    }
    assert!(call(web, ada, "memory_read", json!({ "path": "howto/deploy" })).contains("Only on Sundays."));
    assert!(call(web, ada, "memory_read", json!({ "path": "tests" })).contains("Run them all."), "the undo of the deletion was accepted");
    // A secret is refused before it is stored, and a reader does not propose.
    let secret = format!("The key is ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    assert!(refused(web, ada, "memory_write", json!({ "path": "key", "content": secret })).contains("looks like a secret"));
    let reader = reviewed.team.token("ben", MemberRole::Reader);
    assert!(refused(web, &reader, "memory_write", json!({ "path": "x", "content": "x" })).contains("read-only"));
    // The memory of the person and that of the group are not under review.
    assert!(call(web, ada, "memory_write", json!({ "path": "user/own", "content": "Own." })).starts_with("Saved"));
    assert!(call(web, ada, "memory_write", json!({ "path": "team/rule", "content": "Rule." })).starts_with("Saved"));
    let (_, page) = rest(web, rita, "GET", "/v1/proposals?state=open", &[], None);
    assert_eq!(page, json!({ "data": [], "has_more": false }));
    // The history has both.
    let (_, versions) = rest(web, ada, "GET", "/v1/memory_versions?path=howto/deploy&limit=1", &[], None);
    assert_eq!((&versions["data"][0]["created_by"]["name"], &versions["data"][0]["reviewed_by"]), (&json!("ada"), &json!("rita")));
    reviewed.team.check_sequences();
}

#[test]
fn an_agent_of_a_reviewer_proposes_and_cannot_accept() {
    let Some(reviewed) = Reviewed::new() else { return };
    let agent = reviewed.team.database().add_token(TENANT, "rita", Some("tidy")).unwrap().1;
    let admin = reviewed.team.token("olga", MemberRole::Admin);
    let Reviewed { web, rita, .. } = &reviewed;
    let text = call(web, &agent, "memory_write", json!({ "path": "tidy", "content": "By the agent." }));
    assert!(text.contains("is waiting for review"), "{text}");
    let id = reviewed.open();
    assert_eq!(reviewed.decide(&agent, &id, json!({ "decision": "accept" })).0, 403);
    assert_eq!(reviewed.decide(&agent, &id, json!({ "decision": "reject" })).0, 403);
    assert_eq!(reviewed.decide(rita, &id, json!({ "decision": "accept" })).0, 200, "the person decides about its agent's change");
    for token in [rita, &admin] {
        let text = call(web, token, "memory_write", json!({ "path": "direct", "content": "At once.", "mode": "append" }));
        assert!(text.starts_with("Saved") || text.starts_with("Updated"), "{text}");
    }
}

#[test]
fn every_write_of_the_rest_api_is_answered_with_its_proposal() {
    let Some(reviewed) = Reviewed::new() else { return };
    let Reviewed { web, ada, rita, .. } = &reviewed;
    let writes = [
        ("PUT", "/v1/memories/tests", Some(json!({ "content": "Run them.\n" })), "write"),
        ("POST", "/v1/append", Some(json!({ "path": "deploy", "content": "Nor on Mondays." })), "append"),
        ("POST", "/v1/move", Some(json!({ "from": "deploy", "to": "howto" })), "rename"),
        ("DELETE", "/v1/memories/howto", None, "delete"),
        ("POST", "/v1/undo", Some(json!({})), "undo"),
    ];
    for (method, path, body, verb) in writes {
        let (status, proposal) = rest(web, ada, method, path, &[], body);
        assert_eq!(
            (status, &proposal["type"], &proposal["verb"], &proposal["state"]),
            (202, &json!("proposal"), &json!(verb), &json!("open")),
            "{proposal}"
        );
        let (_, shown) = rest(web, ada, "GET", &format!("/v1/proposals/{}", proposal["id"].as_str().unwrap()), &[], None);
        assert_eq!((&shown["can_withdraw"], &shown["can_decide"]), (&json!(true), &json!(false)));
        reviewed.accept();
    }
    // A repeated request leads to the same proposal, and after its acceptance to the change.
    let put =
        |content: &str| rest(web, ada, "PUT", "/v1/memories/keyed", &[("Idempotency-Key", "one")], Some(json!({ "content": content })));
    let (status, first) = put("Once.\n");
    assert_eq!(status, 202);
    assert_eq!(put("Once.\n"), (202, first.clone()));
    assert_eq!(put("Twice.\n").0, 422);
    assert_eq!(reviewed.accept(), first["id"].as_str().unwrap());
    let (status, memory) = put("Once.\n");
    assert_eq!((status, &memory["type"], &memory["change_id"]), (201, &json!("memory"), &first["id"]), "{memory}");
    // Decisions: once, by those who may, about proposals that exist.
    let (_, proposal) = rest(web, ada, "PUT", "/v1/memories/last", &[], Some(json!({ "content": "Last.\n" })));
    let id = proposal["id"].as_str().unwrap();
    assert_eq!(reviewed.decide(ada, id, json!({ "decision": "accept" })).0, 403);
    assert_eq!(reviewed.decide(rita, id, json!({ "decision": "withdraw" })).0, 409);
    assert_eq!(reviewed.decide(rita, id, json!({ "decision": "accept", "reason": "x" })).0, 422);
    assert_eq!(reviewed.decide(rita, id, json!({ "decision": "reject", "reason": "no\n" })).1["reason"], "no");
    let (status, problem) = reviewed.decide(rita, id, json!({ "decision": "accept" }));
    assert_eq!((status, &problem["detail"]), (409, &json!(format!("proposal {id} was already rejected by rita"))));
    assert_eq!(reviewed.decide(rita, "zzzzzzzz", json!({ "decision": "accept" })).0, 404);
    let ben = reviewed.team.token("ben", MemberRole::Writer);
    assert_eq!(rest(web, &ben, "GET", &format!("/v1/proposals/{id}"), &[], None).0, 404, "another writer does not see it");
    // A memory that was changed meanwhile is not overwritten.
    let (_, proposal) = rest(web, ada, "PUT", "/v1/memories/tests", &[], Some(json!({ "content": "Ada's.\n" })));
    call(web, rita, "memory_write", json!({ "path": "tests", "content": "Rita's.", "mode": "replace" }));
    let (status, problem) = reviewed.decide(rita, proposal["id"].as_str().unwrap(), json!({ "decision": "accept" }));
    assert_eq!((status, &problem["type"]), (409, &json!("memory_precondition_failed_error")), "{problem}");
    assert_eq!(problem["detail"], "memory \"tests\" has been modified since the change was proposed");
    assert_eq!(problem["hint"], "Reject the proposal, or make the change yourself.");
    let shown = reviewed.review(rita, &["show", proposal["id"].as_str().unwrap()]);
    assert!(shown.contains("\ntests has changed since the proposal was made; the proposal cannot be accepted\n"), "{shown}");
    assert!(call(web, ada, "memory_read", json!({ "path": "tests" })).contains("Rita's."));
    assert_eq!(reviewed.open(), proposal["id"].as_str().unwrap());
    reviewed.team.check_sequences();
}

#[test]
fn a_reviewer_decides_at_the_command_line() {
    let Some(reviewed) = Reviewed::new() else { return };
    let Reviewed { team, home, web, ada, rita } = &reviewed;
    let admin = |args: &[&str]| {
        let mut command = home.bare(&[&["admin", "review"], args, &["--tenant", TENANT]].concat());
        home.transcript(&[&["admin", "review"], args].concat(), command.env("DATABASE_URL", &team.url).output().unwrap())
    };
    assert_snapshot!([
        admin(&["list"]),
        admin(&["on", "projects/shop"]),
        admin(&["on", "groups/backend"]),
        admin(&["off", "groups/backend"]),
        admin(&["on", "projects/bank"]),
        admin(&["on", "people/ada"]),
    ].join("\n"), @r#"
    projects/shop

    unchanged: review for projects/shop

    turned on review for groups/backend

    turned off review for groups/backend

    -- stderr
    error: project "bank" not found
    hint: add the project with: memdir admin project add bank --group GROUP --tenant acme
    -- exit 1

    -- stderr
    error: invalid project or group "people/ada"
    hint: use projects/PROJECT or groups/GROUP, such as projects/shop or groups/backend
    -- exit 2
    "#);
    call(web, ada, "memory_write", json!({ "path": "deploy", "content": "Only on Tuesdays.", "mode": "replace" }));
    let id = reviewed.open();
    let shown = |token: &str, args: &[&str]| {
        let printed = reviewed.review(token, args).replace(&id, "[ID]").replace(&format!("http://{}", web.address), "[URL]");
        without_times(&printed)
    };
    assert_snapshot!([
        shown(rita, &["list"]),
        shown(rita, &["show", &id]),
        shown(ada, &["accept", &id]),
        shown(rita, &["accept", &id]),
        shown(rita, &["reject", &id, "--reason", "late"]),
        shown(rita, &["show", "zzzzzzzz"]),
        shown(rita, &["list"]),
        shown(ada, &["list", "--state", "all"]),
    ].join("\n"), @r#"
    [ID]      when              author  state  what
    [ID]      [TIME]            ada     open   write deploy
    -- stderr
    note: 1 proposal is waiting for your decision; show it with: memdir review show [ID] --server [URL] --token-file [HOME]/token

    proposal [ID] (open)
    author   ada
    date     [TIME]
    change   write deploy

    --- a/deploy.md
    +++ b/deploy.md
    @@ -1 +1 @@
    -Never on Fridays.
    +Only on Tuesdays.

    -- stderr
    error: cannot accept the proposal: the server refused the request: only a reviewer can accept or reject proposals (status 403)
    hint: pass a reviewer's token with --token-file FILE, or set MEMDIR_TEAM_TOKEN
    -- exit 1

    accepted [ID] (write deploy)

    -- stderr
    error: cannot reject the proposal: the server refused the request: proposal [ID] was already accepted by rita (status 409)
    hint: show the proposal with: memdir review show [ID] --server [URL] --token-file [HOME]/token
    -- exit 1

    -- stderr
    error: cannot read the proposal: the server refused the request: proposal "zzzzzzzz" not found (status 404)
    hint: list the proposals with: memdir review list --server [URL] --token-file [HOME]/token
    -- exit 1

    no proposals

    [ID]      when              author  state     what
    [ID]      [TIME]            ada     accepted  write deploy
    "#);
    // A rename has both names, and the reason may come from standard input.
    call(web, ada, "memory_move", json!({ "from": "deploy", "to": "howto/deploy" }));
    let id = reviewed.open();
    let (url, file) = (format!("http://{}", web.address), home.path("token"));
    fs::write(&file, rita).unwrap();
    let args = ["review", "reject", &id, "--reason", "-", "--server", &url, "--token-file", file.to_str().unwrap()];
    let rejected = home.transcript(&args, feed(&mut home.bare(&args), b"keep the name\n"));
    assert_eq!(rejected.trim_end(), format!("rejected {id} (rename deploy to howto/deploy)"));
    assert!(reviewed.review(rita, &["show", &id]).contains("rejected by rita: keep the name"));
    // A copy to the server is proposed too.
    fs::write(home.path("token"), ada).unwrap();
    let (url, file) = (format!("http://{}", web.address), home.path("token"));
    home.run_bare(&["write", "notes/fromhere", "From this machine."]);
    let copied = home.run_bare(&["export", "notes", "--to-server", &url, "--token-file", file.to_str().unwrap()]);
    assert!(copied.starts_with("proposed: notes/fromhere is waiting for review\ncopied 0 memories"), "{copied}");
    assert_eq!(query(&team.url, "select paths[1] from memdir.proposals where state = 'open'"), [["notes/fromhere.md"]]);
}

/// Texts that are equal once they are decoded lossily differ in their bytes, and a reviewer must see it.
#[test]
fn a_proposal_shows_bytes_that_look_the_same_and_empty_memories() {
    let Some(reviewed) = Reviewed::new() else { return };
    let Reviewed { team, web, ada, rita, .. } = &reviewed;
    let put = |token: &str, name: &str, base64: &str| {
        let body = json!({ "content": base64, "content_encoding": "base64" });
        rest(web, token, "PUT", &format!("/v1/memories/{name}"), &[], Some(body))
    };
    assert_eq!(put(rita, "raw", "Y2Fm6Qo=").0, 201);
    let note = "invalid UTF-8 (1 byte in the old text, 1 byte in the new text) is shown as hexadecimal bytes, such as <0xE9>";
    let cases = [
        ("raw", "Y2Fm6Ao=", "--- a/raw.md\n+++ b/raw.md\n@@ -1 +1 @@\n-caf<0xE9>\n+caf<0xE8>\n", note),
        ("nothing", "", "", "the memory is empty"),
    ];
    for (name, base64, diff, note) in cases {
        let (status, proposal) = put(ada, name, base64);
        assert_eq!(status, 202, "{proposal}");
        let id = proposal["id"].as_str().unwrap();
        let (_, shown) = rest(web, rita, "GET", &format!("/v1/proposals/{id}"), &[], None);
        assert_eq!((&shown["memories"][0]["diff"], &shown["memories"][0]["note"]), (&json!(diff), &json!(note)), "{shown}");
        let printed = reviewed.review(rita, &["show", id]);
        assert!(printed.contains(&format!("{name}: {note}\n{diff}")), "{printed}");
        reviewed.accept();
    }
    // The history shows the same difference.
    let (_, changes) = rest(web, rita, "GET", "/v1/changes", &[], None);
    assert_eq!(changes["data"].as_array().unwrap().len(), 4, "{changes}");
    team.check_sequences();
}

/// A client with `Memdir-Only` sees a part of a memory, and still accepts all of a proposal.
#[test]
fn a_proposal_is_accepted_as_a_whole_by_a_client_that_sees_a_part() {
    let Some(reviewed) = Reviewed::new() else { return };
    let Reviewed { web, ada, rita, team, .. } = &reviewed;
    let lines = || call(web, rita, "memory_read", json!({ "path": "MEMORY" }));
    for (name, meanwhile) in [("notes/first", None), ("notes/second", Some("other"))] {
        let (status, proposal) = rest(web, ada, "PUT", &format!("/v1/memories/{name}"), &[], Some(json!({ "content": "A note.\n" })));
        assert_eq!(status, 202, "{proposal}");
        // Other lines may have been added to the entrypoint since.
        if let Some(other) = meanwhile {
            call(web, rita, "memory_write", json!({ "path": other, "content": "By Rita." }));
        }
        let path = format!("/v1/proposals/{}", proposal["id"].as_str().unwrap());
        let (status, decided) = rest(web, rita, "POST", &path, &[("Memdir-Only", "notes")], Some(json!({ "decision": "accept" })));
        assert_eq!((status, &decided["state"]), (200, &json!("accepted")), "{decided}");
        assert!(lines().contains(&format!("{name}.md")), "{}", lines());
        assert!(lines().contains("deploy.md"), "{}", lines());
    }
    assert!(lines().contains("other.md"), "{}", lines());
    // The part does not give access to more.
    let (_, listed) = rest(web, rita, "GET", "/v1/memories", &[("Memdir-Only", "notes")], None);
    assert_eq!(listed["data"].as_array().unwrap().len(), 2, "{listed}");
    team.check_sequences();
}

/// A decision, or a change that needs none, may wait for a lock while the reviewer loses the role.
#[test]
fn a_reviewer_who_loses_the_role_while_waiting_does_not_decide() {
    let Some(reviewed) = Reviewed::new() else { return };
    let Reviewed { team, web, ada, rita, .. } = &reviewed;
    call(web, ada, "memory_write", json!({ "path": "waits", "content": "Waits." }));
    let id = reviewed.open();
    let role = |role| team.database().set_member(TENANT, "backend", "rita", role).unwrap();
    // Sends a request that waits for the namespace while a role is taken away.
    let meanwhile = |method: &str, path: &str, body: &Value, to: MemberRole| {
        let lock = HeldLock::acquire(&team.url, "select 1 from memdir.namespaces where namespace = 'projects/shop' for update");
        let answer = thread::scope(|scope| {
            let asking = scope.spawn(|| rest(web, rita, method, path, &[], Some(body.clone())));
            wait_for_waiting_change(&team.url);
            role(to);
            drop(lock);
            asking.join().unwrap()
        });
        role(MemberRole::Reviewer);
        answer
    };
    let decide = format!("/v1/proposals/{id}");
    let (status, problem) = meanwhile("POST", &decide, &json!({ "decision": "accept" }), MemberRole::Writer);
    assert_eq!((status, &problem["detail"]), (403, &json!("only a reviewer can accept or reject proposals")), "{problem}");
    assert_eq!(reviewed.open(), id, "the proposal stays open");
    // Their own change would have been made at once.
    let body = json!({ "content": "Now a writer's.\n" });
    let (status, proposal) = meanwhile("PUT", "/v1/memories/own", &body, MemberRole::Writer);
    assert_eq!((status, &proposal["type"]), (202, &json!("proposal")), "{proposal}");
    let (status, problem) = meanwhile("PUT", "/v1/memories/other", &body, MemberRole::Reader);
    assert_eq!((status, &problem["type"]), (403, &json!("permission_error")), "{problem}");
    assert_eq!(reviewed.decide(rita, &id, json!({ "decision": "accept" })).0, 200);
    team.check_sequences();
}

/// A repeated request with a key has the answer of the first one, even if it proposed or withdrew something.
#[test]
fn a_repeated_key_replays_a_proposal_and_its_withdrawal() {
    let Some(reviewed) = Reviewed::new() else { return };
    let Reviewed { web, ada, team, .. } = &reviewed;
    let keyed = |key: &str, method: &str, path: &str, body: Value| {
        let reply = rest_reply(web, ada, method, path, &[("Idempotency-Key", key)], Some(body));
        let is_replayed = reply.header("idempotency-replayed").map(str::to_owned);
        (reply.status, reply.body, is_replayed.as_deref() == Some("true"))
    };
    let propose = |key: &str, name: &str| {
        let first = keyed(key, "PUT", &format!("/v1/memories/{name}"), json!({ "content": "A text.\n" }));
        assert_eq!((first.0, first.2), (202, false), "{first:?}");
        let again = keyed(key, "PUT", &format!("/v1/memories/{name}"), json!({ "content": "A text.\n" }));
        assert_eq!(again, (202, first.1.clone(), true));
        let proposal: Value = serde_json::from_str(&first.1).unwrap();
        proposal["id"].as_str().unwrap().to_owned()
    };
    let [one, two, three] = [("1", "one"), ("2", "two"), ("3", "three")].map(|(key, name)| propose(key, name));
    let open = || query(&team.url, "select proposal from memdir.proposals where state = 'open' order by at_ms").concat();
    // By its id, and the newest one.
    for (key, body, withdrawn, left) in
        [("4", json!({ "change_id": one }), &one, vec![two.clone(), three.clone()]), ("5", json!({}), &three, vec![two.clone()])]
    {
        let first = keyed(key, "POST", "/v1/undo", body.clone());
        assert_eq!((first.0, first.2), (200, false), "{first:?}");
        let undone: Value = serde_json::from_str(&first.1).unwrap();
        assert_eq!(undone["undone_change_id"], withdrawn.as_str());
        assert_eq!(open(), left);
        assert_eq!(keyed(key, "POST", "/v1/undo", body.clone()), (200, first.1, true));
        assert_eq!(open(), left, "the repeated request withdrew nothing else");
        assert_eq!(keyed(key, "POST", "/v1/undo", json!({ "change_id": two })).0, 422, "another request with the key");
    }
    // An undo without a key withdraws the last one.
    assert_eq!(rest(web, ada, "POST", "/v1/undo", &[], Some(json!({}))).0, 200);
    assert_eq!(open(), Vec::<String>::new());
    team.check_sequences();
}

/// An author can withdraw a proposal even after becoming a reader.
#[test]
fn an_author_who_became_a_reader_withdraws() {
    let Some(reviewed) = Reviewed::new() else { return };
    let Reviewed { web, ada, team, .. } = &reviewed;
    call(web, ada, "memory_write", json!({ "path": "first", "content": "First." }));
    let id = reviewed.open();
    team.database().set_member(TENANT, "backend", "ada", MemberRole::Reader).unwrap();
    let (_, shown) = rest(web, ada, "GET", &format!("/v1/proposals/{id}"), &[], None);
    assert_eq!((&shown["can_withdraw"], &shown["can_decide"]), (&json!(true), &json!(false)), "{shown}");
    let printed = reviewed.review(ada, &["withdraw", &id]);
    assert_eq!(printed.trim_end(), format!("withdrawn {id} (write first)"));
}

/// A memory under review that refers to the renamed one does not keep it from being renamed.
#[test]
fn a_rename_leaves_references_that_a_review_keeps_out_of_the_change() {
    let Some(reviewed) = Reviewed::new() else { return };
    let Reviewed { web, ada, rita, team, .. } = &reviewed;
    call(web, ada, "memory_write", json!({ "path": "user/own", "content": "Of Ada. See [[deploy]]." }));
    call(web, ada, "memory_write", json!({ "path": "user/other", "content": "See [[user/own]]." }));
    call(web, rita, "memory_write", json!({ "path": "links", "content": "See [[user/own]]." }));
    let moved = call(web, ada, "memory_move", json!({ "from": "user/own", "to": "user/mine" }));
    assert!(moved.starts_with("Renamed user/own to user/mine. Updated references in user/other"), "{moved}");
    assert!(moved.contains("references in links were not updated, because a change under review"), "{moved}");
    assert!(call(web, ada, "memory_read", json!({ "path": "user/other" })).contains("[[user/mine]]"));
    assert!(call(web, ada, "memory_read", json!({ "path": "links" })).contains("[[user/own]]"));
    // Then the other way round: the rename waits for review without the reference in the author's own memory.
    let moved = call(web, ada, "memory_move", json!({ "from": "deploy", "to": "howto/deploy" }));
    assert!(moved.contains("is waiting for review"), "{moved}");
    reviewed.accept();
    assert!(call(web, ada, "memory_read", json!({ "path": "howto/deploy" })).contains("Never on Fridays."));
    // A reviewer's rename updates everything.
    let moved = call(web, rita, "memory_move", json!({ "from": "links", "to": "link" }));
    assert_eq!(moved.lines().next().map(|line| line.contains("were not updated")), Some(false), "{moved}");
    team.check_sequences();
}

/// A caller with several projects sees and decides about the proposals of all of them.
#[test]
fn proposals_of_several_projects_are_listed_and_decided_without_choosing_one() {
    let Some(reviewed) = Reviewed::new() else { return };
    let Reviewed { web, ada, rita, team, .. } = &reviewed;
    team.database().add_project(TENANT, "bank", "backend").unwrap();
    team.database().set_review(TENANT, "projects/bank", true).unwrap();
    team.database().set_review(TENANT, "groups/backend", true).unwrap();
    let propose = |project: &str, name: &str| {
        let body = Some(json!({ "content": "A text.\n" }));
        let (status, proposal) = rest(web, ada, "PUT", &format!("/v1/memories/{name}"), &[("Memdir-Project", project)], body);
        assert_eq!(status, 202, "{proposal}");
        proposal["id"].as_str().unwrap().to_owned()
    };
    let ids = [propose("shop", "first"), propose("bank", "second"), propose("bank", "team/third")];
    let listed = reviewed.review(rita, &["list"]).replace(&format!("http://{}", web.address), "[URL]");
    assert_snapshot!(listed, @"
    [ID]      when              author  state  project  what
    [ID]      [TIME]            ada     open            write team/third
    [ID]      [TIME]            ada     open   bank     write second
    [ID]      [TIME]            ada     open   shop     write first
    -- stderr
    note: 3 proposals are waiting for your decision; show one with: memdir review show ID --server [URL] --token-file [HOME]/token
    ");
    for (id, what) in ids.iter().zip(["write first", "write second", "write team/third"]) {
        assert!(reviewed.review(rita, &["show", id]).contains(&format!("change   {what}\n")));
        assert_eq!(reviewed.review(rita, &["accept", id]).trim_end(), format!("accepted {id} ({what})"));
    }
    assert_eq!(reviewed.review(rita, &["list"]).trim_end(), "no proposals");
    assert!(reviewed.review(rita, &["show", "zzzzzzzz"]).contains("proposal \"zzzzzzzz\" not found (status 404)"));
    let (_, page) = rest(web, rita, "GET", "/v1/proposals?state=open", &[], None);
    assert_eq!(page["projects"], json!(["bank", "shop"]));
    team.check_sequences();
}

/// A change that waits while its tenant is removed is refused as the next request is, and not as if the database were down.
#[test]
fn a_change_in_flight_while_its_tenant_is_removed_is_refused() {
    let Some(team) = TeamDatabase::new() else { return };
    let ada = team.token("ada", MemberRole::Writer);
    let home = Home::new();
    let web = team.replica(&home, &[]);
    let tables = ["projects", "tokens", "members", "groups", "people", "tenants"];
    let removal: Vec<String> = tables.iter().map(|table| format!("delete from memdir.{table} where tenant = '{TENANT}'")).collect();
    let removal = HeldLock::acquire_and_commit(&team.url, &removal.join("; "));
    let (status, problem) = thread::scope(|scope| {
        let asking = scope.spawn(|| rest(&web, &ada, "PUT", "/v1/memories/late", &[], Some(json!({ "content": "Late.\n" }))));
        wait_for_waiting(&team.url);
        drop(removal);
        asking.join().unwrap()
    });
    assert_eq!((status, &problem["type"]), (403, &json!("permission_error")), "{problem}");
    assert_eq!(problem["detail"], "the change was not made: the token's owner was removed");
    assert_eq!(rest(&web, &ada, "GET", "/v1/memories", &[], None).0, 401);
}

/// Replaces the times of the REST API.
fn without_times(text: &str) -> String {
    let is_time = |word: &str| word.ends_with('Z') && word.as_bytes().get(10) == Some(&b'T');
    let line = |line: &str| line.split(' ').map(|word| if is_time(word) { "[TIME]" } else { word }).collect::<Vec<_>>().join(" ");
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// A replica that is killed inside the transaction of a proposal or of an acceptance leaves neither half done.
#[test]
fn a_killed_replica_leaves_no_half_decision() {
    let Some(reviewed) = Reviewed::new() else { return };
    let Reviewed { team, web, ada, rita, .. } = &reviewed;
    call(web, ada, "memory_write", json!({ "path": "waits", "content": "Waits." }));
    let id = reviewed.open();
    for (token, tool, arguments) in [(ada, "memory_write", json!({ "path": "lost", "content": "Lost." })), (rita, "", Value::Null)] {
        let other = Home::new();
        let victim = team.replica(&other, &[]);
        let table = if tool.is_empty() { "memdir.documents" } else { "memdir.proposals" };
        let lock = HeldLock::acquire(&team.url, &format!("lock table {table} in exclusive mode"));
        let (address, token, id) = (victim.address, token.clone(), id.clone());
        let asking = thread::spawn(move || match tool {
            "" => {
                let mut client = crate::web::HttpClient::connect(address);
                let bearer = format!("Bearer {token}");
                let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
                let body = br#"{"decision":"accept"}"#;
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    client.request("POST", &format!("/v1/proposals/{id}"), &headers, body)
                }));
            }
            tool => drop(try_call(address, &token, tool, &arguments)),
        });
        wait_for_waiting_change(&team.url);
        assert!(std::process::Command::new("kill").args(["-9", &victim.pid().to_string()]).status().unwrap().success());
        asking.join().unwrap();
        drop(lock);
    }
    assert_eq!(reviewed.open(), id, "the acceptance did not happen, and the other change is not proposed");
    assert!(refused(web, rita, "memory_read", json!({ "path": "waits" })).contains("not found"));
    assert_eq!(reviewed.accept(), id);
    assert_eq!(query(&team.url, "select count(*) from memdir.proposals where state = 'open'"), [["0"]]);
    team.check_sequences();
}

#[test]
fn the_hint_of_a_failed_review_depends_on_the_answer() {
    let home = Home::new();
    let review = |args: &[&str], status: &'static str, body: &'static str| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = BufReader::new(stream.try_clone().unwrap());
            let (mut line, mut length) = (String::new(), 0);
            while request.read_line(&mut line).unwrap() > 2 {
                length = line.to_lowercase().strip_prefix("content-length:").map_or(length, |length| length.trim().parse().unwrap());
                line.clear();
            }
            request.read_exact(&mut vec![0; length]).unwrap();
            write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len()).unwrap();
        });
        let printed = home.run_bare(&[&["review", "--server", &url], args].concat()).replace(&url, "[URL]");
        server.join().unwrap();
        printed
    };
    let refused = r#"{ "detail": "no" }"#;
    assert_snapshot!([
        review(&["list"], "503 Service Unavailable", r#"{ "detail": "the server is shutting down" }"#),
        review(&["list"], "429 Too Many Requests", "too many requests from this address"),
        review(&["list"], "200 OK", "<html>"),
        review(&["list"], "403 Forbidden", refused),
        review(&["list", "--server-project", "shop"], "403 Forbidden", refused),
        review(&["accept", "8z38z4zp"], "507 Insufficient Storage", r#"{ "detail": "the change exceeds the tenant's quota of 9 memories" }"#),
    ].join("\n"), @"
    -- stderr
    error: cannot list the proposals: the server is not available: the server is shutting down (status 503)
    hint: try again later, or check that the server is running
    -- exit 1

    -- stderr
    error: cannot list the proposals: the server is not available: too many requests from this address (status 429)
    hint: try again later, or check that the server is running
    -- exit 1

    -- stderr
    error: cannot list the proposals: the server sent an unexpected response: expected value at line 1 column 1
    hint: check the URL with: curl [URL]/readyz
    -- exit 1

    -- stderr
    error: cannot list the proposals: the server refused the request: no (status 403)
    hint: ask the server's operator for access, or pass another token
    -- exit 1

    -- stderr
    error: cannot list the proposals: the server refused the request: no (status 403)
    hint: check --server-project, or pass your token with --token-file FILE or MEMDIR_TEAM_TOKEN
    -- exit 1

    -- stderr
    error: cannot accept the proposal: the server refused the request: the change exceeds the tenant's quota of 9 memories (status 507)
    -- exit 1
    ");
    let args = ["review", "list", "--server", "http://127.0.0.1:1"];
    let output = home.bare(&args).env("MEMDIR_TEAM_TOKEN", "mdt_0000000000\nmdt_1111111111").output().unwrap();
    assert_snapshot!(home.transcript(&args, output), @"
    -- stderr
    error: invalid token in MEMDIR_TEAM_TOKEN: expected at least 16 printable ASCII characters, without spaces
    hint: check that the token is complete, or ask the server's operator for another one
    -- exit 2
    ");
}
