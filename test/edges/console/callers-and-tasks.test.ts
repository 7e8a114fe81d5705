// The console as other callers, with tasks, with errors, and with every kind of content.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { hasChromium } from '../../browser/chromium.ts'
import { checkViews } from '../../browser/views.ts'
import { toolModule, writeInPlace } from '../../helpers/catalog-folder.ts'
import { activityOf, openConsole, selectKey, startConsole, untilStatus } from './open-console.ts'

/** A picture of one pixel, and a sound without samples. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5' +
  'ErkJggg=='
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='

const FILES = {
  'server.yaml': 'name: office\ntitle: The Office\nversion: 2.0.0\n',
  'tools/whoami.ts': toolModule(
    'whoami', '', "(_, ctx) => ctx.principal.subject + ' of ' + ctx.principal.claims?.tenant"
  ),
  'tools/hidden.ts': toolModule('pay', "scopes: ['money:write']", '() => "paid"'),
  'tools/challenged.ts': toolModule(
    'refund', "scopes: ['money:write'], whenMissing: 'challenge'", '() => "refunded"'
  ),
  'tools/broken.ts': toolModule('broken', '', "() => { throw new ToolError('The printer is on fire.') }"),
  'tools/thrower.ts': toolModule('thrower', '', "() => { throw new Error('The cause.') }"),
  'tools/failed-task.ts': toolModule(
    'failed_task', "task: 'required'", "() => { throw new Error('The cause.') }"
  ),
  'tools/media.ts': toolModule('media', '', `() => toolResult({ content: [
    { type: 'text', text: 'Here they are.' },
    { type: 'image', data: '${PIXEL}', mimeType: 'image/png' },
    { type: 'audio', data: '${SILENCE}', mimeType: 'audio/wav' },
    { type: 'resource_link', uri: 'file:///notes.md', name: 'notes', title: 'The notes' },
    { type: 'resource', resource: { uri: 'memo://1', mimeType: 'text/plain', text: 'A memo.' } }
  ] })`),
  'resources/notes.md': '# Notes\n\nBuy milk.\n',
  'tools/consent.ts': `import { defineTool, elicit } from 'trivet'
export default defineTool({
  name: 'consent', description: 'Asks.', relayQuestions: false,
  async run (_, ctx) {
    const { page } = await ctx.ask({ page: elicit.url({ message: 'Sign there.', url: 'https://example.com/a' }) })
    return \`The page: \${page.action}.\`
  }
})
`,
  'tools/poem.ts': `import { defineTool, sample } from 'trivet'
export default defineTool({
  name: 'poem', description: 'Asks the model.', relayQuestions: false,
  async run (_, ctx) {
    const { poem } = await ctx.ask({ poem: sample({ maxTokens: 9, messages: [
      { role: 'user', content: { type: 'text', text: 'A poem, please.' } }] }) })
    return \`The model \${poem.model} answered.\`
  }
})
`,
  'tools/nap.ts': toolModule('nap', "task: 'required'", 'async (_, ctx) => { await ctx.sleep(600_000) }'),
  'tools/report.ts': `import { defineTool, elicit } from 'trivet'
export default defineTool({
  name: 'report', description: 'Writes a report.', task: 'required', relayQuestions: false,
  async run (_, ctx) {
    await ctx.step('draft', () => 'a draft')
    ctx.progress(1, 2, 'Draft written')
    const { tone } = await ctx.ask({ tone: elicit.form({ message: 'Which tone?', schema: {
      type: 'object', required: ['tone'],
      properties: { tone: { type: 'string', enum: ['dry', 'warm'] } } } }) })
    ctx.log.notice('The tone is known', { tone: tone.content?.tone })
    await ctx.sleep(1500)
    return tone.action === 'accept' ? \`A \${tone.content.tone} report.\` : 'No report.'
  }
})
`
}

const SLOW = { timeout: 240_000 }
const CALLER = ['--subject', 'ann', '--scopes', 'notes:read']

const started = await startConsole(t, { files: FILES, args: CALLER })

t.test('another caller sees another list, and may be anybody', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page, problems } = await openConsole(t, started)
  const [main, activity] = [page.getByRole('main'), activityOf(page)]
  const catalog = page.getByRole('navigation', { name: 'Catalog' })
  t.match(await page.locator('.caller summary').innerText(), 'ann, notes:read')
  t.equal(await catalog.getByRole('link', { name: 'pay' }).count(), 0)
  await catalog.getByText('Not seen by this caller 1').click()
  t.match(await catalog.getByRole('group').last().innerText(), /tool pay\s+needs money:write/)
  await page.getByLabel('Filter').fill('pay')
  await catalog.getByText('Nothing fits the filter.').waitFor()
  await catalog.getByText('Not seen by this caller 1').waitFor()
  await page.getByLabel('Filter').fill('who')
  await catalog.getByText('Not seen by this caller').waitFor({ state: 'detached' })
  await page.getByLabel('Filter').fill('')

  await page.locator('.caller summary').click()
  await page.getByLabel('Subject').fill('bob')
  await page.getByLabel('money:write').check()
  await page.getByLabel('Claims').fill('{"tenant":"north"}')
  await checkViews(t, page, 'console-caller')
  await page.setViewportSize({ width: 1280, height: 844 })
  await page.getByRole('button', { name: 'Call as this caller' }).click()
  await catalog.getByRole('link', { name: 'pay' }).waitFor()

  await selectKey(page, 'tool:whoami')
  await main.getByRole('button', { name: 'Call', exact: true }).click()
  await untilStatus(page, /^done in/)
  t.match(await activity.innerText(), 'bob of north')

  await page.reload()
  await catalog.getByRole('link', { name: 'pay' }).waitFor()
  t.match(await page.locator('.caller summary').innerText(), 'bob', 'a reload keeps the caller')
  await activity.getByRole('tab', { name: 'curl' }).click()
  t.match(await activity.innerText(), 'It lacks the token')
  await activity.getByRole('button', { name: 'Repeat' }).click()
  await untilStatus(page, /^done in/)
  await activity.getByText("-H 'authorization: Bearer").waitFor()
  t.notMatch(await activity.innerText(), 'It lacks the token')
  t.strictSame(problems, [])
})

t.test('a refusal names the scopes, and one click calls with them', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page } = await openConsole(t, started)
  const [main, activity] = [page.getByRole('main'), activityOf(page)]
  await selectKey(page, 'tool:refund')
  await main.getByRole('button', { name: 'Call', exact: true }).click()
  await untilStatus(page, /^failed/)
  t.match(await activity.innerText(), /It needs the scopes\s+money:write/)
  await checkViews(t, page, 'console-refused')
  await page.setViewportSize({ width: 1280, height: 844 })
  await activity.getByRole('button', { name: 'Call with these scopes' }).click()
  await untilStatus(page, /^done in/)
  t.match(await activity.innerText(), 'refunded')
})

t.test('a task is followed, asks, and ends', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page, problems } = await openConsole(t, started)
  const activity = activityOf(page)
  await selectKey(page, 'tool:report')
  await page.getByRole('main').getByRole('button', { name: 'Call', exact: true }).click()
  await untilStatus(page, /^asks you/)
  await activity.getByRole('combobox', { name: /^tone/ }).selectOption('warm')
  await checkViews(t, page, 'console-task')
  await page.setViewportSize({ width: 1280, height: 844 })
  // The task goes on in the service: a page that is loaded again follows it.
  await page.reload()
  await untilStatus(page, /^asks you/)
  await activity.getByRole('combobox', { name: /^tone/ }).selectOption('warm')
  await activity.getByRole('button', { name: 'Accept' }).click()
  await untilStatus(page, /^done in/)
  t.match(await activity.innerText(), 'A warm report.')
  const journal = activity.getByRole('region', { name: 'Journal' })
  await journal.getByText('over').waitFor()
  t.match(await journal.innerText(), /step\s+draft\s+"a draft"\s+question\s+tone\s+{.*"warm".*}\s+sleep\s+0\s+over/)
  t.match(await activity.getByRole('list', { name: 'Log of the task' }).innerText(), /The tone is known .*warm/)
  t.match(await activity.getByRole('region', { name: 'Timeline' }).innerText(), /input_required[^]*answered tone[^]*completed/)
  await checkViews(t, page, 'console-task-end')
  t.strictSame(problems, [])
})

t.test('a task is cancelled', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page } = await openConsole(t, started)
  await selectKey(page, 'tool:report')
  await page.getByRole('main').getByRole('button', { name: 'Call', exact: true }).click()
  await untilStatus(page, /^asks you/)
  await activityOf(page).getByRole('button', { name: 'Cancel', exact: true }).click()
  await untilStatus(page, /^cancelled/)

  // The service asks for a look in half a minute.
  await selectKey(page, 'tool:nap')
  await page.getByRole('main').getByRole('heading', { name: 'nap', level: 2 }).waitFor()
  await page.getByRole('main').getByRole('button', { name: 'Call', exact: true }).click()
  await activityOf(page).getByText('not yet').waitFor()
  await activityOf(page).getByRole('button', { name: 'Cancel', exact: true }).click()
  await activityOf(page).locator('.head .chip').filter({ hasText: /^cancelled/ }).waitFor({ timeout: 10_000 })
})

t.test('without tasks and questions the host says so to the service', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page } = await openConsole(t, started)
  await page.locator('.caller summary').click()
  await page.getByLabel(/^Tasks/).uncheck()
  await page.keyboard.press('Escape')
  t.equal(await page.getByLabel(/^Tasks/).isVisible(), false, 'Escape closes the panel')
  await selectKey(page, 'tool:report')
  await page.getByRole('main').getByRole('button', { name: 'Call', exact: true }).click()
  await untilStatus(page, /^failed/)
  t.match(await activityOf(page).innerText(), 'io.modelcontextprotocol/tasks')
})

t.test('a link is shown before it is opened, and may be refused', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page, problems } = await openConsole(t, started)
  const activity = activityOf(page)
  await selectKey(page, 'tool:consent')
  await page.keyboard.press('Control+Enter')
  await untilStatus(page, /^asks you/)
  const link = activity.getByRole('link', { name: 'https://example.com/a' })
  t.equal(await link.getAttribute('rel'), 'noopener noreferrer')
  await activity.getByRole('button', { name: 'Decline' }).click()
  await untilStatus(page, /^done in/)
  t.match(await activity.innerText(), 'The page: decline.')
  t.strictSame(problems, [])
})

t.test('the person answers for the model', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page } = await openConsole(t, started)
  const activity = activityOf(page)
  await selectKey(page, 'tool:poem')
  await page.keyboard.press('Control+Enter')
  await untilStatus(page, /^failed/)
  t.match(await activity.innerText(), 'sampling', 'a host without sampling is refused')
  await page.locator('.caller summary').click()
  await page.getByLabel(/^Sampling/).check()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+Enter')
  await untilStatus(page, /^asks you/)
  t.match(await activity.innerText(), 'A poem, please.')
  await checkViews(t, page, 'console-sampling')
  await activity.getByRole('button', { name: 'Answer', exact: true }).click()
  await untilStatus(page, /^done in/)
  t.match(await activity.innerText(), 'The model console answered.')
})

t.test('content of every kind is shown, and a link is read', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page, problems } = await openConsole(t, started)
  const activity = activityOf(page)
  await selectKey(page, 'tool:media')
  await page.getByRole('main').getByRole('button', { name: 'Call', exact: true }).click()
  await untilStatus(page, /^done in/)
  await activity.getByRole('button', { name: 'Read file:///notes.md' }).click()
  await activity.getByText('Buy milk.').waitFor()
  t.equal(await page.evaluate("document.querySelector('figure img').naturalWidth"), 1)
  t.equal(await activity.locator('audio').count(), 1)
  t.match(await activity.innerText(), 'A memo.')
  await checkViews(t, page, 'console-media')
  t.strictSame(problems, [])
})

t.test('an error of a tool is plain to see', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page } = await openConsole(t, started)
  await selectKey(page, 'tool:broken')
  await page.getByRole('main').getByRole('button', { name: 'Call', exact: true }).click()
  await untilStatus(page, /^tool error/)
  t.match(await activityOf(page).innerText(), 'The printer is on fire.')
  await checkViews(t, page, 'console-tool-error')
})

t.test('an internal error says where its cause is', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page } = await openConsole(t, started)
  for (const tool of ['thrower', 'failed_task']) {
    await selectKey(page, `tool:${tool}`)
    await page.getByRole('main').getByRole('heading', { name: tool, level: 2 }).waitFor()
    await page.keyboard.press('Control+Enter')
    await activityOf(page).getByRole('heading', { name: tool, level: 2 }).waitFor()
    await untilStatus(page, /^failed/)
    const box = await activityOf(page).locator('.failure').innerText()
    t.match(box, /The terminal of dev has the cause, with this request id: [\w-]+/)
    t.notMatch(box, 'The cause.')
  }
  await checkViews(t, page, 'console-internal-error')
})

t.test('a change of the catalog is a notification, and Connect has the address', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page, url, root } = await openConsole(t, { files: FILES, args: CALLER })
  await page.getByText('● live').waitFor()
  await writeInPlace(root, 'tools/new.ts', toolModule('new_tool'))
  await page.getByRole('link', { name: 'new_tool' }).waitFor()
  const activity = activityOf(page)
  await activity.getByRole('tab', { name: /Notifications/ }).click()
  await activity.getByText('notifications/tools/list_changed').first().waitFor()
  await checkViews(t, page, 'console-notifications')
  await activity.getByRole('tab', { name: 'Connect' }).click()
  const shown = await activity.innerText()
  t.match(shown, `claude mcp add --transport http office ${url}mcp`)
  t.match(shown, `npx @modelcontextprotocol/inspector --transport http --protocol-era modern --server-url ${url}mcp`)
  t.notMatch(shown, 'Other clients call as')
  await page.locator('.caller summary').click()
  await page.getByLabel('Subject').fill('bob')
  await page.getByRole('button', { name: 'Call as this caller' }).click()
  await activity.getByText('Other clients call as the caller of dev --subject --scopes: ann.').waitFor()
  const code = await activity.getByRole('group', { name: /Official client/ }).innerText()
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code])
  t.match(stdout, "name: 'whoami'")
  await checkViews(t, page, 'console-connect')
})
