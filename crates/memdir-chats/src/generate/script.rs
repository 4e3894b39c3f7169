//! A conversation before it is written in the format of a host: what was typed, answered and called.

/// A small generator of pseudorandom numbers (SplitMix64): the same on every machine and in every version.
pub(super) struct Rng(u64);

impl Rng {
    pub(super) fn new(seed: u64) -> Self {
        Rng(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `n`.
    pub(super) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// Returns one of the items.
    pub(super) fn pick<'t, T: ?Sized>(&mut self, items: &[&'t T]) -> &'t T {
        items[self.below(items.len())]
    }

    /// Shuffles items (Fisher-Yates).
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// A part of a conversation that is planted, or a near miss.
#[derive(Debug, Clone, Default)]
pub(super) struct ScriptEpisode {
    pub(super) steps: Vec<ScriptStep>,
    /// The number of the planted candidate that it is evidence for.
    pub(super) planted: Option<usize>,
    /// Episodes of one group are in different conversations.
    pub(super) group: usize,
    /// Whether it contains a request to remember, or a save.
    pub(super) is_remember: bool,
    /// Whether nothing may follow it.
    pub(super) is_last: bool,
    /// Whether it has a conversation of its own.
    pub(super) is_alone: bool,
}

impl ScriptEpisode {
    pub(super) fn new(steps: Vec<ScriptStep>) -> Self {
        ScriptEpisode { steps, ..ScriptEpisode::default() }
    }
}

/// One step of a conversation.
#[derive(Debug, Clone)]
pub(super) enum ScriptStep {
    /// The person typed this.
    Person(String),
    /// The assistant answered this.
    Assistant(String),
    /// The assistant called a tool.
    Call(ScriptCall, ScriptEnd),
}

/// A tool call.
#[derive(Debug, Clone)]
pub(super) enum ScriptCall {
    Shell(String),
    Edit {
        path: String,
        old: String,
        new: String,
    },
    Read(String),
    /// A memory is saved with memdir's tool.
    SaveMemory(String),
    /// A file is written as a whole.
    Write {
        path: String,
        text: String,
    },
}

/// How a call ended.
#[derive(Debug, Clone)]
pub(super) enum ScriptEnd {
    Ok(String),
    Failed(i64, String),
    /// The person rejected it, with a reason if the host has a field for it.
    Denied(Option<String>),
    /// The person interrupted it.
    Interrupted,
    /// A hook or the host's own policy refused it.
    Refused(String),
}

impl ScriptStep {
    pub(super) fn person(text: impl Into<String>) -> ScriptStep {
        ScriptStep::Person(text.into())
    }

    pub(super) fn assistant(text: impl Into<String>) -> ScriptStep {
        ScriptStep::Assistant(text.into())
    }

    pub(super) fn shell(command: &str, output: &str) -> ScriptStep {
        ScriptStep::Call(ScriptCall::Shell(command.into()), ScriptEnd::Ok(output.into()))
    }

    pub(super) fn fails(command: &str, status: i64, output: &str) -> ScriptStep {
        ScriptStep::Call(ScriptCall::Shell(command.into()), ScriptEnd::Failed(status, output.into()))
    }

    pub(super) fn edit(path: &str, old: &str, new: &str) -> ScriptStep {
        let call = ScriptCall::Edit { path: path.into(), old: old.into(), new: new.into() };
        ScriptStep::Call(call, ScriptEnd::Ok("The file was changed.".into()))
    }
}
