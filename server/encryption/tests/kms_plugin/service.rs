//! The plugin's cipher and responses. Tests need only that ciphertext differs from plaintext and that
//! the annotation is required.

use std::path::Path;

use tonic::Status;

use super::messages::*;
use super::program::{self, Answer, Called, unary};

const ANNOTATION: &str = "plugin.example.com";

/// Listens on a socket for ever.
pub async fn serve(socket: &Path, key_id: &str) {
    let key_id = key_id.to_owned();
    program::serve(socket, move |request| answer(request, key_id.clone())).await;
}

async fn answer(request: Called, key_id: String) -> Answer {
    let path = request.uri().path().to_owned();
    match path.as_str() {
        "/v2.KeyManagementService/Status" => {
            unary(request, move |_: StatusRequest| {
                Ok(StatusResponse { version: "v2".into(), healthz: "ok".into(), key_id: key_id.clone() })
            })
            .await
        }
        "/v2.KeyManagementService/Encrypt" => {
            unary(request, move |request: EncryptRequest| {
                let annotations = [(ANNOTATION.to_owned(), b"1".to_vec())].into();
                let ciphertext = mask(&request.plaintext, &key_id);
                Ok(EncryptResponse { ciphertext, key_id: key_id.clone(), annotations })
            })
            .await
        }
        "/v2.KeyManagementService/Decrypt" => {
            unary(request, |request: DecryptRequest| match request.annotations.get(ANNOTATION) {
                Some(_) => Ok(DecryptResponse { plaintext: mask(&request.ciphertext, &request.key_id) }),
                None => Err(Status::invalid_argument("the annotation is missing")),
            })
            .await
        }
        other => Status::unimplemented(other).into_http(),
    }
}

/// Masks bytes. This is not a cipher, but the result contains no plaintext.
fn mask(bytes: &[u8], key_id: &str) -> Vec<u8> {
    bytes.iter().zip(key_id.bytes().cycle()).map(|(byte, key)| byte ^ key ^ 0x5a).collect()
}
