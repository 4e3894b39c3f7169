//! The groups of tools that a server serves: memdir's own, and those of dialects, each with its space.

use super::live::{LiveSettings, live_space};
use crate::{args::McpArgs, config::Settings, exit::Failure, output::visible, prompt_section, scope::Scope, spaces};
use memdir_core::{
    Memdir,
    internal::{dialects, prompt::log_is_open, tools},
};
use memdir_server::{CatalogError, ToolCatalog, ToolFilter, ToolGroup};
use std::{io::Write as _, path::PathBuf, sync::Arc};

/// The name of the group of memdir's own tools.
pub(super) const NATIVE: &str = "native";

/// Builds the catalog of a caller over HTTP. `is_reader` is whether the caller's token permits only reading: then the server's options
/// are not to blame for an empty catalog, since the server has checked them at its start.
pub(super) fn caller_catalog(groups: Vec<ToolGroup>, filter: &ToolFilter, is_reader: bool) -> Result<ToolCatalog, Failure> {
    let refused = |message: &str| Failure::Usage { message: message.to_owned(), hint: String::new() };
    // `memory_log` exists only in spaces with an open log; a filter that names it is valid for the others too.
    let exists = |name: &String| name != "memory_log" || groups.iter().flat_map(|group| group.tools).any(|tool| tool.name == name);
    let mut own = filter.clone();
    own.read_only |= is_reader;
    own.only.retain(exists);
    own.without.retain(exists);
    if own.only.is_empty() && !filter.only.is_empty() {
        let why = "no tools left to serve: `memory_log` requires `log = true` in the server's settings, and a token with write access";
        return Err(refused(why));
    }
    ToolCatalog::new(groups, &own).map_err(|error| match error {
        CatalogError::Empty if is_reader => refused("this token is read-only, and this server serves no read-only tools"),
        error => refused(&error.to_string()),
    })
}

/// Opens the groups with these names; memdir's own tools if there are none.
pub(super) fn open(args: &McpArgs, live: &Arc<LiveSettings>, settings: &Settings, scope: &Scope) -> Result<Vec<ToolGroup>, Failure> {
    let native = || native(args.session_hook, live, settings, scope);
    if args.dialect.is_empty() {
        return Ok(vec![native()?]);
    }
    let open = |name: &String| if name == NATIVE { native() } else { dialect(name, live, settings, scope, &[]) };
    args.dialect.iter().map(open).collect()
}

/// Returns the group of memdir's own tools on a space. A `remote` caller does not learn about directories.
pub(super) fn native_group(memdir: Memdir, settings: &Settings, root: PathBuf, remote: bool) -> Result<ToolGroup, Failure> {
    Ok(searchable_group(spaces::with_search(memdir, settings)?, settings, root, remote))
}

/// Like [`native_group`], for a space that has search already.
pub(super) fn searchable_group(memdir: Memdir, settings: &Settings, root: PathBuf, remote: bool) -> ToolGroup {
    let has_log = settings.config.log && log_is_open(memdir.store(), memdir.context());
    ToolGroup {
        name: NATIVE,
        tools: if has_log { tools::native_with_log() } else { tools::native() },
        instructions: Some(prompt_section::instructions(settings, memdir.store(), false)),
        memdir,
        space: None,
        root,
        resources: true,
        section: Some(prompt_section::section(settings, remote)),
        proposals: None,
    }
}

fn native(session_hook: bool, live: &Arc<LiveSettings>, settings: &Settings, scope: &Scope) -> Result<ToolGroup, Failure> {
    let opened = spaces::open(settings, scope)?;
    for note in &opened.notes {
        let _ = writeln!(std::io::stderr(), "memdir: {}", visible(note));
    }
    let group = native_group(opened.memdir, settings, settings.cwd.clone(), false)?;
    let open = |settings: &Settings, scope: &Scope| spaces::with_search(spaces::open(settings, scope)?.memdir, settings);
    let space = live_space(live, settings, scope, group.memdir.clone(), Box::new(open));
    // Cues are learned for the person at this machine, not from the searches of remote callers.
    let proposals = Some(spaces::cue_proposals(settings, group.memdir.store()));
    let instructions = Some(prompt_section::instructions(settings, group.memdir.store(), session_hook));
    Ok(ToolGroup { space: Some(space), proposals, instructions, ..group })
}

/// Opens the tools of a dialect, narrowed to the names of a session if there are any.
pub(super) fn dialect(
    name: &str,
    live: &Arc<LiveSettings>,
    settings: &Settings,
    scope: &Scope,
    session: &[String],
) -> Result<ToolGroup, Failure> {
    let Some(dialect) = dialects::find(name) else {
        let known: Vec<&str> = dialects::DIALECTS.iter().map(|dialect| dialect.name).collect();
        let message = format!("unknown dialect {name:?}; available: {NATIVE}, {}", known.join(", "));
        return Err(Failure::Usage { message, hint: "list the dialects with: memdir dialects".into() });
    };
    let (memdir, root) = spaces::open_dialect(settings, scope, dialect, session)?;
    let session = session.to_vec();
    let open = move |settings: &Settings, scope: &Scope| Ok(spaces::open_dialect(settings, scope, dialect, &session)?.0);
    let space = Some(live_space(live, settings, scope, memdir.clone(), Box::new(open)));
    let tools = (dialect.tools)();
    Ok(ToolGroup { name: dialect.name, tools, memdir, space, root, instructions: None, resources: false, section: None, proposals: None })
}
