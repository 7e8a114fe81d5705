import t from 'tap'
import { createMemoryEventBus } from '../../../../src/store/backends/memory/event-bus.ts'
import { checkEventBus } from '../../../contracts/event-bus-contract.ts'

checkEventBus(t, async () => createMemoryEventBus())
