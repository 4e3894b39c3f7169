//! The lines of Markdown: where a fenced code block begins and ends, and which lines are headings. This is the only definition in
//! the workspace; everything that reads Markdown line by line uses it.

/// The opening line of a fenced code block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence<'a> {
    /// A backtick or a tilde.
    pub mark: char,
    /// The number of marks, three or more.
    pub length: usize,
    /// The info string after the marks, trimmed: usually the language.
    pub info: &'a str,
}

impl<'a> Fence<'a> {
    /// Parses a line that opens a code block. Any indentation is accepted, because the fences of list items are indented.
    pub fn parse(line: &'a str) -> Option<Self> {
        let text = line.trim_start();
        let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let info = text.trim_start_matches(mark);
        let length = text.len() - info.len();
        // A line such as ```this``` is inline code.
        (length >= 3 && !(mark == '`' && info.contains('`'))).then(|| Fence { mark, length, info: info.trim() })
    }

    /// Whether `line` closes the block: the same marks, at least as many of them, and nothing else.
    pub fn is_closed_by(&self, line: &str) -> bool {
        let text = line.trim();
        text.len() >= self.length && text.chars().all(|c| c == self.mark)
    }
}

/// The kind of a line with respect to fenced code blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind<'a> {
    /// Outside of code blocks.
    Text,
    /// Opens a code block.
    Open(Fence<'a>),
    /// Inside a code block.
    Code,
    /// Closes a code block.
    Close,
}

/// Follows the fenced code blocks of a text, line by line.
#[derive(Debug, Clone, Default)]
pub struct FenceScanner {
    open: Option<(char, usize)>,
}

impl FenceScanner {
    /// Classifies the next line of the text.
    pub fn classify<'a>(&mut self, line: &'a str) -> LineKind<'a> {
        match self.open {
            Some((mark, length)) if (Fence { mark, length, info: "" }).is_closed_by(line) => {
                self.open = None;
                LineKind::Close
            }
            Some(_) => LineKind::Code,
            None => match Fence::parse(line) {
                Some(fence) => {
                    self.open = Some((fence.mark, fence.length));
                    LineKind::Open(fence)
                }
                None => LineKind::Text,
            },
        }
    }

    /// Classifies the next line and returns whether it belongs to a code block, its fences included.
    pub fn is_code(&mut self, line: &str) -> bool {
        self.classify(line) != LineKind::Text
    }

    /// The line that would close the block that is open now, or `None` outside of code blocks.
    pub fn closing_line(&self) -> Option<String> {
        self.open.map(|(mark, length)| String::from(mark).repeat(length))
    }
}

/// A heading of the form `## Text`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtxHeading<'a> {
    /// 1 to 6.
    pub level: u8,
    /// Its text without the marks before and after it.
    pub text: &'a str,
}

/// Parses a line as a heading of the form `## Text`, indented by at most three columns. The line must not be code.
pub fn heading(line: &str) -> Option<AtxHeading<'_>> {
    let text = line.trim_start();
    let level = text.bytes().take_while(|b| *b == b'#').count();
    let rest = &text[level..];
    let fits = (1..=6).contains(&level) && indent(line) <= 3 && (rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']));
    fits.then(|| AtxHeading { level: level as u8, text: rest.trim().trim_end_matches('#').trim_end() })
}

/// The level of the heading that a line of `=` or `-` makes of the one-line paragraph above it.
pub fn underline_level(line: &str) -> Option<u8> {
    let text = line.trim();
    let all = |c: char| text.len() >= 2 && text.chars().all(|x| x == c);
    if all('=') {
        Some(1)
    } else if all('-') && text.len() >= 3 {
        Some(2)
    } else {
        None
    }
}

/// The columns by which a line is indented; a tab counts as four.
pub(crate) fn indent(line: &str) -> usize {
    line.chars()
        .map_while(|c| match c {
            ' ' => Some(1),
            '\t' => Some(4),
            _ => None,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Vec<&str> {
        let mut fences = FenceScanner::default();
        text.lines().filter(|line| fences.is_code(line)).collect()
    }

    #[test]
    fn a_block_ends_at_a_fence_of_its_own_kind_and_length() {
        assert_eq!(code("a\n````md\n```\n# b\n```\n````\nc"), ["````md", "```", "# b", "```", "````"]);
        assert_eq!(code("~~~\n```\n~~~~\nc"), ["~~~", "```", "~~~~"]);
        assert_eq!(code("```\n``` sh\n```  \nc"), ["```", "``` sh", "```  "]);
        assert_eq!(code("- a\n    ```\n    b\n    ```\nc"), ["    ```", "    b", "    ```"]);
        assert_eq!(code("```inline``` code\nnot code"), [""; 0]);
        assert_eq!(code("```\nnever closed"), ["```", "never closed"]);
    }

    #[test]
    fn the_open_block_can_be_closed() {
        let mut fences = FenceScanner::default();
        assert_eq!(fences.closing_line(), None);
        assert_eq!(fences.classify("~~~~ rust"), LineKind::Open(Fence { mark: '~', length: 4, info: "rust" }));
        assert_eq!(fences.closing_line().as_deref(), Some("~~~~"));
        assert_eq!((fences.classify("~~~"), fences.classify("~~~~")), (LineKind::Code, LineKind::Close));
        assert_eq!(fences.closing_line(), None);
    }

    #[test]
    fn a_heading_has_one_to_six_marks_and_a_blank() {
        let parsed = |line| heading(line).map(|heading| (heading.level, heading.text));
        assert_eq!(parsed("## A b ##"), Some((2, "A b")));
        assert_eq!(parsed("   #\tA"), Some((1, "A")));
        assert_eq!(parsed("#\n"), Some((1, "")));
        for line in ["#A", "####### A", "    # A", "\t# A", "A # b", ""] {
            assert_eq!(parsed(line), None, "{line:?}");
        }
        assert_eq!(["==", "---", "--", "=-", ""].map(underline_level), [Some(1), Some(2), None, None, None]);
    }
}
