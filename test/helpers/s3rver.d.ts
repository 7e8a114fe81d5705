// The part of the package that the tests use. It has no types of its own.

declare module '@20minutes/s3rver' {
  import type { RequestListener } from 'node:http'

  export default class S3rver {
    constructor (options: {
      readonly directory: string
      readonly silent: boolean
      readonly configureBuckets: ReadonlyArray<{ readonly name: string, readonly configs: readonly [] }>
    })

    configureBuckets (): Promise<void>
    callback (): RequestListener
  }
}
