//! `memdir export --to-server` and `--from-server`: copies memories between this machine and a team server, in either direction. Never
//! replaces a memory: what differs on both sides is reported and kept. Nothing is sent if one of the memories has a secret.

use crate::{
    args::ExportArgs,
    commands::{counted, team_token},
    exit::{Exit, Failure},
    output::{CommandOutput, OutputOptions, Printer},
    team_client::{self, NOT_UTF8, ServerMemory, TRUST_CERTIFICATES, TeamClient, TeamFailure},
};
use memdir_core::{
    Error, List, Memdir, MemoryPath, Version, Write, WriteMode,
    internal::{secrets, store::mounts},
};
use serde::Serialize;
use std::{collections::BTreeMap, io};

/// What was copied.
#[derive(Serialize)]
struct Transfer {
    dry_run: bool,
    from: String,
    to: String,
    /// The memories that did not exist at the destination.
    copied: Vec<String>,
    /// The memories that wait for review at the destination.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    proposed: Vec<String>,
    /// Number of memories that are equal on both sides.
    unchanged: usize,
    /// The memories that differ; both sides keep theirs.
    conflicts: Vec<String>,
    failed: Vec<FailedCopy>,
}

#[derive(Serialize)]
struct FailedCopy {
    name: String,
    why: String,
}

impl Transfer {
    fn fail(&mut self, name: &str, why: impl Into<String>) {
        self.failed.push(FailedCopy { name: name.to_owned(), why: why.into() });
    }
}

/// A memory on this machine.
struct LocalMemory {
    path: MemoryPath,
    text: String,
}

pub(super) fn run(args: &ExportArgs, memdir: &Memdir, options: OutputOptions) -> Result<CommandOutput, Failure> {
    let url = args.to_server.as_ref().or(args.from_server.as_ref()).map_or("", String::as_str);
    let base = team_client::server_url(url)?;
    let token = team_token::from_file_or_variable(args.token_file.as_deref(), options)?;
    let client = TeamClient::new(&base, token, args.server_project.clone());
    let is_upload = args.to_server.is_some();
    let here = "this machine".to_owned();
    let (from, to) = if is_upload { (here, base) } else { (base, here) };
    let mut transfer = Transfer {
        dry_run: args.dry_run,
        from,
        to,
        copied: Vec::new(),
        proposed: Vec::new(),
        unchanged: 0,
        conflicts: Vec::new(),
        failed: Vec::new(),
    };
    if is_upload {
        upload(&mut transfer, args, memdir, &client, options)?;
    } else {
        download(&mut transfer, args, memdir, &client, options)?;
    }
    let exit = match &transfer {
        Transfer { failed, .. } if !failed.is_empty() => Exit::ActionRequired,
        Transfer { conflicts, .. } if !conflicts.is_empty() => Exit::Negative,
        _ => Exit::Success,
    };
    Ok(CommandOutput::new(transfer, show).exit(exit))
}

/// Copies memories to the server.
fn upload(transfer: &mut Transfer, args: &ExportArgs, memdir: &Memdir, client: &TeamClient, options: OutputOptions) -> Result<(), Failure> {
    let local = local_memories(transfer, args, memdir)?;
    check_secrets(memdir, &local)?;
    let listed = client.list(&prefix(&args.topic)).map_err(|failure| interrupted(&failure, transfer))?;
    let there: BTreeMap<&str, &ServerMemory> = listed.iter().map(|memory| (memory.name.as_str(), memory)).collect();
    let bar = options.progress_bar(local.len()).with_message("memories");
    for memory in local {
        bar.inc(1);
        let name = memory.path.name();
        match there.get(name) {
            Some(known) if known.version == Version::from_content(memory.text.as_bytes()).to_string() => transfer.unchanged += 1,
            Some(_) => transfer.conflicts.push(name.to_owned()),
            None if args.dry_run => transfer.copied.push(name.to_owned()),
            None => match client.create(name, &memory.text) {
                Ok(false) => transfer.copied.push(name.to_owned()),
                Ok(true) => transfer.proposed.push(name.to_owned()),
                // Another client created it in the meantime.
                Err(TeamFailure::Conflict) => transfer.conflicts.push(name.to_owned()),
                Err(TeamFailure::Refused(why) | TeamFailure::NotFound(why) | TeamFailure::Denied(why) | TeamFailure::Forbidden(why)) => {
                    transfer.fail(name, why);
                }
                Err(failure) => return Err(interrupted(&failure, transfer)),
            },
        }
    }
    bar.finish_and_clear();
    Ok(())
}

/// Copies memories from the server.
fn download(
    transfer: &mut Transfer,
    args: &ExportArgs,
    memdir: &Memdir,
    client: &TeamClient,
    options: OutputOptions,
) -> Result<(), Failure> {
    let there = client.list(&prefix(&args.topic)).map_err(|failure| interrupted(&failure, transfer))?;
    let bar = options.progress_bar(there.len()).with_message("memories");
    for memory in there {
        bar.inc(1);
        let name = memory.name.as_str();
        let path = match MemoryPath::parse(name) {
            Ok(path) => path,
            Err(error) => {
                transfer.fail(name, error.to_string());
                continue;
            }
        };
        if let Some(prefix) = missing_mount(memdir, &path) {
            transfer.fail(name, format!("no directory is mounted as {prefix}/ on this machine"));
            continue;
        }
        match memdir.store().get(&path)? {
            Some(stored) if stored.version.to_string() == memory.version => transfer.unchanged += 1,
            Some(_) => transfer.conflicts.push(name.to_owned()),
            None if args.dry_run => transfer.copied.push(name.to_owned()),
            None => match client.read(name) {
                Ok(text) => match memdir.write(&Write::create(path, text).mode(WriteMode::PutNew)) {
                    Ok(_) => transfer.copied.push(name.to_owned()),
                    // Another process created it in the meantime.
                    Err(Error::Exists { .. } | Error::Changed { .. }) => transfer.conflicts.push(name.to_owned()),
                    Err(error) => transfer.fail(name, error.to_string()),
                },
                Err(TeamFailure::Conflict) => transfer.conflicts.push(name.to_owned()),
                Err(TeamFailure::Refused(why) | TeamFailure::NotFound(why) | TeamFailure::Denied(why) | TeamFailure::Forbidden(why)) => {
                    transfer.fail(name, why);
                }
                Err(TeamFailure::NotText) => transfer.fail(name, NOT_UTF8),
                Err(failure) => return Err(interrupted(&failure, transfer)),
            },
        }
    }
    bar.finish_and_clear();
    Ok(())
}

fn local_memories(transfer: &mut Transfer, args: &ExportArgs, memdir: &Memdir) -> Result<Vec<LocalMemory>, Failure> {
    let mut memories = Vec::new();
    for listed in memdir.list(&List { topic: args.topic.clone(), ..List::default() })?.memories {
        match memdir.store().get(&listed.path) {
            Ok(Some(stored)) => match String::from_utf8(stored.bytes) {
                Ok(text) => memories.push(LocalMemory { path: stored.path, text }),
                Err(_) => transfer.fail(listed.path.name(), NOT_UTF8),
            },
            // Deleted in the meantime.
            Ok(None) => {}
            Err(error) => transfer.fail(listed.path.name(), error.to_string()),
        }
    }
    Ok(memories)
}

/// Fails if one of the memories has a secret, by the names of memory and rule.
fn check_secrets(memdir: &Memdir, memories: &[LocalMemory]) -> Result<(), Failure> {
    let allow = &memdir.context().allow;
    let secrets_of = |memory: &LocalMemory| {
        let findings = allow.filter(&memory.text, secrets::scan(&memory.text));
        findings.into_iter().map(|finding| format!("{}:{} ({})", memory.path.name(), finding.line, finding.rule)).collect::<Vec<_>>()
    };
    let found: Vec<String> = memories.iter().flat_map(secrets_of).collect();
    if found.is_empty() {
        return Ok(());
    }
    Err(Failure::Settings {
        message: format!("nothing was sent: found {}: {}", counted(found.len() as u64, "secret", "secrets"), found.join(", ")),
        hint: "remove the secrets from the memories, or allow them with the setting `secrets.allow` or `secrets.allow_rules`".into(),
    })
}

/// The prefix of a mount that the memory belongs to on the server and that this machine does not have.
fn missing_mount(memdir: &Memdir, path: &MemoryPath) -> Option<&'static str> {
    let first = path.parts().next().unwrap_or_default();
    let prefix = ["user", "team", "agent"].into_iter().find(|prefix| *prefix == first)?;
    let is_mounted = mounts::mount_of(memdir.store(), path).is_some_and(|mount| !mount.prefix.is_empty());
    (!is_mounted).then_some(prefix)
}

/// What was copied before a failure stays; the same command continues from there.
fn interrupted(failure: &TeamFailure, transfer: &Transfer) -> Failure {
    let hint = match failure {
        TeamFailure::Denied(_) => "pass a valid token for the server with --token-file FILE, or set MEMDIR_TEAM_TOKEN to it",
        TeamFailure::Untrusted(_) => TRUST_CERTIFICATES,
        TeamFailure::Forbidden(_) => "check --server-project, or pass another token with --token-file FILE or MEMDIR_TEAM_TOKEN",
        TeamFailure::Refused(_) | TeamFailure::NotFound(_) | TeamFailure::Unexpected(_) => {
            "check the URL and the project (--server-project)"
        }
        TeamFailure::Unreachable(_) => {
            "check the URL and that the server is running, then run the command again; it copies only the missing memories"
        }
        _ => "run the command again; it copies only the missing memories",
    };
    let done = counted(transfer.copied.len() as u64, "memory was", "memories were");
    Failure::Settings { message: format!("{failure}; {done} copied"), hint: hint.into() }
}

fn prefix(topic: &str) -> String {
    let topic = topic.trim_matches('/');
    if topic.is_empty() { String::new() } else { format!("{topic}/") }
}

fn show(transfer: &Transfer, printer: &mut Printer<'_>) -> io::Result<()> {
    for name in &transfer.conflicts {
        printer.line(format!("conflict: {name} differs on the server; neither copy was changed"))?;
    }
    for name in &transfer.proposed {
        printer.line(format!("proposed: {name} is waiting for review"))?;
    }
    for failed in &transfer.failed {
        printer.line(format!("failed: {}: {}", failed.name, failed.why))?;
    }
    let verb = if transfer.dry_run { "would copy" } else { "copied" };
    let copied = counted(transfer.copied.len() as u64, "memory", "memories");
    let conflicts = counted(transfer.conflicts.len() as u64, "conflict", "conflicts");
    let more = [(transfer.proposed.len(), "proposed"), (transfer.failed.len(), "failed")];
    let more: String = more.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!(", {count} {what}")).collect();
    let (from, to, unchanged) = (&transfer.from, &transfer.to, transfer.unchanged);
    printer.line(format!("{verb} {copied} from {from} to {to} ({unchanged} unchanged, {conflicts}{more})"))
}
