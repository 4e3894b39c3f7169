//! The `memdir` command: parses the arguments, runs the command, prints its output, and exits. Decides nothing.

mod adopt;
mod args;
mod ask;
mod candidates;
mod commands;
mod config;
#[cfg(test)]
mod distribution;
#[cfg(test)]
mod docs;
mod doctor;
mod dreams;
mod editor;
mod exit;
mod git;
mod hook;
mod hosts;
mod install;
mod loads;
mod mounts;
mod moved;
mod namespace_indexes;
mod off_switch;
mod output;
mod program_error;
mod project_records;
mod prompt_section;
mod replay;
mod rules;
mod scope;
mod serve;
mod spaces;
mod team_client;

fn main() -> std::process::ExitCode {
    let (json, args) = args::parse();
    let options = output::OutputOptions::for_stdout(json);
    let read = |mut args| args::stdin::read_texts(&mut args).map(|()| args);
    let outcome = args.and_then(read).and_then(|args| commands::run(&args, options)).and_then(|output| output::print(&output, options));
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => output::print_failure(&failure, options).into(),
    }
}
