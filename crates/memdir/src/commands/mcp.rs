//! `memdir mcp`: serves memories to MCP clients.

use crate::{
    args::{Global, Mcp as Typed},
    config::Settings,
    exit::Failure,
    output::Answer,
    scope::Scope,
    serve,
};

pub(crate) fn run(args: &Typed, global: &Global, settings: &Settings, scope: &Scope) -> Result<Answer, Failure> {
    super::survive_size_limit();
    serve::run(args, global, settings, scope)?;
    Ok(Answer::new((), |(), _| Ok(())))
}
