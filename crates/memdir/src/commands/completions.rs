//! `memdir completions`: shell completion scripts. Those of bash, zsh and fish ask `memdir complete`, so that they know the memories.

use crate::{
    args::{CompletionsArgs, help},
    output::{CommandOutput, Printer},
};
use clap_complete::{
    Generator, Shell,
    shells::{Elvish, PowerShell},
};
use serde::Serialize;
use std::io;

#[derive(Serialize)]
struct Script {
    shell: String,
    script: String,
}

pub(crate) fn run(args: &CompletionsArgs) -> CommandOutput {
    let script = match args.shell {
        Shell::Bash => BASH.to_owned(),
        Shell::Zsh => ZSH.to_owned(),
        Shell::Fish => FISH.to_owned(),
        Shell::Elvish => generated(Elvish),
        _ => generated(PowerShell),
    };
    CommandOutput::new(Script { shell: args.shell.to_string(), script }, show)
}

/// The script of a shell that cannot ask: it knows commands and options, but no values.
fn generated(shell: impl Generator) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut help::command(), "memdir", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

fn show(script: &Script, printer: &mut Printer<'_>) -> io::Result<()> {
    printer.content(&script.script)
}

/// Works in bash 3.2 too, which has no `compopt`.
const BASH: &str = r#"# bash completion for memdir
_memdir() {
    local cur="${COMP_WORDS[COMP_CWORD]}" line
    local IFS=$'\n'
    COMPREPLY=()
    while IFS=$'\t' read -r line _; do
        if [[ $line == :files ]]; then
            COMPREPLY=($(compgen -f -- "$cur"))
            compopt -o filenames 2>/dev/null
            return
        fi
        [[ $line == */ ]] && compopt -o nospace 2>/dev/null
        printf -v line %q "$line"
        COMPREPLY+=("$line")
    done < <("$1" complete -- "${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null)
}
complete -F _memdir memdir
"#;

const ZSH: &str = r#"#compdef memdir
_memdir() {
    local -a lines names topics described
    local line
    lines=("${(@f)$("${words[1]}" complete -- "${(@Q)words[1,CURRENT]}" 2>/dev/null)}")
    for line in $lines; do
        case $line in
            :files) _files; return ;;
            */) topics+=("$line") ;;
            *$'\t'*) described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
            *) names+=("$line") ;;
        esac
    done
    (( $#described )) && _describe -V command described
    (( $#topics )) && compadd -S '' -a topics
    (( $#names )) && compadd -a names
}
if [[ $funcstack[1] == _memdir ]]; then
    _memdir "$@"
else
    compdef _memdir memdir
fi
"#;

const FISH: &str = r#"# fish completion for memdir
function __memdir_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines (command $words[1] complete -- $words "$current" 2>/dev/null)
    if test "$lines[1]" = :files
        __fish_complete_path "$current"
    else if test (count $lines) -gt 0
        printf '%s\n' $lines
    end
end
complete -c memdir -f -a '(__memdir_complete)'
"#;
