//! A second [`Store`](memdir_core::Store): the memories of many tenants on PostgreSQL 15 or later, for any number of stateless replicas.
//!
//! **What is stored.** A tenant has namespaces; a namespace is what a directory is on disk. `documents` has the current text of each
//! file, `versions` every text that the history needs, `changes` and `change_files` the journal, `claims` the idempotency keys. The tenant
//! comes first in every key and index, and the large tables are partitioned by its hash.
//!
//! **A change** is one transaction on one connection, which the plan's view uses too:
//! 1. The idempotency key is claimed, if the caller gave one. A second request with it waits here.
//! 2. The rows of the namespaces are locked, in the order of their names. They have the sequence, so that it has no gaps: a change that is
//!    rolled back leaves it as it was. They also have the time of the last change; the next one is later, whatever the clock says, which
//!    gives changes of several namespaces one place in the history of each.
//! 3. The plan is called, its edits are checked and compared with what is stored.
//! 4. All rows are written and committed in one round trip.
//!
//! **Failures.** Only lost connections and the states 57P01 to 57P03, 25006, 40001 and 40P01 are retried, with growing pauses. If the
//! connection is lost during the commit, the next attempt takes the same locks and looks for the change's id: a transaction that holds
//! them has ended by then, so the id is there or the change was not made. Every connection has limits for statements, locks and idle
//! transactions. A replica that is frozen inside a transaction loses its connection, and with it the locks. If the URL has several hosts,
//! the one that accepts writes is used, and looked for again when there is no answer (`leader.rs`).
//!
//! **Two layers of tenant isolation.** Every statement names the tenant (`sql.rs`). Besides, each transaction sets `memdir.tenant`, and row-level security
//! hides all other rows; without a tenant it hides everything. Connections use the role `memdir_app`, which owns nothing and
//! has grants on the parent tables only: a policy of a parent does not protect direct reads of its partitions.
//!
//! **What is not here.** NOTIFY is never sent inside a write transaction: it serializes commits. One hint for all changes of a short interval is
//! sent after them (`hints.rs`). Full-text search stays with the index
//! on each replica.
//!
//! The trait is synchronous. A caller's thread drives its connection while it waits; it must not be a thread of an
//! asynchronous runtime.
//!
//! ```no_run
//! use memdir_core::{Actor, Memdir, MemoryPath, Write};
//! use memdir_postgres::{Database, DatabaseSettings, NamespaceMount, PostgresStore};
//! use std::sync::Arc;
//!
//! # fn main() -> memdir_core::Result<()> {
//! let settings = DatabaseSettings::new("postgres://localhost/memdir");
//! Database::migrate(&settings)?;
//! let database = Database::connect(&settings)?;
//! database.create_tenant("acme")?;
//! let store = PostgresStore::open(&database, "acme", &[NamespaceMount::new("", "projects/shop")])?;
//! let memdir = Memdir::new(Arc::new(store), Actor { name: "ada".into(), session: None });
//! memdir.write(&Write::create(MemoryPath::parse("notes/deploy")?, "Never deploy on Fridays.\n"))?;
//! # Ok(())
//! # }
//! ```

mod audit;
mod change;
mod claim;
mod database;
mod erase;
mod failure;
mod forget;
mod hints;
mod history;
mod leader;
mod migrations;
mod people;
mod proposals;
mod quota;
mod quota_error;
mod reads;
mod sequence;
mod since;
mod space;
mod sql;
mod store;
mod team_caller;
mod team_token;
mod tenant_copy;
mod tls;

pub use audit::AuditEntry;
pub use database::{Database, DatabaseSettings};
pub use erase::ErasureReceipt;
pub use migrations::APP_ROLE;
pub use people::{GroupRow, MemberRole, PersonAccess, ProjectRow, TokenRow};
pub use quota::{TenantQuota, TenantUsage};
pub use space::NamespaceMount;
pub use store::PostgresStore;
pub use team_caller::{CallerKey, KnownCaller, TeamCaller};
pub use team_token::tenant_of_token;
