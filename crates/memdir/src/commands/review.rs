//! `memdir review`: lists the proposed changes of a team server, shows what they would change, and decides about them.

use super::{counted, team_token};
use crate::{
    args::{Review as Typed, ReviewState, ReviewWhat},
    exit::Failure,
    output::{CommandOutput, OutputOptions, Printer},
    team_client::{self, ServerProposal, TeamClient, TeamFailure},
};
use serde::Serialize;
use std::io;

#[derive(Serialize)]
struct ReviewList {
    proposals: Vec<ServerProposal>,
}

pub(super) fn run(args: &Typed, options: OutputOptions) -> Result<CommandOutput, Failure> {
    let Some(server) = &args.server else {
        let hint = "pass --server URL, such as https://memory.example.org";
        return Err(Failure::Usage { message: "no server".into(), hint: hint.into() });
    };
    let base = team_client::server_url(server)?;
    let token = team_token::from_file_or_variable(args.token_file.as_deref(), options)?;
    let client = TeamClient::new(&base, token, args.server_project.clone());
    match &args.what {
        ReviewWhat::List { state } => {
            let state = match state {
                ReviewState::All => None,
                ReviewState::Open => Some("open"),
                ReviewState::Accepted => Some("accepted"),
                ReviewState::Rejected => Some("rejected"),
                ReviewState::Withdrawn => Some("withdrawn"),
            };
            let proposals = client.proposals(state).map_err(|failure| failed(&failure, "list the proposals"))?;
            Ok(CommandOutput::new(ReviewList { proposals }, show_list))
        }
        ReviewWhat::Show { id } => {
            let proposal = client.proposal(id).map_err(|failure| failed(&failure, "read the proposal"))?;
            Ok(CommandOutput::new(proposal, show_one))
        }
        ReviewWhat::Accept { id } => decide(&client, id, "accept", None),
        ReviewWhat::Reject { id, reason } => decide(&client, id, "reject", reason.as_deref()),
        ReviewWhat::Withdraw { id } => decide(&client, id, "withdraw", None),
    }
}

fn decide(client: &TeamClient, id: &str, decision: &str, reason: Option<&str>) -> Result<CommandOutput, Failure> {
    let decided = client.decide(id, decision, reason).map_err(|failure| failed(&failure, &format!("{decision} the proposal")))?;
    Ok(CommandOutput::new(decided, |proposal, printer| {
        printer.line(format!("{} {} ({} {})", proposal.state, proposal.id, proposal.verb, what(proposal)))
    }))
}

fn failed(failure: &TeamFailure, doing: &str) -> Failure {
    let (code, hint) = match failure {
        TeamFailure::Unavailable(_) => ("unavailable", "check the URL with: curl URL/readyz"),
        TeamFailure::Conflict | TeamFailure::Refused(_) => ("refused", "list the proposals with: memdir review list --server URL"),
    };
    Failure::Negative { code, message: format!("cannot {doing}: {failure}"), hint: hint.into() }
}

/// The memories of a proposal in a few words.
fn what(proposal: &ServerProposal) -> String {
    match proposal.memories.as_slice() {
        [] => "the entrypoint".to_owned(),
        [one] => one.path.clone(),
        [first, rest @ ..] => format!("{} and {} more", first.path, rest.len()),
    }
}

fn show_list(list: &ReviewList, printer: &mut Printer<'_>) -> io::Result<()> {
    if list.proposals.is_empty() {
        return printer.line("no proposals");
    }
    let head = ["proposal", "when", "author", "state", "what"].map(str::to_owned).to_vec();
    let row = |one: &ServerProposal| {
        let when = one.created_at.get(..16).unwrap_or(&one.created_at).replace('T', " ");
        vec![one.id.clone(), when, one.created_by.name.clone(), one.state.clone(), format!("{} {}", one.verb, what(one))]
    };
    printer.table(&std::iter::once(head).chain(list.proposals.iter().map(row)).collect::<Vec<_>>())?;
    let waiting = list.proposals.iter().filter(|one| one.can_decide).count();
    if waiting > 0 {
        printer.note(format!(
            "{} for your decision; see one with: memdir review show ID",
            counted(waiting as u64, "proposal waits", "proposals wait")
        ));
    }
    Ok(())
}

fn show_one(proposal: &ServerProposal, printer: &mut Printer<'_>) -> io::Result<()> {
    printer.line(format!("proposal {} ({})", proposal.id, proposal.state))?;
    printer.line(format!("author   {}", proposal.created_by.name))?;
    printer.line(format!("date     {}", proposal.created_at))?;
    printer.line(format!("change   {} {}", proposal.verb, what(proposal)))?;
    if let Some(by) = &proposal.decided_by {
        let reason = proposal.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        printer.line(format!("decision {} by {by}{reason}", proposal.state))?;
    }
    for memory in &proposal.memories {
        printer.line("")?;
        if memory.is_outdated == Some(true) {
            printer.line(format!("{} was changed after this was proposed, so it cannot be accepted", memory.path))?;
        }
        match memory.diff.as_deref() {
            None | Some("") => printer.line(format!("{}: the text is no longer stored", memory.path))?,
            Some(diff) => printer.content(diff)?,
        }
    }
    Ok(())
}
