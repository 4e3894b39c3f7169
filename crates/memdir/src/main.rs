//! The `memdir` command. Parses, runs, prints, exits; decides nothing.

mod adopt;
mod args;
mod commands;
mod config;
#[cfg(test)]
mod distribution;
#[cfg(test)]
mod docs;
mod doctor;
mod exit;
mod hook;
mod hosts;
mod install;
mod known;
mod loads;
mod output;
mod prompt_section;
mod scope;
mod serve;
mod wire;

fn main() -> std::process::ExitCode {
    let (json, args) = args::parse();
    let look = output::Look::of_stdout(json);
    let outcome = args.and_then(|args| commands::run(&args, look)).and_then(|answer| output::print(&answer, look));
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => output::print_failure(&failure, look).into(),
    }
}
