//! The parts of a command line, and whether one invocation is another way to do the same as the one that failed: the same program,
//! subcommand and operands, with other options. Not one that looks, does less, acts on another target or switches a check off. Pure.

use crate::evidence::main_command;

/// Programs and their subcommands that run another program.
const RUNNERS: &[(&str, &str)] = &[
    ("uv", "run"),
    ("poetry", "run"),
    ("pipenv", "run"),
    ("bundle", "exec"),
    ("pnpm", "exec"),
    ("mise", "exec"),
    ("npx", ""),
    ("bunx", ""),
    ("doppler", "run"),
];

/// Programs of which `run` may be left out before the name of a script.
const SCRIPT_RUNNERS: &[&str] = &["npm", "pnpm", "yarn", "bun"];

/// Words of options and variables that switch a check off, skip a part or hide a result. What only works so is not a lesson.
const SWITCHES_OFF: &[&str] = &[
    "no", "not", "skip", "ignore", "force", "disable", "disabled", "without", "quiet", "silent", "insecure", "unsafe", "bypass", "allow",
    "exclude", "deselect", "nocheck", "noverify", "false", "off", "none", "pass", "trust", "unverified", "break", "continue", "lenient",
    "relaxed", "accept", "omit", "only", "suppress", "override", "husky",
];

/// Options of one letter that do the same, by program.
const SHORT_SWITCHES: &[(&str, &str)] = &[
    ("git", "-n"),
    ("git", "-f"),
    ("curl", "-k"),
    ("gradle", "-x"),
    ("gradlew", "-x"),
    ("npm", "-f"),
    ("pytest", "-k"),
    ("pytest", "-m"),
    ("rsync", "-n"),
    ("make", "-i"),
    ("make", "-k"),
];

/// Words of options that look, list, select a part or change only what is printed.
const LOOKS: &[&str] = &[
    "version", "help", "list", "dry", "check", "verbose", "debug", "trace", "collect", "co", "lf", "ff", "json", "format", "color",
    "status", "show", "print", "explain", "filter", "grep", "select", "v", "vv", "vvv", "V", "s", "sv", "q", "x",
];

/// The parts of an invocation.
pub(super) struct Invocation<'c> {
    /// The program that it runs, without runners.
    pub(super) program: String,
    /// All words, with variables and runners.
    pub(super) words: Vec<&'c str>,
    /// The words before the program: variables and runners.
    before: Vec<&'c str>,
    /// The words after the program.
    args: Vec<&'c str>,
}

impl<'c> Invocation<'c> {
    /// Returns the one command of a line that does more than prepare.
    pub(super) fn parse(line: &'c str) -> Option<Self> {
        let mut main = None;
        for part in line.split(['\n', ';']).flat_map(|part| part.split("&&")) {
            let part = part.split(" | ").next().unwrap_or_default().trim();
            let first = part.split(' ').next().unwrap_or_default();
            if part.is_empty() || matches!(first, "cd" | "export" | "source" | "." | "set" | "echo" | "true" | "pushd" | "popd") {
                continue;
            }
            if main.replace(part).is_some() {
                return None;
            }
        }
        let words: Vec<&str> =
            main?.split_whitespace().filter(|word| *word != "2>&1" && !word.starts_with('>') && !word.starts_with("2>")).collect();
        let mut rest: &[&str] = &words;
        while rest.first().is_some_and(|word| word.contains('=') && !word.starts_with('-')) {
            rest = &rest[1..];
        }
        for (runner, subcommand) in RUNNERS {
            if rest.first() == Some(runner) && (subcommand.is_empty() || rest.get(1) == Some(subcommand)) {
                rest = &rest[if subcommand.is_empty() { 1 } else { 2 }..];
                break;
            }
        }
        let program =
            main_command(&rest.join(" "))?.split(' ').next()?.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').to_owned();
        let before = words[..words.len() - rest.len()].to_vec();
        let skipped = usize::from(!rest.is_empty());
        let mut args = rest[skipped..].to_vec();
        if SCRIPT_RUNNERS.contains(&program.as_str()) && args.first() == Some(&"run") {
            args.remove(0);
        }
        (!program.is_empty() && words.len() <= 40).then_some(Invocation { program, words, before, args })
    }

    /// Returns the operands in order, the subcommand among them. A word after an option is its value, unless it is an operand of the
    /// other invocation.
    fn operands<'i>(&'i self, other: &Invocation<'_>) -> Vec<&'i str> {
        let mut operands = Vec::new();
        for (at, word) in self.args.iter().enumerate() {
            let follows_option =
                at > 0 && self.args[at - 1].starts_with('-') && self.args[at - 1] != "--" && !self.args[at - 1].contains('=');
            let is_value = follows_option && (!other.args.contains(word) || other.args.contains(&self.args[at - 1]));
            if !word.starts_with('-') && !is_value {
                operands.push(*word);
            }
        }
        operands
    }

    /// Returns the options with their values.
    fn options(&self) -> Vec<(&str, Option<&str>)> {
        let options = self.args.iter().enumerate().filter(|(_, word)| word.starts_with('-') && **word != "--");
        let pairs = options.map(|(at, word)| match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (*word, self.args.get(at + 1).filter(|next| !next.starts_with('-')).copied()),
        });
        pairs.collect()
    }
}

/// Returns what changed from the invocation that failed to the one that succeeded, if that is another way to do the same.
pub(super) fn change(bad: &Invocation<'_>, good: &Invocation<'_>, error: &str) -> Option<String> {
    let (removed, added) = (without(&bad.words, &good.words), without(&good.words, &bad.words));
    let count = removed.len() + added.len();
    let is_same = is_same_task(&bad.operands(good), &good.operands(bad), error);
    if count == 0 || count > 8 || !is_same || has_other_value(bad, good) {
        return None;
    }
    // What was demanded and is left out was a check, unless the program did not know it.
    let is_dropped = |word: &&str| !error.contains(word.split('=').next().unwrap_or_default());
    let is_demand = |word: &&&str| word.starts_with('-') && **word != "--" || word.contains('=');
    if removed.iter().filter(is_demand).any(is_dropped) || added.iter().any(|word| is_switch_off(&bad.program, word)) {
        return None;
    }
    // One letter with a value of its own is another option: `pytest -s` only prints, `mvn -s settings.xml` does not.
    let options = good.options();
    let is_added = |value: &Option<&str>| value.is_some_and(|value| added.contains(&value));
    let has_value = |word: &str| word.len() == 2 && options.iter().any(|(name, value)| *name == word && is_added(value));
    let is_look =
        |word: &&str| word.starts_with('-') && !has_value(word) && option_words(word).iter().any(|part| LOOKS.contains(&part.as_str()));
    let added_options: Vec<&str> = added.iter().filter(|word| word.starts_with('-') && **word != "--").copied().collect();
    let has_same_prefix = without(&good.before, &bad.before).is_empty();
    if has_same_prefix && added_options.iter().any(is_look) && removed.is_empty() {
        return None;
    }
    Some(format!("{}\n{}\n{}", bad.program, removed.join(" "), added.join(" ")))
}

/// Whether the operands are the same. A script of another name counts only if the program did not know the first: `test`, `test:unit`.
fn is_same_task(bad: &[&str], good: &[&str], error: &str) -> bool {
    if bad == good {
        return true;
    }
    let error = error.to_lowercase();
    let is_unknown = ["missing script", "unknown", "no such", "not found"].iter().any(|mark| error.contains(mark));
    let is_part = |bad: &str, good: &str| good.strip_prefix(bad).is_some_and(|rest| rest.starts_with(':'));
    is_unknown && matches!((bad, good), ([bad], [good]) if is_part(bad, good))
}

/// Whether an option has another value: another host, context or environment.
fn has_other_value(bad: &Invocation<'_>, good: &Invocation<'_>) -> bool {
    let others = good.options();
    let differs = |(name, value): &(&str, Option<&str>)| {
        let same: Vec<_> = others.iter().filter(|(other, _)| other == name).collect();
        value.is_some() && !same.is_empty() && !same.iter().any(|(_, other)| other == value)
    };
    bad.options().iter().any(differs)
}

/// Whether a word switches a check off: an option or a variable with a word for that, or with a value that does.
fn is_switch_off(program: &str, word: &str) -> bool {
    if word == "sudo" || word == "||" || SHORT_SWITCHES.contains(&(program, word)) {
        return true;
    }
    let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    let is_off = value.is_some_and(|value| matches!(value.to_lowercase().as_str(), "" | "0" | "false" | "off" | "no" | "none" | "never"));
    let names_it =
        (word.starts_with('-') || value.is_some()) && option_words(name).iter().any(|part| SWITCHES_OFF.contains(&part.as_str()));
    is_off || names_it
}

/// Returns the words of an option or a variable: `--passWithNoTests`, `-DskipTests`, `SKIP_HOOKS`.
fn option_words(option: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = '-';
    for c in option.trim_start_matches('-').chars() {
        if !c.is_alphanumeric() {
            words.push(String::new());
        } else {
            if c.is_uppercase() && before.is_lowercase() {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
        before = c;
    }
    // Maven's properties begin with the letter of their option.
    if option.starts_with("-D")
        && let Some(first) = words.first_mut()
    {
        first.remove(0);
    }
    words.retain(|word| !word.is_empty());
    words
}

fn without<'w>(from: &[&'w str], other: &[&str]) -> Vec<&'w str> {
    let mut other: Vec<&str> = other.to_vec();
    let mut left = Vec::new();
    for word in from {
        match other.iter().position(|same| same == word) {
            Some(at) => drop(other.swap_remove(at)),
            None => left.push(*word),
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_another_way_to_do_the_same_counts() {
        let change = |bad: &str, good: &str, error: &str| change(&Invocation::parse(bad)?, &Invocation::parse(good)?, error);
        assert_eq!(change("pytest a.py", "uv run pytest a.py", "").as_deref(), Some("pytest\n\nuv run"));
        assert_eq!(change("cargo test", "cargo test --features testing", "").as_deref(), Some("cargo\n\n--features testing"));
        assert_eq!(change("pnpm lint", "pnpm -w lint", "").as_deref(), Some("pnpm\n\n-w"));
        assert_eq!(change("psql shop", "psql -h localhost -p 5433 shop", "").as_deref(), Some("psql\n\n-h localhost -p 5433"));
        assert_eq!(
            change("cd x && npm test", "npm run test:unit 2>&1 | tail", "Missing script: \"test\"").as_deref(),
            Some("npm\ntest\nrun test:unit")
        );
        assert_eq!(change("mvn package", "mvn -s settings.xml package", "").as_deref(), Some("mvn\n\n-s settings.xml"));
        assert_eq!(change("rspec --colour", "rspec", "invalid option: --colour").as_deref(), Some("rspec\n--colour\n"));
        for (bad, good, why) in [
            ("npm test", "npm run test:unit", "less, if the script is known"),
            ("git push", "git status", "another subcommand"),
            ("python app.py", "python --version", "another script"),
            ("python app.py", "python app.py --help", "it only looks"),
            ("curl http://localhost:8080", "curl -v http://localhost:8080", "it only prints more"),
            ("ssh prod uptime", "ssh staging uptime", "another host"),
            ("kubectl apply -f x --context prod", "kubectl apply -f x --context dev", "another target"),
            ("pytest", "pytest tests/a.py", "less"),
            ("git commit -m x", "git commit --no-verify -m x", "a switch"),
            ("git commit -m x", "git commit -n -m x", "its short form"),
            ("git clone u", "git -c http.sslVerify=false clone u", "a setting"),
            ("npm test", "npm test -- --passWithNoTests", "a switch in one word"),
            ("cargo clippy -- -D warnings", "cargo clippy", "a demand is dropped"),
            ("git commit -m x", "SKIP=lint git commit -m x", "a variable"),
            ("apt install x", "sudo apt install x", "more rights"),
            ("wc -l a/b.rs", "wc -l a.rs", "operands"),
            ("make a && make b", "make c", "two commands"),
        ] {
            assert_eq!(change(bad, good, "error: it failed"), None, "{bad} -> {good}: {why}");
        }
    }
}
