//! Signed tokens: the compact form of RFC 7515 and its signature. The algorithm must be in the allow list and fit the key, so neither
//! `none` nor a public key as a shared secret is possible.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384,
    RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaPublicKeyComponents,
    UnparsedPublicKey, VerificationAlgorithm,
};
use serde_json::{Map, Value};

/// Maximum number of bytes of a token.
const MAX_TOKEN_BYTES: usize = 32 << 10;
/// The names of the accepted algorithms.
const ALGORITHMS: [&str; 9] = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"];

/// A parsed token whose signature has not been checked.
pub(super) struct SignedToken<'a> {
    algorithm: &'static str,
    pub(super) key_id: Option<String>,
    pub(super) claims: Map<String, Value>,
    signed: &'a [u8],
    signature: Vec<u8>,
}

impl<'a> SignedToken<'a> {
    /// Parses a token, and refuses algorithms that are not in the allow list.
    pub(super) fn parse(token: &'a str) -> Result<Self, &'static str> {
        const SHAPE: &str = "the token is not a signed JWT";
        if token.len() > MAX_TOKEN_BYTES {
            return Err("the token is longer than 32 KiB");
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(SHAPE)?;
        let (header, claims) = signed.split_once('.').ok_or(SHAPE)?;
        let header = json_part(header).ok_or(SHAPE)?;
        let algorithm = header.get("alg").and_then(Value::as_str).unwrap_or_default();
        let algorithm =
            ALGORITHMS.into_iter().find(|known| *known == algorithm).ok_or("the token's signature algorithm is not accepted")?;
        // Extensions that must be understood (RFC 7515, section 4.1.11): none is.
        if header.contains_key("crit") {
            return Err("the token has unsupported critical extensions");
        }
        Ok(SignedToken {
            algorithm,
            key_id: header.get("kid").and_then(Value::as_str).map(str::to_owned),
            claims: json_part(claims).ok_or(SHAPE)?,
            signed: signed.as_bytes(),
            signature: URL_SAFE_NO_PAD.decode(signature).map_err(|_| SHAPE)?,
        })
    }

    /// Returns whether this key made the signature. A key of another type than the algorithm's did not.
    pub(super) fn is_signed_by(&self, key: &PublicKey) -> bool {
        if key.algorithm.as_deref().is_some_and(|only| only != self.algorithm) {
            return false;
        }
        let point = |algorithm: &'static dyn VerificationAlgorithm, bytes: &[u8]| {
            UnparsedPublicKey::new(algorithm, bytes).verify(self.signed, &self.signature).is_ok()
        };
        match (&key.material, self.algorithm) {
            (KeyMaterial::Rsa { n, e }, algorithm) => {
                let parameters = match algorithm {
                    "RS256" => &RSA_PKCS1_2048_8192_SHA256,
                    "RS384" => &RSA_PKCS1_2048_8192_SHA384,
                    "RS512" => &RSA_PKCS1_2048_8192_SHA512,
                    "PS256" => &RSA_PSS_2048_8192_SHA256,
                    "PS384" => &RSA_PSS_2048_8192_SHA384,
                    "PS512" => &RSA_PSS_2048_8192_SHA512,
                    _ => return false,
                };
                RsaPublicKeyComponents { n, e }.verify(parameters, self.signed, &self.signature).is_ok()
            }
            (KeyMaterial::P256(bytes), "ES256") => point(&ECDSA_P256_SHA256_FIXED, bytes),
            (KeyMaterial::P384(bytes), "ES384") => point(&ECDSA_P384_SHA384_FIXED, bytes),
            (KeyMaterial::Ed25519(bytes), "EdDSA") => point(&ED25519, bytes),
            _ => false,
        }
    }
}

fn json_part(part: &str) -> Option<Map<String, Value>> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok()
}

/// A public key of the issuer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PublicKey {
    pub(super) id: Option<String>,
    /// The only algorithm it may be used with, if it says so.
    algorithm: Option<String>,
    material: KeyMaterial,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum KeyMaterial {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

impl PublicKey {
    /// Reads a JSON Web Key. Returns `None` for one that does not verify signatures, or of an unknown type.
    pub(super) fn from_jwk(jwk: &Value) -> Option<Self> {
        let text = |name: &str| jwk[name].as_str().map(str::to_owned);
        if text("use").is_some_and(|purpose| purpose != "sig") {
            return None;
        }
        let bytes = |name: &str| URL_SAFE_NO_PAD.decode(jwk[name].as_str()?.trim_end_matches('=')).ok();
        // The uncompressed form of a point.
        let point = || Some([vec![4], bytes("x")?, bytes("y")?].concat());
        let material = match (jwk["kty"].as_str()?, jwk["crv"].as_str()) {
            ("RSA", _) => KeyMaterial::Rsa { n: without_zeros(bytes("n")?), e: without_zeros(bytes("e")?) },
            ("EC", Some("P-256")) => KeyMaterial::P256(point()?),
            ("EC", Some("P-384")) => KeyMaterial::P384(point()?),
            ("OKP", Some("Ed25519")) => KeyMaterial::Ed25519(bytes("x")?),
            _ => return None,
        };
        Some(PublicKey { id: text("kid"), algorithm: text("alg"), material })
    }
}

/// Some providers write leading zeros, which `ring` refuses.
fn without_zeros(bytes: Vec<u8>) -> Vec<u8> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    bytes[zeros..].to_vec()
}
