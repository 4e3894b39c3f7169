//! Two tenants, and two people of one tenant, never see each other through any tool, resource or prompt of the team server.

use crate::{
    home::Home,
    isolation::{Caller, THEIRS, everything, in_one_minute},
    team_server::{TENANT, TeamDatabase},
};
use memdir_postgres::MemberRole;
use serde_json::json;

/// Adds a person with a group and a project of their own.
fn caller(team: &TeamDatabase, tenant: &str, person: &str, project: &'static str) -> Caller {
    let database = team.database();
    database.create_tenant(tenant).unwrap();
    database.add_person(tenant, person).unwrap();
    database.add_group(tenant, project).unwrap();
    database.add_project(tenant, project, project).unwrap();
    database.set_member(tenant, project, person, MemberRole::Admin).unwrap();
    let token = database.add_token(tenant, person, Some(&format!("{person}-bot"))).unwrap().1;
    Caller { token, project }
}

#[test]
fn every_tool_resource_and_prompt_is_independent_of_other_people_and_tenants() {
    in_one_minute(compare_people_and_tenants);
}

fn compare_people_and_tenants() {
    let mut printed: Vec<Vec<(String, String)>> = Vec::new();
    // Alone; with another person of the tenant; with a person and a project of the same names in another tenant.
    for others in [vec![], vec![(TENANT, THEIRS, "south")], vec![("globex", "heron", "north"), ("globex", THEIRS, "south")]] {
        let Some(team) = TeamDatabase::new() else { return };
        let home = Home::new();
        home.configure("log = true\n");
        let web = team.replica(&home, &[]);
        let mine = caller(&team, TENANT, "heron", "north");
        for (tenant, person, project) in others {
            let theirs = caller(&team, tenant, person, project);
            theirs.fill_as(&web, person, THEIRS);
            let found = theirs.call(&web, "memory_search", json!({ "query": "harbour master at noon" }));
            assert!(found.contains(THEIRS), "the word is there to be found: {found}");
        }
        mine.fill(&web, "heron");
        printed.push(everything(&home, &web, &mine));
    }
    let (alone, beside) = printed.split_first().unwrap();
    for printed in beside {
        for ((asked, wanted), (_, printed)) in alone.iter().zip(printed) {
            assert!(!printed.contains(THEIRS) && !printed.contains("south"), "{asked}: {printed}");
            assert_eq!(printed, wanted, "{asked}");
        }
    }
}
