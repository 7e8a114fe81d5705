// What state stores keep, as tests write it and read it.

import type { StateRecord, StateValue } from '../../src/platform/store/records/state-store.ts'

export const toValue = (bytes: Buffer | string): StateValue => ({ bytes: Buffer.from(bytes) })

export const textOf = (record: StateRecord | undefined): string | undefined => record?.value.bytes.toString()
