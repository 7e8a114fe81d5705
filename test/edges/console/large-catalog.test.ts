// The page of the console with 500 tools, and with forms of every kind of field.

import t, { type Test } from 'tap'
import type { Page } from 'playwright-core'
import { hasChromium } from '../../browser/chromium.ts'
import { checkViews } from '../../browser/views.ts'
import { activityOf, openConsole, selectKey, startConsole, untilStatus } from './open-console.ts'

const TOOLS = 500
const PER_FILE = 50
const FIELDS = 100

function toolFiles (): { [path: string]: string } {
  const files: { [path: string]: string } = {}
  for (let first = 0; first < TOOLS; first += PER_FILE) {
    const tools = Array.from({ length: PER_FILE }, (_, at) => `export const t${at} = defineTool({
  name: 'tool_${first + at}', title: 'Tool ${first + at}',
  description: 'The tool number ${first + at}.', run: () => 'ok' })`)
    files[`tools/from-${first}.ts`] = `import { defineTool } from 'trivet'\n${tools.join('\n')}\n`
  }
  return files
}

const WIDE = {
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: FIELDS }, (_, at) => [
    `field${at}`, [{ type: 'string', maxLength: 50 }, { type: 'integer' }, { type: 'boolean' }][at % 3]
  ]))
}

function object (properties: object, required: readonly string[] = []) {
  return { type: 'object', properties, required }
}

/** Every kind of field. */
const KINDS = {
  type: 'object',
  $defs: {
    point: object({ x: { type: 'number' }, y: { type: 'number' } }, ['x', 'y']),
    node: object({ name: { type: 'string', maxLength: 9 }, child: { $ref: '#/$defs/node' } })
  },
  properties: {
    text: { type: 'string', title: 'A text', description: 'Any text.', minLength: 2, maxLength: 20 },
    long: { type: 'string' },
    day: { type: 'string', format: 'date' },
    count: { type: 'integer', minimum: 1, maximum: 9, default: 3 },
    ratio: { type: 'number', exclusiveMinimum: 0 },
    flag: { type: 'boolean' },
    sure: { type: 'boolean' },
    colour: { enum: ['red', 'green', 3] },
    size: { oneOf: [{ const: 's', title: 'Small' }, { const: 'l', title: 'Large' }] },
    version: { const: 2 },
    maybe: { type: ['string', 'null'], maxLength: 10 },
    place: { $ref: '#/$defs/point' },
    tree: { $ref: '#/$defs/node' },
    tags: { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] }, uniqueItems: true },
    points: { type: 'array', items: { $ref: '#/$defs/point' }, minItems: 1 },
    pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }] },
    labels: { type: 'object', additionalProperties: { type: 'string', maxLength: 9 } },
    shape: {
      oneOf: [
        object({ kind: { const: 'circle' }, radius: { type: 'number' } }, ['kind', 'radius']),
        object({ kind: { const: 'square' }, side: { type: 'number' } }, ['kind', 'side'])
      ]
    },
    anything: {}
  },
  required: ['text', 'sure', 'place', 'points', 'version', 'shape', 'tags']
}

const schemaTool = (name: string, schema: object) => `import { defineTool } from 'trivet'
export default defineTool({ name: '${name}', description: 'Takes values.',
  inputSchema: ${JSON.stringify(schema)}, run: (args) => args })
`

const FILES = {
  ...toolFiles(), 'tools/wide.ts': schemaTool('wide', WIDE), 'tools/kinds.ts': schemaTool('kinds', KINDS)
}

/** Of the browser's main thread until the list is there: four times what it takes. */
const MOST_CPU_MS = 500

const SLOW = { timeout: 300_000 }

/** The milliseconds from the first byte that is asked for to the list with all entries. */
async function measureLoad (page: Page): Promise<number> {
  return Number(await page.evaluate(`new Promise((resolve) => {
    const look = () => document.querySelectorAll('.entries a').length > ${TOOLS}
      ? requestAnimationFrame(() => resolve(performance.now()))
      : requestAnimationFrame(look)
    look()
  })`))
}

const started = await startConsole(t, { files: FILES })

t.test('500 tools are listed, and filtered as one types', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page, url, problems } = await openConsole(t, started)
  const catalog = page.getByRole('navigation', { name: 'Catalog' })
  await page.goto('about:blank')
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  await page.goto(url)
  t.comment(`cold load: ${Math.round(await measureLoad(page))} ms`)
  const { metrics } = await session.send('Performance.getMetrics')
  const cpuMs = 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Infinity)
  t.ok(cpuMs < MOST_CPU_MS, `${Math.round(cpuMs)} ms of CPU`)
  t.equal(await catalog.getByRole('link').count(), TOOLS + 2)

  const filterMs = Number(await page.evaluate(`new Promise((resolve) => {
    const input = document.getElementById('filter')
    const begin = performance.now()
    input.value = 'number 49'
    input.dispatchEvent(new Event('input', { bubbles: true }))
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - begin)))
  })`))
  t.comment(`a letter in the filter: ${Math.round(filterMs)} ms`)
  t.equal(await catalog.getByRole('link').count(), 15)
  await page.getByLabel('Filter').fill('')
  await selectKey(page, 'tool:tool_99')
  const shown = page.locator('.entries [aria-current]')
  t.ok(Number((await shown.boundingBox())?.y) < 844, 'the list scrolls to what is selected')
  await page.goto(url)
  await checkViews(t, page, 'console-500-tools')
  t.strictSame(problems, [])
})

t.test('a form of 100 fields renders only the field that changes', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page } = await openConsole(t, started)
  await selectKey(page, 'tool:wide')
  const field = page.getByLabel('field99')
  await field.waitFor()
  const touched = Number(await page.evaluate(`new Promise((resolve) => {
    const input = document.getElementById('f.field99')
    const begin = performance.now()
    const seen = new Set()
    new MutationObserver((records) => records.forEach(({ target }) => seen.add(target)))
      .observe(document.querySelector('main'), { subtree: true, childList: true, attributes: true, characterData: true })
    input.value = 'a'
    input.dispatchEvent(new Event('input', { bubbles: true }))
    setTimeout(() => resolve(seen.size), 100)
  })`))
  t.ok(touched < 5, `${touched} nodes changed`)
  await checkViews(t, page, 'console-100-fields')
})

t.test('every kind of field has a control, whose value is sent', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page, problems } = await openConsole(t, started)
  await selectKey(page, 'tool:kinds')
  await fillKinds(page)
  await checkViews(t, page, 'console-kinds')
  await page.setViewportSize({ width: 1280, height: 844 })
  await page.getByRole('main').getByRole('button', { name: 'Call', exact: true }).click()
  await untilStatus(page, /^done in/)
  t.strictSame(await readStructured(t, page), {
    text: 'hello',
    day: '2026-07-28',
    count: 4,
    flag: false,
    sure: true,
    colour: 3,
    size: 'l',
    version: 2,
    maybe: null,
    place: { x: 1.5, y: -2 },
    tree: { name: 'root', child: { name: 'leaf' } },
    tags: ['a', 'c'],
    points: [{ x: 0, y: 1 }],
    pair: ['left', 7],
    labels: { env: 'test' },
    shape: { kind: 'square', side: 2 },
    anything: [1, { a: null }]
  })
  t.strictSame(problems, [])
})

async function fillKinds (page: Page): Promise<void> {
  const main = page.getByRole('main')
  const at = (id: string) => page.locator(`[id="f.${id}"]`)
  const add = async (name: string) => await main.getByRole('button', { name: `Add ${name}`, exact: true }).click()
  await at('text').fill('hello')
  await at('day').fill('2026-07-28')
  await at('count').fill('4')
  await at('flag').selectOption('false')
  await at('sure').check()
  await at('colour').selectOption('3')
  await at('size').selectOption('Large')
  await main.getByLabel('null for maybe').check()
  await at('place.x').fill('1.5')
  await at('place.y').fill('-2')
  await add('tree')
  await at('tree.name').fill('root')
  await add('child')
  await at('tree.child.name').fill('leaf')
  await main.getByRole('group', { name: 'tags' }).getByLabel('c').check()
  await main.getByRole('group', { name: 'tags' }).getByLabel('a').check()
  await at('points.0.x').fill('0')
  await at('points.0.y').fill('1')
  await add('pair')
  await at('pair.0').fill('left')
  await at('pair.1').fill('7')
  await add('labels')
  await main.getByLabel('Name of a new member of labels').fill('env')
  await main.getByRole('button', { name: 'Add to labels' }).click()
  await at('labels.env').fill('test')
  await main.getByLabel('Variant of shape').selectOption('kind: square')
  await at('shape.1.side').fill('2')
  await at('anything').fill('[1, {"a": null}]')
}

async function readStructured (t: Test, page: Page): Promise<unknown> {
  const activity = activityOf(page)
  await activity.getByRole('tab', { name: 'JSON' }).click()
  const text = await activity.getByRole('group', { name: 'Result as JSON' }).innerText()
  t.match(text, 'structuredContent')
  return JSON.parse(text).structuredContent
}
