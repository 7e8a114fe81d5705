// The screen of a basket. All that it does are calls of the tools that a model uses too.

import { connect } from './bridge.js'

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
    showFound(books)
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
  find('total').textContent = total
  find('empty').hidden = lines.length > 0
  find('lines').replaceChildren(...lines.map(({ bookId, title, quantity, cents }) => toItem(
    [title, `${quantity} ×`, formatCents(cents / quantity)],
    order === undefined && toButton(`Remove ${title}`, 'Remove', async () => {
      change(await host.call('remove_from_basket', { basketId, bookId }))
    })
  )))
  find('checkout').disabled = lines.length === 0 || order !== undefined
  find('search').hidden = order !== undefined
  if (order !== undefined) find('found').replaceChildren()
  say(order === undefined ? '' : `Ordered: ${order.number}`)
}

function showFound (books) {
  find('found').replaceChildren(...books.map(({ id: bookId, title, author, price, inStock }) => toItem(
    [`${title}, ${author}`, price],
    inStock && toButton(`Add ${title}`, 'Add', async () => {
      // A repeated addition with the same name counts once.
      change(await host.call('add_to_basket', { basketId, bookId, requestId: toRequestId() }))
    })
  )))
}

function toItem (texts, button) {
  const item = document.createElement('li')
  const spans = texts.map((text, index) => {
    const span = document.createElement('span')
    span.textContent = text
    if (index > 0) span.className = 'faint'
    return span
  })
  item.append(...spans, ...button === false ? [] : [button])
  return item
}

function toButton (label, text, act) {
  const button = document.createElement('button')
  button.textContent = text
  button.ariaLabel = label
  button.addEventListener('click', () => attempt(act))
  return button
}

/** Runs one action at a time, and says what it returns or what went wrong. */
async function attempt (act) {
  if (document.body.inert) return
  document.body.inert = true
  try {
    const said = await act()
    if (said !== undefined) say(said)
  } catch ({ message }) {
    say(message)
  } finally {
    document.body.inert = false
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
