//! What `memdir install` finds on the machine that a memory could begin with: memories of other programs, conversations, and what is
//! wrong in the memories. Reads within a time limit, and changes nothing: each finding names the command to run.

use super::own_memory::SettlementContext;
use crate::{
    adopt,
    commands::counted,
    config::{self, Settings},
    hosts::{Host, HostMemory, Machine, command::Shell},
    scope::Scope,
    spaces,
};
use memdir_chats::{Reader, SearchedProject, candidates, count_claude_mem};
use memdir_core::{
    Actor, Check, CheckRule, Checked, Memdir, Mount, Project, Source,
    internal::{base::time::Deadline, secrets},
};
use serde::Serialize;
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{self, Sender},
    },
    thread,
    time::Duration,
};

/// The time limit of the search. A machine with a thousand conversations takes a tenth of a second.
const MAX_WAIT: Duration = Duration::from_secs(3);

/// The note if the time was not enough.
pub(super) const INCOMPLETE: &str =
    "the list of memories and conversations found on this machine may be incomplete: the search stopped after 3 seconds";

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(in crate::commands) struct Finding {
    pub(in crate::commands) kind: FindingKind,
    pub(in crate::commands) count: u64,
    /// The description for people, with the count.
    pub(in crate::commands) what: String,
    /// The command to run next.
    pub(in crate::commands) command: String,
    /// What is done about it on a terminal, if the person agrees.
    #[serde(skip)]
    pub(super) offer: Option<Offer>,
}

/// What can be done about a finding at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Offer {
    /// Mount the memory with this name.
    Adopt(String),
    /// Archive and index the conversations.
    Index,
}

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::commands) enum FindingKind {
    /// Memories of the host or of another program.
    Memories,
    /// Conversations that are not archived yet.
    Conversations,
    /// Proposed memories: in the inbox, or in conversations that are not archived.
    Candidates,
    /// Names of memories, files and commits that no longer exist.
    DeadReferences,
    /// Secrets in memories.
    Secrets,
}

/// All findings, and whether the time limit ended the search.
pub(super) struct FoundMemories {
    pub(super) all: Vec<Finding>,
    pub(super) is_incomplete: bool,
}

/// Looks for what the installed hosts and other programs have. `chats_on` is whether conversations are on after the installation,
/// and `settled` are the hosts whose own memory was decided about just now.
pub(super) fn find(context: &SettlementContext<'_>, hosts: &[&'static Host], chats_on: bool, settled: &[&str]) -> FoundMemories {
    let search = HostMemorySearch {
        settings: context.settings.clone(),
        project: context.space.project.clone(),
        machine: context.machine.clone(),
        own_mounts: own_mounts(context.space),
        inbox: context.space.mounts_only().into_iter().find(|mount| mount.source == Source::Inbox),
        memories: host_memories(context, hosts, settled),
        readers: hosts.iter().filter_map(|host| Some((host.title, host.transcripts?))).collect(),
        chats_on,
    };
    let (sender, receiver) = mpsc::channel();
    // It only reads, so it may end with the process.
    thread::spawn(move || search.run(&sender));
    let deadline = Deadline::after(MAX_WAIT);
    let mut all = Vec::new();
    loop {
        match receiver.recv_timeout(deadline.left()) {
            Ok(finding) => all.push(finding),
            Err(mpsc::RecvTimeoutError::Disconnected) => return FoundMemories { all, is_incomplete: false },
            Err(mpsc::RecvTimeoutError::Timeout) => return FoundMemories { all, is_incomplete: true },
        }
    }
}

/// The mounts of the memory that exist; reading them creates nothing.
fn own_mounts(space: &Scope) -> Vec<Mount> {
    let mounts = space.mounts_only().into_iter().filter(|mount| mount.source == Source::Memory && mount.root.is_dir());
    mounts.map(|mount| Mount { late: true, ..mount }).collect()
}

/// The memories of the hosts and of other programs that are not mounted, and about which nothing was decided.
fn host_memories(context: &SettlementContext<'_>, hosts: &[&'static Host], settled: &[&str]) -> Vec<HostMemory> {
    let open = hosts.iter().filter(|host| !settled.contains(&host.name));
    let hosts = open.filter(|host| own_memory_is_read(host, context)).filter_map(|host| host.memory?(context.machine));
    let all = hosts.chain(adopt::other_programs(context.machine));
    all.filter(|memory| memory.path.is_dir() && context.space.mount_at(&memory.path).is_none()).collect()
}

/// Whether a host loads its own memory. What it does not read any more was imported when that was decided.
fn own_memory_is_read(host: &Host, context: &SettlementContext<'_>) -> bool {
    host.memory_switch.as_ref().is_none_or(|switch| (switch.state)(context.machine).off_by.is_none())
}

/// What is looked for, on a thread of its own.
struct HostMemorySearch {
    settings: Settings,
    project: Project,
    machine: Machine,
    own_mounts: Vec<Mount>,
    /// The inbox of the project, unless candidates are off.
    inbox: Option<Mount>,
    memories: Vec<HostMemory>,
    readers: Vec<(&'static str, &'static Reader)>,
    chats_on: bool,
}

impl HostMemorySearch {
    /// Sends every finding, the cheapest first. A receiver that is gone ends it.
    fn run(&self, sender: &Sender<Finding>) {
        let steps: [&dyn Fn() -> Vec<Finding>; 7] = [
            &|| self.conversations(),
            &|| self.memories.iter().filter_map(|memory| self.adoptable(memory)).collect(),
            &|| self.imports(),
            &|| self.open_candidates().into_iter().collect(),
            &|| self.own_problems(),
            &|| self.memories.iter().flat_map(|memory| self.problems_in(memory)).collect(),
            &|| self.new_candidates(),
        ];
        for finding in steps.iter().flat_map(|step| step()) {
            if sender.send(finding).is_err() {
                return;
            }
        }
    }

    /// The conversations of the installed hosts that are not archived.
    fn conversations(&self) -> Vec<Finding> {
        let archive = spaces::chat_archive(&self.settings);
        let roots = config::chat_roots(&self.settings.config.chats.folders);
        let command = self.index_command();
        // What is off is turned on by its own question.
        let offer = self.chats_on.then_some(Offer::Index);
        let count = |(title, reader): &(&'static str, &'static Reader)| {
            let sessions = (reader.open)(&roots)?.sessions().sessions;
            let new = sessions.iter().filter(|session| !archive.path(reader, &session.key).exists()).count() as u64;
            let what = format!("{} of {title}", counted(new, "conversation", "conversations"));
            let (command, offer) = (command.to_owned(), offer.clone());
            (new > 0).then_some(Finding { kind: FindingKind::Conversations, count: new, what, command, offer })
        };
        self.readers.iter().filter_map(count).collect()
    }

    fn index_command(&self) -> &'static str {
        if self.chats_on { "memdir chats sync" } else { "memdir chats on" }
    }

    /// The candidates that wait for a decision.
    fn open_candidates(&self) -> Option<Finding> {
        let inbox = self.inbox.as_ref().filter(|inbox| inbox.root.is_dir())?;
        let memdir = spaces::open_mounts(&self.settings, std::slice::from_ref(inbox), &self.settings.actor.value).ok()?;
        let count = memdir.inbox().ok()?.open.len() as u64;
        let what = format!("{} in this project's inbox", counted(count, "candidate", "candidates"));
        (count > 0).then(|| Finding { kind: FindingKind::Candidates, count, what, command: "memdir inbox".to_owned(), offer: None })
    }

    /// The candidates in conversations of this project that are not archived. Of the kinds that one conversation shows alone.
    fn new_candidates(&self) -> Vec<Finding> {
        if self.inbox.is_none() {
            return Vec::new();
        }
        let archive = spaces::chat_archive(&self.settings);
        let roots = config::chat_roots(&self.settings.config.chats.folders);
        let project = SearchedProject { project: self.project.clone(), worktrees: self.settings.config.worktrees };
        let one = |(title, reader): &(&'static str, &'static Reader)| {
            let source = (reader.open)(&roots)?;
            let is_new = |key: &str| !archive.path(reader, key).exists();
            let found = candidates::find_in_transcripts(source.as_ref(), &project, &is_new, &secrets::redact_strict, &|| false);
            let count = found.iter().filter(|candidate| self.settings.config.inbox.adds(candidate.kind)).count() as u64;
            let what = format!("{} in {title} conversations", counted(count, "memory candidate", "memory candidates"));
            let command = self.index_command().to_owned();
            (count > 0).then_some(Finding { kind: FindingKind::Candidates, count, what, command, offer: None })
        };
        self.readers.iter().filter_map(one).collect()
    }

    fn adoptable(&self, memory: &HostMemory) -> Option<Finding> {
        let count = adopt::count_mounted(memory, &self.machine) as u64;
        let what = format!("{} ({})", counted(count, "memory", "memories"), memory.title);
        let command = format!("memdir adopt {}", memory.name);
        let offer = Some(Offer::Adopt(memory.name.to_string()));
        (count > 0).then_some(Finding { kind: FindingKind::Memories, count, what, command, offer })
    }

    /// The memories of programs that are imported by name.
    fn imports(&self) -> Vec<Finding> {
        let finding = |count: u64, what: String, program: &str, path: &Path| {
            let command = Shell::Posix.line("memdir", &["import".to_owned(), program.to_owned(), path.display().to_string()]);
            (count > 0).then_some(Finding { kind: FindingKind::Memories, count, what, command, offer: None })
        };
        let is_imported = |topic: &str| self.own_mounts.iter().any(|mount| mount.root.join(topic).is_dir());
        let database = self.machine.home.join(".claude-mem/claude-mem.db");
        let was_imported = is_imported("claude-mem") || is_imported("logs/imported/claude-mem");
        let claude_mem = (database.is_file() && !was_imported).then(|| count_claude_mem(&database).ok()).flatten();
        let claude_mem = claude_mem.and_then(|(observations, summaries)| {
            let what = format!(
                "{} and {} in claude-mem",
                counted(observations, "observation", "observations"),
                counted(summaries, "session summary", "session summaries")
            );
            finding(observations + summaries, what, "claude-mem", &database)
        });
        let notes: PathBuf = self.machine.home.join("basic-memory");
        let count = if notes.is_dir() { adopt::count_files(&notes) as u64 } else { 0 };
        let what = format!("{} in basic-memory", counted(count, "note", "notes"));
        claude_mem.into_iter().chain(finding(count, what, "basic-memory", &notes)).collect()
    }

    /// What is wrong in the memories that memdir has.
    fn own_problems(&self) -> Vec<Finding> {
        if self.own_mounts.is_empty() {
            return Vec::new();
        }
        let Ok(memdir) = spaces::open_mounts(&self.settings, &self.own_mounts, &self.settings.actor.value) else { return Vec::new() };
        let args = self.machine.global_args.iter().cloned().chain(["check".to_owned()]).collect::<Vec<_>>();
        self.problems(&memdir, "", &Shell::Posix.line("memdir", &args))
    }

    /// What is wrong in the memories of another program.
    fn problems_in(&self, memory: &HostMemory) -> Vec<Finding> {
        let Ok(store) = adopt::open(memory, &self.machine) else { return Vec::new() };
        let args = ["--dir", &memory.path.display().to_string(), "check"].map(str::to_owned);
        let memdir = Memdir::new(Arc::new(store), Actor { name: self.settings.actor.value.clone(), session: None });
        self.problems(&memdir, &format!(" ({})", memory.title), &Shell::Posix.line("memdir", &args))
    }

    fn problems(&self, memdir: &Memdir, place: &str, command: &str) -> Vec<Finding> {
        let Ok(checked) = memdir.check(&Check { project: Some(&self.project), fix: false }) else { return Vec::new() };
        let dead = [CheckRule::DeadLine, CheckRule::DeadLink, CheckRule::DeadReference, CheckRule::Gone];
        let rows = [
            (FindingKind::DeadReferences, count(&checked, &dead), "dead reference", "dead references"),
            (FindingKind::Secrets, count(&checked, &[CheckRule::Secret]), "secret", "secrets"),
        ];
        let finding = |(kind, count, one, many): (FindingKind, u64, &str, &str)| {
            let what = format!("{} in memories{place}", counted(count, one, many));
            (count > 0).then(|| Finding { kind, count, what, command: command.to_owned(), offer: None })
        };
        rows.into_iter().filter_map(finding).collect()
    }
}

fn count(checked: &Checked, rules: &[CheckRule]) -> u64 {
    checked.findings.iter().filter(|finding| rules.contains(&finding.rule)).count() as u64
}
