import t from 'tap'
import { createMemoryRelay } from '../../src/legacy/memory-relay.ts'
import { checkRelay } from '../contracts/relay-contract.ts'

checkRelay(t, async () => createMemoryRelay())
