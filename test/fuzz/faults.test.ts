// The fuzzer finds faults: each of these is put into the service or its catalog, and is found.

import t from 'tap'
import { CAUSE_CANARY, PRIVATE_CANARY } from './canaries.ts'
import { fuzz, type FuzzOptions } from './run.ts'

const definition = (name: string, run: string) =>
  `import { defineTool } from 'trivet'\nexport default defineTool({ name: '${name}', description: 'A tool.', run: ${run} })\n`
const kept: unknown[] = []

const FAULTS: ReadonlyArray<{
  readonly fault: string
  readonly options: Omit<FuzzOptions, 'seed' | 'requests'>
  readonly problem: RegExp
}> = [
  {
    fault: 'an answer with the cause of an error',
    options: { files: { 'tools/fails.ts': definition('fails', `() => '${CAUSE_CANARY}'`) } },
    problem: new RegExp(`^the answer has ${CAUSE_CANARY}$`)
  },
  {
    fault: 'an answer with a text that its caller may not see',
    options: { files: { 'tools/hidden.ts': definition('hidden', `() => '${PRIVATE_CANARY}'`) } },
    problem: new RegExp(`^the answer has ${PRIVATE_CANARY}$`)
  },
  {
    fault: 'an internal error that no handler throws on purpose',
    options: { files: { 'tools/blocks.ts': definition('blocks', '() => null.x') } },
    problem: /^(?:internal error|the log has an error)/
  },
  {
    fault: 'a good request that is answered wrong',
    options: { files: { 'resources/open.txt': 'another text' } },
    problem: /^the answer must have an open text$/
  },
  {
    fault: '500 for a header',
    options: {
      prepare (app) {
        app.addHook('onRequest', async ({ headers }) => {
          if (headers.range?.startsWith('bytes=') === true) throw new Error('not a range')
        })
      }
    },
    problem: /^status 500$/
  },
  {
    fault: 'a result that its revision does not have',
    options: {
      prepare (app) {
        app.addHook('onSend', async (_request, _reply, body) => {
          return typeof body === 'string' ? body.replace('"resultType":"complete",', '') : body
        })
      }
    },
    problem: /resultType/
  },
  {
    fault: 'a text of a client in the log',
    options: {
      prepare (app) {
        app.addHook('preHandler', async ({ log, body }) => log.info({ body }, 'received'))
      }
    },
    problem: /^the log has /
  },
  {
    fault: 'memory that grows with each request of a session',
    options: {
      prepare (app) {
        app.addHook('onRequest', async ({ headers }) => {
          if (headers['mcp-session-id'] !== undefined) kept.push(Array.from({ length: 15_000 }, () => ({})))
        })
      }
    },
    problem: /^the heap has grown by \d+ KiB$/
  }
]

for (const { fault, options, problem } of FAULTS) {
  t.test(`finds ${fault}`, async (t) => {
    const { failures } = await fuzz({ seed: 1, requests: 700, shrinks: false, ...options })
    const problems = failures.flatMap((failure) => failure.problems)
    t.ok(problems.some((one) => problem.test(one)), JSON.stringify(problems).slice(0, 2000))
    kept.length = 0
  })
}
