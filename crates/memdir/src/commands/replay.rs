//! `memdir replay`: runs the archived conversations of a project against its memory of today.

use super::counted;
use crate::{
    args::ReplayArgs,
    config::Settings,
    exit::Failure,
    mounts::chat_archive,
    output::{CommandOutput, OutputOptions, Printer, visible},
    replay::{FiredRule, PastCall, PastConversation, PastMessage, Replay, ReplayEvent, ReplayReport},
    rules::RuleDecisions,
    scope::Scope,
    spaces,
};
use jiff::Timestamp;
use memdir_chats::{
    ArchivedChat, ArchivedFile, CallEvidence, ChatArchive, ChatSection, SearchedProject, Speaker,
    candidates::{self, FindRequest},
};
use memdir_core::{
    List, SystemClock,
    internal::base::{
        text::{ellipsis, one_line},
        time::parse_since,
    },
};
use memdir_embed::StaticModel;
use serde::Serialize;
use std::{collections::BTreeSet, io};

/// Decisions that `--explain` prints at most.
const MAX_EXPLAINED: usize = 10_000;
/// Memories in the summary.
const TOP: usize = 10;

#[derive(Serialize)]
struct ReplayOutput {
    /// Conversations that ended before this are not replayed.
    since: Timestamp,
    #[serde(flatten)]
    report: ReplayReport,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    explained: Vec<Explained>,
    /// Decisions that are not in `explained`.
    #[serde(skip_serializing_if = "is_zero")]
    omitted: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// What would have happened at one message or call.
#[derive(Serialize)]
struct Explained {
    /// The turn, or the conversation of a call.
    place: String,
    /// The message or the call, on one line.
    what: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    recalled: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fired: Vec<FiredRule>,
    tokens: usize,
}

pub(crate) fn run(args: &ReplayArgs, settings: &Settings, scope: &Scope, look: OutputOptions) -> Result<CommandOutput, Failure> {
    let since = parse_since("--since", &args.since, &SystemClock)?;
    let opened = spaces::open_lazy(settings, scope)?;
    let memdir = &opened.memdir;
    let mut notes = opened.notes;
    let archive = chat_archive(settings);
    let listed = archive.list()?;
    notes.extend(listed.problems.into_iter().map(|problem| problem.what));
    let project = SearchedProject { project: scope.project.clone(), worktrees: settings.config.worktrees };
    let is_wanted = |chat: &ArchivedChat| {
        let updated = chat.updated.or(chat.started).unwrap_or_default();
        updated >= since && (args.all_projects || project.includes(chat.session_project()))
    };
    let mut chats: Vec<ArchivedFile> = listed.chats.into_iter().filter(|file| is_wanted(&file.chat)).collect();
    // Oldest first, as they happened.
    chats.sort_by_cached_key(|file| (file.chat.updated, file.chat.name()));
    if chats.is_empty() {
        let (which, wider) = if args.all_projects { ("", "") } else { (" of this project", "add --all-projects, or ") };
        notes.push(if settings.config.chats.settings.on {
            format!("no archived conversations{which} in this period; {wider}import new ones with: memdir chats sync")
        } else {
            format!("no archived conversations{which} in this period, and chats are off; {wider}turn chats on with: memdir chats on")
        });
    }
    let bar = look.progress_bar(chats.len());
    let cache = scope.tripwires_file(&settings.cache);
    let mut replay = Replay::new(memdir, &RuleDecisions::load(&settings.home.value)?, &scope.project.checkout, Some(&cache))?;
    let (mut explained, mut omitted) = (Vec::new(), 0);
    for file in &chats {
        bar.set_message(visible(&file.chat.name()).into_owned());
        let Some(past) = past_conversation(&archive, &file.chat)? else { continue };
        replay.add(&past, &mut |event| {
            if args.explain && explained.len() < MAX_EXPLAINED {
                explained.extend(explain(&event));
            } else if args.explain {
                omitted += 1;
            }
        })?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let model = StaticModel::new();
    let project = (!args.all_projects).then_some(&project);
    let request = FindRequest { project, stopped: None, embedder: Some(&model), until: None, clock: &SystemClock };
    for candidate in candidates::find_all(&archive, &request)?.iter().filter(|one| one.at.is_none_or(|at| at >= since)) {
        replay.add_candidate(candidate)?;
    }
    let names: BTreeSet<String> = memdir.list(&List::default())?.memories.into_iter().map(|memory| memory.name).collect();
    let output = ReplayOutput { since, report: replay.finish(&names), explained, omitted };
    Ok(CommandOutput::new(output, show).with_notes(notes))
}

/// Reads the messages and the tool calls of an archived conversation. `None` if it was removed in the meantime.
pub(super) fn past_conversation(archive: &ChatArchive, chat: &ArchivedChat) -> Result<Option<PastConversation>, Failure> {
    let Some((chat, sections)) = archive.read(chat.host, &chat.key)? else { return Ok(None) };
    let message = |section: ChatSection| {
        let file = archive.part_path(chat.host, &chat.key, section.part);
        let file = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        PastMessage { place: format!("chats/{}/{file}:{}-{}", chat.host, section.lines.0, section.lines.1), text: section.text }
    };
    let messages = sections.into_iter().filter(|section| section.speaker == Speaker::User).map(message).collect();
    let call = |call: CallEvidence| PastCall { turn: call.turn, at: call.at, tool: call.tool, command: call.command, paths: call.paths };
    let calls = archive.evidence(&chat)?.into_iter().map(call).collect();
    Ok(Some(PastConversation { name: chat.name(), project: chat.project.clone(), messages, calls }))
}

/// One decision, or `None` for a message that recalls nothing.
fn explain(event: &ReplayEvent<'_>) -> Option<Explained> {
    match event {
        ReplayEvent::Message { recalled, .. } if recalled.shown.is_empty() => None,
        ReplayEvent::Message { message, recalled } => Some(Explained {
            place: message.place.clone(),
            what: short_line(&message.text),
            recalled: recalled.shown.iter().map(|shown| shown.name.clone()).collect(),
            fired: Vec::new(),
            tokens: recalled.tokens,
        }),
        ReplayEvent::Call { conversation, call, fired } => Some(Explained {
            place: conversation.name.clone(),
            what: short_line(&format!("{}: {}", call.tool, call.command.clone().unwrap_or_else(|| call.paths.join(" ")))),
            recalled: Vec::new(),
            fired: fired.to_vec(),
            tokens: 0,
        }),
    }
}

fn short_line(text: &str) -> String {
    ellipsis(&one_line(text), 80).into_owned()
}

fn show(output: &ReplayOutput, printer: &mut Printer<'_>) -> io::Result<()> {
    for one in &output.explained {
        let fired = one.fired.iter().map(|rule| format!("{} {}", rule.name, would(rule)));
        let what: Vec<String> = one.recalled.iter().map(|name| format!("{name} recalled")).chain(fired).collect();
        printer.line(format!("{}  {}", one.place, printer.dim(&one.what)))?;
        printer.line(format!("  {}", what.join(", ")))?;
    }
    if output.omitted > 0 {
        printer.note(format!("omitted: {}", counted(output.omitted as u64, "more decision", "more decisions")));
    }
    let report = &output.report;
    printer.line(format!(
        "{}, {}, {}",
        counted(report.conversations, "conversation", "conversations"),
        counted(report.messages, "message", "messages"),
        counted(report.calls, "tool call", "tool calls")
    ))?;
    printer.line(format!(
        "memories: recalled {} for {}, {} tokens (average over all messages: {})",
        counted(report.recalled, "time", "times"),
        counted(report.messages_with_recall, "message", "messages"),
        report.recall_tokens,
        report.recall_tokens.checked_div(report.messages).unwrap_or_default()
    ))?;
    let fired: Vec<String> = report.fired.iter().map(|(effect, count)| format!("{effect} {count}")).collect();
    let by_effect = if fired.is_empty() { String::new() } else { format!(" ({})", fired.join(", ")) };
    printer.line(format!(
        "rules: fired on {}{by_effect}, {} tokens",
        counted(report.calls_with_rules, "tool call", "tool calls"),
        report.rule_tokens
    ))?;
    let candidates = &report.candidates;
    if candidates.found > 0 {
        let kinds: Vec<String> = candidates.kinds.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        printer.line(format!(
            "{} ({}): {} already saved, {} covered by a rule",
            counted(candidates.found, "candidate", "candidates"),
            kinds.join(", "),
            candidates.saved,
            candidates.caught
        ))?;
    }
    if !report.memories.is_empty() {
        let mut rows = vec![["memory", "recalled", "fired"].map(str::to_owned).to_vec()];
        rows.extend(report.memories.iter().take(TOP).map(|one| vec![one.name.clone(), one.recalled.to_string(), one.fired.to_string()]));
        printer.table(&rows)?;
    }
    let more = report.memories.len().saturating_sub(TOP);
    if more > 0 {
        printer.line(format!("and {}", counted(more as u64, "more memory", "more memories")))?;
    }
    if report.conversations == 0 || report.unused_memories == 0 {
        return Ok(());
    }
    let unused = counted(report.unused_memories, "memory was", "memories were");
    printer.line(format!("{unused} not used in any of these conversations"))
}

/// What a rule would do to a call.
fn would(rule: &FiredRule) -> &'static str {
    use memdir_core::Strength;
    match rule.effect {
        Strength::Tell => "tells",
        Strength::Hold => "holds",
        Strength::Ask => "asks",
        Strength::Deny => "denies",
    }
}
