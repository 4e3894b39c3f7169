//! The table of rules: the published shapes of tokens, one row each. No logic.

use super::{
    SecretSeverity::{self, Refuse, Warn},
    false_positives,
};
use regex::Captures;

/// How far the match of a rule may extend from the line of its literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MatchExtent {
    /// That line.
    Line,
    /// That line and those below it.
    Block,
}

/// What every match has and most lines lack. Keeps the expressions away from ordinary prose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// This many characters without a space, at least one of them a digit.
    Run(usize),
    /// This many characters without a space.
    Long(usize),
    /// This character.
    Byte(u8),
}

/// Reviews a match; returns `None` for a false positive.
type Review = fn(&Captures<'_>, &str) -> Option<SecretSeverity>;

/// One rule.
pub(super) struct SecretRule {
    /// The name in messages and settings.
    pub(super) name: &'static str,
    /// What it finds, as a noun phrase.
    pub(super) what: &'static str,
    /// At least one of these is part of every match; each has at least three bytes.
    pub(super) literals: &'static [&'static str],
    /// The regular expression; its group `v` is the value, else the whole match is.
    pub(super) pattern: &'static str,
    /// The entropy in bits per character below which the value is an example.
    pub(super) entropy: f32,
    /// What a write does about a match.
    pub(super) severity: SecretSeverity,
    /// What a line must have before the expression is run.
    pub(super) needs: Needs,
    /// How far a match may extend.
    pub(super) reach: MatchExtent,
    /// Reviews every match.
    pub(super) review: Option<Review>,
}

const fn token(name: &'static str, what: &'static str, literals: &'static [&'static str], pattern: &'static str) -> SecretRule {
    SecretRule {
        name,
        what,
        literals,
        pattern,
        entropy: 3.0,
        severity: Refuse,
        needs: Needs::Long(20),
        reach: MatchExtent::Line,
        review: None,
    }
}

const fn with_digit(rule: SecretRule) -> SecretRule {
    SecretRule { needs: Needs::Run(20), ..rule }
}

const fn reviewed(rule: SecretRule, severity: SecretSeverity, needs: Needs, entropy: f32, review: Review) -> SecretRule {
    SecretRule { severity, needs, entropy, review: Some(review), ..rule }
}

/// All rules. Of two that match the same range the earlier one is reported.
pub(super) const RULES: [SecretRule; 89] = [
    // Keys themselves.
    SecretRule {
        needs: Needs::Byte(b'-'),
        reach: MatchExtent::Block,
        ..token(
            "private-key",
            "a PEM, OpenSSH or PGP private key",
            &["PRIVATE KEY"],
            r#"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[\s>"'|+,\\]|\\[nr]|(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash):[ -~]*)*[A-Za-z0-9+/]{40}(?:[A-Za-z0-9+/=\s>"'|,\\]*-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|(?:[A-Za-z0-9+/=]|\s+[A-Za-z0-9+/=]{40})*)"#,
        )
    },
    SecretRule {
        needs: Needs::Byte(b':'),
        reach: MatchExtent::Block,
        ..token(
            "putty-key",
            "a PuTTY private key",
            &["Private-Lines: "],
            r"\bPrivate-Lines: [0-9]{1,3}\s+(?P<v>[A-Za-z0-9+/=]{40,}(?:\s+[A-Za-z0-9+/=]{40,})*)",
        )
    },
    // `-----BEGIN … PRIVATE KEY` in base64.
    token(
        "encoded-private-key",
        "a base64-encoded private key, such as `client-key-data` in a kubeconfig",
        &["LS0tLS1CRUdJTi"],
        r"\bLS0tLS1CRUdJTi(?:BSU0EgUFJJVkFURSBLRVkt|BQUklWQVRFIEtFWS0t|BFQyBQUklWQVRFIEtFWS0t|BPUEVOU1NIIFBSSVZBVEUgS0VZ|BFTkNSWVBURUQgUFJJVkFURSBLRVkt)[A-Za-z0-9+/=]{40,}",
    ),
    token("json-web-key", "a private JSON Web Key (JWK)", &["\"kty\""], r#""kty"[ -~]*?"d"\s*:\s*"(?P<v>[A-Za-z0-9_-]{40,})""#),
    token(
        "wallet-key",
        "a private key of a cryptocurrency wallet",
        &["xprv", "rivate", "RIVATE"],
        r#"\bxprv[1-9A-HJ-NP-Za-km-z]{100,}|\b(?i:private[_ -]?key)["'`]?\s*[:=]\s*["'`]?0x[a-fA-F0-9]{64}\b"#,
    ),
    token("age-key", "an age secret key", &["AGE-SECRET-KEY-1"], r"\bAGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}"),
    token("jwt", "a signed JSON Web Token (JWT)", &["eyJ"], r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}"),
    // Clouds.
    token("aws-access-key", "an AWS access key ID", &["AKIA", "ASIA", "ABIA", "ACCA"], r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    reviewed(
        token(
            "aws-secret-key",
            "an AWS secret access key",
            &["ecret", "ECRET"],
            r#"(?i:aws_?secret_?key|secret_?access_?key)["'`]?\s*(?:[:=]|=>)\s*["'`]?(?P<v>[A-Za-z0-9/+]{40})(?:[ -~--[A-Za-z0-9/+=]]|$)"#,
        ),
        Refuse,
        Needs::Run(40),
        4.1,
        false_positives::not_hex,
    ),
    token("aws-bedrock-key", "an Amazon Bedrock API key", &["ABSK"], r"\bABSK[A-Za-z0-9+/]{60,}={0,2}"),
    token("google-api-key", "a Google API key", &["AIza"], r"\bAIza[A-Za-z0-9_-]{35}"),
    token(
        "google-oauth",
        "a Google OAuth secret, access token or refresh token",
        &["GOCSPX-", "ya29.", "1//0"],
        r"\b(?:GOCSPX-[A-Za-z0-9_-]{28}|ya29\.[A-Za-z0-9_-]{40,}|1//0[A-Za-z0-9_-]{40,})",
    ),
    token(
        "azure-storage-key",
        "an Azure Storage or Service Bus key",
        &["AccountKey=", "AccessKey="],
        r"(?:AccountKey|SharedAccessKey)=(?P<v>(?:[A-Za-z0-9+/]{86}==|[A-Za-z0-9+/]{43}=))",
    ),
    token(
        "azure-client-secret",
        "an Azure client secret",
        &["0Q~", "1Q~", "2Q~", "3Q~", "4Q~", "5Q~", "6Q~", "7Q~", "8Q~", "9Q~"],
        r"\b[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}",
    ),
    token(
        "azure-signature",
        "an Azure URL with a shared access signature (SAS)",
        &["sig="],
        r"[?&]sig=(?P<v>[A-Za-z0-9%+/_-]{43,}(?:%3[dD]|=)?)",
    ),
    token("azure-devops-token", "an Azure DevOps token", &["AZDO"], r"\b[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}\b"),
    token(
        "cloud-token",
        "a Netlify, Render, Vercel, Tencent, Yandex, Neon, MongoDB Atlas, Prefect or Sourcegraph token",
        &["nfp_", "rnd_", "vercel_blob_rw_", "AKID", "AQVN", "napi_", "mdb_sa_sk_", "pnu_", "pnb_", "sgp_"],
        r"\b(?:nfp_[A-Za-z0-9]{36,}|rnd_[A-Za-z0-9]{28,}|vercel_blob_rw_[A-Za-z0-9]{12,}_[A-Za-z0-9]{20,}|AKID[A-Za-z0-9]{32}|AQVN[A-Za-z0-9_-]{35,}|napi_[a-z0-9]{60,}|mdb_sa_sk_[A-Za-z0-9_-]{40,}|pn[ub]_[A-Za-z0-9]{36}|sgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40})\b",
    ),
    token("alibaba-key", "an Alibaba Cloud access key ID", &["LTAI"], r"\bLTAI[A-Za-z0-9]{20}\b"),
    token("digitalocean-token", "a DigitalOcean token", &["_v1_"], r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
    token("cloudflare-key", "a Cloudflare origin CA key", &["v1.0-"], r"\bv1\.0-[a-f0-9]{24}-[a-f0-9]{146}\b"),
    token("heroku-key", "a Heroku API key", &["HRKU-"], r"\bHRKU-AA[A-Za-z0-9_-]{58}"),
    token(
        "fly-token",
        "a Fly.io token",
        &["fm1_", "fm1r_", "fm1a_", "fm2_", "fo1_"],
        r"\b(?:fm[12][ar]?_[A-Za-z0-9+/=]{80,}|fo1_[A-Za-z0-9_-]{43})",
    ),
    token(
        "hashicorp-token",
        "a HashiCorp Vault or Terraform token",
        &["hvs.", "hvb.", "hvr.", ".atlasv1."],
        r"\b(?:hv[sbr]\.[A-Za-z0-9_-]{24,}|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,})",
    ),
    token("databricks-token", "a Databricks token", &["dapi"], r"\bdapi[a-f0-9]{32}(?:-[0-9])?\b"),
    token("doppler-token", "a Doppler token", &["dp."], r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]+\.)?[A-Za-z0-9]{40,44}\b"),
    token("pulumi-token", "a Pulumi token", &["pul-"], r"\bpul-[a-f0-9]{40}\b"),
    token("planetscale-token", "a PlanetScale token or password", &["pscale_"], r"\bpscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,}"),
    token(
        "supabase-key",
        "a Supabase token or secret key",
        &["sbp_", "sb_secret_"],
        r"\b(?:sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{22,})\b",
    ),
    token("tailscale-key", "a Tailscale key", &["tskey-"], r"\btskey-[a-z]+-[A-Za-z0-9]{6,}-[A-Za-z0-9]{20,}"),
    token("onepassword-token", "a 1Password service account token", &["ops_eyJ"], r"\bops_eyJ[A-Za-z0-9+/=_-]{150,}"),
    // Code and packages.
    token("github-token", "a GitHub token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"\bgh[pousr]_[A-Za-z0-9]{36,}"),
    token("github-fine-grained-token", "a fine-grained GitHub token", &["github_pat_"], r"\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    token(
        "gitlab-token",
        "a GitLab token",
        &["GR1348941", "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "gloas-", "glft-", "glimt-", "glagent-", "glsoat-"],
        r"\b(?:gl(?:pat|dt|rt|cbt|ptt|oas|ft|imt|agent|soat)-|GR1348941)[A-Za-z0-9_.-]{20,}",
    ),
    token(
        "atlassian-token",
        "an Atlassian or Bitbucket token",
        &["ATATT3", "ATBB", "ATCTT3"],
        r"\b(?:AT(?:ATT|CTT)3[A-Za-z0-9_=-]{60,}|ATBB[A-Za-z0-9]{32})",
    ),
    token("npm-token", "an npm token", &["npm_"], r"\bnpm_[A-Za-z0-9]{36}\b"),
    token("pypi-token", "a PyPI token", &["pypi-AgE"], r"\bpypi-AgE[A-Za-z0-9_-]{50,}"),
    token("rubygems-token", "a RubyGems key", &["rubygems_"], r"\brubygems_[a-f0-9]{48}\b"),
    token("crates-io-token", "a crates.io token", &["cio"], r"\bcio[A-Za-z0-9]{32}\b"),
    token(
        "ci-token",
        "a CircleCI, Buildkite, SonarQube, Octopus or Infracost token",
        &["CCIPAT_", "bkua_", "sqp_", "squ_", "sqa_", "API-", "ico-"],
        r"\b(?:CCIPAT_[A-Za-z0-9]{22}_[a-f0-9]{40}|bkua_[a-f0-9]{40}|sq[pua]_[a-f0-9]{40}|API-[A-Z0-9]{26,32}|ico-[A-Za-z0-9]{32})\b",
    ),
    token(
        "registry-token",
        "a NuGet, Artifactory or Clojars token",
        &["oy2", "AKCp", "cmVmdGtu", "CLOJARS_"],
        r"\b(?:oy2[a-z0-9]{43}|AKCp[A-Za-z0-9]{60,}|cmVmdGtu[A-Za-z0-9]{50,}|CLOJARS_[a-f0-9]{60})\b",
    ),
    token(
        "npmrc-credentials",
        "credentials in an .npmrc file",
        &["_auth"],
        r#"(?:^|[\s/:"'`])_auth(?:Token)?["']?\s*[:=]\s*["']?(?P<v>[A-Za-z0-9+/=_.-]{16,})"#,
    ),
    reviewed(
        token(
            "docker-auth",
            "credentials in a Docker configuration file",
            &["\"auth\""],
            r#""auth"\s*:\s*"(?P<v>[A-Za-z0-9+/]{12,}={0,2})""#,
        ),
        Refuse,
        Needs::Byte(b'"'),
        2.5,
        false_positives::basic_credentials,
    ),
    token("docker-token", "a Docker Hub token", &["dckr_"], r"\bdckr_[op]at_[A-Za-z0-9_-]{27,}"),
    // Models.
    token("anthropic-key", "an Anthropic key", &["sk-ant-"], r"\bsk-ant-[a-z]+[0-9]{2}-[A-Za-z0-9_-]{40,}"),
    token(
        "openai-key",
        "an OpenAI key",
        &["sk-proj-", "sk-svcacct-", "sk-admin-", "T3BlbkFJ"],
        r"\bsk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,}|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20})",
    ),
    token("openrouter-key", "an OpenRouter key", &["sk-or-"], r"\bsk-or-(?:v[0-9]-)?[a-f0-9]{48,}\b"),
    token("model-key", "a model provider key (sk-…)", &["sk-"], r"\bsk-(?:[A-Za-z0-9]{40,}|[a-f0-9]{32})\b"),
    token(
        "model-service-key",
        "an API key for Fireworks, Cerebras, NVIDIA, Voyage, Jina, ElevenLabs, LangSmith, Langfuse, Pinecone, Tavily, \
         Firecrawl, E2B, Apify or Weights & Biases",
        &["fw_", "csk-", "nvapi-", "pa-", "jina_", "sk_", "lsv2_", "sk-lf-", "pcsk_", "tvly-", "fc-", "e2b_", "apify_api_", "wandb_v1_"],
        r"\b(?:fw_[A-Za-z0-9]{22,24}|csk-[a-z0-9]{48}|nvapi-[A-Za-z0-9_-]{60,}|pa-[A-Za-z0-9_-]{43}|jina_[a-f0-9]{32}[A-Za-z0-9_-]{28}|sk_[a-f0-9]{48}|lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}|sk-lf-[a-f0-9]{8}-[a-f0-9-]{27}|pcsk_[A-Za-z0-9]{5,6}_[A-Za-z0-9]{50,}|tvly-(?:dev-|prod-)?[A-Za-z0-9]{28,}|fc-[a-f0-9]{32}|e2b_[a-f0-9]{40}|apify_api_[A-Za-z0-9]{36}|wandb_v1_[A-Za-z0-9_]{40,})\b",
    ),
    token("groq-key", "a Groq key", &["gsk_"], r"\bgsk_[A-Za-z0-9]{52}\b"),
    token("xai-key", "an xAI key", &["xai-"], r"\bxai-[A-Za-z0-9]{80}\b"),
    token("perplexity-key", "a Perplexity key", &["pplx-"], r"\bpplx-[A-Za-z0-9]{48}\b"),
    token("replicate-token", "a Replicate token", &["r8_"], r"\br8_[A-Za-z0-9]{37}\b"),
    token("huggingface-token", "a Hugging Face token", &["hf_", "api_org_"], r"\b(?:hf_|api_org_)[A-Za-z0-9]{34}\b"),
    // Messages.
    token(
        "slack-token",
        "a Slack token",
        &["xox", "xapp-"],
        r"\b(?:xox[abeoprs](?:\.xox[bp])?-[0-9A-Za-z]+-[A-Za-z0-9-]{16,}|xapp-[0-9]+-[A-Z0-9]{6,}-(?:[0-9]+-)?[A-Za-z0-9]{20,})",
    ),
    token(
        "slack-webhook",
        "a Slack webhook",
        &["hooks.slack.com"],
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Z0-9]{8,}/[A-Z0-9]{8,}/[A-Za-z0-9]{20,}",
    ),
    token(
        "discord-webhook",
        "a Discord webhook",
        &["/api/webhooks/"],
        r"discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/[A-Za-z0-9_-]{60,}",
    ),
    token(
        "teams-webhook",
        "a Microsoft Teams webhook",
        &["webhook.office.com"],
        r"webhook\.office\.com/webhookb2/[a-f0-9@-]{70,}/IncomingWebhook/[a-f0-9]{32}/[a-f0-9-]{36}",
    ),
    // The first part is the bot's number in base64, which begins with two digits.
    with_digit(token(
        "discord-token",
        "a Discord bot token",
        &[
            "MTA", "MTE", "MTI", "MTM", "MTQ", "MTU", "MTY", "MTc", "MTg", "MTk", "MjA", "MjE", "MjI", "MjM", "MjQ", "MjU", "MjY", "Mjc",
            "Mjg", "Mjk", "MzA", "MzE", "MzI", "MzM", "MzQ", "MzU", "MzY", "Mzc", "Mzg", "Mzk", "NDA", "NDE", "NDI", "NDM", "NDQ", "NDU",
            "NDY", "NDc", "NDg", "NDk", "NTA", "NTE", "NTI", "NTM", "NTQ", "NTU", "NTY", "NTc", "NTg", "NTk", "NjA", "NjE", "NjI", "NjM",
            "NjQ", "NjU", "NjY", "Njc", "Njg", "Njk", "NzA", "NzE", "NzI", "NzM", "NzQ", "NzU", "NzY", "Nzc", "Nzg", "Nzk", "ODA", "ODE",
            "ODI", "ODM", "ODQ", "ODU", "ODY", "ODc", "ODg", "ODk", "OTA", "OTE", "OTI", "OTM", "OTQ", "OTU", "OTY", "OTc", "OTg", "OTk",
        ],
        r"\b[MNO][DTjz][AEIMQUYcgk][A-Za-z0-9]{20,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}",
    )),
    token(
        "chat-token",
        "a Matrix, Meta, Twitch, DingTalk, Feishu, Lark, WeCom, Mattermost or Rocket.Chat token or webhook",
        &["syt_", "EAA", "oauth:", "dingtalk.com/robot", "/bot/v2/hook/", "/cgi-bin/webhook/send", "/hooks/"],
        r"(?:\b(?:syt_[A-Za-z0-9_=-]{4,}_[A-Za-z0-9]{20}_[A-Za-z0-9]{6}|EAA[A-Za-z0-9]{80,}|oauth:[a-z0-9]{30}|dingtalk\.com/robot/send\?access_token=[a-f0-9]{64}|(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/[a-f0-9-]{36}|qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=[a-f0-9-]{36})|/hooks/(?:[a-z0-9]{26}|[A-Za-z0-9]{17,24}/[A-Za-z0-9]{40,}))\b",
    ),
    token("telegram-token", "a Telegram bot token", &[":AA"], r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"),
    token(
        "twilio-key",
        "a Twilio API key",
        &["SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7", "SK8", "SK9", "SKa", "SKb", "SKc", "SKd", "SKe", "SKf"],
        r"\bSK[a-f0-9]{32}\b",
    ),
    token("sendgrid-key", "a SendGrid key", &["SG."], r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    // Ordinary words begin like its literals; hex always has a digit.
    with_digit(token(
        "mail-key",
        "a Mailgun, Mailchimp, MailerSend, Brevo or Resend key",
        &["key-", "-us", "xkeysib-", "re_", "mlsn."],
        r"\b(?:mlsn\.[a-f0-9]{64}|key-[a-f0-9]{32}|[a-f0-9]{32}-us[0-9]{1,2}|xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}|re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24})\b",
    )),
    // Money.
    token(
        "stripe-key",
        "a Stripe key",
        &["k_live_", "k_test_", "whsec_"],
        r"\b(?:[sr]k_(?:live|test)_[A-Za-z0-9]{20,}|whsec_[A-Za-z0-9+/]{32,})",
    ),
    token(
        "square-token",
        "a Square token",
        &["sq0", "EAAA"],
        r"\b(?:sq0(?:csp-[A-Za-z0-9_-]{43}|atp-[A-Za-z0-9_-]{22})|EAAA[A-Za-z0-9_-]{60}\b)",
    ),
    token(
        "payment-key",
        "a PayPal, Braintree, Plaid, Flutterwave or Paddle key",
        &["access_token$", "access-", "FLWSECK", "pdl_"],
        r"(?:access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}|access-(?:sandbox|development|production)-[a-f0-9]{8}-[a-f0-9-]{27}|FLWSECK(?:_TEST)?-[a-f0-9]{32}-X|pdl_(?:live|sdbx)_apikey_[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3})\b",
    ),
    token("shopify-token", "a Shopify token", &["shpat_", "shpca_", "shppa_", "shpss_"], r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b"),
    // Work.
    token("grafana-token", "a Grafana token", &["glsa_", "glc_"], r"\b(?:glsa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}|glc_[A-Za-z0-9+/=]{32,})"),
    token("newrelic-key", "a New Relic key", &["NRAK-"], r"\bNRAK-[A-Z0-9]{27}\b"),
    token("sentry-token", "a Sentry token", &["sntry"], r"\bsntry(?:u_[a-f0-9]{64}|s_[A-Za-z0-9+/=_-]{40,})"),
    token("dynatrace-token", "a Dynatrace token", &["dt0"], r"\bdt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}\b"),
    token("linear-key", "a Linear key", &["lin_api_", "lin_oauth_"], r"\blin_(?:api|oauth)_[A-Za-z0-9]{40,}"),
    token("notion-token", "a Notion token", &["secret_", "ntn_"], r"\b(?:secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{46})\b"),
    with_digit(token(
        "workspace-token",
        "an Airtable, Figma or Postman token",
        &["pat", "figd_", "PMAK-"],
        r"\b(?:pat[A-Za-z0-9]{14}\.[a-f0-9]{64}|figd_[A-Za-z0-9_-]{40}|PMAK-[a-f0-9]{24}-[a-f0-9]{34})",
    )),
    token(
        "business-token",
        "a HubSpot, Salesforce, Klaviyo, ClickUp, Typeform or Contentful token",
        &["pat-", "00D", "pk_", "tfp_", "CFPAT-"],
        r"\b(?:pat-(?:na|eu|ap)[0-9]-[a-f0-9]{8}-[a-f0-9-]{27}|00D[A-Za-z0-9]{12,15}![A-Za-z0-9._]{60,}|pk_(?:[a-f0-9]{34}|[0-9]{6,}_[A-Z0-9]{32})|tfp_[A-Za-z0-9_-]{40,}|CFPAT-[A-Za-z0-9_-]{43})\b",
    ),
    with_digit(token(
        "telemetry-token",
        "a PostHog, Axiom, LaunchDarkly, Honeycomb, Elastic, Statsig or Logfire token",
        &["phx_", "xaat-", "xapt-", "sdk-", "api-", "hcaik_", "hcbik_", "essu_", "secret-", "pylf_"],
        r"\b(?:phx_[A-Za-z0-9]{40,}|xa[ap]t-[a-f0-9]{8}-[a-f0-9-]{27}|(?:sdk|api)-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}|hc[ab]ik_[A-Za-z0-9]{50,}|essu_[A-Za-z0-9+/=]{40,}|secret-[A-Za-z0-9]{36,}|pylf_v1_[a-z]{2}_[A-Za-z0-9]{40,})\b",
    )),
    token("mapbox-token", "a secret Mapbox token", &["sk.eyJ"], r"\bsk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}"),
    token("memdir-token", "a memdir token", &["mdt_"], r"\bmdt_[a-f0-9]{64}\b"),
    // Anything with a password in it.
    reviewed(
        token(
            "url-password",
            "a URL with a password",
            &["://"],
            r#"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://(?P<user>[!-~--[:/@'"`<>|]]*):(?P<v>[!-~--[@/'"`<>|]]{3,})@(?P<host>[A-Za-z0-9\[][!-~--[/'"`]]*)"#,
        ),
        Refuse,
        Needs::Byte(b'@'),
        1.5,
        false_positives::url_password,
    ),
    reviewed(
        token(
            "dsn-password",
            "a database connection string with a password",
            &["assword=", "ASSWORD=", "wd=", "WD="],
            r#"(?i:server|data source|host|dsn|uid|user id|username)=(?P<user>[ -~--[;"']]+);(?:[ -~--["']]*;)?\s*(?i:password|pwd)=(?P<v>[!-~--[;"']]{4,})"#,
        ),
        Refuse,
        Needs::Byte(b';'),
        1.5,
        false_positives::dsn_password,
    ),
    reviewed(
        token(
            "keyword-password",
            "a keyword/value connection string with a password",
            &["assword="],
            r#"(?P<before>(?:\b[a-z_]+=[!-~--['"`]]+[ \t]+)*)\bpassword=['"]?(?P<v>[!-~--['"`]]{4,})['"]?(?P<after>(?:[ \t]+[a-z_]+=[!-~]+)*)"#,
        ),
        Refuse,
        Needs::Byte(b'='),
        1.5,
        false_positives::keyword_password,
    ),
    reviewed(
        token(
            "query-password",
            "a database URL with a password in its query string",
            &["assword=", "asswd=", "pwd="],
            r#"\b(?i:jdbc:[a-z0-9:+.-]+?|postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|sqlserver|mssql|clickhouse|snowflake)://(?P<host>[A-Za-z0-9.\[\]-]*)[!-~--['"`<>]]*?[?&;](?i:password|passwd|pwd)=(?P<v>[!-~--[&;'"`<>]]{4,})"#,
        ),
        Refuse,
        Needs::Byte(b':'),
        1.5,
        false_positives::url_password,
    ),
    SecretRule {
        reach: MatchExtent::Block,
        ..reviewed(
            token(
                "netrc-password",
                "a password in a .netrc file",
                &["login "],
                r"\blogin[ \t]+(?P<user>[!-~]+)\s+(?:account[ \t]+[!-~]+\s+)?password[ \t]+(?P<v>[!-~]{4,})",
            ),
            Refuse,
            Needs::Byte(b' '),
            1.5,
            false_positives::dsn_password,
        )
    },
    reviewed(
        token(
            "pgpass-password",
            "a password in a .pgpass file",
            &[":5432:"],
            r"\b(?P<host>[A-Za-z0-9.*-]+):5432:[A-Za-z0-9_.*-]+:(?P<user>[A-Za-z0-9_.*-]+):(?P<v>[!-~]{4,})",
        ),
        Refuse,
        Needs::Byte(b':'),
        1.5,
        false_positives::dsn_password,
    ),
    reviewed(
        token(
            "curl-password",
            "a password in a curl command",
            &["curl "],
            r#"\bcurl[ \t](?:[ -~]*?[ \t])?(?:-u[ \t]?|--user[ =])["'`]?(?P<user>[!-~--[:"'`$]]+):(?P<v>[!-~--["'`$<]]{4,})"#,
        ),
        Refuse,
        Needs::Byte(b':'),
        1.5,
        false_positives::dsn_password,
    ),
    reviewed(
        token(
            "command-password",
            "a password in a MySQL, MariaDB or sshpass command",
            &["mysql", "mariadb", "sshpass"],
            r#"\b(?:sshpass[ \t]+-p[ \t]?|(?:mysql|mariadb)[a-z-]*[ \t](?:[ -~]*?[ \t])?-p)["'`]?(?P<v>[!-~--["'`$<]]{6,})"#,
        ),
        Refuse,
        Needs::Byte(b'-'),
        1.5,
        false_positives::dsn_password,
    ),
    // Only suspected.
    SecretRule {
        severity: Warn,
        ..token(
            "kubeconfig-certificate",
            "a client certificate in a kubeconfig, which usually also contains its key",
            &["client-certificate-data"],
            r#"client-certificate-data["']?\s*:\s*["']?(?P<v>LS0tLS1CRUdJTi[A-Za-z0-9+/=]{40,})"#,
        )
    },
    reviewed(
        token(
            "authorization-header",
            "credentials in an HTTP header",
            &["earer ", "asic "],
            r#"(?i:authorization)["'`]?\s*[:=,]\s*["'`]?(?i:bearer|basic)\s+(?P<v>[A-Za-z0-9+/=_.~-]{20,})"#,
        ),
        Warn,
        Needs::Run(20),
        3.3,
        false_positives::assigned,
    ),
    reviewed(
        token(
            "assigned-secret",
            "a long random value assigned to a name such as `secret` or `token`",
            &[
                "assword", "ASSWORD", "asswd", "ASSWD", "PWD", "ecret", "ECRET", "oken", "OKEN", "key", "Key", "KEY", "redential",
                "REDENTIAL",
            ],
            r#"(?i:(?P<pw>passw(?:or)?d|passphrase|pwd)|secret|token|api_?-?key|access_?-?key|auth_?-?key|private_?-?key|secret_?-?key|encryption_?-?key|signing_?-?key|app_?-?key|master_?-?key|credentials?)[A-Za-z0-9_-]{0,20}["'`*]{0,3}\s*(?:=>|:=|[:=])\s*\**["'`]?(?P<v>[!-~--["'`,;)<>|]]{8,})"#,
        ),
        Warn,
        Needs::Run(8),
        2.8,
        false_positives::assigned,
    ),
];
