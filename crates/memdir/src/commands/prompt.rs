//! `memdir prompt`: the memory section for a system prompt. It also creates the directories that the section names.

use crate::{
    args::{PromptArgs, PromptMode, SearchWith},
    config::Settings,
    exit::Failure,
    loads,
    output::{CommandOutput, Printer},
    prompt_section,
    scope::Scope,
    spaces,
};
use memdir_core::{ModeName, PromptEntrypoint, PromptLoad, PromptRequest, PromptSearch};
use serde::Serialize;
use std::io;

#[derive(Serialize)]
struct PromptOutput {
    enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    off_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", flatten)]
    load: Option<PromptLoad>,
}

pub(crate) fn run(args: &PromptArgs, settings: &Settings, scope: &Scope) -> Result<CommandOutput, Failure> {
    if let Some(switch) = &scope.off {
        let off = PromptOutput { enabled: false, off_by: Some(switch.to_string()), prompt: None, load: None };
        return Ok(CommandOutput::new(off, show).with_notes(scope.off_note()));
    }
    let opened = spaces::open(settings, scope)?;
    let transcripts = args.transcripts.as_ref().map(|path| path.display().to_string());
    let guidelines: Vec<&str> = settings.guidelines.iter().map(String::as_str).collect();
    let prompt = opened.memdir.prompt(&PromptRequest {
        mode: args.mode.map(mode),
        log: settings.config.log,
        agent: settings.agent.as_ref().map(|agent| (agent.value.as_str(), settings.agent_scope)),
        remote: false,
        team_folder: settings.dir.is_some(),
        title: &args.title,
        entrypoint: match (args.no_entrypoint, args.no_index) {
            (_, true) => PromptEntrypoint::Unused,
            (true, false) => PromptEntrypoint::LeftOut,
            (false, false) => PromptEntrypoint::Shown,
        },
        tools: args.tools.then_some(prompt_section::tool_names(settings.config.log)),
        search: match args.search {
            SearchWith::Memdir => PromptSearch::Memdir,
            SearchWith::Grep => PromptSearch::Grep("Grep"),
            SearchWith::Shell => PromptSearch::Shell,
        },
        transcripts: transcripts.as_deref(),
        guidelines: &guidelines,
        max_units: None,
    })?;
    let (home, space, load) = (settings.home.value.clone(), loads::space(opened.memdir.store()), prompt.load.clone());
    let output = PromptOutput { enabled: true, off_by: None, prompt: Some(prompt.text), load: Some(prompt.load) };
    Ok(CommandOutput::new(output, show).with_notes(opened.notes).afterwards(move || loads::count(&home, &space, &load)))
}

fn mode(typed: PromptMode) -> ModeName {
    match typed {
        PromptMode::Individual => ModeName::Individual,
        PromptMode::Team => ModeName::Team,
        PromptMode::Log => ModeName::Log,
        PromptMode::Agent => ModeName::Agent,
    }
}

fn show(output: &PromptOutput, printer: &mut Printer<'_>) -> io::Result<()> {
    printer.content(output.prompt.as_deref().unwrap_or_default())
}
