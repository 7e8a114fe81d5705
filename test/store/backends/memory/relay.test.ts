import t from 'tap'
import { createMemoryRelay } from '../../../../src/store/backends/memory/relay.ts'
import { checkRelay } from '../../../contracts/relay-contract.ts'

checkRelay(t, async () => createMemoryRelay())
