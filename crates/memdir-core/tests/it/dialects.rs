//! Each dialect: its documented examples with whole outputs, and the defects of the system it stands for, gone.

mod agent_memory;
mod anthropic;
mod koding;
mod openclaw;
mod profclaw;
mod serena;

use memdir_core::dialects::DIALECTS;

#[test]
fn every_schema_stands_alone_and_every_parameter_is_described() {
    for dialect in DIALECTS {
        for tool in (dialect.tools)() {
            let json = tool.json();
            assert!(!json.to_string().contains("$ref"), "{}", tool.name);
            assert!(tool.description.len() < 1_000 && !tool.description.trim().is_empty(), "{}", tool.name);
            assert_eq!(json["annotations"]["openWorldHint"], false, "{}", tool.name);
        }
    }
}
