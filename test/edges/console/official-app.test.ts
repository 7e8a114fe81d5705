// The official library for screens, against the bridge and the sandbox of the console.

import type { Frame } from 'playwright-core'
import t from 'tap'
import { hasChromium } from '../../browser/chromium.ts'
import { toolModule } from '../../helpers/catalog-folder.ts'
import { bundle, openScreenPage, until } from './screen-page.ts'

async function createCatalog () {
  return {
    'server.yaml': 'name: official\ntitle: Official\nversion: 1.0.0\n',
    'apps/official/index.html': '<!doctype html><html lang="en"><title>Official</title>' +
      '<body style="margin: 0"><p style="margin: 0; height: 300px">Screen</p>' +
      '<script src="screen.js"></script>',
    'apps/official/screen.js': await bundle('official-app.mjs'),
    'apps/official/app.yaml': 'permissions: [camera, clipboardWrite]\nprefersBorder: false\n' +
      'csp: { connectDomains: [\'https://api.example.com\'] }\n',
    'tools/open.ts': toolModule('open_official', "title: 'Open it', ui: 'official', inputSchema: " +
      "{ type: 'object', properties: { n: { type: 'integer' } } }", '({ n }) => ({ n })'),
    'tools/count.ts': toolModule('count', "visibility: ['app'], inputSchema: " +
      "{ type: 'object', properties: { to: { type: 'integer' } } }", '({ to }) => ({ counted: to })'),
    'tools/wait.ts': toolModule('wait', '', 'async () => {\n' +
      '  await new Promise((resolve) => setTimeout(resolve, 500))\n  return { waited: true }\n}'),
    'tools/private.ts': toolModule('for_the_model', "visibility: ['model']"),
    'resources/a.txt': 'The text of a file.\n'
  }
}

/** The text of what a promise of the screen rejects with. */
const problemOf = async (frame: Frame, code: string) => await frame.evaluate(
  `(${code}).then((value) => JSON.stringify(value), ({ code, message }) => code + ' ' + message)`
) as string

t.test('the official library for screens works on the console', { timeout: 90_000 }, async (t) => {
  if (!hasChromium(t)) return
  const { page, seen, show, problems } = await openScreenPage(t, await createCatalog())
  const frame = await show('open_official', { n: 7 })
  const outer = page.locator('iframe')

  await t.test('it learns where it is', async (t) => {
    await until(frame, 'heard.results.length === 1')
    t.match(await frame.evaluate('app.getHostContext()'), {
      theme: 'light',
      displayMode: 'inline',
      availableDisplayModes: ['inline'],
      toolInfo: { tool: { name: 'open_official', title: 'Open it', inputSchema: { type: 'object' } } },
      containerDimensions: { width: 604, maxHeight: 2000 },
      locale: 'en-US',
      platform: 'web'
    })
    t.match(await frame.evaluate('app.getHostCapabilities()'), {
      serverTools: {},
      serverResources: {},
      openLinks: {},
      logging: {},
      message: { text: {} },
      updateModelContext: { text: {}, structuredContent: {} },
      sandbox: {
        csp: { connectDomains: ['https://api.example.com'] }, permissions: { camera: {}, clipboardWrite: {} }
      }
    })
    t.match(await frame.evaluate('app.getHostVersion()'), { name: 'trivet-console' })
    t.strictSame(await frame.evaluate('heard.inputs'), [{ arguments: { n: 7 } }])
    t.match(await frame.evaluate('heard.results'), [{ structuredContent: { n: 7 } }])
    t.equal(await outer.getAttribute('title'), 'Screen of Open it')
  })

  await t.test('it may use what its permissions name, and nothing else', async (t) => {
    const features = await frame.evaluate('document.featurePolicy.allowedFeatures()') as string[]
    t.strictSame(
      ['camera', 'microphone', 'geolocation', 'clipboard-write'].filter((name) => features.includes(name)),
      ['camera', 'clipboard-write']
    )
  })

  await t.test('it calls tools, and those that are only for screens', async (t) => {
    const call = 'app.callServerTool({ name: "count", arguments: { to: 3 } })'
    t.match(await frame.evaluate(call), { structuredContent: { counted: 3 } })
    const tools = async () => (await seen()).requests.filter(({ method }) => method === 'tools/list').length
    const before = await tools()
    await frame.evaluate(call)
    t.equal(await tools(), before, 'the list of tools is read once')
    t.match((await seen()).requests.at(-1), { method: 'tools/call', params: { name: 'count' } })
    t.match(
      await problemOf(frame, 'app.callServerTool({ name: "for_the_model" })'),
      '-32602 Screens may not call for_the_model: its visibility lacks "app"'
    )
    t.match(await problemOf(frame, 'app.callServerTool({ name: "other" })'), '-32602 Tool other not found')
  })

  await t.test('it reads and lists resources', async (t) => {
    t.match(await frame.evaluate('app.readServerResource({ uri: "file:///a.txt" })'), {
      contents: [{ text: 'The text of a file.\n' }]
    })
    t.match(await frame.evaluate('app.listServerResources()'), { resources: [{ name: 'a.txt' }] })
    t.match(await problemOf(frame, 'app.readServerResource({ uri: "file:///none" })'), /^-32\d+ .*none/)
  })

  await t.test('it tells the model and the person', async (t) => {
    await frame.evaluate(`app.updateModelContext({
      content: [{ type: 'text', text: 'one' }, { type: 'image', data: '', mimeType: 'image/png' }],
      structuredContent: { two: 2 }
    })`)
    t.equal((await seen()).contexts.at(-1), 'one\n[image, image/png]\n{\n  "two": 2\n}')
    await frame.evaluate("app.sendMessage({ role: 'user', content: [{ type: 'text', text: 'Hello' }] })")
    t.strictSame((await seen()).messages, ['Hello'])
    await frame.evaluate("app.openLink({ url: 'https://example.com/a?b' })")
    t.match(await problemOf(frame, "app.openLink({ url: 'javascript:alert(1)' })"), '-32602 A link must be')
    t.strictSame((await seen()).links, ['https://example.com/a?b'])
    await frame.evaluate("app.sendLog({ level: 'warning', data: { a: 1 } })")
    // A notification has no answer that tells that it has arrived.
    await until(page, 'seen.logs.length > 0')
    t.match((await seen()).logs, ['warning: {"a":1}'])
  })

  await t.test('it is told what this host lacks', async (t) => {
    t.strictSame(await frame.evaluate("app.requestDisplayMode({ mode: 'fullscreen' })"), { mode: 'inline' })
    t.match(await problemOf(frame, 'app.downloadFile({ contents: [] })'), '-32601 Method not found')
    t.strictSame(await frame.evaluate("app.request({ method: 'ping' })"), {})
  })

  await t.test('it gets no answer to a request that it has cancelled', async (t) => {
    await frame.evaluate(`
      window.answers = []
      window.addEventListener('message', ({ data }) => { if ('result' in data) answers.push(data.result) })
      window.stop = new AbortController()
      window.cancelled = app.callServerTool({ name: 'wait' }, { signal: stop.signal }).catch(String)
      0
    `)
    await frame.evaluate('stop.abort("enough")')
    t.match(await frame.evaluate('cancelled'), 'enough')
    await frame.evaluate("app.callServerTool({ name: 'wait' })")
    t.equal(await frame.evaluate('answers.filter((one) => one.structuredContent?.waited).length'), 1)
  })

  await t.test('it hears of changes', async (t) => {
    await page.evaluate("screenHandle.setTheme('dark')")
    await until(frame, "app.getHostContext().theme === 'dark'")
    await page.evaluate('screenHandle.setResult({ content: [], structuredContent: { n: 8 } })')
    await until(frame, 'heard.results.at(-1).structuredContent.n === 8')
    await page.setViewportSize({ width: 500, height: 700 })
    await until(frame, 'app.getHostContext().containerDimensions.width === 484')
    t.equal(await frame.evaluate('app.getHostContext().containerDimensions.maxHeight'), 2000)
  })

  await t.test('its frame follows its size, up to a limit', async (t) => {
    const heightOf = async () => (await outer.boundingBox())?.height
    t.equal(await heightOf(), 300)
    const grow = async (height: number) => {
      await frame.evaluate(`document.querySelector('p').style.height = '${height}px'`)
      const shown = Math.min(height, 2000)
      await until(page, `document.querySelector('iframe').clientHeight === ${shown}`)
    }
    await grow(700)
    await grow(5000)
    await grow(6000)
    t.strictSame((await seen()).logs.slice(1), [
      'warning: The screen asks for a height of 5000 px. It gets 2000 px, and scrolls.'
    ])
    await grow(300)
  })

  await t.test('it gets its input and result again when it has loaded itself again', async (t) => {
    await frame.evaluate('location.reload()')
    const isBack = 'window.heard?.results.length === 1 && heard.inputs.length === 1'
    await until(frame, isBack)
    t.match(await frame.evaluate('heard.results'), [{ structuredContent: { n: 8 } }])
  })

  await t.test('it saves its work before it is closed', async (t) => {
    await page.evaluate('screenHandle.close()')
    t.equal((await seen()).contexts.at(-1), 'saved')
    t.equal(await outer.count(), 0)
    await page.evaluate('screenHandle.close()')
    await page.evaluate("screenHandle.setTheme('dark')")
  })

  await t.test('it closes itself', async (t) => {
    const again = await show('open_official')
    await again.evaluate('void app.requestTeardown()')
    await outer.waitFor({ state: 'detached' })
    t.equal((await seen()).contexts.filter((text) => text === 'saved').length, 2)
    t.match((await seen()).logs.at(-1), 'info: The screen asked to be closed.')
  })
  t.strictSame(problems, [])
})
