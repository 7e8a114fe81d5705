import { defineHandle, ToolError, type Context } from 'trivet'
import { findBook, formatPrice, unknownBook } from './books.ts'

/** How many changes a basket remembers, so that a repeated change counts once. */
const REMEMBERED_CHANGES = 1000

/** A basket belongs to the caller that created it. No other caller can see it. */
export const baskets = defineHandle({
  kind: 'basket',
  prefix: 'bsk',
  createdBy: 'create_basket',
  idleTtlMs: 86_400_000,
  maxAgeMs: 7 * 86_400_000,
  maxBytes: 131_072,
  schema: {
    type: 'object',
    properties: {
      lines: {
        type: 'array',
        maxItems: 100,
        items: {
          type: 'object',
          properties: { bookId: { type: 'string' }, quantity: { type: 'integer', minimum: 1 } },
          required: ['bookId', 'quantity']
        }
      },
      additions: { type: 'array', items: { type: 'string' } },
      order: {
        type: 'object',
        properties: {
          number: { type: 'string' }, totalCents: { type: 'integer' }, placedAt: { type: 'string' }
        },
        required: ['number', 'totalCents', 'placedAt']
      }
    },
    required: ['lines', 'additions']
  }
})

export interface Basket {
  lines: Array<{ bookId: string, quantity: number }>
  additions: string[]
  order?: { number: string, totalCents: number, placedAt: string }
}

export const basketId = { type: 'string', maxLength: 100, description: 'From create_basket' } as const

/** The basket as models and people see it. */
export function viewBasket (id: string, { lines, order }: Basket) {
  const priced = lines.map(({ bookId, quantity }) => {
    const book = findBook(bookId)
    if (book === undefined) throw unknownBook(bookId)
    return { bookId, title: book.title, author: book.author, quantity, cents: book.priceCents * quantity }
  })
  const totalCents = priced.reduce((sum, { cents }) => sum + cents, 0)
  return {
    basketId: id,
    lines: priced,
    totalCents,
    total: formatPrice(totalCents),
    ...(order === undefined ? {} : { order })
  }
}

export const basketView = {
  type: 'object',
  properties: {
    basketId: { type: 'string' },
    lines: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          bookId: { type: 'string' },
          title: { type: 'string' },
          author: { type: 'string' },
          quantity: { type: 'integer' },
          cents: { type: 'integer', description: 'Of all copies' }
        },
        required: ['bookId', 'title', 'author', 'quantity', 'cents']
      }
    },
    totalCents: { type: 'integer', description: 'In euro cents, without shipping' },
    total: { type: 'string', description: 'The same, to show to people' },
    order: { type: 'object', description: 'Once it is ordered' }
  },
  required: ['basketId', 'lines', 'totalCents', 'total']
} as const

/** Changes a basket that is not ordered yet, and notifies its subscribers. */
export async function changeBasket (
  ctx: Context, id: string, change: (basket: Basket) => void
): Promise<Basket> {
  const basket = await ctx.handles(baskets).update(id, (draft) => {
    if (draft.order !== undefined) {
      throw new ToolError(
        `This basket is ordered already, as ${draft.order.number}. create_basket makes a new one.`
      )
    }
    change(draft)
  })
  ctx.notify.resourceUpdated(`basket://${id}`, { private: true })
  return basket
}

/** Remembers a change of the number of copies. Returns whether it was made before. */
export function isRepeated (basket: Basket, name: string): boolean {
  if (basket.additions.includes(name)) return true
  basket.additions = [...basket.additions, name].slice(-REMEMBERED_CHANGES)
  return false
}
