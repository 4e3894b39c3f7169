//! Offers on a terminal to do at once what `memdir install` found: mounting memories in place, indexing conversations. What is declined
//! stays in the list, with its command.

use super::found::{Finding, FindingKind, Offer};
use crate::{ask, exit::Failure};

/// How a finding is acted on.
pub(in crate::commands) struct Actions<'a> {
    /// Mounts the memory with a name in place, read-only.
    pub(in crate::commands) adopt: &'a dyn Fn(&str) -> Result<(), Failure>,
    /// Archives and indexes all conversations; returns what was done, on one line.
    pub(in crate::commands) index: &'a dyn Fn() -> Result<String, Failure>,
}

/// Asks about each finding that can be acted on. Returns the findings that are left, and a note for each one that was acted on.
pub(super) fn offer(found: Vec<Finding>, actions: &Actions<'_>) -> Result<(Vec<Finding>, Vec<String>), Failure> {
    let (mut left, mut notes) = (Vec::new(), Vec::new());
    let (mut is_indexed, mut is_asked) = (false, false);
    let conversations: Vec<&str> = found.iter().filter(|one| one.offer == Some(Offer::Index)).map(|one| one.what.as_str()).collect();
    let conversations = conversations.join(" and ");
    for finding in found {
        let note = match &finding.offer {
            // One sync archives the conversations of all hosts, so there is one question.
            Some(Offer::Index) if is_indexed => continue,
            Some(Offer::Index) if !std::mem::replace(&mut is_asked, true) && agrees(&format!("Archive and index {conversations}"))? => {
                is_indexed = true;
                Some((actions.index)()?)
            }
            Some(Offer::Adopt(name)) if agrees(&format!("Add {} read-only, without copying", finding.what))? => {
                (actions.adopt)(name)?;
                Some(format!("added {} read-only; undo with: memdir adopt {name} --undo", finding.what))
            }
            _ => None,
        };
        match note {
            Some(note) => notes.push(note),
            None => left.push(finding),
        }
    }
    if is_indexed {
        // They are in the inbox now, and the note says how many.
        left.retain(|finding| finding.kind != FindingKind::Candidates);
    }
    Ok((left, notes))
}

fn agrees(question: &str) -> Result<bool, Failure> {
    ask::confirm(&format!("{question}?")).map_err(|source| Failure::Output { source })
}
