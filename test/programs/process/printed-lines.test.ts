// What modules print is lines of the log of the built service.

import t, { type Test } from 'tap'
import { toolModule, writeCatalog } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import type { Message, RequestParts } from '../../helpers/request.ts'
import { runService, startService, type Service } from '../../helpers/service.ts'
import { post } from '../../helpers/stream.ts'

const SOURCES = ['console', 'stdout', 'stderr']

/** Every line on standard output. Throws if one is no JSON. */
function linesOf ({ stdout }: Service): Message[] {
  return stdout().trimEnd().split('\n').map((line) => JSON.parse(line))
}

const printed = (service: Service) => linesOf(service).filter(({ source }) => SOURCES.includes(source))

const pause = 'await new Promise((resolve) => setTimeout(resolve, 5))'

const FILES = {
  'tools/talks.ts': toolModule(
    'talks', '',
    `async () => { console.log('said %d', 1, { a: 2 }); ${pause}; console.error('%s'); console.table([1]) }`
  ),
  'tools/asks-library.ts': "import { note } from '../lib/note.ts'\n" +
    toolModule('asks_library', '', `async () => { ${pause}; note('from the library') }`),
  'tools/asks-package.ts': "import { note } from 'chatty'\n" +
    toolModule('asks_package', '', "() => note('from a package')"),
  'lib/note.ts': 'export const note = (text: string) => console.log(text)\n',
  'node_modules/chatty/package.json': '{ "name": "chatty", "type": "module", "exports": "./index.js" }',
  'node_modules/chatty/index.js': 'export const note = (text) => console.log(text)\n',
  'prompts/p.ts': "import { definePrompt } from 'trivet'\nexport default definePrompt({ name: 'p', " +
    "arguments: [{ name: 'x', complete: () => { console.log('completes'); return [] } }], " +
    "render: () => { console.log('renders'); return 'p' } })\n",
  'resources/r.resource.ts': "import { defineResource, defineResourceTemplate } from 'trivet'\n" +
    "export const r = defineResource({ uri: 'a://r', name: 'r', " +
    "read: () => { console.log('reads'); return '' } })\n" +
    "export const one = defineResourceTemplate({ uriTemplate: 'b://{id}', name: 'one', " +
    "read: () => { console.log('reads one'); return '' } })\n",
  'tools/raw.ts': "import { stdout } from 'node:process'\n" + toolModule(
    'raw', '', "async () => { process.stdout.write('raw'); stdout.write(' and more\\n\\nsecond\\n'); " +
      "process.stderr.write(Buffer.from('wrong\\r\\n')); process.stdout.write('no end') }"
  )
}

const call = (name: string): RequestParts => ({ method: 'tools/call', params: { name, arguments: {} } })

async function start (t: Test): Promise<Service> {
  return await startService(t, { TRIVET_CATALOG: await writeCatalog(t, FILES), TRIVET_LOG_LEVEL: 'info' })
}

t.test('a line of console is a line of the log, whoever prints it', async (t) => {
  const service = await start(t)
  const requests: ReadonlyArray<readonly [RequestParts, texts: unknown[]]> = [
    [call('talks'), ['said 1 { a: 2 }', '%s', /Values/]],
    [call('asks_library'), ['from the library']],
    [call('asks_package'), ['from a package']],
    [{ method: 'prompts/get', params: { name: 'p' } }, ['renders']],
    [
      {
        method: 'completion/complete',
        params: { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'x', value: '' } }
      },
      ['completes']
    ],
    [{ method: 'resources/read', params: { uri: 'a://r' } }, ['reads']],
    [{ method: 'resources/read', params: { uri: 'b://1' } }, ['reads one']]
  ]
  for (const [parts] of requests) await post(t, service.url, parts)
  const requestLines = () => linesOf(service).filter(({ msg }) => msg === 'request')
  await until(() => requestLines().length === requests.length, 'the lines of the requests')
  const texts = requests.flatMap(([, texts]) => texts)
  t.match(printed(service), texts.map((msg) => ({ source: 'console', msg })))
  t.equal(printed(service).length, texts.length)
  t.strictSame(printed(service).map(({ level }) => level), [30, 40, 30, ...Array(texts.length - 3).fill(30)])
})

t.test('what is written to a standard stream is lines of their own', async (t) => {
  const service = await start(t)
  await post(t, service.url, call('raw'))
  await until(() => printed(service).length === 4, 'the lines')
  t.match(printed(service), [
    { level: 30, source: 'stdout', msg: 'raw and more' },
    { level: 30, source: 'stdout', msg: 'second' },
    { level: 40, source: 'stderr', msg: 'wrong' },
    { level: 30, source: 'stdout', msg: 'no end' }
  ])
  t.equal(service.stderr(), '')
})

t.test('a line without its end is logged when the process exits', async (t) => {
  const service = await startService(t, {
    TRIVET_LOG_LEVEL: 'info',
    TRIVET_CATALOG: await writeCatalog(t, {
      'tools/ends.ts': toolModule('ends', '', "() => { process.stdout.write('last words'); process.exit(3) }")
    })
  })
  await post(t, service.url, call('ends')).catch(() => undefined)
  t.equal(await service.stop(), 3)
  t.match(printed(service), [{ source: 'stdout', msg: 'last words' }])
})

t.test('a start that fails tells why on standard error, as plain text', async (t) => {
  const service = await start(t)
  const { port } = new URL(service.url)
  const catalog = await writeCatalog(t, { 'tools/a.ts': `process.stderr.write('loads\\n')\n${toolModule('a')}` })
  const { code, stdout, stderr } = await runService({ TRIVET_CATALOG: catalog, PORT: port })
  t.equal(code, 1)
  t.match(stderr, /^Cannot listen on port \d+ of .*EADDRINUSE\)\n$/)
  t.match(JSON.parse(stdout.split('\n')[0] ?? ''), { level: 40, source: 'stderr', msg: 'loads' })
})
