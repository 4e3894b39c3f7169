//! `memdir serve`: serves the memories of a team from a database.

use crate::{args::ServeArgs, config::Settings, exit::Failure, output::CommandOutput, serve};

pub(crate) fn run(args: &ServeArgs, settings: &Settings) -> Result<CommandOutput, Failure> {
    super::catch_size_limit_signal();
    serve::run_team(args, settings)?;
    Ok(CommandOutput::new((), |(), _| Ok(())))
}
