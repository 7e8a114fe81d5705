// Who may import whom. Each rule is also shown a source that breaks it, because a rule that cannot fail holds
// nothing.

import { readdir, readFile } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import {
  breaksOfBackends, breaksOfBarrels, breaksOfCrowds, breaksOfCycles, breaksOfEras, breaksOfNames,
  breaksOfPackage, breaksOfPermissions, breaksOfProcess, breaksOfRooms, breaksOfSize,
  breaksOfSmallFiles, breaksOfStrangers, breaksOfTime, breaksOfTypeNames, breaksOfWires, readImports,
  type Import, type Sources
} from './helpers/source-rules.ts'

const SRC = fileURLToPath(new URL('../src', import.meta.url))

/**
 * The rooms that each room may import beside itself and base/, from the leaves to the composition. The
 * folders of catalog/, store/, request/, legacy/ and ops/ are rooms of their own.
 */
const ROOMS = {
  base: [],
  protocol: [],
  access: [],
  schema: ['protocol'],
  limits: ['access', 'protocol'],
  author: ['access', 'limits', 'protocol'],
  'store/sealing': [],
  'store/records': ['access', 'author', 'limits', 'protocol', 'schema'],
  'store/changes': ['access', 'limits', 'protocol'],
  'store/backends': ['limits', 'store/changes', 'store/records'],
  'catalog/modules': [],
  'catalog/compiled': ['access', 'author', 'limits', 'protocol', 'schema', 'store/records'],
  'catalog/folder': [
    'author', 'catalog/compiled', 'catalog/modules', 'protocol', 'schema', 'store/changes'
  ],
  'catalog/advice': ['catalog/compiled', 'protocol'],
  'catalog/contracts': ['catalog/compiled', 'protocol'],
  'request/questions': ['author', 'protocol', 'schema', 'store/sealing'],
  'request/pipeline': [
    'access', 'author', 'catalog/compiled', 'limits', 'protocol', 'request/questions', 'schema',
    'store/changes', 'store/records'
  ],
  'request/methods': [
    'access', 'author', 'catalog/compiled', 'limits', 'protocol', 'request/pipeline', 'schema',
    'store/changes'
  ],
  tasks: [
    'access', 'author', 'catalog/compiled', 'limits', 'protocol', 'request/pipeline', 'request/questions',
    'schema', 'store/changes', 'store/records', 'store/sealing'
  ],
  files: [
    'access', 'author', 'limits', 'protocol', 'request/pipeline', 'store/changes', 'store/records',
    'store/sealing'
  ],
  upstreams: ['access', 'author', 'catalog/compiled', 'limits'],
  'ops/overload': [],
  'ops/config': ['access', 'files', 'limits', 'store/backends'],
  'ops/log': ['catalog/compiled', 'ops/config'],
  'ops/audit': ['access', 'ops/config', 'ops/log', 'request/pipeline'],
  'ops/metrics': ['limits', 'request/pipeline'],
  'ops/tracing': ['author', 'catalog/compiled', 'protocol', 'request/pipeline', 'request/questions'],
  // An adapter knows no method and no catalog: the pipeline does.
  http: [
    'access', 'files', 'limits', 'ops/overload', 'protocol', 'request/pipeline', 'store/changes'
  ],
  'legacy/sessions': [
    'access', 'author', 'catalog/compiled', 'limits', 'protocol', 'request/pipeline',
    'request/questions', 'schema', 'store/changes', 'store/records', 'store/sealing'
  ],
  'legacy/methods': ['catalog/compiled', 'legacy/sessions', 'protocol', 'request/pipeline', 'schema'],
  'legacy/http': [
    'access', 'http', 'legacy/sessions', 'limits', 'protocol', 'request/pipeline', 'store/changes'
  ],
  // What an author sees of the service beside the endpoint.
  console: [
    'access', 'catalog/advice', 'catalog/compiled', 'catalog/folder', 'http', 'protocol', 'schema'
  ],
  // The composition of the era.
  'legacy/open.ts': [
    'catalog/compiled', 'http', 'legacy/http', 'legacy/methods', 'legacy/sessions', 'ops/config', 'protocol',
    'request/pipeline', 'store/changes', 'store/records', 'store/sealing'
  ],
  // The composition.
  app: ['*'],
  'app.ts': ['*'],
  'index.ts': ['access', 'app.ts', 'author', 'limits', 'ops/config', 'protocol'],
  testing: [
    'access', 'app.ts', 'author', 'catalog/compiled', 'limits', 'ops/config', 'protocol', 'request/pipeline',
    'tasks', 'upstreams'
  ],
  'testing.ts': ['catalog/compiled', 'protocol', 'tasks', 'testing'],
  cli: [
    'access', 'catalog/advice', 'catalog/compiled', 'catalog/contracts', 'catalog/folder', 'index.ts',
    'ops/config', 'ops/log', 'protocol', 'schema', 'store/backends', 'testing'
  ],
  'main.ts': [
    'app', 'app.ts', 'catalog/compiled', 'cli', 'ops/config', 'ops/log', 'ops/overload', 'ops/tracing',
    'process'
  ],
  process: ['app', 'catalog/compiled', 'http', 'ops/config', 'ops/log', 'ops/metrics', 'store/backends'],
  'launch.ts': ['main.ts']
}

/** For the source that breaks the rule of permissions. */
const SMALL_HOUSE = { a: ['b', 'c'], b: [] }

async function readSources (): Promise<Sources> {
  const files = (await readdir(SRC, { recursive: true })).filter((file) => file.endsWith('.ts')).toSorted()
  return new Map(
    await Promise.all(
      files.map(async (file) => [file.split(sep).join('/'), await readFile(join(SRC, file), 'utf8')] as const)
    )
  )
}

const mayImportFastify = ({ file, isType }: Import) => /^(?:http|legacy\/http)\//.test(file) ||
  file === 'app.ts' || (isType && /^(?:main\.ts$|app\/|legacy\/open\.ts$)/.test(file))
const DRIVERS: { readonly [name: string]: string } = {
  lmdb: 'store/backends/lmdb/',
  ioredis: 'store/backends/redis/',
  pg: 'store/backends/postgres/',
  aws4fetch: 'files/s3/'
}
const mayImportDriver = ({ file, target }: Import) => file.startsWith(DRIVERS[target] ?? '')
const ENTRY = /^store\/backends\/[^/]+\/backend\.ts$/
/** The table has the entry of each. */
const mayImportBackend = ({ file, target }: Import) => {
  return file === 'store/backends/url-schemes.ts' && ENTRY.test(target)
}
/** A service without an admin address must not load the library. */
const mayImportMetrics = ({ file, target, isType, isDynamic }: Import) =>
  !target.startsWith('ops/metrics/') || file.startsWith('ops/metrics/') || isType || isDynamic
/** A service without traces must not load the API of OpenTelemetry. */
const mayImportTracing = ({ file, target, isType, isDynamic }: Import) =>
  !target.startsWith('ops/tracing/') || file.startsWith('ops/tracing/') || isType || isDynamic
/** A service whose catalog has no upstream must not load undici. */
const mayImportPool = ({ target, isType, isDynamic }: Import) =>
  target !== 'upstreams/pool.ts' || isType || isDynamic
/** A service that serves must not load the code for tests. The commands may. */
const mayImportTesting = ({ file, target }: Import) =>
  !/^testing[./]/.test(target) || /^(?:testing[./]|cli\/)/.test(file)
/** The page of the console runs in a browser. `init` writes the source of a tool that rolls dice. */
const mayTakeTime = (file: string) => file === 'base/time.ts' || file === 'cli/initial-files.ts' ||
  file.startsWith('console/page/')
/** Siblings of one contract, which a table names: a backend of state, and a storage of files. */
const mayBeSmall = (file: string) => /^(?:store\/backends\/\w+\/backend|files\/\w+\/kind)\.ts$/.test(file)
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
      'store/changes/b.ts': "import { x } from './broadcast.ts'\nimport {\n  y,\n  z\n} from " +
        "'../../request/pipeline/method.ts'\n",
      'http/c.ts': "import '../request/methods/tools-call.ts'\nexport { a } from '../author/context.ts'\n",
      'catalog/folder/d.ts': "const x = await import('../../app.ts')\n",
      'catalog/e.ts': '',
      'utils/e.ts': '',
      'catalog/compiled/lists/f.ts': "// import { a } from '../../../http/body.ts'\n" +
        "import { b } from '../../../protocol/errors.ts'\n",
      'base/g.ts': "import { b } from '../protocol/errors.ts'\n"
    },
    found: [
      'catalog/e.ts is not listed', 'utils is not listed', 'protocol/a.ts imports access/principal.ts',
      'store/changes/b.ts imports request/pipeline/method.ts',
      'http/c.ts imports request/methods/tools-call.ts', 'http/c.ts imports author/context.ts',
      'catalog/folder/d.ts imports app.ts', 'base/g.ts imports protocol/errors.ts'
    ]
  },
  {
    claim: 'each room imports the rooms that it may',
    breaks: (sources) => breaksOfPermissions(sources, sources.has('launch.ts') ? ROOMS : SMALL_HOUSE),
    made: { 'a/a.ts': "import { b } from '../b/b.ts'\n", 'b/b.ts': '' },
    found: ['a does not import c']
  },
  {
    claim: 'methods do not import methods',
    breaks: (sources) => breaksOfStrangers(sources, 'request/methods', /method-list\.ts$/),
    made: {
      'request/methods/a.ts': "import { toolsCall } from './tools-call.ts'\n",
      'request/methods/method-list.ts': "import { a } from './a.ts'\n"
    },
    found: ['request/methods/a.ts imports request/methods/tools-call.ts']
  },
  {
    claim: 'nothing of the current era knows the earlier ones',
    breaks: (sources) => breaksOfEras(sources),
    made: {
      'legacy/http/a.ts': "import { s } from '../sessions/session.ts'\n",
      'app.ts': "import { open } from './legacy/open.ts'\nimport { s } from './legacy/sessions/session.ts'\n",
      'legacy/open.ts': "import { a } from './http/a.ts'\n",
      'http/b.ts': "import { a } from '../legacy/http/a.ts'\n",
      'request/pipeline/c.ts': "import type { S } from '../../legacy/sessions/session.ts'\n"
    },
    found: [
      'app.ts imports legacy/sessions/session.ts', 'http/b.ts imports legacy/http/a.ts',
      'request/pipeline/c.ts imports legacy/sessions/session.ts'
    ]
  },
  {
    claim: 'each wire has the same files for the same jobs',
    breaks: (sources) => breaksOfWires(sources),
    made: {
      'http/modern/post.ts': '',
      'http/modern/outlet.ts': '',
      'legacy/http/post.ts': '',
      'legacy/http/listen.ts': ''
    },
    found: ['http/modern/outlet.ts has no counterpart in legacy/http/']
  },
  {
    claim: 'only http/, legacy/http/ and app.ts import Fastify and its plugins',
    breaks: (sources) => breaksOfPackage(sources, /^(?:@fastify\/|fastify)/, mayImportFastify),
    made: {
      'request/pipeline/a.ts': "import type { FastifyReply } from 'fastify'\n",
      'legacy/http/a.ts': "import type { FastifyReply } from 'fastify'\n",
      'main.ts': "import type { FastifyInstance } from 'fastify'\nimport Fastify from 'fastify'\n",
      'http/b.ts': "import cors from '@fastify/cors'\n",
      'legacy/sessions/c.ts': "import plugin from 'fastify-plugin'\n"
    },
    found: [
      'request/pipeline/a.ts imports fastify', 'main.ts imports fastify',
      'legacy/sessions/c.ts imports fastify-plugin'
    ]
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
    claim: 'only ops/metrics/ imports prom-client, and the others import it late',
    breaks: (sources) => [
      ...breaksOfPackage(sources, /^prom-client$/, ({ file }) => file.startsWith('ops/metrics/')),
      ...readImports(sources).filter((one) => !mayImportMetrics(one)).map(
        ({ file, target }) => `${file} imports ${target} early`
      )
    ],
    made: {
      'ops/metrics/a.ts': "import { Registry } from 'prom-client'\nimport { b } from './b.ts'\n",
      'app/admin.ts': "import type { A } from '../ops/metrics/a.ts'\n" +
        "const a = await import('../ops/metrics/a.ts')\n",
      'app.ts': "import { a } from './ops/metrics/a.ts'\n",
      'http/b.ts': "import type { Registry } from 'prom-client'\n"
    },
    found: ['http/b.ts imports prom-client', 'app.ts imports ops/metrics/a.ts early']
  },
  {
    claim: 'only ops/tracing/ imports OpenTelemetry, and the others import it late',
    breaks: (sources) => [
      ...breaksOfPackage(sources, /^@opentelemetry\//, ({ file }) => file.startsWith('ops/tracing/')),
      ...readImports(sources).filter((one) => !mayImportTracing(one)).map(
        ({ file, target }) => `${file} imports ${target} early`
      )
    ],
    made: {
      'ops/tracing/a.ts': "import { trace } from '@opentelemetry/api'\nimport { b } from './b.ts'\n",
      'app/a.ts': "import type { A } from '../ops/tracing/a.ts'\n" +
        "const a = import('../ops/tracing/a.ts')\n",
      'app.ts': "import { a } from './ops/tracing/a.ts'\n",
      'tasks/b.ts': "import type { Span } from '@opentelemetry/api'\n"
    },
    found: ['tasks/b.ts imports @opentelemetry/api', 'app.ts imports ops/tracing/a.ts early']
  },
  {
    claim: 'one file imports undici when it runs, and the others import it late',
    breaks: (sources) => [
      ...breaksOfPackage(
        sources, /^undici$/, ({ file, isType }) => file === 'upstreams/pool.ts' ||
          (isType && file.startsWith('upstreams/'))
      ),
      ...readImports(sources).filter((one) => !mayImportPool(one)).map(
        ({ file, target }) => `${file} imports ${target} early`
      )
    ],
    made: {
      'upstreams/pool.ts': "import { Pool } from 'undici'\n",
      'upstreams/a.ts': "import type { Dispatcher } from 'undici'\nconst a = await import('./pool.ts')\n",
      'upstreams/b.ts': "import { fetch } from 'undici'\nimport { a } from './pool.ts'\n",
      'access/c.ts': "import type { Dispatcher } from 'undici'\n"
    },
    found: [
      'upstreams/b.ts imports undici', 'access/c.ts imports undici',
      'upstreams/b.ts imports upstreams/pool.ts early'
    ]
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
    breaks: (sources) => breaksOfPackage(sources, /^(?:lmdb|ioredis|pg|aws4fetch)$/, mayImportDriver),
    made: {
      'store/backends/lmdb/a.ts': "import { open } from 'lmdb'\n",
      'store/backends/redis/b.ts': "import { Redis } from 'ioredis'\n",
      'store/backends/redis/c.ts': "import { open } from 'lmdb'\n",
      'store/backends/memory/d.ts': "import type { Redis } from 'ioredis'\n",
      'store/backends/e.ts': "const { Redis } = await import('ioredis')\n",
      'app.ts': "import { open } from 'lmdb'\n",
      'files/folder/f.ts': "import { AwsClient } from 'aws4fetch'\n"
    },
    found: [
      'store/backends/redis/c.ts imports lmdb', 'store/backends/memory/d.ts imports ioredis',
      'store/backends/e.ts imports ioredis', 'app.ts imports lmdb', 'files/folder/f.ts imports aws4fetch'
    ]
  },
  {
    claim: 'only main.ts, launch.ts before it, and its room touch the process',
    breaks: breaksOfProcess,
    made: {
      'ops/config/config.ts': 'const port = process.env.PORT\n',
      'main.ts': 'process.exit()\n',
      'process/signals.ts': 'process.exit()\n',
      'http/a.ts': "// ends the process\n/** a process */\nlog('the process')\n",
      'http/b.ts': "import { env } from 'node:process'\n",
      'http/c.ts': 'const { exit } = globalThis.process\n'
    },
    found: ['ops/config/config.ts touches process', 'http/b.ts touches process', 'http/c.ts touches process']
  },
  {
    claim: "what is in a backend's folder is imported by its own folder, and its entry by the table of URL " +
      'schemes',
    breaks: (sources) => breaksOfBackends(sources, mayImportBackend),
    made: {
      'app.ts': "import { a } from './store/backends/memory/state-store.ts'\nimport { b } from " +
        "'./store/backends/url-schemes.ts'\n",
      'store/backends/url-schemes.ts': "import { a } from './redis/backend.ts'\nimport { b } from " +
        "'./lmdb/open.ts'\n",
      'store/backends/outage-log.ts': "import type { A } from './redis/connection.ts'\n",
      'store/backends/lmdb/open.ts': "import { a } from '../backend.ts'\nimport { b } from " +
        "'./state-store.ts'\n",
      'store/backends/lmdb/a.ts': "import { a } from '../redis/channel.ts'\n",
      'store/backends/redis/b.ts': "import { a } from '../memory/state-store.ts'\n" +
        "import { b } from '../backend.ts'\n",
      'store/records/c.ts': "import { a } from '../backends/redis/state-store.ts'\nimport { b } from " +
        "'./state-store.ts'\n"
    },
    found: [
      'app.ts imports store/backends/memory/state-store.ts',
      'store/backends/url-schemes.ts imports store/backends/lmdb/open.ts',
      'store/backends/outage-log.ts imports store/backends/redis/connection.ts',
      'store/backends/lmdb/a.ts imports store/backends/redis/channel.ts',
      'store/backends/redis/b.ts imports store/backends/memory/state-store.ts',
      'store/records/c.ts imports store/backends/redis/state-store.ts'
    ]
  },
  {
    claim: 'clocks, timers and random numbers come from base/time.ts alone',
    breaks: (sources) => breaksOfTime(sources, mayTakeTime),
    made: {
      'base/time.ts': 'const now = () => Date.now()\n',
      'tasks/a.ts': 'const end = performance.now() + 5\n',
      'tasks/b.ts': "import { setTimeout as pause } from 'node:timers/promises'\n",
      'tasks/c.ts': 'const timer = setInterval(look, 5)\n',
      'tasks/d.ts': "import { randomBytes } from 'node:crypto'\n",
      'tasks/e.ts': '// Date.now() is read once.\nsocket.setTimeout(5)\ntimers.setTimeout(look, 5)\n',
      'tasks/f.ts': 'const signal = AbortSignal.timeout(5)\n'
    },
    found: ['a', 'b', 'c', 'd', 'f'].map((name) => `tasks/${name}.ts has a time of its own`)
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
    claim: 'no folder has more than 25 files directly in it',
    breaks: (sources) => breaksOfCrowds(sources, 25),
    made: { 'a/b/c.ts': '', ...Object.fromEntries(Array.from({ length: 26 }, (_, at) => [`a/${at}.ts`, ''])) },
    found: ['a has 26 files']
  },
  {
    claim: 'a file of under 15 lines that one other imports belongs to that file',
    breaks: (sources) => breaksOfSmallFiles(sources, mayBeSmall),
    made: {
      'a.ts': "import { b } from './b.ts'\nimport { c } from './c.ts'\nimport { d } from './d.ts'\n",
      'b.ts': 'b\n'.repeat(14),
      'c.ts': "import { d } from './d.ts'\n".repeat(15),
      'd.ts': 'd\n',
      'files/url-schemes.ts': "import { kind } from './s3/kind.ts'\n",
      'files/s3/kind.ts': ''
    },
    found: ['b.ts belongs to a.ts']
  },
  {
    claim: 'no two files declare a type of the same name',
    breaks: breaksOfTypeNames,
    made: {
      'a.ts': 'interface A {}\nclass B {}\n',
      'b.ts': '// interface A {}\nexport type A = 1\nconst B = 1\n'
    },
    found: ['A is of a.ts, b.ts']
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
