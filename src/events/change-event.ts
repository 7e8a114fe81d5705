// A change event is a fact inside the service. Each stream to a client turns it into a notification.

export type ChangeEvent =
  | { readonly type: 'tools-changed' }
  | { readonly type: 'prompts-changed' }
  | { readonly type: 'resources-changed' }
  /** If it has an owner, only that owner's streams report it. */
  | { readonly type: 'resource-updated', readonly uri: string, readonly owner?: string }
  /** The bus was interrupted, so events may have been lost. */
  | { readonly type: 'events-missed' }
