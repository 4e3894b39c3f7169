//! The requests of MCP, each handed to a plain function.

use super::{
    params,
    session::{McpSession, to_error_data},
};
use crate::{prompts, resources, subscriptions::ResourceEvent};
use memdir_core::internal::tools::{PROMPTS, ToolResult};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::*,
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use std::collections::HashMap;
use tokio::sync::broadcast::error::RecvError;

/// Maximum number of resources that one session of the older lifecycle subscribes to.
const MAX_SUBSCRIPTIONS: usize = 256;

impl ServerHandler for McpSession {
    fn get_info(&self) -> ServerConfig {
        let tools = ServerCapabilities::builder().enable_tools();
        let capabilities = match self.server.subscriptions {
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
        match self.server.catalog.instructions() {
            Some(text) => info.with_instructions(text.trim_end()),
            None => info,
        }
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut info = self.negotiate_initialize(&request)?;
        // A client of the older lifecycle is notified in its session. Those of the newer one open a stream, and do not initialize.
        if !self.has_sessions
            && let Some(resources) = &mut info.capabilities.resources
        {
            (resources.subscribe, resources.list_changed) = (None, None);
        }
        Ok(info)
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.server.tools().to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.server.tools().iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        let Some(served) = self.server.catalog.find(&request.name) else {
            let names = self.server.catalog.names().join(", ");
            return Err(ErrorData::invalid_params(format!("unknown tool {:?}; available: {names}", request.name), None));
        };
        let result = self.call(served, &context, request.arguments.unwrap_or_default()).await;
        Ok(to_call_result(result).into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        // Clients of the newer lifecycle subscribe to the list explicitly; for older ones, listing it is the subscription.
        if context.meta.protocol_version().is_none() && Self::can_notify(&context) {
            self.notify_changes(&context.peer).await;
        }
        let cursor = request.and_then(|request| request.cursor);
        let is_first = cursor.is_none();
        let (page, next) = self.with_space(&context, move |caller| resources::page(&caller.memdir, cursor.as_deref())).await?;
        let section = if is_first && self.server.catalog.section().is_some() {
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
        if self.server.subscriptions.is_none() {
            return Ok(ListResourceTemplatesResult::default());
        }
        Ok(ListResourceTemplatesResult::with_all_items(vec![
            ResourceTemplate::new(resources::TEMPLATE, "memory")
                .with_title("A memory")
                .with_description("A memory, selected by name; the .md suffix is optional")
                .with_mime_type("text/markdown"),
            ResourceTemplate::new(resources::LINES_TEMPLATE, "memory-lines")
                .with_title("Lines of a memory")
                .with_description("A range of lines in a memory, such as 42-56, 42- or 42")
                .with_mime_type("text/markdown"),
        ]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.clone();
        let text = match self.server.catalog.section().filter(|_| uri == resources::SECTION).cloned() {
            Some(section) => self.with_space(&context, move |caller| section(&caller.memdir)).await?,
            None => self.with_space(&context, move |caller| resources::read(&caller.memdir, &uri)).await?,
        };
        let contents =
            ResourceContents::TextResourceContents { uri: request.uri, mime_type: Some("text/markdown".into()), text, meta: None };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn subscribe(&self, request: SubscribeRequestParams, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        let (path, _) = resources::parse(&request.uri).map_err(|error| to_error_data(&error))?;
        if !Self::can_notify(&context) {
            let why = "notifications require a session, and this request has none; subscribe with `subscriptions/listen`, or read the resource again";
            return Err(ErrorData::invalid_request(why, None));
        }
        {
            let mut subscribed = self.subscribed();
            let uri = resources::to_uri(&path);
            if subscribed.len() >= MAX_SUBSCRIPTIONS && !subscribed.contains_key(&uri) {
                let why = format!("too many subscriptions: the maximum is {MAX_SUBSCRIPTIONS} per session; unsubscribe from one first");
                return Err(ErrorData::invalid_params(why, None));
            }
            subscribed.insert(uri, request.uri);
        }
        self.notify_changes(&context.peer).await;
        Ok(())
    }

    async fn unsubscribe(&self, request: UnsubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.subscribed().retain(|_, original| *original != request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        // The acknowledgement is sent before `listen` runs; changes made after it must be reported, so the receiver exists now.
        let receiver = self.server.subscriptions.as_ref()?.subscribe_blocking();
        self.accepted().push_back(receiver);
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.retain(|uri| resources::parse(uri).is_ok());
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let Some(subscriptions) = &self.server.subscriptions else { return Ok(()) };
        let wanted: HashMap<String, String> = context
            .accepted()
            .resource_subscriptions
            .iter()
            .flatten()
            .filter_map(|uri| resources::parse(uri).ok().map(|(path, _)| (resources::to_uri(&path), uri.clone())))
            .collect();
        let list = context.accepted().resources_list_changed == Some(true);
        let receiver = self.accepted().pop_front();
        let mut events = match receiver {
            Some(receiver) => receiver,
            None => subscriptions.subscribe().await,
        };
        loop {
            let event = tokio::select! {
                event = events.recv() => event,
                () = context.cancelled() => return Ok(()),
                () = self.server.shutdown.cancelled() => return Ok(()),
            };
            let sent = match event {
                Ok(ResourceEvent::Updated(uri)) => match wanted.get(&uri) {
                    Some(uri) => context.sink().notify_resource_updated(uri.clone()).await,
                    None => Ok(()),
                },
                Ok(ResourceEvent::ListChanged) | Err(RecvError::Lagged(_)) if list => context.sink().notify_resource_list_changed().await,
                Err(RecvError::Closed) => return Ok(()),
                _ => Ok(()),
            };
            if sent.is_err() {
                return Ok(());
            }
        }
    }

    async fn list_prompts(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListPromptsResult, ErrorData> {
        if self.server.subscriptions.is_none() {
            return Ok(ListPromptsResult::default());
        }
        let prompts = PROMPTS.iter().map(|prompt| {
            let argument =
                PromptArgument::new(prompt.argument).with_description(prompt.argument_description).with_required(prompt.required);
            Prompt::new(prompt.name, Some(prompt.description), Some(vec![argument])).with_title(prompt.title)
        });
        let section = self
            .server
            .catalog
            .section()
            .map(|_| Prompt::new(prompts::SECTION, Some(prompts::SECTION_DESCRIPTION), None).with_title(prompts::SECTION_TITLE));
        Ok(ListPromptsResult::with_all_items(prompts.chain(section).collect()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if let Some(section) = self.server.catalog.section().filter(|_| request.name == prompts::SECTION).cloned() {
            let text = self.with_space(&context, move |caller| section(&caller.memdir)).await?;
            let result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
            return Ok(result.with_description(prompts::SECTION_DESCRIPTION).into());
        }
        let prompt =
            prompts::find(&request.name).ok_or_else(|| ErrorData::invalid_params(format!("unknown prompt {:?}", request.name), None))?;
        let arguments = request.arguments.unwrap_or_default();
        let proposals = self.server.catalog.proposals().cloned();
        let text = self.with_space(&context, move |caller| prompts::render(prompt, caller, &arguments, proposals.as_ref())).await?;
        let result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).with_description(prompt.description);
        Ok(result.into())
    }

    async fn complete(&self, request: CompleteRequestParams, context: RequestContext<RoleServer>) -> Result<CompleteResult, ErrorData> {
        let completes_names = match &request.r#ref {
            Reference::Prompt(prompt) => prompt.name != "remember",
            Reference::Resource(_) => request.argument.name == "name",
            _ => false,
        };
        if !completes_names {
            return Ok(CompleteResult::default());
        }
        let mut names = self.with_space(&context, move |caller| resources::complete(&caller.memdir, &request.argument.value)).await?;
        let total = names.len();
        names.truncate(CompletionInfo::MAX_VALUES);
        let mut completion = CompletionInfo::default();
        completion.has_more = Some(total > names.len());
        completion.total = u32::try_from(total).ok();
        completion.values = names;
        Ok(CompleteResult::new(completion))
    }

    async fn on_custom_request(&self, request: CustomRequest, _: RequestContext<RoleServer>) -> Result<CustomResult, ErrorData> {
        Err(params::error(&request))
    }

    async fn on_initialized(&self, _: NotificationContext<RoleServer>) {}
}

/// Converts the result of a tool to its form in the protocol.
fn to_call_result(result: ToolResult) -> CallToolResult {
    let content = vec![ContentBlock::text(result.text)];
    let mut converted = if result.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    converted.structured_content = result.structured;
    converted
}
