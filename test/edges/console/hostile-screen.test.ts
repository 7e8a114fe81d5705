// Screens that attack the console.

import type { Frame, Page } from 'playwright-core'
import t from 'tap'
import { hasChromium } from '../../browser/chromium.ts'
import { toolModule } from '../../helpers/catalog-folder.ts'
import { openScreenPage, until } from './screen-page.ts'

/** Initialises, and then does what the test tells it. */
const SCREEN = `<!doctype html><html lang="en"><title>Hostile</title><body><p>Screen</p><script>
const answers = []
const post = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*')
addEventListener('message', ({ data }) => {
  answers.push(data)
  if (data.id === 'start') post({ method: 'ui/notifications/initialized' })
})
post({ id: 'start', method: 'ui/initialize', params: {
  protocolVersion: '2026-01-26', appInfo: { name: 'hostile', version: '1' }, appCapabilities: {}
} })
</script>`

/** A sandbox and its screen in one, which know a key. */
const KNOWING_SANDBOX = `<!doctype html><html lang="en"><title>Sandbox</title><script>
const post = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*')
addEventListener('message', ({ data }) => {
  if (data.method === 'ui/notifications/sandbox-resource-ready') {
    post({ id: 'start', method: 'ui/initialize', params: {} })
  }
  if (data.id === 'start') post({ method: 'ui/notifications/initialized' })
})
post({ method: 'ui/notifications/sandbox-proxy-ready', params: { key: 'known' } })
</script>`

const CATALOG = {
  'server.yaml': 'name: hostile\ntitle: Hostile\nversion: 1.0.0\n',
  'apps/hostile/index.html': SCREEN,
  'apps/silent/index.html': '<!doctype html><html lang="en"><title>Silent</title><p>Nothing</p>',
  'tools/hostile.ts': toolModule('hostile', "ui: 'hostile'"),
  'tools/silent.ts': toolModule('silent', "ui: 'silent'"),
  'tools/wait.ts': toolModule('wait', '', 'async () => {\n' +
    '  await new Promise((resolve) => setTimeout(resolve, 100))\n  return { waited: true }\n}')
}

const logsOf = async (page: Page) => await page.evaluate('seen.logs') as string[]

/** A log message that the console shows, sent to `target` by a script. */
const logTo = (target: string, text: string) => `${target}.postMessage(
  { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: '${text}' } }, '*'
)`

/** Runs in a later turn: a debugger may do what a page may not. */
const later = async (frame: Frame, code: string) => await frame.evaluate(
  `new Promise((resolve) => setTimeout(async () => resolve(await (async () => { ${code} })())))`
)

t.test('a hostile screen', { timeout: 180_000 }, async (t) => {
  if (!hasChromium(t)) return
  const { page, service, sandbox, stranger, asked, reload, show } = await openScreenPage(t, CATALOG)
  const openHostile = async () => {
    await reload()
    return await show('hostile')
  }

  await t.test('a screen reaches no other origin', async (t) => {
    const frame = await openHostile()
    const own = new URL(sandbox).origin
    t.strictSame(await later(frame, `
      const reach = async (url) => await fetch(url, { mode: 'no-cors' }).then(() => url, () => 'blocked')
      const load = async (tag, attributes) => await new Promise((resolve) => {
        const element = Object.assign(document.createElement(tag), attributes)
        element.onload = () => resolve('loaded')
        element.onerror = () => resolve('blocked')
        document.body.append(element)
      })
      const link = (rel) => load('link', { rel, href: '${stranger}/link' })
      return {
        stranger: await reach('${stranger}/fetch'),
        service: await reach('${service}'),
        sandbox: await reach('${own}/console/state'),
        socket: await new Promise((resolve) => {
          try {
            const socket = new WebSocket('${stranger.replace('http', 'ws')}/socket')
            socket.onopen = () => resolve('opened')
            socket.onerror = () => resolve('blocked')
          } catch { resolve('blocked') }
        }),
        image: await load('img', { src: '${stranger}/image' }),
        ownImage: await load('img', { src: '${own}/image' }),
        script: await load('script', { src: '${stranger}/script' }),
        style: await link('stylesheet'),
        beacon: navigator.sendBeacon('${stranger}/beacon') && 'queued',
        popup: String(window.open('${stranger}/popup'))
      }
    `), {
      stranger: 'blocked',
      service: 'blocked',
      sandbox: 'blocked',
      socket: 'blocked',
      image: 'blocked',
      ownImage: 'blocked',
      script: 'blocked',
      style: 'blocked',
      // A beacon is blocked after it has been queued.
      beacon: 'queued',
      popup: 'null'
    })
    await later(frame, `
      document.body.insertAdjacentHTML('beforeend', '<form action="${stranger}/form"><button></button></form>' +
        '<a target="_top" href="${stranger}/top">a</a><iframe src="${stranger}/frame"></iframe>')
      document.querySelector('button').click()
      document.querySelector('a').click()
      try { top.location = '${stranger}/top' } catch {}
      location = '${stranger}/self?secret'
    `).catch(() => {})
    await page.waitForTimeout(500)
    t.strictSame(asked, [])
    t.match(page.url(), /^http:\/\/localhost:/)
  })

  await t.test('a screen reaches an origin that its csp lists, in the way of the list', async (t) => {
    await reload()
    const csp = JSON.stringify({ connectDomains: [stranger] })
    const html = JSON.stringify(SCREEN)
    const frame = await show('hostile', {}, `{ resource: { text: ${html}, meta: { csp: ${csp} } } }`)
    t.strictSame(await later(frame, `
      return [
        await fetch('${stranger}/fetch').then(({ status }) => status),
        await new Promise((resolve) => Object.assign(new Image(), {
          onload: () => resolve('loaded'), onerror: () => resolve('blocked'), src: '${stranger}/image'
        }))
      ]
    `), [200, 'blocked'])
    t.strictSame(asked, ['/fetch'])
  })

  await t.test('a screen sees nothing of the page or of its sandbox', async (t) => {
    const frame = await openHostile()
    t.strictSame(await later(frame, `
      const look = (see) => { try { return String(see()) } catch ({ name }) { return name } }
      return [
        () => parent.document, () => top.document, () => parent.location.href, () => top.location.href,
        () => parent.post, () => frameElement, () => localStorage, () => document.cookie, () => origin
      ].map(look)
    `), [
      'SecurityError', 'SecurityError', 'SecurityError', 'SecurityError',
      'SecurityError', 'null', 'SecurityError', 'SecurityError', 'null'
    ])
  })

  await t.test('messages of other windows and origins are ignored', async (t) => {
    const frame = await openHostile()
    await later(frame, `
      ${logTo('top', 'straight to the page')}
      document.body.insertAdjacentHTML('beforeend', '<iframe></iframe>')
      const inner = document.querySelector('iframe')
      inner.srcdoc = ${JSON.stringify(`<script>${logTo('parent.parent', 'a')};${logTo('top', 'b')}</script>`)}
        .replace('<\\\\/', '</')
      await new Promise((resolve) => { inner.onload = resolve })
    `)
    await page.evaluate(logTo('window', 'the page itself'))
    // Another screen in the same sandbox, and another origin.
    const html = `<script>${logTo('parent', 'another screen')}</script>`
    const message = { jsonrpc: '2.0', method: 'ui/notifications/sandbox-resource-ready', params: { html } }
    await page.evaluate(`(async () => {
      window.arrived = []
      window.addEventListener('message', ({ data }) => arrived.push(data.params?.data ?? data.method))
      for (const url of ['${sandbox}?csp=null', '${stranger}/']) {
        const other = document.createElement('iframe')
        other.src = url
        document.body.append(other)
        await new Promise((resolve) => { other.onload = resolve })
        other.contentWindow.postMessage(${JSON.stringify(message)}, '*')
      }
    })()`)
    await until(page, "arrived.includes('another screen') && arrived.includes('stranger')")
    t.strictSame(await logsOf(page), [])

    // Only the sandbox itself has these messages.
    await page.evaluate('arrived.length = 0')
    for (const name of ['proxy-ready', 'resource-ready', 'closed']) {
      await frame.evaluate(`post({ method: 'ui/notifications/sandbox-${name}', params: { html: 'b' } })`)
    }
    await frame.evaluate(logTo('parent', 'its own'))
    await until(page, 'seen.logs.length > 0')
    t.strictSame(await logsOf(page), ['info: its own'])
    t.strictSame(await page.evaluate('arrived'), ['its own'])
    t.equal(await frame.locator('p').innerText(), 'Screen')
    const methods = await frame.evaluate('answers.map(({ method }) => method ?? null)')
    t.strictSame(methods, [null, 'ui/notifications/tool-input', 'ui/notifications/tool-result'])
    // The frame shows another origin now.
    await page.evaluate(`(async () => {
      const frame = document.querySelector('main iframe')
      frame.src = '${stranger}/'
      await new Promise((resolve) => { frame.onload = resolve })
    })()`)
    await page.waitForTimeout(200)
    t.strictSame(await logsOf(page), ['info: its own'])
  })

  await t.test('messages that are too large, or are not JSON, are refused', async (t) => {
    const frame = await openHostile()
    const sendLarge = async (length: number) => await frame.evaluate(`
      post({
        id: ${length}, method: 'ui/message', params: { content: { type: 'text', text: 'a'.repeat(${length}) } }
      })
    `)
    await sendLarge(999_000)
    await until(frame, 'answers.some(({ id }) => id === 999000)')
    t.strictSame(await frame.evaluate('answers.at(-1)'), { jsonrpc: '2.0', id: 999_000, result: {} })
    t.equal(await page.evaluate('seen.messages[0].length'), 999_000)

    await sendLarge(1_500_000)
    await until(frame, 'answers.some(({ id }) => id === 1500000)')
    const problem = 'A message of the screen was refused: it has 1500099 characters as JSON. ' +
      'The limit is 1000000.'
    t.strictSame(await frame.evaluate('answers.at(-1)'), {
      jsonrpc: '2.0', id: 1_500_000, error: { code: -32600, message: problem }
    })
    await frame.evaluate('const ring = {}; ring.ring = ring; post({ ring }); post({ n: 1n })')
    await until(page, 'seen.logs.length === 3')
    const notJson = 'error: A message of the screen was refused: it is not JSON.'
    t.strictSame(await logsOf(page), [`error: ${problem}`, notJson, notJson])
    t.equal(await page.evaluate('seen.messages.length'), 1)

    for (const odd of [
      'null', '7', '"text"', '[]', '{ method: {} }', '{ id: {}, method: "ping" }', '{ id: 9 }',
      '{ method: "ui/notifications/size-changed", params: 7 }', '{ method: "notifications/message" }',
      '{ id: "b", method: "constructor" }', '{ id: "c", method: "ui/message", params: { content: 7 } }',
      '{ id: "d", method: "ui/open-link" }'
    ]) {
      await frame.evaluate(`parent.postMessage(Object.assign(Object(${odd}), { jsonrpc: '2.0' }), '*')`)
    }
    await until(frame, 'answers.some(({ id }) => id === "d")')
    t.strictSame(await frame.evaluate('answers.slice(-3).map(({ id, error }) => [id, error])'), [
      ['b', { code: -32601, message: 'Method not found: constructor' }],
      ['c', { code: -32602, message: 'content must be a list of content blocks' }],
      ['d', { code: -32602, message: 'A link must be a URL of https, http or mailto' }]
    ])
  })

  await t.test('a screen has at most 100 open requests', async (t) => {
    const frame = await openHostile()
    await frame.evaluate(`for (let id = 0; id < 150; id++) {
      post({ id, method: 'tools/call', params: { name: 'wait', _meta: { 'x/y': 1 } } })
    }`)
    await frame.evaluate("post({ id: 7, method: 'ping' })")
    const waited = 'answers.filter(({ result }) => result?.structuredContent?.waited).length'
    await until(frame, `${waited} === 100`)
    t.strictSame(await frame.evaluate('answers.flatMap(({ error }) => error ? [error.message] : [])'), [
      ...Array(50).fill('The screen has 100 open requests. Wait for an answer before the next one.'),
      'The id 7 is of a request that is still open.'
    ])
    await frame.evaluate("post({ id: 7, method: 'ping' })")
    await until(frame, 'answers.at(-1).id === 7')
    t.strictSame(await frame.evaluate('answers.at(-1).result'), {})
  })

  await t.test('a flood of messages closes the screen', async (t) => {
    const frame = await openHostile()
    frame.evaluate(`for (let sent = 0; sent < 50_000; sent++) ${logTo('parent', 'a')}`).catch(() => {})
    await page.locator('iframe').waitFor({ state: 'detached' })
    const shown = await logsOf(page)
    t.ok(shown.length > 900 && shown.length < 5000, `${shown.length} messages`)
    t.equal(shown.at(-1), 'error: The screen was closed: it may send 200 messages a second.')
    await page.waitForTimeout(300)
    t.equal((await logsOf(page)).length, shown.length)
  })

  await t.test('a screen that never ends its turn does not stop the page', async (t) => {
    const frame = await openHostile()
    await frame.evaluate('void setTimeout(() => { for (;;); })')
    await page.waitForTimeout(200)
    const began = Date.now()
    await page.evaluate('screenHandle.close()')
    const took = Date.now() - began
    t.ok(took >= 900 && took < 5000, `${took} ms`)
    t.equal(await page.locator('iframe').count(), 0)
    const next = await show('hostile')
    t.equal(await next.locator('p').innerText(), 'Screen', 'and the next one works')
  })

  await t.test('sizes that make no sense change nothing', async (t) => {
    const frame = await openHostile()
    const heightAfter = async (height: string) => {
      const params = `{ width: 9e9, height: ${height} }`
      await frame.evaluate(`post({ method: 'ui/notifications/size-changed', params: ${params} })`)
      await frame.evaluate("post({ id: 'after', method: 'ping' })")
      await until(frame, "answers.some(({ id }) => id === 'after') && answers.splice(0).length > 0")
      return await page.evaluate("document.querySelector('iframe').clientHeight")
    }
    t.equal(await heightAfter('300'), 300)
    for (const height of ['-1', 'NaN', 'null', '"900"', '{}']) t.equal(await heightAfter(height), 300, height)
    t.equal(await heightAfter('9e9'), 2000)
    t.equal(await page.evaluate("document.querySelector('iframe').offsetWidth"), 604)
  })

  await t.test('a sandbox must know the key of the service', async (t) => {
    await reload()
    await page.route(`${sandbox}*`, async (route) => await route.fulfill({
      contentType: 'text/html', body: KNOWING_SANDBOX
    }))
    await t.rejects(
      page.evaluate("show('hostile', {}, { sandboxKey: 'other' })"),
      `Another program answers at ${new URL(sandbox).origin}: end it, or give dev another PORT.`
    )
    t.equal(await page.locator('iframe').count(), 0)
    await page.evaluate("show('hostile', {}, { sandboxKey: 'known' }).then(() => {})")
    t.equal(await page.locator('iframe').count(), 1)
    await page.unroute(`${sandbox}*`)
  })

  await t.test('a screen that cannot be shown says why, and leaves nothing', async (t) => {
    await reload()
    const own = sandbox.replace('127.0.0.1', 'localhost')
    await t.rejects(show('hostile', {}, `{ sandboxUrl: '${own}' }`), /must have another origin than the page/)
    const csp = JSON.stringify({ connectDomains: ['https://a.example; script-src *'] })
    const changes = `{ resource: { text: '', meta: { csp: ${csp} } } }`
    await Promise.all([
      t.rejects(show('silent'), /did not initialise within 10 seconds. It must send ui\/initialize/),
      t.rejects(show('hostile', {}, changes), /did not load within 10 seconds. The csp of the screen may be refused/)
    ])
    t.equal(await page.locator('iframe').count(), 0)
  })
})
