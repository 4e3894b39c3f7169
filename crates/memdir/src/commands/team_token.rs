//! The token of a team server on the command line: from a file, typed, or from the environment. It is never printed.

use crate::{args::stdin, config, exit::Failure, output::OutputOptions};
use console::Term;
use memdir_core::internal::base::limits;
use memdir_server::BearerToken;
use std::{fs, io::Write as _, path::Path};

/// Reads the token in a file; `-` is standard input, where a person types it without an echo.
pub(super) fn from_file(file: &Path, options: OutputOptions) -> Result<String, Failure> {
    let text = if !stdin::is_stdin(file) {
        fs::read_to_string(file).map_err(|source| Failure::File { doing: "read", path: file.to_owned(), source })?
    } else if options.can_ask() {
        let failed = |source| Failure::Output { source };
        write!(anstream::stderr(), "Token: ").map_err(failed)?;
        Term::stderr().read_secure_line().map_err(failed)?
    } else {
        String::from_utf8_lossy(&stdin::read(limits::READ_FILE_BYTES)?).into_owned()
    };
    checked(&text, "invalid token")
}

/// Returns a token without the spaces around it. `what` is what is wrong if it cannot be one.
fn checked(text: &str, what: &str) -> Result<String, Failure> {
    // The error of the server is about creating a token.
    BearerToken::parse(text).map_err(|_| Failure::Usage {
        message: format!("{what}: expected at least 16 printable ASCII characters, without spaces"),
        hint: "check that the token is complete, or ask the server's operator for another one".into(),
    })?;
    Ok(text.trim().to_owned())
}

/// Reads the token in a file or, without one, in the environment.
pub(super) fn from_file_or_variable(file: Option<&Path>, options: OutputOptions) -> Result<Option<String>, Failure> {
    match file {
        Some(file) => from_file(file, options).map(Some),
        None => config::team_token_variable()?.map(|token| checked(&token, "invalid token in MEMDIR_TEAM_TOKEN")).transpose(),
    }
}
