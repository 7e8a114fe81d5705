// The time limit of a definition holds for each of its handlers. Without one, that of the service does.

import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { problemsOf } from '../../helpers/load-catalog.ts'
import { send } from '../../helpers/request.ts'

const SERVICE_MS = 60
const OWN_MS = 20

const FILES = {
  'tools/t.ts': `import { defineTool } from 'trivet'
    export default defineTool({
      name: 'reads', timeoutMs: ${OWN_MS}, run: async (_, ctx) => await ctx.readResource('slow://x')
    })`,
  'prompts/p.ts': `import { definePrompt } from 'trivet'
    const never = () => new Promise(() => {})
    const slow = { arguments: [{ name: 'x', complete: never }], render: never }
    export const own = definePrompt({ name: 'own', timeoutMs: ${OWN_MS}, ...slow })
    export const other = definePrompt({ name: 'other', ...slow })`,
  'resources/r.resource.ts': `import { defineResource, defineResourceTemplate } from 'trivet'
    const never = () => new Promise(() => {})
    const slow = { complete: { id: never }, read: never }
    export const fixed = defineResource({ uri: 'own://fixed', name: 'r', timeoutMs: ${OWN_MS}, read: never })
    export const own = defineResourceTemplate({
      uriTemplate: 'own://t/{id}', name: 'own', timeoutMs: ${OWN_MS}, ...slow
    })
    export const other = defineResourceTemplate({ uriTemplate: 'slow://{id}', name: 'other', ...slow })`
}

t.test('ends prompts, reads and completions at the limit of their definition', async (t) => {
  const app = await buildApp(t, FILES, { requestTimeoutMs: SERVICE_MS })
  const completed = (ref: object, name: string) => ({
    method: 'completion/complete', params: { ref, argument: { name, value: '' } }
  })
  for (const [request, limitMs] of [
    [{ method: 'prompts/get', params: { name: 'own' } }, OWN_MS],
    [{ method: 'prompts/get', params: { name: 'other' } }, SERVICE_MS],
    [{ method: 'resources/read', params: { uri: 'own://fixed' } }, OWN_MS],
    [{ method: 'resources/read', params: { uri: 'own://t/1' } }, OWN_MS],
    [{ method: 'resources/read', params: { uri: 'slow://1' } }, SERVICE_MS],
    [completed({ type: 'ref/prompt', name: 'own' }, 'x'), OWN_MS],
    [completed({ type: 'ref/prompt', name: 'other' }, 'x'), SERVICE_MS],
    [completed({ type: 'ref/resource', uri: 'own://t/{id}' }, 'id'), OWN_MS],
    [completed({ type: 'ref/resource', uri: 'slow://{id}' }, 'id'), SERVICE_MS]
  ] as const) {
    const { response: { error } } = await send(app, request)
    t.strictSame(
      error, { code: -32603, message: `The request was stopped after ${limitMs} ms` }, JSON.stringify(request)
    )
  }
})

t.test('what a tool reads counts as time of the tool', async (t) => {
  const app = await buildApp(t, FILES, { requestTimeoutMs: SERVICE_MS })
  const { response } = await send(app, { method: 'tools/call', params: { name: 'reads' } })
  t.match(response.result, {
    isError: true, content: [{ text: `reads did not finish within ${OWN_MS} ms and was stopped.` }]
  })
})

t.test('a limit has the same bounds everywhere', async (t) => {
  const moduleOf = (define: string, members: string) =>
    `import { ${define} } from 'trivet'\nexport default ${define}({ name: 'a', timeoutMs: 0, ${members} })`
  const problems = await problemsOf(t, {
    'tools/a.ts': moduleOf('defineTool', 'run: () => ""'),
    'prompts/a.ts': moduleOf('definePrompt', 'render: () => ""'),
    'resources/a.resource.ts': moduleOf('defineResource', 'uri: "a://a", read: () => ""'),
    'resources/b.resource.ts': moduleOf('defineResourceTemplate', 'uriTemplate: "a://{a}", read: () => ""')
  })
  t.strictSame(problems.map(({ rule }) => rule), Array(4).fill('timeoutMs: must be >= 1, got 0'))
})
