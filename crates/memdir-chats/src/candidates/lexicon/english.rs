//! English.

use super::{EMPTY, LanguageWords};

pub(super) const ENGLISH: LanguageWords = LanguageWords {
    is_english: true,
    common: &[
        "the", "a", "an", "is", "are", "was", "we", "you", "it", "of", "to", "and", "or", "not", "this", "that", "for", "with", "on", "in",
        "at", "from", "my", "our", "use", "never", "always", "don't", "please", "remember", "i", "be", "by", "as", "no", "only", "when",
        "how", "all", "here", "must", "should", "there", "have", "has", "do", "does", "your", "before", "instead",
    ],
    openers: &[
        "please", "pls", "plz", "also", "and", "ok", "okay", "oh", "so", "btw", "by the way", "one more thing", "important", "note",
        "again", "fyi", "yes", "yep", "sure", "right", "alright", "well", "but", "just", "as i said", "as i told you", "i told you to",
        "i told you", "i already told you to", "i already told you", "i said", "like i said", "keep in line", "for the record", "hint",
        "reminder", "no,", "no.", "no!", "nope", "stop,", "kindly", "actually",
    ],
    greetings: &["hey", "hi", "hello", "dear"],
    polite: &[
        "can you please", "could you please", "would you please", "will you please", "can you", "could you", "would you", "will you",
        "i want you to", "i'd like you to", "i would like you to", "i need you to", "you should", "you must", "you need to", "you have to",
        "make sure to", "make sure you", "be sure to", "try to",
    ],
    requests: &[
        "remember", "don't forget", "do not forget", "never forget", "keep in mind", "bear in mind", "make a note", "take a note",
        "note down", "memorize", "memorise", "save to memory", "save this to memory", "save to your memory", "save this to your memory",
        "add to memory", "add this to memory", "add to your memory", "add this to your memory", "for future reference",
    ],
    from_now_on: &["from now on", "in the future", "in future", "going forward", "from here on", "next time"],
    that: &["that"],
    pointers: &[
        "this", "that", "it", "these", "the following", "for me", "for later", "for next time", "for the future", "for good", "please",
        "one thing", "always", "of this", "of that", "well",
    ],
    unremember: &[
        "remember nothing", "don't remember", "do not remember", "no need to remember", "you don't have to remember",
        "you do not have to remember", "you don't need to remember", "remember not to save", "remember not to store",
        "remember not to keep", "remember not to record", "don't memorize", "do not memorize", "never remember", "please forget",
        "forget this", "forget that i", "forget what i",
    ],
    unsave: &[
        "save nothing", "don't save", "do not save", "store nothing", "don't store", "do not store", "keep nothing", "don't keep",
        "do not keep", "don't record", "do not record", "record nothing", "is private", "off the record", "nothing of", "nothing from",
        "remember nothing", "don't remember anything", "do not remember anything", "not to save", "not to remember", "not to keep",
        "not to store",
    ],
    conversation: &["this conversation", "this chat", "this session", "this discussion", "our conversation", "our chat"],
    habits: &[
        "we use", "we never", "we always", "we only", "we don't", "we do not", "we prefer", "we deploy", "we release", "we ship",
        "we store", "we keep", "we write", "we name", "we pin", "we avoid", "we follow", "we commit", "we test", "we run", "we put",
        "we format", "you must", "you should", "you may", "you can", "you can't", "you cannot", "you mustn't", "you shouldn't",
        "you never", "you always", "i prefer", "i want you to", "i never want", "i always want", "i expect", "i don't want",
        "i do not want",
    ],
    imperatives: &[
        "always", "never", "don't", "do not", "dont", "only", "use", "avoid", "prefer", "keep", "leave", "stick to", "make sure", "ensure",
        "must not", "no more", "no new", "stop using", "stop adding", "stop doing", "treat", "respect", "refrain", "without asking",
        "not to",
    ],
    norms: &[
        "always", "never", "must", "mustn't", "should", "shouldn't", "shall", "may only", "can only", "only on", "only in", "only from",
        "only via", "only by", "only with", "only through", "need", "require", "requires", "have to", "has to", "may not", "not allowed",
        "forbidden", "mandatory", "everywhere", "in this project", "in this repo", "in this repository", "in this codebase",
        "without asking", "prefer", "not supposed", "the same way", "that way",
    ],
    lasting: &["always", "never", "every", "each", "whenever", "any time", "only"],
    contrasts: &["instead of", "instead", "rather than", ", not", "and not", ", never", "and never", "not with"],
    negations: &[
        "not", "never", "no", "without", "cannot", "nothing", "none", "neither", "nor", "dont", "cant", "wont", "shouldnt", "mustnt",
        "isnt",
    ],
    protected: &[
        "generated", "frozen", "belongs to", "belong to", "owned by", "off limits", "off-limits", "read-only", "vendored", "protected",
        "production data", "alone", "on purpose", "myself",
    ],
    trouble: &[
        "error", "errors", "fail", "fails", "failed", "failing", "failure", "broken", "breaks", "broke", "bug", "bugs", "crash", "crashes",
        "crashed", "404", "500", "doesn't work", "does not work", "didn't work", "not working", "time out", "times out", "timeout",
        "hangs", "stuck", "wrong", "blank", "empty", "slow", "slower", "is down", "be down", "was down", "red", "missing", "when i",
        "my machine", "for me", "i get", "i see", "i cannot", "i can't", "nothing happens", "loops", "ends with", "lost", "twice", "weird",
        "strange", "getting anywhere",
    ],
    passing: &[
        "yet", "for now", "right now", "at the moment", "for the moment", "for a moment", "for a while", "today", "tonight", "yesterday",
        "tomorrow", "this morning", "this afternoon", "this evening", "this week", "last week", "last night", "last time", "this time",
        "this task", "this ticket", "this change", "this pull request", "this pr", "this feature", "this one", "this step", "this session",
        "this thread", "this turn", "since last", "since yesterday", "still", "again", "a moment ago", "earlier", "so far", "any more",
        "anymore", "when you are done", "when you're done", "when done", "once you are done", "at the end", "plan mode", "in a minute",
        "later today", "next step", "first step", "and wait", "we looked at", "we talked about", "we discussed", "discussed", "the above",
        "just a plan", "the plan", "a plan", "only an example", "just an example", "step by step", "the ticket", "this conversation",
    ],
    context: &[
        "it", "it's", "its", "that", "that's", "this", "these", "those", "there", "there's", "they", "he", "she", "i", "i'm", "i've",
        "i'd", "i'll", "my", "nothing", "everything", "something", "same", "here is", "here's", "now", "no no", "we are", "we're",
        "we have", "we were", "we had", "you are", "you're", "you changed", "you did", "you have", "you removed", "you broke",
    ],
    saying: &[
        "says", "said", "wrote", "writes", "claims", "according to", "told me", "tells me", "told us", "recommends", "suggests",
        "complains", "asked me", "stands in", "printed on", "typed", "suppose",
    ],
    retractions: &[
        "misclick", "misclicked", "wrong button", "wrong key", "wrong window", "by mistake", "by accident", "accidentally",
        "was a mistake", "was a slip", "run it", "do it", "do that again", "try it again", "once more", "my mistake", "my bad", "oops",
        "carry on", "go ahead",
    ],
    later: &[
        "later", "first", "not yet", "not now", "before that", "wait", "hold on", "hang on", "one moment", "one second", "in a minute",
        "let's", "lets", "actually let's", "by the way", "btw", "after that", "afterwards", "i'll", "i will", "i have to go", "i meant",
        "i wonder", "tomorrow", "show me", "tell me", "give me", "explain",
    ],
    tasks: &[
        "run", "rerun", "fix", "add", "commit", "push", "write", "implement", "review", "check", "explain", "show", "look", "read",
        "update", "refactor", "create", "make", "try", "let's", "lets", "can", "could", "would", "will", "what", "why", "how", "where",
        "when", "who", "which", "is", "are", "do", "does", "did", "remove", "delete", "rename", "move", "test", "build", "deploy",
        "release", "continue", "find", "search", "list", "open", "close", "merge", "rebase", "finish", "start", "install", "upgrade",
        "debug", "investigate", "analyze", "analyse", "summarize", "describe", "tell", "give", "help", "change", "split", "verify",
        "carry", "now", "then", "next", "tidy", "clean", "ship", "undo", "revert", "put", "based on", "think", "take", "ultrathink",
        "stop", "answer",
    ],
    maybe: &[
        "one could", "you could", "we could", "i could", "one might", "you might", "we might", "maybe", "perhaps", "if", "suppose",
        "imagine", "what if", "would it", "i think", "i guess",
    ],
    praise: &[
        "perfect", "great", "thanks", "thank you", "wow", "awesome", "nice", "excellent", "amazing", "brilliant", "lgtm", "looks good",
        "well done", "good job", "cool", "love it",
    ],
    go_ahead: &[
        "continue", "go on", "go ahead", "proceed", "yes", "yep", "ok", "okay", "sure", "carry on", "keep going", "resume", "sorry",
        "oops", "my bad", "try again", "retry", "never mind", "nevermind", "fine", "good", "great", "perfect", "thanks", "thank you",
        "looks good", "lgtm", "one moment", "wait", "hold on",
    ],
    undo: &["undo", "revert", "restore", "back", "rollback", "wrong", "no", "not", "don't", "instead"],
    light: &[
        "the", "a", "an", "please", "and", "so", "to", "of", "in", "we", "is", "are", "be", "that", "this", "it", "here", "also", "just",
        "again", "i", "you", "told", "already", "said", "always", "for", "at", "our", "my", "now", "ok", "really", "keep", "line", "any",
        "ever", "by", "your",
    ],
    ..EMPTY
};
