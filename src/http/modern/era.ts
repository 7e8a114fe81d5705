// The endpoint as clients of the current revision use it: one POST for each request, and each stands for
// itself.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http

import type { Era } from '../era.ts'
import { createPost, type PostDependencies } from './post.ts'

/** Takes every POST, and nothing else: to be asked last. */
export function createModernEra (dependencies: PostDependencies): Era {
  return {
    takes: ({ method }) => method === 'POST',
    serve: createPost(dependencies),
    // Each of its streams is a subscription.
    endStreams () {},
    async close () {}
  }
}
