import t from 'tap'
import { createMemoryEventBus } from '../../src/events/memory-event-bus.ts'
import { checkEventBus } from '../contracts/event-bus-contract.ts'

await checkEventBus(t, async () => createMemoryEventBus())
