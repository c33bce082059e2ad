//! Certificates for single tests, and peers that use TLS with them.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;

use plimsoll_engine::OriginOptions;
use plimsoll_engine::origin::Trust;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};

use crate::peer::{Conn, Peer, Stream};

/// The peer's end of a TLS connection.
pub(crate) type Secured = StreamOwned<ServerConnection, TcpStream>;

impl Stream for Secured {
    fn limit(&self) {
        self.sock.limit();
    }
}

/// A certificate issuer, and the folder with its files.
pub(crate) struct Issuer {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: PathBuf,
}

impl Issuer {
    /// `name` separates the files of different tests.
    pub(crate) fn new(name: &str) -> Issuer {
        Issuer::of(name, CertificateParams::default())
    }

    /// An issuer whose own certificate has these names, valid until the end of this year.
    pub(crate) fn named(name: &str, names: &[&str], last_year: i32) -> Issuer {
        let mut params = CertificateParams::new(names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()).unwrap();
        params.not_after = date_time_ymd(last_year, 12, 31);
        Issuer::of(name, params)
    }

    fn of(name: &str, mut params: CertificateParams) -> Issuer {
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = std::env::temp_dir().join(format!("plimsoll-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("ca.pem"), issuer.pem()).unwrap();
        Issuer { issuer, folder }
    }

    /// A certificate for these names and its key.
    fn issue(&self, names: &[&str]) -> (rcgen::Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()).unwrap();
        (params.signed_by(&key, &self.issuer).unwrap(), key)
    }

    /// A server with a certificate for these names.
    pub(crate) fn server(&self, names: &[&str]) -> ServerConfig {
        self.configure(ServerConfig::builder_with_provider(ring::default_provider().into()), names, false)
    }

    /// A server that supports only TLS 1.2.
    pub(crate) fn old_server(&self, names: &[&str]) -> ServerConfig {
        let builder = ServerConfig::builder_with_provider(ring::default_provider().into());
        let builder = builder.with_protocol_versions(&[&rustls::version::TLS12]).unwrap().with_no_client_auth();
        let (certificate, key) = self.issue(names);
        builder.with_single_cert(vec![certificate.der().clone()], der(&key)).unwrap()
    }

    /// A server that requires a client certificate of this issuer.
    pub(crate) fn strict_server(&self, names: &[&str]) -> ServerConfig {
        self.configure(ServerConfig::builder_with_provider(ring::default_provider().into()), names, true)
    }

    fn configure(
        &self,
        builder: rustls::ConfigBuilder<ServerConfig, rustls::WantsVersions>,
        names: &[&str],
        strict: bool,
    ) -> ServerConfig {
        let builder = builder.with_safe_default_protocol_versions().unwrap();
        let builder = if strict {
            let mut roots = RootCertStore::empty();
            roots.add(self.issuer.der().clone()).unwrap();
            let provider = ring::default_provider().into();
            let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider).build().unwrap();
            builder.with_client_cert_verifier(verifier)
        } else {
            builder.with_no_client_auth()
        };
        let (certificate, key) = self.issue(names);
        builder.with_single_cert(vec![certificate.der().clone()], der(&key)).unwrap()
    }

    /// A server that uses the issuer's own certificate.
    pub(crate) fn server_as_itself(&self) -> ServerConfig {
        let builder = ServerConfig::builder_with_provider(ring::default_provider().into());
        let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        builder.with_single_cert(vec![self.issuer.der().clone()], der(self.issuer.key())).unwrap()
    }

    /// Options that trust only this issuer.
    pub(crate) fn trusted(&self) -> OriginOptions {
        OriginOptions { trust: Trust::Bundle(self.folder.join("ca.pem")), ..OriginOptions::default() }
    }

    /// The same with the folder, which contains other files too.
    pub(crate) fn trusted_by_folder(&self) -> OriginOptions {
        std::fs::write(self.folder.join("README"), "no certificate").unwrap();
        OriginOptions { trust: Trust::Bundle(self.folder.clone()), ..OriginOptions::default() }
    }

    /// The same with a client certificate of this issuer, which is also returned.
    pub(crate) fn identified(&self) -> (OriginOptions, CertificateDer<'static>) {
        let (certificate, key) = self.issue(&["client"]);
        let (chain_file, key_file) = (self.folder.join("client.pem"), self.folder.join("client.key"));
        std::fs::write(&chain_file, certificate.pem()).unwrap();
        std::fs::write(&key_file, key.serialize_pem()).unwrap();
        let options = OriginOptions { identity: Some((chain_file, key_file)), ..self.trusted() };
        (options, certificate.der().clone())
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn der(key: &KeyPair) -> PrivateKeyDer<'static> {
    PrivateKeyDer::Pkcs8(key.serialize_der().into())
}

/// Runs `script` for every connection whose handshake succeeds.
pub(crate) fn secured(config: ServerConfig, script: impl Fn(usize, Conn<Secured>) + Send + Sync + 'static) -> Peer {
    secured_on(TcpListener::bind("127.0.0.1:0").unwrap(), config, script)
}

pub(crate) fn secured_on(
    listener: TcpListener,
    config: ServerConfig,
    script: impl Fn(usize, Conn<Secured>) + Send + Sync + 'static,
) -> Peer {
    let config = Arc::new(config);
    Peer::on(listener, move |number, conn| {
        if let Some(conn) = shake_hands(&config, conn) {
            script(number, conn);
        }
    })
}

/// The peer's side of a handshake; None if the client rejects it.
pub(crate) fn shake_hands(config: &Arc<ServerConfig>, conn: Conn) -> Option<Conn<Secured>> {
    let tls = ServerConnection::new(Arc::clone(config)).unwrap();
    let mut conn = conn.over(|socket| StreamOwned::new(tls, socket));
    while conn.stream.conn.is_handshaking() {
        if conn.stream.conn.complete_io(&mut conn.stream.sock).is_err() {
            // The alert is on its way: a reset must not overtake it.
            let _ = conn.stream.sock.shutdown(std::net::Shutdown::Write);
            while conn.stream.sock.read(&mut [0; 1024]).is_ok_and(|length| length > 0) {}
            return None;
        }
    }
    Some(conn)
}

impl Conn<Secured> {
    /// The end of the stream by TLS.
    pub(crate) fn close_notify(&mut self) {
        self.stream.conn.send_close_notify();
        let _ = self.stream.flush();
    }
}
