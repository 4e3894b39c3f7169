//! What a tenant stores as a whole: quotas, the audit log, erasing a person, moving to another database.

use crate::support::{TENANT, TestDatabase, check_sequences, intent, path, put, query, text};
use memdir_core::{ChangeFilter, FileEdit, Role, Store, Verb};
use memdir_postgres::{Database, MemberRole, NamespaceMount, PostgresStore, TenantQuota, TenantUsage};

#[test]
fn a_quota_refuses_growth_and_nothing_else() {
    let Some(test) = TestDatabase::new() else { return };
    let (database, store) = (test.database(), test.store("projects/shop"));
    put(&store, "a.md", "1234").unwrap();
    put(&test.store("projects/other"), "b.md", "12").unwrap();
    assert_eq!(database.quota(TENANT).unwrap(), (TenantQuota::default(), TenantUsage { memories: 2, bytes: 6 }));
    let quota = TenantQuota { max_memories: Some(2), max_bytes: Some(10) };
    database.set_quota(TENANT, &quota).unwrap();
    let refused = put(&store, "c.md", "").unwrap_err();
    assert_eq!(refused.to_string(), "the change exceeds the tenant's quota of 2 memories");
    let refused = put(&store, "a.md", "123456789").unwrap_err();
    assert_eq!(refused.to_string(), "the change exceeds the tenant's quota of 10 bytes");
    assert_eq!(text(&store, "a").as_deref(), Some("1234"), "a refused change leaves everything as it was");
    // Growth within the quota, and any change that shrinks, even beyond a quota that was lowered.
    put(&store, "a.md", "12345678").unwrap();
    database.set_quota(TENANT, &TenantQuota { max_memories: Some(0), max_bytes: Some(1) }).unwrap();
    put(&store, "a.md", "1234567").unwrap();
    assert_eq!(database.quota(TENANT).unwrap().1, TenantUsage { memories: 2, bytes: 9 });
    // Another tenant has its own.
    database.create_tenant("globex").unwrap();
    let theirs = PostgresStore::open(database, "globex", &[NamespaceMount::new("", "projects/shop")]).unwrap();
    put(&theirs, "a.md", "1234567890123").unwrap();
    assert_eq!(database.quota("globex").unwrap(), (TenantQuota::default(), TenantUsage { memories: 1, bytes: 13 }));
    check_sequences(&test.url);
}

/// Ada has memories of her own and shares a project with Ben.
fn with_people(test: &TestDatabase) -> (PostgresStore, PostgresStore) {
    let database = test.database();
    for person in ["ada", "ben"] {
        database.add_person(TENANT, person).unwrap();
    }
    database.add_group(TENANT, "backend").unwrap();
    database.set_member(TENANT, "backend", "ada", MemberRole::Writer).unwrap();
    database.add_project(TENANT, "shop", "backend").unwrap();
    database.add_token(TENANT, "ada", None).unwrap();
    // The actor of these changes is ada.
    let (own, shared) = (test.store("people/ada"), test.store("projects/shop"));
    put(&own, "secret.md", "Ada's first text").unwrap();
    put(&own, "secret.md", "Ada's text").unwrap();
    put(&test.store("people/ada/agents/reviewer"), "agent.md", "Of her agent").unwrap();
    put(&test.store("people/adam"), "other.md", "Of another person").unwrap();
    put(&shared, "deploy.md", "Never on Fridays").unwrap();
    (own, shared)
}

#[test]
fn the_audit_log_has_every_change_of_the_administration() {
    let Some(test) = TestDatabase::new() else { return };
    with_people(&test);
    let entries = test.database().audit(TENANT, 100).unwrap();
    let mut shown: Vec<String> = entries.iter().map(|one| format!("{} {}", one.action, one.details)).collect();
    shown.reverse();
    let token = shown.pop().unwrap();
    assert!(token.starts_with("tokens.insert ") && token.contains("\"person\":\"ada\"") && !token.contains("hash"), "{token}");
    assert_eq!(
        shown,
        [
            r#"tenants.insert {"max_bytes":null,"max_memories":null}"#,
            r#"people.insert {"person":"ada"}"#,
            r#"people.insert {"person":"ben"}"#,
            r#"groups.insert {"name":"backend"}"#,
            r#"members.insert {"role":"writer","person":"ada","group_name":"backend"}"#,
            r#"projects.insert {"project":"shop","group_name":"backend"}"#,
        ]
    );
    // The application's role cannot remove it, and another tenant does not see it.
    let as_app = |sql: &str| query(&test.url, &format!("set role memdir_app; set memdir.tenant = '{TENANT}'; {sql}"));
    assert!(as_app("delete from memdir.audit").unwrap_err().to_string().contains("db error"));
    test.database().create_tenant("globex").unwrap();
    assert_eq!(test.database().audit("globex", 100).unwrap().len(), 1);
    assert!(test.database().remove_tenant(TENANT).unwrap());
    assert_eq!(query(&test.url, "select tenant from memdir.audit group by 1").unwrap(), [["globex"]]);
}

#[test]
fn an_erased_person_leaves_no_text_and_no_name() {
    let Some(test) = TestDatabase::new() else { return };
    let (own, shared) = with_people(&test);
    let database = test.database();
    let planned = database.erase_person(TENANT, "ada", false).unwrap();
    assert_eq!(text(&own, "secret").as_deref(), Some("Ada's text"), "a plan erases nothing");
    let receipt = database.erase_person(TENANT, "ada", true).unwrap();
    let numbers = (receipt.namespaces, receipt.memories, receipt.versions, receipt.changes, receipt.tokens, receipt.groups);
    assert_eq!(numbers, (2, 2, 3, 3, 1, 1));
    assert_eq!((planned.memories, planned.shared_changes), (receipt.memories, receipt.shared_changes));
    assert_eq!(text(&own, "secret"), None);
    assert_eq!(text(&test.store("people/adam"), "other").as_deref(), Some("Of another person"));
    assert_eq!(text(&shared, "deploy").as_deref(), Some("Never on Fridays"));
    assert_eq!(shared.changes(&ChangeFilter::default()).unwrap()[0].actor.name, receipt.erased_as);
    assert_eq!(database.people(TENANT).unwrap().into_keys().collect::<Vec<_>>(), ["ben"]);
    let error = database.erase_person(TENANT, "ada", true).unwrap_err().command_message();
    assert_eq!(error, "person \"ada\" does not exist in tenant \"acme\"; list the people with: memdir admin person list --tenant acme");
    // No row of any table has the name or the text.
    for table in [
        "people", "members", "tokens", "namespaces", "documents", "versions", "changes", "change_files", "claims", "proposals", "usage",
        "audit",
    ] {
        let named = format!(r#"select t::text from memdir.{table} t where t::text ~ '\yada\y' or t::text like '%Ada%'"#);
        assert_eq!(query(&test.url, &named).unwrap(), Vec::<Vec<String>>::new(), "{table}");
    }
    let texts = "select count(*) from memdir.versions where convert_from(bytes, 'UTF8') like '%Ada%'";
    assert_eq!(query(&test.url, texts).unwrap(), [["0"]]);
    check_sequences(&test.url);
}

/// A change could wait for a lock while its person was erased, and bring their name and texts back.
#[test]
fn an_erasure_waits_for_changes_of_the_person_and_refuses_later_ones() {
    let Some(test) = TestDatabase::new() else { return };
    let (_, shared) = with_people(&test);
    let database = test.database();
    let mounts = [("user", "people/ada"), ("", "projects/shop")];
    let mounts = mounts.map(|(prefix, name)| NamespaceMount { person: Some("ada".into()), ..NamespaceMount::new(prefix, name) });
    let ada = PostgresStore::open(database, TENANT, &mounts).unwrap();
    let waiting = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    let edit = FileEdit { path: path("deploy.md"), bytes: Some(b"Only on Tuesdays".to_vec()), role: Role::Memory };
    let receipt = std::thread::scope(|scope| {
        let mut erasing = None;
        let mut later = None;
        let made = ada.change(&intent(Verb::Write), &[path("deploy.md")], &mut |_| {
            let erasing = erasing.get_or_insert_with(|| scope.spawn(|| database.erase_person(TENANT, "ada", true).unwrap()));
            while !erasing.is_finished() && query(&test.url, waiting).unwrap() == [["0"]] {}
            // A person who keeps writing must not delay the erasure: a later change waits until it is done.
            let later = later.get_or_insert_with(|| scope.spawn(|| put(&ada, "user/later.md", "later").unwrap_err().to_string()));
            while !later.is_finished() && query(&test.url, waiting).unwrap() == [["1"]] {}
            Ok(vec![edit.clone()])
        });
        made.unwrap();
        assert_eq!(later.unwrap().join().unwrap(), "the change was not made: the token's owner was removed");
        erasing.unwrap().join().unwrap()
    });
    assert_eq!(text(&shared, "deploy").as_deref(), Some("Only on Tuesdays"));
    let actors: Vec<String> = shared.changes(&ChangeFilter::default()).unwrap().into_iter().map(|change| change.actor.name).collect();
    assert_eq!(actors, [receipt.erased_as.clone(), receipt.erased_as]);
    for name in ["user/back.md", "deploy.md"] {
        assert_eq!(put(&ada, name, "again").unwrap_err().to_string(), "the change was not made: the token's owner was removed");
    }
    assert_eq!(query(&test.url, "select 1 from memdir.namespaces where namespace = 'people/ada'").unwrap(), Vec::<Vec<String>>::new());
}

#[test]
fn a_tenant_is_removed_after_the_changes_that_are_being_made() {
    let Some(test) = TestDatabase::new() else { return };
    let (_, shared) = with_people(&test);
    let database = test.database();
    let mount = NamespaceMount { person: Some("ada".into()), ..NamespaceMount::new("", "projects/shop") };
    let ada = PostgresStore::open(database, TENANT, &[mount]).unwrap();
    let waiting = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    let edit = FileEdit { path: path("deploy.md"), bytes: Some(b"Only on Tuesdays".to_vec()), role: Role::Memory };
    for store in [&ada, &shared] {
        database.create_tenant(TENANT).unwrap();
        database.add_person(TENANT, "ada").unwrap();
        std::thread::scope(|scope| {
            let mut removing = None;
            let made = store.change(&intent(Verb::Write), &[path("deploy.md")], &mut |_| {
                let removing = removing.get_or_insert_with(|| scope.spawn(|| database.remove_tenant(TENANT)));
                while !removing.is_finished() && query(&test.url, waiting).unwrap() == [["0"]] {}
                Ok(vec![edit.clone()])
            });
            made.unwrap();
            assert!(removing.unwrap().join().unwrap().unwrap());
        });
        for table in ["tenants", "people", "namespaces", "documents", "versions", "changes", "change_files"] {
            assert_eq!(query(&test.url, &format!("select count(*) from memdir.{table}")).unwrap(), [["0"]], "{table}");
        }
    }
}

#[test]
fn a_tenant_moves_to_another_database() {
    let (Some(test), Some(other)) = (TestDatabase::new(), TestDatabase::new()) else { return };
    let (own, _) = with_people(&test);
    let mut lines = Vec::new();
    let exported = test.database().export_tenant(TENANT, |line| {
        lines.push(line.to_owned());
        Ok(())
    });
    assert_eq!(exported.unwrap() as usize, lines.len() - 2);
    let import = |database: &Database, tenant: &str, lines: &[String]| {
        let mut lines = lines.iter().cloned();
        database.import_tenant(tenant, || Ok(lines.next()))
    };
    let error = import(other.database(), TENANT, &lines).unwrap_err().command_message();
    assert_eq!(error, "tenant \"acme\" already exists; import under another name, or remove the existing tenant first");
    let cut = import(other.database(), "moved", &lines[..lines.len() - 1]).unwrap_err().to_string();
    assert_eq!(cut, "tenant export: it is truncated: the last line is missing; export the tenant again");
    let mut damaged = lines.clone();
    damaged[2].truncate(9);
    let damaged = import(other.database(), "moved", &damaged).unwrap_err().to_string();
    assert!(damaged.starts_with("tenant export: line 3, column 9: EOF while parsing"), "{damaged}");
    assert!(!other.database().has_tenant("moved").unwrap(), "a failed import leaves nothing");
    import(other.database(), "moved", &lines).unwrap();
    let moved = PostgresStore::open(other.database(), "moved", &[NamespaceMount::new("", "people/ada")]).unwrap();
    assert_eq!(text(&moved, "secret"), text(&own, "secret"));
    assert_eq!(moved.changes(&ChangeFilter::default()).unwrap(), own.changes(&ChangeFilter::default()).unwrap());
    assert_eq!(other.database().people("moved").unwrap(), test.database().people(TENANT).unwrap());
    assert_eq!(other.database().tokens("moved").unwrap(), test.database().tokens(TENANT).unwrap());
    assert_eq!(other.database().quota("moved").unwrap(), test.database().quota(TENANT).unwrap());
    check_sequences(&other.url);
}
