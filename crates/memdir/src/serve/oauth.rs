//! The options of the resource server, from the table `[oauth]`.

use crate::{config::OAuthSetting, exit::Failure};
use memdir_server::{ClaimNames, LoginClient, OAuthOptions};
use std::fs;

/// Reads the options, and the secret of the pages' client from its file.
pub(super) fn options(setting: &OAuthSetting) -> Result<OAuthOptions, Failure> {
    let secret = match &setting.client_secret_file {
        None => None,
        Some(path) => {
            let text = fs::read_to_string(path).map_err(|source| Failure::File { doing: "read", path: path.clone(), source })?;
            Some(text.trim().to_owned())
        }
    };
    Ok(OAuthOptions {
        issuer: setting.issuer.clone(),
        resource: setting.resource.clone(),
        audiences: setting.audiences.clone(),
        read_scope: setting.read_scope.clone(),
        write_scope: setting.write_scope.clone(),
        claims: ClaimNames {
            person: setting.person_claim.clone(),
            groups: setting.groups_claim.clone(),
            projects: setting.projects_claim.clone(),
            tenant: setting.tenant_claim.clone(),
        },
        tenant: setting.tenant.clone(),
        login: setting.client_id.clone().map(|id| LoginClient { id, secret }),
    })
}
