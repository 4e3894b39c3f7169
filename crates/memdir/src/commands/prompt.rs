//! `memdir prompt`: the memory section for a system prompt. Making it makes true what it says: the directories exist.

use crate::{
    args::{Prompt as Typed, PromptMode, SearchWith},
    config::Settings,
    exit::Failure,
    loads,
    output::{Answer, Page},
    scope::Scope,
    wire,
};
use memdir_core::{
    memdir::Memdir,
    prompt::{Entrypoint, Load, ModeName, Request, Search, Tools},
};
use memdir_server::Section;
use serde::Serialize;
use std::{io, sync::Arc};

/// The names memdir's own server gives its tools. It serves the one that logs where the settings say so.
fn tools(log: bool) -> Tools<'static> {
    Tools { write: "memory_write", search: "memory_search", log: log.then_some("memory_log") }
}

#[derive(Serialize)]
struct Made {
    enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    off_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", flatten)]
    load: Option<Load>,
}

pub(crate) fn run(args: &Typed, settings: &Settings, scope: &Scope) -> Result<Answer, Failure> {
    if let Some(switch) = &scope.off {
        let off = Made { enabled: false, off_by: Some(switch.clone()), prompt: None, load: None };
        return Ok(Answer::new(off, show).with_notes(scope.off_note()));
    }
    let opened = wire::open(settings, scope)?;
    let transcripts = args.transcripts.as_ref().map(|path| path.display().to_string());
    let guidelines: Vec<&str> = settings.guidelines.iter().map(String::as_str).collect();
    let made = opened.memdir.prompt(&Request {
        mode: args.mode.map(mode),
        log: settings.config.log,
        agent: settings.agent.as_ref().map(|agent| (agent.value.as_str(), settings.agent_scope)),
        remote: false,
        team_folder: settings.dir.is_some(),
        title: &args.title,
        entrypoint: match (args.no_entrypoint, args.no_index) {
            (_, true) => Entrypoint::Unused,
            (true, false) => Entrypoint::LeftOut,
            (false, false) => Entrypoint::Shown,
        },
        tools: args.tools.then_some(tools(settings.config.log)),
        search: match args.search {
            SearchWith::Memdir => Search::Memdir,
            SearchWith::Grep => Search::Grep("Grep"),
            SearchWith::Shell => Search::Shell,
        },
        transcripts: transcripts.as_deref(),
        guidelines: &guidelines,
    })?;
    let (home, space, load) = (settings.home.value.clone(), loads::space(opened.memdir.store()), made.load.clone());
    let made = Made { enabled: true, off_by: None, prompt: Some(made.text), load: Some(made.load) };
    Ok(Answer::new(made, show).with_notes(opened.notes).afterwards(move || loads::count(&home, &space, &load)))
}

/// The same as a server gives it, as often as it is asked: whoever reads it there has memdir's tools, and one who is `remote`
/// has nothing else.
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

/// The section as a conversation's beginning carries it: memdir's tools are there, the rest is as usual.
pub(crate) fn for_hook(settings: &Settings, memdir: &Memdir) -> Result<String, Failure> {
    Ok(section(settings, false)(memdir)?)
}

fn mode(typed: PromptMode) -> ModeName {
    match typed {
        PromptMode::Individual => ModeName::Individual,
        PromptMode::Team => ModeName::Team,
        PromptMode::Log => ModeName::Log,
        PromptMode::Agent => ModeName::Agent,
    }
}

fn show(made: &Made, page: &mut Page<'_>) -> io::Result<()> {
    page.content(made.prompt.as_deref().unwrap_or_default())
}
