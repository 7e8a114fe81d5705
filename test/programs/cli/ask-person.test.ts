// Questions of a tool at a terminal.

import t from 'tap'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { runProgram } from '../../helpers/program.ts'

const asking = (name: string, question: string) => `
import { defineTool, elicit, sample } from 'trivet'
export default defineTool({ name: '${name}', description: 'Asks.', run: async (_, ctx) => {
  const { q } = await ctx.ask({ q: ${question} })
  return q
} })
`
const SCHEMA = JSON.stringify({
  type: 'object',
  required: ['size', 'count', 'mail'],
  properties: {
    size: {
      type: 'string', title: 'Size', description: 'how large', enum: ['s', 'm'], enumNames: ['small', 'mid']
    },
    count: { type: 'integer', minimum: 1, maximum: 5 },
    mail: { type: 'string', format: 'email' },
    gift: { type: 'boolean', default: false },
    extras: { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] } },
    note: { type: 'string' }
  }
})

const catalog = await writeCatalog(t, {
  'tools/form.ts': asking('form', `elicit.form({ message: 'Which one?', schema: ${SCHEMA} })`),
  'tools/url.ts': asking('url', "elicit.url({ message: 'Pay', url: 'https://pay.example/1' })"),
  'tools/sample.ts': asking(
    'sample', "sample({ messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 5 })"
  )
})
const call = async (tool: string, ...typed: string[]) => {
  return await runProgram(['call', tool], { TRIVET_CATALOG: catalog }, typed)
}

t.test('a form is asked field by field, each with its title, choices and default', async (t) => {
  const { out, err, exitCode } = await call('form', '2', '3', 'a@example.com', '', 'a, 3', '')
  t.equal(exitCode, 0)
  t.strictSame(JSON.parse(out), {
    action: 'accept', content: { size: 'm', count: 3, mail: 'a@example.com', gift: false, extras: ['a', 'c'] }
  })
  t.equal(err, 'The tool asks "q": Which one?\nTo refuse, type !decline. To stop, type !cancel.\n' +
    'Size: how large (1 small, 2 mid) > count (integer) > mail (email) > ' +
    'gift (yes or no) [false] > extras (several, with commas between: 1 a, 2 b, 3 c) [none] > ' +
    'note (text) [none] > ')
})

t.test('a value that does not fit is asked again, with the reason', async (t) => {
  const { out, err } = await call(
    'form', 'huge', 's', '', '9', 'x', '2', 'nobody', 'b@example.com', 'maybe', 'yes', 'd', 'b', 'thanks'
  )
  t.strictSame(JSON.parse(out).content, {
    size: 's', count: 2, mail: 'b@example.com', gift: true, extras: ['b'], note: 'thanks'
  })
  for (const reason of [
    /size.*\n/, 'an answer is required', /count.*<= 5/, /count.*integer/, /mail.*email/, /gift.*boolean/, /extras/
  ]) {
    t.match(err, reason)
  }
})

t.test('a form is declined, cancelled, and cancelled when there are no more lines', async (t) => {
  t.strictSame(JSON.parse((await call('form', 's', '!decline')).out), { action: 'decline' })
  t.strictSame(JSON.parse((await call('form', '!cancel')).out), { action: 'cancel' })
  t.strictSame(JSON.parse((await call('form', 's')).out), { action: 'cancel' })
})

t.test('a URL is shown, and enter says that it was opened', async (t) => {
  const { out, err } = await call('url', '')
  t.strictSame(JSON.parse(out), { action: 'accept' })
  t.match(err, 'Pay\nTo refuse, type !decline. To stop, type !cancel.\n  https://pay.example/1\nOpen this address')
  t.strictSame(JSON.parse((await call('url', '!decline')).out), { action: 'decline' })
})

t.test('a question for a model is declined with a line that says so', async (t) => {
  const { err, exitCode } = await call('sample')
  t.equal(exitCode, 1)
  t.match(err, /needs: sampling\. It asks the model/)
  t.match(err, /; a terminal has no model and no roots, so that the request was declined\n$/)
})
