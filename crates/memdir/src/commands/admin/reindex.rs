//! `memdir admin reindex`: rebuilds the search indexes of this machine from the database.

use super::{super::counted, Managed, not_found};
use crate::{
    args::{AdminArgs, AdminWhat, TenantArgs},
    config::Settings,
    exit::Failure,
    namespace_indexes,
    output::CommandOutput,
    spaces,
};
use memdir_core::{Actor, IndexPool};
use memdir_postgres::NamespaceMount;
use serde::Serialize;

#[derive(Serialize)]
struct ReindexReport {
    tenant: String,
    namespaces: usize,
    memories: usize,
    /// Indexes of namespaces that no longer exist.
    removed: usize,
}

pub(in crate::commands) fn run(args: &AdminArgs, settings: &Settings) -> Result<CommandOutput, Failure> {
    match &args.what {
        AdminWhat::Reindex { namespace, tenant } => reindex(namespace.as_deref(), tenant, settings),
        _ => {
            let message = "`admin reindex` was called for another command";
            Err(Failure::Usage { message: message.into(), hint: "this is a bug in memdir; please report it".into() })
        }
    }
}

fn reindex(only: Option<&str>, tenant: &TenantArgs, settings: &Settings) -> Result<CommandOutput, Failure> {
    let Managed { database, tenant } = Managed::open(tenant)?;
    let mut namespaces = database.namespaces(&tenant)?;
    if let Some(only) = only {
        if !namespaces.iter().any(|namespace| namespace == only) {
            let hint = match namespaces.as_slice() {
                [] => format!("nothing to reindex: tenant {tenant:?} has no namespaces yet"),
                known => format!("available namespaces: {}", known.join(", ")),
            };
            return Err(not_found("namespace", only, hint));
        }
        namespaces.retain(|namespace| namespace == only);
    }
    let removed = namespace_indexes::remove_outdated(&settings.cache, &database)?;
    // One index at a time is open.
    let pool = IndexPool::new(0, |_, _| {});
    let mut memories = 0;
    for namespace in &namespaces {
        namespace_indexes::remove(&settings.cache, &tenant, namespace)?;
        let actor = Actor { name: "admin".into(), session: None };
        let mounts = [NamespaceMount::of_team(namespace)];
        let memdir = spaces::open_namespaces(settings, (&database, &pool), &tenant, &mounts, (actor, None))?;
        let indexed = memdir.searcher()?.index(memdir.store(), true, &|_| {})?;
        memories += indexed.iter().map(|mount| mount.put).sum::<usize>();
    }
    let report = ReindexReport { tenant, namespaces: namespaces.len(), memories, removed };
    Ok(CommandOutput::new(report, |report, printer| {
        let ReindexReport { tenant, namespaces, memories, removed } = report;
        let memories = counted(*memories as u64, "memory", "memories");
        printer.line(format!("indexed {memories} in {} of tenant {tenant}", counted(*namespaces as u64, "namespace", "namespaces")))?;
        match removed {
            0 => Ok(()),
            1 => printer.line("removed 1 index whose namespace no longer exists"),
            many => printer.line(format!("removed {many} indexes whose namespaces no longer exist")),
        }
    }))
}
