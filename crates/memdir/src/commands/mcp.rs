//! `memdir mcp`: serves memories to MCP clients.

use crate::{
    args::{Global, Mcp as Typed},
    config::Settings,
    exit::Failure,
    output::CommandOutput,
    scope::Scope,
    serve,
};

pub(crate) fn run(args: &Typed, global: &Global, settings: &Settings, scope: &Scope) -> Result<CommandOutput, Failure> {
    super::survive_size_limit();
    serve::run(args, global, settings, scope)?;
    Ok(CommandOutput::new((), |(), _| Ok(())))
}
