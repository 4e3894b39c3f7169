//! Schemathesis sends requests to every route that the served description promises, valid and invalid ones, and checks the responses
//! against it. `scripts/test-clients-setup` installs it.

use crate::{home::Home, mcp_callers::token, mcp_clients::installed, team_server::TeamDatabase, web::Web};
use memdir_postgres::MemberRole;
use std::{path::Path, process::Command};

#[test]
fn the_api_matches_its_description() {
    let home = Home::new();
    let (ada, _) = token(&home, &["ada", "shop"]);
    let web = Web::start(&home, &[]);
    check(&home, &web, &ada);
}

#[test]
fn the_api_of_a_team_server_matches_its_description() {
    let Some(team) = TeamDatabase::new() else { return };
    let home = Home::new();
    let ada = team.token("ada", MemberRole::Writer);
    let web = team.replica(&home, &[]);
    check(&home, &web, &ada);
    team.check_sequences();
}

fn check(home: &Home, web: &Web, token: &str) {
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients/schemathesis.toml");
    let mut command = Command::new(installed().join("python/bin/schemathesis"));
    command.arg("--config-file").arg(config).arg("run").arg(format!("http://{}/v1/openapi.json", web.address));
    command.args(["--header", &format!("Authorization: Bearer {token}"), "--checks", "all", "--no-color"]).current_dir(home.path(""));
    let output = command.output().unwrap();
    let (printed, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{printed}\n{errors}");
    for line in ["Tested: 16", "✅ Coverage", "✅ Fuzzing", "✅ Stateful"] {
        assert!(printed.contains(line), "{line}\n{printed}");
    }
}
