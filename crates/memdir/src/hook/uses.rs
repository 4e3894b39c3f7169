//! Counts in the ledger what hooks show, and what the agent does with it. Best effort: a count is never worth an error or a wait.

use super::{
    DOCTOR_SESSION, HookCall,
    call_rules::ActiveRule,
    start::{HostLoads, host_loads},
};
use crate::{
    hosts::HookEvent,
    rules::{FiredTripwire, OpenConversation, propose_rule_changes},
};
use memdir_core::{
    Recalled, Strength,
    internal::{
        base::disk::LockWait,
        operations::ledger::{MemoryUse, UseKind, UseLedger, cited_names, listed_lines, tripwire_id},
        store::mounts::file_kind,
    },
};
use std::{collections::BTreeSet, time::Duration};

/// How long a hook waits for the ledger at most.
const MAX_WAIT: Duration = Duration::from_millis(250);

impl HookCall<'_> {
    /// Counts the start of a conversation, with the memories that its text lists.
    pub(super) fn count_session(&self, text: &str, host_loads_mount: bool) {
        let Some((ledger, names)) = self.counting().zip(self.memory_names()) else { return };
        let mut listed = listed_lines(text, "", &names);
        if host_loads_mount
            && let HostLoads::Mount { prefix, .. } = host_loads(self.host, &self.scope)
            && let Ok(entrypoint) = self.memdir.entrypoint(&prefix)
        {
            listed.extend(listed_lines(&entrypoint.content, &prefix, &names));
        }
        let listed: Vec<String> = listed.into_keys().collect();
        let (store, now) = (self.memdir.store(), self.memdir.context().clock.now());
        let has_tool_hook = self.host.hooks.iter().any(|hook| matches!(hook.event, HookEvent::BeforeTool | HookEvent::AfterTool));
        // A conversation that continues after a compaction is not another one, and one without tool hooks says nothing about rules.
        let _ = if self.input.lost_context || !has_tool_hook {
            let uses: Vec<MemoryUse<'_>> = listed.iter().map(|name| MemoryUse { name, kind: UseKind::Listed }).collect();
            ledger.record(store, &uses, now, self.ledger_wait())
        } else {
            ledger.record_session(store, &listed, now, self.ledger_wait())
        };
    }

    /// Counts the memories that were recalled for a message.
    pub(super) fn count_injected(&self, recalled: &Recalled) {
        self.record_uses(recalled.shown.iter().map(|shown| (shown.name.clone(), UseKind::Injected)).collect());
    }

    /// Counts the memories that the agent's answer names. Its turn is over, so rules that fired last are followed.
    pub(super) fn count_answer(&self) {
        if let (Some(answer), Some(_)) = (self.input.answer.as_deref(), self.counting())
            && let Some(names) = self.memory_names()
        {
            self.record_uses(cited_names(answer, &names).into_iter().map(|name| (name, UseKind::Cited)).collect());
        }
        self.settle(None);
    }

    /// Decides about rules that fired before a tool call that no rule matches.
    pub(super) fn settle_fired(&self, event: HookEvent) {
        if self.is_next_call(event) {
            self.settle(Some(&self.exact_action()));
        }
    }

    fn settle(&self, action: Option<&str>) {
        if self.counting().is_none() || !self.conversation.exists() {
            return;
        }
        let Some(mut conversation) = self.conversation.open(self.memdir.context().clock.now(), self.deadline) else { return };
        if action.is_some() && self.is_parallel(&conversation) {
            return;
        }
        let outcomes = conversation.settle(action);
        // Recorded before it is counted: a killed process must not count an outcome twice.
        if !outcomes.is_empty() && conversation.commit() {
            self.record_uses(to_uses(outcomes));
        }
    }

    /// Counts rules that fire now, if they are shown. Returns the outcomes of those that fired before, which are counted once the
    /// conversation is recorded.
    pub(super) fn count_fired(
        &self,
        rules: &[ActiveRule],
        shows: bool,
        event: HookEvent,
        conversation: Option<&mut OpenConversation>,
    ) -> Vec<(String, UseKind)> {
        if self.counting().is_none() {
            return Vec::new();
        }
        let action = self.exact_action();
        let mut conversation = conversation;
        let fired_call = conversation.as_deref().and_then(OpenConversation::fired_call);
        if fired_call.is_some() && fired_call == self.input.call.as_deref() {
            return Vec::new();
        }
        let is_settled = self.is_next_call(event) && !conversation.as_deref().is_some_and(|conversation| self.is_parallel(conversation));
        let outcomes = match &mut conversation {
            Some(conversation) if is_settled => to_uses(conversation.settle(Some(&action))),
            _ => Vec::new(),
        };
        if let (Some(conversation), Some(call)) = (&mut conversation, self.input.call.as_deref().filter(|_| shows)) {
            conversation.record_call(call);
        }
        let mut fired = Vec::new();
        for rule in rules.iter().filter(|_| shows) {
            let (name, id) = (&rule.matched.name, tripwire_id(&rule.matched.tripwire, rule.matched.strength));
            // Where the person is asked, the person decides, and not the agent.
            let is_new = match &mut conversation {
                Some(conversation) if rule.effect != Strength::Ask => conversation.fire(name, &id, &action),
                _ => true,
            };
            if is_new {
                fired.push((name.clone(), UseKind::Fired(id)));
            }
        }
        self.record_uses(fired);
        outcomes
    }

    /// Counts uses of memories.
    pub(super) fn record_uses(&self, uses: Vec<(String, UseKind)>) {
        if let Some(ledger) = self.counting().filter(|_| !uses.is_empty()) {
            let uses: Vec<MemoryUse<'_>> = uses.iter().map(|(name, kind)| MemoryUse { name, kind: kind.clone() }).collect();
            let _ = ledger.record(self.memdir.store(), &uses, self.memdir.context().clock.now(), self.ledger_wait());
        }
    }

    /// Replaces the lines of large ledger files with their sums at the end of a conversation, and proposes what they say about rules.
    pub(super) fn close_ledger(&self) {
        if let Some(ledger) = self.counting() {
            let _ = ledger.compact(self.memdir.store(), self.memdir.context().clock.now(), self.ledger_wait());
            self.check(propose_rule_changes(self.settings, &self.scope, &self.memdir));
        }
    }

    /// The ledger, unless nothing is counted: not by the doctor, and not if the person turned it off.
    fn counting(&self) -> Option<&UseLedger> {
        self.memdir.ledger().filter(|_| self.input.session.as_deref() != Some(DOCTOR_SESSION))
    }

    fn ledger_wait(&self) -> LockWait {
        LockWait::AtMost(MAX_WAIT.min(self.deadline.left()))
    }

    /// Whether an event is the next tool call: the one before it, in hosts that have it.
    fn is_next_call(&self, event: HookEvent) -> bool {
        let has_before = self.host.hooks.iter().any(|hook| hook.event == HookEvent::BeforeTool);
        !self.input.actions.is_empty() && (event == HookEvent::BeforeTool || !has_before)
    }

    /// What makes two tool calls the same here: also the text, because two edits of one file are two actions.
    fn exact_action(&self) -> String {
        format!("{:?}", self.input.actions)
    }

    fn memory_names(&self) -> Option<BTreeSet<String>> {
        let store = self.memdir.store();
        let entries = store.list("").ok()?.entries;
        Some(entries.iter().filter(|entry| file_kind(store, &entry.path).is_listed()).map(|entry| entry.path.name().to_owned()).collect())
    }
}

fn to_uses(outcomes: Vec<FiredTripwire>) -> Vec<(String, UseKind)> {
    let one = |fired: FiredTripwire| {
        let kind = if fired.is_violated { UseKind::Violated(fired.tripwire) } else { UseKind::Followed(fired.tripwire) };
        (fired.name, kind)
    };
    outcomes.into_iter().map(one).collect()
}
