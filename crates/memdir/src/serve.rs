//! Serves memories to MCP clients, on standard input and output or over HTTP. Never prints to standard output, which belongs to
//! the client.

mod callers;
mod groups;
mod live;
mod oauth;
mod team;
mod team_callers;
mod verified;

use crate::{
    args::{GlobalArgs, McpArgs},
    config::{self, Settings},
    exit::Failure,
    scope::Scope,
};
use callers::{TokenCallers, foreign_dialect};
use live::LiveSettings;
use memdir_server::{BearerToken, HttpOptions, RequestLog, ServeError, ToolCatalog};
use std::{io::Write as _, sync::Arc};
pub(crate) use team::{connect, database_failure, database_settings, run as run_team};

/// Serves until the client disconnects or, over HTTP, until a signal.
pub(crate) fn run(args: &McpArgs, global: &GlobalArgs, settings: &Settings, scope: &Scope) -> Result<(), Failure> {
    let filter = args.served.filter();
    check_dialects(args, global)?;
    let http = http_options(args, settings)?;
    if let Some(http) = &http {
        check_callers(args, global, settings, http.token.is_some())?;
    }
    let live = LiveSettings::load(global, settings)?;
    let groups = groups::open(args, &live, settings, scope)?;
    let catalog = ToolCatalog::new(groups, &filter)
        .map_err(|error| Failure::Usage { message: error.to_string(), hint: "see the options with: memdir mcp --help".into() })?;
    let served = match http {
        None => memdir_server::serve_stdio(catalog),
        Some(http) => {
            let callers = TokenCallers::new(live, &filter, &args.dialect);
            let pages = if http.pages { " and /ui" } else { "" };
            memdir_server::serve_http(catalog, HttpOptions { callers: Some(Arc::new(callers)), ..http }, |address| {
                // The server also works if standard error is closed.
                let _ = writeln!(std::io::stderr(), "memdir: serving http://{address}/mcp{pages}");
            })
        }
    };
    served.map_err(|error| match error {
        // A dialect has one memory for all callers, and cannot be served with their tokens.
        ServeError::Unsafe(message) if foreign_dialect(&args.dialect).is_some() => {
            Failure::Settings { message, hint: "pass --token-file FILE, or set MEMDIR_TOKEN".into() }
        }
        error => to_failure(error),
    })
}

fn http_options(args: &McpArgs, settings: &Settings) -> Result<Option<HttpOptions>, Failure> {
    let Some(address) = args.http else { return Ok(None) };
    let text = match &args.token_file {
        None => config::token_variable()?,
        Some(file) => Some(std::fs::read_to_string(file).map_err(|source| Failure::File { doing: "read", path: file.clone(), source })?),
    };
    let token = text.as_deref().map(BearerToken::parse).transpose().map_err(|error| {
        let message = match &args.token_file {
            None => format!("MEMDIR_TOKEN: {error}"),
            Some(file) => format!("{}: {error}", file.display()),
        };
        Failure::Settings { message, hint: TOKEN_HINT.into() }
    })?;
    let log = args.log_requests.then(request_log);
    let oauth = settings.config.oauth.as_ref().map(oauth::options).transpose()?;
    Ok(Some(HttpOptions {
        token,
        log,
        oauth,
        pages: args.page,
        hosts: args.host.clone(),
        origins: args.origin.clone(),
        ..HttpOptions::new(address)
    }))
}

/// How to create a token for the owner.
const TOKEN_HINT: &str = "create a token with: openssl rand -hex 32";

/// Lines of the log that may wait to be written.
const LOG_LINES: usize = 4_096;

/// Returns a log on standard error. A reader that is too slow loses lines; it does not keep requests waiting.
fn request_log() -> RequestLog {
    let (sender, lines) = std::sync::mpsc::sync_channel::<String>(LOG_LINES);
    let write = move || {
        let mut error = std::io::stderr();
        // Whole lines in one write: other messages do not mix with them.
        lines.into_iter().for_each(|line| drop(error.write_all(line.as_bytes())));
    };
    // Without a thread there is no log; requests are answered all the same.
    let _ = std::thread::Builder::new().name("memdir-log".into()).spawn(write);
    RequestLog::new(move |line| drop(sender.try_send(format!("{line}\n"))))
}

/// Rejects options that select memories of memdir's own tools if only dialects are served.
fn check_dialects(args: &McpArgs, global: &GlobalArgs) -> Result<(), Failure> {
    let Some(dialect) = foreign_dialect(&args.dialect).filter(|_| args.dialect.iter().all(|name| name != groups::NATIVE)) else {
        return Ok(());
    };
    let flags = [("--project", global.project.is_some()), ("--agent", global.agent.is_some())];
    match flags.into_iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((flag, _)) => Err(Failure::Usage {
            message: format!("{flag} has no effect with --dialect {dialect}, which serves another memory system's directory"),
            hint: format!("omit {flag}; select a directory with --dir, or a part of it with --only"),
        }),
    }
}

/// If there are callers with tokens, rejects options at start that apply to none of them.
fn check_callers(args: &McpArgs, global: &GlobalArgs, settings: &Settings, has_owner_token: bool) -> Result<(), Failure> {
    if settings.config.tokens.is_empty() && settings.config.oauth.is_none() {
        return Ok(());
    }
    let refuse = |message: String, hint: &str| Err(Failure::Usage { message, hint: hint.into() });
    if let Some(dialect) = foreign_dialect(&args.dialect) {
        let hint =
            "serve the dialect without --http, or set MEMDIR_HOME to a directory whose config.toml has neither [[tokens]] nor [oauth]";
        return refuse(callers::no_callers(dialect), hint);
    }
    let flags = [("--dir", global.dir.is_some()), ("--project", global.project.is_some()), ("--agent", global.agent.is_some())];
    if let Some((flag, _)) = flags.into_iter().find(|(_, is_given)| *is_given && !has_owner_token) {
        return refuse(
            format!("{flag} has no effect with tokens: each token selects its own memory"),
            "omit the option, or add --token-file FILE with a token for this memory",
        );
    }
    Ok(())
}

/// The hint if the system does not give memdir threads, files or random bytes.
pub(crate) const LIMITS_HINT: &str = "check the limits on processes and open files with: ulimit -a";

fn to_failure(error: ServeError) -> Failure {
    let hint = match &error {
        ServeError::Listen { source, .. } if source.kind() == std::io::ErrorKind::AddrInUse => {
            "choose another port, or stop the program that uses this one"
        }
        ServeError::Listen { .. } => "choose another address or port",
        ServeError::Io { .. } => LIMITS_HINT,
        ServeError::Protocol(_) => "start `memdir mcp` from an MCP client, not from a terminal",
        ServeError::OAuth(_) => "correct the [oauth] table with: memdir config edit",
        ServeError::Unsafe(_) => {
            "for yourself, pass --token-file FILE or set MEMDIR_TOKEN; for several people, create tokens with: memdir token add PERSON"
        }
        ServeError::Token => TOKEN_HINT,
    };
    Failure::Settings { message: error.to_string(), hint: hint.into() }
}
