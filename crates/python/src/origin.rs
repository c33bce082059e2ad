//! `Origin` and `Headers`: shared by requests.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use plimsoll_engine as engine;
use plimsoll_engine::OriginOptions;
use plimsoll_engine::origin::{Identity, Trust};
use plimsoll_http as http;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::errors::refused;
use crate::forms::Forms;

#[pyclass(frozen, module = "plimsoll._engine")]
pub(crate) struct Origin {
    pub(crate) inner: Arc<engine::Origin>,
}

#[derive(FromPyObject)]
enum Verify {
    Switch(bool),
    Bundle(PathBuf),
}

#[derive(FromPyObject)]
enum Certificate {
    Pair(PathBuf, PathBuf),
    Both(PathBuf),
}

#[pymethods]
impl Origin {
    #[new]
    #[pyo3(signature = (url, *, verify = Verify::Switch(true), cert = None, proxy = None, forwards = None,
                        source = None, http2 = false),
           text_signature = "(url, *, verify=True, cert=None, proxy=None, forwards=None, source=None, http2=False)")]
    fn new(
        url: &str,
        verify: Verify,
        cert: Option<Certificate>,
        proxy: Option<String>,
        forwards: Option<String>,
        source: Option<&str>,
        http2: bool,
    ) -> PyResult<Self> {
        let trust = match verify {
            Verify::Switch(true) => Trust::System,
            Verify::Switch(false) => Trust::Anything,
            Verify::Bundle(path) => Trust::Bundle(path),
        };
        let identity: Option<Identity> = cert.map(|cert| match cert {
            Certificate::Pair(certificate, key) => (certificate, key),
            Certificate::Both(path) => (path.clone(), path),
        });
        let source = source.map(address);
        let options = OriginOptions { trust, identity, proxy, forwards, source: source.transpose()?, http2 };
        Ok(Self { inner: Arc::new(engine::Origin::new(url, &options).map_err(refused)?) })
    }

    #[getter]
    fn scheme(&self) -> &str {
        self.inner.scheme()
    }

    #[getter]
    fn host(&self) -> &str {
        self.inner.host()
    }

    #[getter]
    fn port(&self) -> u16 {
        self.inner.port()
    }

    #[getter]
    fn authority(&self) -> &str {
        self.inner.authority()
    }
}

/// Parses an IPv4 or IPv6 address.
pub(crate) fn address(text: &str) -> PyResult<IpAddr> {
    text.parse().map_err(|_| refused(format!("{text:?} is no IP address")))
}

/// A header name or value. A str is sent as Latin-1 if possible, else as UTF-8, as in `http.client`.
pub(crate) enum Text<'py> {
    Str(Bound<'py, PyString>),
    Bytes(Bound<'py, PyBytes>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Text<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = object.cast::<PyString>() {
            return Ok(Text::Str(text.to_owned()));
        }
        Ok(Text::Bytes(object.cast::<PyBytes>()?.to_owned()))
    }
}

impl Text<'_> {
    pub(crate) fn bytes(&self) -> PyResult<std::borrow::Cow<'_, [u8]>> {
        let text = match self {
            Text::Bytes(bytes) => return Ok(bytes.as_bytes().into()),
            Text::Str(text) => text.to_str()?,
        };
        if text.is_ascii() {
            return Ok(text.as_bytes().into());
        }
        let latin: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
        Ok(latin.unwrap_or_else(|| text.as_bytes().to_vec()).into())
    }
}

#[pyclass(frozen, module = "plimsoll._engine")]
pub(crate) struct Headers {
    pub(crate) inner: http::Headers,
    pub(crate) forms: Forms,
}

#[pymethods]
impl Headers {
    #[new]
    fn new(items: &Bound<'_, PyAny>) -> PyResult<Self> {
        let lines = items.try_iter()?.map(|item| item?.extract()).collect::<PyResult<Vec<(Text<'_>, Text<'_>)>>>()?;
        let bytes =
            lines.iter().map(|(name, value)| Ok((name.bytes()?, value.bytes()?))).collect::<PyResult<Vec<_>>>()?;
        let inner = http::Headers::new(bytes.iter().map(|(name, value)| (&**name, &**value))).map_err(refused)?;
        Ok(Self { inner, forms: Forms::default() })
    }

    fn items(&self) -> Vec<(String, String)> {
        self.inner.lines().map(|(name, value)| (latin(name), latin(value))).collect()
    }
}

/// Header bytes as text.
pub(crate) fn latin(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}
