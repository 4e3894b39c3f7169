//! `memdir review`: lists the proposed changes of a team server, shows what they would change, and accepts, rejects or withdraws them.

use super::{counted, team_token};
use crate::{
    args::{ReviewArgs, ReviewState, ReviewWhat},
    exit::Failure,
    output::{CommandOutput, OutputOptions, Printer},
    team_client::{self, ServerProposal, TRUST_CERTIFICATES, TeamClient, TeamFailure},
};
use memdir_core::internal::base::shell::quote_posix;
use serde::Serialize;
use std::io;

#[derive(Serialize)]
struct ReviewList {
    proposals: Vec<ServerProposal>,
    /// The options for the command that shows one.
    #[serde(skip)]
    options: String,
}

/// The server, as hints refer to it.
struct ReviewServer {
    base: String,
    /// The options with which another command asks it, in all projects.
    options: String,
    has_project: bool,
}

pub(super) fn run(args: &ReviewArgs, options: OutputOptions) -> Result<CommandOutput, Failure> {
    let Some(server) = &args.server else {
        let hint = "pass --server URL, such as https://memory.example.org";
        return Err(Failure::Usage { message: "missing option --server".into(), hint: hint.into() });
    };
    let base = team_client::server_url(server)?;
    let token = team_token::from_file_or_variable(args.token_file.as_deref(), options)?;
    let client = TeamClient::new(&base, token, args.server_project.clone());
    // Without the option, the token comes from the environment.
    let token_file = args.token_file.as_ref().map(|file| format!(" --token-file {}", quote_posix(&file.to_string_lossy())));
    let options = format!("--server {base}{}", token_file.unwrap_or_default());
    let server = ReviewServer { base, options, has_project: args.server_project.is_some() };
    match &args.what {
        ReviewWhat::List { state } => {
            let state = match state {
                ReviewState::All => None,
                ReviewState::Open => Some("open"),
                ReviewState::Accepted => Some("accepted"),
                ReviewState::Rejected => Some("rejected"),
                ReviewState::Withdrawn => Some("withdrawn"),
            };
            let proposals = client.proposals(state).map_err(|failure| failed(&failure, ("list", None), &server))?;
            Ok(CommandOutput::new(ReviewList { proposals, options: server.options }, show_list))
        }
        ReviewWhat::Show { id } => {
            let proposal = client.proposal(id).map_err(|failure| failed(&failure, ("read", Some(id.as_str())), &server))?;
            Ok(CommandOutput::new(proposal, show_one))
        }
        ReviewWhat::Accept { id } => decide(&client, &server, (id, "accept", None)),
        ReviewWhat::Reject { id, reason } => decide(&client, &server, (id, "reject", reason.as_deref())),
        ReviewWhat::Withdraw { id } => decide(&client, &server, (id, "withdraw", None)),
    }
}

fn decide(
    client: &TeamClient,
    server: &ReviewServer,
    (id, decision, reason): (&str, &str, Option<&str>),
) -> Result<CommandOutput, Failure> {
    let decided = client.decide(id, decision, reason).map_err(|failure| failed(&failure, (decision, Some(id)), server))?;
    Ok(CommandOutput::new(decided, |proposal, printer| printer.line(format!("{} {} ({})", proposal.state, proposal.id, proposal.summary))))
}

/// The error of a request that lists the proposals or, with an id, is about one.
fn failed(failure: &TeamFailure, (verb, id): (&str, Option<&str>), server: &ReviewServer) -> Failure {
    let ReviewServer { base, options, has_project } = server;
    let decides = matches!(verb, "accept" | "reject");
    let whose = if decides { "a reviewer's" } else { "your" };
    let (code, hint) = match failure {
        TeamFailure::Untrusted(_) => ("unavailable", TRUST_CERTIFICATES.to_owned()),
        TeamFailure::Unreachable(_) | TeamFailure::Unexpected(_) => ("unavailable", format!("check the URL with: curl {base}/readyz")),
        TeamFailure::Unavailable(_) => ("unavailable", "try again later, or check that the server is running".to_owned()),
        TeamFailure::Forbidden(_) if *has_project => {
            ("refused", format!("check --server-project, or pass {whose} token with --token-file FILE or MEMDIR_TEAM_TOKEN"))
        }
        TeamFailure::Forbidden(_) if !decides => ("refused", "ask the server's operator for access, or pass another token".to_owned()),
        TeamFailure::Denied(_) | TeamFailure::Forbidden(_) => {
            ("refused", format!("pass {whose} token with --token-file FILE, or set MEMDIR_TEAM_TOKEN"))
        }
        TeamFailure::NotFound(_) if id.is_some() => ("refused", format!("list the proposals with: memdir review list {options}")),
        TeamFailure::NotFound(_) | TeamFailure::Refused(_) if id.is_none() => {
            ("refused", if *has_project { "check the URL and --server-project" } else { "check the URL" }.to_owned())
        }
        TeamFailure::Undecidable(_) => {
            ("refused", format!("show the proposal with: memdir review show {} {options}", id.unwrap_or_default()))
        }
        // The reason is about the request itself, such as a text that is too long.
        _ => ("refused", String::new()),
    };
    let what = if id.is_some() { "the proposal" } else { "the proposals" };
    Failure::Negative { code, message: format!("cannot {verb} {what}: {failure}"), hint }
}

fn show_list(list: &ReviewList, printer: &mut Printer<'_>) -> io::Result<()> {
    if list.proposals.is_empty() {
        return printer.line("no proposals");
    }
    let has_projects = list.proposals.iter().any(|one| one.project.is_some());
    let with_project = |mut row: Vec<String>, project: &str| {
        if has_projects {
            row.insert(4, project.to_owned());
        }
        row
    };
    let head = with_project(["proposal", "when", "author", "state", "what"].map(str::to_owned).to_vec(), "project");
    let row = |one: &ServerProposal| {
        let when = one.created_at.get(..16).unwrap_or(&one.created_at).replace('T', " ");
        let row = vec![one.id.clone(), when, one.created_by.name.clone(), one.state.clone(), one.summary.clone()];
        with_project(row, one.project.as_deref().unwrap_or_default())
    };
    printer.table(&std::iter::once(head).chain(list.proposals.iter().map(row)).collect::<Vec<_>>())?;
    let waiting: Vec<&ServerProposal> = list.proposals.iter().filter(|one| one.can_decide).collect();
    if let [first, others @ ..] = waiting.as_slice() {
        let (it, id) = if others.is_empty() { ("it", first.id.as_str()) } else { ("one", "ID") };
        printer.note(format!(
            "{} waiting for your decision; show {it} with: memdir review show {id} {}",
            counted(waiting.len() as u64, "proposal is", "proposals are"),
            list.options
        ));
    }
    Ok(())
}

fn show_one(proposal: &ServerProposal, printer: &mut Printer<'_>) -> io::Result<()> {
    printer.line(format!("proposal {} ({})", proposal.id, proposal.state))?;
    printer.line(format!("author   {}", proposal.created_by.name))?;
    printer.line(format!("date     {}", proposal.created_at))?;
    printer.line(format!("change   {}", proposal.summary))?;
    if let Some(by) = &proposal.decided_by {
        let reason = proposal.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        printer.line(format!("decision {} by {by}{reason}", proposal.state))?;
    }
    for memory in &proposal.memories {
        printer.line("")?;
        let name = memory.path.strip_suffix(".md").unwrap_or(&memory.path);
        if memory.is_outdated == Some(true) {
            printer.line(format!("{name} has changed since the proposal was made; the proposal cannot be accepted"))?;
        }
        if let Some(note) = &memory.note {
            printer.line(format!("{name}: {note}"))?;
        }
        match memory.diff.as_deref() {
            // A server of an earlier release sends no note.
            None | Some("") if memory.note.is_none() => printer.line(format!("{name}: the diff is not available"))?,
            diff => printer.content(diff.unwrap_or_default())?,
        }
    }
    Ok(())
}
