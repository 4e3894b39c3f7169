//! TLS to the database, by the rustls that the binary has already. The server's certificate is always verified: by public authorities, or by
//! those of a file.

use memdir_core::{Error, Result};
use std::{
    future::Future,
    io,
    path::Path,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::{
    Socket,
    tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream},
};
use tokio_rustls::{
    TlsConnector, client,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, ServerName, pem::PemObject as _},
    },
};

/// Makes encrypted connections. Used only if the URL requires them.
#[derive(Clone)]
pub(crate) struct DatabaseTls {
    roots: Arc<RootCertStore>,
    config: Arc<OnceLock<Arc<ClientConfig>>>,
}

impl std::fmt::Debug for DatabaseTls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DatabaseTls").field("roots", &self.roots.len()).finish_non_exhaustive()
    }
}

impl DatabaseTls {
    pub(crate) fn new(root_certificates: Option<&Path>) -> Result<Self> {
        let mut roots = RootCertStore::empty();
        match root_certificates {
            None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
            Some(file) => {
                let invalid = |why: String| Error::bad_input("root certificates", format!("{}: {why}", file.display()));
                for certificate in CertificateDer::pem_file_iter(file).map_err(|error| invalid(error.to_string()))? {
                    let certificate = certificate.map_err(|error| invalid(error.to_string()))?;
                    roots.add(certificate).map_err(|error| invalid(error.to_string()))?;
                }
                if roots.is_empty() {
                    return Err(invalid("no PEM certificates found".into()));
                }
            }
        }
        Ok(DatabaseTls { roots: Arc::new(roots), config: Arc::default() })
    }

    fn client_config(&self) -> io::Result<Arc<ClientConfig>> {
        if let Some(config) = self.config.get() {
            return Ok(config.clone());
        }
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().map_err(io::Error::other)?;
        let config = Arc::new(builder.with_root_certificates(self.roots.clone()).with_no_client_auth());
        Ok(self.config.get_or_init(|| config).clone())
    }
}

impl MakeTlsConnect<Socket> for DatabaseTls {
    type Stream = EncryptedStream;
    type TlsConnect = HandshakeJob;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<HandshakeJob> {
        Ok(HandshakeJob { tls: self.clone(), host: host.to_owned() })
    }
}

/// A connection that is about to be encrypted.
pub(crate) struct HandshakeJob {
    tls: DatabaseTls,
    host: String,
}

impl TlsConnect<Socket> for HandshakeJob {
    type Stream = EncryptedStream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<EncryptedStream>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let host = ServerName::try_from(self.host).map_err(io::Error::other)?;
            let stream = TlsConnector::from(self.tls.client_config()?).connect(host, socket).await?;
            Ok(EncryptedStream(Box::new(stream)))
        })
    }
}

/// An encrypted connection.
pub(crate) struct EncryptedStream(Box<client::TlsStream<Socket>>);

impl TlsStream for EncryptedStream {
    fn channel_binding(&self) -> ChannelBinding {
        // The certificate is verified; binding the password to the channel would need another parser of certificates.
        ChannelBinding::none()
    }
}

impl AsyncRead for EncryptedStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for EncryptedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_shutdown(cx)
    }
}
