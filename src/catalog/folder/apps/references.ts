// The attributes of HTML that make a browser load a file.

interface FileAttributes { readonly [element: string]: readonly string[] }

/** Hosts allow `data:` URLs of images, audio and video. */
export const FILE_ATTRIBUTES: FileAttributes = {
  img: ['src'],
  input: ['src'],
  source: ['src'],
  audio: ['src'],
  video: ['src', 'poster'],
  image: ['href'],
  feImage: ['href']
}

interface RefusedAttribute {
  readonly name: string
  /** The list of app.yaml that URLs must be in. */
  readonly domains: 'resourceDomains' | 'frameDomains'
  /** What to do about a file. */
  readonly advice: string
}

const ONE_SIZE = 'name one size with src, because all sizes would be in the document'
const frame = (name: string): RefusedAttribute => ({
  name, domains: 'frameDomains', advice: 'a screen is one document; put its content into it'
})
const srcset: RefusedAttribute = { name: 'srcset', domains: 'resourceDomains', advice: ONE_SIZE }

/** Files that cannot be put into the document. */
export const REFUSED_ATTRIBUTES: { readonly [element: string]: readonly RefusedAttribute[] } = {
  img: [srcset],
  source: [srcset],
  iframe: [frame('src')],
  embed: [frame('src')],
  object: [frame('data')],
  track: [{ name: 'src', domains: 'resourceDomains', advice: 'add the cues with a script' }],
  use: [{ name: 'href', domains: 'resourceDomains', advice: 'put the <symbol> into the document' }]
}
