// Handlers of the official reference servers run unchanged, by the adapter of docs/migrating.md.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ROOT } from '../docs/pages.ts'
import { toPost } from '../helpers/request.ts'
import { startService } from '../helpers/service.ts'

const EVERYTHING = '@modelcontextprotocol/server-everything/dist/tools'
const PICTURE = Buffer.from('89504e470d0a1a0a0000000d', 'hex')

const EVERYTHING_TOOLS = `
import { toolsOf } from '../lib/sdk-tools.js'
import { registerEchoTool } from '${EVERYTHING}/echo.js'
import { registerGetSumTool } from '${EVERYTHING}/get-sum.js'
import { registerGetTinyImageTool } from '${EVERYTHING}/get-tiny-image.js'
import { registerGetStructuredContentTool } from '${EVERYTHING}/get-structured-content.js'
import { registerGetResourceLinksTool } from '${EVERYTHING}/get-resource-links.js'
export const [echo] = toolsOf(registerEchoTool)
export const [sum] = toolsOf(registerGetSumTool)
export const [image] = toolsOf(registerGetTinyImageTool)
export const [structured] = toolsOf(registerGetStructuredContentTool)
export const [links] = toolsOf(registerGetResourceLinksTool)
`

/** The server registers its tools when it is imported, and reads its folder from the command line. */
const FILESYSTEM_TOOLS = `
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { sdkTool } from '../lib/sdk-tools.js'
const tools = {}
McpServer.prototype.registerTool = (name, ...args) => { tools[name] = sdkTool(name, ...args) }
McpServer.prototype.connect = async () => {}
process.argv.splice(2, Infinity, process.env.FILES)
await import('@modelcontextprotocol/server-filesystem/dist/index.js')
export const {
  read_text_file: text, read_media_file: media, write_file: write, list_directory: list, get_file_info: info
} = tools
`

async function serve (t: Test, tools: string) {
  const page = await readFile(join(ROOT, 'docs/migrating.md'), 'utf8')
  const [, adapter = ''] = /^```js catalog\/lib\/sdk-tools\.js\n(.*?)^```/ms.exec(page) ?? []
  const catalog = t.testdir({
    lib: { 'sdk-tools.js': adapter },
    tools: { 'a.js': tools },
    files: { 'a.txt': 'one', 'b.png': PICTURE, 'c.bin': PICTURE }
  })
  const { url } = await startService(t, {
    TRIVET_CATALOG: catalog, TRIVET_STATE_URL: 'memory:', FILES: join(catalog, 'files')
  })
  return async (name: string, args: object = {}) => {
    const { headers, body } = toPost({ method: 'tools/call', params: { name, arguments: args } })
    const response = await fetch(url, { method: 'POST', headers, body })
    const { result, error } = JSON.parse(await response.text())
    t.equal(error, undefined, name)
    const { _meta, resultType, ...members } = result
    return members
  }
}

t.test('handlers of the reference server everything run unchanged', async (t) => {
  const call = await serve(t, EVERYTHING_TOOLS)
  t.strictSame(await call('echo', { message: 'hi' }), { content: [{ type: 'text', text: 'Echo: hi' }] })
  t.match(await call('get-sum', { a: 2, b: 3 }), { content: [{ text: /\b5\b/ }] })
  const picture = { type: 'image', mimeType: 'image/png' }
  t.match((await call('get-tiny-image')).content, [{ type: 'text' }, picture])
  const weather = await call('get-structured-content', { location: 'Chicago' })
  t.strictSame(JSON.parse(weather.content[0].text), weather.structuredContent)
  const { content } = await call('get-resource-links', { count: 2 })
  const links = content.filter(({ type }: { type: string }) => type === 'resource_link')
  t.equal(links.length, 2)
  for (const { uri } of links) t.ok(content.some(({ text }: { text?: string }) => text?.includes(uri)))
})

t.test('handlers of the reference server filesystem run unchanged', async (t) => {
  const call = await serve(t, FILESYSTEM_TOOLS)
  const path = (name: string) => ({ path: join(t.testdirName, 'files', name) })
  const content = 'one'
  t.strictSame(await call('read_text_file', path('a.txt')), {
    content: [{ type: 'text', text: content }], structuredContent: { content }
  })
  const image = { type: 'image', data: PICTURE.toString('base64'), mimeType: 'image/png' }
  t.strictSame(await call('read_media_file', path('b.png')), {
    content: [image], structuredContent: { content: [image] }
  }, 'the picture is not in a text')
  const { content: [embedded, ...more], structuredContent } = await call('read_media_file', path('c.bin'))
  t.match(embedded, { type: 'resource', resource: { blob: PICTURE.toString('base64') } })
  t.strictSame([more, structuredContent], [[], { content: [embedded] }])
  t.match((await call('list_directory', path(''))).structuredContent, { content: /\[FILE\] a\.txt/ })
  t.match((await call('get_file_info', path('a.txt'))).structuredContent, { content: /size: 3/ })
  t.notOk((await call('write_file', { ...path('d.txt'), content: 'new' })).isError)
  t.equal(await readFile(path('d.txt').path, 'utf8'), 'new')
  t.match(await call('read_text_file', { path: '/etc/hostname' }), {
    isError: true, content: [{ text: /^Access denied/ }]
  })
})
