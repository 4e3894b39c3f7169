//! `memdir serve`: one stateless replica of a team server. All data is in the database; this process has search indexes and nothing that
//! another replica would miss.

use super::{oauth, request_log, team_callers::TeamCallers, to_failure};
use crate::{
    args::{DatabaseArgs, ServeArgs},
    config::{self, Settings},
    exit::Failure,
    namespace_indexes,
};
use memdir_core::{
    DatabaseCause, Error, IndexPool, UnavailableCause,
    internal::{search::indexing::IndexProgress, tools},
};
use memdir_postgres::{Database, DatabaseSettings};
use memdir_server::{CatalogError, HttpOptions, ToolCatalog, ToolFilter};
use std::{io::Write as _, path::Path, sync::Arc, thread, time::Duration};

/// A namespace with at least this many memories to index is reported in the log.
const REPORTED_FILES: usize = 100;
/// The pause between two searches for indexes of removed namespaces.
const REMOVE_INDEXES_EVERY: Duration = Duration::from_secs(600);
/// The number of memories between two lines of the log.
const REPORT_EVERY: usize = 500;

/// Serves until a signal.
pub(crate) fn run(args: &ServeArgs, settings: &Settings) -> Result<(), Failure> {
    let filter = args.served.filter();
    check_tools(&filter)?;
    let connections = args.connections;
    let database = database_settings(&args.database).map_err(|failure| match failure {
        Failure::Usage { message, hint } => {
            Failure::Usage { message, hint: format!("{hint}; `memdir mcp --http` serves files without a database") }
        }
        other => other,
    })?;
    let database = connect(&DatabaseSettings { connections, ..database })?;
    let pool = IndexPool::new(args.index_memory << 20, report_progress);
    remove_outdated_indexes(&database, settings);
    let callers = TeamCallers::new(database, pool, settings, filter);
    let options = HttpOptions {
        callers: Some(Arc::new(callers)),
        hosts: args.host.clone(),
        origins: args.origin.clone(),
        sessions: false,
        oauth: settings.config.oauth.as_ref().map(oauth::options).transpose()?,
        pages: true,
        log: args.log_requests.then(request_log),
        leave_after: Duration::from_secs(args.leave_after),
        ..HttpOptions::new(args.http)
    };
    let served = memdir_server::serve_http(ToolCatalog::empty(), options, |address| {
        // The server also works if standard error is closed.
        let _ = writeln!(std::io::stderr(), "memdir: serving http://{address}/mcp");
    });
    served.map_err(to_failure)
}

/// Removes the indexes of namespaces that were removed, now and from time to time: they contain texts.
fn remove_outdated_indexes(database: &Database, settings: &Settings) {
    let (database, cache) = (database.clone(), settings.cache.clone());
    let work = move || {
        loop {
            // After a failure, for example while the database is restarted, the next pass removes them.
            if let Ok(removed @ 1..) = namespace_indexes::remove_outdated(&cache, &database) {
                let indexes = match removed {
                    1 => "1 index of a namespace that no longer exists".to_owned(),
                    _ => format!("{removed} indexes of namespaces that no longer exist"),
                };
                let _ = writeln!(std::io::stderr(), "memdir: removed {indexes}");
            }
            thread::sleep(REMOVE_INDEXES_EVERY);
        }
    };
    // Without the thread, `memdir admin reindex` removes them.
    let _ = thread::Builder::new().name("memdir-indexes".into()).spawn(work);
}

/// Returns how the database of the command line or the environment is used.
pub(crate) fn database_settings(args: &DatabaseArgs) -> Result<DatabaseSettings, Failure> {
    let Some(url) = args.database.clone().map_or_else(config::database_variable, |url| Ok(Some(url)))? else {
        let hint = "pass --database postgres://USER@HOST/NAME, or set DATABASE_URL";
        return Err(Failure::Usage { message: "no database is configured".into(), hint: hint.into() });
    };
    Ok(DatabaseSettings { root_certificates: args.database_ca.clone(), ..DatabaseSettings::new(&url) })
}

/// Connects to a database.
pub(crate) fn connect(settings: &DatabaseSettings) -> Result<Database, Failure> {
    Database::connect(settings).map_err(database_failure)
}

/// Adds a hint to the error of a database that cannot be used.
pub(crate) fn database_failure(error: Error) -> Failure {
    let Error::Unavailable { cause, .. } = &error else { return error.into() };
    let hint = match cause {
        UnavailableCause::Explained => "",
        UnavailableCause::Database(DatabaseCause::Unreachable) | UnavailableCause::Other => {
            "check DATABASE_URL or --database, and make sure that PostgreSQL is running"
        }
        UnavailableCause::Database(DatabaseCause::Refused) => "check DATABASE_URL or --database, and the privileges of the database role",
        UnavailableCause::Database(DatabaseCause::Failed) => "see the PostgreSQL log for details",
    };
    Failure::Core { error, hint: Some(hint) }
}

/// Rejects unknown tools, and options that leave none, at the start and not at the first request of a caller.
fn check_tools(filter: &ToolFilter) -> Result<(), Failure> {
    let known: Vec<&str> = tools::native_with_log().iter().map(|tool| tool.name).collect();
    let error = match filter.only.iter().chain(&filter.without).find(|name| !known.contains(&name.as_str())) {
        Some(name) => CatalogError::Unknown { name: name.clone(), known: known.join(", ") },
        None if !tools::native_with_log().iter().any(|tool| filter.passes(tool)) => CatalogError::Empty,
        None => return Ok(()),
    };
    Err(Failure::Usage { message: error.to_string(), hint: "see the options with: memdir serve --help".into() })
}

fn report_progress(namespace: &Path, progress: IndexProgress) {
    let IndexProgress { done, of, .. } = progress;
    if of >= REPORTED_FILES && (done % REPORT_EVERY == 0 || done == of) {
        let _ = writeln!(std::io::stderr(), "memdir: indexed {done} of {of} memories in {}", namespace.display());
    }
}
