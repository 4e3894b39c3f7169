//! `memdir mcp`: serves memories to MCP clients, on standard input and output or over HTTP. Prints nothing on standard
//! output itself: that is the client's.

use crate::{
    args::{Global, Mcp as Typed},
    config::{self, Settings},
    door::{self, Callers},
    exit::Failure,
    live::{self, Current},
    output::Answer,
    scope::Scope,
    wire,
};
use memdir_core::dialects;
use memdir_server::{Choice, Group, Http, Offer, ServeError, Token};
use std::{io::Write as _, sync::Arc};

pub(crate) fn run(args: &Typed, global: &Global, settings: &Settings, scope: &Scope) -> Result<Answer, Failure> {
    let choice = Choice { only: args.tools.clone(), without: args.without.clone(), read_only: args.read_only };
    let http = http(args)?;
    if let Some(http) = &http {
        fits_callers(args, global, settings, http.token.is_some())?;
    }
    let current = Current::new(global, settings)?;
    let offer = Offer::new(groups(args, &current, settings, scope)?, &choice)
        .map_err(|error| Failure::Usage { message: error.to_string(), hint: "See memdir mcp --help and memdir dialects.".into() })?;
    let served = match http {
        None => memdir_server::serve_stdio(offer),
        Some(http) => {
            let callers = Callers::new(current, &choice, foreign(args));
            memdir_server::serve_http(offer, Http { door: Some(Arc::new(callers)), ..http }, |address| {
                // Where nobody reads it, serving goes on.
                let _ = writeln!(std::io::stderr(), "memdir: serving http://{address}/mcp");
            })
        }
    };
    served.map_err(failure)?;
    Ok(Answer::new((), |(), _| Ok(())))
}

/// What is served: memdir's own tools, or those of each dialect on its own directory.
fn groups(args: &Typed, current: &Arc<Current>, settings: &Settings, scope: &Scope) -> Result<Vec<Group>, Failure> {
    if args.dialect.is_empty() {
        return Ok(vec![native(current, settings, scope)?]);
    }
    let group = |name: &String| if name == "native" { native(current, settings, scope) } else { dialect(name, current, settings, scope) };
    args.dialect.iter().map(group).collect()
}

fn native(current: &Arc<Current>, settings: &Settings, scope: &Scope) -> Result<Group, Failure> {
    let opened = wire::open(settings, scope)?;
    for note in &opened.notes {
        let _ = writeln!(std::io::stderr(), "memdir: {note}");
    }
    let group = door::native(opened.memdir, settings, settings.cwd.clone(), false)?;
    let open = |settings: &Settings, scope: &Scope| wire::with_search(wire::open(settings, scope)?.memdir, settings);
    let space = live::space(current, settings, scope, group.memdir.clone(), Box::new(open));
    Ok(Group { space: Some(space), ..group })
}

fn dialect(name: &str, current: &Arc<Current>, settings: &Settings, scope: &Scope) -> Result<Group, Failure> {
    let Some(dialect) = dialects::find(name) else {
        let known: Vec<&str> = dialects::DIALECTS.iter().map(|dialect| dialect.name).collect();
        let message = format!("there is no dialect named {name:?}; there are native, {}", known.join(", "));
        return Err(Failure::Usage { message, hint: "memdir dialects tells what each stands for.".into() });
    };
    let (memdir, root) = wire::open_dialect(settings, scope, dialect)?;
    let open = move |settings: &Settings, scope: &Scope| Ok(wire::open_dialect(settings, scope, dialect)?.0);
    let space = Some(live::space(current, settings, scope, memdir.clone(), Box::new(open)));
    Ok(Group { name: dialect.name, tools: (dialect.tools)(), memdir, space, root, instructions: None, resources: false, section: None })
}

fn http(args: &Typed) -> Result<Option<Http>, Failure> {
    let Some(address) = args.http else { return Ok(None) };
    let text = match &args.token_file {
        None => config::token_variable(),
        Some(file) => Some(std::fs::read_to_string(file).map_err(|source| Failure::File { doing: "read", path: file.clone(), source })?),
    };
    let token = text.as_deref().map(Token::new).transpose().map_err(failure)?;
    Ok(Some(Http { token, hosts: args.host.clone(), origins: args.origin.clone(), ..Http::new(address) }))
}

/// A dialect that is served and whose memory belongs to no caller.
fn foreign(args: &Typed) -> Option<&String> {
    args.dialect.iter().find(|name| *name != "native")
}

/// Where there are callers with tokens of their own, whatever they could not have is refused at the start: it would be served
/// to nobody, or to everybody.
fn fits_callers(args: &Typed, global: &Global, settings: &Settings, owned: bool) -> Result<(), Failure> {
    if settings.config.tokens.is_empty() {
        return Ok(());
    }
    let refuse = |message: String, hint: &str| Err(Failure::Usage { message, hint: hint.into() });
    if let Some(dialect) = foreign(args) {
        return refuse(
            door::no_callers(dialect),
            "Serve that dialect on standard input and output, or with a MEMDIR_HOME that has no tokens.",
        );
    }
    let flags = [("--dir", global.dir.is_some()), ("--project", global.project.is_some()), ("--agent", global.agent.is_some())];
    if let Some((flag, _)) = flags.into_iter().find(|(_, given)| *given && !owned) {
        return refuse(
            format!("{flag} says nothing here: every caller's memory follows from their token"),
            "Leave it out; memdir token add gives a caller their projects and agent. With --token-file it is for whoever has that token.",
        );
    }
    Ok(())
}

fn failure(error: ServeError) -> Failure {
    let hint = match &error {
        ServeError::Io { .. } => "Choose another address or port, or end what uses it.",
        ServeError::Protocol(_) => "Start it from an MCP client, not from a terminal.",
        ServeError::Unsafe(_) => "Put a token into a file for --token-file, or into MEMDIR_TOKEN.",
    };
    Failure::Settings { message: error.to_string(), hint: hint.into() }
}
