//! The arguments of the servers, their tokens and their reviews. The administration of the database is in `admin.rs`.

use clap::{Subcommand, ValueEnum};
use memdir_server::ToolFilter;
use std::path::PathBuf;

// The options of both servers whose attributes differ: `memdir mcp` serves HTTP only with --http.
const HOST_HELP: &str = "Additional host names to accept in the Host header, separated by commas";
const ORIGIN_HELP: &str = "Additional origins to accept in the Origin header, such as `https://example.org`, separated by commas";
const LOG_REQUESTS_HELP: &str = "Log every HTTP request to standard error as a line of JSON, without names, texts or tokens";

/// Serve memories over the Model Context Protocol
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The web page, and HTTP on an address that other machines can reach, require authentication: use
--token-file, MEMDIR_TOKEN, `memdir token add` or an identity provider (`[oauth]` in
config.toml). For TLS, put a reverse proxy in front.

Examples:
  memdir mcp
  memdir mcp --read-only --without memory_stats
  memdir mcp --dialect serena
  memdir mcp --http 127.0.0.1:7337
  memdir mcp --http 127.0.0.1:7337 --host memory.example.org --page")]
pub(crate) struct McpArgs {
    /// Serve HTTP on this address instead of standard input and output, with MCP at /mcp and REST under /v1
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) http: Option<std::net::SocketAddr>,
    /// Memory systems whose tools to serve, separated by commas, each with its own directory; see `memdir dialects`
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) dialect: Vec<String>,
    #[command(flatten)]
    pub(crate) served: ServedToolsArgs,
    /// Send short instructions, for hosts whose session hook provides the memory section (set by `memdir install`)
    #[arg(long, conflicts_with = "http")]
    pub(crate) session_hook: bool,
    /// File with the bearer token that HTTP clients must send [default: the token in MEMDIR_TOKEN]
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,
    #[arg(help = HOST_HELP, long, value_name = "NAME", value_delimiter = ',', requires = "http")]
    pub(crate) host: Vec<String>,
    #[arg(help = ORIGIN_HELP, long, value_name = "URL", value_delimiter = ',', requires = "http")]
    pub(crate) origin: Vec<String>,
    /// Also serve the web page at /ui; people sign in with a token or an identity provider
    #[arg(long, requires = "http")]
    pub(crate) page: bool,
    #[arg(help = LOG_REQUESTS_HELP, long, requires = "http")]
    pub(crate) log_requests: bool,
}

/// The tools that a server serves.
#[derive(Debug, clap::Args)]
pub(crate) struct ServedToolsArgs {
    /// Tools to serve, separated by commas [default: all]
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,
    /// Tools to exclude, separated by commas
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    pub(crate) without: Vec<String>,
    /// Serve only read-only tools
    #[arg(long)]
    pub(crate) read_only: bool,
}

impl ServedToolsArgs {
    /// Returns the filter for these tools.
    pub(crate) fn filter(&self) -> ToolFilter {
        ToolFilter { only: self.tools.clone(), without: self.without.clone(), read_only: self.read_only }
    }
}

/// List the memory systems that `memdir mcp --dialect` emulates
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir dialects
  memdir mcp --dialect serena")]
pub(crate) struct DialectsArgs {}

/// Manage bearer tokens for HTTP clients
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir token add ada shop blog
  memdir token add ada shop --agent reviewer
  memdir token list
  memdir token revoke 3f2a91c0")]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    pub(crate) what: TokenWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenWhat {
    /// Create a token and print it; only its hash is stored
    #[command(after_help = "\
Examples:
  memdir token add ada shop blog
  memdir token add ada shop --agent reviewer")]
    Add {
        /// Owner of the token; with --agent, the person whom the agent acts for
        person: String,
        /// Ids of the projects that the token gives access to [default: none, only the person's own memory]
        #[arg(value_name = "PROJECT")]
        projects: Vec<String>,
    },
    /// List tokens
    #[command(after_help = "\
Examples:
  memdir token list")]
    List,
    /// Revoke a token
    #[command(after_help = "\
Examples:
  memdir token revoke 3f2a91c0")]
    Revoke {
        /// Token id, as printed by `memdir token list`
        id: String,
    },
}

/// Serve a team's memories from a PostgreSQL database
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Any number of replicas may serve one database. For TLS, put a reverse proxy in front. People,
groups, projects and tokens are managed with `memdir admin`. The path /readyz reports whether
the database can be reached.

Examples:
  DATABASE_URL=postgres://memdir@db/memdir memdir serve
  memdir serve --database postgres:///memdir --http 0.0.0.0:7337 --host memory.example.org")]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    /// Address to serve HTTP on, with MCP at /mcp, REST under /v1 and the web page at /ui
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7337")]
    pub(crate) http: std::net::SocketAddr,
    /// Memory limit in MiB for open search indexes; the least recently used are closed first
    #[arg(long, value_name = "MIB", default_value_t = 256)]
    pub(crate) index_memory: u64,
    /// Maximum number of database connections for changes; as many again are used for reads, and a quarter as many for token checks
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub(crate) connections: usize,
    #[command(flatten)]
    pub(crate) served: ServedToolsArgs,
    #[arg(help = HOST_HELP, long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) host: Vec<String>,
    #[arg(help = ORIGIN_HELP, long, value_name = "URL", value_delimiter = ',')]
    pub(crate) origin: Vec<String>,
    #[arg(help = LOG_REQUESTS_HELP, long)]
    pub(crate) log_requests: bool,
    /// Seconds to keep serving after SIGTERM, while /readyz returns 503 so that proxies switch to another replica
    #[arg(long, value_name = "SECONDS", default_value_t = 3)]
    pub(crate) leave_after: u64,
}

/// The database of a team server.
#[derive(Debug, clap::Args)]
pub(crate) struct DatabaseArgs {
    /// URL of the PostgreSQL database [env: DATABASE_URL]
    #[arg(long, value_name = "URL", global = true)]
    pub(crate) database: Option<String>,
    /// PEM file with the certificate authorities to trust for `sslmode=require` [default: public authorities]
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) database_ca: Option<PathBuf>,
}

/// Review proposed changes on a team server
#[derive(Debug, clap::Args)]
#[command(after_help = "\
In a project or group under review, changes by writers and agents are proposals. A reviewer or
admin of the group accepts or rejects them. Their author can see and withdraw them. Use a person's
token; a token with --agent cannot accept or reject.

Examples:
  memdir review list --server https://memory.example.org --token-file token
  memdir review show 8z38z4zp --server https://memory.example.org
  memdir review accept 8z38z4zp --server https://memory.example.org
  memdir review reject 8z38z4zp --reason \"already in notes/deploy\" --server https://memory.example.org")]
pub(crate) struct ReviewArgs {
    #[command(subcommand)]
    pub(crate) what: ReviewWhat,
    /// URL of the team server; required
    #[arg(long, value_name = "URL", global = true)]
    pub(crate) server: Option<String>,
    /// File with the team server token (`-` for standard input) [default: the token in MEMDIR_TEAM_TOKEN]
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) token_file: Option<PathBuf>,
    /// Project on the team server [default: all projects that the token gives access to]
    #[arg(long, value_name = "ID", global = true)]
    pub(crate) server_project: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReviewWhat {
    /// List proposals, newest first
    #[command(after_help = "\
Examples:
  memdir review list --server https://memory.example.org
  memdir review list --state rejected --server https://memory.example.org")]
    List {
        /// State of the proposals to list: open, accepted, rejected, withdrawn or all
        #[arg(long, value_name = "STATE", value_enum, default_value_t = ReviewState::Open, hide_possible_values = true)]
        state: ReviewState,
    },
    /// Show a proposal with its diff
    #[command(after_help = "\
Examples:
  memdir review show 8z38z4zp --server https://memory.example.org")]
    Show {
        /// Proposal id
        id: String,
    },
    /// Accept a proposal and apply its change on behalf of the author
    #[command(after_help = "\
Examples:
  memdir review accept 8z38z4zp --server https://memory.example.org")]
    Accept {
        /// Proposal id
        id: String,
    },
    /// Reject a proposal
    #[command(after_help = "\
Examples:
  memdir review reject 8z38z4zp --reason \"already in notes/deploy\" --server https://memory.example.org")]
    Reject {
        /// Proposal id
        id: String,
        /// Reason to show to the author
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Withdraw one of your own proposals
    #[command(after_help = "\
Examples:
  memdir review withdraw 8z38z4zp --server https://memory.example.org")]
    Withdraw {
        /// Proposal id
        id: String,
    },
}

/// Which proposals are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReviewState {
    Open,
    Accepted,
    Rejected,
    Withdrawn,
    All,
}
