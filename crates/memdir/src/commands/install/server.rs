//! `memdir install HOST --server URL`: connects hosts to a team server, as a second server beside memdir's own. A token is written only
//! into the user's own settings, never into a file of a project.

use super::{HostOutcome, Preview, machine, show_outcomes, show_previews};
use crate::{
    args::InstallArgs,
    commands::team_token,
    config::Settings,
    exit::{Exit, Failure},
    hosts::{
        Host, HostConfigFile, InstallScope, Machine, RemoteServer, RemoteToken,
        remote::{NoRemote, TEAM_SERVER, has_token_env, remote_file, token_option},
    },
    install::{self, FileOutcome, InstallRequest, Receipts},
    output::{CommandOutput, OutputOptions},
    team_client::{self, TRUST_CERTIFICATES, TeamAccess, TeamClient},
};
use memdir_core::{Clock as _, SystemClock, internal::base::shell::quote_posix};
use std::{fs, os::unix::fs::PermissionsExt as _};

/// The placeholder for the token in a preview.
const SHOWN_TOKEN: &str = "TOKEN";

pub(super) fn run(args: &InstallArgs, url: &str, settings: &Settings, options: OutputOptions) -> Result<CommandOutput, Failure> {
    let base = team_client::server_url(url)?;
    let token = token(args, options)?;
    let machine = machine(settings)?.in_scope(args.scope);
    let project = settings.project.as_ref().map(|project| project.value.clone());
    let server = RemoteServer { url: format!("{base}/mcp"), token, project: project.clone() };
    let mut files = Vec::new();
    for host in &args.hosts {
        files.push((*host, entry_file(host, &machine, args.scope, &server, args.dry_run)?));
    }
    if args.dry_run {
        return preview(settings, &machine, files);
    }
    let (mut notes, access) = check(&base, &server, project)?;
    let mut outcomes = Vec::new();
    for (host, file) in files {
        let request = InstallRequest {
            host,
            scope: args.scope,
            team: true,
            machine: &machine,
            home: &settings.home.value,
            now: SystemClock.now(),
            choice: None,
        };
        let result = install::apply(&request, std::slice::from_ref(&file)).map_err(Failure::from);
        notes.extend(result.iter().flatten().filter_map(|outcome| readable_note(&server, outcome)));
        let next_step = result.is_ok().then(|| next_step(host, args.scope, &server, &access));
        outcomes.push(HostOutcome { next_step, ..HostOutcome::new(host, args.scope, result) });
    }
    let failures = outcomes.iter().filter(|outcome| outcome.error.is_some()).count();
    let exit = if failures > 0 { Exit::ActionRequired } else { Exit::Success };
    Ok(CommandOutput::new(outcomes, show_outcomes).with_notes(notes).exit(exit))
}

/// How the host gets the token: by the options, or by signing in.
fn token(args: &InstallArgs, options: OutputOptions) -> Result<RemoteToken, Failure> {
    if let Some(name) = &args.token_env {
        let is_name = !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit());
        if !is_name || name.contains(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            let message = format!("{name:?} is not a valid environment variable name");
            return Err(Failure::Usage { message, hint: "use a name such as MEMDIR_TEAM_TOKEN".into() });
        }
        return Ok(RemoteToken::Env(name.clone()));
    }
    let Some(file) = &args.token_file else { return Ok(RemoteToken::SignIn) };
    if args.scope == InstallScope::Project {
        return Err(Failure::Usage {
            message: "--token-file cannot be used with --scope project, because project settings may be committed".into(),
            hint: match args.hosts.iter().all(|host| has_token_env(host)) {
                true => "use --token-env NAME, omit --token-file and sign in from the host, or omit --scope project".into(),
                false => "omit --token-file and sign in from the host, or omit --scope project".into(),
            },
        });
    }
    team_token::from_file(file, options).map(RemoteToken::Text)
}

fn entry_file(
    host: &Host,
    machine: &Machine,
    scope: InstallScope,
    server: &RemoteServer,
    is_preview: bool,
) -> Result<HostConfigFile, Failure> {
    let shown = match &server.token {
        RemoteToken::Text(_) if is_preview => RemoteToken::Text(SHOWN_TOKEN.into()),
        token => token.clone(),
    };
    let server = RemoteServer { token: shown, ..server.clone() };
    remote_file(host, machine, scope, &server).map_err(|why| {
        let (message, hint) = match why {
            NoRemote::NoHttp => (format!("{} does not support HTTP servers in its settings", host.title), host.remote_advice),
            NoRemote::NoScope => (format!("{} does not have project settings", host.title), "omit --scope project"),
            NoRemote::NoTokenEnv => (
                format!("{} cannot read a token from an environment variable", host.title),
                // A token is never written into the settings of a project.
                match scope {
                    InstallScope::Project => {
                        "omit --token-env and sign in from the host, or omit --scope project and use --token-file FILE"
                    }
                    InstallScope::User => "use --token-file FILE, or omit --token-env and sign in from the host",
                },
            ),
        };
        Failure::Usage { message, hint: format!("{hint}; no file was changed") }
    })
}

fn preview(settings: &Settings, machine: &Machine, files: Vec<(&'static Host, HostConfigFile)>) -> Result<CommandOutput, Failure> {
    let programs = Receipts::load(&settings.home.value)?.programs(machine);
    let mut previews = Vec::new();
    for (host, file) in files {
        let edits = install::plan(&[file], &programs)?.into_iter().filter(install::PlannedEdit::is_change);
        previews.extend(edits.map(|edit| Preview {
            host: host.name.to_owned(),
            diff: install::diff(&edit.config.path, edit.before.as_deref(), Some(&edit.after)),
            path: edit.config.path,
        }));
    }
    Ok(CommandOutput::new(previews, show_previews))
}

/// Asks the server, and returns notes with its answer. A token or a project that it refuses is an error; a server that cannot be reached
/// now is a note.
fn check(base: &str, server: &RemoteServer, project: Option<String>) -> Result<(Vec<String>, TeamAccess), Failure> {
    let token = match &server.token {
        RemoteToken::Text(token) => Some(token.clone()),
        RemoteToken::SignIn | RemoteToken::Env(_) => None,
    };
    let first = project.as_ref().map_or_else(|| "ask".to_owned(), |project| format!("check the project name {project:?}, or ask"));
    let refused = |why: &str, hint: &str| {
        let (message, hint) = (format!("the server refuses access: {why}"), format!("{hint}; no file was changed"));
        Err(Failure::Negative { code: "refused", message, hint })
    };
    let access = TeamClient::new(base, token, project).access();
    let notes = match &access {
        TeamAccess::Refused(why) => return refused(why, "ask the server's operator for another token"),
        TeamAccess::Forbidden(why) => return refused(why, &format!("{first} the server's operator for access")),
        TeamAccess::Unreachable(why) => vec![format!("cannot reach the server: {why}; check again later with: memdir doctor")],
        TeamAccess::Untrusted(why) => vec![format!("cannot reach the server: {why}; {TRUST_CERTIFICATES}, then check with: memdir doctor")],
        TeamAccess::Unavailable(why) => vec![format!("{why}; check again later with: memdir doctor")],
        TeamAccess::Unexpected(why) => vec![format!("{why}; check the URL, then check again with: memdir doctor")],
        TeamAccess::Accepted(_) | TeamAccess::NeedsToken { .. } => Vec::new(),
    };
    Ok((notes, access))
}

fn next_step(host: &Host, scope: InstallScope, server: &RemoteServer, access: &TeamAccess) -> String {
    // Hooks belong to the server on this machine.
    let listed = host.next_step(false).replace("memdir", TEAM_SERVER);
    match (&server.token, access) {
        (RemoteToken::SignIn, TeamAccess::Accepted(_)) => listed,
        (RemoteToken::SignIn, TeamAccess::NeedsToken { has_sign_in: false }) => {
            let option = token_option(host, scope == InstallScope::Project);
            format!("The server requires a token and has no sign-in: get a token, then install again with {option}.")
        }
        (RemoteToken::SignIn, _) => host.remote.as_ref().map_or("", |remote| remote.sign_in).to_owned(),
        (RemoteToken::Env(name), _) => format!("Set {name} to your token in {}'s environment. {listed}", host.title),
        (RemoteToken::Text(_), _) => listed,
    }
}

/// The note that others on this machine can read a file with a token.
fn readable_note(server: &RemoteServer, outcome: &FileOutcome) -> Option<String> {
    let mode = fs::metadata(&outcome.path).ok()?.permissions().mode();
    let is_exposed = matches!(server.token, RemoteToken::Text(_)) && mode & 0o077 != 0;
    is_exposed.then(|| {
        let (shown, quoted) = (outcome.path.display(), quote_posix(&outcome.path.display().to_string()));
        format!("other users of this machine may be able to read the token in {shown}; prevent this with: chmod 600 {quoted}")
    })
}
