import { setTimeout as pause } from 'node:timers/promises'
import { defineTool, ToolError } from 'trivet'
import { genres } from '../lib/books.ts'
import { searchBooks } from '../lib/search.ts'

const PAGES_PER_HOUR = 40

export default defineTool({
  name: 'build_reading_list',
  title: 'Build a reading list',
  description: 'Picks books of this shop on a topic and spreads them over weeks, by their pages and the ' +
    'hours that the reader has. Use it when someone wants a plan, not one book. Takes about a quarter of a ' +
      'second a book.',
  order: 4,
  inputSchema: {
    type: 'object',
    properties: {
      topic: {
        type: 'string',
        minLength: 1,
        maxLength: 200,
        description: 'A genre, a subject or an author, such as "gothic horror"'
      },
      count: { type: 'integer', minimum: 1, maximum: 12, default: 5, description: 'How many books at most' },
      hoursPerWeek: {
        type: 'number',
        minimum: 0.5,
        maximum: 100,
        default: 5,
        description: 'How long the reader reads in a week'
      }
    },
    required: ['topic'],
    additionalProperties: false
  },
  outputSchema: {
    type: 'object',
    properties: {
      weeks: { type: 'integer' },
      pages: { type: 'integer' },
      list: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            bookId: { type: 'string' },
            title: { type: 'string' },
            fromWeek: { type: 'integer' },
            toWeek: { type: 'integer' }
          },
          required: ['bookId', 'title', 'fromWeek', 'toWeek']
        }
      }
    },
    required: ['weeks', 'pages', 'list']
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
  timeoutMs: 30_000,
  async run ({ topic, count, hoursPerWeek }, ctx) {
    const chosen = searchBooks(topic).slice(0, count)
    if (chosen.length === 0) {
      throw new ToolError(`No book fits "${topic}". Try one of these genres: ${genres.join(', ')}.`)
    }
    const weekOf = (page: number) => Math.ceil(page / (hoursPerWeek * PAGES_PER_HOUR))
    const list = []
    let pages = 0
    for (const { id: bookId, title, pages: length } of chosen) {
      // Simulates a slow service. Real work can use the signal in the same way, to stop with the call.
      await pause(250, undefined, { signal: ctx.signal })
      list.push({ bookId, title, fromWeek: weekOf(pages + 1), toWeek: weekOf(pages + length) })
      pages += length
      ctx.progress(list.length, chosen.length, `Placed ${title}`)
      ctx.log.info('book placed', { bookId, pages: length })
    }
    return { weeks: weekOf(pages), pages, list }
  }
})
