//! The memory section of a system prompt as servers and hooks deliver it: the client has memdir's tools.

use crate::{config::Settings, exit::Failure, loads};
use memdir_core::{
    memdir::Memdir,
    prompt::{Entrypoint, Request, Search, Tools},
};
use memdir_server::Section;
use std::sync::Arc;

/// The names of memdir's own tools. The server offers the log tool only if the settings turn the log on.
pub(crate) fn tools(log: bool) -> Tools<'static> {
    Tools { write: "memory_write", search: "memory_search", log: log.then_some("memory_log") }
}

/// A function that renders the section for a server, each time it is requested. A `remote` client has only memdir's tools.
pub(crate) fn section(settings: &Settings, remote: bool) -> Section {
    let (log, in_dir, home) = (settings.config.log, settings.dir.is_some(), settings.home.value.clone());
    let (guidelines, agent_scope) = (settings.guidelines.clone(), settings.agent_scope);
    let agent = settings.agent.as_ref().map(|agent| agent.value.clone());
    Arc::new(move |memdir| {
        let guidelines: Vec<&str> = guidelines.iter().map(String::as_str).collect();
        let prompt = memdir.prompt(&Request {
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
        loads::count(&home, &loads::space(memdir.store()), &prompt.load);
        Ok(prompt.text)
    })
}

/// The section for the start of a session.
pub(crate) fn for_hook(settings: &Settings, memdir: &Memdir) -> Result<String, Failure> {
    Ok(section(settings, false)(memdir)?)
}
