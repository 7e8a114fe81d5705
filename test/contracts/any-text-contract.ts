// Each store keeps any text of a client or an author: NUL, which PostgreSQL has in no text, and halves of
// surrogate pairs, which UTF-8 has not. They come back as they were, and leave the service well-formed.

import type { Test } from 'tap'
import { buildApp, listen } from '../helpers/app.ts'
import { counterModule } from '../helpers/counter-module.ts'
import { send } from '../helpers/request.ts'
import { openSession } from '../helpers/session.ts'
import { findIllFormed } from '../helpers/well-formed.ts'
import { TaskClient } from '../features/tasks/task-client.ts'

const TEXTS = ['\ud83d', '\udc00a', 'a\0b', '\0', '\\u0000', '\\ud800', '😀\ud83d\0']

const FILES = {
  'tools/list.ts': counterModule('list', 'lst', 'idleTtlMs: 600_000'),
  'tools/works.ts': `
import { defineTool, elicit } from 'trivet'
const name = { type: 'string' }
export default defineTool({
  name: 'works', description: 'A task.', task: 'required',
  inputSchema: { type: 'object', properties: { text: name }, required: ['text'] },
  run: async ({ text }, ctx) => {
    await new Promise((resolve) => setTimeout(resolve, 60))
    ctx.progress(1, 2, text)
    const once = await ctx.once('first' + text, () => ({ [text]: text }))
    const key = text.toWellFormed()
    const { [key]: answer } = await ctx.ask({
      [key]: elicit.form({ message: text, schema: { type: 'object', properties: { name } } })
    })
    return { once, isSame: Object.keys(once)[0] === text && answer.content.name === text }
  }
})`,
  'tools/told.ts': `
import { defineTool } from 'trivet'
export default defineTool({
  name: 'told', description: 'Tells.', inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  run: ({ text }, ctx) => {
    ctx.notify.resourceUpdated('x://' + encodeURIComponent(text.toWellFormed()))
    ctx.log.error(text, { [text]: text })
    return text
  }
})`
}

export async function checkTexts (t: Test, stateUrl: string): Promise<void> {
  const app = await buildApp(t, FILES, {
    stateUrl, constants: { taskGraceMs: 20 }, secrets: ['sealed for no longer than a test takes']
  })
  const call = async (name: string, args: object) => {
    const { response } = await send(app, { method: 'tools/call', params: { name, arguments: args } })
    return response.result.content[0].text
  }
  const id = await call('create_list', {})
  for (const text of TEXTS) await call('change_list', { id, name: text })
  const kept = JSON.stringify(TEXTS)
  // The tool writes JSON as its text, whose escapes are letters of that text.
  t.equal(await call('read_list', { id }), kept)

  const client = new TaskClient(app)
  for (const text of TEXTS) {
    const { taskId } = await client.call('works', { text })
    const { inputRequests } = await client.until(taskId, 'input_required')
    const whole = text.toWellFormed()
    t.match(inputRequests, { [whole]: { params: { message: whole } } })
    await client.update(taskId, { [whole]: { action: 'accept', content: { name: text } } })
    const { result } = await client.until(taskId, 'completed')
    t.strictSame(result.structuredContent, { once: { [whole]: whole }, isSame: true })
  }

  const session = await openSession(t, await listen(app))
  for (const text of TEXTS) {
    const { messages, result } = await session.call('told', { text })
    t.strictSame(findIllFormed(messages), [])
    t.match(result.content, [{ text: text.toWellFormed().replaceAll('\0', '') }])
  }
}
