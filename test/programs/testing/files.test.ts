// Files that a handler puts or takes, in a test of a catalog.

import t from 'tap'
import { FILES } from '../../features/files/file-tools.ts'
import { open } from './open.ts'

t.test('a link is followed in the process', async (t) => {
  const catalog = await open(t, FILES)
  const { content: [link] } = await catalog.call('put', { text: 'a,b', name: 'ü "1".csv' })
  t.match(link, { type: 'resource_link', uri: /^http:\/\/localhost\/mcp\/files\// })
  const found = await catalog.download(link)
  t.strictSame([found.name, found.mimeType, found.bytes.toString()], ['ü "1".csv', 'text/csv', 'a,b'])
})

t.test('a link that does not work is an error with its status', async (t) => {
  const catalog = await open(t, FILES)
  const { content: [link] } = await catalog.call('put', { text: 'a', name: 'a.txt', ttlMs: 60_000 })
  catalog.advance(61_000)
  await t.rejects(catalog.download(link), {
    message: 'The answer to GET is 404: This link does not work. ' +
    'It is not complete, or it has expired.'
  })
  await t.rejects(catalog.download(undefined), { name: 'TypeError', message: 'not a link: undefined' })
})

t.test('an upload is answered with bytes', async (t) => {
  const catalog = await open(t, FILES)
  const file = { name: 'a.csv', bytes: 'a,b\n', mimeType: 'text/csv' }
  const answers = { upload: { action: 'accept', file } } as const
  const { structuredContent } = await catalog.call('take', {}, { answers })
  t.strictSame(structuredContent, { name: 'a.csv', mimeType: 'text/csv', size: 4, bytes: 4, head: 'a,b\n' })
  t.match(await catalog.call('take', {}, { answers: { upload: { action: 'decline' } } }), { text: 'decline' })
})

t.test('a file that the page refuses is an error with what the page says', async (t) => {
  const catalog = await open(t, FILES)
  const answers = { upload: { action: 'accept', file: { name: 'a.png', bytes: 'x' } } } as const
  await t.rejects(catalog.call('take', { accept: ['.csv'] }, { answers }), {
    message: /^The answer to POST is 415: Not this type .*What is asked for: CSV files/
  })
})

t.test('limits of the service hold', async (t) => {
  const catalog = await open(t, FILES, { maxFileBytes: 2000 })
  t.match(await catalog.call('put', { bytes: 2001, name: 'a.bin' }), { isError: true })
})
