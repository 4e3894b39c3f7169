//! Review: in a marked namespace, changes of callers who are not reviewers are proposals. What the store guarantees about them.

use crate::support::{TENANT, TestDatabase, check_sequences, path, put, put_for, query, text};
use memdir_core::{
    Actor, Change, ChangeFilter, Delete, Edit, Error, IdempotencyKey, Import, Incoming, Memdir, Needle, OnConflict, Phrase, ProposalState,
    UndoTarget, Write, WriteMode,
    internal::{dialects, tools::ToolContext},
};
use memdir_postgres::{APP_ROLE, Database, NamespaceMount, PostgresStore, TenantQuota};
use serde_json::json;
use std::{
    collections::HashMap,
    sync::{Arc, Barrier},
};

const SHOP: &str = "projects/shop";

/// The space of a caller: a project under review, and a memory of their own.
fn space(database: &Database, tenant: &str, person: &str, reviews: bool) -> Memdir {
    let mounts = [NamespaceMount { reviews, ..NamespaceMount::new("", SHOP) }, NamespaceMount::new("user", &format!("people/{person}"))];
    let store = PostgresStore::open(database, tenant, &mounts).unwrap();
    Memdir::new(Arc::new(store), Actor { name: person.into(), session: Some(format!("{person}-token")) })
}

/// A writer and a reviewer of a project under review, which has one memory.
fn reviewed() -> Option<(TestDatabase, Memdir, Memdir)> {
    let test = TestDatabase::new()?;
    let [ada, rita] = [("ada", false), ("rita", true)].map(|(person, reviews)| space(test.database(), TENANT, person, reviews));
    rita.write(&Write::create(path("deploy"), "Never on Fridays.\n")).unwrap();
    assert!(test.database().set_review(TENANT, SHOP, true).unwrap());
    assert!(!test.database().set_review(TENANT, SHOP, true).unwrap());
    Some((test, ada, rita))
}

fn read(memdir: &Memdir, name: &str) -> Option<String> {
    text(memdir.store(), name)
}

/// Returns the id of the proposal that an operation ended with.
fn proposed<T: std::fmt::Debug>(result: memdir_core::Result<T>) -> String {
    match result.unwrap_err() {
        Error::Proposed { id, state, .. } => {
            assert_eq!(state, "is waiting for review");
            id
        }
        other => panic!("{other}"),
    }
}

fn why<T: std::fmt::Debug>(result: memdir_core::Result<T>) -> String {
    result.unwrap_err().to_string()
}

fn every_text(memdir: &Memdir) -> Vec<(String, Vec<u8>)> {
    let entries = memdir.store().list("").unwrap().entries;
    entries.into_iter().map(|entry| (entry.path.to_string(), memdir.store().get(&entry.path).unwrap().unwrap().bytes)).collect()
}

#[test]
fn every_operation_of_a_writer_is_proposed_and_makes_the_same_change_once_it_is_accepted() {
    let Some((test, ada, rita)) = reviewed() else { return };
    rita.write(&Write::create(path("old"), "See [[deploy]].\n")).unwrap();
    // The same operations where nothing is reviewed.
    let free = |person: &str| {
        let store = PostgresStore::open(test.database(), TENANT, &[NamespaceMount::new("", "projects/free")]).unwrap();
        Memdir::new(Arc::new(store), Actor { name: person.into(), session: None })
    };
    let free = free("ada");
    free.write(&Write::create(path("deploy"), "Never on Fridays.\n")).unwrap();
    free.write(&Write::create(path("old"), "See [[deploy]].\n")).unwrap();
    type Operation = fn(&Memdir) -> memdir_core::Result<()>;
    let operations: [(&str, Operation); 9] = [
        ("write new", |memdir| memdir.write(&Write::create(path("new"), "New text.\n")).map(drop)),
        ("append to deploy", |memdir| memdir.write(&Write::create(path("deploy"), "Nor on Mondays.\n").mode(WriteMode::Append)).map(drop)),
        ("edit deploy", |memdir| {
            let needle = Needle::Literal("Fridays".into());
            let edit = Edit { path: path("deploy"), needle, with: "Sundays".into(), all: false, expect: None, final_newline: true };
            memdir.edit(&edit).map(drop)
        }),
        ("rename deploy to howto/deploy", |memdir| memdir.rename(&path("deploy"), &path("howto/deploy")).map(drop)),
        ("delete old", |memdir| memdir.delete(&Delete { path: path("old"), expect: None }).map(drop)),
        ("undo old", |memdir| memdir.undo(&UndoTarget::Mine).map(drop)),
        ("redo old", |memdir| memdir.redo(&UndoTarget::Mine).map(drop)),
        ("write MEMORY", |memdir| {
            memdir.write(&Write::create(path("MEMORY.md"), "# Notes\n\n- [New](new.md): by hand\n").mode(WriteMode::Replace)).map(drop)
        }),
        ("import one", |memdir| {
            let memories = vec![Incoming { name: "one".into(), text: "One.\n".into() }];
            memdir.import(&Import { memories, under: String::new(), clash: OnConflict::default(), dates: HashMap::new() }).map(drop)
        }),
    ];
    for (what, operation) in operations {
        let before = every_text(&rita);
        let error = operation(&ada).unwrap_err();
        let Error::Proposed { id, what: described, .. } = &error else { panic!("{what}: {error}") };
        assert_eq!(described, what);
        assert_eq!(every_text(&rita), before, "{what} changed a memory before it was accepted");
        let change = rita.accept_proposal(id).unwrap();
        assert_eq!((change.id.0.as_str(), change.actor.name.as_str(), change.reviewer.as_deref()), (id.as_str(), "ada", Some("rita")));
        operation(&free).unwrap();
        assert_eq!(every_text(&rita), every_text(&free), "{what}");
        let recorded = rita.history(&ChangeFilter { most: 1, ..ChangeFilter::default() }).unwrap().remove(0);
        // The database has milliseconds.
        assert_eq!(recorded, Change { at: recorded.at, ..change }, "{what}");
    }
    check_sequences(&test.url);
}

#[test]
fn a_conflict_leaves_the_proposal_open_and_other_lines_of_the_entrypoint_are_kept() {
    let Some((_test, ada, rita)) = reviewed() else { return };
    let edited = proposed(ada.write(&Write::create(path("deploy"), "Only on Tuesdays.\n").mode(WriteMode::Replace)));
    let created = proposed(ada.write(&Write::create(path("tests"), "Run them all.\n")));
    rita.write(&Write::create(path("deploy"), "By Rita.\n").mode(WriteMode::Replace)).unwrap();
    let error = rita.accept_proposal(&edited).unwrap_err();
    let shown = [error.to_string(), error.hint(), error.command_hint()];
    let expected = [
        "memory \"deploy\" has been modified since the change was proposed",
        "Reject the proposal, or make the change yourself.",
        "reject the proposal, or make the change yourself",
    ];
    assert_eq!(shown, expected);
    assert_eq!(read(&rita, "deploy").as_deref(), Some("By Rita.\n"));
    let reading = rita.proposal(&edited).unwrap();
    assert_eq!((reading.proposal.state, reading.diffs[0].is_outdated), (ProposalState::Open, true));
    assert_eq!(reading.diffs[0].diff, "--- a/deploy.md\n+++ b/deploy.md\n@@ -1 +1 @@\n-Never on Fridays.\n+Only on Tuesdays.\n");
    // Rita's line and the proposed one are both there.
    rita.write(&Write::create(path("rita"), "Another memory.\n")).unwrap();
    rita.accept_proposal(&created).unwrap();
    let lines = read(&rita, "MEMORY").unwrap();
    assert!(["deploy.md", "rita.md", "tests.md"].iter().all(|name| lines.contains(name)), "{lines}");
    // A name that was taken meanwhile is a conflict too.
    let taken = proposed(ada.write(&Write::create(path("taken"), "Ada's.\n")));
    rita.write(&Write::create(path("taken"), "Rita's.\n")).unwrap();
    assert_eq!(why(rita.accept_proposal(&taken)), "memory \"taken\" has been modified since the change was proposed");
    assert_eq!(rita.proposals(Some(ProposalState::Open), 0).unwrap().len(), 2);
}

#[test]
fn only_the_author_withdraws_and_only_a_reviewer_rejects() {
    let Some((test, ada, rita)) = reviewed() else { return };
    let ben = space(test.database(), TENANT, "ben", false);
    let first = proposed(ada.write(&Write::create(path("first"), "First.\n")));
    let second = proposed(ada.write(&Write::create(path("second"), "Second.\n")));
    assert_eq!(why(ben.proposal(&first)), format!("proposal {first:?} not found"));
    assert!(ben.proposals(None, 0).unwrap().is_empty());
    for decide in [
        |memdir: &Memdir, id: &str| memdir.accept_proposal(id).map(drop),
        |memdir: &Memdir, id: &str| memdir.reject_proposal(id, None).map(drop),
    ] {
        assert_eq!(why(decide(&ben, &first)), format!("proposal {first:?} not found"));
        assert_eq!(why(decide(&ada, &first)), "only a reviewer can accept or reject proposals");
    }
    assert_eq!(why(rita.withdraw_proposal(&first)), format!("proposal {first} was made by ada; only its author can withdraw it"));
    ada.withdraw_proposal(&first).unwrap();
    rita.reject_proposal(&second, Some(" is in deploy ")).unwrap();
    for id in [&first, &second] {
        let (state, by) = if *id == first { ("withdrawn", "ada") } else { ("rejected", "rita") };
        let decided = format!("proposal {id} was already {state} by {by}");
        assert_eq!(
            [why(rita.accept_proposal(id)), why(rita.reject_proposal(id, None)), why(ada.withdraw_proposal(id))],
            [(); 3].map(|()| decided.clone())
        );
    }
    let shown = ada.proposal(&second).unwrap();
    assert_eq!(shown.proposal.decision.as_ref().unwrap().reason.as_deref(), Some("is in deploy"));
    assert!(shown.diffs[0].diff.ends_with("+Second.\n"), "the author still sees what was rejected");
    assert_eq!((read(&rita, "first"), read(&rita, "second")), (None, None));
    let details =
        "select action, details ->> 'person', details ->> 'reviewer' from memdir.audit where action like 'proposals.%' order by entry";
    assert_eq!(query(&test.url, details).unwrap(), [["proposals.withdrawn", "ada", "ada"], ["proposals.rejected", "ada", "rita"]]);
}

#[test]
fn undo_of_the_author_withdraws_an_open_proposal_and_proposes_to_undo_an_accepted_one() {
    let Some((_test, ada, rita)) = reviewed() else { return };
    let own = ada.write(&Write::create(path("user/own"), "Ada's own memory is not reviewed.\n")).unwrap();
    let id = proposed(ada.write(&Write::create(path("idea"), "An idea.\n")));
    let undone = ada.undo(&UndoTarget::Mine).unwrap();
    assert_eq!((undone.undone.id.0.as_str(), undone.change.files.len()), (id.as_str(), 0));
    assert_eq!(undone.notes, [format!("withdrew proposal {id}, which had not been accepted; no memory was changed")]);
    assert!(read(&ada, "user/own").is_some(), "an older change is not undone instead");
    let id = proposed(ada.write(&Write::create(path("idea"), "An idea.\n")));
    assert_eq!(ada.undo(&UndoTarget::Own(id.clone())).unwrap().undone.id.0, id, "by its id too");
    let id = proposed(ada.write(&Write::create(path("idea"), "An idea.\n")));
    rita.accept_proposal(&id).unwrap();
    // Reviewed memory is not reverted without a review.
    let undo = proposed(ada.undo(&UndoTarget::Mine));
    assert!(read(&ada, "idea").is_some());
    let change = rita.accept_proposal(&undo).unwrap();
    assert_eq!((change.undoes.unwrap().0, read(&ada, "idea")), (id, None));
    assert_eq!(ada.undo(&UndoTarget::Mine).unwrap().undone.id, own.change.unwrap(), "then the one before");
    // With a key, a repeated request does not withdraw or undo the next one.
    let kept = proposed(ada.write(&Write::create(path("kept"), "Kept.\n")));
    let waits = proposed(ada.write(&Write::create(path("again"), "Again.\n")));
    let keyed = ada.with_key(IdempotencyKey { caller: "ada".into(), key: "u".into(), request: [1; 32] });
    let first = keyed.undo(&UndoTarget::Mine).unwrap();
    let again = keyed.undo(&UndoTarget::Mine).unwrap();
    assert_eq!((first.undone.id.0.as_str(), first.is_repeated, again.is_repeated), (waits.as_str(), false, true));
    assert_eq!((first.undone.id, first.change.at, first.notes), (again.undone.id, again.change.at, again.notes));
    assert_eq!(rita.proposals(Some(ProposalState::Open), 0).unwrap()[0].id.0, kept);
}

#[test]
fn a_proposal_whose_text_is_gone_deletes_nothing() {
    let Some((test, ada, rita)) = reviewed() else { return };
    let id = proposed(ada.write(&Write::create(path("deploy"), "Only on Tuesdays.\n").mode(WriteMode::Replace)));
    query(&test.url, &format!("update memdir.proposals set bytes = null where proposal = '{id}'")).unwrap();
    let reading = rita.proposal(&id).unwrap();
    assert_eq!((reading.diffs[0].is_complete, reading.diffs[0].note.as_deref()), (false, Some("the text is no longer stored")));
    assert_eq!(why(rita.accept_proposal(&id)), "the proposed text of \"deploy\" is no longer stored; reject the proposal");
    assert_eq!(read(&rita, "deploy").as_deref(), Some("Never on Fridays.\n"));
    rita.reject_proposal(&id, None).unwrap();
}

#[test]
fn concurrent_requests_with_one_key_withdraw_one_proposal() {
    let Some((_test, ada, rita)) = reviewed() else { return };
    for n in 0..4 {
        proposed(ada.write(&Write::create(path(&format!("n{n}")), "Text.\n")));
    }
    let keyed = ada.with_key(IdempotencyKey { caller: "ada".into(), key: "u".into(), request: [1; 32] });
    let barrier = Barrier::new(8);
    let withdrawn: Vec<String> = std::thread::scope(|scope| {
        let ask = || {
            barrier.wait();
            keyed.undo(&UndoTarget::Mine).unwrap().undone.id.0
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(withdrawn.iter().all(|id| *id == withdrawn[0]), "{withdrawn:?}");
    assert_eq!(rita.proposals(Some(ProposalState::Open), 0).unwrap().len(), 3);
}

#[test]
fn a_key_leads_to_one_proposal_and_then_to_its_change() {
    let Some((test, ada, rita)) = reviewed() else { return };
    let key = || Some(IdempotencyKey { caller: "ada".into(), key: "k".into(), request: [7; 32] });
    let store = ada.store();
    let id = proposed(put_for(store, key(), "keyed.md", "Once."));
    assert_eq!(proposed(put_for(store, key(), "keyed.md", "Once.")), id);
    assert_eq!(rita.proposals(None, 0).unwrap().len(), 1);
    let other = IdempotencyKey { request: [8; 32], ..key().unwrap() };
    assert!(why(put_for(store, Some(other), "keyed.md", "Other.")).contains("it was already used for another request"));
    rita.accept_proposal(&id).unwrap();
    assert_eq!(put_for(store, key(), "keyed.md", "Once.").unwrap().id.0, id, "the retry gets the change");
    let key = Some(IdempotencyKey { caller: "ada".into(), key: "r".into(), request: [9; 32] });
    let id = proposed(put_for(store, key.clone(), "keyed.md", "Twice."));
    rita.reject_proposal(&id, Some("no")).unwrap();
    let error = put_for(store, key, "keyed.md", "Twice.").unwrap_err();
    assert!(error.to_string().ends_with("and was rejected by rita: no"), "{error}");
    assert_eq!(error.command_hint(), "the memory was not changed; propose a new change if it is still needed");
    check_sequences(&test.url);
}

#[test]
fn of_many_that_accept_and_reject_at_once_exactly_one_wins() {
    let Some((test, ada, _)) = reviewed() else { return };
    let databases: Vec<Database> = (0..2).map(|_| Database::connect(&memdir_postgres::DatabaseSettings::new(&test.url)).unwrap()).collect();
    for round in 0..8 {
        let id = proposed(ada.write(&Write::create(path(&format!("round-{round}")), "Text.\n")));
        let barrier = Barrier::new(6);
        let won: Vec<Result<&str, String>> = std::thread::scope(|scope| {
            let deciders: Vec<_> = (0..6)
                .map(|n| {
                    let (id, barrier) = (&id, &barrier);
                    let memdir = space(&databases[n % 2], TENANT, &format!("rita-{n}"), true);
                    scope.spawn(move || {
                        barrier.wait();
                        let decided = match n % 3 {
                            0 => memdir.reject_proposal(id, None).map(|_| "rejected"),
                            _ => memdir.accept_proposal(id).map(|_| "accepted"),
                        };
                        decided.map_err(|error| error.to_string())
                    })
                })
                .collect();
            deciders.into_iter().map(|decider| decider.join().unwrap()).collect()
        });
        let winners: Vec<&&str> = won.iter().flatten().collect();
        assert_eq!(winners.len(), 1, "{won:?}");
        assert!(won.iter().filter_map(|won| won.as_ref().err()).all(|error| error.starts_with(&format!("proposal {id} was "))), "{won:?}");
        assert_eq!(read(&ada, &format!("round-{round}")).is_some(), *winners[0] == "accepted");
        assert_eq!(ada.proposal(&id).unwrap().proposal.state.name(), *winners[0]);
    }
    check_sequences(&test.url);
}

#[test]
fn a_change_of_two_memories_with_other_reviewers_is_refused() {
    let Some((_test, ada, rita)) = reviewed() else { return };
    ada.write(&Write::create(path("user/draft"), "A draft.\n")).unwrap();
    let message = why(ada.rename(&path("user/draft"), &path("draft")));
    assert!(message.contains("must be reviewed and cannot also change"), "{message}");
    assert!(read(&ada, "user/draft").is_some());
    assert!(rita.proposals(None, 0).unwrap().is_empty());
    // A reviewer moves at once.
    rita.write(&Write::create(path("user/ritas"), "A draft.\n")).unwrap();
    rita.rename(&path("user/ritas"), &path("ritas")).unwrap();
}

#[test]
fn open_proposals_are_limited_and_count_for_the_quota() {
    let Some((test, ada, rita)) = reviewed() else { return };
    let database = test.database();
    let used = || database.quota(TENANT).unwrap().1.bytes;
    let before = used();
    let id = proposed(put(ada.store(), "large.md", &"x".repeat(1_000)));
    assert_eq!(used() - before, 1_000);
    ada.withdraw_proposal(&id).unwrap();
    assert_eq!(used(), before);
    database.set_quota(TENANT, &TenantQuota { max_memories: None, max_bytes: Some(before + 100) }).unwrap();
    assert_eq!(
        why(put(ada.store(), "large.md", &"x".repeat(1_000))),
        format!("the change exceeds the tenant's quota of {} bytes", before + 100)
    );
    database.set_quota(TENANT, &TenantQuota::default()).unwrap();
    let first = proposed(put(ada.store(), "0.md", "x"));
    for n in 1..100 {
        proposed(put(ada.store(), &format!("{n}.md"), "x"));
    }
    let message =
        "too many open proposals by you in this project or group: the maximum is 100; withdraw some, or ask a reviewer to review them";
    assert_eq!(why(put(ada.store(), "more.md", "x")), message);
    rita.accept_proposal(&first).unwrap();
    proposed(put(ada.store(), "more.md", "x"));
    let before = used();
    rita.reject_proposal(&ada.proposals(Some(ProposalState::Open), 1).unwrap()[0].id.0, None).unwrap();
    assert_eq!(used(), before - 1, "a rejected text does not count for the quota");
    // A release that does not know reviews cannot bypass them.
    let sql = format!(
        "set role {APP_ROLE}; begin; select set_config('memdir.tenant', '{TENANT}', true);
        insert into memdir.changes (tenant, namespace, sequence, change_id, recorded_us, at_ms, actor, verb, namespaces)
        values ('{TENANT}', '{SHOP}', 1000, 'x', 1, 1, 'ada', 'write', '{{}}'); commit"
    );
    assert_eq!(query(&test.url, &sql).unwrap_err().code().unwrap().code(), "MDR01");
}

#[test]
fn review_that_is_turned_off_leaves_its_proposals() {
    let Some((test, ada, rita)) = reviewed() else { return };
    let id = proposed(ada.write(&Write::create(path("waits"), "Waits.\n")));
    assert!(test.database().set_review(TENANT, SHOP, false).unwrap());
    ada.write(&Write::create(path("at-once"), "At once.\n")).unwrap();
    assert!(ada.has_reviews().unwrap() && rita.has_reviews().unwrap());
    rita.accept_proposal(&id).unwrap();
    assert!(read(&ada, "waits").is_some());
    assert!(!ada.has_reviews().unwrap() && !rita.has_reviews().unwrap());
}

#[test]
fn proposals_of_one_tenant_are_invisible_to_another() {
    let Some((test, ada, _)) = reviewed() else { return };
    let id = proposed(ada.write(&Write::create(path("ours"), "Ours.\n")));
    test.database().create_tenant("globex").unwrap();
    let theirs = space(test.database(), "globex", "ada", true);
    assert!(theirs.proposals(None, 0).unwrap().is_empty());
    assert_eq!(why(theirs.accept_proposal(&id)), format!("proposal {id:?} not found"));
    let as_app = |tenant: &str, sql: &str| {
        query(&test.url, &format!("set role {APP_ROLE}; begin; select set_config('memdir.tenant', '{tenant}', true); {sql}"))
    };
    assert_eq!(as_app("globex", "select count(*) from memdir.proposals").unwrap(), [["0"]]);
    assert_eq!(as_app("", "select count(*) from memdir.proposals").unwrap(), [["0"]]);
    assert_eq!(as_app(TENANT, "select count(*) from memdir.proposals").unwrap(), [["1"]]);
    let stolen = as_app("globex", &format!("update memdir.proposals set state = 'accepted' where tenant = '{TENANT}'; commit; select 1"));
    assert!(stolen.is_ok());
    assert_eq!(ada.proposal(&id).unwrap().proposal.state, ProposalState::Open);
    let forged = format!(
        "insert into memdir.proposals select '{TENANT}', namespace, 'x', 0, 'x', null, 'write', null, '{{}}', '{{}}', '{{}}', '{{}}', null, 0 from memdir.namespaces"
    );
    assert_eq!(
        as_app(
            TENANT,
            &format!(
                "select set_config('memdir.tenant', 'globex', true); {}",
                forged.replace("from memdir.namespaces", "from (select 'x' as namespace) n")
            )
        )
        .unwrap_err()
        .code()
        .unwrap()
        .code(),
        "42501"
    );
}

#[test]
fn an_erased_person_leaves_no_proposal_and_no_name_and_a_tenant_moves_with_its_proposals() {
    let (Some((test, ada, rita)), Some(other)) = (reviewed(), TestDatabase::new()) else { return };
    let database = test.database();
    for person in ["ada", "rita"] {
        database.add_person(TENANT, person).unwrap();
    }
    let accepted = proposed(ada.write(&Write::create(path("kept"), "Kept text.\n")));
    rita.accept_proposal(&accepted).unwrap();
    let rejected = proposed(ada.write(&Write::create(path("no"), "Zebra text.\n")));
    rita.reject_proposal(&rejected, None).unwrap();
    proposed(ada.write(&Write::create(path("open"), "Zebra too.\n")));
    let mut lines = Vec::new();
    database
        .export_tenant(TENANT, |line| {
            lines.push(line.to_owned());
            Ok(())
        })
        .unwrap();
    let mut left = lines.into_iter();
    other.database().import_tenant("moved", || Ok(left.next())).unwrap();
    let moved = space(other.database(), "moved", "rita", true);
    assert_eq!(moved.proposals(None, 0).unwrap(), rita.proposals(None, 0).unwrap());
    assert_eq!(moved.history(&ChangeFilter::default()).unwrap(), rita.history(&ChangeFilter::default()).unwrap());
    assert_eq!(other.database().quota("moved").unwrap(), database.quota(TENANT).unwrap());
    assert_eq!(other.database().reviewed_namespaces("moved").unwrap().into_iter().collect::<Vec<_>>(), [SHOP]);
    let open = &moved.proposals(Some(ProposalState::Open), 0).unwrap()[0];
    moved.accept_proposal(&open.id.0).unwrap();
    assert_eq!(read(&moved, "open").as_deref(), Some("Zebra too.\n"));

    let receipt = database.erase_person(TENANT, "ada", true).unwrap();
    assert_eq!((receipt.proposals, receipt.accepted_changes), (2, 0));
    let receipt = database.erase_person(TENANT, "rita", true).unwrap();
    assert_eq!((receipt.proposals, receipt.accepted_changes), (0, 1));
    for table in ["changes", "proposals", "audit"] {
        let named = format!(r"select t::text from memdir.{table} t where t::text ~ '\y(ada|rita)\y'");
        assert_eq!(query(&test.url, &named).unwrap(), Vec::<Vec<String>>::new(), "{table}");
    }
    let texts = "select count(*) from memdir.proposals, unnest(bytes) as b where convert_from(b, 'UTF8') like '%Zebra%'";
    assert_eq!(query(&test.url, texts).unwrap(), [["0"]]);
    assert_eq!(read(&rita, "kept").as_deref(), Some("Kept text.\n"));
    check_sequences(&test.url);
}

#[test]
fn forgotten_words_are_forgotten_in_proposals_too() {
    let Some((_test, ada, rita)) = reviewed() else { return };
    let id = proposed(ada.write(&Write::create(path("names"), "Call Xanthippe.\n")));
    rita.reject_proposal(&id, None).unwrap();
    proposed(ada.write(&Write::create(path("other"), "Call somebody else.\n")));
    let phrase = Phrase::parse("Xanthippe").unwrap();
    assert_eq!(rita.store().count_in_history(&phrase).unwrap(), 1);
    assert_eq!(rita.store().forget_in_history(&phrase).unwrap(), 1);
    assert_eq!(rita.store().count_in_history(&phrase).unwrap(), 0);
    assert_eq!(rita.proposals(None, 0).unwrap().len(), 1);
}

/// The tools of other memory systems report a proposal as an answer, not as a failure.
#[test]
fn every_dialect_proposes() {
    let Some((_test, ada, rita)) = reviewed() else { return };
    let mount = ada.store().mounts().iter().find(|mount| mount.prefix.is_empty()).unwrap().root.clone();
    let caller = ToolContext { memdir: ada.clone(), session: true, root: mount };
    let calls = [
        ("anthropic", "memory", json!({ "command": "create", "path": "/memories/a.md", "file_text": "A.\n" })),
        (
            "anthropic",
            "memory",
            json!({ "command": "str_replace", "path": "/memories/deploy.md", "old_str": "Fridays", "new_str": "Mondays" }),
        ),
        ("anthropic", "memory", json!({ "command": "insert", "path": "/memories/deploy.md", "insert_line": 1, "insert_text": "x\n" })),
        ("anthropic", "memory", json!({ "command": "rename", "old_path": "/memories/deploy.md", "new_path": "/memories/d.md" })),
        ("anthropic", "memory", json!({ "command": "delete", "path": "/memories/deploy.md" })),
        ("koding", "MemoryWrite", json!({ "file_path": "k.md", "content": "K.\n" })),
        ("agent-memory", "memory_append_session", json!({ "content": "A session." })),
        ("serena", "write_memory", json!({ "memory_name": "s", "content": "S.\n" })),
        ("serena", "edit_memory", json!({ "memory_name": "deploy", "needle": "Fridays", "repl": "Sundays", "mode": "literal" })),
        ("serena", "rename_memory", json!({ "old_name": "deploy", "new_name": "deployment" })),
        ("serena", "delete_memory", json!({ "memory_name": "deploy" })),
    ];
    let before = every_text(&rita);
    for (n, (dialect, tool, arguments)) in calls.into_iter().enumerate() {
        let dialect = dialects::find(dialect).unwrap();
        let tool = (dialect.tools)().iter().find(|one| one.name == tool).unwrap_or_else(|| panic!("{tool}"));
        let result = tool.call(&caller, arguments.as_object().unwrap());
        assert!(!result.is_error && result.text.starts_with("the change was proposed as "), "{} {arguments}: {result:?}", tool.name);
        if tool.output.is_some() {
            assert_eq!(result.structured, Some(json!({ "result": result.text })), "{}", tool.name);
        }
        assert_eq!(rita.proposals(Some(ProposalState::Open), 0).unwrap().len(), n + 1);
    }
    assert_eq!(every_text(&rita), before);
}
