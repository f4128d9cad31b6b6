//! Structs of core/v1 with the derives of prost and serde, for comparison with this project's
//! codecs: `cargo bench -p codecs`.

#![allow(missing_docs, clippy::all)] // What prost-build writes.

use machinery::scalar;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub mod structs {
    include!(concat!(env!("OUT_DIR"), "/structs.rs"));
}

/// `resource.Quantity`
#[derive(Clone, PartialEq, Eq, Hash, prost::Message, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Quantity {
    #[prost(string, optional, tag = "1")]
    pub string: Option<String>,
}

/// `metav1.Time`
#[derive(Clone, Copy, PartialEq, Eq, Hash, prost::Message)]
pub struct Time {
    #[prost(int64, optional, tag = "1")]
    pub seconds: Option<i64>,
    #[prost(int32, optional, tag = "2")]
    pub nanos: Option<i32>,
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&scalar::Time::from_unix(self.seconds()))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let time: scalar::Time = text.parse().map_err(de::Error::custom)?;
        Ok(Time { seconds: Some(time.unix()), nanos: Some(0) })
    }
}

/// `intstr.IntOrString`
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct IntOrString {
    #[prost(int64, optional, tag = "1")]
    pub r#type: Option<i64>,
    #[prost(int32, optional, tag = "2")]
    pub int_val: Option<i32>,
    #[prost(string, optional, tag = "3")]
    pub str_val: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Form {
    Int(i32),
    Str(String),
}

impl Serialize for IntOrString {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.r#type() {
            0 => serializer.serialize_i32(self.int_val()),
            _ => serializer.serialize_str(self.str_val()),
        }
    }
}

impl<'de> Deserialize<'de> for IntOrString {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Form::deserialize(deserializer)? {
            Form::Int(number) => IntOrString { r#type: Some(0), int_val: Some(number), str_val: Some(String::new()) },
            Form::Str(text) => IntOrString { r#type: Some(1), int_val: Some(0), str_val: Some(text) },
        })
    }
}
