// The tests of the catalog, for `node --test`. No issuer and no CRM is needed.

import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { openCatalog } from 'trivet/testing'

const folder = new URL('../catalog', import.meta.url)
const ADA = { id: '7', name: 'Ada Lovelace', city: 'London' }

let catalog, crm

beforeEach(async () => {
  catalog = await openCatalog(folder, { settings: { CRM_URL: 'https://crm.example.com/api/' } })
  crm = catalog.upstream('crm')
})
afterEach(async () => await catalog.close())

test('a customer is looked up as the user who asks', async () => {
  crm.answer({ 'GET customers/7': ADA })
  const { structuredContent } = await catalog.as({ subject: 'grace' }).call('get_customer', { id: '7' })
  assert.deepEqual(structuredContent, ADA)
  assert.equal(crm.calls[0].principal.subject, 'grace')
})

test('the model learns what it can act on', async () => {
  const words = { 404: 'There is no customer 7.', 403: 'This user may not see customer 7.' }
  for (const [status, text] of Object.entries(words)) {
    crm.answer(() => new Response(null, { status: Number(status) }))
    assert.equal((await catalog.call('get_customer', { id: '7' })).text, text)
  }
  crm.fail('timeout')
  assert.match((await catalog.call('get_customer', { id: '7' })).text, /did not answer within 5 seconds/)
})

test('an export goes on until the file is there', async () => {
  const keys = new Set()
  let looks = 0
  crm.answer(({ method, path, headers, json }) => {
    if (method === 'GET') {
      assert.equal(path, 'exports/e1')
      return ++looks < 3 ? { id: 'e1', seconds: 60 } : { id: 'e1', link: 'https://files.example.com/e1' }
    }
    assert.deepEqual(json(), { city: 'London' })
    keys.add(headers['idempotency-key'])
    return { id: 'e1' }
  })
  const task = await catalog.begin('export_customers', { city: 'London' })
  for (let i = 0; i < 2; i++) {
    await until(() => looks === i + 1)
    catalog.advance(60_000)
  }
  assert.equal((await task.result()).text, 'The customers in London are at https://files.example.com/e1.')
  assert.equal(keys.size, 1)
})

test('a visit is prepared with what the CRM says', async () => {
  crm.answer({ 'GET customers/7': ADA })
  assert.match((await catalog.prompt('prepare_visit', { id: '7' })).text, /Ada Lovelace/)
})

async function until (isDone) {
  while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 10))
}
