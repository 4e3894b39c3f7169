//! What happened: every change, whoever made it, newest first.

use crate::{
    error::{Error, Result},
    store::{Change, ChangeFilter, Store},
};

/// The changes that fit a filter.
pub fn history(store: &dyn Store, filter: &ChangeFilter) -> Result<Vec<Change>> {
    store.changes(filter)
}

/// The one change whose id begins so.
pub fn change(store: &dyn Store, id: &str) -> Result<Change> {
    if id.len() < 3 {
        return Err(Error::bad_input("change", "give at least three letters of its id, as memdir history shows it"));
    }
    let filter = ChangeFilter { id: Some(id.to_ascii_lowercase()), ..ChangeFilter::default() };
    let mut found = store.changes(&filter)?;
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(Error::no_change(format!("there is no change {id}"))),
        n => Err(Error::no_change(format!("{n} changes begin with {id}; give more of the id"))),
    }
}
