//! What went wrong in the database, and whether the same work may be retried.

use crate::quota_error;
use deadpool_postgres::{PoolError, TimeoutType};
use memdir_core::{DatabaseCause, Error, UnavailableCause};
use std::{error::Error as _, io};
use tokio_postgres::error::{DbError, Severity, SqlState};
use tokio_rustls::rustls::{self, CertificateError};

/// A failed piece of work.
#[derive(Debug)]
pub(crate) struct DatabaseFailure {
    pub(crate) error: Error,
    pub(crate) kind: FailureKind,
}

/// What a failure says about the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// A permanent failure.
    Final,
    /// The server rolled it back; it may be tried again.
    RolledBack,
    /// The connection ended. If a commit was under way, its outcome is unknown.
    Disconnected,
    /// The server ended the connection for a reason that stays, such as a wrong password.
    Refused,
    /// The lock was not free in time.
    Locked,
    /// Another row has the same key.
    Duplicate,
    /// The tenant does not exist, or was removed.
    NoTenant,
}

impl DatabaseFailure {
    pub(crate) fn disconnected(why: &str) -> Self {
        DatabaseFailure { error: database_error(why.into(), DatabaseCause::Unreachable), kind: FailureKind::Disconnected }
    }

    /// Whether the connection is gone.
    pub(crate) fn ended_connection(&self) -> bool {
        matches!(self.kind, FailureKind::Disconnected | FailureKind::Refused)
    }

    /// Whether the work may be tried again.
    pub(crate) fn is_temporary(&self) -> bool {
        matches!(self.kind, FailureKind::RolledBack | FailureKind::Disconnected)
    }
}

/// Seconds to wait for a connection of a pool: until one is free, or until a new one is made.
pub(crate) const POOL_SECS: u64 = 10;

/// Why a database that was never migrated cannot be used.
pub(crate) const NO_SCHEMA: &str = "the memdir schema is missing; create it with: memdir admin migrate";

fn database_error(why: String, cause: DatabaseCause) -> Error {
    Error::Unavailable { what: "the database".into(), why, cause: UnavailableCause::Database(cause) }
}

/// Returns the error for a reason that names the next action.
fn explained(why: &str) -> Error {
    Error::explained_unavailable("the database", why)
}

impl From<Error> for DatabaseFailure {
    fn from(error: Error) -> Self {
        DatabaseFailure { error, kind: FailureKind::Final }
    }
}

impl From<tokio_postgres::Error> for DatabaseFailure {
    fn from(error: tokio_postgres::Error) -> Self {
        DatabaseFailure { kind: kind(&error), error: to_error(&error) }
    }
}

impl From<PoolError> for DatabaseFailure {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => error.into(),
            PoolError::Timeout(TimeoutType::Wait) => {
                let why = "all connections are in use; try again later or, if this happens often, ask the server's operator for a higher --connections";
                explained(why).into()
            }
            PoolError::Timeout(_) => DatabaseFailure::disconnected(&format!("no connection within {POOL_SECS} seconds")),
            other => database_error(other.to_string(), DatabaseCause::Unreachable).into(),
        }
    }
}

fn kind(error: &tokio_postgres::Error) -> FailureKind {
    let Some(db) = error.as_db_error() else {
        return if is_connection_error(error) { FailureKind::Disconnected } else { FailureKind::Final };
    };
    // A fatal error ends the connection: it is unknown whether a commit succeeded before.
    let is_fatal = matches!(db.parsed_severity(), Some(Severity::Fatal | Severity::Panic));
    match db.code() {
        &SqlState::ADMIN_SHUTDOWN | &SqlState::CRASH_SHUTDOWN | &SqlState::CANNOT_CONNECT_NOW => FailureKind::Disconnected,
        code if code.code().starts_with("08") => FailureKind::Disconnected,
        &SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => FailureKind::Disconnected,
        // The server became a standby.
        &SqlState::READ_ONLY_SQL_TRANSACTION => FailureKind::RolledBack,
        &SqlState::T_R_SERIALIZATION_FAILURE | &SqlState::T_R_DEADLOCK_DETECTED => FailureKind::RolledBack,
        &SqlState::LOCK_NOT_AVAILABLE => FailureKind::Locked,
        &SqlState::UNIQUE_VIOLATION => FailureKind::Duplicate,
        _ if is_without_tenant(db) => FailureKind::NoTenant,
        _ if is_fatal => FailureKind::Refused,
        _ => FailureKind::Final,
    }
}

fn is_without_tenant(error: &DbError) -> bool {
    error.code() == &SqlState::FOREIGN_KEY_VIOLATION && error.constraint().is_some_and(|name| name.ends_with("tenant_fkey"))
}

fn is_connection_error(error: &tokio_postgres::Error) -> bool {
    // A certificate that is not trusted is an invalid answer, which stays.
    let is_lost = |source: &io::Error| source.kind() != io::ErrorKind::InvalidData;
    let by_io = error.source().is_some_and(|source| source.downcast_ref::<io::Error>().is_some_and(is_lost));
    // The crate has no name for a connection attempt that took too long, or that found no leader.
    let text = error.to_string();
    error.is_closed() || by_io || text.starts_with("timeout waiting for server") || text.starts_with("error connecting to server")
}

/// Whether the server's certificate is signed by an authority that is not trusted.
fn is_untrusted(error: &tokio_postgres::Error) -> bool {
    let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    let tls = source.and_then(io::Error::get_ref).and_then(|inner| inner.downcast_ref::<rustls::Error>());
    matches!(tls, Some(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer)))
}

fn to_error(error: &tokio_postgres::Error) -> Error {
    let Some(db) = error.as_db_error() else {
        let why = error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}"));
        if is_untrusted(error) {
            return explained(&format!("{why}; specify the server's certificate authority with --database-ca FILE"));
        }
        return database_error(why, DatabaseCause::Unreachable);
    };
    if let Some(exceeded) = quota_error::exceeded_quota(db) {
        return exceeded;
    }
    if is_without_tenant(db) {
        return explained("the tenant does not exist; create it with: memdir admin tenant add NAME");
    }
    // The role of the connections is created with the first schema of a database server.
    if db.code() == &SqlState::INVALID_PARAMETER_VALUE && db.message().starts_with("role ") {
        return explained(NO_SCHEMA);
    }
    // Details of an error may quote values, such as the text of a memory.
    database_error(format!("{} (SQLSTATE {})", db.message(), db.code().code()), answered(db.code()))
}

/// What an error of the server says about the connection: the password (class 28), the database (3D) or a privilege is wrong, or else.
fn answered(code: &SqlState) -> DatabaseCause {
    let is_refused = ["28", "3D"].iter().any(|class| code.code().starts_with(class)) || *code == SqlState::INSUFFICIENT_PRIVILEGE;
    if is_refused { DatabaseCause::Refused } else { DatabaseCause::Failed }
}
