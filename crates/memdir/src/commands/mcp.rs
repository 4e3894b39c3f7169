//! `memdir mcp`: serves memories to MCP clients.

use crate::{
    args::{GlobalArgs, McpArgs},
    config::Settings,
    exit::Failure,
    output::CommandOutput,
    scope::Scope,
    serve,
};

pub(crate) fn run(args: &McpArgs, global: &GlobalArgs, settings: &Settings, scope: &Scope) -> Result<CommandOutput, Failure> {
    super::catch_size_limit_signal();
    serve::run(args, global, settings, scope)?;
    Ok(CommandOutput::new((), |(), _| Ok(())))
}
