// The HTTP adapter of the modern era: each request is one POST, and requests are independent.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http

import type { Era } from '../era.ts'
import { createModernPost, type ModernPostDependencies } from './post.ts'

/** Accepts every POST and no other method, so it must be the last era in the list. */
export function createModernEra (dependencies: ModernPostDependencies): Era {
  return {
    methods: ['POST'],
    mayServe: ({ method }) => method === 'POST',
    serve: createModernPost(dependencies),
    // The only streams without an end are subscriptions: app.ts ends them.
    endStreams () {},
    async close () {}
  }
}
