import t from 'tap'
import { createMemoryRelay } from '../../../src/backends/memory/relay.ts'
import { checkRelay } from '../../contracts/relay-contract.ts'

checkRelay(t, async () => createMemoryRelay())
