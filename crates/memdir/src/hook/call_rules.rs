//! What rules do when a tool is about to run or has run: which ones match, which hold, and the text that the model reads.

use super::{HookCall, input::ToolAction, output::HookText};
use crate::{
    exit::Failure,
    hosts::{HookEvent, ToolDecision},
    rules::{self, RuleDecisions},
};
use memdir_core::internal::{base::sort::SharedSort as _, store::mounts};
use memdir_core::{Action, MatchedRule, Recall, RuleOrigin, ShownRule, Strength};
use std::path::Path;

/// The first line of the reason why an action is held or denied, or why the person is asked about it.
const HELD: &str = include_str!("held.md");
const DENIED: &str = include_str!("denied.md");
const ASK: &str = include_str!("ask.md");

/// A rule that matches the action.
pub(super) struct ActiveRule {
    pub(super) matched: MatchedRule,
    /// What it does at most, after the person's decision.
    pub(super) effect: Strength,
    is_accepted: bool,
    /// Whether other people may have written it, and the person has not accepted it.
    is_foreign: bool,
    /// Whether it holds this action.
    holds: bool,
    /// Whether it was shown for the same action before.
    is_repeated: bool,
}

/// What the rules decide together, with the first line of the reason.
fn decision(rules: &[ActiveRule]) -> Option<(ToolDecision, &'static str)> {
    if rules.iter().any(|rule| rule.effect == Strength::Deny) {
        Some((ToolDecision::Deny, DENIED))
    } else if rules.iter().any(|rule| rule.holds) {
        // The model reads the rules that hold before the person is asked.
        Some((ToolDecision::Deny, HELD))
    } else if rules.iter().any(|rule| rule.effect == Strength::Ask) {
        Some((ToolDecision::Ask, ASK))
    } else {
        None
    }
}

impl HookCall<'_> {
    /// Applies the rules that match the action. Before a tool they may hold it, ask the person about it or deny it; all other texts
    /// go to the model after the tool, in hosts that have a hook there.
    pub(super) fn check_rules(&self, event: HookEvent) -> Option<HookText> {
        let Some(mut rules) = self.matching_rules() else {
            self.settle_fired(event);
            return None;
        };
        let is_before = event == HookEvent::BeforeTool;
        let shows_rules = !is_before || !self.host.hooks.iter().any(|hook| hook.event == HookEvent::AfterTool);
        let mut conversation = self.conversation.open(self.memdir.context().clock.now(), self.deadline);
        if let Some(conversation) = conversation.as_mut().filter(|_| is_before && rules.iter().all(|rule| rule.effect != Strength::Deny)) {
            // A rule that held a call of this answer holds the others too: the model has not read it yet.
            let is_parallel = self.is_parallel(conversation);
            for rule in rules.iter_mut().filter(|rule| rule.effect == Strength::Hold) {
                let id = rule.matched.text.to_string();
                if is_parallel && conversation.has_fired(&rule.matched.name) {
                    rule.holds = !rule.is_foreign;
                } else if conversation.may_hold(&id) {
                    rule.is_foreign = rule.is_foreign || self.is_foreign(rule);
                    rule.holds = conversation.hold(&id, rule.is_foreign);
                }
            }
        }
        if !(is_before && decision(&rules).is_some()) && shows_rules {
            let action = self.action_key();
            for rule in &mut rules {
                let id = rule.matched.text.to_string();
                rule.is_repeated = conversation.as_mut().is_some_and(|conversation| conversation.record_shown(&id, &action));
            }
        }
        let shows = shows_rules || (is_before && decision(&rules).is_some());
        let outcomes = self.count_fired(&rules, shows, event, conversation.as_mut());
        // Nothing holds before it is recorded: an action that is held again and again would never run.
        if !conversation.is_some_and(|conversation| conversation.commit()) {
            rules.iter_mut().for_each(|rule| (rule.holds, rule.is_repeated) = (false, false));
        }
        self.record_uses(outcomes);
        let decision = decision(&rules).filter(|_| is_before);
        if decision.is_none() && !shows_rules {
            return None;
        }
        rules.shared_sort_by_key(|rule| std::cmp::Reverse((rule.effect == Strength::Deny, rule.holds, rule.effect)));
        let text = self.show_rules(&rules);
        match decision {
            Some((decision, reason)) => Some(HookText { decision: Some(decision), text: format!("{reason}{}", text.unwrap_or_default()) }),
            None => text.map(HookText::from),
        }
    }

    /// The rules that match the action, without those that the person rejected. `None` if there are none.
    fn matching_rules(&self) -> Option<Vec<ActiveRule>> {
        let cache = self.scope.tripwires_file(&self.settings.cache);
        let mut matched: Vec<MatchedRule> = Vec::new();
        for action in &self.input.actions {
            let paths = self.project_paths(action);
            let action = Action {
                tool: Some(&action.tool),
                command: action.command.as_deref(),
                paths: paths.iter().map(String::as_str).collect(),
                text: Some(action.text.as_str()).filter(|text| !text.is_empty()),
            };
            let found = self.check(self.memdir.matched_rules(&action, Some(&cache)).map_err(Failure::from))?;
            matched.extend(found);
        }
        if matched.is_empty() {
            return None;
        }
        // Of several calls at once, the one that a rule is strongest for counts.
        matched.shared_sort_by(|a, b| a.path.cmp(&b.path).then(b.strength.cmp(&a.strength)));
        matched.dedup_by(|a, b| a.path == b.path);
        let decisions = self.check(RuleDecisions::load(&self.settings.home.value)).unwrap_or_default();
        let active = |matched: MatchedRule| {
            let decision = decisions.get(&self.memdir, &matched.path, matched.text);
            let effect = rules::effect(matched.strength, decision)?;
            let is_foreign =
                decision.is_none() && mounts::mount_of(self.memdir.store(), &matched.path).is_some_and(|mount| mount.is_foreign);
            Some(ActiveRule { is_accepted: decision.is_some(), is_foreign, matched, effect, holds: false, is_repeated: false })
        };
        Some(matched.into_iter().filter_map(active).collect::<Vec<_>>()).filter(|rules| !rules.is_empty())
    }

    /// Whether other people may have written a rule that the person has not accepted. Reads the history of the memory.
    fn is_foreign(&self, rule: &ActiveRule) -> bool {
        let origin = || self.check(self.memdir.rule_origin(&rule.matched.path).map_err(Failure::from));
        !rule.is_accepted && origin().is_none_or(|origin| origin != RuleOrigin::Own)
    }

    /// The text of rules for the model.
    fn show_rules(&self, rules: &[ActiveRule]) -> Option<String> {
        let one = |rule: &ActiveRule| ShownRule {
            path: rule.matched.path.clone(),
            why: rule.matched.reason(),
            is_foreign: rule.is_foreign,
            is_repeated: rule.is_repeated,
        };
        let shown: Vec<ShownRule> = rules.iter().map(one).collect();
        let request = Recall { rules: &shown, project: Some(&self.scope.project), ..Recall::default() };
        let recalled = self.check(self.memdir.recall(&request).map_err(Failure::from))?;
        self.session.add_shown(recalled.shown.iter().map(|shown| shown.name.as_str()));
        Some(recalled.text)
    }

    /// The paths of a tool call, as tripwires match them.
    fn project_paths(&self, action: &ToolAction) -> Vec<String> {
        action.paths.iter().map(|path| self.scope.in_project(&self.settings.cwd, Path::new(path))).collect()
    }

    /// What makes two actions the same: the tools, their commands and their files.
    fn action_key(&self) -> String {
        let one = |action: &ToolAction| format!("{:?}", (&action.tool, &action.command, self.project_paths(action)));
        self.input.actions.iter().map(one).collect()
    }

    /// Lets rules hold again, because the conversation loses its context.
    pub(super) fn forget_rules(&self) {
        self.conversation.record_compaction(self.memdir.context().clock.now(), self.deadline);
    }
}
