//! Embedders: a static model that is compiled in and always there, and endpoints for those who configure one. Reads no
//! environment; opens a socket only in the endpoints' `embed`.
//!
//! ```
//! use memdir_core::search::embed::{EmbedRole, Embedder};
//! let model = memdir_embed::StaticModel::new();
//! let texts = ["How do I deploy the server?", "Releasing the service", "The cat sleeps"];
//! let v = model.embed(EmbedRole::Passage, &texts)?;
//! assert!(v[0].cosine(&v[1]) > v[0].cosine(&v[2]));
//! # Ok::<(), memdir_core::base::error::Error>(())
//! ```

mod cache;
mod endpoint;
mod static_model;
mod vocab;
mod words;

pub use endpoint::{ApiKey, Endpoint, Protocol, Settings};
pub use static_model::{StaticModel, TextSum};
