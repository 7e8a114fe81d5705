// Images and fonts in the page of a screen, in a host that allows only what app.yaml lists, as the official
// Inspector does.

import t, { type Test } from 'tap'
import type { AppCsp } from '../../src/platform/protocol/apps.ts'
import { toolModule, writeCatalog } from '../helpers/catalog-folder.ts'
import { startService } from '../helpers/service.ts'
import { post } from '../helpers/stream.ts'
import { hasChromium, openPage } from './chromium.ts'

const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA' +
  '60e6kgAAAABJRU5ErkJggg==', 'base64')
const FONT_STYLE = '<style>@font-face { font-family: f; src: url(own.woff2) } p { font-family: f }</style>'

const pageOf = (style: string) => `<!doctype html><html lang="en"><head><title>Files</title>${style}</head>
<body><p>Text</p><img alt="" src="dot.png"></body></html>`

/** Resolves to what the browser shows and says of the screen. */
async function show (t: Test, yaml: string, style = '') {
  const catalog = await writeCatalog(t, {
    'server.yaml': 'name: files\n',
    'tools/open.ts': toolModule('open', "ui: 'files'"),
    'apps/files/index.html': pageOf(style),
    'apps/files/dot.png': PIXEL,
    // No font: the browser says so once it may load it.
    'apps/files/own.woff2': 'x',
    'apps/files/app.yaml': yaml
  })
  const { url } = await startService(t, { TRIVET_CATALOG: catalog })
  const { response } = await post(t, url, { method: 'resources/read', params: { uri: 'ui://files/files' } })
  const [{ text, _meta }] = response.result.contents
  const page = await openPage(t)
  const said: string[] = []
  page.on('console', (message) => said.push(message.text()))
  const meta = `<meta http-equiv="content-security-policy" content="${toPolicy(_meta?.ui?.csp ?? {})}">`
  await page.setContent(text.replace('<head>', `<head>${meta}`), { waitUntil: 'load' })
  await page.evaluate('document.fonts.ready')
  return { width: await page.evaluate("document.querySelector('img').naturalWidth"), said: said.join('\n') }
}

function toPolicy ({ resourceDomains = [] }: AppCsp): string {
  const sources = resourceDomains.length === 0 ? "'none'" : resourceDomains.join(' ')
  return `default-src 'none'; style-src 'unsafe-inline'; img-src ${sources}; font-src ${sources}`
}

t.test('data: in resourceDomains shows images and loads fonts', { timeout: 90_000 }, async (t) => {
  if (!hasChromium(t)) return
  const withData = await show(t, 'csp: { resourceDomains: ["data:"] }\n', FONT_STYLE)
  t.equal(withData.width, 1)
  t.notMatch(withData.said, /Content Security Policy/)
  t.match(withData.said, /Failed to decode downloaded font: data:font\/woff2/)
  const without = await show(t, '')
  t.equal(without.width, 0)
  t.match(without.said, /Content Security Policy/)
})
