// The tables of docs/protocol.md are those of the sources. `npm run protocol` writes the table of features.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import * as revisions from '../../src/platform/protocol/revisions.ts'
import { buildApp } from '../helpers/app.ts'
import { META } from '../helpers/request.ts'
import { ROOT } from './pages.ts'

const FILE = join(ROOT, 'docs/protocol.md')
const TABLE = /(?<=^\| Feature \|.*\n.*\n)(?:\|.*\n)+/m

/** The words for each predicate of src/platform/protocol/revisions.ts. */
const FEATURES: { readonly [predicate: string]: string } = {
  hasToolAnnotations: 'Annotations of tools',
  hasAudio: 'Audio',
  hasProgressMessage: 'A message beside the numbers of progress',
  hasCompletionsCapability: 'The capability `completions`',
  hasBatches: 'Batches',
  hasTitles: 'Titles',
  hasStructuredContent: 'Structured content',
  hasResourceLinks: 'Links to resources in results',
  hasElicitation: 'Elicitation',
  hasLastModified: '`lastModified` in annotations',
  hasMetaOnParts: '`_meta` on definitions and contents',
  hasIcons: 'Icons',
  hasDescribedImplementations: 'Description and website of the server',
  hasElicitationModes: 'Elicitation by URL, and defaults of all fields',
  hasSamplingTools: 'Sampling with tools',
  hasStreamPolling: 'Streams that are closed and resumed during a call',
  hasTasks: 'The extension for tasks',
  hasSkills: 'The extension for skills'
}

/** A request of the modern era has no stream that is resumed: nothing asks the predicate there. */
const OF_SESSIONS = ['hasStreamPolling']

/** The columns of the table. */
const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']

t.test('the table of features is that of the revisions', async (t) => {
  const predicates = Object.entries(revisions).filter(([name]) => name.startsWith('has'))
  t.strictSame(predicates.map(([name]) => name).toSorted(), Object.keys(FEATURES).toSorted())
  const has = (name: string, revision: string): boolean => {
    const [, predicate] = predicates.find(([other]) => other === name) ?? []
    if (OF_SESSIONS.includes(name) && !revisions.isLegacyRevision(revision)) return false
    return typeof predicate === 'function' && Boolean(Reflect.apply(predicate, undefined, [revision]))
  }
  const rows = Object.entries(FEATURES).map(([name, words]) => {
    return `| ${words} |${REVISIONS.map((revision) => has(name, revision) ? ' yes |' : ' |').join('')}\n`
  }).join('')
  const page = await readFile(FILE, 'utf8')
  if (process.env.PROTOCOL_PAGE === 'write') await writeFile(FILE, page.replace(TABLE, () => rows))
  else t.equal(TABLE.exec(page)?.[0], rows, 'npm run protocol writes it')
  for (const revision of REVISIONS) {
    t.ok(revisions.isSupportedRevision(revision) || revisions.isLegacyRevision(revision), revision)
    t.match(page, revision)
  }
})

t.test('each method is served in the eras that the table says, and in no other', async (t) => {
  const page = await readFile(FILE, 'utf8')
  const rows = [...page.matchAll(/^\| `([\w/]+)` \| (yes)? ?\| (yes)? ?\|$/gm)]
  t.ok(rows.length > 15)
  const app = await buildApp(t, {})
  const accept = 'application/json, text/event-stream'
  const post = async (method: string, params: object, headers: object) => await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { accept, 'content-type': 'application/json', ...headers },
    payload: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  })
  const clientInfo = { name: 'test', version: '1' }
  const about = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  const begun = await post('initialize', about, {})
  const session = String(begun.headers['mcp-session-id'])
  const isUnknown = ({ body }: { body: string }) => body.includes('"code":-32601')
  for (const [, method = '', modern, legacy] of rows) {
    const ofModern = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method }
    // Without the params that it needs a method is refused in another way.
    const answer = await post(method, { _meta: META }, ofModern)
    t.equal(isUnknown(answer), modern !== 'yes', `modern ${method}`)
    const ofSession = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }
    t.equal(isUnknown(await post(method, {}, ofSession)), legacy !== 'yes', `legacy ${method}`)
  }
})
