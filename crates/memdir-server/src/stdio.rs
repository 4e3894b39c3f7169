//! MCP over standard input and output: one client, one JSON message per line.

mod line_reader;

use crate::{
    call::{CallLimits, CallerLimits},
    catalog::ToolCatalog,
    error::ServeError,
    mcp::{MAX_MESSAGE_BYTES, McpServer, McpSession, malformed_initialize, not_a_message, runtime},
};
use line_reader::{LineReader, StreamLine};
use rmcp::{
    ErrorData, RoleServer,
    model::{ClientJsonRpcMessage, ClientRequest, GetMeta as _, ProtocolVersion, RequestId, ServerJsonRpcMessage},
    serve_server,
    service::ServerInitializeError,
    transport::{StdioReader, StdioWriter, Transport, stdio_pipes},
};
use std::{collections::VecDeque, io, sync::Arc};
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio_util::sync::CancellationToken;

/// The limits on calls of the one client. It may send many at once.
const CLIENT: CallerLimits = CallerLimits { running: 8, writes: 4, waiting: 10_000 };
const CALL_LIMITS: CallLimits = CallLimits { owner: CLIENT, caller: CLIENT, reads: 8, writes: 4 };

/// Serves one client on standard input and output, until it disconnects.
pub fn serve_stdio(catalog: ToolCatalog) -> Result<(), ServeError> {
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let server = McpServer::new(catalog, CALL_LIMITS);
        let transport = StdioTransport::new(server.shutdown.clone());
        match serve_server(McpSession::new(server), transport).await {
            Ok(running) => {
                // The client has disconnected, so an error can no longer be reported.
                let _ = running.waiting().await;
                Ok(())
            }
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
            Err(ServerInitializeError::TransportError { .. }) => Ok(()),
            Err(ServerInitializeError::InitializeFailed(error)) => Err(ServeError::Protocol(error.message.into_owned())),
            // The other errors print whole messages in Rust's notation.
            Err(_) => Err(ServeError::Protocol("unexpected message".into())),
        }
    });
    // Does not wait for threads: one may still block on input, or finish a call whose client has gone.
    runtime.shutdown_background();
    served
}

/// The transport over standard input and output. Every line that cannot be parsed is answered with an error.
struct StdioTransport {
    lines: LineReader<BufReader<StdioReader>>,
    received: VecDeque<ClientJsonRpcMessage>,
    /// Whether a request that begins the session was received.
    has_begun: bool,
    out: Arc<tokio::sync::Mutex<StdioWriter>>,
    shutdown: CancellationToken,
}

impl StdioTransport {
    fn new(shutdown: CancellationToken) -> Self {
        let (read, write) = stdio_pipes();
        StdioTransport {
            lines: LineReader::new(BufReader::new(read), MAX_MESSAGE_BYTES),
            received: VecDeque::new(),
            has_begun: false,
            out: Arc::new(tokio::sync::Mutex::new(write)),
            shutdown,
        }
    }

    /// Parses the messages of one line: a single message, or a batch. An error has the id of the request, if it has one.
    fn parse(line: &[u8]) -> Result<Vec<ClientJsonRpcMessage>, (Option<RequestId>, ErrorData)> {
        let first = line.iter().find(|byte| !byte.is_ascii_whitespace());
        let parsed =
            if first == Some(&b'[') { serde_json::from_slice(line) } else { serde_json::from_slice(line).map(|message| vec![message]) };
        parsed.map_err(|error| match error.classify() {
            serde_json::error::Category::Data => not_a_message(line),
            _ => (None, ErrorData::parse_error(format!("invalid JSON: {error}"), None)),
        })
    }
}

/// Whether `rmcp` begins the session with this message: `initialize`, or another request that names a protocol version itself. It answers
/// `ping` and `server/discover` and still waits for one of them.
fn begins_session(message: &ClientJsonRpcMessage) -> bool {
    let ClientJsonRpcMessage::Request(request) = message else { return false };
    match &request.request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        other => {
            let meta = other.get_meta();
            let is_known = |version: ProtocolVersion| ProtocolVersion::KNOWN_VERSIONS.contains(&version);
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty() && meta.protocol_version().is_some_and(is_known)
        }
    }
}

impl Transport<RoleServer> for StdioTransport {
    type Error = io::Error;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (out, shutdown) = (self.out.clone(), self.shutdown.clone());
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut out = out.lock().await;
            let sent = async { out.write_all(&line).await.and(out.flush().await) }.await;
            sent.inspect_err(|_| shutdown.cancel())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(message) = self.received.pop_front() {
                self.has_begun |= begins_session(&message);
                // Before that, `rmcp` would end the session at a message that is not a request.
                if !self.has_begun && !matches!(message, ClientJsonRpcMessage::Request(_)) {
                    continue;
                }
                return Some(message);
            }
            let line = tokio::select! {
                line = self.lines.next() => line,
                () = self.shutdown.cancelled() => StreamLine::End,
            };
            let (id, error) = match line {
                StreamLine::End => {
                    self.shutdown.cancel();
                    return None;
                }
                StreamLine::TooLong => {
                    (None, ErrorData::invalid_request(format!("message too large: the maximum is {MAX_MESSAGE_BYTES} bytes"), None))
                }
                StreamLine::Complete(line) => {
                    let malformed = if self.has_begun { None } else { malformed_initialize(&line) };
                    match malformed.map_or_else(|| Self::parse(&line), Err) {
                        Ok(messages) => {
                            self.received.extend(messages);
                            continue;
                        }
                        Err(error) => error,
                    }
                }
            };
            if self.send(ServerJsonRpcMessage::error(error, id)).await.is_err() {
                return None;
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}
