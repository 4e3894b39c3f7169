//! Tripwires: what is parsed, what trips, what can never trip.

use memdir_core::{
    Action, Memory, Problem,
    internal::recall::when::{self, Strength, Tripwire, TripwireKind, When},
};

fn read(frontmatter: &str) -> (When, Vec<Problem>) {
    let text = format!("---\nname: x\n{frontmatter}\n---\nbody\n");
    when::parse_field(&Memory::parse(&text).0)
}

fn wires(when: &When) -> Vec<(TripwireKind, &str, u64)> {
    when.tripwires.iter().map(|wire| (wire.over, wire.pattern.as_str(), wire.line)).collect()
}

#[test]
fn every_form_is_read_with_its_line() {
    let block =
        "when:\n  command:\n    - git push*\n    - \"npm publish\"\n  path: migrations/**\n  words: [deploy, roll back]\n  tools: Bash";
    let (when, problems) = read(block);
    assert_eq!(problems, []);
    let expected = [
        (TripwireKind::Command, "git push*", 5),
        (TripwireKind::Command, "npm publish", 6),
        (TripwireKind::Path, "migrations/**", 7),
        (TripwireKind::Words, "deploy", 8),
        (TripwireKind::Words, "roll back", 8),
        (TripwireKind::Tools, "Bash", 9),
    ];
    assert_eq!(wires(&when), expected);
    assert_eq!(wires(&read("when: deploy").0), [(TripwireKind::Words, "deploy", 3)]);
    assert_eq!(wires(&read("when: [deploy, 2026]").0), [(TripwireKind::Words, "deploy", 3), (TripwireKind::Words, "2026", 3)]);
    assert_eq!(wires(&read("when: {paths: ['*.sql']}").0), [(TripwireKind::Path, "*.sql", 3)]);
    assert_eq!(wires(&read("when:\n- deploy\n- release").0), [(TripwireKind::Words, "deploy", 4), (TripwireKind::Words, "release", 5)]);
    assert_eq!(wires(&read("other: 1").0), []);
}

#[test]
fn an_unknown_key_is_reported_and_the_rest_is_kept() {
    let (when, problems) = read("when:\n  comand: x\n  path: a");
    assert_eq!(wires(&when), [(TripwireKind::Path, "a", 5)]);
    assert_eq!(problems, [Problem::at(4, "when: unknown key \"comand\"; expected command, path, words, tools or strength")]);
}

#[test]
fn the_strength_is_read_and_has_a_default_for_each_kind() {
    let strengths = |frontmatter: &str| {
        let (when, problems) = read(frontmatter);
        let each = when.tripwires.iter().map(|wire| when.strength_of(wire)).collect::<Vec<_>>();
        (each, problems)
    };
    let all = "command: a, path: b, words: c, tools: d";
    assert_eq!(strengths(&format!("when: {{{all}}}")), (vec![Strength::Hold, Strength::Tell, Strength::Tell, Strength::Tell], vec![]));
    for strength in Strength::ALL {
        assert_eq!(strengths(&format!("when: {{{all}, strength: {}}}", strength.name())), (vec![strength; 4], vec![]));
    }
    assert_eq!(strengths("when:\n  Strength: DENY\n  path: a"), (vec![Strength::Deny], vec![]));
    for (value, shown) in [("block", "\"block\""), ("[deny]", "[\"deny\"]"), ("5", "5"), ("''", "\"\"")] {
        let problem = format!("when: unknown strength {shown}; expected tell, hold, ask or deny");
        let (each, problems) = strengths(&format!("when:\n  command: a\n  strength: {value}"));
        assert_eq!((each, problems), (vec![Strength::Hold], vec![Problem::at(5, problem)]), "the default is used for {value}");
    }
}

#[test]
fn a_formatted_field_is_parsed_to_the_same_value() {
    let wire = |over, pattern: &str| Tripwire { over, pattern: pattern.into(), line: 3 };
    let awkward = "a \"quoted\" \\ 'one', {with: [all]} # of it * & ! % @ ` | > - é\u{7}";
    let when = When {
        tripwires: vec![
            wire(TripwireKind::Command, "git push*"),
            wire(TripwireKind::Command, awkward),
            wire(TripwireKind::Path, "migrations/**"),
            wire(TripwireKind::Words, "yes"),
            wire(TripwireKind::Words, "2026"),
            wire(TripwireKind::Tools, "Bash"),
        ],
        strength: Some(Strength::Ask),
    };
    assert_eq!(read(&format!("when: {}", when.to_yaml())), (when, vec![]));
    let small = When { tripwires: vec![wire(TripwireKind::Command, "git push*")], strength: Some(Strength::Hold) };
    assert_eq!(small.to_yaml(), "{command: [\"git push*\"], strength: hold}");
    assert_eq!(read(&format!("when: {}", When::default().to_yaml())), (When::default(), vec![]));
}

fn trips(frontmatter: &str, action: &Action<'_>) -> Option<String> {
    read(frontmatter).0.trips(action).map(|wire| wire.reason())
}

#[test]
fn words_of_scripts_without_spaces_trip_inside_a_run() {
    let message = |text| Action { text: Some(text), ..Action::default() };
    assert!(trips("when: {words: [本番]}", &message("本番へデプロイする")).is_some());
    assert!(trips("when: {words: [デプロイ*]}", &message("本番へデプロイする")).is_some());
    assert!(trips("when: {words: [배포]}", &message("서버를 배포해 주세요")).is_some());
    assert!(trips("when: {words: [部署]}", &message("deploy the branch")).is_none());
    assert!(trips("when: {words: [port]}", &message("import 本番")).is_none(), "other scripts keep whole words");
}

#[test]
fn each_kind_trips_on_its_own() {
    let command = Action { tool: Some("Bash"), command: Some("cd web && npm publish --tag next"), ..Action::default() };
    assert_eq!(trips("when: {command: npm publish}", &command).as_deref(), Some("the command matches \"npm publish\""));
    assert_eq!(trips("when: {command: npm pack}", &command), None);
    let edit = Action { tool: Some("Edit"), paths: vec!["db/migrations/0042_users.sql"], ..Action::default() };
    for pattern in ["migrations/", "migrations/**", "*.sql", "db/**/*.sql", "0042*", "./db/migrations/*"] {
        assert!(trips(&format!("when: {{path: '{pattern}'}}"), &edit).is_some(), "{pattern}");
    }
    for pattern in ["igrations/**", "*.sq", "users.sql", "/migrations/**", "db/*.sql"] {
        assert_eq!(trips(&format!("when: {{path: '{pattern}'}}"), &edit), None, "{pattern}");
    }
    let message = Action { text: Some("Let's Roll-back the deployment"), ..Action::default() };
    assert_eq!(trips("when: roll back", &message).as_deref(), Some("the action mentions \"roll back\""));
    assert_eq!(trips("when: deploy", &message), None);
    assert!(trips("when: deploy*", &message).is_some());
    assert!(trips("when: {tools: 'mcp__*'}", &Action { tool: Some("MCP__github"), ..Action::default() }).is_some());
    assert_eq!(trips("when: {tools: Bash}", &Action::default()), None);
}

#[test]
fn tools_beside_others_narrow_them() {
    let wire = "when: {tools: [Edit, Write], path: '*.sql'}";
    let action = |tool, path| Action { tool: Some(tool), paths: vec![path], ..Action::default() };
    assert!(trips(wire, &action("Edit", "a.sql")).is_some());
    assert_eq!(trips(wire, &action("Read", "a.sql")), None);
    assert_eq!(trips(wire, &action("Edit", "a.rs")), None);
}

#[test]
fn tripwires_that_can_never_fire_are_reported() {
    let (when, _) = read("when:\n  command: ['[', 'git push']\n  path: [gone/**, src/**, ../x, '{a']\n  words: ['--', ok]\n  tools: [a b]");
    let unreachable: Vec<(Option<u64>, String)> = when.unreachable().into_iter().map(|problem| (problem.line, problem.what)).collect();
    let says = |line, pattern: &str, why: &str| (Some(line), format!("the tripwire {pattern:?} can never fire: {why}"));
    let expected = [
        says(4, "[", "it has an unclosed `[`"),
        says(5, "../x", "paths are matched without `..`; write the path without it"),
        says(5, "{a", "it has an unclosed `{`"),
        says(6, "--", "it has no words"),
        says(7, "a b", "a tool name cannot contain a space"),
    ];
    assert_eq!(unreachable, expected);
}
