//! `memdir prompt`: the memory section for a system prompt. Making it makes true what it says: the directories exist.

use crate::{
    args::{Prompt as Typed, PromptMode, SearchWith},
    config::Settings,
    exit::Failure,
    loads,
    output::{Answer, Page},
    prompt_section,
    scope::Scope,
    wire,
};
use memdir_core::prompt::{Entrypoint, Load, ModeName, Request, Search};
use serde::Serialize;
use std::io;

pub(crate) use crate::prompt_section::for_hook;

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
        tools: args.tools.then_some(prompt_section::tool_names(settings.config.log)),
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
