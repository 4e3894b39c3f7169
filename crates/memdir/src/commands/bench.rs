//! `memdir bench`: what a person can measure on their own machine.

use crate::{args::Bench, exit::Failure, output::{Answer, Look}};

pub(crate) fn run(_bench: &Bench, _dir: Option<&std::path::Path>, _look: Look) -> Result<Answer, Failure> {
    Err(Failure::Usage { message: "soon".into(), hint: String::new() })
}
