// Which types of files an upload accepts.

import t from 'tap'
import { acceptedType } from '../../../src/features/files/accepted-types.ts'

const BYTES = 'application/octet-stream'

t.test('a file of no declared type has the type of its name', async (t) => {
  t.equal(acceptedType([], { name: 'run.py', mimeType: BYTES }), 'text/x-python')
  t.equal(acceptedType([], { name: 'no-ending', mimeType: BYTES }), BYTES)
})

t.test('a file is accepted by its declared type, by the type of its name, or by its ending', async (t) => {
  t.equal(acceptedType([BYTES], { name: 'run.py', mimeType: BYTES }), BYTES)
  t.equal(acceptedType(['video/*'], { name: 'clip.ts', mimeType: 'video/mp2t' }), 'video/mp2t')
  t.equal(acceptedType(['text/csv'], { name: 'a.CSV', mimeType: 'application/vnd.ms-excel' }), 'text/csv')
  t.equal(acceptedType(['.pdf'], { name: 'a.PDF', mimeType: 'x/y' }), 'application/pdf')
  t.equal(acceptedType(['image/*'], { name: 'a.csv', mimeType: 'text/csv' }), undefined)
})
