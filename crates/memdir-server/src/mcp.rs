//! The only place that knows `rmcp` (with the files below it): hands every request to plain functions and turns their answers into messages.

mod everybody;
mod wire;

use crate::{
    call::{Busy, Failed, off_thread},
    http::{self, Connection, Http},
    offer::Offer,
    prompts, resources,
    watch::{News, Watch},
    workers::Workers,
};
use everybody::Everybody;
use hyper::http::request::Parts;
use memdir_core::{
    base::error::{Error, Result as CoreResult},
    store::{Actor, stop::Stop},
    tools::{Caller, PROMPTS, ToolResult},
};
use rmcp::{
    ErrorData, Peer, RoleServer, ServerHandler,
    model::*,
    serve_server,
    service::{NotificationContext, RequestContext, ServerInitializeError, SubscriptionContext},
};
use std::{
    collections::{HashMap, VecDeque},
    io,
    path::PathBuf,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio_util::sync::{CancellationToken, DropGuard};
use wire::Wire;

/// The largest message that is read, over either transport: the largest memory, escaped, and some room.
pub(crate) const MESSAGE_BYTES: usize = 16 << 20;
/// Seconds a session over HTTP lasts without a request.
const SESSION_SECS: u64 = 4 * 3600;
/// Sessions over HTTP at once.
const SESSIONS: usize = 1_000;

/// Why serving ended badly.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The system refused.
    #[error("cannot {doing}: {source}")]
    Io {
        /// What was tried.
        doing: String,
        /// The system's own words.
        source: io::Error,
    },
    /// The client does not speak the protocol.
    #[error("the client did not begin as an MCP client does: {0}")]
    Protocol(String),
    /// The settings would be unsafe.
    #[error("{0}")]
    Unsafe(String),
}

/// Serves one client on standard input and output, until it goes away.
pub fn serve_stdio(offer: Offer) -> Result<(), ServeError> {
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let server = Server::new(offer, 8);
        let wire = Wire::new(server.gone.clone());
        match serve_server(Handler::new(server), wire).await {
            Ok(running) => {
                // However it ends, there is nobody left to tell.
                let _ = running.waiting().await;
                Ok(())
            }
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
            Err(ServerInitializeError::TransportError { .. }) => Ok(()),
            Err(other) => Err(ServeError::Protocol(other.to_string())),
        }
    });
    // A thread may still wait for input that never comes, or finish work nobody waits for: neither keeps us.
    runtime.shutdown_background();
    served
}

/// Serves many clients over HTTP, until a signal. `ready` is told the address once connections are accepted.
pub fn serve_http(offer: Offer, http: Http, ready: impl FnOnce(std::net::SocketAddr)) -> Result<(), ServeError> {
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let server = Server::new(offer, 32);
        let (end, busy) = (server.gone.clone(), server.busy.clone());
        let door = http.door.clone();
        let endpoint = Everybody::new(server, door);
        http::serve(http, Arc::new(endpoint), end, busy, ready).await
    });
    runtime.shutdown_background();
    served
}

fn runtime() -> Result<tokio::runtime::Runtime, ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(8).build();
    runtime.map_err(|source| ServeError::Io { doing: "start".into(), source })
}

/// What all clients of a process share.
struct Server {
    offer: Offer,
    tools: OnceLock<Vec<Tool>>,
    watch: Option<Arc<Watch>>,
    /// Said when the process is about to end.
    gone: CancellationToken,
    /// Calls that are running.
    busy: Arc<AtomicUsize>,
    sessions: AtomicUsize,
    workers: Arc<Workers>,
}

impl Server {
    fn new(offer: Offer, threads: usize) -> Arc<Self> {
        let watch = offer.resources().map(Watch::new);
        Arc::new(Server {
            offer,
            tools: OnceLock::new(),
            watch,
            gone: CancellationToken::new(),
            busy: Arc::default(),
            sessions: AtomicUsize::new(0),
            workers: Workers::new(threads),
        })
    }

    /// One that offers something else on the same threads.
    fn beside(&self, offer: Offer) -> Arc<Self> {
        let watch = offer.resources().map(Watch::new);
        let (gone, busy, workers) = (self.gone.clone(), self.busy.clone(), self.workers.clone());
        Arc::new(Server { offer, tools: OnceLock::new(), watch, gone, busy, sessions: AtomicUsize::new(0), workers })
    }

    fn tools(&self) -> &[Tool] {
        let served = || self.offer.json().into_iter().filter_map(|tool| serde_json::from_value(tool).ok()).collect();
        self.tools.get_or_init(served)
    }
}

/// One client, or over HTTP without sessions one request.
struct Handler {
    server: Arc<Server>,
    session: String,
    /// Addresses this client wants news of: as memdir writes them, and as the client did.
    subscribed: Arc<Mutex<HashMap<String, String>>>,
    /// Ears of listeners that were accepted and do not listen yet.
    accepted: Mutex<VecDeque<Receiver<News>>>,
    announcing: AtomicBool,
    ended: CancellationToken,
    _ends: DropGuard,
}

impl Drop for Handler {
    fn drop(&mut self) {
        self.server.sessions.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Handler {
    fn new(server: Arc<Server>) -> Self {
        server.sessions.fetch_add(1, Ordering::Relaxed);
        let ended = server.gone.child_token();
        Handler {
            server,
            session: random_name(),
            subscribed: Arc::default(),
            accepted: Mutex::default(),
            announcing: AtomicBool::new(false),
            _ends: ended.clone().drop_guard(),
            ended,
        }
    }

    /// Who calls, and whether they can be told from every other caller.
    fn who(&self, context: &RequestContext<RoleServer>) -> (Actor, bool) {
        let name = context.client_info().map(|client| client.name).unwrap_or_default();
        let name: String = name.chars().filter(|c| !c.is_control()).take(64).collect();
        let name = if name.is_empty() { "mcp".to_owned() } else { name };
        let session = match context.extensions.get::<Parts>() {
            None => Some(self.session.clone()),
            Some(parts) if parts.headers.contains_key("mcp-session-id") => Some(self.session.clone()),
            // Without a session a connection of its own tells callers apart; behind a proxy not even that.
            Some(parts) => parts.extensions.get::<Connection>().filter(|_| !http::is_forwarded(&parts.headers)).map(|c| c.0.clone()),
        };
        let known = session.is_some();
        (Actor { name, session }, known)
    }

    /// Runs work on the space of resources and prompts.
    async fn look<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&Caller) -> CoreResult<T> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let space = self.server.offer.resources().ok_or_else(|| ErrorData::invalid_request("this server has tools only", None))?;
        let memdir = space().map_err(|why| ErrorData::invalid_request(why, None))?;
        let stop = Stop::default();
        let (actor, session) = self.who(context);
        let caller = Caller { memdir: memdir.for_actor(actor).stoppable(&stop), session, root: PathBuf::new() };
        match off_thread(&self.server.workers, stop, context.ct.cancelled(), move || work(&caller)).await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) => Err(refused(&error)),
            Err(failed) => Err(ErrorData::internal_error(failed.to_string(), None)),
        }
    }

    /// Tells a client of the older lifecycle, from now on, what happens to what it has asked about.
    async fn announce(&self, peer: &Peer<RoleServer>) {
        let Some(watch) = &self.server.watch else { return };
        if self.announcing.swap(true, Ordering::Relaxed) {
            return;
        }
        let mut news = watch.listen().await;
        let (peer, subscribed, ended) = (peer.clone(), self.subscribed.clone(), self.ended.clone());
        tokio::spawn(async move {
            loop {
                let heard = tokio::select! {
                    heard = news.recv() => heard,
                    () = ended.cancelled() => return,
                };
                let sent = match heard {
                    Ok(News::List) | Err(RecvError::Lagged(_)) => peer.notify_resource_list_changed().await,
                    Ok(News::Changed(uri)) => {
                        let wanted = subscribed.lock().unwrap_or_else(PoisonError::into_inner).get(&uri).cloned();
                        match wanted {
                            Some(uri) => peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await,
                            None => Ok(()),
                        }
                    }
                    Err(RecvError::Closed) => return,
                };
                if sent.is_err() {
                    return;
                }
            }
        });
    }
}

/// The name of a session: nobody else has it.
pub(crate) fn random_name() -> String {
    let mut bytes = [0; 8];
    // Without randomness the process id still tells two servers apart.
    if getrandom::fill(&mut bytes).is_err() {
        bytes = u64::from(std::process::id()).to_le_bytes();
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn refused(error: &Error) -> ErrorData {
    let message = format!("{error}. {}", error.hint());
    match error {
        Error::NotFound { .. } => ErrorData::resource_not_found(message, None),
        _ => ErrorData::invalid_params(message, None),
    }
}

fn answer(result: ToolResult) -> CallToolResult {
    let content = vec![ContentBlock::text(result.text)];
    let mut answer = if result.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    answer.structured_content = result.structured;
    answer
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let tools = ServerCapabilities::builder().enable_tools();
        let capabilities = match self.server.watch {
            None => tools.build(),
            Some(_) => tools
                .enable_prompts()
                .enable_resources()
                .enable_resources_list_changed()
                .enable_resources_subscribe()
                .enable_completions()
                .build(),
        };
        let info = ServerConfig::new(capabilities).with_server_info(Implementation::new("memdir", env!("CARGO_PKG_VERSION")));
        match self.server.offer.instructions() {
            Some(text) => info.with_instructions(text.trim_end()),
            None => info,
        }
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.server.tools().to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.server.tools().iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        let Some(offered) = self.server.offer.find(&request.name) else {
            let names = self.server.offer.names().join(", ");
            return Err(ErrorData::invalid_params(format!("there is no tool named {}; there are {names}", request.name), None));
        };
        let _busy = Busy::new(&self.server.busy);
        let stop = Stop::default();
        let (actor, session) = self.who(&context);
        let caller = match offered.caller(actor, session, &stop) {
            Ok(caller) => caller,
            Err(why) => return Ok(answer(ToolResult::failure(why)).into()),
        };
        let (tool, arguments) = (offered.tool, request.arguments.unwrap_or_default());
        let result = off_thread(&self.server.workers, stop, context.ct.cancelled(), move || tool.call(&caller, &arguments)).await;
        Ok(answer(result.unwrap_or_else(|failed: Failed| failed.into())).into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        // Clients of the newer lifecycle say what they want to hear; older ones that look at the list want to hear of it.
        if context.meta.protocol_version().is_none() {
            self.announce(&context.peer).await;
        }
        let cursor = request.and_then(|request| request.cursor);
        let is_first = cursor.is_none();
        let (page, next) = self.look(&context, move |caller| resources::page(&caller.memdir, cursor.as_deref())).await?;
        let section = if is_first && self.server.offer.section().is_some() {
            let section = Resource::new(resources::SECTION, "memory section").with_title(prompts::SECTION_TITLE);
            Some(section.with_description(prompts::SECTION_DESCRIPTION).with_mime_type("text/markdown"))
        } else {
            None
        };
        let page =
            page.into_iter().map(|listed| Resource::new(listed.uri, listed.name).with_mime_type("text/markdown").with_size(listed.bytes));
        let mut result = ListResourcesResult::with_all_items(section.into_iter().chain(page).collect());
        result.next_cursor = next;
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        if self.server.watch.is_none() {
            return Ok(ListResourceTemplatesResult::default());
        }
        Ok(ListResourceTemplatesResult::with_all_items(vec![
            ResourceTemplate::new(resources::TEMPLATE, "memory")
                .with_title("A memory")
                .with_description("One memory, by its name; .md may be left off")
                .with_mime_type("text/markdown"),
            ResourceTemplate::new(resources::LINES_TEMPLATE, "memory-lines")
                .with_title("Lines of a memory")
                .with_description("Some lines of one memory: 42-56, 42- or 42")
                .with_mime_type("text/markdown"),
        ]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.clone();
        let text = match self.server.offer.section().filter(|_| uri == resources::SECTION).cloned() {
            Some(section) => self.look(&context, move |caller| section(&caller.memdir)).await?,
            None => self.look(&context, move |caller| resources::read(&caller.memdir, &uri)).await?,
        };
        let contents =
            ResourceContents::TextResourceContents { uri: request.uri, mime_type: Some("text/markdown".into()), text, meta: None };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn subscribe(&self, request: SubscribeRequestParams, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        let (path, _) = resources::parse(&request.uri).map_err(|error| refused(&error))?;
        self.subscribed.lock().unwrap_or_else(PoisonError::into_inner).insert(resources::uri(&path), request.uri);
        self.announce(&context.peer).await;
        Ok(())
    }

    async fn unsubscribe(&self, request: UnsubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.subscribed.lock().unwrap_or_else(PoisonError::into_inner).retain(|_, given| *given != request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        // The client is told that it is heard before `listen` runs, and what it does next must be news already.
        let ears = self.server.watch.as_ref()?.listen_now();
        self.accepted.lock().unwrap_or_else(PoisonError::into_inner).push_back(ears);
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.retain(|uri| resources::parse(uri).is_ok());
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let Some(watch) = &self.server.watch else { return Ok(()) };
        let wanted: HashMap<String, String> = context
            .accepted()
            .resource_subscriptions
            .iter()
            .flatten()
            .filter_map(|uri| resources::parse(uri).ok().map(|(path, _)| (resources::uri(&path), uri.clone())))
            .collect();
        let list = context.accepted().resources_list_changed == Some(true);
        let ears = self.accepted.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let mut news = match ears {
            Some(ears) => ears,
            None => watch.listen().await,
        };
        loop {
            let heard = tokio::select! {
                heard = news.recv() => heard,
                () = context.cancelled() => return Ok(()),
                () = self.server.gone.cancelled() => return Ok(()),
            };
            let sent = match heard {
                Ok(News::Changed(uri)) => match wanted.get(&uri) {
                    Some(uri) => context.sink().notify_resource_updated(uri.clone()).await,
                    None => Ok(()),
                },
                Ok(News::List) | Err(RecvError::Lagged(_)) if list => context.sink().notify_resource_list_changed().await,
                Err(RecvError::Closed) => return Ok(()),
                _ => Ok(()),
            };
            if sent.is_err() {
                return Ok(());
            }
        }
    }

    async fn list_prompts(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListPromptsResult, ErrorData> {
        if self.server.watch.is_none() {
            return Ok(ListPromptsResult::default());
        }
        let prompts = PROMPTS.iter().map(|prompt| {
            let argument =
                PromptArgument::new(prompt.argument).with_description(prompt.argument_description).with_required(prompt.required);
            Prompt::new(prompt.name, Some(prompt.description), Some(vec![argument])).with_title(prompt.title)
        });
        let section = self
            .server
            .offer
            .section()
            .map(|_| Prompt::new(prompts::SECTION, Some(prompts::SECTION_DESCRIPTION), None).with_title(prompts::SECTION_TITLE));
        Ok(ListPromptsResult::with_all_items(prompts.chain(section).collect()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if let Some(section) = self.server.offer.section().filter(|_| request.name == prompts::SECTION).cloned() {
            let text = self.look(&context, move |caller| section(&caller.memdir)).await?;
            let result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
            return Ok(result.with_description(prompts::SECTION_DESCRIPTION).into());
        }
        let prompt = prompts::find(&request.name)
            .ok_or_else(|| ErrorData::invalid_params(format!("there is no prompt named {}", request.name), None))?;
        let arguments = request.arguments.unwrap_or_default();
        let text = self.look(&context, move |caller| prompts::render(prompt, caller, &arguments)).await?;
        let result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).with_description(prompt.description);
        Ok(result.into())
    }

    async fn complete(&self, request: CompleteRequestParams, context: RequestContext<RoleServer>) -> Result<CompleteResult, ErrorData> {
        let named = match &request.r#ref {
            Reference::Prompt(prompt) => prompt.name != "remember",
            Reference::Resource(_) => request.argument.name == "name",
            _ => false,
        };
        if !named {
            return Ok(CompleteResult::default());
        }
        let mut names = self.look(&context, move |caller| resources::complete(&caller.memdir, &request.argument.value)).await?;
        let total = names.len();
        names.truncate(CompletionInfo::MAX_VALUES);
        let mut completion = CompletionInfo::default();
        completion.has_more = Some(total > names.len());
        completion.total = u32::try_from(total).ok();
        completion.values = names;
        Ok(CompleteResult::new(completion))
    }

    async fn on_initialized(&self, _: NotificationContext<RoleServer>) {}
}
