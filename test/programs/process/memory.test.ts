// The size of the heap's old generation is the one that the options of Node say.

import t from 'tap'
import { readHeapOption } from '../../../src/programs/process/memory.ts'

const MIB = 1_048_576

t.test('the last option counts, in both spellings', async (t) => {
  t.equal(readHeapOption('--max-old-space-size=256'), 256 * MIB)
  t.equal(readHeapOption('--max_old_space_size=256 --enable-source-maps'), 256 * MIB)
  t.equal(readHeapOption('--max-old-space-size=256 --max-old-space-size=64'), 64 * MIB)
})

t.test('other options say nothing', async (t) => {
  t.equal(readHeapOption(''), undefined)
  t.equal(readHeapOption('--max-semi-space-size=16 --max-old-space-size-percentage=50'), undefined)
})
