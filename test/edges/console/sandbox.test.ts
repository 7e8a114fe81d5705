// The document between the page of the console and a screen, and its policy.

import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import fc from 'fast-check'
import t from 'tap'
import { toSandbox } from '../../../src/edges/console/sandbox.ts'

function policyOf (csp: unknown): string[] | undefined {
  return toSandbox(JSON.stringify(csp), 'key')?.headers['content-security-policy']?.split('; ')
}

const NOTHING = [
  "default-src 'none'", "script-src 'unsafe-inline'", "style-src 'unsafe-inline'", 'img-src data:',
  'media-src data:', "font-src 'none'", "connect-src 'none'", "frame-src 'none'", "base-uri 'self'",
  "object-src 'none'", "form-action 'none'", 'frame-ancestors http://localhost:* http://127.0.0.1:*'
]

t.test('a screen without csp may load nothing', async (t) => {
  for (const csp of [null, {}, { connectDomains: [], resourceDomains: [] }]) {
    t.strictSame(policyOf(csp), NOTHING)
  }
  const { headers, html = '' } = toSandbox('null', 'key') ?? {}
  t.match(headers, { 'content-type': 'text/html; charset=utf-8', 'x-content-type-options': 'nosniff' })
  t.match(html, "frame.sandbox = 'allow-scripts'\n")
})

t.test('each list of csp opens its own directives', async (t) => {
  const differs = (csp: object) => policyOf(csp)?.filter((directive) => !NOTHING.includes(directive))
  t.strictSame(differs({ connectDomains: ['https://a.example', 'wss://a.example:8443'] }), [
    'connect-src https://a.example wss://a.example:8443'
  ])
  t.strictSame(differs({ resourceDomains: ['https://*.b.example'] }), [
    "script-src 'unsafe-inline' https://*.b.example", "style-src 'unsafe-inline' https://*.b.example",
    'img-src data: https://*.b.example', 'media-src data: https://*.b.example', 'font-src https://*.b.example'
  ])
  t.strictSame(differs({ resourceDomains: ['data:'] }), ['font-src data:'])
  t.strictSame(differs({ frameDomains: ['https://c.example'] }), ['frame-src https://c.example'])
  t.strictSame(differs({ baseUriDomains: ['https://d.example'] }), ['base-uri https://d.example'])
})

t.test('what is no csp, or has what is no origin, is refused', async (t) => {
  for (const text of ['', 'nul', '{', '[]', '7', '"a"', '{"a":[]}', '{"connectDomains":"https://a.ie"}']) {
    t.equal(toSandbox(text, 'key'), undefined, text)
  }
  const wrong = [
    7, null, '', '*', 'https:', 'https://*', "'self'", "'unsafe-eval'", 'data:', 'a.example',
    'ftp://a.example', 'https://a.example/', 'https://a.example/path', 'https://a.example?',
    'https://u:p@a.example', 'https://a.example; script-src *', 'https://a.example,',
    'https://a.example\n', '\nhttps://a.example', 'https://a.example\r\nset-cookie: a=b', 'https://a.example https://b.example', 'https://\u0430.example'
  ]
  for (const list of ['connectDomains', 'resourceDomains', 'frameDomains', 'baseUriDomains']) {
    const mayBeData = list === 'resourceDomains'
    for (const origin of wrong.filter((one) => one !== 'data:' || !mayBeData)) {
      t.equal(policyOf({ [list]: [origin] }), undefined, JSON.stringify(origin))
    }
  }
  t.equal(policyOf({ connectDomains: Array(101).fill('https://a.example') }), undefined)
})

t.test('no text makes another directive or another header', async (t) => {
  const piece = fc.constantFrom(
    'https://', 'a.example', '*.', ';', ' ', '\n', '\r', ',', "'none'", ':1', '/', '\0'
  )
  const text = fc.oneof(fc.string(), fc.array(piece).map((parts) => parts.join('')))
  const names = NOTHING.map((directive) => directive.split(' ')[0])
  fc.assert(fc.property(fc.record({
    connectDomains: fc.array(text), resourceDomains: fc.array(text), frameDomains: fc.array(text)
  }, { requiredKeys: [] }), (csp) => {
    const policy = policyOf(csp)
    if (policy === undefined) return
    t.strictSame(policy.map((directive) => directive.split(' ')[0]), names)
    t.match(policy.join('; '), /^[\x20-\x7e]+$/)
  }), { numRuns: 2000 })
})

t.test('the code that shows screens is small', async (t) => {
  const source = new URL('../../../src/edges/console/page/screen/open-screen.ts', import.meta.url)
  const entry = fileURLToPath(source)
  const { outputFiles: [script] } = await build({
    entryPoints: [entry], bundle: true, minify: true, write: false, format: 'esm', platform: 'browser'
  })
  const bytes = script?.contents.length ?? 0
  t.ok(bytes > 1000 && bytes < 12_000, `${bytes} bytes`)
})
