//! MCP prompts that a user can start: a table of names, arguments and texts.

/// A prompt template that a user can start.
pub struct Prompt {
    /// The name it is started by.
    pub name: &'static str,
    /// The name shown to people.
    pub title: &'static str,
    /// The purpose, in one phrase.
    pub description: &'static str,
    /// The name of its only argument.
    pub argument: &'static str,
    /// The description of the argument.
    pub argument_description: &'static str,
    /// Whether the argument is required.
    pub required: bool,
    /// The text. `{argument}` is replaced with the argument, `{found}` with the search results or the list of memories.
    pub text: &'static str,
}

/// The prompts, in the order they are listed.
pub const PROMPTS: &[Prompt] = &[
    Prompt {
        name: "remember",
        title: "Remember this",
        description: "Save a fact for later conversations",
        argument: "what",
        argument_description: "what to remember",
        required: true,
        text: include_str!("../../texts/prompts/remember.md"),
    },
    Prompt {
        name: "recall",
        title: "What do you remember?",
        description: "Find memories about a topic",
        argument: "topic",
        argument_description: "what to look for, in your own words",
        required: true,
        text: include_str!("../../texts/prompts/recall.md"),
    },
    Prompt {
        name: "review-memory",
        title: "Review memories",
        description: "Review memories and tidy them, one change at a time",
        argument: "topic",
        argument_description: "topic of the memories to include",
        required: false,
        text: include_str!("../../texts/prompts/review-memory.md"),
    },
    Prompt {
        name: "add-cues",
        title: "Add cues",
        description: "Write cues (words that later searches will use) for memories that have none",
        argument: "topic",
        argument_description: "topic of the memories to include",
        required: false,
        text: include_str!("../../texts/prompts/add-cues.md"),
    },
    Prompt {
        name: "dream",
        title: "Tidy memories",
        description: "Propose a plan of operations that tidy memories, for the user to apply",
        argument: "topic",
        argument_description: "topic of the memories to include",
        required: false,
        text: include_str!("../../texts/prompts/dream-mcp.md"),
    },
];
