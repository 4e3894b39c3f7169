//! Embedders: a static model that is compiled in, and HTTP endpoints that a user may configure. Reads no environment variable;
//! opens a socket only in `embed` of an endpoint.
//!
//! ```
//! use memdir_core::internal::search::embed::{EmbedRole, Embedder};
//! let model = memdir_embed::StaticModel::new();
//! let texts = ["How do I deploy the server?", "Releasing the service", "The cat sleeps"];
//! let v = model.embed(EmbedRole::Passage, &texts)?;
//! assert!(v[0].cosine(&v[1]) > v[0].cosine(&v[2]));
//! # Ok::<(), memdir_core::Error>(())
//! ```

mod cache;
mod endpoint;
mod static_model;
mod vocab;
mod words;

pub use endpoint::{ApiKey, Endpoint, EndpointSettings, MAX_DIMENSIONS, Protocol};
pub use static_model::{StaticModel, TextSum};
