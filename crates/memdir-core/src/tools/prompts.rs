//! Prompts a person can start: a table of names, arguments and texts.

/// A prompt.
pub struct Prompt {
    /// What it is called by.
    pub name: &'static str,
    /// What people see.
    pub title: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// Its one argument.
    pub argument: &'static str,
    /// What the argument is.
    pub argument_description: &'static str,
    /// Whether it must be given.
    pub required: bool,
    /// The text; `{name}` stands for an argument, `{found}` for what memdir looked up.
    pub text: &'static str,
}

/// The prompts, in the order they are listed.
pub const PROMPTS: &[Prompt] = &[
    Prompt {
        name: "remember",
        title: "Remember this",
        description: "Save something for later conversations",
        argument: "what",
        argument_description: "what to remember",
        required: true,
        text: include_str!("../../texts/prompts/remember.md"),
    },
    Prompt {
        name: "recall",
        title: "What do you remember?",
        description: "Find what is remembered about something",
        argument: "topic",
        argument_description: "what to look for, in words of your own",
        required: true,
        text: include_str!("../../texts/prompts/recall.md"),
    },
    Prompt {
        name: "review-memory",
        title: "Review memories",
        description: "Go through memories and tidy them, change by change",
        argument: "topic",
        argument_description: "only the memories under this topic",
        required: false,
        text: include_str!("../../texts/prompts/review-memory.md"),
    },
];

/// What a model is told about memdir when it connects, exactly as served.
pub const INSTRUCTIONS: &str = include_str!("../../texts/instructions.md");
