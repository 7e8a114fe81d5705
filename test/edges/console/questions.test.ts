// The questions of a call: what the person answers is checked, and is not lost.

import t from 'tap'
import { hasChromium } from '../../browser/chromium.ts'
import { checkViews } from '../../browser/views.ts'
import { activityOf, openConsole, selectKey, untilStatus } from './open-console.ts'

const toAsker = (name: string, options: string) => `import { defineTool, elicit } from 'trivet'
export default defineTool({
  name: '${name}', description: 'Asks.', relayQuestions: false, ${options}
  async run (_, ctx) {
    const { who } = await ctx.ask({ who: elicit.form({ message: 'Who are you?', schema: {
      type: 'object', required: ['name', 'email'],
      properties: {
        name: { type: 'string', minLength: 2, maxLength: 20 },
        email: { type: 'string', format: 'email' },
        age: { type: 'integer', minimum: 18 }
      } } }) })
    return \`Hello \${who.content.name}.\`
  }
})
`

const FILES = {
  'tools/ask.ts': toAsker('ask', ''), 'tools/task.ts': toAsker('task', "task: 'required',")
}

const SLOW = { timeout: 240_000 }

for (const tool of ['ask', 'task']) {
  t.test(`a wrong answer to a question of the tool ${tool} is named, and stays`, SLOW, async (t) => {
    if (!hasChromium(t)) return
    const { page, problems } = await openConsole(t, { files: FILES })
    const activity = activityOf(page)
    await selectKey(page, `tool:${tool}`)
    await page.keyboard.press('Control+Enter')
    await untilStatus(page, /^asks you/)
    await page.waitForSelector('.questions:focus')
    const accept = activity.getByRole('button', { name: 'Accept' })
    await accept.click()
    await page.waitForSelector('[id="q.who.name"]:focus')
    t.equal(await activity.getByText('an answer is required').count(), 2)
    await activity.getByLabel('name').fill('a')
    await activity.getByLabel('email').fill('nobody')
    await activity.getByLabel('age').fill('17')
    await activity.getByText('must NOT have fewer than 2 characters').waitFor()
    await activity.getByText('must match format "email"').waitFor()
    await activity.getByText('must be >= 18').waitFor()
    if (tool === 'ask') await checkViews(t, page, 'console-wrong-answer')
    await page.setViewportSize({ width: 1280, height: 844 })

    await activity.getByLabel('name').fill('Ada')
    await activity.getByLabel('age').fill('')
    // The page lets it pass, and the service does not.
    await activity.getByLabel('email').fill('a..a@example.com')
    await accept.click()
    await activity.getByText('The answer did not fit the form.').waitFor()
    await page.waitForSelector('.questions:focus')
    t.equal(await activity.getByLabel('name').inputValue(), 'Ada')
    await activity.getByLabel('email').fill('ada@example.com')
    await accept.click()
    await untilStatus(page, /^done in/)
    await page.waitForSelector('.call h2:focus')
    t.match(await activity.innerText(), 'Hello Ada.')
    t.strictSame(problems, [])
  })
}
