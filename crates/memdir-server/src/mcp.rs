//! The MCP server behind both transports. With `stdio` and `http`, the only module that uses `rmcp`: it converts between messages
//! and plain functions.

mod handler;
mod params;
mod session;

pub(crate) use params::{malformed_initialize, not_a_message};
pub(crate) use session::McpSession;

use crate::{
    call::{CallCounter, CallLimits, CallSlots},
    catalog::ToolCatalog,
    error::ServeError,
    subscriptions::{ResourceEvent, Subscriptions},
    workers::WorkerPool,
};
use rmcp::model::Tool;
use std::sync::{Arc, OnceLock};
use tokio::sync::broadcast::Receiver;
use tokio_util::sync::CancellationToken;

/// Maximum size of a message over either transport: the largest memory, escaped, with some margin.
pub(crate) const MAX_MESSAGE_BYTES: usize = 16 << 20;

/// The state that all sessions on one space share.
pub(crate) struct McpServer {
    catalog: ToolCatalog,
    tools: OnceLock<Vec<Tool>>,
    subscriptions: Option<Arc<Subscriptions>>,
    /// Cancelled when the sessions on this space must end.
    pub(crate) shutdown: CancellationToken,
    pub(crate) calls: CallCounter,
    /// The slots of the caller to whom the space belongs.
    pub(crate) slots: Arc<CallSlots>,
    pub(crate) workers: Arc<WorkerPool>,
}

impl McpServer {
    pub(crate) fn new(catalog: ToolCatalog, limits: CallLimits) -> Arc<Self> {
        let workers = WorkerPool::new(limits.threads());
        Self::with(catalog, CancellationToken::new(), CallCounter::default(), CallSlots::new(limits), workers)
    }

    /// Returns a server for another space on the same threads, for the caller with these slots. It shuts down with this one, or
    /// alone.
    pub(crate) fn sibling(&self, catalog: ToolCatalog, slots: Arc<CallSlots>) -> Arc<Self> {
        Self::with(catalog, self.shutdown.child_token(), self.calls.sibling(), slots, self.workers.clone())
    }

    fn with(
        catalog: ToolCatalog,
        shutdown: CancellationToken,
        calls: CallCounter,
        slots: Arc<CallSlots>,
        workers: Arc<WorkerPool>,
    ) -> Arc<Self> {
        let subscriptions = catalog.resources().map(Subscriptions::new);
        Arc::new(McpServer { catalog, tools: OnceLock::new(), subscriptions, shutdown, calls, slots, workers })
    }

    /// Subscribes to changes without blocking the async thread. Later subscribers find the files listed already.
    pub(crate) async fn subscribe(&self) -> Option<Receiver<ResourceEvent>> {
        match &self.subscriptions {
            Some(subscriptions) => Some(subscriptions.subscribe().await),
            None => None,
        }
    }

    /// Returns the catalog of the space.
    pub(crate) fn catalog(&self) -> &ToolCatalog {
        &self.catalog
    }

    /// Returns the change events of the space.
    pub(crate) fn subscriptions(&self) -> Option<&Arc<Subscriptions>> {
        self.subscriptions.as_ref()
    }

    fn tools(&self) -> &[Tool] {
        let parse = || self.catalog.to_json().into_iter().filter_map(|tool| serde_json::from_value(tool).ok()).collect();
        self.tools.get_or_init(parse)
    }
}

/// Identifies the HTTP connection of a request. Set as an extension of requests that come directly from the client; a proxy may
/// send requests of several clients over one connection.
#[derive(Clone)]
pub(crate) struct ConnectionId(pub(crate) String);

/// Returns a random id for a session or a connection.
pub(crate) fn random_id() -> String {
    let mut bytes = [0; 8];
    // Without a source of randomness, the process id still distinguishes two servers.
    if getrandom::fill(&mut bytes).is_err() {
        bytes = u64::from(std::process::id()).to_le_bytes();
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Creates the single-threaded async runtime of a server. Calls run on a [`WorkerPool`]; the runtime's own blocking threads only
/// read standard input and poll files for subscribers.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(8).build();
    runtime.map_err(|source| ServeError::Io { doing: "start the async runtime".into(), source })
}
