//! stub
use super::{Dialect, Places, Space};
use crate::error::Result;
pub(super) const DIALECT: Dialect = Dialect { name: "agent-memory", stands_for: "", needs: "", tools: || &[], space };
fn space(places: &Places<'_>) -> Result<Space> { Ok(Space { mounts: vec![], root: places.cwd.to_owned() }) }
