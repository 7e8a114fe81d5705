// The callers with the same granted scopes.

/** What the group may hear of. A reload of the catalog may change it. */
export interface ScopeGroup {
  /** Whether its callers hold all of these scopes. */
  holds (scopes: readonly string[]): boolean
  /** Whether its callers may learn that the resource with this URI has changed. */
  mayHearOf (uri: string): boolean
}
