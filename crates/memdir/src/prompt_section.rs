//! The memory section of a system prompt, as servers and hooks provide it: to an agent that has memdir's tools.

use crate::{config::Settings, exit::Failure, loads};
use memdir_core::{
    memdir::Memdir,
    prompt::{Entrypoint, Request, Search, Tools},
};
use memdir_server::PromptSection;
use std::sync::Arc;

/// Returns the names of memdir's own tools in prompts. The log tool exists only if the log is on.
pub(crate) fn tool_names(log: bool) -> Tools<'static> {
    Tools { write: "memory_write", search: "memory_search", log: log.then_some("memory_log") }
}

/// Returns the renderer of the section. A `remote` reader has no access to the directories.
pub(crate) fn section(settings: &Settings, remote: bool) -> PromptSection {
    let (log, in_dir, home) = (settings.config.log, settings.dir.is_some(), settings.home.value.clone());
    let (guidelines, agent_scope) = (settings.guidelines.clone(), settings.agent_scope);
    let agent = settings.agent.as_ref().map(|agent| agent.value.clone());
    Arc::new(move |memdir| {
        let guidelines: Vec<&str> = guidelines.iter().map(String::as_str).collect();
        let made = memdir.prompt(&Request {
            mode: None,
            log,
            agent: agent.as_deref().map(|agent| (agent, agent_scope)),
            remote,
            team_folder: in_dir && !remote,
            title: "Memory",
            entrypoint: Entrypoint::Shown,
            tools: Some(tool_names(log)),
            search: Search::Memdir,
            transcripts: None,
            guidelines: &guidelines,
        })?;
        loads::count(&home, &loads::space(memdir.store()), &made.load);
        Ok(made.text)
    })
}

/// Renders the section for the start of a conversation.
pub(crate) fn for_hook(settings: &Settings, memdir: &Memdir) -> Result<String, Failure> {
    Ok(section(settings, false)(memdir)?)
}
