// The screen of a basket. All that it does are calls of the tools that a model uses too.

import { connect } from './bridge.js'
import { toCover } from './cover.js'

const find = (id) => document.getElementById(id)
let basketId

const host = await connect({ name: 'basket', version: '1.0.0' }, {
  async 'tool-result' ({ content, structuredContent, isError }) {
    if (isError || structuredContent === undefined) return say(content.map(({ text = '' }) => text).join(' '))
    show(structuredContent)
    // The result may be old: a host shows it again whenever its conversation is opened.
    await attempt(async () => show(await host.call('view_basket', { basketId })))
  },
  'tool-cancelled': () => say('The basket was not opened.')
})

// Not a form: the frames of hosts need not allow forms.
find('find').addEventListener('click', search)
find('query').addEventListener('keydown', ({ key }) => { if (key === 'Enter') search() })

async function search () {
  const query = find('query').value.trim()
  if (query === '') return
  await attempt(async () => {
    const { books } = await host.call('search_books', { query })
    find('found').replaceChildren(...books.map(toFound))
    return books.length === 0 ? `No book matches ${query}.` : ''
  })
}

find('checkout').addEventListener('click', () => attempt(async () => {
  say('Waiting for your confirmation…')
  const { ordered } = await host.call('checkout', { basketId })
  if (!ordered) return 'Nothing was ordered.'
  change(await host.call('view_basket', { basketId }))
}))

/** Shows a basket, and what a change of it means to the model. */
function change (basket) {
  show(basket)
  const books = basket.lines.map(({ title, quantity }) => `${quantity} x ${title}`).join(', ') || 'nothing'
  const state = basket.order === undefined ? 'is not ordered' : `is ordered as ${basket.order.number}`
  // Hosts may refuse it. The model then learns of the change when it reads the basket.
  host.request('ui/update-model-context', {
    content: [{ type: 'text', text: `The customer changed the basket ${basketId}: ${books}. It ${state}.` }]
  }).catch(() => {})
}

function show ({ basketId: id, lines, total, order }) {
  basketId = id
  const isOpen = order === undefined
  find('lines').replaceChildren(...lines.map((line) => toLine(line, isOpen)))
  find('empty').hidden = lines.length > 0
  find('total').textContent = total
  find('checkout').disabled = lines.length === 0
  find('checkout').hidden = !isOpen
  find('search').hidden = !isOpen
  find('ordered').hidden = isOpen
  say('')
  if (isOpen) return
  find('found').replaceChildren()
  find('order').textContent = `Your order number is ${order.number}.`
  find('ordered').scrollIntoView?.({ block: 'nearest' })
}

/** A book in the basket. Its copies can be changed until it is ordered. */
function toLine ({ bookId, title, author, quantity, cents }, isOpen) {
  const each = quantity === 1 ? '' : `${formatCents(cents / quantity)} each`
  const book = { bookId, title, author, price: formatCents(cents), each }
  const remove = quantity === 1 ? 'Remove' : `Remove all ${quantity}`
  const copies = quantity === 1 ? '1 copy' : `${quantity} copies`
  if (!isOpen) return toItem({ ...book, note: copies })
  const call = async (args) => change(await host.call('remove_from_basket', { basketId, bookId, ...args }))
  return toItem(book, [
    toButton(`One copy less of ${title}`, '−', async () => {
      await call({ quantity: 1, requestId: toRequestId() })
    }, quantity === 1),
    toText(copies, 'quantity'),
    toButton(`One copy more of ${title}`, '+', async () => await add(bookId)),
    toButton(quantity === 1 ? `Remove ${title}` : `${remove} of ${title}`, remove, async () => await call({}))
  ])
}

function toFound ({ id: bookId, title, author, year, price, inStock }) {
  const book = { bookId, title, author: `${author}, ${year}`, price }
  if (!inStock) return toItem({ ...book, note: 'Not in stock' })
  return toItem(book, [toButton(`Add ${title}`, 'Add', async () => await add(bookId))])
}

async function add (bookId) {
  // A repeated addition with the same name counts once.
  change(await host.call('add_to_basket', { basketId, bookId, requestId: toRequestId() }))
}

function toItem ({ bookId, title, author, price, note = '', each = '' }, acts = []) {
  const item = document.createElement('li')
  const book = document.createElement('div')
  book.append(toText(title, 'title'), toText(author, 'faint'), toText(note, 'faint'))
  const cost = document.createElement('div')
  cost.className = 'price'
  cost.append(toText(price), toText(each, 'faint'))
  item.append(toCover({ bookId, title }), book, cost)
  if (acts.length === 0) return item
  const row = document.createElement('div')
  row.className = 'acts'
  row.append(...acts)
  item.append(row)
  return item
}

function toText (text, className = '') {
  const element = document.createElement('div')
  element.textContent = text
  element.className = className
  element.hidden = text === ''
  return element
}

function toButton (label, text, act, isDisabled = false) {
  const button = document.createElement('button')
  button.textContent = text
  button.ariaLabel = label
  button.disabled = isDisabled
  button.addEventListener('click', () => attempt(act))
  return button
}

/** Runs one action at a time, and says what it returns or what went wrong. */
async function attempt (act) {
  if (document.body.inert) return
  const { ariaLabel } = document.activeElement ?? {}
  document.body.inert = true
  try {
    const said = await act()
    if (said !== undefined) say(said)
  } catch ({ message }) {
    say(message)
  } finally {
    document.body.inert = false
    // The button may have been made anew.
    const buttons = [...document.querySelectorAll('button, input')]
    buttons.find((button) => ariaLabel !== null && button.ariaLabel === ariaLabel)?.focus()
  }
}

function say (text) {
  find('status').textContent = text
}

function formatCents (cents) {
  const format = new Intl.NumberFormat(host.context.locale, { style: 'currency', currency: 'EUR' })
  return format.format(cents / 100)
}

/** crypto.randomUUID needs a secure context, which the frame of a host may not be. */
function toRequestId () {
  const bytes = [...crypto.getRandomValues(new Uint8Array(16))]
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
