//! The contract of cursors under concurrency: a reader that follows a store gets every change once and whole.

use crate::{
    base::{error::Result, path::MemoryPath},
    store::{Actor, ChangeCursor, ChangeFilter, FileEdit, Intent, Role, Store, Verb},
};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

const WRITERS: usize = 4;
const CHANGES: usize = 15;

/// Fails, or panics, if a reader of a store with the empty mounts `` and `user` misses a change, gets one twice or gets a part of one,
/// while several threads change one mount, the other and both.
pub fn check_change_feed(store: &dyn Store) -> Result<()> {
    let mut seen: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut order: Vec<String> = Vec::new();
    let made = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(move || write(store, writer))).collect();
        let mut cursor: Option<ChangeCursor> = None;
        loop {
            // Read once more after the last change.
            let is_done = writers.iter().all(std::thread::ScopedJoinHandle::is_finished);
            let page = store.changes_since(cursor.as_ref(), 7)?;
            assert!(page.changes.len() <= 7);
            for (change, after) in &page.changes {
                let files = change.files.iter().map(|file| file.path.to_string()).collect();
                assert_eq!(seen.insert(change.id.to_string(), files), None, "change {} came twice", change.id);
                order.push(change.id.to_string());
                cursor = Some(after.clone());
            }
            if is_done && page.changes.is_empty() {
                break;
            }
        }
        writers.into_iter().map(|writer| writer.join().unwrap_or_else(|_| panic!("a writer failed"))).collect::<Result<Vec<_>>>()
    })?;
    for own in &made {
        let positions: Vec<_> = own.iter().map(|(id, _)| order.iter().position(|seen| seen == id)).collect();
        assert!(positions.iter().all(Option::is_some) && positions.is_sorted(), "changes of one writer in order: {positions:?}");
        own.iter().for_each(|(id, files)| assert_eq!(seen.get(id), Some(files), "change {id} is whole"));
    }
    assert_eq!(order.len(), WRITERS * CHANGES);
    let history: BTreeSet<String> = store.changes(&ChangeFilter::default())?.into_iter().map(|change| change.id.0).collect();
    assert_eq!(history, seen.into_keys().collect());
    Ok(())
}

/// Makes changes and returns them with the files of each.
fn write(store: &dyn Store, writer: usize) -> Result<Vec<(String, Vec<String>)>> {
    let mut made = Vec::new();
    for n in 0..CHANGES {
        let names = [format!("w{writer}-{n}.md"), format!("user/w{writer}-{n}.md")];
        let names = match n % 3 {
            0 => &names[..1],
            1 => &names[1..],
            _ => &names[..],
        };
        let paths = names.iter().map(|name| Ok(MemoryPath::parse(name)?)).collect::<Result<Vec<_>>>()?;
        let actor = Actor { name: format!("w{writer}"), session: None };
        let intent = Intent { verb: Verb::Write, actor, at: Timestamp::UNIX_EPOCH, undoes: None, key: None };
        let edit = |path: &MemoryPath| FileEdit { path: path.clone(), bytes: Some(b"x".to_vec()), role: Role::Memory };
        let change = store.change(&intent, &paths, &mut |_| Ok(paths.iter().map(edit).collect()))?;
        made.push((change.id.0, names.iter().map(ToString::to_string).collect::<BTreeSet<_>>().into_iter().collect()));
    }
    Ok(made)
}
