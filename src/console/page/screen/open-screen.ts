// Placeholder.

export interface ScreenOptions {
  readonly sandboxUrl: string
  readonly resource: { text: string, meta?: { csp?: object, permissions?: object, prefersBorder?: boolean } }
  readonly tool: object
  readonly arguments: object
  readonly result: object
  readonly theme: 'light' | 'dark'
  request (method: string, params: object): Promise<object>
  onContext (text: string): void
  onMessage (text: string): void
  onLink (url: string): void
  onLog (level: string, text: string): void
}

export interface OpenedScreen {
  setTheme (theme: 'light' | 'dark'): void
  setResult (result: object): void
  close (): Promise<void>
}

export async function openScreen (_parent: HTMLElement, _options: ScreenOptions): Promise<OpenedScreen> {
  throw new Error('This build shows no screens.')
}
