//! Certificates for tests.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, SanType, date_time_ymd};
use volary_remote::transport::CertificateSource;

/// Signs certificates.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

#[derive(Clone, Copy)]
pub enum Valid {
    Now,
    Once,
    Someday,
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Authority(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// Certificate and key.
    pub fn sign(&self, host: &str, valid: Valid) -> (String, String) {
        self.sign_with(CertificateParams::new(vec![host.to_owned()]).unwrap(), valid)
    }

    fn sign_with(&self, mut params: CertificateParams, valid: Valid) -> (String, String) {
        let (from, to) = match valid {
            Valid::Now => (2020, 4000),
            Valid::Once => (2000, 2001),
            Valid::Someday => (3000, 4000),
        };
        (params.not_before, params.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(to, 1, 1));
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    /// A certificate for this host, and trust in this authority.
    pub fn source(&self, host: &str) -> CertificateSource {
        self.source_when(host, Valid::Now)
    }

    /// The same, bound to these clusters.
    pub fn source_of(&self, host: &str, clusters: &[&str]) -> CertificateSource {
        let mut params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        for cluster in clusters {
            let uri = format!("volary://cluster/{cluster}");
            params.subject_alt_names.push(SanType::URI(uri.try_into().unwrap()));
        }
        let (chain, key) = self.sign_with(params, Valid::Now);
        CertificateSource::pem(chain, key, self.pem())
    }

    pub fn source_when(&self, host: &str, valid: Valid) -> CertificateSource {
        let (chain, key) = self.sign(host, valid);
        CertificateSource::pem(chain, key, self.pem())
    }
}
