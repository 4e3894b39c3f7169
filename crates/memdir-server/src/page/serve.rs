//! Serves the pages on loopback, until a signal or until they have not been used for a while.

use super::{local::LocalPages, routes::local_router, session::PageSessions, space::PageSpace};
use crate::{
    error::ServeError,
    http::{serve_connections, signal},
    mcp::runtime,
};
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::{net::TcpListener, time::timeout};

/// Seconds for which the end waits for connections to close.
const CLOSE_SECS: u64 = 2;

/// The options of the page.
#[derive(Debug, Clone, Copy)]
pub struct PageOptions {
    /// The port on 127.0.0.1; 0 for any free one.
    pub port: u16,
    /// Minutes without a request after which the server ends; 0 for never.
    pub idle_minutes: u32,
}

/// Serves the pages of a space. Calls `ready` with the URL to open once connections are accepted. The URL works once, for a minute.
pub fn serve_page(space: PageSpace, options: PageOptions, ready: impl FnOnce(&str)) -> Result<(), ServeError> {
    let runtime = runtime()?;
    let served = runtime.block_on(serve(space, options, ready));
    // Does not wait for threads: one may still finish a call whose browser has gone.
    runtime.shutdown_background();
    served
}

async fn serve(space: PageSpace, options: PageOptions, ready: impl FnOnce(&str)) -> Result<(), ServeError> {
    let wanted = SocketAddr::from(([127, 0, 0, 1], options.port));
    let io = |source| ServeError::Listen { address: wanted, source };
    let listener = TcpListener::bind(wanted).await.map_err(io)?;
    let address = listener.local_addr().map_err(io)?;
    let sessions = PageSessions::new(space.memdir.context().clock.clone()).map_err(|error| ServeError::Io {
        doing: "generate the session secret".into(),
        source: std::io::Error::other(error.to_string()),
    })?;
    let pages = Arc::new(LocalPages::new(space, sessions, address));
    let router = local_router(pages.clone());
    ready(&format!("http://{address}{}", pages.sessions.start_path().unwrap_or_default()));
    let shutdown = pages.state.shutdown.clone();
    let max_idle_secs = i64::from(options.idle_minutes) * 60;
    let check_idle = || {
        if max_idle_secs > 0 && pages.sessions.idle_secs() >= max_idle_secs {
            shutdown.cancel();
        }
    };
    let until = async {
        tokio::select! {
            () = signal() => {}
            () = shutdown.cancelled() => {}
        }
    };
    let graceful = serve_connections(&listener, &router, check_idle, until).await;
    drop(listener);
    // Ends the event streams.
    shutdown.cancel();
    let _ = timeout(Duration::from_secs(CLOSE_SECS), graceful.shutdown()).await;
    Ok(())
}
