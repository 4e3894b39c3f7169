//! The memory section of a system prompt, as servers and hooks provide it: to an agent that has memdir's tools.

use crate::{config::Settings, loads};
use memdir_core::{PromptEntrypoint, PromptRequest, PromptSearch, ToolNames};
use memdir_server::PromptSection;
use std::sync::Arc;

/// Returns the names of memdir's own tools in prompts. The log tool exists only if the log is on.
pub(crate) fn tool_names(log: bool) -> ToolNames<'static> {
    ToolNames { write: "memory_write", search: "memory_search", log: log.then_some("memory_log") }
}

/// Returns the renderer of the section. A `remote` reader has no access to the directories.
pub(crate) fn section(settings: &Settings, remote: bool) -> PromptSection {
    let (log, in_dir, home) = (settings.config.log, settings.dir.is_some(), settings.home.value.clone());
    let (guidelines, agent_scope) = (settings.guidelines.clone(), settings.agent_scope);
    let agent = settings.agent.as_ref().map(|agent| agent.value.clone());
    Arc::new(move |memdir| {
        let guidelines: Vec<&str> = guidelines.iter().map(String::as_str).collect();
        let made = memdir.prompt(&PromptRequest {
            mode: None,
            log,
            agent: agent.as_deref().map(|agent| (agent, agent_scope)),
            remote,
            team_folder: in_dir && !remote,
            title: "Memory",
            entrypoint: PromptEntrypoint::Shown,
            tools: Some(tool_names(log)),
            search: PromptSearch::Memdir,
            transcripts: None,
            guidelines: &guidelines,
        })?;
        loads::count(&home, &loads::space(memdir.store()), &made.load);
        Ok(made.text)
    })
}
