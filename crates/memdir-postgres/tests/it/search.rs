//! Search and recall on replicas: each has an index of its own, which is caught up by the sequence of the changes.

use crate::support::{TENANT, TestDatabase, path, query};
use memdir_core::{
    Actor, Delete, Embedder, Index, IndexPool, Memdir, MountInfo, Phrase, Recall, Search, Searcher, Store as _, SystemClock, Write,
    WriteMode,
};
use memdir_index::TantivyIndex;
use memdir_postgres::{Database, DatabaseSettings, NamespaceMount, PostgresStore};
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// A replica: a space on its own connections, with an index below its own directory.
fn replica(database: &Database, namespaces: &[(&str, &str)], cache: &Path, pool: &Arc<IndexPool>) -> Memdir {
    let mounts: Vec<NamespaceMount> = namespaces.iter().map(|(prefix, namespace)| NamespaceMount::new(prefix, namespace)).collect();
    let store = PostgresStore::open(database, TENANT, &mounts).unwrap();
    let index = |info: &MountInfo| -> Arc<dyn Index> { Arc::new(TantivyIndex::for_mount(cache, &info.root, &info.rules, None)) };
    let none: Option<Arc<dyn Embedder>> = None;
    let searcher = Searcher::pooled(&store, none, Arc::new(SystemClock), pool, index).watching();
    let actor = Actor { name: "ada".into(), session: None };
    Memdir::new(Arc::new(store), actor).with_searcher(searcher).with_recall_pool(pool)
}

fn silent_pool(limit: u64) -> Arc<IndexPool> {
    IndexPool::new(limit, |_, _| {})
}

fn connect(test: &TestDatabase) -> Database {
    Database::connect(&DatabaseSettings::new(&test.url)).unwrap()
}

fn write(memdir: &Memdir, name: &str, text: &str) {
    let mode = if memdir.store().get(&path(name)).unwrap().is_some() { WriteMode::Replace } else { WriteMode::Create };
    let write = Write { mode, ..Write::create(path(name), text) };
    memdir.write(&write).unwrap();
}

fn hit_names(memdir: &Memdir, query: &str) -> Vec<String> {
    let answer = memdir.search(&Search::new(query)).unwrap();
    answer.hits.iter().map(|hit| hit.path.to_string()).collect()
}

fn recalled(memdir: &Memdir, message: &str) -> Vec<String> {
    let recalled = memdir.recall(&Recall { message: Some(message), ..Recall::default() }).unwrap();
    recalled.shown.iter().map(|shown| shown.name.clone()).collect()
}

#[test]
fn a_search_and_a_recall_see_every_acknowledged_change_of_every_replica() {
    let Some(test) = TestDatabase::new() else { return };
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let spaces = [("", "projects/shop"), ("user", "people/ada")];
    let first = replica(test.database(), &spaces, here.path(), &silent_pool(1 << 30));
    let other = connect(&test);
    let second = replica(&other, &spaces, there.path(), &silent_pool(1 << 30));

    assert_eq!(hit_names(&second, "deployment freeze"), [""; 0], "before the namespaces exist");
    assert_eq!(recalled(&second, "when is the deployment freeze?"), [""; 0]);
    for round in 0..3 {
        let (name, city) = (format!("notes/freeze-{round}"), ["lisbon", "oslo", "quito"][round]);
        write(&first, &name, &format!("The deployment freeze of {city} begins on Thursday.\n"));
        assert_eq!(hit_names(&second, city), [format!("{name}.md")], "written on the first");
        assert!(recalled(&second, &format!("when does the deployment freeze of {city} begin?")).contains(&name));
        write(&second, &name, &format!("The deployment freeze of {city} begins on Friday, says marmalade{round}.\n"));
        assert_eq!(hit_names(&first, &format!("marmalade{round}")), [format!("{name}.md")], "changed on the second");
        first.rename(&path(&name), &path(&format!("{name}-renamed"))).unwrap();
        assert_eq!(hit_names(&second, city), [format!("{name}-renamed.md")], "renamed on the first");
        second.delete(&Delete { path: path(&format!("{name}-renamed")), expect: None }).unwrap();
        assert_eq!(hit_names(&first, city), [""; 0], "deleted on the second");
        let gone = format!("{name}-renamed");
        assert!(!recalled(&first, &format!("when does the deployment freeze of {city} begin?")).contains(&gone));
        first.undo(&memdir_core::UndoTarget::Last).unwrap();
        assert_eq!(hit_names(&second, city), [format!("{name}-renamed.md")], "undone on the first");
        write(&first, "user/tea", &format!("Ada drinks tea number {round} with bergamot{round}.\n"));
        assert_eq!(hit_names(&second, &format!("bergamot{round}")), ["user/tea.md"]);
    }
}

#[test]
fn a_change_on_one_replica_is_hinted_to_the_others() {
    let Some(test) = TestDatabase::new() else { return };
    let store = test.store("projects/shop");
    let other = connect(&test);
    let listening = crate::support::open(&other, "projects/shop");
    let (woken, is_woken) = std::sync::mpsc::channel();
    let wake = Arc::new(move || {
        let _ = woken.send(());
    });
    let guard = listening.sequence().unwrap().on_change(wake).unwrap();
    is_woken.recv().unwrap();
    // The first notification shows that the connection is established; from now on hints arrive.
    crate::support::put(&store, "plan.md", "x").unwrap();
    is_woken.recv().unwrap();
    drop(guard);
    assert!(is_woken.recv().is_err(), "the listener is gone");
}

#[test]
fn a_search_lists_nothing_while_nothing_changes() {
    let Some(test) = TestDatabase::new() else { return };
    let cache = tempfile::tempdir().unwrap();
    let memdir = replica(test.database(), &[("", "projects/shop")], cache.path(), &silent_pool(1 << 30));
    write(&memdir, "notes/deploy", "Never deploy on Fridays.\n");
    assert_eq!(hit_names(&memdir, "fridays"), ["notes/deploy.md"]);
    assert_eq!(recalled(&memdir, "shall we deploy on fridays?"), ["notes/deploy"]);
    // Whatever reads documents or the history now waits for this lock, until its time is up.
    let blocked = std::thread::scope(|scope| {
        let (locked, is_locked) = std::sync::mpsc::channel();
        let (done, is_done) = std::sync::mpsc::channel::<()>();
        let url = test.url.clone();
        scope.spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
                tokio::spawn(connection);
                client.batch_execute("begin; lock table memdir.documents, memdir.change_files in access exclusive mode").await.unwrap();
                locked.send(()).unwrap();
                let _ = is_done.recv();
            });
        });
        is_locked.recv().unwrap();
        let answers = (hit_names(&memdir, "zeppelin"), recalled(&memdir, "zeppelin"));
        drop(done);
        answers
    });
    assert_eq!(blocked, (vec![], vec![]), "answered from the index and the position alone");
}

#[test]
fn an_index_is_right_after_a_restore_from_a_backup_and_after_forgotten_names() {
    let Some(test) = TestDatabase::new() else { return };
    let cache = tempfile::tempdir().unwrap();
    let pool = silent_pool(1 << 30);
    let memdir = replica(test.database(), &[("", "projects/shop")], cache.path(), &pool);
    write(&memdir, "notes/one", "The first gondola.\n");
    write(&memdir, "notes/two", "The second gondola.\n");
    assert_eq!(hit_names(&memdir, "gondola").len(), 2);
    // The database goes back by one change, and another change gets its number.
    query(
        &test.url,
        "delete from memdir.documents where path like 'notes/two%'; delete from memdir.change_files where sequence = 2;
         delete from memdir.changes where sequence = 2;
         update memdir.namespaces set sequence = 1, recorded_us = (select recorded_us from memdir.changes where sequence = 1)",
    )
    .unwrap();
    let memories = |memdir: &Memdir| {
        let mut names = hit_names(memdir, "gondola");
        names.retain(|name| name != "MEMORY.md");
        names
    };
    assert_eq!(memories(&memdir), ["notes/one.md"], "the position is gone");
    write(&memdir, "notes/three", "The third gondola.\n");
    assert_eq!(memories(&memdir).len(), 2, "another change has the number");

    // A replica that has not seen the end of a name, which is forgotten then.
    let slow_cache = tempfile::tempdir().unwrap();
    let other = connect(&test);
    let slow = replica(&other, &[("", "projects/shop")], slow_cache.path(), &silent_pool(1 << 30));
    assert!(hit_names(&slow, "third gondola").contains(&"notes/three.md".to_owned()));
    memdir.delete(&Delete { path: path("notes/three"), expect: None }).unwrap();
    memdir.store().forget_in_history(&Phrase::parse("three").unwrap()).unwrap();
    assert_eq!(memories(&slow), ["notes/one.md"], "the name of the removed file is not in the history");
}

#[test]
fn open_indexes_stay_within_the_memory_limit_and_answer_after_they_were_closed() {
    let Some(test) = TestDatabase::new() else { return };
    let cache = tempfile::tempdir().unwrap();
    let pool = silent_pool(300 << 10);
    let spaces: Vec<Memdir> =
        (0..12).map(|number| replica(test.database(), &[("", &format!("projects/p{number}"))], cache.path(), &pool)).collect();
    for (number, memdir) in spaces.iter().enumerate() {
        for memory in 0..20 {
            write(memdir, &format!("notes/m{memory}"), &format!("Warehouse {number} keeps item{memory} in aisle{number}x{memory}.\n"));
        }
        assert_eq!(hit_names(memdir, &format!("aisle{number}x7")), ["notes/m7.md"]);
        assert!(pool.bytes() <= 300 << 10, "{} bytes after {number}", pool.bytes());
    }
    assert!(pool.loaded() < spaces.len(), "{} are loaded", pool.loaded());
    for (number, memdir) in spaces.iter().enumerate() {
        assert_eq!(hit_names(memdir, &format!("aisle{number}x19")), ["notes/m19.md"], "opened again");
        assert_eq!(recalled(memdir, &format!("what is in aisle{number}x3 of the warehouse?")), ["notes/m3"]);
        assert!(pool.bytes() <= 300 << 10, "{} bytes after {number}", pool.bytes());
    }
}

#[test]
fn a_cold_namespace_is_read_in_few_round_trips_and_its_progress_is_reported() {
    let Some(test) = TestDatabase::new() else { return };
    let cache = tempfile::tempdir().unwrap();
    let reported = Arc::new(AtomicUsize::new(0));
    let counter = reported.clone();
    let pool = IndexPool::new(1 << 30, move |root, progress| {
        assert_eq!((root.to_str(), progress.of), (Some("postgres:acme/projects/shop"), 300));
        counter.fetch_add(1, Ordering::Relaxed);
    });
    let memdir = replica(test.database(), &[("", "projects/shop")], cache.path(), &pool);
    query(
        &test.url,
        "begin; select set_config('memdir.tenant', 'acme', true);
         insert into memdir.namespaces (tenant, namespace, sequence, recorded_us) values ('acme', 'projects/shop', 1, 1);
         insert into memdir.changes (tenant, namespace, sequence, change_id, recorded_us, at_ms, actor, verb, namespaces)
           values ('acme', 'projects/shop', 1, 'aaaaaaaa', 1, 1, 'ada', 'import', array['projects/shop']);
         insert into memdir.documents (tenant, namespace, path, version, bytes, size, modified_ns, changed_ns, sequence)
           select 'acme', 'projects/shop', 'notes/m' || n || '.md', decode(md5(n::text), 'hex'),
             convert_to('Harbour ' || n || ' has pier' || n, 'UTF8'), octet_length('Harbour ' || n || ' has pier' || n), 1, 1, 1
           from generate_series(1, 300) n;
         commit",
    )
    .unwrap();
    let before = transactions(&test.url);
    assert_eq!(hit_names(&memdir, "pier250"), ["notes/m250.md"]);
    assert_eq!(reported.load(Ordering::Relaxed), 300);
    let trips = transactions(&test.url) - before;
    assert!(trips < 30, "{trips} transactions for 300 memories");
}

/// The number of transactions of the database so far.
fn transactions(url: &str) -> i64 {
    query(url, "select pg_stat_force_next_flush()").unwrap();
    let rows = query(url, "select xact_commit + xact_rollback from pg_stat_database where datname = current_database()").unwrap();
    rows[0][0].parse().unwrap()
}
