// The records that are kept open: only the same sealed bytes have them, and they have a bound.

import t from 'tap'
import { OpenedRecords } from '../../../src/features/tasks/records/opened-records.ts'
import type { TaskRecord } from '../../../src/features/tasks/records/record.ts'

const record = (run: number) => ({ run }) as TaskRecord

t.test('a record is found by its name and its sealed bytes', async (t) => {
  const opened = new OpenedRecords()
  const sealed = Buffer.from('sealed bytes')
  opened.keep('owner/task_1', sealed, record(1))
  t.equal(opened.find('owner/task_1', Buffer.from('sealed bytes'))?.run, 1)
  t.equal(opened.find('owner/task_1', Buffer.from('sealed bytez')), undefined, 'other bytes')
  t.equal(opened.find('other/task_1', sealed), undefined, 'the same bytes under another name')
  sealed.fill(0)
  t.equal(opened.find('owner/task_1', Buffer.from('sealed bytes'))?.run, 1, 'the bytes were copied')
})

t.test('the last bytes of a record replace the ones before', async (t) => {
  const opened = new OpenedRecords()
  opened.keep('owner/task_1', Buffer.from('one'), record(1))
  opened.keep('owner/task_1', Buffer.from('two'), record(2))
  t.equal(opened.find('owner/task_1', Buffer.from('one')), undefined)
  t.equal(opened.find('owner/task_1', Buffer.from('two'))?.run, 2)
})

t.test('what is kept has a bound', async (t) => {
  const opened = new OpenedRecords()
  const sealed = Buffer.alloc(4096, 1)
  for (let index = 0; index < 10_000; index++) opened.keep(`owner/task_${index}`, sealed, record(index))
  const kept = Array.from({ length: 10_000 }, (_, index) => opened.find(`owner/task_${index}`, sealed))
  const bytes = kept.filter((one) => one !== undefined).length * sealed.length
  t.ok(bytes > 0 && bytes <= 4 * 2 ** 20, `${bytes} of 40,960,000 bytes are kept`)
  t.equal(kept.at(-1)?.run, 9999, 'the latest are kept')
  const large = Buffer.alloc(65_537)
  opened.keep('owner/large', large, record(1))
  t.equal(opened.find('owner/large', large), undefined, 'a large record is opened each time')
})
