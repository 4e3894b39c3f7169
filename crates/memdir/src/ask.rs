//! Questions to the person at a terminal. They are written to standard error, because results go to standard output. Callers check
//! `OutputOptions::can_ask` first.

use std::io::{self, BufRead as _, Write as _};

/// Asks a question that is answered with yes or no. Everything but `y` and `yes`, in any case, is a no.
pub(crate) fn confirm(question: &str) -> io::Result<bool> {
    write!(anstream::stderr(), "{question} [y/N] ")?;
    Ok(matches!(read_answer()?.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Reads one line; it does not end with a line ending if the input is at its end.
pub(crate) fn read_answer() -> io::Result<String> {
    io::stderr().flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line)
}
