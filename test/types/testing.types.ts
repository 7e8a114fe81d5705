// The types that authors of tests see. The type check is the test. Nothing here runs.

import { openCatalog, type ReplayDifference } from 'trivet/testing'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
function same<A, B> (_: Same<A, B>): void {}

export async function typedCalls (): Promise<unknown> {
  await using shop = await openCatalog('./catalog', {
    requestTimeoutMs: 100, settings: { DATABASE_URL: 'postgres://localhost/test', PAGE_SIZE: 5 }
  })
  const { structuredContent } = await shop.call<{ found: number }>('search_books', { query: 'whale' })
  same<typeof structuredContent, { found: number }>(true)
  const untyped = await shop.call('search_books')
  same<typeof untyped.structuredContent, { readonly [key: string]: unknown } | undefined>(true)
  same<typeof untyped.isError, boolean>(true)

  const ada = shop.as({ subject: 'ada', scopes: ['orders:write'] })
  await ada.call('checkout', {}, {
    answers: {
      form: { action: 'accept', content: { size: 'L' } },
      url: { action: 'decline' },
      model: { role: 'assistant', content: { type: 'text', text: 'Yes.' }, model: 'm' },
      roots: { roots: [{ uri: 'file:///home' }] },
      // @ts-expect-error `agree` is no action.
      wrong: { action: 'agree' }
    },
    answer ({ key, kind }) {
      same<typeof key, string>(true)
      same<typeof kind, 'form' | 'url' | 'sample' | 'roots'>(true)
      return undefined
    }
  })
  const replayed = await shop.replay(JSON.parse('{}'), { args: { query: 'whale' } })
  same<typeof replayed.fits, boolean | undefined>(true)
  same<typeof replayed.difference, ReplayDifference | undefined>(true)
  // @ts-expect-error The state of a test is always in memory.
  await openCatalog('./catalog', { stateUrl: 'file:./data' })
  return [structuredContent, untyped, replayed]
}
