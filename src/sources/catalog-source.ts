import type { CatalogContents } from '../catalog/contents.ts'

/** Where a catalog comes from. */
export interface CatalogSource {
  /** For logs: where it is. */
  readonly name: string
  /**
   * Everything as it is now. What is wrong is in the contents' complaints; throws only where there is no
   * source at all.
   */
  load (): Promise<CatalogContents>
  /** Calls back after each change, once it has settled, until the returned function is called. */
  watch (onChange: () => void): Promise<() => Promise<void>>
}
