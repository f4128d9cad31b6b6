// Written by `export typescript`; change the definitions instead.

/** A product on sale. */
export interface Product {
  apiVersion: "shop.example.com/v1";
  kind: "Product";
  /** Standard object metadata. */
  metadata?: ObjectMeta;
  /** Desired state of the product. */
  spec?: ProductSpec;
  /** Observed state of the product. */
  status?: ProductStatus;
}

/** A list of Product. */
export interface ProductList {
  apiVersion: "shop.example.com/v1";
  kind: "ProductList";
  metadata: { resourceVersion?: string; continue?: string; remainingItemCount?: number };
  items: Product[];
}

/** Identity, ownership and bookkeeping data carried by every stored object. */
export interface ObjectMeta {
  /** Unique within its namespace and type; cannot be changed after creation. */
  name?: string;
  /** Prefix to which the server appends random characters if `name` is missing. */
  generateName?: string;
  /** Namespace holding the object; empty for cluster-scoped types. */
  namespace?: string;
  /** Obsolete URL field that the server stopped filling. */
  selfLink?: string;
  /** Server-assigned identifier, never reused even if the name is. */
  uid?: string;
  /** Opaque change marker for watches and optimistic locking; compare only for equality. */
  resourceVersion?: string;
  /** Counter the server raises whenever the desired state changes. */
  generation?: number;
  /** CreationTimestamp is a timestamp of when the server accepted the object, in UTC; read-only. */
  creationTimestamp?: string;
  /** Set upon a graceful delete request; removal follows once finalizers clear. */
  deletionTimestamp?: string;
  /** Seconds the object gets to shut down; can only be shortened. */
  deletionGracePeriodSeconds?: number;
  /** Short key-value tags for selecting and grouping; values hold up to 63 characters. */
  labels?: Record<string, string>;
  /** Free-form metadata for tools, not selectable; 256 KiB total limit. */
  annotations?: Record<string, string>;
  /** Parents of this object; garbage collection removes it once none remain. */
  ownerReferences?: OwnerReference[];
  /** Keys that block removal until responsible controllers delete them. */
  finalizers?: string[];
  /** Field ownership per manager for server-side apply; hidden unless `--show-managed-fields` is given. */
  managedFields?: ManagedFieldsEntry[];
}

/** Ownership record: which fields one manager last set, and how. */
export interface ManagedFieldsEntry {
  /** Tool or controller owning these fields, for instance `kubectl`. */
  manager?: string;
  /** Whether ownership came from server-side apply or an ordinary write. */
  operation?: ManagedFieldsOperationType;
  /** Version in which the field paths are expressed. */
  apiVersion?: string;
  /** When the manager last added fields, changed values, or gave up ownership. */
  time?: string;
  /** Encoding of the field set; `FieldsV1` is the only value. */
  fieldsType?: string;
  /** The owned field paths themselves. */
  fieldsV1?: Record<string, unknown>;
  /** Subresource written through, such as `status`; empty for the main resource. */
  subresource?: string;
}

/** Link from a dependent to its owner, in the same namespace or cluster-scoped. */
export interface OwnerReference {
  /** Group and version of the owner's type. */
  apiVersion: string;
  /** Owner's type name, for example `ReplicaSet`. */
  kind: string;
  /** Name of the owning object, case-sensitive. */
  name: string;
  /** Owner's unique identifier, which guards against same-name replacements. */
  uid: string;
  /** True for the single owner actively managing this object. */
  controller?: boolean;
  /** When true, foreground deletion of the owner waits until this dependent is gone. */
  blockOwnerDeletion?: boolean;
}

/** Desired state of the product. */
export interface ProductSpec {
  /** Units to keep in stock. */
  stock?: number;
  /** Price per unit, such as `12500m`. */
  price: string;
  /** Supplier of the product; immutable, defaults to the shop's workshop. */
  supplier: string;
  /** Maker of the product; replaced by `supplier`. */
  maker?: string;
}

/** Observed state of the product. */
export interface ProductStatus {
  /** Conditions, one entry per type. */
  conditions?: Condition[];
  /** Units on the shelf. */
  available?: number;
}

/** Uniform status observation shared by many API types. */
export interface Condition {
  /** CamelCase condition name, optionally domain-prefixed, unique within the list. */
  type: string;
  /** Current value; `Unknown` if the controller cannot determine it. */
  status: ConditionStatus;
  /** Generation the observation is based on; older than `metadata.generation` means stale. */
  observedGeneration?: number;
  /** When `status` last took a different value. */
  lastTransitionTime: string;
  /** CamelCase code for the last transition; must not be empty. */
  reason: string;
  /** Details for people reading the status, up to 32768 characters. */
  message: string;
}

/** Tri-state condition value, where `Unknown` means not determinable. */
export type ConditionStatus = "True" | "False" | "Unknown" | (string & {});

/** Distinguishes server-side apply ownership from ownership gained by ordinary writes. */
export type ManagedFieldsOperationType = "Apply" | "Update" | (string & {});
