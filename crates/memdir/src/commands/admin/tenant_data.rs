//! `memdir admin quota`, `audit`, `erase-person`, `export` and `import`: what a tenant stores, as a whole.

use super::{Managed, changed, table};
use crate::{exit::Failure, output::CommandOutput};
use memdir_core::{
    Error,
    internal::base::disk::{self, Replace},
};
use memdir_postgres::{AuditEntry, ErasureReceipt, TenantQuota, TenantUsage};
use serde::Serialize;
use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, BufWriter, Write as _},
    path::Path,
};

#[derive(Serialize)]
struct QuotaReport {
    quota: TenantQuota,
    used: TenantUsage,
}

pub(super) fn quota(memories: Option<&str>, bytes: Option<&str>, managed: &Managed) -> Result<CommandOutput, Failure> {
    let Managed { database, tenant } = managed;
    let (mut quota, _) = database.quota(tenant)?;
    for (option, text, limit) in [("--memories", memories, &mut quota.max_memories), ("--bytes", bytes, &mut quota.max_bytes)] {
        *limit = match text {
            None => continue,
            Some("none") => None,
            Some(text) => Some(text.parse().map_err(|_| Failure::Usage {
                message: format!("invalid value for {option}: {text:?}"),
                hint: "pass a whole number such as 10000, or `none` for no limit".into(),
            })?),
        };
    }
    if memories.is_some() || bytes.is_some() {
        database.set_quota(tenant, &quota)?;
    }
    let (quota, used) = database.quota(tenant)?;
    Ok(CommandOutput::new(QuotaReport { quota, used }, |report, printer| {
        let limit = |limit: Option<u64>| limit.map_or_else(|| "none".to_owned(), |limit| limit.to_string());
        let row = |what: &str, used: u64, quota| vec![what.to_owned(), used.to_string(), limit(quota)];
        let (used, quota) = (&report.used, &report.quota);
        let rows = vec![row("memories", used.memories, quota.max_memories), row("bytes", used.bytes, quota.max_bytes)];
        table(printer, "", &["what", "used", "quota"], rows)
    }))
}

pub(super) fn audit(limit: usize, managed: &Managed) -> Result<CommandOutput, Failure> {
    Ok(CommandOutput::new(managed.database.audit(&managed.tenant, limit)?, |entries, printer| {
        let row = |one: &AuditEntry| {
            let details = one.details.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
            let details: Vec<String> = details.map(|(name, value)| format!("{name}={}", value.to_string().trim_matches('"'))).collect();
            vec![one.at.strftime("%F %T").to_string(), one.actor.clone(), one.action.clone(), details.join(" "), one.result.clone()]
        };
        table(printer, "no entries", &["when", "actor", "action", "details", "result"], entries.iter().map(row).collect())
    }))
}

pub(super) fn erase_person(person: &str, is_done: bool, managed: &Managed) -> Result<CommandOutput, Failure> {
    let receipt = managed.database.erase_person(&managed.tenant, person, is_done)?;
    Ok(CommandOutput::new(receipt, |receipt: &ErasureReceipt, printer| {
        let rows = [
            ("namespaces", receipt.namespaces),
            ("memories", receipt.memories),
            ("versions", receipt.versions),
            ("changes", receipt.changes),
            ("tokens", receipt.tokens),
            ("group memberships", receipt.groups),
            ("idempotency keys", receipt.claims),
            ("proposals", receipt.proposals),
            ("changes to shared memories (name replaced)", receipt.shared_changes),
            ("changes accepted as a reviewer (name replaced)", receipt.accepted_changes),
            ("audit entries (name replaced)", receipt.audit_entries),
        ];
        let rows = rows.map(|(what, count)| vec![what.to_owned(), count.to_string()]);
        table(printer, "", &["what", "number"], rows.to_vec())?;
        if receipt.is_done {
            return printer.line(format!("erased the person; in the remaining records, their name is now {}", receipt.erased_as));
        }
        printer.line("nothing was erased; to erase the person permanently, add --yes")
    }))
}

pub(super) fn export(file: &Path, managed: &Managed) -> Result<CommandOutput, Failure> {
    let mut exported = Ok(0);
    let prepared = disk::prepare(file, Replace::DURABLE, |file| {
        let mut writer = BufWriter::new(file);
        exported = managed
            .database
            .export_tenant(&managed.tenant, |line| writeln!(writer, "{line}").map_err(|source| Error::io("write", "the export", source)));
        writer.flush()
    });
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::Usage { message: format!("{} already exists", file.display()), hint: "use another file name".into() }
        }
        _ => Failure::File { doing: "write", path: file.to_owned(), source },
    };
    let prepared = prepared.map_err(failed)?;
    exported?;
    prepared.commit_new().map_err(failed)?;
    Ok(changed("tenant", &managed.tenant, "exported"))
}

pub(super) fn import(file: &Path, managed: &Managed) -> Result<CommandOutput, Failure> {
    let opened = File::open(file).map_err(|source| Failure::File { doing: "read", path: file.to_owned(), source })?;
    let mut lines = BufReader::new(opened).lines();
    managed.database.import_tenant(&managed.tenant, || lines.next().transpose().map_err(|source| Error::io("read", file, source)))?;
    Ok(changed("tenant", &managed.tenant, "imported"))
}
