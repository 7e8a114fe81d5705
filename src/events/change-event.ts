// A fact inside the service. It becomes a notification only at the edge.

export type ChangeEvent =
  | { readonly type: 'tools-changed' }
  | { readonly type: 'prompts-changed' }
  | { readonly type: 'resources-changed' }
  /** With an owner it is the business of that one's streams alone. */
  | { readonly type: 'resource-updated', readonly uri: string, readonly owner?: string }
  /** The bus was interrupted: anything may have changed meanwhile. */
  | { readonly type: 'events-missed' }
