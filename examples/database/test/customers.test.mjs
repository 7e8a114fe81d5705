// The tests of the catalog, for `node --test`. They need a database that they may empty, with the roles of
// roles.sql.

import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import pg from 'pg'
import { openCatalog } from 'trivet/testing'

const { TEST_DATABASE_URL: DATABASE_URL, TEST_DATABASE_WRITER_URL: DATABASE_WRITER_URL } = process.env
const folder = new URL('../catalog', import.meta.url)
const hasDatabase = DATABASE_URL !== undefined && DATABASE_WRITER_URL !== undefined
const skip = !hasDatabase && 'set TEST_DATABASE_URL and TEST_DATABASE_WRITER_URL'
const open = async (settings = {}) => {
  return await openCatalog(folder, { settings: { DATABASE_URL, DATABASE_WRITER_URL, ...settings } })
}

let writer, catalog

if (hasDatabase) {
  beforeEach(async () => {
    writer = new pg.Client(DATABASE_WRITER_URL)
    await writer.connect()
    await writer.query('drop table if exists customers, migrations')
  })
  afterEach(async () => {
    await catalog?.close()
    catalog = undefined
    await writer.end()
  })
}

async function add (name, city = 'London') {
  const { structuredContent } = await catalog.call('add_customer', { name, city })
  return structuredContent.customer
}

test('a customer who was added is found, listed and read', { skip }, async () => {
  catalog = await open()
  const customer = await add('Ada Lovelace')
  const found = await catalog.call('search_customers', { name: 'love' })
  assert.deepEqual(found.structuredContent, { customers: [customer], hasMore: false })
  const { resources } = await catalog.list()
  assert.deepEqual(resources.map(({ uri }) => uri), [`customer://${customer.id}`])
  const { text } = await catalog.read(`customer://${customer.id}`)
  assert.deepEqual(JSON.parse(text), customer)
  await assert.rejects(catalog.read('customer://none'), /not found/)
})

test('what a model searches for is never a part of the query', { skip }, async () => {
  catalog = await open()
  const customer = await add("Robert'); drop table customers; --")
  for (const name of ["'); drop", 'ROBERT']) {
    const { structuredContent } = await catalog.call('search_customers', { name })
    assert.deepEqual(structuredContent.customers, [customer])
  }
  for (const name of ['%', '_', '\\']) {
    assert.match((await catalog.call('search_customers', { name })).text, /^No customer has/)
  }
})

test('a search is limited, and says that there is more', { skip }, async () => {
  catalog = await open()
  for (const [name, city] of [['Ann', 'Paris'], ['Anna', 'Rome'], ['Anne', 'Paris']]) await add(name, city)
  const names = async (args) => {
    const { structuredContent: { customers, hasMore } } = await catalog.call('search_customers', args)
    return [...customers.map(({ name }) => name), hasMore]
  }
  assert.deepEqual(await names({ name: 'ann', limit: 2 }), ['Ann', 'Anna', true])
  assert.deepEqual(await names({ name: 'ann', limit: 3 }), ['Ann', 'Anna', 'Anne', false])
  assert.deepEqual(await names({ name: 'ann', city: 'paris' }), ['Ann', 'Anne', false])
  assert.equal((await catalog.call('search_customers', { name: 'ann', limit: 51 })).isError, true)
})

test('a change is made once, and only to the version that was read', { skip }, async () => {
  catalog = await open()
  const { id } = await add('Grace Hopper', 'New York')
  const change = { id, version: 1, city: 'Arlington' }
  const { structuredContent } = await catalog.call('change_customer', change)
  assert.deepEqual(structuredContent.customer, { id, name: 'Grace Hopper', city: 'Arlington', version: 2 })
  const refusals = [
    [change, /has changed since.*"version":2/],
    [{ ...change, id: '999' }, /There is no customer 999/],
    [{ id, version: 2 }, /Give the new name/]
  ]
  for (const [args, words] of refusals) {
    assert.match((await catalog.call('change_customer', args)).text, words)
  }
})

test('what reads has a role that cannot write', { skip }, async () => {
  catalog = await open()
  const { id } = await add('Ada Lovelace')
  const reader = new pg.Client(DATABASE_URL)
  await reader.connect()
  try {
    await reader.query('set default_transaction_read_only = off')
    await assert.rejects(reader.query('delete from customers'), /permission denied/)
    await assert.rejects(reader.query('create table mine (id integer)'), /permission denied/)
    assert.equal((await reader.query('select id from customers')).rows[0].id, id)
  } finally {
    await reader.end()
  }
})

test('a search that takes too long ends, and the model learns what to do', { skip }, async () => {
  catalog = await open({ DATABASE_TIMEOUT_MS: 200 })
  await writer.query('begin')
  await writer.query('lock table customers in access exclusive mode')
  const { isError, text } = await catalog.call('search_customers', { name: 'a' })
  await writer.query('rollback')
  assert.equal(isError, true)
  assert.match(text, /took too long/)
})

test('replicas that start at once on an empty database migrate once', { skip }, async () => {
  const replicas = await Promise.all([1, 2, 3, 4, 5].map(async () => await open({ DATABASE_CONNECTIONS: 1 })))
  const { rows } = await writer.query('select number from migrations order by number')
  assert.deepEqual(rows.map(({ number }) => number), [0, 1, 2])
  for (const replica of replicas) {
    assert.match((await replica.call('search_customers', { name: 'a' })).text, /^No customer/)
    await replica.close()
  }
})
