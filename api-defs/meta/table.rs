/// Server-rendered tabular view, the basis of `kubectl get` output.
#[kind]
#[versions(v1, v1beta1)]
#[proto(none)]
pub struct Table {
    /// Paging and version data of the underlying list.
    #[field(json_only)]
    pub metadata: ListMeta,

    /// Columns in display order, with their types.
    #[field(json_only, required, list = atomic)]
    pub column_definitions: Vec<TableColumnDefinition>,

    /// Data lines, each aligned with the column definitions.
    #[field(json_only, required, list = atomic)]
    pub rows: Vec<TableRow>,
}

/// Header information for one printed column.
#[proto(none)]
pub struct TableColumnDefinition {
    /// Column heading, for example `Ready` or `Age`.
    #[field(json_only, required)]
    pub name: String,

    /// OpenAPI data type: `integer`, `number`, `string` or `boolean`.
    #[field(json_only, required)]
    pub r#type: String,

    /// Optional OpenAPI format modifier; `name` flags the primary identifier.
    #[field(json_only, required)]
    pub format: String,

    /// Explains to readers what the column shows.
    #[field(json_only, required)]
    pub description: String,

    /// Importance of the column; above 0 appears only with `-o wide`.
    #[field(json_only, required)]
    pub priority: i32,
}

/// One line of tabular output, normally representing one object.
#[proto(none)]
pub struct TableRow {
    /// Values for each column, in the same order as definitions.
    #[field(json_only, required, list = atomic)]
    pub cells: Vec<Json>,

    /// Row markers, such as completion, that clients may style differently.
    #[allow(L005)]
    #[field(json_only, list = atomic)]
    pub conditions: Vec<TableRowCondition>,

    /// Object behind the row, trimmed according to `includeObject`.
    #[field(json_only, always)]
    pub object: RawExtension,
}

/// Marker describing a special state of a printed row.
#[proto(none)]
pub struct TableRowCondition {
    /// Marker name; only `Completed` is defined.
    #[field(json_only, required)]
    pub r#type: RowConditionType,

    /// Whether the marker applies to the row.
    #[field(json_only, required)]
    pub status: ConditionStatus,

    /// CamelCase code saying why the marker applies.
    #[field(json_only)]
    pub reason: String,

    /// Readable note about the marker.
    #[field(json_only)]
    pub message: String,
}

/// Markers a table row may carry; `Completed` means the object has run to its end.
#[open]
pub enum RowConditionType {
    Completed,
}

/// Query options for requesting tabular output.
#[kind]
#[versions(v1, v1beta1)]
pub struct TableOptions {
    /// How much of each object accompanies its row; metadata by default.
    #[field(1)]
    pub include_object: IncludeObjectPolicy,
}

/// Amount of object data attached to each table row.
#[open]
pub enum IncludeObjectPolicy {
    None,
    Metadata,
    Object,
}

mod v1beta1 {
    use v1::{Table, TableColumnDefinition, TableOptions, TableRow, TableRowCondition};
}
