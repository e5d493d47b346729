//! Two nodes that speak over TLS with certificates on both sides, and a third one that nobody knows.
//!
//! The certificates are made here; a program would read them from files, with `CertificateSource::files`.
//!
//! ```text
//! cargo run -p volary --features remote-tls,postcard --example mtls
//! ```

use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use serde::{Deserialize, Serialize};
use volary::prelude::*;
use volary::remote::transport::{CertificateSource, Tls};
use volary::remote::{PeerEvent, Remote, Right, Rights};

type Any = Box<dyn std::error::Error>;

/// Counts what is put into it.
struct Till {
    sum: u64,
}

#[actor(kind = "example.Till", remote(Put))]
impl Till {
    #[message(remote = "example.Put", codec = postcard, derive(Serialize, Deserialize))]
    fn put(&mut self, amount: u64) -> u64 {
        self.sum += amount;
        self.sum
    }
}

/// Signs the certificates of a company.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new(name: &str) -> Result<Self, rcgen::Error> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Ok(Authority(CertifiedIssuer::self_signed(params, KeyPair::generate()?)?))
    }

    /// A new certificate for a node on this host, which trusts the authority `trusted`.
    fn certify(&self, trusted: &Authority) -> Result<CertificateSource, rcgen::Error> {
        let key = KeyPair::generate()?;
        let certificate = CertificateParams::new(vec!["127.0.0.1".to_owned()])?.signed_by(&key, &self.0)?;
        Ok(CertificateSource::pem(
            certificate.pem(),
            key.serialize_pem(),
            trusted.0.pem(),
        ))
    }
}

async fn node(name: &str, tls: &Tls) -> Result<(ActorSystem, Remote), Any> {
    let system = ActorSystem::builder(name).start().await?;
    let remote = Remote::builder()
        .kind::<Till>()
        .transport(tls.clone())
        .rights(|_| Rights::all().without(Right::Control))
        .start(&system, "127.0.0.1:0")
        .await?;
    println!("{name} listens at {}", remote.node());
    Ok((system, remote))
}

#[tokio::main]
async fn main() -> Result<(), Any> {
    let (company, stranger) = (Authority::new("company")?, Authority::new("stranger")?);

    let shop_tls = Tls::new(company.certify(&company)?)?;
    let (shop, shop_remote) = node("shop", &shop_tls).await?;
    let till = shop.spawn(|| Till { sum: 0 }).named("till").await?;
    let address = shop_remote.address_of(&till);

    let (customer, customer_remote) = node("customer", &Tls::new(company.certify(&company)?)?).await?;
    let far: ActorRef<Till> = customer_remote.actor(&address).ok_or("no such address")?;
    println!("the till holds {}", far.ask(Put { amount: 5 }).await?);

    // New certificates: the connection that is there goes on, others use the new one.
    shop_tls.replace(company.certify(&company)?)?;
    println!("the till holds {}", far.ask(Put { amount: 7 }).await?);

    // Trusts the company, but the company does not trust it.
    let (thief, thief_remote) = node("thief", &Tls::new(stranger.certify(&company)?)?).await?;
    let events = thief.events().subscribe::<PeerEvent>();
    let far: ActorRef<Till> = thief_remote.actor(&address).ok_or("no such address")?;
    let asked = far.ask(Put { amount: 0 }).timeout(Duration::from_secs(1)).await;
    println!("the thief hears nothing: {}", asked.is_err());
    if let PeerEvent::NotConnected { why, .. } = events.next().await? {
        println!("because: {why}");
    }

    thief.stop().await?;
    customer.stop().await?;
    shop.stop().await?;
    Ok(())
}
