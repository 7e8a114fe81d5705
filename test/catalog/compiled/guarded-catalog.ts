// A catalog with hidden and challenging primitives of every kind, and the same catalog without what a caller
// may not see.

import type { Authenticator } from '../../../src/platform/access/authentication.ts'
import type { Files } from '../../helpers/catalog-folder.ts'
import { scopesOf } from './scoped-catalog.ts'

/** The scopes of each caller in its token, and with those that they include. */
export const CALLERS: ReadonlyArray<readonly [held: string, granted: string]> = [
  ['', ''], ['a', 'a'], ['b', 'b'], ['a b', 'a b'], ['admin', 'admin staff a b']
]

/** A caller without a header is anonymous. */
export const authenticator: Authenticator = {
  admitsAnonymous: true,
  authenticate: (authorization = '') => ({
    ...(authorization !== '' && { subject: 'someone' }), scopes: scopesOf(authorization)
  })
}

interface Guarded { readonly scopes: string, readonly whenMissing?: string, readonly text: string }

const schema = `inputSchema: {
  type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } }, required: ['region']
}, requiredCapabilities: { sampling: {} }`

const TOOLS: readonly Guarded[] = [
  { scopes: 'a', text: "name: 'search_orders', run: () => 'orders'" },
  { scopes: 'a b', text: `name: 'search_refunds', ${schema}, run: () => 'refunds'` },
  { scopes: 'b', text: "name: 'create_thing', run: () => 'made'" },
  { scopes: 'b', whenMissing: 'challenge', text: `name: 'pay', ${schema}, run: () => 'paid'` },
  { scopes: 'nobody', text: "name: 'zzzz_never', run: () => ''" },
  { scopes: '', text: "name: 'search_books', run: () => 'books'" },
  {
    scopes: '',
    text: `name: 'peek', run: async (_, ctx) => (await ctx.handles(things).read('thg_${'A'.repeat(22)}')).x`
  },
  {
    scopes: '',
    text: `name: 'touch', inputSchema: { type: 'object', properties: { uri: { type: 'string' } } },
      run: ({ uri }, ctx) => { ctx.notify.resourceUpdated(uri); return 'touched' }`
  }
]

const PROMPTS: readonly Guarded[] = [
  {
    scopes: 'a',
    text: "name: 'brief', arguments: [{ name: 'x', required: true, complete: ['y'] }], render: () => 'brief'"
  },
  {
    scopes: 'b',
    whenMissing: 'challenge',
    text: "name: 'plan', arguments: [{ name: 'x' }], render: () => 'plan'"
  },
  { scopes: 'nobody', text: "name: 'zzzz_never', render: () => ''" },
  { scopes: '', text: "name: 'greet', render: () => 'hello'" }
]

const RESOURCES: readonly Guarded[] = [
  { scopes: 'a', text: "uri: 'doc://board', name: 'board', read: () => 'board'" },
  { scopes: 'a', text: "uri: 'file:///secret.txt', name: 'secret', read: () => 'secret'" },
  { scopes: 'b', whenMissing: 'challenge', text: "uri: 'pay://slip', name: 'slip', read: () => 'slip'" },
  { scopes: 'nobody', text: "uri: 'zzzz://never', name: 'never', read: () => ''" },
  { scopes: '', text: "uri: 'doc://open', name: 'open', read: () => 'open'" }
]

const TEMPLATES: readonly Guarded[] = [
  {
    scopes: 'b',
    text: `uriTemplate: 'doc://private/{id}', name: 'private', complete: { id: ['one'] },
      list: () => [{ name: 'first', variables: { id: '1' } }], read: ({ id }) => 'private ' + id`
  },
  {
    scopes: 'a',
    whenMissing: 'challenge',
    text: "uriTemplate: 'bill://{id}', name: 'bills', complete: { id: ['one'] }, read: ({ id }) => id"
  },
  { scopes: 'nobody', text: "uriTemplate: 'zzzz://{id}', name: 'never', read: () => ''" },
  {
    scopes: '',
    text: `uriTemplate: 'doc://{+path}', name: 'all', complete: { path: ['x'] },
      read: ({ path }) => /board|private/.test(path) ? undefined : 'doc ' + path`
  }
]

const SKILLS: readonly Guarded[] = [
  { scopes: 'a', text: 'late-orders' },
  { scopes: 'a b', text: 'acme/refunds' },
  { scopes: 'b', whenMissing: 'challenge', text: 'acme/pay-back' },
  { scopes: 'nobody', text: 'zzzz/never' },
  { scopes: '', text: 'find-books' }
]

/** Some need a scope that nobody has, so that each list differs by caller in any case. */
const isDecoy = ({ scopes }: Guarded) => scopes === 'nobody'

/** @param granted if present, what a caller with these scopes may not see is left out. */
export function guardedFiles (granted?: string): Files {
  const isKept = (one: Guarded) => granted === undefined || isDecoy(one) || one.whenMissing === 'challenge' ||
    [...scopesOf(one.scopes)].every((scope) => scopesOf(granted).has(scope))
  const define = (kind: string, all: readonly Guarded[]) => all.filter(isKept).map((one) => {
    const scopes = one.scopes === '' ? '' : `scopes: ${JSON.stringify(one.scopes.split(' '))}, `
    const whenMissing = one.whenMissing === undefined ? '' : `whenMissing: '${one.whenMissing}', `
    return `${kind}({ ${scopes}${whenMissing}${one.text} })`
  }).join(',\n')
  const hasCreator = TOOLS.some((one) => one.text.includes('create_thing') && isKept(one))
  const imported = 'import { defineHandle, definePrompt, defineResource, defineResourceTemplate, ' +
    "defineTool } from 'trivet'"
  return {
    'server.yaml': `name: shop
scopes:
  - name: admin
    description: Everything.
    includes: [staff, b]
  - name: staff
    includes: [a]`,
    'tools/all.ts': `${imported}
      export const things = defineHandle({
        kind: 'thing', prefix: 'thg', idleTtlMs: 60_000, ${hasCreator ? "createdBy: 'create_thing'," : ''}
        schema: { type: 'object' }
      })
      export default [${define('defineTool', TOOLS)}]`,
    'prompts/all.ts': `${imported}\nexport default [${define('definePrompt', PROMPTS)}]`,
    'resources/all.resource.ts': `${imported}
      export default [
        ${define('defineResource', RESOURCES)}, ${define('defineResourceTemplate', TEMPLATES)}
      ]`,
    'resources/docs/plain.txt': 'plain',
    ...Object.assign({}, ...SKILLS.filter(isKept).map(toSkill))
  }
}

function toSkill ({ text, scopes, whenMissing }: Guarded): Files {
  const guard = scopes === '' ? '' : `\nmetadata:\n  trivet/scopes: ${scopes}`
  const answer = whenMissing === undefined ? '' : `\n  trivet/whenMissing: ${whenMissing}`
  return {
    [`skills/${text}/SKILL.md`]:
      `---\nname: ${text.split('/').at(-1)}\ndescription: How to.${guard}${answer}\n---\nDo.\n`,
    [`skills/${text}/references/terms.md`]: 'Terms.'
  }
}
