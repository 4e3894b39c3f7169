//! People, groups, roles, projects and tokens.

use crate::support::{TENANT, TestDatabase, put, query, text};
use memdir_core::Error;
use memdir_postgres::{CallerKey, MemberRole, NamespaceMount, PostgresStore, TeamCaller, tenant_of_token};
use std::sync::Arc;

fn find(test: &TestDatabase, token: &str) -> Option<TeamCaller> {
    let key = CallerKey::from_token(token)?;
    let database = test.database();
    database.wait_for(TeamCaller::find(database, &key, None)).unwrap()
}

fn prefixes(mounts: &[NamespaceMount]) -> Vec<(String, String, bool)> {
    let row = |mount: &NamespaceMount| {
        let is_writable = mount.mount.access == memdir_core::Access::ReadWrite;
        (mount.mount.prefix.clone(), mount.namespace.clone(), is_writable)
    };
    mounts.iter().map(row).collect()
}

fn row(prefix: &str, namespace: &str, is_writable: bool) -> (String, String, bool) {
    (prefix.into(), namespace.into(), is_writable)
}

#[test]
fn a_role_decides_which_mounts_are_writable() {
    let Some(test) = TestDatabase::new() else { return };
    let database = test.database();
    assert!(database.add_person(TENANT, "ada").unwrap() && !database.add_person(TENANT, "ada").unwrap());
    for group in ["backend", "docs"] {
        assert!(database.add_group(TENANT, group).unwrap());
    }
    assert!(database.add_project(TENANT, "shop", "backend").unwrap());
    assert!(database.add_project(TENANT, "handbook", "docs").unwrap());
    database.set_member(TENANT, "backend", "ada", MemberRole::Writer).unwrap();
    let (row_, token) = database.add_token(TENANT, "ada", None).unwrap();

    let ada = find(&test, &token).unwrap();
    assert_eq!((ada.person.as_str(), ada.connection.as_str()), ("ada", row_.id.as_str()));
    let only = [row("user", "people/ada", true), row("", "projects/shop", true), row("team", "groups/backend", true)];
    assert_eq!(prefixes(&ada.mounts(None).unwrap()), only, "the only project");
    assert_eq!(prefixes(&ada.mounts(Some("shop")).unwrap()), only);
    assert!(matches!(ada.mounts(Some("handbook")), Err(Error::BadInput { .. })), "not a project of the person");

    database.set_member(TENANT, "docs", "ada", MemberRole::Reader).unwrap();
    let ada = find(&test, &token).unwrap();
    assert_eq!(prefixes(&ada.mounts(None).unwrap()), [row("user", "people/ada", true)], "no project is selected, and two groups");
    let docs = [row("user", "people/ada", true), row("", "projects/handbook", false), row("team", "groups/docs", false)];
    assert_eq!(prefixes(&ada.mounts(Some("handbook")).unwrap()), docs, "a reader");
    let store = PostgresStore::open(database, TENANT, &ada.mounts(Some("handbook")).unwrap()).unwrap();
    assert!(matches!(put(&store, "notes/a.md", "no"), Err(Error::ReadOnly { .. })));
    assert!(matches!(put(&store, "team/a.md", "no"), Err(Error::ReadOnly { .. })));
    put(&store, "user/a.md", "yes").unwrap();
    assert_eq!(text(&store, "user/a.md").as_deref(), Some("yes"));

    let (_, agent) = database.add_token(TENANT, "ada", Some("review:er")).unwrap();
    let mounts = find(&test, &agent).unwrap().mounts(Some("shop")).unwrap();
    assert!(prefixes(&mounts).contains(&row("agent/review-er", "people/ada/agents/review-er", true)));
}

#[test]
fn a_token_is_stored_as_its_hash_and_ends_with_its_person() {
    let Some(test) = TestDatabase::new() else { return };
    let database = test.database();
    database.create_tenant("other").unwrap();
    for tenant in [TENANT, "other"] {
        database.add_person(tenant, "ada").unwrap();
    }
    let (first, token) = database.add_token(TENANT, "ada", None).unwrap();
    let (_, foreign) = database.add_token("other", "ada", None).unwrap();
    assert_eq!(tenant_of_token(&token).as_deref(), Some(TENANT));
    let stored = query(&test.url, "select * from memdir.tokens").unwrap().concat().join(" ");
    assert!(!stored.contains(&token[4..40]), "the secret is not stored");
    assert_eq!(find(&test, &foreign).unwrap().tenant, "other");
    // The random part of one tenant's token with the name of another tenant.
    let swapped = format!("{}-{}", token.split_once('-').unwrap().0, foreign.split_once('-').unwrap().1);
    assert_eq!(find(&test, &swapped), None);
    for text in ["", "mdt_", "mdt_zz-61", &token[..68], &format!("{token}0"), "mdt_é-61", &format!("{}-00", &token[..68])] {
        assert_eq!(find(&test, text), None, "{text:?}");
    }

    let known = Arc::new(find(&test, &token).unwrap());
    let key = CallerKey::from_token(&token).unwrap();
    assert_eq!(database.wait_for(TeamCaller::find(database, &key, Some(known.clone()))).unwrap().as_ref(), Some(&*known));
    assert_eq!(database.remove_token(TENANT, &first.id).unwrap().map(|row| row.person), Some("ada".into()));
    assert_eq!(database.remove_token(TENANT, &first.id).unwrap(), None);
    assert_eq!(database.wait_for(TeamCaller::find(database, &key, Some(known))).unwrap(), None, "revoked");

    let (_, token) = database.add_token(TENANT, "ada", None).unwrap();
    assert!(find(&test, &token).is_some());
    let store = PostgresStore::open(database, TENANT, &[NamespaceMount::new("user", "people/ada")]).unwrap();
    put(&store, "user/kept.md", "kept").unwrap();
    assert!(database.remove_person(TENANT, "ada").unwrap());
    assert_eq!(find(&test, &token), None, "the person was removed");
    assert_eq!(text(&store, "user/kept.md").as_deref(), Some("kept"));
    assert!(find(&test, &foreign).is_some(), "a person of the same name of another tenant");
}

#[test]
fn what_does_not_exist_is_refused_and_every_change_counts_up_the_revision() {
    let Some(test) = TestDatabase::new() else { return };
    let database = test.database();
    let revision = || query(&test.url, "select revision from memdir.tenants where tenant = 'acme'").unwrap()[0][0].clone();
    let message = |result: memdir_core::Result<()>| result.unwrap_err().command_message();
    assert_eq!(
        message(database.set_member(TENANT, "backend", "ada", MemberRole::Admin)),
        "group \"backend\" does not exist; add the group first"
    );
    assert_eq!(message(database.add_token(TENANT, "ada", None).map(drop)), "person \"ada\" does not exist; add the person first");
    assert!(message(database.add_person(TENANT, "../x").map(drop)).contains("not a valid directory name"));
    assert!("owner".parse::<MemberRole>().is_err());
    let mut last = revision();
    let mut is_counted = |what: &str| {
        let now = revision();
        assert_ne!(std::mem::replace(&mut last, now.clone()), now, "{what}");
    };
    database.add_person(TENANT, "ada").unwrap();
    is_counted("person");
    database.add_group(TENANT, "backend").unwrap();
    is_counted("group");
    database.set_member(TENANT, "backend", "ada", MemberRole::Admin).unwrap();
    is_counted("member");
    database.add_project(TENANT, "shop", "backend").unwrap();
    is_counted("project");
    assert!(!database.add_project(TENANT, "shop", "backend").unwrap(), "added before");
    let (token, _) = database.add_token(TENANT, "ada", None).unwrap();
    is_counted("token");
    assert!(message(database.remove_group(TENANT, "backend").map(drop)).contains("violates foreign key constraint"));
    database.remove_token(TENANT, &token.id).unwrap();
    is_counted("removed token");
    database.remove_member(TENANT, "backend", "ada").unwrap();
    is_counted("removed member");
    assert!(database.remove_project(TENANT, "shop").unwrap() && database.remove_group(TENANT, "backend").unwrap());
    is_counted("removed group");
    assert!(database.has_tenant(TENANT).unwrap() && database.remove_tenant(TENANT).unwrap());
    assert!(!database.has_tenant(TENANT).unwrap());
}

/// A replica would take the permissions of the earlier tenant for newer ones.
#[test]
fn a_tenant_that_is_created_again_has_a_greater_revision() {
    let Some(test) = TestDatabase::new() else { return };
    let database = test.database();
    let key = CallerKey::Person { tenant: TENANT.into(), person: "ada".into(), connection: "oauth".into() };
    let revision = || {
        database.create_tenant(TENANT).unwrap();
        database.add_person(TENANT, "ada").unwrap();
        database.wait_for(TeamCaller::find(database, &key, None)).unwrap().unwrap().revision
    };
    let first = revision();
    for group in ["a", "b", "c", "d", "e"] {
        database.add_group(TENANT, group).unwrap();
    }
    let before = database.wait_for(TeamCaller::find(database, &key, None)).unwrap().unwrap().revision;
    assert!(before > first);
    assert!(database.remove_tenant(TENANT).unwrap());
    assert!(revision() > before);
}
