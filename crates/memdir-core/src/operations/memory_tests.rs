//! Runs memory tests: `memory.tests.md` at the root of a mount declares what searches must find, so that a rename, a clean-up or
//! another embedder cannot silently lose a fact. The file is not a memory: it is neither listed nor searched.
//!
//! ```markdown
//! - When do we deploy? → must find notes/deploy (in top 3)
//! - Who is on call? → team/oncall
//! - What is the weather like? → nothing
//! ```

use crate::{
    base::{
        error::{Problem, Result},
        path::MemoryPath,
        text,
    },
    search::{Search, Searcher},
    store::{Store, mounts::TESTS_FILE},
};
use serde::Serialize;

/// The rank that a memory must reach if the test declares none.
const TOP: usize = 5;
/// Hits to fetch per rank, because several may be of one memory.
const LINES_PER_PLACE: usize = 6;

/// One test: a line of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MemoryTest {
    /// The line, 1-based.
    pub line: u64,
    /// The query.
    pub question: String,
    /// The expected result.
    pub expect: Expectation,
}

/// The expected result of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Expectation {
    /// This memory, among the first `top`.
    Find {
        /// Its name, relative to the mount.
        name: String,
        /// The lowest rank that passes.
        top: usize,
    },
    /// No memory.
    Nothing,
}

/// The result of one test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TestOutcome {
    /// The tests file.
    pub file: MemoryPath,
    /// The test.
    #[serde(flatten)]
    pub test: MemoryTest,
    /// Whether it passed.
    pub passed: bool,
    /// The memories found, best first.
    pub found: Vec<String>,
}

/// The results of all tests.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Tested {
    /// Every test, in the order of the files.
    pub outcomes: Vec<TestOutcome>,
    /// Lines with an arrow that are not valid tests.
    pub problems: Vec<Problem>,
}

/// Parses a tests file. Lines without an arrow are prose.
pub(crate) fn parse(text: &str) -> (Vec<MemoryTest>, Vec<Problem>) {
    let (mut tests, mut problems) = (Vec::new(), Vec::new());
    for (line, content) in (1..).zip(text.lines()) {
        let Some((question, answer)) = content.split_once('→').or_else(|| content.split_once("->")) else { continue };
        let question = question.trim().trim_start_matches(['-', '*', '+']).trim().trim_matches(['`', '"', '“', '”']).trim();
        match (question.is_empty(), expect(answer.trim())) {
            (false, Some(expect)) => tests.push(MemoryTest { line, question: question.to_owned(), expect }),
            _ => problems.push(Problem::at(line, "invalid test: expected `question -> name` or `question -> nothing`")),
        }
    }
    (tests, problems)
}

fn expect(answer: &str) -> Option<Expectation> {
    let answer = answer.trim_end_matches('.');
    if answer.eq_ignore_ascii_case("nothing") || answer.eq_ignore_ascii_case("must find nothing") {
        return Some(Expectation::Nothing);
    }
    let answer = answer.strip_prefix("must find ").unwrap_or(answer);
    let (name, rest) = answer.split_once([' ', '(']).unwrap_or((answer, ""));
    let top = rest.split(|c: char| !c.is_ascii_digit()).find_map(|digits| digits.parse().ok());
    let says_top = rest.trim().is_empty() || rest.contains("top");
    let name = name.trim_matches(['`', '[', ']']);
    (says_top && MemoryPath::parse(name).is_ok()).then(|| Expectation::Find { name: name.to_owned(), top: top.unwrap_or(TOP).max(1) })
}

/// Runs the tests of every mount.
pub(crate) fn run_memory_tests(store: &dyn Store, searcher: &Searcher) -> Result<Tested> {
    let mut tested = Tested::default();
    for mount in store.mounts() {
        let file = MemoryPath::parse(TESTS_FILE)?.prefixed(&mount.prefix);
        let Some(stored) = store.get(&file)? else { continue };
        let (tests, problems) = parse(&text::decode(&stored.bytes).0);
        tested.problems.extend(problems.into_iter().map(|problem| Problem { what: format!("{file}: {}", problem.what), ..problem }));
        let searches: Vec<Search> = tests.iter().map(|test| search(test, &mount.prefix)).collect();
        for (test, answer) in tests.into_iter().zip(searcher.batch(store, searches)?) {
            let mut found: Vec<MemoryPath> = Vec::new();
            for hit in answer?.hits {
                if !found.contains(&hit.path) {
                    found.push(hit.path);
                }
            }
            tested.outcomes.push(outcome(&file, test, &mount.prefix, &found)?);
        }
    }
    Ok(tested)
}

fn search(test: &MemoryTest, prefix: &str) -> Search {
    let top = if let Expectation::Find { top, .. } = &test.expect { *top } else { 1 };
    let under = Some(prefix.to_owned()).filter(|prefix| !prefix.is_empty());
    Search { max_results: top * LINES_PER_PLACE, under, ..Search::new(test.question.as_str()) }
}

fn outcome(file: &MemoryPath, test: MemoryTest, prefix: &str, found: &[MemoryPath]) -> Result<TestOutcome> {
    let passed = match &test.expect {
        Expectation::Nothing => found.is_empty(),
        Expectation::Find { name, top } => {
            let wanted = MemoryPath::parse(name)?.prefixed(prefix);
            found.iter().take(*top).any(|path| path.name() == wanted.name())
        }
    };
    Ok(TestOutcome { file: file.clone(), test, passed, found: found.iter().map(|path| path.name().to_owned()).collect() })
}

#[cfg(test)]
mod tests {
    use super::{Expectation, MemoryTest, parse};

    #[test]
    fn every_form_of_a_test_is_read_and_prose_is_not() {
        let text = "# Tests\n\nProse about - things.\n- When do we deploy? → must find notes/deploy (in top 3)\n\
                    * `Who?` -> team/oncall\n\"Weather?\" → nothing.\nx → a b c\n → deploy\nq → `deploy` top 1\n";
        let (tests, problems) = parse(text);
        let find = |line, question: &str, name: &str, top| MemoryTest {
            line,
            question: question.into(),
            expect: Expectation::Find { name: name.into(), top },
        };
        let expected = [
            find(4, "When do we deploy?", "notes/deploy", 3),
            find(5, "Who?", "team/oncall", 5),
            MemoryTest { line: 6, question: "Weather?".into(), expect: Expectation::Nothing },
            find(9, "q", "deploy", 1),
        ];
        assert_eq!(tests, expected);
        assert_eq!(problems.iter().map(|problem| problem.line).collect::<Vec<_>>(), [Some(7), Some(8)]);
    }
}
