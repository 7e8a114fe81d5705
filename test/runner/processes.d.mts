interface Result {
  readonly file: string
  readonly passed: number
  readonly failed: number
  readonly end: string
  readonly output: string
}

export class Group {
  readonly isFull: boolean
  constructor (options: { readonly log: string, readonly env: NodeJS.ProcessEnv, readonly timeoutMs: number })
  run (file: string): Promise<Result>
  end (): Promise<Result[]>
}
