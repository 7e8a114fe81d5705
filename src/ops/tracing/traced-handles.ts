// The handles of a caller, with a span for each operation. A span has the kind of the handle, never its id.

import type { Handles, NewHandle } from '../../author/handles.ts'

type Operation = 'create' | 'read' | 'update' | 'delete'

/** Runs an operation in its span. */
export type TraceOperation = <R>(operation: Operation, run: () => Promise<R>) => Promise<R>

export class TracedHandles<T> implements Handles<T> {
  readonly #handles: Handles<T>
  readonly #trace: TraceOperation

  constructor (handles: Handles<T>, trace: TraceOperation) {
    this.#handles = handles
    this.#trace = trace
  }

  create (value: T): Promise<NewHandle<T>> {
    return this.#trace('create', () => this.#handles.create(value))
  }

  read (id: string): Promise<T> {
    return this.#trace('read', () => this.#handles.read(id))
  }

  update (id: string, change: Parameters<Handles<T>['update']>[1]): Promise<T> {
    return this.#trace('update', () => this.#handles.update(id, change))
  }

  delete (id: string): Promise<void> {
    return this.#trace('delete', () => this.#handles.delete(id))
  }
}
