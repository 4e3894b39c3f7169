//! `memdir serve`: serves the memories of a team from a database.

use crate::{args::Serve as Typed, config::Settings, exit::Failure, output::CommandOutput, serve};

pub(crate) fn run(args: &Typed, settings: &Settings) -> Result<CommandOutput, Failure> {
    super::survive_size_limit();
    serve::run_team(args, settings)?;
    Ok(CommandOutput::new((), |(), _| Ok(())))
}
