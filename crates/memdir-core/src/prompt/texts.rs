//! The texts in `texts/prompts`, and the substitution of their placeholders.

macro_rules! texts {
    ($($name:ident = $file:literal;)*) => {
        $(pub(super) const $name: &str = include_str!(concat!("../../texts/prompts/", $file));)*
    };
}

pub(super) const INSTRUCTIONS: &str = include_str!("../../texts/instructions.md");
pub(super) const INSTRUCTIONS_BRIEF: &str = include_str!("../../texts/instructions-brief.md");

texts! {
    INTRO = "intro.md";
    INTRO_LOG = "intro-log.md";
    INTRO_AGENT = "intro-agent.md";
    INTRO_SPACE = "intro-space.md";
    REACH_DIR = "reach-dir.md";
    REACH_DIRS = "reach-dirs.md";
    REACH_TOOLS = "reach-tools.md";
    REACH_OWN_TOOLS = "reach-own-tools.md";
    SCOPE_PRIVATE = "scope-private.md";
    SCOPE_OWN = "scope-own.md";
    SCOPE_AGENT = "scope-agent.md";
    SCOPE_TEAM = "scope-team.md";
    SCOPE_OTHER = "scope-other.md";
    NOTHING_PRIVATE = "nothing-private.md";
    LOG_PERSON = "log-person.md";
    TYPES = "types.md";
    TYPE_USER = "type-user.md";
    OVERRIDE = "override.md";
    NEVER = "never.md";
    SAVE = "save.md";
    SAVE_TEAM = "save-team.md";
    SAVE_FILE = "save-file.md";
    SAVE_TOOL = "save-tool.md";
    TOOL_INDEX = "tool-index.md";
    EXAMPLE = "example.md";
    CARE = "care.md";
    DISTILLED = "distilled.md";
    LOOK = "look.md";
    TRUST = "trust.md";
    TASKS = "tasks.md";
    PAST = "past.md";
    PAST_MEMORIES = "past-memories.md";
    PAST_TOOL = "past-tool.md";
    EMPTY = "empty.md";
    SHARED = "shared.md";
    BESIDE = "beside.md";
}

/// Replaces the placeholders `{name}` of a text. Values are not scanned for placeholders again.
pub(super) fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let mut rest = text.trim_end();
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let found = after.split_once('}').and_then(|(name, tail)| Some((values.iter().find(|(key, _)| *key == name)?.1, tail)));
        match found {
            Some((value, tail)) => {
                out.push_str(value);
                rest = tail;
            }
            None => {
                out.push('{');
                rest = after;
            }
        }
    }
    out + rest
}
