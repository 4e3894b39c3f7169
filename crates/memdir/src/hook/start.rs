//! The text at the start of a conversation.

use super::output::SESSION_UNITS;
use crate::{
    config::{self, Settings},
    hosts::Host,
    moved, prompt_section,
    scope::Scope,
};
use memdir_core::{
    Memdir, PromptLoad,
    internal::{base::text::json_units, prompt},
};

/// What a host loads into a conversation by itself.
pub(super) enum HostLoads {
    /// No memory.
    Nothing,
    /// A mount of memdir, unless an environment variable suspends it.
    Mount { prefix: String, suspended_by: Option<String> },
    /// A memory of its own.
    Another { name: &'static str },
}

/// What the host loads by itself, by its own settings.
pub(super) fn host_loads(host: &Host, scope: &Scope) -> HostLoads {
    let (Some(switch), Ok(machine)) = (&host.memory_switch, config::machine_of_hosts(&scope.project)) else { return HostLoads::Nothing };
    let state = (switch.state)(&machine);
    let mount = state.dir.as_ref().filter(|_| state.off_by.is_none()).and_then(|dir| scope.mount_at(dir));
    match mount {
        Some(mount) => HostLoads::Mount { prefix: mount.prefix.clone(), suspended_by: state.suspended_by },
        None if state.is_on() => HostLoads::Another { name: switch.name },
        None => HostLoads::Nothing,
    }
}

/// The text for the model.
pub(crate) struct SessionText {
    pub(crate) text: String,
    /// The load of the memory section; `None` if the host loads the project's memory itself.
    pub(crate) load: Option<PromptLoad>,
}

/// Builds the memory section and the entrypoints, or what the host does not load by itself, and appends the text about the previous
/// conversation. It comes last, because hosts cache the beginning of a prompt.
pub(crate) fn session_text(
    host: &Host,
    settings: &Settings,
    scope: &Scope,
    memdir: &Memdir,
    left_off: Option<&str>,
) -> memdir_core::Result<SessionText> {
    let units = left_off.map_or(0, |text| text.chars().map(json_units).sum::<usize>() + 4);
    let mut session = memory_text(host, settings, scope, memdir, SESSION_UNITS - units)?;
    if let Some(left_off) = left_off {
        let gap = if session.text.trim().is_empty() { "" } else { "\n\n" };
        session.text = format!("{}{gap}{left_off}\n", session.text.trim_end());
    }
    Ok(session)
}

fn memory_text(host: &Host, settings: &Settings, scope: &Scope, memdir: &Memdir, max_units: usize) -> memdir_core::Result<SessionText> {
    let loads = host_loads(host, scope);
    if let HostLoads::Mount { prefix, .. } = &loads {
        let tools = prompt_section::tool_names(settings.config.log);
        return Ok(SessionText {
            text: prompt::section_without_mount(memdir.store(), memdir.context(), prefix, tools, max_units),
            load: None,
        });
    }
    let also = if let HostLoads::Another { name } = loads { Some(beside_own_memory(host, name)) } else { None };
    let more: Vec<String> = also.into_iter().chain(moved_sentence(settings, scope)).collect();
    let built = prompt_section::build_with(settings, memdir, false, &more, Some(max_units))?;
    Ok(SessionText { text: built.text, load: Some(built.load) })
}

/// The sentence that says which of two memories the agent writes to.
fn beside_own_memory(host: &Host, name: &str) -> String {
    let (title, write) = (host.title, prompt_section::tool_names(false).write);
    let (is, the) = if name.ends_with('s') { ("are", "those") } else { ("is", "the") };
    format!("{title}'s own {name} {is} also on: save only with `{write}`, not to {the} {name}.")
}

/// The sentence about the memories of this repository that are left at its former place.
fn moved_sentence(settings: &Settings, scope: &Scope) -> Option<String> {
    let moved = moved::moved_from(settings, scope)?;
    Some(format!("This project was moved: {moved}. Tell the user; run the command only if they agree."))
}
