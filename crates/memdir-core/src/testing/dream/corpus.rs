//! The generated store: clean memories, hard negatives, and the planted faults with the files that have them.

use super::phrases::{ASPECTS, Aspect, ENVIRONMENTS, PEOPLE, SERVICES, SINGLES, SYNONYMS, TOOLS};
use jiff::civil::Date;

/// A generated store.
#[derive(Debug, Clone)]
pub struct DreamCorpus {
    /// The files of the memory with their texts, by path.
    pub files: Vec<(String, String)>,
    /// The files that exist in the project the memories are about.
    pub project: Vec<String>,
    /// The planted faults.
    pub planted: Vec<PlantedFault>,
}

/// A planted fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlantedFault {
    /// Its kind.
    pub kind: PlantedKind,
    /// The files that have it: two for a pair.
    pub files: Vec<String>,
}

/// The kind of a planted fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PlantedKind {
    /// The same text under another name.
    ExactDuplicate,
    /// The same facts in other words.
    NearDuplicate,
    /// Another number, name, path or polarity on one subject.
    Contradiction,
    /// A file of the project that does not exist.
    StaleReference,
    /// A date that depends on the day of writing.
    RelativeDate,
    /// A text that should be several.
    TooLong,
    /// A day's log with facts that no memory has.
    Log,
}

/// A small random generator (SplitMix64), so that the store needs no dependency.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

impl DreamCorpus {
    /// Generates 900 files, 300 of them with a planted fault.
    pub fn generate(seed: u64) -> DreamCorpus {
        Builder::new(seed).build()
    }
}

struct Builder {
    out: DreamCorpus,
    random: Random,
    /// Names of other products, which make every round's facts distinct.
    round: usize,
}

/// The facts of one memory.
#[derive(Clone)]
struct Facts {
    service: String,
    number: usize,
    person: &'static str,
    tool: &'static str,
}

impl Facts {
    fn fill(&self, text: &str) -> String {
        text.replace("{s}", &self.service).replace("{n}", &self.number.to_string()).replace("{p}", self.person).replace("{t}", self.tool)
    }
}

impl Builder {
    fn new(seed: u64) -> Builder {
        let project = SERVICES.iter().flat_map(|service| [format!("src/{service}/main.rs"), format!("docs/{service}.md")]).collect();
        Builder { out: DreamCorpus { files: Vec::new(), project, planted: Vec::new() }, random: Random(seed), round: 0 }
    }

    fn build(mut self) -> DreamCorpus {
        // 160 memories on eight aspects of twenty services are hard negatives of each other: one wording, different facts.
        for round in 0..3 {
            self.clean_round(round, 460);
        }
        self.environments();
        self.products();
        self.singles();
        self.fill_up(600);
        self.exact_duplicates(45);
        self.near_duplicates(60);
        self.contradictions(60);
        self.stale_references(50);
        self.relative_dates(40);
        self.long_texts(15);
        self.logs(30);
        self.out
    }

    fn facts(&mut self, service: &str) -> Facts {
        let number = 1_000 + self.random.below(60_000);
        Facts { service: service.to_owned(), number, person: self.random.pick(PEOPLE), tool: self.random.pick(TOOLS) }
    }

    fn date(&mut self) -> Date {
        Date::constant(2025, 1, 1).checked_add(jiff::Span::new().days(self.random.below(500) as i64)).unwrap_or(Date::ZERO)
    }

    fn add(&mut self, path: String, title: &str, date: Date, body: &str) {
        let kind = ["project", "reference", "feedback"][self.random.below(3)];
        let text = format!("---\nname: {title}\ntype: {kind}\ncreated: {date}\nmodified: {date}\n---\n\n{body}\n");
        self.out.files.push((path, text));
    }

    /// One memory per service and aspect; later rounds are about other products.
    fn clean_round(&mut self, round: usize, most: usize) {
        self.round = round;
        for service in SERVICES {
            for aspect in ASPECTS {
                if self.out.files.len() >= most {
                    return;
                }
                let service = if round == 0 { (*service).to_owned() } else { format!("{service}-{}", GENERATIONS[round % 40]) };
                let service = if round >= 40 { format!("{service}{round}") } else { service };
                let facts = self.facts(&service);
                self.aspect(aspect, &facts);
            }
        }
    }

    fn aspect(&mut self, aspect: &Aspect, facts: &Facts) -> String {
        let path = format!("{}/{}.md", facts.service, aspect.slug);
        let date = self.date();
        let body = aspect.sentences.iter().map(|line| facts.fill(line)).collect::<Vec<_>>().join("\n");
        self.add(path.clone(), &facts.fill(aspect.title), date, &body);
        path
    }

    /// Two environments with two ports, addresses and sizes: nearly one text, and both are true.
    fn environments(&mut self) {
        for service in SERVICES {
            for environment in ENVIRONMENTS {
                let (facts, date) = (self.facts(service), self.date());
                let body = format!(
                    "The {environment} cluster of {service} has {} nodes and answers on port {}.\nIts dashboard is called {service}-{environment}.\nAccess needs the VPN of the office.",
                    3 + self.random.below(20),
                    facts.number
                );
                self.add(format!("clusters/{service}-{environment}.md"), &format!("{service} in {environment}"), date, &body);
            }
        }
    }

    /// Versions of different products.
    fn products(&mut self) {
        for tool in TOOLS {
            let (major, date) = (3 + self.random.below(14), self.date());
            let body = format!("We run {tool} version {major}.\nUpgrades are tried in a copy of the cluster first.");
            self.add(format!("versions/{}.md", tool.to_lowercase()), &format!("Version of {tool}"), date, &body);
        }
    }

    fn singles(&mut self) {
        for (slug, text) in SINGLES {
            let date = self.date();
            self.add(format!("notes/{slug}.md"), &slug.replace('-', " "), date, text);
        }
    }

    /// Meeting notes from one template, with different content.
    fn fill_up(&mut self, count: usize) {
        let mut n = 0;
        while self.out.files.len() < count {
            n += 1;
            let (facts, date) = (self.facts(SERVICES[n % SERVICES.len()]), self.date());
            let other = self.random.pick(PEOPLE);
            let body = format!(
                "# Meeting {n}\n\n## Present\n\n{}, {other}\n\n## Decided\n\nThe {} budget line {} was moved to ticket {}-{n}; {} reports on it.\n\n## Next\n\nNothing open.",
                facts.person,
                facts.service,
                facts.number,
                facts.service.to_uppercase(),
                other
            );
            self.add(format!("meetings/{n:03}.md"), &format!("Meeting {n}"), date, &body);
        }
    }

    /// A memory on an aspect that no clean memory covers, to plant a fault in.
    fn host(&mut self, n: usize, what: &str) -> (Facts, &'static Aspect) {
        let service = format!("{}-{what}{n}", SERVICES[n % SERVICES.len()]);
        (self.facts(&service), &ASPECTS[n % ASPECTS.len()])
    }

    fn plant(&mut self, kind: PlantedKind, files: Vec<String>) {
        self.out.planted.push(PlantedFault { kind, files });
    }

    fn exact_duplicates(&mut self, count: usize) {
        for n in 0..count {
            let at = self.random.below(450);
            let (path, text) = self.out.files[at].clone();
            let copy = format!("copies/{n}-{}", path.replace('/', "-"));
            // Some copies differ in their frontmatter or their white space only.
            let text = if n % 3 == 0 { text.replace("\n\n", "\n\n\n") } else { text };
            self.out.files.push((copy.clone(), text));
            self.plant(PlantedKind::ExactDuplicate, vec![path, copy]);
        }
    }

    fn near_duplicates(&mut self, count: usize) {
        for n in 0..count {
            let at = self.random.below(450);
            let (path, text) = self.out.files[at].clone();
            let (head, body) = text.split_once("---\n\n").map_or(("", text.as_str()), |(head, body)| (head, body));
            let mut lines: Vec<String> = body.trim().lines().map(str::to_owned).collect();
            match n % 3 {
                0 => lines = lines.iter().map(|line| reworded(line)).collect(),
                1 => lines.push("Written down again after the retrospective.".to_owned()),
                _ => {
                    lines = lines.iter().map(|line| format!("- {}", reworded(line))).collect();
                    let last = lines.len() - 1;
                    if last > 1 {
                        lines.swap(1, last);
                    }
                }
            }
            let name = format!("again/{n}-{}", path.replace('/', "-"));
            let date = self.date();
            let kept: String = head
                .lines()
                .filter(|line| !line.starts_with("created") && !line.starts_with("modified"))
                .map(|line| format!("{line}\n"))
                .collect();
            self.out.files.push((name.clone(), format!("{kept}modified: {date}\n---\n\n{}\n", lines.join("\n"))));
            self.plant(PlantedKind::NearDuplicate, vec![path, name]);
        }
    }

    fn contradictions(&mut self, count: usize) {
        for n in 0..count / 2 {
            let (old, aspect) = self.host(n, "v");
            let first = self.aspect(aspect, &old);
            let people: Vec<&str> = PEOPLE.iter().copied().filter(|person| *person != old.person).collect();
            let tools: Vec<&str> = TOOLS.iter().copied().filter(|tool| *tool != old.tool).collect();
            let new = Facts { number: old.number + 7, person: self.random.pick(&people), tool: self.random.pick(&tools), ..old.clone() };
            let date = Date::constant(2026, 8, 1);
            let rest = ["Changed after the summer migration.", "Decided in the review of the quarter.", "Confirmed with the team."][n % 3];
            let path = format!("decisions/{n}-{}.md", new.service);
            let title = if n % 2 == 0 { new.fill(aspect.title) } else { format!("{} update", new.fill(aspect.title)) };
            self.add(path.clone(), &title, date, &format!("{}\n{rest}", new.fill(aspect.contradiction)));
            self.plant(PlantedKind::Contradiction, vec![first, path]);
        }
    }

    fn stale_references(&mut self, count: usize) {
        for n in 0..count {
            let (facts, date) = (self.facts(SERVICES[n % SERVICES.len()]), self.date());
            let gone = format!("src/{}/legacy_{n}.rs", facts.service);
            let body = format!(
                "The retry queue number {n} of {} lives in `{gone}`.\nIt was measured at {} events per second.",
                facts.service, facts.number
            );
            let path = format!("code/{}-{n}.md", facts.service);
            self.add(path.clone(), &format!("Retry queue {n} of {}", facts.service), date, &body);
            self.plant(PlantedKind::StaleReference, vec![path]);
        }
        // What exists is not stale.
        for service in SERVICES.iter().take(10) {
            let date = self.date();
            self.add(
                format!("code/{service}-main.md"),
                &format!("Entry of {service}"),
                date,
                &format!("The {service} program starts in `src/{service}/main.rs`; its page is `docs/{service}.md`."),
            );
        }
    }

    fn relative_dates(&mut self, count: usize) {
        const PHRASES: [&str; 8] =
            ["yesterday", "last week", "3 days ago", "next Tuesday", "last month", "tomorrow", "two weeks ago", "by Friday"];
        for n in 0..count {
            let (facts, date) = (self.facts(SERVICES[n % SERVICES.len()]), self.date());
            let body = format!(
                "The certificate number {n} of {} was discussed {} with {}.\nIt is for host {}-{n}.example.",
                facts.service,
                PHRASES[n % 8],
                facts.person,
                facts.service
            );
            let path = format!("dates/{}-{n}.md", facts.service);
            self.add(path.clone(), &format!("Certificate {n} of {}", facts.service), date, &body);
            self.plant(PlantedKind::RelativeDate, vec![path]);
        }
    }

    fn long_texts(&mut self, count: usize) {
        for n in 0..count {
            let (facts, date) = (self.facts(SERVICES[n % SERVICES.len()]), self.date());
            let mut body = format!("# Handbook {n} of {}\n", facts.service);
            for chapter in ["Build", "Release", "Operation", "History"] {
                body.push_str(&format!("\n## {chapter}\n\n"));
                for line in 0..40 {
                    body.push_str(&format!(
                        "Step {line} of {chapter} in handbook {n}: check item {} and note the result {}.\n",
                        self.random.below(90_000),
                        self.random.below(90_000)
                    ));
                }
            }
            let path = format!("handbooks/{n}.md");
            self.add(path.clone(), &format!("Handbook {n}"), date, body.trim_end());
            self.plant(PlantedKind::TooLong, vec![path]);
        }
    }

    fn logs(&mut self, count: usize) {
        for n in 0..count {
            let date = Date::constant(2026, 7, 1).checked_add(jiff::Span::new().days(n as i64)).unwrap_or(Date::ZERO);
            let facts = self.facts(SERVICES[n % SERVICES.len()]);
            let text = format!(
                "- 09:10 started work on {}\n- 10:25 decided: the {} exporter writes to bucket eu-{} because the old one is full\n- 11:40 ran the tests\n- 16:00 {} prefers weekly summaries number {n} on Mondays\n",
                facts.service, facts.service, facts.number, facts.person
            );
            let path = format!("logs/{}/{}.md", date.strftime("%Y/%m"), date);
            self.out.files.push((path.clone(), text));
            self.plant(PlantedKind::Log, vec![path]);
        }
    }
}

/// Suffixes of other products, so that the rounds of clean memories are about different things.
const GENERATIONS: [&str; 40] = [
    "core", "edge", "mobile", "batch", "admin", "public", "legacy", "next", "lite", "pro", "eu", "us", "apac", "beta", "internal",
    "partner", "desktop", "embedded", "cloud", "onprem", "blue", "green", "red", "amber", "north", "south", "east", "west", "alpha",
    "gamma", "delta", "sigma", "omega", "kappa", "lambda", "zeta", "theta", "iota", "tau", "phi",
];

fn reworded(line: &str) -> String {
    SYNONYMS.iter().fold(line.to_owned(), |line, (old, new)| line.replace(old, new))
}
