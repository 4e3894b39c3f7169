//! The memory section of a system prompt, as the server and the hooks give it to agents that have memdir's tools.

use crate::{config::Settings, loads};
use memdir_core::prompt::{Entrypoint, Request, Search, Tools};
use memdir_server::Section;
use std::sync::Arc;

/// The names of memdir's own tools. The one that logs is served only if the settings turn logs on.
pub(crate) fn tools(log: bool) -> Tools<'static> {
    Tools { write: "memory_write", search: "memory_search", log: log.then_some("memory_log") }
}

/// Returns the function that renders the section on every request. A `remote` reader has nothing but the tools.
pub(crate) fn section(settings: &Settings, remote: bool) -> Section {
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
            tools: Some(tools(log)),
            search: Search::Memdir,
            transcripts: None,
            guidelines: &guidelines,
        })?;
        loads::count(&home, &loads::space(memdir.store()), &made.load);
        Ok(made.text)
    })
}
