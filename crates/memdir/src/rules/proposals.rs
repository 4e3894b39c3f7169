//! Proposes what the ledger says about rules: a higher strength for one that is violated, the removal of one that never fires. Runs at
//! the end of a conversation, for `memdir inbox` and for `memdir stats --use`, never before a tool call.

use crate::{candidates, config::Settings, exit::Failure, scope::Scope};
use memdir_core::{CandidateKind, Memdir, Proposed, Rule, Source, internal::operations::ledger::rule_candidates};

/// Adds candidates about rules to the inbox of the space, if it has one and the settings want them.
pub(crate) fn propose_rule_changes(settings: &Settings, scope: &Scope, memdir: &Memdir) -> Result<Proposed, Failure> {
    let store = memdir.store();
    let wanted = [CandidateKind::Violated, CandidateKind::Unused].iter().any(|kind| settings.config.inbox.adds(*kind));
    let has_inbox = store.mounts().iter().any(|mount| mount.source == Source::Inbox);
    let Some(ledger) = memdir.ledger().filter(|_| wanted && has_inbox) else { return Ok(Proposed::default()) };
    let rules = memdir.rules(Some(&scope.tripwires_file(&settings.cache)))?;
    if rules.is_empty() {
        return Ok(Proposed::default());
    }
    let modified = |rule: &Rule| Some(store.stamps(std::slice::from_ref(&rule.path)).ok()?.first()?.as_ref()?.modified());
    let found = rule_candidates(store.mounts(), &rules, &ledger.read(store), &modified, memdir.context().clock.now());
    candidates::propose(settings, scope, memdir, found)
}
