// A change event is a fact inside the service. Each stream to a client turns it into a notification.

interface SeenBySome {
  /**
   * If present, only callers with all scopes of one of these sets see a difference. The others must not learn
   * of it.
   */
  readonly seenBy?: ReadonlyArray<readonly string[]>
}

export type ChangeEvent =
  | { readonly type: 'tools-changed' } & SeenBySome
  | { readonly type: 'prompts-changed' } & SeenBySome
  | { readonly type: 'resources-changed' } & SeenBySome
  /** If it has an owner, only that owner's streams report it. */
  | { readonly type: 'resource-updated', readonly uri: string, readonly owner?: string } & SeenBySome
  /**
   * What resource templates list may differ from the lists that are served. No client is told: a replica that
   * finds a difference publishes `resources-changed`. `templates` are those to ask, all by default.
   */
  | { readonly type: 'resources-outdated', readonly templates?: readonly string[] }
  /**
   * The status of a task has changed. `isOver`: a replica that has this run, or an earlier one, must stop it.
   * Earlier releases tell no number: any run must stop.
   */
  | {
    readonly type: 'task-changed', readonly entry: string, readonly isOver: boolean, readonly run?: number
  }
  /** The broadcast was interrupted, so events may have been lost. */
  | { readonly type: 'events-missed' }
