import { defineTool } from 'trivet'

const limits = { resultBytes: { max: 2000, then: 'cut' } } as const
const rows = Array.from({ length: 200 }, (_, index) => ({ row: index }))

export const structured = defineTool({
  name: 'list_rows',
  description: 'Lists rows.',
  limits,
  outputSchema: {
    type: 'object', properties: { rows: { type: 'array', items: { type: 'object' } } }, required: ['rows']
  },
  run: () => ({ rows })
})

export const text = defineTool({
  name: 'print_rows',
  description: 'Prints rows.',
  limits,
  run: () => rows.map(({ row }) => `row ${row} of the printed rows`).join('\n')
})
