//! Candidates: finds them in conversations, and adds those that the settings want to the inbox.

use crate::{config::Settings, exit::Failure, scope::Scope};
use memdir_core::{Candidate, Memdir, Proposed};

/// Adds candidates to the inbox of the space, without the kinds that the settings turn off.
pub(crate) fn propose(settings: &Settings, scope: &Scope, memdir: &Memdir, mut candidates: Vec<Candidate>) -> Result<Proposed, Failure> {
    candidates.retain(|candidate| settings.config.inbox.adds(candidate.kind));
    if candidates.is_empty() {
        return Ok(Proposed::default());
    }
    Ok(memdir.propose(&candidates, Some(&scope.tripwires_file(&settings.cache)))?)
}
