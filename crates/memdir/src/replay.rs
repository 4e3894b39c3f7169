//! Runs past conversations against today's memory: what would be recalled for each message, which rules would fire at each tool call,
//! and at what cost in tokens. Deterministic: the same conversations and memories give the same report. Changes and counts nothing.

use crate::{
    exit::Failure,
    rules::{self, RuleDecisions, holds_again},
};
use jiff::Timestamp;
use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::{Action, Candidate, Memdir, MemoryPath, Recall, Recalled, ShownRule, Strength, internal::recall::RecallTable};
use serde::Serialize;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    path::Path,
    sync::Arc,
};

/// A past conversation.
#[derive(Debug, Clone, Default)]
pub(crate) struct PastConversation {
    /// Its name: `claude-code/1f2e…`.
    pub(crate) name: String,
    /// The directory it was held in.
    pub(crate) project: Option<String>,
    /// What the person typed.
    pub(crate) messages: Vec<PastMessage>,
    /// The tool calls of the agent, oldest first.
    pub(crate) calls: Vec<PastCall>,
}

/// A message of the person.
#[derive(Debug, Clone)]
pub(crate) struct PastMessage {
    pub(crate) text: String,
    /// Where it is: `chats/claude-code/1f2e.md:12-14`.
    pub(crate) place: String,
}

/// A tool call of the agent.
#[derive(Debug, Clone, Default)]
pub(crate) struct PastCall {
    /// The number of the message that it follows, from 1.
    pub(crate) turn: u64,
    /// The time, if the transcript records it.
    pub(crate) at: Option<Timestamp>,
    pub(crate) tool: String,
    pub(crate) command: Option<String>,
    pub(crate) paths: Vec<String>,
}

/// What today's memory would have done.
#[derive(Debug)]
pub(crate) enum ReplayEvent<'a> {
    /// For a message.
    Message { message: &'a PastMessage, recalled: &'a Recalled },
    /// For a tool call that rules match.
    Call { conversation: &'a PastConversation, call: &'a PastCall, fired: &'a [FiredRule] },
}

/// A rule that would fire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct FiredRule {
    pub(crate) name: String,
    /// What it does, after the person's decision.
    pub(crate) effect: Strength,
}

/// The sums of a replay.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ReplayReport {
    pub(crate) conversations: u64,
    pub(crate) messages: u64,
    /// Messages for which something would be recalled.
    pub(crate) messages_with_recall: u64,
    /// Memories that would be recalled, as often as they would.
    pub(crate) recalled: u64,
    pub(crate) recall_tokens: u64,
    pub(crate) calls: u64,
    /// Calls at which a rule would fire.
    pub(crate) calls_with_rules: u64,
    /// Rules that would fire, by what they do.
    pub(crate) fired: BTreeMap<&'static str, u64>,
    pub(crate) rule_tokens: u64,
    /// How often each memory would be used, the most used first.
    pub(crate) memories: Vec<ReplayedMemory>,
    /// Memories that no message and no call of these conversations needs.
    pub(crate) unused_memories: u64,
    /// The candidates of these conversations.
    pub(crate) candidates: CandidateCounts,
}

/// What today's memory has of the candidates that conversations give.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct CandidateCounts {
    pub(crate) found: u64,
    /// By kind.
    pub(crate) kinds: BTreeMap<&'static str, u64>,
    /// Those that a memory already says.
    pub(crate) saved: u64,
    /// Those about an action at which a rule would fire.
    pub(crate) caught: u64,
}

/// How often a memory would be used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ReplayedMemory {
    pub(crate) name: String,
    pub(crate) recalled: u64,
    pub(crate) fired: u64,
}

/// A replay of conversations, one after the other. Its memory is that of one conversation and of the sums.
pub(crate) struct Replay<'a> {
    memdir: &'a Memdir,
    table: Arc<RecallTable>,
    /// The rules that do something, with the tokens of their text.
    rules: BTreeMap<MemoryPath, ReplayedRule>,
    report: ReplayReport,
    used: BTreeMap<String, ReplayedMemory>,
    /// The directory of the project, which paths are relative to.
    checkout: &'a Path,
}

struct ReplayedRule {
    name: String,
    decision: Option<rules::Decision>,
    tokens: u64,
    /// The tokens of its second mention for the same action.
    repeated_tokens: u64,
}

/// What rules did in one conversation, as the hooks record it.
#[derive(Default)]
struct ShownRules {
    /// The actions that each rule was shown for.
    actions: HashSet<(String, String)>,
    /// When each rule held an action.
    held: BTreeMap<String, Option<Timestamp>>,
}

impl ShownRules {
    /// Whether a rule holds an action at this time, which is recorded: once in a conversation, and again after a while.
    fn may_hold(&mut self, rule: &str, at: Option<Timestamp>) -> bool {
        let may_hold = self.held.get(rule).is_none_or(|held| match (held, at) {
            (Some(held), Some(at)) => holds_again(held.as_second(), at.as_second()),
            _ => false,
        });
        if may_hold {
            self.held.insert(rule.to_owned(), at);
        }
        may_hold
    }
}

impl<'a> Replay<'a> {
    /// Prepares a replay: reads the memories once.
    pub(crate) fn new(
        memdir: &'a Memdir,
        decisions: &RuleDecisions,
        checkout: &'a Path,
        cache: Option<&Path>,
    ) -> Result<Replay<'a>, Failure> {
        let table = memdir.recall_table(cache)?;
        let mut rules = BTreeMap::new();
        for rule in memdir.rules(cache)? {
            let cost = |is_repeated: bool| -> Result<u64, Failure> {
                let shown = [ShownRule { path: rule.path.clone(), why: "replay".into(), is_foreign: false, is_repeated }];
                Ok(memdir.recall(&Recall { rules: &shown, ..Recall::default() })?.tokens as u64)
            };
            let replayed = ReplayedRule {
                name: rule.name.clone(),
                decision: decisions.get(memdir, &rule.path, rule.text),
                tokens: cost(false)?,
                repeated_tokens: cost(true)?,
            };
            rules.insert(rule.path, replayed);
        }
        Ok(Replay { memdir, table, rules, report: ReplayReport::default(), used: BTreeMap::new(), checkout })
    }

    /// Replays one conversation. `observe` sees every message, and every call at which a rule fires.
    pub(crate) fn add(&mut self, past: &PastConversation, observe: &mut dyn FnMut(ReplayEvent<'_>)) -> Result<(), Failure> {
        self.report.conversations += 1;
        let mut shown: Vec<String> = Vec::new();
        let mut shown_rules = ShownRules::default();
        let mut calls = past.calls.iter().peekable();
        for (number, message) in (1..).zip(&past.messages) {
            while let Some(call) = calls.next_if(|call| call.turn < number) {
                self.add_call(past, call, &mut shown, &mut shown_rules, observe);
            }
            let request = Recall { message: Some(&message.text), shown: &shown, ..Recall::default() };
            let recalled = self.memdir.recall_from(&request, &self.table)?;
            self.report.messages += 1;
            self.report.messages_with_recall += u64::from(!recalled.shown.is_empty());
            self.report.recalled += recalled.shown.len() as u64;
            self.report.recall_tokens += if recalled.shown.is_empty() { 0 } else { recalled.tokens as u64 };
            for memory in &recalled.shown {
                self.used(&memory.name).recalled += 1;
            }
            shown.extend(recalled.shown.iter().map(|memory| memory.name.clone()));
            observe(ReplayEvent::Message { message, recalled: &recalled });
        }
        for call in calls {
            self.add_call(past, call, &mut shown, &mut shown_rules, observe);
        }
        Ok(())
    }

    fn add_call(
        &mut self,
        past: &PastConversation,
        call: &PastCall,
        shown: &mut Vec<String>,
        shown_rules: &mut ShownRules,
        observe: &mut dyn FnMut(ReplayEvent<'_>),
    ) {
        self.report.calls += 1;
        let mut fired = self.fired(past, call);
        if fired.is_empty() {
            return;
        }
        for (_, rule) in fired.iter_mut().filter(|(_, rule)| rule.effect == Strength::Hold) {
            if !shown_rules.may_hold(&rule.name, call.at) {
                rule.effect = Strength::Tell;
            }
        }
        self.report.calls_with_rules += 1;
        let action = format!("{:?}", (&call.tool, &call.command, &call.paths));
        for (path, rule) in &fired {
            *self.report.fired.entry(rule.effect.name()).or_default() += 1;
            let is_new = shown_rules.actions.insert((rule.name.clone(), action.clone()));
            if let Some(known) = self.rules.get(path) {
                self.report.rule_tokens += if is_new { known.tokens } else { known.repeated_tokens };
            }
            self.used(&rule.name).fired += 1;
            shown.push(rule.name.clone());
        }
        let fired: Vec<FiredRule> = fired.into_iter().map(|(_, rule)| rule).collect();
        observe(ReplayEvent::Call { conversation: past, call, fired: &fired });
    }

    /// The rules that a call touches.
    fn fired(&self, past: &PastConversation, call: &PastCall) -> Vec<(MemoryPath, FiredRule)> {
        let paths: Vec<String> = call.paths.iter().map(|path| in_project(path, past.project.as_deref(), self.checkout)).collect();
        self.tripped(&call.tool, call.command.as_deref(), &paths)
    }

    /// The rules that an action touches, after the person's decisions.
    fn tripped(&self, tool: &str, command: Option<&str>, paths: &[String]) -> Vec<(MemoryPath, FiredRule)> {
        let action = Action { tool: Some(tool), command, paths: paths.iter().map(String::as_str).collect(), text: None };
        let one = |(path, _, strength): (&MemoryPath, _, Strength)| {
            let rule = self.rules.get(path)?;
            let effect = rules::effect(strength, rule.decision)?;
            Some((path.clone(), FiredRule { name: rule.name.clone(), effect }))
        };
        self.table.tripped(&action).into_iter().filter_map(one).collect()
    }

    /// Compares a candidate with today's memory: whether a memory says it, and whether a rule would fire at the action it is about.
    pub(crate) fn add_candidate(&mut self, candidate: &Candidate) -> Result<(), Failure> {
        let is_saved = self.memdir.known_memory(candidate, &self.table)?.is_some();
        let patterns = |key: &str| -> Vec<String> {
            let value = candidate.when.as_ref().and_then(|when| when.get(key));
            let all = match value {
                Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
                Some(Value::String(one)) => vec![one.as_str()],
                _ => Vec::new(),
            };
            // The shortest action that the pattern matches.
            all.into_iter().map(|pattern| pattern.replace('*', "").trim().to_owned()).collect()
        };
        let commands = patterns("command");
        let is_caught = commands.iter().any(|command| !self.tripped("", Some(command), &[]).is_empty())
            || patterns("path").into_iter().any(|path| !self.tripped("", None, &[path]).is_empty());
        let counts = &mut self.report.candidates;
        counts.found += 1;
        *counts.kinds.entry(candidate.kind.as_str()).or_default() += 1;
        counts.saved += u64::from(is_saved);
        counts.caught += u64::from(is_caught);
        Ok(())
    }

    fn used(&mut self, name: &str) -> &mut ReplayedMemory {
        self.used.entry(name.to_owned()).or_insert_with(|| ReplayedMemory { name: name.to_owned(), ..ReplayedMemory::default() })
    }

    /// The sums, given the names of all memories.
    pub(crate) fn finish(self, names: &BTreeSet<String>) -> ReplayReport {
        let unused_memories = names.iter().filter(|name| !self.used.contains_key(*name)).count() as u64;
        let mut memories: Vec<ReplayedMemory> = self.used.into_values().collect();
        memories.shared_sort_by(|a, b| (b.recalled + b.fired).cmp(&(a.recalled + a.fired)).then_with(|| a.name.cmp(&b.name)));
        ReplayReport { memories, unused_memories, ..self.report }
    }
}

/// A path as tripwires match it: relative to the directory of the conversation, or to the project. Looks at no file, because those of
/// the conversation may be gone.
fn in_project(path: &str, conversation: Option<&str>, checkout: &Path) -> String {
    let bases = conversation.map(Path::new).into_iter().chain([checkout]);
    let inside = bases.filter_map(|base| Path::new(path).strip_prefix(base).ok()).next();
    inside.map_or_else(|| path.to_owned(), |inside| inside.to_string_lossy().into_owned())
}
