//! The texts that a server or a hook gives an agent that has memdir's tools: the memory section of a system prompt, and the server's instructions.

use crate::{config::Settings, loads};
use memdir_core::{
    BuiltPrompt, Memdir, PromptEntrypoint, PromptRequest, PromptSearch, Store, ToolNames,
    internal::prompt::{self, InstructionsRequest},
};
use memdir_server::PromptSection;
use std::sync::Arc;

/// Returns the names of memdir's own tools in prompts. The log tool exists only if the log is on.
pub(crate) fn tool_names(log: bool) -> ToolNames<'static> {
    ToolNames { write: "memory_write", search: "memory_search", log: log.then_some("memory_log") }
}

/// Builds the section with additional paragraphs. A `remote` reader has no access to the directories. A host that limits the length of a
/// hook's output gets at most `max_units` UTF-16 code units of JSON.
pub(crate) fn build_with(
    settings: &Settings,
    memdir: &Memdir,
    remote: bool,
    more: &[String],
    max_units: Option<usize>,
) -> memdir_core::Result<BuiltPrompt> {
    let log = settings.config.log;
    let guidelines: Vec<&str> = settings.guidelines.iter().chain(more).map(String::as_str).collect();
    memdir.prompt(&PromptRequest {
        mode: None,
        log,
        agent: settings.agent.as_ref().map(|agent| (agent.value.as_str(), settings.agent_scope)),
        remote,
        team_folder: settings.dir.is_some() && !remote,
        title: "Memory",
        entrypoint: PromptEntrypoint::Shown,
        tools: Some(tool_names(log)),
        search: PromptSearch::Memdir,
        transcripts: None,
        guidelines: &guidelines,
        max_units,
    })
}

/// Returns the renderer of the section for a server.
pub(crate) fn section(settings: &Settings, remote: bool) -> PromptSection {
    let settings = settings.clone();
    Arc::new(move |memdir| {
        let built = build_with(&settings, memdir, remote, &[], None)?;
        loads::count(&settings.home.value, &loads::space(memdir.store()), &built.load);
        Ok(built.text)
    })
}

/// Builds the server's instructions: brief ones for a host whose session hook provides the section.
pub(crate) fn instructions(settings: &Settings, store: &dyn Store, brief: bool) -> String {
    let guidelines: Vec<&str> = settings.guidelines.iter().map(String::as_str).collect();
    prompt::instructions(store, InstructionsRequest { brief, guidelines: &guidelines })
}
