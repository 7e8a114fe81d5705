import type { CatalogContents } from '../compiled/contents.ts'

/** A place that catalogs are loaded from. */
export interface CatalogSource {
  /** Identifies the source in the log. */
  readonly name: string
  /**
   * Loads the current contents, with all problems found in them. Rejects only if the source does not exist.
   */
  load (): Promise<CatalogContents>
  /** Called when the contents that were loaded last are served. The next load may reuse parts of them. */
  accepted? (): void
  /** The next load evaluates every module and reads every file, whether or not they seem to have changed. */
  forget? (): void
  /**
   * Calls back after each change, until the returned function is called. Changes close together count as one.
   * @param onError is called when some changes may go unnoticed
   */
  watch (onChange: () => void, onError: (error: unknown) => void): Promise<() => Promise<void>>
}
