//! `metav1.Table`: a list, an object or a watch event as rows of cells.

use std::sync::Arc;

use apimachinery::meta::v1 as metav1;
use http::StatusCode;
use machinery::json;
use machinery::print::{Column, Columns, IncludeObject, PrintContext};
use machinery::protobuf::Mask;
use machinery::reflect::{Owned, Ref};
use machinery::status::Status;
use request::{Query, Response};
use serde::Serialize;
use storage::cache::Entry;

use crate::media::{Accepted, Encoding};
use crate::partial::Partial;
use crate::render::Renderer;
use crate::response::{self, respond};

/// Encodes tables of one resource incrementally.
pub struct TableWriter {
    renderer: Renderer,
    partial: Partial,
    columns: Columns,
    /// Whether the kind declares columns.
    has_columns: bool,
    include_object: IncludeObject,
    /// Fields that the columns read, if not the whole object.
    reads: Option<Mask>,
    headers: bool,
    context: PrintContext,
}

impl TableWriter {
    /// Creates a writer. `version` is that of `meta.k8s.io`. The query selects the objects in rows,
    /// and whether there are column definitions.
    pub fn new(renderer: Renderer, version: &str, query: &Query) -> Result<Self, Status> {
        let (kind, include_object) = (renderer.source.storage_kind(), include_object(query)?);
        let endpoint = &renderer.endpoint;
        let declared = endpoint.resource.columns;
        let custom = endpoint.open.as_deref().and_then(|open| open.columns(&endpoint.kind.api_version()));
        let has_columns = custom.is_some() || !declared.is_empty();
        let columns = custom.map_or_else(|| Columns::declared(declared), Columns::Custom);
        // Columns refer to the hub; masks refer to the stored version.
        let is_partial = kind.conversion.is_none() && !renderer.is_text && include_object != IncludeObject::Object;
        Ok(TableWriter {
            partial: Partial::new(version),
            include_object,
            reads: is_partial.then(|| columns.read_by(kind.def)).flatten(),
            columns,
            has_columns,
            headers: !query.flag("noHeaders"),
            context: PrintContext { now: renderer.endpoint.clock.now() },
            renderer,
        })
    }

    /// Creates a writer for objects that are not stored and have other columns: the Scale of a
    /// resource.
    ///
    /// # Errors
    /// Returns 400 for an unknown value of `includeObject`.
    pub fn with_columns(
        renderer: Renderer,
        columns: &'static [Column],
        version: &str,
        query: &Query,
    ) -> Result<Self, Status> {
        Ok(TableWriter {
            partial: Partial::new(version),
            include_object: include_object(query)?,
            reads: None,
            columns: Columns::declared(columns),
            has_columns: true,
            headers: !query.flag("noHeaders"),
            context: PrintContext { now: renderer.endpoint.clock.now() },
            renderer,
        })
    }

    /// Omits column definitions. Only the first event of a watch has them.
    pub fn without_headers(&mut self) {
        self.headers = false;
    }

    /// Whether an empty list has `rows: null`. As upstream, that is so for a kind without columns.
    pub fn is_null_when_empty(&self) -> bool {
        !self.has_columns
    }

    /// Sorts the objects of a list, which are in key order, in row order.
    pub fn in_order(&self, entries: Vec<Arc<Entry>>) -> Result<Vec<Arc<Entry>>, Status> {
        let Some(order) = self.renderer.endpoint.resource.hooks.order else { return Ok(entries) };
        let place = |entry: Arc<Entry>| Ok((order(self.renderer.source.object(&entry)?.as_ref()), entry));
        let mut placed: Vec<(i64, Arc<Entry>)> = entries.into_iter().map(place).collect::<Result<_, Status>>()?;
        placed.sort_by_key(|(place, _)| *place);
        Ok(placed.into_iter().map(|(_, entry)| entry).collect())
    }

    /// Appends the start of the table, up to its first row.
    pub fn write_head(&self, meta: &metav1::ListMeta, is_empty: bool, out: &mut Vec<u8>) -> Result<(), Status> {
        let api_version = &self.partial.api_version;
        out.extend_from_slice(
            format!("{{\"kind\":\"Table\",\"apiVersion\":\"{api_version}\",\"metadata\":").as_bytes(),
        );
        json::encode(Ref::of(meta), out);
        let columns = self.headers.then(|| self.columns.definitions());
        out.extend_from_slice(b",\"columnDefinitions\":");
        write(&columns, out)?;
        let rows: &[u8] = if is_empty && self.is_null_when_empty() { b",\"rows\":null" } else { b",\"rows\":[" };
        out.extend_from_slice(rows);
        Ok(())
    }

    /// Appends the row of an object.
    pub fn write_row(&self, entry: &Entry, out: &mut Vec<u8>) -> Result<(), Status> {
        let store = &self.renderer.source;
        let hub = self.reads.as_ref().map_or_else(|| store.object(entry), |reads| store.part(entry, reads))?;
        self.write_cells(hub.as_ref(), out)?;
        match self.include_object {
            IncludeObject::None => out.extend_from_slice(b"null"),
            IncludeObject::Metadata => self.partial.write_json(&self.renderer, entry, out)?,
            IncludeObject::Object => self.write_whole(hub, out),
        }
        out.push(b'}');
        Ok(())
    }

    /// Appends the row of an object that is not in the cache.
    fn write_row_of(&self, hub: Owned, out: &mut Vec<u8>) -> Result<(), Status> {
        self.write_cells(hub.as_ref(), out)?;
        match self.include_object {
            IncludeObject::None => out.extend_from_slice(b"null"),
            IncludeObject::Metadata => self.partial.write_json_of(hub.as_ref(), out),
            IncludeObject::Object => self.write_whole(hub, out),
        }
        out.push(b'}');
        Ok(())
    }

    fn write_cells(&self, hub: Ref<'_>, out: &mut Vec<u8>) -> Result<(), Status> {
        out.extend_from_slice(b"{\"cells\":");
        write(&self.columns.cells(hub, &self.context), out)?;
        let conditions = self.renderer.endpoint.resource.hooks.rows.map_or(Vec::new(), |rows| rows(hub));
        if !conditions.is_empty() {
            out.extend_from_slice(b",\"conditions\":");
            write(&conditions, out)?;
        }
        out.extend_from_slice(b",\"object\":");
        Ok(())
    }

    fn write_whole(&self, hub: Owned, out: &mut Vec<u8>) {
        let kind = self.renderer.endpoint.kind;
        json::encode_object(&kind.api_version(), kind.kind, response::in_version(kind, hub).as_ref(), out);
    }

    /// Encodes a table with one row, of an object in hub form.
    pub fn table_of(&self, hub: Owned) -> Result<Vec<u8>, Status> {
        let resource_version = registry::meta(hub.as_ref()).map_or(String::new(), |meta| meta.resource_version.clone());
        let meta = metav1::ListMeta { resource_version, ..metav1::ListMeta::default() };
        let mut out = Vec::with_capacity(1024);
        self.write_head(&meta, false, &mut out)?;
        self.write_row_of(hub, &mut out)?;
        out.extend_from_slice(b"]}");
        Ok(out)
    }
}

/// Responds with an object as a table of one row.
pub fn of_object(
    writer: &TableWriter,
    code: StatusCode,
    object: Owned,
    accepted: &Accepted,
) -> Result<Response, Status> {
    let text = writer.table_of(object)?;
    let mut out = Vec::new();
    match accepted.encoding {
        Encoding::Json if accepted.pretty => json::pretty(&text, &mut out),
        Encoding::Json => {
            out = text;
            out.push(b'\n');
        }
        Encoding::Yaml | Encoding::Cbor => response::rewrite(&text, accepted.encoding, &mut out)?,
        // Upstream's tables have no protobuf form.
        Encoding::Protobuf => return Err(response::no_protobuf("v1.Table")),
    }
    Ok(respond(code, accepted.encoding, out))
}

fn include_object(query: &Query) -> Result<IncludeObject, Status> {
    let text = query.text("includeObject");
    IncludeObject::parse(text).ok_or_else(|| {
        Status::bad_request(format!(
            "Unable to convert to Table as requested: includeObject: Invalid value: {text:?}: must be 'Metadata', 'Object', 'None', or empty"
        ))
    })
}

fn write(value: &impl Serialize, out: &mut Vec<u8>) -> Result<(), Status> {
    serde_json::to_writer(out, value).map_err(Status::internal)
}
