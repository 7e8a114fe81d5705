// The contract of every state store. A new backend is done when its store passes.

import type { Test } from 'tap'
import { checkConcurrency } from './state-store-concurrency.ts'
import { checkLifetimes } from './state-store-lifetimes.ts'
import { checkRecords } from './state-store-records.ts'
import { createStoreSetup, type OpenTestStore, type StateStoreContractOptions } from './state-store-setup.ts'

/** @param open creates an empty store, and closes it when the test ends. */
export function checkStateStore (
  t: Test, open: OpenTestStore, options: StateStoreContractOptions = {}
): void {
  const setup = createStoreSetup(options)
  checkRecords(t, open, setup)
  checkLifetimes(t, open, setup)
  checkConcurrency(t, open, setup)
}
