// Who may import whom. Each rule is also shown a source that breaks it, because a rule that cannot fail holds
// nothing.

import { readdir, readFile } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import {
  breaksOfBackends, breaksOfBarrels, breaksOfCycles, breaksOfEras, breaksOfNames, breaksOfPackage,
  breaksOfProcess, breaksOfRooms, breaksOfSize, breaksOfStrangers, breaksOfWires,
  readImports, type Import, type Sources
} from './helpers/source-rules.ts'

const SRC = fileURLToPath(new URL('../src', import.meta.url))

/** What each room may import of ours, beside itself. */
const ROOMS = {
  protocol: [],
  access: [],
  sealing: [],
  schema: ['protocol'],
  authoring: ['protocol', 'access'],
  events: ['protocol', 'access'],
  state: ['authoring', 'schema', 'protocol', 'access'],
  backends: ['state', 'events', 'protocol'],
  input: ['sealing', 'authoring', 'schema', 'protocol', 'access'],
  catalog: ['state', 'authoring', 'schema', 'protocol', 'access'],
  modules: [],
  files: ['catalog', 'state', 'sealing', 'input', 'authoring', 'access', 'protocol'],
  sources: ['modules', 'catalog', 'authoring', 'schema', 'protocol', 'events'],
  dispatch: ['catalog', 'authoring', 'files', 'state', 'events', 'input', 'schema', 'access', 'protocol'],
  tasks: ['dispatch', 'catalog', 'state', 'events', 'input', 'sealing', 'access', 'protocol'],
  legacy: [
    'dispatch', 'catalog', 'authoring', 'state', 'events', 'input', 'sealing', 'schema', 'protocol', 'access'
  ],
  methods: [
    'legacy', 'tasks', 'dispatch', 'catalog', 'authoring', 'state', 'events', 'input', 'schema', 'protocol',
    'access'
  ],
  metrics: ['dispatch'],
  audit: ['dispatch', 'access', 'protocol', 'log'],
  overload: [],
  tracing: ['dispatch', 'authoring', 'input', 'protocol'],
  // An adapter knows no method and no catalog: the pipeline does.
  http: ['legacy', 'dispatch', 'events', 'files', 'overload', 'protocol', 'access'],
  advice: ['catalog', 'protocol'],
  contracts: ['catalog', 'protocol'],
  client: ['catalog', 'protocol'],
  cli: [
    'advice', 'client', 'contracts', 'access', 'catalog', 'config.ts', 'index.ts', 'log', 'protocol',
    'schema', 'settings', 'sources', 'testing'
  ],
  settings: ['files', 'catalog', 'backends', 'access', 'config.ts'],
  'config.ts': ['settings', 'backends', 'access'],
  log: ['settings', 'config.ts', 'catalog', 'dispatch'],
  // The parts of the composition root.
  app: ['*'],
  'app.ts': ['*'],
  'launch.ts': ['main.ts'],
  'main.ts': ['app.ts', 'app', 'cli', 'config.ts', 'log', 'settings', 'catalog', 'overload'],
  testing: ['app.ts', 'authoring', 'catalog', 'dispatch', 'access', 'protocol'],
  'testing.ts': ['testing', 'catalog', 'protocol'],
  'index.ts': ['app.ts', 'config.ts', 'authoring', 'access', 'protocol']
}

async function readSources (): Promise<Sources> {
  const files = (await readdir(SRC, { recursive: true })).filter((file) => file.endsWith('.ts')).toSorted()
  return new Map(
    await Promise.all(
      files.map(async (file) => [file.split(sep).join('/'), await readFile(join(SRC, file), 'utf8')] as const)
    )
  )
}

const mayImportFastify = ({ file, isType }: Import) => file.startsWith('http/') || file === 'app.ts' ||
  (isType && /^(?:main\.ts$|app\/)/.test(file))
const DRIVERS: { readonly [name: string]: string } = {
  lmdb: 'backends/lmdb/', ioredis: 'backends/redis/', aws4fetch: 'files/s3/'
}
const mayImportDriver = ({ file, target }: Import) => file.startsWith(DRIVERS[target] ?? '')
const ENTRY = /^backends\/[^/]+\/backend\.ts$/
/**
 * The table has the entry of each. The folder of LMDB has only a store: the other parts are those of memory.
 */
const mayImportBackend = ({ file, target }: Import) => {
  return (file === 'backends/url-schemes.ts' && ENTRY.test(target)) ||
    (file.startsWith('backends/lmdb/') && target.startsWith('backends/memory/'))
}
/** A service without an admin address must not load the library. */
const mayImportMetrics = ({ file, target, isType, isDynamic }: Import) =>
  !target.startsWith('metrics/') || file.startsWith('metrics/') || isType || isDynamic
/** A service without traces must not load the API of OpenTelemetry. */
const mayImportTracing = ({ file, target, isType, isDynamic }: Import) =>
  !target.startsWith('tracing/') || file.startsWith('tracing/') || isType || isDynamic
/** A service that serves must not load the code for tests. The commands may. */
const mayImportTesting = ({ file, target }: Import) =>
  !/^testing[./]/.test(target) || /^(?:testing[./]|cli\/)/.test(file)
const mayImportAjv = ({ file, isType }: Import) => file === 'schema/ajv-instances.ts' || isType

/** Every rule, by its claim, with sources that break it. */
const RULES: ReadonlyArray<{
  readonly claim: string
  readonly breaks: (sources: Sources) => string[]
  readonly made: { readonly [file: string]: string }
  readonly found: readonly string[]
}> = [
  {
    claim: 'each room imports only the rooms that it may',
    breaks: (sources) => breaksOfRooms(sources, ROOMS),
    made: {
      'protocol/a.ts': "import type { Principal } from '../access/principal.ts'\n",
      'events/b.ts': "import { x } from './event-bus.ts'\nimport {\n  y,\n  z\n} from " +
        "'../dispatch/method.ts'\n",
      'http/c.ts': "import '../methods/tools-call.ts'\nexport { a } from '../authoring/context.ts'\n",
      'sources/d.ts': "const x = await import('../app.ts')\n",
      'utils/e.ts': '',
      'catalog/f.ts': "// import { a } from '../http/body.ts'\nimport { b } from '../protocol/errors.ts'\n"
    },
    found: [
      'utils is not listed', 'protocol/a.ts imports access/principal.ts',
      'events/b.ts imports dispatch/method.ts', 'http/c.ts imports methods/tools-call.ts',
      'http/c.ts imports authoring/context.ts', 'sources/d.ts imports app.ts'
    ]
  },
  {
    claim: 'methods do not import methods',
    breaks: (sources) => breaksOfStrangers(sources, 'methods', /method-list\.ts$/),
    made: {
      'methods/a.ts': "import { toolsCall } from './tools-call.ts'\n",
      'methods/method-list.ts': "import { a } from './a.ts'\n"
    },
    found: ['methods/a.ts imports methods/tools-call.ts']
  },
  {
    claim: 'nothing of the current era knows the earlier ones',
    breaks: (sources) => breaksOfEras(sources),
    made: {
      'http/legacy/a.ts': "import { s } from '../../legacy/session.ts'\n",
      'app.ts': "import { open } from './app/legacy.ts'\n",
      'app/legacy.ts': "import { a } from '../http/legacy/a.ts'\n",
      'http/b.ts': "import { a } from './legacy/a.ts'\n",
      'dispatch/c.ts': "import type { S } from '../legacy/session.ts'\n"
    },
    found: ['http/b.ts imports http/legacy/a.ts', 'dispatch/c.ts imports legacy/session.ts']
  },
  {
    claim: 'each wire has the same files for the same jobs',
    breaks: (sources) => breaksOfWires(sources),
    made: {
      'http/modern/post.ts': '',
      'http/modern/outlet.ts': '',
      'http/legacy/post.ts': '',
      'http/legacy/listen.ts': ''
    },
    found: ['http/modern/outlet.ts has no counterpart in http/legacy/']
  },
  {
    claim: 'only http/ and app.ts import Fastify and its plugins',
    breaks: (sources) => breaksOfPackage(sources, /^(?:@fastify\/|fastify)/, mayImportFastify),
    made: {
      'dispatch/a.ts': "import type { FastifyReply } from 'fastify'\n",
      'main.ts': "import type { FastifyInstance } from 'fastify'\nimport Fastify from 'fastify'\n",
      'http/b.ts': "import cors from '@fastify/cors'\n",
      'methods/c.ts': "import plugin from 'fastify-plugin'\n"
    },
    found: ['dispatch/a.ts imports fastify', 'main.ts imports fastify', 'methods/c.ts imports fastify-plugin']
  },
  {
    claim: 'one file imports ajv when it runs',
    breaks: (sources) => breaksOfPackage(sources, /^ajv/, mayImportAjv),
    made: {
      'schema/a.ts': "import type { ErrorObject } from 'ajv'\n",
      'schema/ajv-instances.ts': "import { Ajv } from 'ajv'\n",
      'schema/b.ts': "import { Ajv2020 } from 'ajv/dist/2020.js'\n",
      'schema/c.ts': "import { type ErrorObject } from 'ajv'\n"
    },
    found: ['schema/b.ts imports ajv/dist/2020.js', 'schema/c.ts imports ajv']
  },
  {
    claim: 'only metrics/ imports prom-client, and the others import metrics/ late',
    breaks: (sources) => [
      ...breaksOfPackage(sources, /^prom-client$/, ({ file }) => file.startsWith('metrics/')),
      ...readImports(sources).filter((one) => !mayImportMetrics(one)).map(
        ({ file, target }) => `${file} imports ${target} early`
      )
    ],
    made: {
      'metrics/a.ts': "import { Registry } from 'prom-client'\nimport { b } from './b.ts'\n",
      'app/admin.ts': "import type { A } from '../metrics/a.ts'\nconst a = await import('../metrics/a.ts')\n",
      'app.ts': "import { a } from './metrics/a.ts'\n",
      'http/b.ts': "import type { Registry } from 'prom-client'\n"
    },
    found: ['http/b.ts imports prom-client', 'app.ts imports metrics/a.ts early']
  },
  {
    claim: 'only tracing/ imports OpenTelemetry, and the others import tracing/ late',
    breaks: (sources) => [
      ...breaksOfPackage(sources, /^@opentelemetry\//, ({ file }) => file.startsWith('tracing/')),
      ...readImports(sources).filter((one) => !mayImportTracing(one)).map(
        ({ file, target }) => `${file} imports ${target} early`
      )
    ],
    made: {
      'tracing/a.ts': "import { trace } from '@opentelemetry/api'\nimport { b } from './b.ts'\n",
      'app/tracing.ts': "import type { A } from '../tracing/a.ts'\nconst a = import('../tracing/a.ts')\n",
      'app.ts': "import { a } from './tracing/a.ts'\n",
      'dispatch/b.ts': "import type { Span } from '@opentelemetry/api'\n"
    },
    found: ['dispatch/b.ts imports @opentelemetry/api', 'app.ts imports tracing/a.ts early']
  },
  {
    claim: 'nothing that serves imports testing/',
    breaks: (sources) => readImports(sources).filter((one) => !mayImportTesting(one)).map(
      ({ file, target }) => `${file} imports ${target}`
    ),
    made: {
      'cli/call.ts': "const { open } = await import('../testing.ts')\n",
      'testing.ts': "export { open } from './testing/a.ts'\n",
      'testing/a.ts': "import type { B } from './b.ts'\n",
      'app.ts': "import { open } from './testing/a.ts'\n",
      'index.ts': "export { open } from './testing.ts'\n"
    },
    found: ['app.ts imports testing/a.ts', 'index.ts imports testing.ts']
  },
  {
    claim: 'testing/ works with every test runner',
    breaks: (sources) => breaksOfPackage(
      sources, /^(?:node:test|tap|vitest)$/, ({ file }) => !/^testing[./]/.test(file)
    ),
    made: { 'testing/a.ts': "import { after } from 'node:test'\nimport { run } from './node:test.ts'\n" },
    found: ['testing/a.ts imports node:test']
  },
  {
    claim: 'a driver is imported by its own folder alone',
    breaks: (sources) => breaksOfPackage(sources, /^(?:lmdb|ioredis|aws4fetch)$/, mayImportDriver),
    made: {
      'backends/lmdb/a.ts': "import { open } from 'lmdb'\n",
      'backends/redis/b.ts': "import { Redis } from 'ioredis'\n",
      'backends/redis/c.ts': "import { open } from 'lmdb'\n",
      'backends/memory/d.ts': "import type { Redis } from 'ioredis'\n",
      'backends/e.ts': "const { Redis } = await import('ioredis')\n",
      'app.ts': "import { open } from 'lmdb'\n",
      'files/folder/f.ts': "import { AwsClient } from 'aws4fetch'\n"
    },
    found: [
      'backends/redis/c.ts imports lmdb', 'backends/memory/d.ts imports ioredis',
      'backends/e.ts imports ioredis', 'app.ts imports lmdb', 'files/folder/f.ts imports aws4fetch'
    ]
  },
  {
    claim: 'only main.ts, and launch.ts before it, touch the process',
    breaks: breaksOfProcess,
    made: {
      'config.ts': 'const port = process.env.PORT\n',
      'main.ts': 'process.exit()\n',
      'http/a.ts': "// ends the process\n/** a process */\nlog('the process')\n",
      'http/b.ts': "import { env } from 'node:process'\n",
      'http/c.ts': 'const { exit } = globalThis.process\n'
    },
    found: ['config.ts touches process', 'http/b.ts touches process', 'http/c.ts touches process']
  },
  {
    claim: "what is in a backend's folder is imported by its own folder, and its entry by the table of URL " +
      'schemes',
    breaks: (sources) => breaksOfBackends(sources, mayImportBackend),
    made: {
      'app.ts': "import { a } from './backends/memory/open.ts'\nimport { b } from " +
        "'./backends/url-schemes.ts'\n",
      'backends/url-schemes.ts': "import { a } from './redis/backend.ts'\nimport { b } from " +
        "'./lmdb/open.ts'\n",
      'backends/outage-log.ts': "import type { A } from './redis/connection.ts'\n",
      'backends/lmdb/open.ts': "import { a } from '../memory/relay.ts'\nimport { b } from " +
        "'./state-store.ts'\n",
      'backends/lmdb/a.ts': "import { a } from '../redis/relay.ts'\n",
      'backends/redis/b.ts': "import { a } from '../memory/relay.ts'\nimport { b } from '../backend.ts'\n",
      'state/c.ts': "import { a } from '../backends/redis/state-store.ts'\nimport { b } from " +
        "'./state-store.ts'\n"
    },
    found: [
      'app.ts imports backends/memory/open.ts', 'backends/url-schemes.ts imports backends/lmdb/open.ts',
      'backends/outage-log.ts imports ' +
        'backends/redis/connection.ts', 'backends/lmdb/a.ts imports backends/redis/relay.ts',
      'backends/redis/b.ts imports ' +
        'backends/memory/relay.ts', 'state/c.ts imports backends/redis/state-store.ts'
    ]
  },
  {
    claim: 'no imports go in a circle, but for the late one of index.ts',
    breaks: breaksOfCycles,
    made: {
      'app.ts': "const trivet = await import('./index.ts')\n",
      'index.ts': "export { app } from './app.ts'\n",
      'a.ts': "import { b } from './b.ts'\n",
      'b.ts': "import type { c } from './c.ts'\n",
      'c.ts': "const a = await import('./a.ts')\n",
      'd.ts': "import { a } from './a.ts'\n"
    },
    found: ['a.ts -> b.ts -> c.ts -> a.ts']
  },
  {
    claim: 'no file is longer than 300 lines',
    breaks: (sources) => breaksOfSize(sources, 300),
    made: { 'a.ts': 'a\n'.repeat(300), 'b.ts': 'b\n'.repeat(301) },
    found: ['b.ts has 301 lines']
  },
  {
    claim: 'no two files export the same name',
    breaks: breaksOfNames,
    made: {
      'a.ts': 'export interface A {}\nexport function b (): void {}\n',
      'c/a.ts': 'export class A {}\nexport async function d (): Promise<void> {}\n',
      'c/b.ts': '// export const b = 1\nexport type D = A\nexport const d = 1\n'
    },
    found: ['A is of a.ts, c/a.ts', 'd is of c/a.ts, c/b.ts']
  },
  {
    claim: 'only index.ts and testing.ts pass on what others export',
    breaks: breaksOfBarrels,
    made: {
      'index.ts': "export { a } from './a.ts'\n",
      'testing.ts': "export { a } from './a.ts'\n",
      'a/index.ts': "export * from './b.ts'\n",
      'b.ts': "export {\n  a,\n  b\n} from './a.ts'\n",
      'c.ts': "export type { A } from './a.ts'\n",
      'd.ts': "export const from = 'a'\nexport { from as to }\n"
    },
    found: [
      'a/index.ts passes on what others export', 'b.ts passes on what others export',
      'c.ts passes on what others export'
    ]
  }
]

const sources = await readSources()

for (const { claim, breaks, made, found } of RULES) {
  t.test(claim, (t) => {
    t.strictSame(breaks(sources), [])
    t.strictSame(breaks(new Map(Object.entries(made))), found, 'and the rule can fail')
    t.end()
  })
}

t.test('sees every import that there is', (t) => {
  const imports = readImports(sources)
  t.ok(sources.size > 80)
  const statements = [...sources.values()].flatMap(
    (text) => text.match(/^(?:import\b.*|\} from .*|export .* from .*)'$/gm) ?? []
  )
  t.equal(imports.filter(({ isDynamic }) => !isDynamic).length, statements.length)
  t.strictSame(
    imports.filter(({ isOurs, target }) => isOurs && !sources.has(target)), [],
    'and each is of a file that exists'
  )
  t.ok(imports.some(({ isDynamic, target }) => isDynamic && target === 'index.ts'))
  t.end()
})
