//! Messages as lines on standard input and output.

use super::MESSAGE_BYTES;
use crate::stdio::{Line, Lines};
use rmcp::{
    ErrorData, RoleServer,
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::{StdioReader, StdioWriter, Transport, stdio_pipes},
};
use std::{collections::VecDeque, io, sync::Arc};
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio_util::sync::CancellationToken;

/// The one end of a talk over pipes. What cannot be read is answered, never dropped in silence.
pub(super) struct Wire {
    lines: Lines<BufReader<StdioReader>>,
    waiting: VecDeque<ClientJsonRpcMessage>,
    out: Arc<tokio::sync::Mutex<StdioWriter>>,
    gone: CancellationToken,
}

impl Wire {
    pub(super) fn new(gone: CancellationToken) -> Self {
        let (read, write) = stdio_pipes();
        Wire {
            lines: Lines::new(BufReader::new(read), MESSAGE_BYTES),
            waiting: VecDeque::new(),
            out: Arc::new(tokio::sync::Mutex::new(write)),
            gone,
        }
    }

    /// The messages of one line: one, or those of a batch.
    fn read(line: &[u8]) -> Result<Vec<ClientJsonRpcMessage>, ErrorData> {
        let first = line.iter().find(|byte| !byte.is_ascii_whitespace());
        let read =
            if first == Some(&b'[') { serde_json::from_slice(line) } else { serde_json::from_slice(line).map(|message| vec![message]) };
        read.map_err(|error| match error.classify() {
            serde_json::error::Category::Data => ErrorData::invalid_request("this is no message of the protocol", None),
            _ => ErrorData::parse_error(format!("this is no JSON: {error}"), None),
        })
    }
}

impl Transport<RoleServer> for Wire {
    type Error = io::Error;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (out, gone) = (self.out.clone(), self.gone.clone());
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut out = out.lock().await;
            let sent = async { out.write_all(&line).await.and(out.flush().await) }.await;
            sent.inspect_err(|_| gone.cancel())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(message) = self.waiting.pop_front() {
                return Some(message);
            }
            let line = tokio::select! {
                line = self.lines.next() => line,
                () = self.gone.cancelled() => Line::End,
            };
            let error = match line {
                Line::End => {
                    self.gone.cancel();
                    return None;
                }
                Line::TooLong => ErrorData::invalid_request(format!("a message has at most {MESSAGE_BYTES} bytes"), None),
                Line::Whole(line) => match Self::read(&line) {
                    Ok(messages) => {
                        self.waiting.extend(messages);
                        continue;
                    }
                    Err(error) => error,
                },
            };
            if self.send(ServerJsonRpcMessage::error(error, None)).await.is_err() {
                return None;
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}
