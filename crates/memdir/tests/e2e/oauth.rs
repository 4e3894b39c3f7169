//! Access tokens of a real identity provider: who gets in, with what, and who does not.

use crate::{
    home::Home,
    mcp_callers::{ask, call_text, names, token, write},
    mcp_clients,
    provider::{IdentityProvider, RESOURCE},
    web::{Reply, Web},
};
use serde_json::{Value, json};
use std::{net::TcpListener, process::Command};

const BOTH: &str = "memdir:read memdir:write";
const GROUPS: &str = "[[oauth.groups]]\nname = \"engineering\"\nprojects = [\"shop\"]\n[[oauth.groups]]\nname = \"finance\"\nprojects = [\"shop\", \"bank\"]\n";

fn refusal(reply: &Reply) -> (u16, String, String) {
    (reply.status, reply.header("www-authenticate").unwrap_or_default().to_owned(), reply.body.clone())
}

/// Calls a tool with a token that must be refused.
fn refused(web: &Web, token: &str) -> (u16, String, String) {
    refusal(&ask(web, token, &[], "memory_read", json!({})))
}

#[test]
fn people_of_the_provider_share_their_projects_and_nothing_else() {
    let (home, provider) = (Home::new(), IdentityProvider::start());
    provider.configure(&home, RESOURCE, GROUPS);
    let (eve, _) = token(&home, &["eve", "shop"]);
    let web = Web::start_bare(&home, &[]);
    let ada = provider.token("ada", BOTH, RESOURCE);
    let bob = provider.token("bob", BOTH, &format!("{RESOURCE}/mcp"));
    let shop = [("Memdir-Project", "shop")];
    for path in ["deploy", "team/rule", "user/ada"] {
        write(&web, &ada, &[], path);
    }
    write(&web, &bob, &shop, "user/bob");
    write(&web, &bob, &[("Memdir-Project", "bank")], "other");
    assert_eq!(names(&web, &ada, &[]), ["deploy", "team/rule", "user/ada"]);
    assert_eq!(names(&web, &bob, &shop), ["deploy", "team/rule", "user/bob"]);
    assert_eq!(names(&web, &eve, &[]), ["deploy", "team/rule"], "a token of the settings works beside them");
    let stolen = call_text(&web, &bob, &shop, "memory_read", json!({ "path": "user/ada" }));
    assert!(!stolen.contains("for everybody"), "{stolen}");
    let foreign = ask(&web, &ada, &[("Memdir-Project", "bank")], "memory_read", json!({}));
    assert_eq!((foreign.status, foreign.body.as_str()), (403, "invalid project: \"bank\" is not one of your projects"));
    // Another token of the same person is the same caller.
    assert_eq!(names(&web, &provider.token("ada", BOTH, RESOURCE), &[]), ["deploy", "team/rule", "user/ada"]);
}

#[test]
fn a_token_with_the_scope_to_read_gets_read_only_memories() {
    let (home, provider) = (Home::new(), IdentityProvider::start());
    provider.configure(&home, RESOURCE, GROUPS);
    let web = Web::start_bare(&home, &[]);
    write(&web, &provider.token("ada", BOTH, RESOURCE), &[], "user/ada");
    let reader = provider.token("ada", "memdir:read", RESOURCE);
    assert_eq!(names(&web, &reader, &[]), ["user/ada"]);
    let bearer = format!("Bearer {reader}");
    let listed = web.connect().post(
        &[("Authorization", &bearer), ("Mcp-Method", "tools/list"), ("Mcp-Protocol-Version", crate::talk::SESSIONLESS)],
        &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": crate::talk::meta() } }),
    );
    let tools: Vec<Value> = listed.message()["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(tools, ["memory_read", "memory_search", "memory_get", "memory_stats"]);
    let writers = Web::start_bare(&home, &["--tools", "memory_write"]);
    let why = "this token is read-only, and this server serves no read-only tools";
    let reply = ask(&writers, &reader, &[], "memory_write", json!({ "path": "x", "content": "x" }));
    assert_eq!((reply.status, reply.body.as_str()), (403, why));
}

#[test]
fn every_other_token_is_refused_with_the_reason() {
    let (home, provider) = (Home::new(), IdentityProvider::start());
    provider.configure(&home, RESOURCE, GROUPS);
    let web = Web::start_bare(&home, &[]);
    let good = provider.mint("rsa", json!({}), &[]);
    let challenge =
        |error: &str| format!("Bearer resource_metadata=\"{RESOURCE}/.well-known/oauth-protected-resource/mcp\"{error}, scope=\"{BOTH}\"");
    let invalid = |why: &str| (401, challenge(&format!(", error=\"invalid_token\", error_description=\"{why}\"")), why.to_owned());
    for by in ["rsa", "ec", "ed"] {
        assert_eq!(ask(&web, &provider.mint(by, json!({}), &[]), &[], "memory_read", json!({})).status, 200, "{by}");
    }
    let no_token = web.connect().post(&[], &json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }));
    assert_eq!(refusal(&no_token), (401, challenge(""), "missing or unknown bearer token".to_owned()));
    assert_eq!(refused(&web, "mdt_unknown"), invalid("missing or unknown bearer token"));
    let now = jiff::Timestamp::now().as_second();
    let with = |claims: &[(&str, Value)]| provider.mint("rsa", json!({}), claims);
    assert_eq!(refused(&web, &with(&[("exp", json!(now - 60))])), invalid("the token has expired"));
    assert_eq!(ask(&web, &with(&[("exp", json!(now - 5))]), &[], "memory_read", json!({})).status, 200, "clocks differ a little");
    assert_eq!(refused(&web, &with(&[("exp", json!(null))])), invalid("the token has no expiry time"));
    for from in [json!(now + 600), json!("now"), json!(null)] {
        assert_eq!(refused(&web, &with(&[("nbf", from)])), invalid("the token is not valid yet"));
    }
    assert_eq!(
        refused(&web, &with(&[("aud", json!("https://other.example.org"))])),
        invalid("the token's audience does not include this server")
    );
    assert_eq!(
        refused(&web, &with(&[("aud", json!(format!("{RESOURCE}.evil.example")))])),
        invalid("the token's audience does not include this server")
    );
    assert_eq!(refused(&web, &with(&[("iss", json!("https://evil.example.org"))])), invalid("the token's issuer is not accepted"));
    assert_eq!(refused(&web, &provider.mint("none", json!({}), &[])), invalid("the token's signature algorithm is not accepted"));
    assert_eq!(refused(&web, &provider.mint("public", json!({}), &[])), invalid("the token's signature algorithm is not accepted"));
    assert_eq!(refused(&web, &provider.mint("stranger", json!({}), &[])), invalid("the token has an invalid signature"));
    assert_eq!(refused(&web, &provider.mint("rsa", json!({ "kid": "ec-0" }), &[])), invalid("the token has an invalid signature"));
    assert_eq!(
        refused(&web, &provider.mint("rsa", json!({ "crit": ["x"], "x": 1 }), &[])),
        invalid("the token has unsupported critical extensions")
    );
    assert_eq!(refused(&web, "a.b.c"), invalid("the token is not a signed JWT"));
    let (head, rest) = good.split_once('.').unwrap();
    let (_, signature) = rest.split_once('.').unwrap();
    let (_, other) =
        provider.mint("rsa", json!({}), &[("sub", json!("bob"))]).split_once('.').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let tampered = format!("{head}.{}.{signature}", other.split_once('.').unwrap().0);
    assert_eq!(refused(&web, &tampered), invalid("the token has an invalid signature"));
    let scope = (
        403,
        challenge(", error=\"insufficient_scope\""),
        "the token has neither the scope \"memdir:read\" nor \"memdir:write\"".to_owned(),
    );
    assert_eq!(refused(&web, &with(&[("scope", json!("openid memdir:reader"))])), scope);
    for (sub, why) in [
        (
            json!("../bob"),
            "\"../bob\" is not a valid name for a person; ask the operator of this server to choose another claim for oauth.person_claim",
        ),
        (json!(null), "the token does not name a person: the claim \"sub\" is missing, not a string, empty, or has spaces around it"),
        (json!("bob\n"), "the token does not name a person: the claim \"sub\" is missing, not a string, empty, or has spaces around it"),
    ] {
        assert_eq!(refused(&web, &with(&[("sub", sub)])), (403, String::new(), why.to_owned()));
    }
    assert_eq!(ask(&web, &good, &[], "memory_read", json!({})).status, 200);
}

#[test]
fn rotated_keys_are_read_again_and_unknown_ones_cannot_flood_the_provider() {
    let (home, provider) = (Home::new(), IdentityProvider::start());
    provider.configure(&home, RESOURCE, GROUPS);
    let web = Web::start_bare(&home, &[]);
    let status = |token: &str| ask(&web, token, &[], "memory_read", json!({})).status;
    let old = provider.token("ada", BOTH, RESOURCE);
    assert_eq!((status(&old), provider.key_reads()), (200, 1));
    assert_eq!((status(&old), provider.key_reads()), (200, 1), "keys are cached");
    provider.rotate();
    assert_eq!((status(&provider.token("ada", BOTH, RESOURCE)), provider.key_reads()), (200, 2));
    assert_eq!(status(&old), 401, "the old key was withdrawn");
    for n in 0..8 {
        assert_eq!(status(&provider.mint("stranger", json!({ "kid": format!("unknown-{n}") }), &[])), 401);
    }
    assert!(provider.key_reads() <= 4, "{}", provider.key_reads());
}

#[test]
fn without_the_provider_its_tokens_are_not_refused_but_put_off() {
    let home = Home::new();
    let provider = IdentityProvider::start();
    provider.configure(&home, RESOURCE, GROUPS);
    let (eve, _) = token(&home, &["eve", "shop"]);
    let ada = provider.token("ada", BOTH, RESOURCE);
    drop(provider);
    let web = Web::start_bare(&home, &[]);
    let reply = ask(&web, &ada, &[], "memory_read", json!({}));
    assert_eq!((reply.status, reply.header("retry-after")), (503, Some("1")), "{reply:?}");
    assert!(reply.body.starts_with("cannot read the identity provider's keys: "), "{reply:?}");
    assert_eq!(ask(&web, &eve, &[], "memory_read", json!({})).status, 200);
}

#[test]
fn clients_find_the_provider_in_the_metadata() {
    let (home, provider) = (Home::new(), IdentityProvider::start());
    provider.configure(&home, "https://memory.example.org/agents/", "");
    let web = Web::start_bare(&home, &[]);
    let get = |path: &str| web.connect().request("GET", path, &[("Origin", "http://localhost:6274")], b"");
    let metadata = |path: &str| {
        let reply = get(path);
        assert_eq!((reply.status, reply.header("access-control-allow-origin")), (200, Some("http://localhost:6274")), "{reply:?}");
        reply.message()
    };
    let expected = |resource: &str| {
        json!({ "resource": resource, "authorization_servers": [provider.issuer], "scopes_supported": ["memdir:read", "memdir:write"],
            "bearer_methods_supported": ["header"], "resource_name": "memdir" })
    };
    let (server, mcp) = (expected("https://memory.example.org/agents"), expected("https://memory.example.org/agents/mcp"));
    assert_eq!(metadata("/.well-known/oauth-protected-resource"), server);
    assert_eq!(metadata("/.well-known/oauth-protected-resource/agents"), server);
    assert_eq!(metadata("/.well-known/oauth-protected-resource/agents/mcp"), mcp);
    assert_eq!(metadata("/.well-known/oauth-protected-resource/mcp"), mcp);
    assert_eq!(get("/.well-known/oauth-protected-resource/other").status, 404);
    let reply = web.connect().post(&[], &json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }));
    let challenge = "Bearer resource_metadata=\"https://memory.example.org/.well-known/oauth-protected-resource/agents/mcp\", scope=\"memdir:read memdir:write\"";
    assert_eq!((reply.status, reply.header("www-authenticate")), (401, Some(challenge)));
}

#[test]
fn a_server_without_a_provider_has_no_metadata() {
    let home = Home::new();
    token(&home, &["ada"]);
    let web = Web::start_bare(&home, &[]);
    assert_eq!(web.connect().request("GET", "/.well-known/oauth-protected-resource", &[], b"").status, 404);
    assert_eq!(refused(&web, "a.b.c"), (401, "Bearer".into(), "missing or unknown bearer token".into()));
}

#[test]
fn settings_that_would_send_tokens_in_plain_text_are_an_error() {
    let home = Home::new();
    let start = |issuer: &str, resource: &str| {
        home.configure(&format!("[oauth]\nissuer = \"{issuer}\"\nresource = \"{resource}\"\n"));
        let args = ["mcp", "--http", "127.0.0.1:0"];
        home.transcript(&args, home.bare(&args).output().unwrap())
    };
    insta::assert_snapshot!(start("http://login.example.org", RESOURCE), @r#"
    -- stderr
    error: oauth.issuer "http://login.example.org" is not valid: use an https URL without credentials, query or fragment; http is allowed only for loopback addresses
    hint: correct the [oauth] table with: memdir config edit
    -- exit 3
    "#);
    insta::assert_snapshot!(start("https://login.example.org", "memory.example.org"), @r#"
    -- stderr
    error: oauth.resource "memory.example.org" is not valid: use an https URL without credentials, query or fragment; http is allowed only for loopback addresses
    hint: correct the [oauth] table with: memdir config edit
    -- exit 3
    "#);
}

/// Returns a port that is free now.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn the_official_clients_sign_a_person_in_by_themselves() {
    let (home, provider, port) = (Home::new(), IdentityProvider::start(), free_port());
    provider.configure(&home, &format!("http://127.0.0.1:{port}"), GROUPS);
    let web = Web::spawn(home.bare(&["mcp", "--http", &format!("127.0.0.1:{port}")]));
    for (version, person) in [("v1", "ada"), ("v2", "bob")] {
        let mut command = Command::new("node");
        command.arg(mcp_clients::root().join("tests/clients/sign-in.mjs")).args([version, &web.url(), person]).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("MEMDIR_TEST_CLIENTS", mcp_clients::installed());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{version}: {}", String::from_utf8_lossy(&output.stderr));
        let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
        let expected = json!({ "scope": BOTH, "resource": web.url(), "challenge": "S256", "wrote": "Saved", "read": true });
        assert_eq!(printed, expected, "{version}");
    }
}
