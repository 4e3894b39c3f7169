//! `memdir bench replay`: how well recall and rules find what a conversation needs. Plants facts as memories and rules, generates
//! transcripts whose messages and commands need them or do not, imports them as a host's, and replays them. The same seed gives the same
//! report; the numbers are the project's benchmark for recall.

use super::{empty, generate::Vocabulary, planted::PlantedWorld, random::Random, scratch};
use crate::{
    args::BenchReplayArgs,
    commands::replay::past_conversation,
    exit::Failure,
    output::{CommandOutput, Printer},
    replay::{Replay, ReplayEvent, ReplayReport},
    rules::RuleDecisions,
    spaces,
};
use memdir_chats::{ChatArchive, ChatSettings, Retention, Roots, SyncLimits, SyncMemo, Syncer};
use memdir_core::{
    Import, Incoming, SystemClock,
    internal::{base::disk, secrets},
};
use serde::Serialize;
use std::{
    collections::BTreeSet,
    io::{self, Write as _},
    path::Path,
    sync::Arc,
};

/// Memories in one change.
const BATCH: usize = 500;

#[derive(Serialize)]
struct ReplayBenchReport {
    seed: u64,
    memories: usize,
    /// Memories that are planted facts and rules.
    planted: usize,
    recall: RecallScore,
    rules: RuleScore,
    replay: ReplayReport,
}

/// Messages, and the memories that they get.
#[derive(Default, Serialize)]
struct RecallScore {
    /// Messages that need a memory.
    needed: u64,
    /// Those of them that get it, or got it earlier in the conversation.
    found: u64,
    /// Messages that need a memory and share one word with it, and those of them that get it.
    reworded: u64,
    reworded_found: u64,
    /// Messages that get the memory they need before any other one.
    first: u64,
    /// Memories that are recalled for all messages.
    recalled: u64,
    /// Those of them that are what the message needs.
    right: u64,
    /// Those of them that are other facts about the part that the message needs one about.
    related: u64,
    /// Messages that need none, and name no part.
    quiet: u64,
    /// Those of them that get one.
    disturbed: u64,
    /// Messages that need none, and name a part.
    mentions: u64,
    /// Those of them that get one.
    mentions_disturbed: u64,
    tokens_per_message: f64,
}

/// Commands, and the rules that fire for them.
#[derive(Default, Serialize)]
struct RuleScore {
    /// Commands that a rule is about.
    needed: u64,
    /// Those of them at which it fires.
    found: u64,
    /// Rules that fire at all commands.
    fired: u64,
}

pub(crate) fn run(args: &BenchReplayArgs, dir: Option<&Path>) -> Result<CommandOutput, Failure> {
    let scratch = scratch()?;
    let work = dir.map_or_else(|| Ok(scratch.path().to_owned()), empty)?;
    let planted = PlantedWorld::generate(args.seed, args.facts as usize);
    let memdir = spaces::open_plain(&work.join("memory"), &work.join("home"), "bench")?;
    let memories: Vec<Incoming> = planted.memories.iter().cloned().chain(filler(args.files, args.seed)).collect();
    for batch in memories.chunks(BATCH) {
        memdir.import(&Import { memories: batch.to_vec(), ..Import::default() })?;
    }
    for (path, text) in &planted.transcripts {
        put(&work.join("user").join(path), text)?;
    }
    let archive = ChatArchive::new(work.join("chats"));
    sync(&work, &archive)?;
    let mut replay = Replay::new(&memdir, &RuleDecisions::default(), Path::new(PlantedWorld::PROJECT), None)?;
    let (mut recall, mut rules) = (RecallScore::default(), RuleScore::default());
    let mut chats = archive.list()?.chats;
    chats.sort_by_key(|file| file.chat.name());
    for file in &chats {
        let Some(past) = past_conversation(&archive, &file.chat)? else { continue };
        rules.needed +=
            past.calls.iter().filter(|call| call.command.as_deref().is_some_and(|line| planted.rule_of(line).is_some())).count() as u64;
        // What a message brought stays in the context of its conversation.
        let mut context: BTreeSet<String> = BTreeSet::new();
        replay.add(&past, &mut |event| match event {
            ReplayEvent::Message { message, recalled } => {
                let names: Vec<&str> = recalled.shown.iter().map(|shown| shown.name.as_str()).collect();
                recall.recalled += names.len() as u64;
                match planted.fact_of(&message.text) {
                    Some((fact, is_reworded)) => {
                        let is_found = names.contains(&fact) || context.contains(fact);
                        recall.needed += 1;
                        recall.found += u64::from(is_found);
                        recall.reworded += u64::from(is_reworded);
                        recall.reworded_found += u64::from(is_reworded && is_found);
                        recall.first += u64::from(names.first() == Some(&fact));
                        recall.right += u64::from(names.contains(&fact));
                        let others = names.iter().filter(|name| **name != fact);
                        recall.related += others.filter(|name| PlantedWorld::is_same_part(name, fact)).count() as u64;
                    }
                    None if planted.is_mention(&message.text) => {
                        recall.mentions += 1;
                        recall.mentions_disturbed += u64::from(!names.is_empty());
                    }
                    None => {
                        recall.quiet += 1;
                        recall.disturbed += u64::from(!names.is_empty());
                    }
                }
                context.extend(recalled.shown.iter().map(|shown| shown.name.clone()));
            }
            ReplayEvent::Call { call, fired, .. } => {
                rules.fired += fired.len() as u64;
                let wanted = call.command.as_deref().and_then(|line| planted.rule_of(line));
                rules.found += u64::from(wanted.is_some_and(|wanted| fired.iter().any(|rule| rule.name == wanted)));
            }
        })?;
    }
    let report = replay.finish(&memories.iter().map(|memory| memory.name.clone()).collect::<BTreeSet<_>>());
    recall.tokens_per_message = round(report.recall_tokens as f64 / report.messages.max(1) as f64);
    // The list is as long as the memory, and says nothing about other memories.
    let replay = ReplayReport { memories: Vec::new(), ..report };
    let planted = planted.memories.len();
    Ok(CommandOutput::new(ReplayBenchReport { seed: args.seed, memories: memories.len(), planted, recall, rules, replay }, show))
}

/// Memories that no message needs, made of invented words.
fn filler(files: u32, seed: u64) -> Vec<Incoming> {
    let words = Vocabulary::new();
    let random = &mut Random::new(seed);
    let first = u32::try_from(random.below(1_000)).unwrap_or_default();
    (0..files).map(|n| Incoming { name: format!("filler/note-{n:05}"), text: super::generate::memory(first + n, &words) }).collect()
}

/// Imports the transcripts as those of a host.
fn sync(work: &Path, archive: &ChatArchive) -> Result<(), Failure> {
    let syncer = Syncer {
        sources: memdir_chats::open_sources(&Roots::under(work.join("user"))),
        archive: archive.clone(),
        // The generated conversations have fixed dates, so none may be too old.
        settings: ChatSettings { on: true, retention: Retention { days: 0, bytes: 0 }, ..ChatSettings::default() },
        redact: Box::new(secrets::redact_strict),
        clock: Arc::new(SystemClock),
        project: None,
        memo: SyncMemo::default(),
    };
    syncer.sync(SyncLimits { until: None, never_wait: false }, &mut |_| {})?;
    Ok(())
}

fn put(path: &Path, text: &str) -> Result<(), Failure> {
    let write = || {
        disk::create_private_dir(path.parent().unwrap_or(Path::new(".")))?;
        disk::create_private_file(path)?.write_all(text.as_bytes())
    };
    write().map_err(|source: io::Error| Failure::File { doing: "write", path: path.to_owned(), source })
}

fn round(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// A share in percent: `58/60 (97 %)`.
fn share(part: u64, whole: u64) -> String {
    format!("{part}/{whole} ({:.0} %)", 100.0 * part as f64 / whole.max(1) as f64)
}

fn show(report: &ReplayBenchReport, printer: &mut Printer<'_>) -> io::Result<()> {
    let (recall, rules) = (&report.recall, &report.rules);
    let rows = [
        ("memories, of them planted", format!("{}, {}", report.memories, report.planted)),
        (
            "conversations, messages, commands",
            format!("{}, {}, {}", report.replay.conversations, report.replay.messages, report.replay.calls),
        ),
        ("recall: messages that get the fact they need", share(recall.found, recall.needed)),
        ("of them, messages in the words of the fact", share(recall.found - recall.reworded_found, recall.needed - recall.reworded)),
        ("of them, messages that share one word with it", share(recall.reworded_found, recall.reworded)),
        ("messages that get it before any other memory", share(recall.first, recall.needed)),
        ("precision: recalled memories that are that fact", share(recall.right, recall.recalled)),
        ("recalled memories that are other facts about the same part", share(recall.related, recall.recalled)),
        ("messages that need nothing and get something", share(recall.disturbed, recall.quiet)),
        ("messages that name a part, need nothing and get something", share(recall.mentions_disturbed, recall.mentions)),
        ("tokens per message", format!("{:.1}", recall.tokens_per_message)),
        ("commands at which the planted rule fires", share(rules.found, rules.needed)),
        ("fired rules that are planted for the command", share(rules.found, rules.fired)),
        ("seed", report.seed.to_string()),
    ];
    printer.table(&rows.map(|(what, value)| vec![what.to_owned(), value]))
}
