//! People of an identity provider on replicas of `memdir serve`: the database decides what they see.

use crate::{
    home::Home,
    mcp_callers::{ask, call_text},
    provider::{IdentityProvider, RESOURCE},
    team_server::{TENANT, TeamDatabase},
    web::{Reply, Web},
};
use memdir_postgres::MemberRole;
use serde_json::json;

const BOTH: &str = "memdir:read memdir:write";

fn read(web: &Web, token: &str, path: &str) -> String {
    call_text(web, token, &[], "memory_read", json!({ "path": path }))
}

fn save(web: &Web, token: &str, path: &str) -> String {
    call_text(web, token, &[], "memory_write", json!({ "path": path, "content": format!("The text of {path}.") }))
}

/// Signs in to the pages of a replica, and returns its cookies.
fn sign_in(web: &Web, token: &str) -> String {
    let origin = format!("http://{}", web.address);
    let headers = [("Origin", origin.as_str()), ("Content-Type", "application/x-www-form-urlencoded")];
    let reply = web.connect().request("POST", "/ui/login", &headers, format!("token={token}&project=").as_bytes());
    assert_eq!(reply.status, 200, "{reply:?}");
    let cookies = reply.headers.iter().filter(|(name, _)| name == "set-cookie");
    cookies.map(|(_, cookie)| cookie.split(';').next().unwrap()).collect::<Vec<_>>().join("; ")
}

fn page(web: &Web, cookies: &str, path: &str) -> Reply {
    web.connect().request("GET", path, &[("Cookie", cookies), ("Sec-Fetch-Mode", "navigate")], b"")
}

#[test]
fn people_who_sign_in_have_the_roles_of_the_database_on_every_replica() {
    let Some(team) = TeamDatabase::new() else { return };
    let (home, other, provider) = (Home::new(), Home::new(), IdentityProvider::start());
    for home in [&home, &other] {
        provider.configure(home, RESOURCE, &format!("tenant = \"{TENANT}\"\n"));
    }
    let ada_token = team.token("ada", MemberRole::Writer);
    let (one, two) = (team.replica(&home, &[]), team.replica(&other, &[]));
    let ada = provider.token("ada", BOTH, RESOURCE);
    let bob = provider.token("bob", BOTH, RESOURCE);
    let unknown = ask(&one, &bob, &[], "memory_read", json!({}));
    assert_eq!(
        (unknown.status, unknown.body.as_str()),
        (403, "\"bob\" is not registered on this server; ask its operator to run: memdir admin person add NAME --tenant TENANT")
    );
    team.token("bob", MemberRole::Reader);
    for path in ["user/ada", "deploy", "team/rule"] {
        assert!(save(&one, &ada, path).starts_with("Saved"), "{path}");
        assert!(read(&two, &ada, path).contains("The text of"), "{path}");
        assert!(read(&two, &ada_token, path).contains("The text of"), "the same person by a token: {path}");
    }
    assert!(read(&two, &bob, "deploy").contains("The text of"));
    assert!(!read(&two, &bob, "user/ada").contains("The text of"));
    assert!(save(&two, &bob, "deploy").contains("read-only"));
    assert!(save(&two, &bob, "user/bob").starts_with("Saved"));
    // A token with the scope to read changes nothing, not even what is the person's own.
    let reader = provider.token("ada", "memdir:read", RESOURCE);
    assert!(read(&one, &reader, "user/ada").contains("The text of"));
    assert_eq!(ask(&one, &reader, &[], "memory_write", json!({ "path": "user/x", "content": "x" })).message()["error"]["code"], -32602);
    // The tenant of a token is not negotiable.
    let foreign = provider.mint("rsa", json!({}), &[("tenant", json!("other"))]);
    assert!(read(&one, &foreign, "user/ada").contains("The text of"), "a claim that is not configured does not count");

    // The pages: a session of one replica is one of all.
    let (cookies, his) = (sign_in(&one, &ada), sign_in(&one, &bob));
    for web in [&one, &two] {
        let shown = page(web, &cookies, "/ui/m/user/ada");
        assert!(shown.status == 200 && shown.body.contains("The text of user/ada."), "{shown:?}");
        assert_eq!(page(web, &his, "/ui/m/user/ada").status, 404);
    }
    team.database().remove_person(TENANT, "bob").unwrap();
    let ended = page(&two, &his, "/ui/");
    assert_eq!((ended.status, ended.header("location")), (303, Some("/ui/login?ended")));
    assert_eq!(ask(&one, &bob, &[], "memory_read", json!({})).status, 403);
}
